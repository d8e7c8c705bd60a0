#include <warpband/detect/ep/ep_op.hpp>
#include <warpband/exec/launch.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_ep(const ep_args& a, F f) {
  return with_soft_sizes(a, [&]<class S>() { return f(ep_op<S>{a}); });
}
WB_EXPORT_KERNEL(ep, ep_args, with_ep)
}  // namespace WB_ISA
}  // namespace wb
