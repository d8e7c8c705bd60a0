#include <warpband/fec/lte/lte_op.hpp>
#include <warpband/fec/transport/transport_export.hpp>

namespace wb {
inline namespace WB_ISA {
WB_EXPORT_TRANSPORT_OP(lte_crc)
WB_EXPORT_TRANSPORT_OP(lte_segment)
WB_EXPORT_TRANSPORT_OP(lte_match)
WB_EXPORT_TRANSPORT_OP(lte_combine)
WB_EXPORT_TRANSPORT_OP(lte_assemble)
WB_EXPORT_TRANSPORT_OP(lte_harq)
}  // namespace WB_ISA
}  // namespace wb
