#include <warpband/exec/launch.hpp>
#include <warpband/modem/effective_sinr/effective_sinr_op.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_effective_sinr(const effective_sinr_args& a, F f) {
  if (a.exponential) return f(effective_sinr_op<true>{a});
  return f(effective_sinr_op<false>{a});
}
WB_EXPORT_KERNEL(effective_sinr, effective_sinr_args, with_effective_sinr)
}  // namespace WB_ISA
}  // namespace wb
