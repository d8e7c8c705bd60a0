#include <warpband/exec/launch.hpp>
#include <warpband/link/frame/frame_op.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_grid_copy(const grid_copy_args& a, F f) {
  return f(grid_copy_op{a});
}
WB_EXPORT_KERNEL(grid_copy, grid_copy_args, with_grid_copy)
}  // namespace WB_ISA
}  // namespace wb
