#pragma once
// The semiring (max*, +) with the correction of max* from a table: ln(e^a + e^b) = max(a, b) + c(|a - b|).
// c has 8 values in steps of 1/2, those of ln(1 + e^-d) at d = 0, 1/2, ... 7/2, each for the differences that
// are nearest to its d, and is 0 from d = 3.75 on. It is within 0.12 of ln(1 + e^-d).
#include <warpband/fec/trellis/semiring.hpp>

namespace wb {
inline namespace WB_ISA {

/// Entry i of the table: a load that threads of a warp may do at different addresses, or a shuffle of lanes.
template <class T>
WB_HD T max_star_entry(typename rebind<T>::i32 i) {
  static constexpr float table[8] = {0.693147181f, 0.474076984f,  0.313261688f,  0.201413278f,
                                     0.126928011f, 0.0788897343f, 0.0485873516f, 0.0297504183f};
  if constexpr (width_of<T> == 1) {
    return T(table[i]);
  } else {
    using vector = decltype(T::x);
    constexpr int width = width_of<T>;
    vector low, high;
    WB_UNROLL for (int l = 0; l < width; l++) {
      low[l] = table[l % 8];
      high[l] = table[(l + width) % 8];
    }
    if constexpr (width >= 8)
      return T(WB_SHUFFLE(low, i.x));
    else
      return T(WB_SHUFFLE(low, high, i.x));
  }
}

/// Any scale of LLRs, with the limits of max-log-MAP.
struct max_star_table : max_log {
  static constexpr double correction_flops = 4;
  template <class T>
  WB_HD static T plus(T a, T b) {
    using I = typename rebind<T>::i32;
    const T d = abs(a - b), magic = T(12582912.f);  // 1.5 * 2^23: adding it rounds to an integer
    const T nearest = fma(min(d, T(3.5f)), T(2.f), magic);
    const T entry = max_star_entry<T>(as_int(nearest) & I(7));
    return max(a, b) + select(d < T(3.75f), entry, T(0.f));
  }
  template <class T>
  WB_HD static T accumulate(T sum, T a, T w) {
    return plus(sum, a + w);
  }
};

}  // namespace WB_ISA
}  // namespace wb
