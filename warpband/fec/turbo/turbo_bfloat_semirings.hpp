#pragma once
// How the turbo decoder with weights in bfloat16 adds and compares metrics.
#include <warpband/core/math.hpp>
#include <warpband/fec/turbo/turbo_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// The semiring (max, +), and what of it is the windows' own.
struct max_log_bfloat : max_log {
  static constexpr int interval = 8;
  static constexpr double forward_flops = 21, backward_flops = 24, output_flops = 31, normalise_flops = 8,
                          passed_on_flops = 1, decision_flops = 0, channel_flops = 3;
  static constexpr float known = 0.f;  // a weight that says nothing
#if defined(__FMA__) && WB_WIDTH > 1
  // Maxima and additions share units of some processors (AMD Zen), which multiply and add in others: of the
  // sums about half are products with one, of the same bits.
  template <class T>
  WB_HD static T times(T a, T b) {
    if constexpr (width_of<T> == 1) {
      return a + b;
    } else {
      T one(1.f);
      asm("" : "+v"(one.x));  // a compiler that knows it adds
      return fma(a, one, b);
    }
  }
  template <class T>
  WB_HD static T times_parity(T a, T w) {
    return a + w;
  }
  template <class T>
  WB_HD static T accumulate(T sum, T a, T w) {
    return max(sum, times(a, w));
  }
#endif
  template <class T>
  WB_HD static T channel(T llr) {
    return weight(llr);
  }
  template <class T>
  WB_HD static T passed_on(T e, float scale) {
    return e * T(scale);
  }
  template <class T>
  WB_HD static typename rebind<T>::mask is_one(T posterior) {
    return posterior > T(0.f);
  }
};

/// The semiring (+, *) on probabilities, without a floor: metrics are scaled every second step, by the
/// exponent of their sum. Channel weights up to e^11, extrinsics up to e^18: in two steps a metric grows by
/// less than 2^118, and the product of alpha and beta by less than 2^80. Alpha has gone as many steps since
/// its scaling as beta has not. What underflows is of a path that no decision needs.
struct log_map_bfloat : log_map {
  using of_large_llrs = max_star_of<max_log_bfloat>;
  static constexpr int interval = 2;
  static constexpr double forward_flops = 15, backward_flops = 16, output_flops = 23, normalise_flops = 15,
                          passed_on_flops = 2, decision_flops = 0, channel_flops = 17;
  static constexpr float known = 1.f;
  static constexpr float channel_limit = 11.f;
  static constexpr float most_extrinsic = 65659969.1f, least_extrinsic = 1.52299797e-8f;  // e^18, e^-18
  static constexpr float tiny = 8.07793567e-28f;                                          // 2^-90
  template <class T>
  WB_HD static T zero() {
    return T(0.f);
  }
  template <class T>
  WB_HD static T channel(T llr) {
    return exp(saturate(T(0.f) - llr, channel_limit));
  }
  /// Never 0 / 0. The reciprocal by two Newton steps is good to 2^-12, a bfloat16 to 2^-9.
  template <class T>
  WB_HD static T ratio(T one, T zero) {
    using I = typename rebind<T>::i32;
    const T z = zero + T(tiny);
    T r = as_float(I(0x7ef311c7) - as_int(z));
    r = fma(r, fnma(z, r, T(1.f)), r);
    r = fma(r, fnma(z, r, T(1.f)), r);
    return (one + T(tiny)) * r;
  }
  template <class T>
  WB_HD static T passed_on(T e, float) {
    return max(min(e, T(most_extrinsic)), T(least_extrinsic));
  }
  template <class T>
  WB_HD static typename rebind<T>::mask is_one(T posterior) {
    return posterior > T(1.f);
  }
  template <int S, class T>
  WB_HD static void normalise_step(T (&)[S]) {}
  template <int S, class T>
  WB_HD static void normalise_segment(T (&a)[S]) {
    using I = typename rebind<T>::i32;
    T sum[S];
    WB_UNROLL for (int s = 0; s < S; s++) sum[s] = a[s];
    WB_UNROLL for (int n = S / 2; n > 0; n /= 2) {
      WB_UNROLL for (int s = 0; s < n; s++) sum[s] = sum[s] + sum[s + n];
    }
    const T r = as_float(I(0x7f000000) - (as_int(sum[0]) & I(0x7f800000)));  // 2^-exponent(sum)
    WB_UNROLL for (int s = 0; s < S; s++) a[s] = a[s] * r;
  }
};

}  // namespace WB_ISA
}  // namespace wb
