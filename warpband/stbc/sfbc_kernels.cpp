// Codes over subcarriers, without and with a-priori LLRs.
#include <warpband/exec/launch.hpp>
#include <warpband/stbc/sfbc_op.hpp>

namespace wb {
inline namespace WB_ISA {
template <int Pairs, class F>
static auto with_pairs(const stbc_decode_args& a, F f) {
  return with_number<1, 4>(a.pam_bits, [&]<int B>() {
    return a.llr.data != nullptr ? f(sfbc_op<Pairs, B, true>{a}) : f(sfbc_op<Pairs, B, false>{a});
  });
}
template <int Pairs, class F>
static auto with_prior_of_pairs(const stbc_decode_args& a, F f) {
  return with_number<1, 4>(a.pam_bits, [&]<int B>() { return f(sfbc_prior_op<Pairs, B>{a}); });
}
/// Kind 4 is fstd.
template <class F>
static auto with_sfbc(const stbc_decode_args& a, F f) {
  return a.kind == 4 ? with_pairs<2>(a, f) : with_pairs<1>(a, f);
}
template <class F>
static auto with_sfbc_prior(const stbc_decode_args& a, F f) {
  return a.kind == 4 ? with_prior_of_pairs<2>(a, f) : with_prior_of_pairs<1>(a, f);
}
WB_EXPORT_KERNEL(sfbc, stbc_decode_args, with_sfbc)
WB_EXPORT_KERNEL(sfbc_prior, stbc_decode_args, with_sfbc_prior)
}  // namespace WB_ISA
}  // namespace wb
