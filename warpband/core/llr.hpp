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
/// The hard decision as an int32 lane: 1 where the LLR is negative.
template <class T>
WB_HD typename rebind<T>::i32 decide(T llr) {
  using I = typename rebind<T>::i32;
  return select(llr < T(0.f), I(1), I(0));
}

}  // namespace WB_ISA
}  // namespace wb
