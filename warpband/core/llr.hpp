#pragma once
// Log-likelihood ratios: L = ln P(bit = 0) - ln P(bit = 1). Positive means 0. Zero is an erasure and decides
// 0.
#include <warpband/core/lane.hpp>

namespace wb {
inline namespace WB_ISA {

/// Limits to [-limit, limit]. Callers pass finite values.
template <class T>
WB_HD T saturate(T llr, float limit) {
  return max(min(llr, T(limit)), T(-limit));
}
/// ln(1 + e^-d) of d >= 0, within 0.013.
template <class T>
WB_HD T log_sum_correction(T d) {
  const T x = max(T(0.91244418f) - d * T(0.157f), T(0.f)), square = x * x;
  return square * square;
}
/// Whether `large` of `count` LLRs, those of a magnitude above some limit, are more than a fourth: then the
/// codeword is decoded on LLRs, not on probabilities, whose range it might exceed. LLRs that are as large as
/// their noise allows are seldom wrong, so that a few, or known bits, do no harm.
template <class I>
WB_HD auto are_large(I large, int count) {
  return I(count) < large * I(4);
}
/// 1 where |llr| > limit.
template <class T>
WB_HD typename rebind<T>::i32 is_large(T llr, float limit) {
  using I = typename rebind<T>::i32;
  return select(abs(llr) > T(limit), I(1), I(0));
}
/// The hard decision as an int32 lane: 1 where the LLR is negative.
template <class T>
WB_HD typename rebind<T>::i32 decide(T llr) {
  using I = typename rebind<T>::i32;
  return select(llr < T(0.f), I(1), I(0));
}

}  // namespace WB_ISA
}  // namespace wb
