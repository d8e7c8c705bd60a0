#include <warpband/exec/launch.hpp>
#include <warpband/fec/osd/osd_op.hpp>

namespace wb {
inline namespace WB_ISA {
WB_EXPORT_OP(osd, osd_args, osd_op)
}  // namespace WB_ISA
}  // namespace wb
