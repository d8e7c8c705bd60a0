#include <warpband/exec/launch.hpp>
#include <warpband/stbc/alamouti_op.hpp>

namespace wb {
inline namespace WB_ISA {
template <bool Soft, class F>
static auto with_points(const stbc_decode_args& a, F f) {
  switch (a.pam_bits) {
    case 1:
      return f(alamouti_op<1, Soft>{a});
    case 2:
      return f(alamouti_op<2, Soft>{a});
    default:
      return f(alamouti_op<3, Soft>{a});
  }
}
template <class F>
static auto with_alamouti(const stbc_decode_args& a, F f) {
  return a.llr.data != nullptr ? with_points<true>(a, f) : with_points<false>(a, f);
}
WB_EXPORT_KERNEL(alamouti, stbc_decode_args, with_alamouti)
}  // namespace WB_ISA
}  // namespace wb
