#pragma once
// The variants of the Golden code's decoders. The tiles are those of mapping.hpp.
#include <warpband/exec/launch.hpp>
#include <warpband/stbc/golden_op.hpp>

namespace wb {
inline namespace WB_ISA {
template <template <int, class> class Other, bool Soft, class F>
auto with_golden_points(const stbc_decode_args& a, F f) {
  switch (a.pam_bits) {
    case 1:
      return f(golden_op<Other, 1, Soft, 1>{a});
    case 2:
      return f(golden_op<Other, 2, Soft, tile_16>{a});
    default:
      return f(golden_op<Other, 3, Soft, tile_64>{a});
  }
}
template <template <int, class> class Other, class F>
auto with_golden_variants(const stbc_decode_args& a, F f) {
  return a.llr.data != nullptr ? with_golden_points<Other, true>(a, f)
                               : with_golden_points<Other, false>(a, f);
}
}  // namespace WB_ISA
}  // namespace wb
