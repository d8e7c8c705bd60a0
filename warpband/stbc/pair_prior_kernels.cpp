// Alamouti and pair codes with a-priori LLRs.
#include <warpband/exec/launch.hpp>
#include <warpband/stbc/prior_op.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_alamouti_prior(const stbc_decode_args& a, F f) {
  return with_number<1, 4>(a.pam_bits, [&]<int B>() { return f(alamouti_prior_op<B>{a}); });
}
template <class F>
static auto with_pair_prior(const stbc_decode_args& a, F f) {
  return with_number<1, 4>(a.pam_bits, [&]<int B>() { return f(pair_prior_op<B>{a}); });
}
WB_EXPORT_KERNEL(alamouti_prior, stbc_decode_args, with_alamouti_prior)
WB_EXPORT_KERNEL(stbc_pair_prior, stbc_decode_args, with_pair_prior)
}  // namespace WB_ISA
}  // namespace wb
