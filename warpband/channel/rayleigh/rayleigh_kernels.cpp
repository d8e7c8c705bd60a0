#include <warpband/channel/rayleigh/rayleigh_op.hpp>
#include <warpband/exec/launch.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_rayleigh(const rayleigh_args& a, F f) {
  return a.block == 1 ? f(rayleigh_op<false>{a}) : f(rayleigh_op<true>{a});
}
WB_EXPORT_KERNEL(rayleigh, rayleigh_args, with_rayleigh)
}  // namespace WB_ISA
}  // namespace wb
