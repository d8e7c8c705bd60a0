#include <warpband/exec/launch.hpp>
#include <warpband/link/frame/frame_op.hpp>

namespace wb {
inline namespace WB_ISA {
WB_EXPORT_OP(grid_copy, grid_copy_args, grid_copy_op)
}  // namespace WB_ISA
}  // namespace wb
