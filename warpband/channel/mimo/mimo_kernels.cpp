#include <warpband/channel/mimo/mimo_op.hpp>
#include <warpband/exec/launch.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_mimo_rayleigh(const mimo_rayleigh_args& a, F f) {
  return a.uses_per_channel == 1 ? f(mimo_rayleigh_op<false>{a}) : f(mimo_rayleigh_op<true>{a});
}
WB_EXPORT_KERNEL(mimo_rayleigh, mimo_rayleigh_args, with_mimo_rayleigh)
}  // namespace WB_ISA
}  // namespace wb
