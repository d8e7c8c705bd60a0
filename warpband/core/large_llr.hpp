#pragma once
// When LLRs are too large for probabilities.
#include <warpband/core/known_llr.hpp>
#include <warpband/core/llr.hpp>

namespace wb {
inline namespace WB_ISA {

/// Counts an LLR for are_large: 1 beyond +-limit, and more than any codeword has beyond +-overflow.
/// Probabilities would cut the latter, so that one outweighs another that is larger. A known bit is not wrong
/// and does not count so. Sums over a block's threads stay below 2^29.
template <class T>
WB_HD void count_large(typename rebind<T>::i32& count, T llr, float limit, float overflow) {
  using I = typename rebind<T>::i32;
  const T x = abs(llr);
  count = (count + is_large(llr, limit)) | select((x > T(overflow)) & (x < T(known_llr)), I(1 << 18), I(0));
}
/// The magnitude of an LLR, 0 of a known bit.
template <class T>
WB_HD T unless_known(T magnitude) {
  return select(magnitude < T(known_llr), magnitude, T(0.f));
}

}  // namespace WB_ISA
}  // namespace wb
