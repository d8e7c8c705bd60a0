// Up to 2^16 codewords are tried: four symbols have at most 2 bits a dimension.
#include <warpband/exec/launch.hpp>
#include <warpband/stbc/exhaustive_op.hpp>

namespace wb {
inline namespace WB_ISA {
template <bool Soft, class F>
static auto with_codewords(const stbc_decode_args& a, F f) {
  if (a.kind == 0)
    return with_number<1, 4>(a.pam_bits, [&]<int B>() { return f(exhaustive_op<2, B, Soft>{a}); });
  return with_number<1, 2>(a.pam_bits, [&]<int B>() { return f(exhaustive_op<4, B, Soft>{a}); });
}
template <class F>
static auto with_stbc_exhaustive(const stbc_decode_args& a, F f) {
  const bool soft = a.llr.data != nullptr || a.prior.data != nullptr;
  return soft ? with_codewords<true>(a, f) : with_codewords<false>(a, f);
}
WB_EXPORT_KERNEL(stbc_exhaustive, stbc_decode_args, with_stbc_exhaustive)
}  // namespace WB_ISA
}  // namespace wb
