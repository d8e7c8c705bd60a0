#include <warpband/exec/launch.hpp>
#include <warpband/stbc/alamouti_op.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_alamouti(const stbc_decode_args& a, F f) {
  return with_number<1, 4>(a.pam_bits, [&]<int B>() {
    return a.llr.data != nullptr ? f(alamouti_op<B, true>{a}) : f(alamouti_op<B, false>{a});
  });
}
WB_EXPORT_KERNEL(alamouti, stbc_decode_args, with_alamouti)
}  // namespace WB_ISA
}  // namespace wb
