#include <warpband/exec/launch.hpp>
#include <warpband/stbc/stbc_encode_op.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_stbc_encode(const stbc_encode_args& a, F f) {
  return with_number<0, 4>(a.kind, [&]<int Kind>() {
    return with_number<0, 4>(a.pam_bits, [&]<int B>() { return f(stbc_encode_op<Kind, B>{a}); });
  });
}
WB_EXPORT_KERNEL(stbc_encode, stbc_encode_args, with_stbc_encode)
}  // namespace WB_ISA
}  // namespace wb
