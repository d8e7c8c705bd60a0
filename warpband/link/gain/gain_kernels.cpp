#include <warpband/exec/launch.hpp>
#include <warpband/link/gain/gain_op.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_gain(const gain_args& a, F f) {
  return f(gain_op{a});
}
WB_EXPORT_KERNEL(gain, gain_args, with_gain)
}  // namespace WB_ISA
}  // namespace wb
