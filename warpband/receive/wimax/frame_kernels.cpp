#include <warpband/exec/launch.hpp>
#include <warpband/receive/wimax/frame_op.hpp>

namespace wb {
inline namespace WB_ISA {
WB_EXPORT_OP(grid_copy, grid_copy_args, grid_copy_op)
WB_EXPORT_OP(burst_noise, burst_noise_args, burst_noise_op)
WB_EXPORT_OP(map_combine, map_combine_args, map_combine_op)
WB_EXPORT_OP(map_read, map_read_args, map_read_op)
}  // namespace WB_ISA
}  // namespace wb
