#pragma once
// The arithmetic of the MAP recursions. One recursion serves both algorithms:
//   max_log   (max, +) on log-domain metrics, a weight is -L;
//   log_map   (+, *) on probabilities, a weight is e^-L: the exact log-MAP without max*, exp or log inside
//             the recursions. Metrics are rescaled by powers of two at every step. A codeword whose LLRs are
//             too large for that range (are_large) has the semiring log_map::of_large_llrs, (max*, +).
// A weight is that of bit = 1 against bit = 0.
#include <warpband/core/llr.hpp>
#include <warpband/core/math.hpp>

namespace wb {
inline namespace WB_ISA {

/// What a sum of semiring M takes beyond a maximum, as kernel.hpp counts operations.
template <class M>
inline constexpr double correction_flops_of = [] {
  if constexpr (requires { M::correction_flops; })
    return M::correction_flops;
  else
    return 0.;
}();

struct max_log {
  static constexpr int chains = 1;
  /// Channel LLRs are limited to +-2^26, so that the metrics that one adds to stay fine-grained; extrinsics
  /// are not limited.
  static constexpr float llr_limit = 0x1p26f, least_llr = 0.f;  // up to least_llr a weight is that of 0
  template <class T>
  WB_HD static T one() {
    return T(0.f);
  }
  template <class T>
  WB_HD static T zero() {  // the metric of a state the encoder cannot be in
    return T(-1e36f);
  }
  template <class T>
  WB_HD static T plus(T a, T b) {
    return max(a, b);
  }
  template <class T>
  WB_HD static T times(T a, T b) {
    return a + b;
  }
  /// sum + a * w
  template <class T>
  WB_HD static T accumulate(T sum, T a, T w) {
    return max(sum, a + w);
  }
  template <class T>
  WB_HD static T ratio(T one, T zero) {
    return one - zero;
  }
  template <class T>
  WB_HD static T weight(T llr) {
    return T(0.f) - saturate(llr, llr_limit);
  }
  /// A product of weights of bits.
  template <class T>
  WB_HD static T product(T a, T b) {
    return a + b;
  }
  /// The weights of bit = 0, here always one, and of bit = 1, of an LLR within the limit.
  static constexpr bool zero_is_one = true;
  template <class T>
  WB_HD static void weights(T llr, T& zero, T& one) {
    zero = T(0.f);
    one = T(0.f) - llr;
  }
  template <class T>
  WB_HD static T llr(T weight) {
    return T(0.f) - weight;
  }
  template <class T>
  WB_HD static T limit(T weight) {
    return weight;
  }
  template <class T>
  WB_HD static T limit_twice(T weight) {
    return weight;
  }
  template <class T>
  WB_HD static T scale(T weight, float s) {
    return weight * T(s);
  }
  template <int S, class T>
  WB_HD static void normalise_step(T (&)[S]) {}
  /// Called every few steps: keeps the metrics near zero, where floats are fine-grained.
  template <int S, class T>
  WB_HD static void normalise_segment(T (&a)[S]) {
    const T z = a[0];
    WB_UNROLL for (int s = 0; s < S; s++) a[s] = a[s] - z;
  }
};

/// max*(a, b) = ln(e^a + e^b) = max(a, b) + ln(1 + e^-|a - b|), within 0.013.
template <class T>
WB_HD T max_star(T a, T b) {
  return max(a, b) + log_sum_correction(abs(a - b));
}
/// Base: max_log, or a refinement of it.
template <class Base>
struct max_star_of : Base {
  /// Very large LLRs of usual neighbours take from metrics instead of adding, which would cost them digits.
  static constexpr bool zero_is_one = false;
  static constexpr float least_taken = 1e4f;
  template <class T>
  WB_HD static void weights(T llr, T& zero, T& one) {
    const auto takes = llr < T(-least_taken);
    zero = select(takes, llr, T(0.f));
    one = select(takes, T(0.f), T(0.f) - llr);
  }
  template <class T>
  WB_HD static T plus(T a, T b) {
    return max_star(a, b);
  }
  template <class T>
  WB_HD static T accumulate(T sum, T a, T w) {
    return max_star(sum, Base::times(a, w));
  }
};

struct log_map {
  using of_large_llrs = max_star_of<max_log>;
  static constexpr float large_llr = 11.f;  // of a codeword that is_large
  static constexpr int chains = 1;
  /// Channel LLRs and extrinsics are limited to +-30, sums of three of them to +-60.
  static constexpr float llr_limit = 30.f, least_llr = 0x1p-25f;             // up to it e^-L rounds to 1
  static constexpr float largest = 1.06864746e13f, least = 9.35762297e-14f;  // e^30, e^-30
  static constexpr float largest_twice = 1.14200739e26f, least_twice = 8.75651076e-27f;  // e^60, e^-60
  template <class T>
  WB_HD static T one() {
    return T(1.f);
  }
  template <class T>
  WB_HD static T zero() {  // 2^-30: the floor of a metric whose largest neighbour is in [1, 2)
    return T(9.31322575e-10f);
  }
  template <class T>
  WB_HD static T plus(T a, T b) {
    return a + b;
  }
  template <class T>
  WB_HD static T times(T a, T b) {
    return a * b;
  }
  template <class T>
  WB_HD static T accumulate(T sum, T a, T w) {
    return fma(a, w, sum);
  }
  template <class T>
  WB_HD static T ratio(T one, T zero) {
    return one / zero;
  }
  template <class T>
  WB_HD static T weight(T llr) {
    return exp(saturate(T(0.f) - llr, llr_limit));
  }
  /// A product of weights of bits, limited to 2^-60.
  static constexpr float least_product = 8.67361738e-19f;
  template <class T>
  WB_HD static T product(T a, T b) {
    return max(a * b, T(least_product));
  }
  /// The weights of bit = 0 and bit = 1, the larger one 1: their products cannot overflow.
  static constexpr bool zero_is_one = false;
  template <class T>
  WB_HD static void weights(T llr, T& zero, T& one) {
    const T small = exp(-abs(llr));
    const auto negative = llr < T(0.f);
    zero = select(negative, small, T(1.f));
    one = select(negative, T(1.f), small);
  }
  template <class T>
  WB_HD static T llr(T weight) {
    return T(0.f) - log(weight);
  }
  template <class T>
  WB_HD static T limit(T weight) {
    return max(min(weight, T(largest)), T(least));
  }
  template <class T>
  WB_HD static T limit_twice(T weight) {
    return max(min(weight, T(largest_twice)), T(least_twice));
  }
  template <class T>
  WB_HD static T scale(T weight, float) {
    return weight;
  }
  template <int S, class T>
  WB_HD static void normalise_step(T (&a)[S]) {
    T m = a[0];
    WB_UNROLL for (int s = 1; s < S; s++) m = max(m, a[s]);
    using I = typename rebind<T>::i32;
    const T r = as_float(I(0x7f000000) - (as_int(m) & I(0x7f800000)));  // 2^-exponent(m), exact
    WB_UNROLL for (int s = 0; s < S; s++) a[s] = max(a[s] * r, zero<T>());
  }
  template <int S, class T>
  WB_HD static void normalise_segment(T (&)[S]) {}
};

}  // namespace WB_ISA
}  // namespace wb
