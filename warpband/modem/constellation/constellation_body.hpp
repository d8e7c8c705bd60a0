#pragma once
#include <warpband/core/llr.hpp>
#include <warpband/core/math.hpp>
#include <warpband/modem/constellation/constellation_args.hpp>
#include <warpband/modem/demap/demap_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// A received symbol: |y - h s|^2 / N0 is, up to a constant, gain |s|^2 + Re(tilt* s), times 2^rest.
template <class T>
struct symbol_metric {
  T gain;      // |h|^2 / N0
  cx<T> tilt;  // -2 y conj(h) / N0
  typename rebind<T>::i32 rest;

  WB_HD T operator()(const point_entry& s) const {
    return fma(T(s.re), tilt.re, fma(T(s.im), tilt.im, T(s.energy) * gain));
  }
};

/// y, h and N0 are brought to about 1 by powers of two, as in `qam_demap`. Finite inputs, n0 > 0.
template <class T>
WB_HD symbol_metric<T> metric_of_symbol(cx<T> y, cx<T> h, T n0) {
  using I = typename rebind<T>::i32;
  const I of_y = exponent_of(max(abs(y.re), abs(y.im))), of_h = exponent_of(max(abs(h.re), abs(h.im))),
          of_n0 = exponent_of(n0);
  y = {times_power(y.re, I(0) - of_y), times_power(y.im, I(0) - of_y)};
  h = {times_power(h.re, I(0) - of_h), times_power(h.im, I(0) - of_h)};
  n0 = times_power(n0, I(0) - of_n0);
  const cx<T> matched = y * conj(h);
  const I gain = of_h + of_h - of_n0, tilt = of_y + of_h - of_n0;
  const I rest = limited(select(gain < tilt, tilt, gain) - I(60), 0, 1000);
  const T inverse = T(-2.f) / n0;
  return {times_any_power(norm(h) / n0, gain - rest),
          {times_any_power(matched.re * inverse, tilt - rest),
           times_any_power(matched.im * inverse, tilt - rest)},
          rest};
}

/// LLRs of a symbol of `bits` bits, at most `Most`, limited to +-3e38.
template <int Most, class T>
WB_HD void points_demap(const point_entry* points, int bits, bool exact, const symbol_metric<T>& metric,
                        T (&llr)[Most]) {
  T best0[Most], best1[Most];  // the least metric of points whose bit is 0 and 1
  WB_UNROLL for (int i = 0; i < Most; i++) best0[i] = best1[i] = T(3.4e38f);
  const int count = 1 << bits;
  for (int p = 0; p < count; p++) {
    const T d = metric(points[p]);
    WB_UNROLL for (int i = 0; i < Most; i++) {
      if (i < bits) {
        if (p >> (bits - 1 - i) & 1)
          best1[i] = min(best1[i], d);
        else
          best0[i] = min(best0[i], d);
      }
    }
  }
  WB_UNROLL for (int i = 0; i < Most; i++) {
    llr[i] = T(0.f);
    if (i < bits) llr[i] = times_any_power(best1[i] - best0[i], metric.rest);
  }
  if (exact) {
    T sum0[Most], sum1[Most];
    WB_UNROLL for (int i = 0; i < Most; i++) sum0[i] = sum1[i] = T(0.f);
    for (int p = 0; p < count; p++) {
      const T d = metric(points[p]);
      WB_UNROLL_ON_DEVICE for (int i = 0; i < Most; i++) {
        if (i < bits) {
          const bool one = p >> (bits - 1 - i) & 1;
          const T term = exp((one ? best1[i] : best0[i]) - d);
          if (one)
            sum1[i] = sum1[i] + term;
          else
            sum0[i] = sum0[i] + term;
        }
      }
    }
    WB_UNROLL_ON_DEVICE for (int i = 0; i < Most; i++) {
      if (i < bits) llr[i] = llr[i] + (log(sum0[i]) - log(sum1[i]));
    }
  }
  WB_UNROLL for (int i = 0; i < Most; i++) {
    if (i < bits) llr[i] = saturate(llr[i], 3e38f);
  }
}

}  // namespace WB_ISA
}  // namespace wb
