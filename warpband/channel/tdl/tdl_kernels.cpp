#include <warpband/channel/tdl/tdl_op.hpp>
#include <warpband/exec/launch.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_tdl(const tdl_args& a, F f) {
  return f(tdl_op{a});
}
WB_EXPORT_KERNEL_OF(tdl, tdl_args, with_tdl, 1)
}  // namespace WB_ISA
}  // namespace wb
