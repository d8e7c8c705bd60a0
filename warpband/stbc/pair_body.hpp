#pragma once
// Multiplexed Alamouti blocks: the other pair is sliced, exactly, since P^H P is p I.
#include <warpband/stbc/stbc_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// The pair that is sliced: `value` of a prefix is its two symbols in amplitudes of Y.
template <int B, class T>
struct sliced_pair {
  folds<B, T> borders;
  static constexpr bool crossed = false, unrolled = B < 3;
  explicit WB_HD sliced_pair(T g) : borders(g) {}
  WB_HD T metric(const prefix<T>& p) const {
    T m = p.metric;
    WB_UNROLL for (int k = 0; k < 2; k++) {
      const T re = borders.error(p.value[k].re), im = borders.error(p.value[k].im);
      m = fma(im, im, fma(re, re, m));
    }
    return m;
  }
};

/// Sums of a codeword for a pair code: P^H y, Q^H y, P^H Q = [[g1, g2], [-g2*, g1*]] and P^H P = Q^H Q = p I.
template <class T>
struct pair_channel {
  cx<T> zp[2], zq[2], g1, g2;
  T p;
  /// P and Q in each other's place.
  WB_HD void turn() {
    WB_UNROLL for (int k = 0; k < 2; k++) {
      const cx<T> z = zp[k];
      zp[k] = zq[k];
      zq[k] = z;
    }
    g1.im = -g1.im;
    g2 = {-g2.re, -g2.im};
  }
};
/// The problem of finding s, with c sliced for each: |y - P c - Q s|^2 - |y|^2 + |P^H y|^2 / p.
template <int B, class T>
WB_HD conditioned<T> condition(const pair_channel<T>& h, T root, T per_root) {
  const float scale = qam_scale<B>();
  conditioned<T> c;
  const T turn = T(-scale) * per_root;
  c.by[0][0] = turn * h.g1;
  c.by[0][1] = turn * h.g2;
  c.by[1][0] = {-c.by[0][1].re, c.by[0][1].im};
  c.by[1][1] = {c.by[0][0].re, -c.by[0][0].im};
  const T radius = T(scale) * root;
  const T square = norm_fnma(c.by[0][1], norm_fnma(c.by[0][0], radius * radius));
  WB_UNROLL for (int k = 0; k < 2; k++) c.value[k] = per_root * h.zp[k];
  WB_UNROLL for (int n = 0; n < 2; n++) {
    cx<T> sum = T(scale) * h.zq[n];
    sum = conj_fma(c.by[0][n], c.value[0], sum);
    sum = conj_fma(c.by[1][n], c.value[1], sum);
    c.linear[n] = T(-2.f) * sum;
    c.square[n] = square;
  }
  return c;
}

}  // namespace WB_ISA
}  // namespace wb
