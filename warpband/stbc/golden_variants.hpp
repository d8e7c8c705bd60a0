#pragma once
// The variants of the Golden code's decoders.
#include <warpband/exec/launch.hpp>
#include <warpband/stbc/golden_op.hpp>

namespace wb {
inline namespace WB_ISA {
template <template <int, class> class Other, class F>
auto with_golden_variants(const stbc_decode_args& a, F f) {
  return with_number<1, 4>(a.pam_bits, [&]<int B>() {
    return a.llr.data != nullptr ? f(golden_op<Other, B, true>{a}) : f(golden_op<Other, B, false>{a});
  });
}
}  // namespace WB_ISA
}  // namespace wb
