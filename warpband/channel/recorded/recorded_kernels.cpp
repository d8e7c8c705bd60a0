#include <warpband/channel/recorded/recorded_op.hpp>
#include <warpband/exec/launch.hpp>

namespace wb {
inline namespace WB_ISA {
WB_EXPORT_OP(recorded, recorded_args, recorded_op)
}  // namespace WB_ISA
}  // namespace wb
