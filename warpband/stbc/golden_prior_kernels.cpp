// The Golden code with a-priori LLRs.
#include <warpband/exec/launch.hpp>
#include <warpband/stbc/prior_op.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_golden_prior(const stbc_decode_args& a, F f) {
  return with_number<1, 4>(a.pam_bits, [&]<int B>() { return f(golden_prior_op<B>{a}); });
}
WB_EXPORT_KERNEL(golden_prior, stbc_decode_args, with_golden_prior)
}  // namespace WB_ISA
}  // namespace wb
