#include <warpband/channel/awgn/awgn_op.hpp>
#include <warpband/exec/launch.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_awgn(const awgn_args& a, F f) {
  return a.noise_var.data ? f(awgn_op<true>{a}) : f(awgn_op<false>{a});
}
WB_EXPORT_KERNEL(awgn, awgn_args, with_awgn)
}  // namespace WB_ISA
}  // namespace wb
