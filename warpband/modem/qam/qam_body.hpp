#pragma once
// Gray pulse-amplitude modulation of one dimension, as TS 38.211 §5.1 nests it:
//   B = 1: s1;  B = 2: s1 (2 - s2);  B = 3: s1 (4 - s2 (2 - s3));  and so on up to B = 6
// with s_i = 1 - 2 b_i. Amplitudes are the odd numbers -(2^B - 1) .. 2^B - 1.
#include <warpband/core/cx.hpp>

namespace wb {
inline namespace WB_ISA {

/// The amplitude of level index l, whose bit i (b_i, from the top) is bit B - 1 - i of l.
template <int B>
WB_HD constexpr int pam_amplitude(int l) {
  int x = 0;
  for (int i = B - 1; i >= 0; i--) {
    const int s = (l >> (B - 1 - i) & 1) ? -1 : 1;
    x = s * ((1 << (B - 1 - i)) - x);
  }
  return x;
}
/// 1 / sqrt(mean energy) of a symbol with B bits per dimension; B = 0 is BPSK's 1 / sqrt 2.
template <int B>
WB_HD constexpr float qam_scale() {
  constexpr float scales[]{0.707106781f,  0.707106781f,  0.316227766f, 0.15430335f,
                           0.0766964989f, 0.0382919791f, 0.0191389751f};
  return scales[B];
}

/// Bits (0 or 1) of one dimension to its amplitude.
template <int B, class T, class I>
WB_HD T pam_map(const I (&b)[B]) {
  T x = T(0.f);
  WB_UNROLL for (int i = B - 1; i >= 0; i--) {
    const T a = T(static_cast<float>(1 << (B - 1 - i))) - x;
    x = select(b[i] == I(0), a, T(0.f) - a);
  }
  return x;
}

}  // namespace WB_ISA
}  // namespace wb
