#pragma once
// The polar transform on words of 32 bits, the rules of decoding, and where a list keeps its numbers.
#include <warpband/core/group.hpp>
#include <warpband/core/llr.hpp>

namespace wb {
inline namespace WB_ISA {

/// x F^(x)5 for the bits of a word: bit i becomes the sum of the bits whose index has all ones of i.
template <class I>
WB_HD I polar_word(I x) {
  x = x ^ ((x >> 1) & I(0x55555555));
  x = x ^ ((x >> 2) & I(0x33333333));
  x = x ^ ((x >> 4) & I(0x0f0f0f0f));
  x = x ^ ((x >> 8) & I(0x00ff00ff));
  return x ^ ((x >> 16) & I(0x0000ffff));
}

/// The exclusive-or of a word's bits.
template <class I>
WB_HD I polar_parity(I x) {
  x = x ^ (x >> 16);
  x = x ^ (x >> 8);
  x = x ^ (x >> 4);
  x = x ^ (x >> 2);
  return (x ^ (x >> 1)) & I(1);
}

/// With `Exact` f is the sum-product rule and a penalty ln(1 + e^x), else their max-log forms.
template <class T, bool Exact>
struct polar_rules {
  using I = typename rebind<T>::i32;
  /// Of a decision against an LLR of x.
  WB_HD static T penalty(T x) {
    const T p = max(x, T(0.f));
    if constexpr (Exact) return p + log_sum_correction(abs(x));
    return p;
  }
  /// f(a, b) = 2 artanh(tanh(a / 2) tanh(b / 2)), or sign(a) sign(b) min(|a|, |b|).
  WB_HD static T combined(T a, T b) {
    const I sign = (as_int(a) ^ as_int(b)) & I(INT32_MIN);
    const T x = abs(a), y = abs(b);
    T least = min(x, y);
    if constexpr (Exact)
      least = max(least - log_sum_correction(max(x, y) - least) + log_sum_correction(x + y), T(0.f));
    return as_float(as_int(least) | sign);
  }
};

/// Scratch of a codeword's list, polar_list_values for each path: where its arrays begin.
struct polar_layout {
  int n;
  WB_HD constexpr int words() const { return n / 32; }
  WB_HD constexpr int alpha(int stage) const { return 1 << stage; }  // and 2^stage values
  WB_HD constexpr int left(int stage) const { return n + (stage < 5 ? stage : 4 + (1 << (stage - 5))); }
  WB_HD constexpr int now(int buffer) const { return n + 5 + (1 + buffer) * words(); }
};

}  // namespace WB_ISA
}  // namespace wb
