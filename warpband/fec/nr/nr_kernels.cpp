#include <warpband/fec/nr/nr_op.hpp>
#include <warpband/fec/transport/transport_export.hpp>

namespace wb {
inline namespace WB_ISA {
WB_EXPORT_TRANSPORT_OP(nr_crc)
WB_EXPORT_TRANSPORT_OP(nr_segment)
WB_EXPORT_TRANSPORT_OP(nr_match)
WB_EXPORT_TRANSPORT_OP(nr_combine)
WB_EXPORT_TRANSPORT_OP(nr_assemble)
WB_EXPORT_TRANSPORT_OP(nr_harq)
WB_EXPORT_TRANSPORT_OP(nr_feedback)
WB_EXPORT_TRANSPORT_OP(nr_front)
}  // namespace WB_ISA
}  // namespace wb
