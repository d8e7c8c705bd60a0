#pragma once
// Fixed point in float32 lanes. A word of `length` bits is a multiple of 2^-fraction, at most 2^(length - 1)
// - 1 steps in magnitude. A body passes each number that it stores through a rule: `floating_point`
// leaves it, `fixed_point` rounds it to the nearest word (ties to even) and saturates it. What it does not
// store, a sum of products, has the 24 bits of float32, as an accumulator of hardware is wider than a word.
#include <warpband/core/cx.hpp>
#include <warpband/core/rounding.hpp>
#include <warpband/core/word_format.hpp>

namespace wb {
inline namespace WB_ISA {

struct floating_point {
  static constexpr bool is_fixed = false;
  template <class X>
  WB_HD X operator()(X x) const {
    return x;
  }
  /// x / divisor, where `inverse` is one over that.
  template <class X, class T>
  WB_HD X ratio(X x, T, T inverse) const {
    return inverse * x;
  }
};

template <class T>
struct fixed_point {
  static constexpr bool is_fixed = true;
  float step, greatest, shift;  // shift: 1.5 * 2^23 steps, whose sum with x has no bits below a step

  explicit WB_HD fixed_point(word_format f)
      : step(1.f / static_cast<float>(1 << f.fraction)),
        greatest(static_cast<float>((1 << (f.length - 1)) - 1) * step),
        shift(rounder * step) {}
  /// Any x but NaN.
  WB_HD T operator()(T x) const { return (max(min(x, T(greatest)), T(-greatest)) + T(shift)) - T(shift); }
  WB_HD cx<T> operator()(cx<T> x) const { return {(*this)(x.re), (*this)(x.im)}; }
  /// The divisor is positive; the quotient is rounded once, to a word.
  WB_HD T ratio(T x, T divisor, T = T(0.f)) const { return (*this)(x / divisor); }
  WB_HD cx<T> ratio(cx<T> x, T divisor, T = T(0.f)) const {
    return {ratio(x.re, divisor), ratio(x.im, divisor)};
  }
  /// A number that others are divided by: at least one step.
  WB_HD T positive(T x) const { return max((*this)(x), T(step)); }
};

}  // namespace WB_ISA
}  // namespace wb
