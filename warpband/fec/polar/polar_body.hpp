#pragma once
// The polar transform on words of 32 bits, the rules of decoding, and where a list keeps its numbers.
#include <warpband/core/group.hpp>
#include <warpband/core/llr.hpp>
#include <warpband/core/whole_lane.hpp>
#include <warpband/fec/polar/polar_args.hpp>

namespace wb {
inline namespace WB_ISA {

template <class T>
inline constexpr int polar_word_bits = is_whole<T> ? 16 : 32;
/// Threads that share a list on a CUDA device: a warp, or fewer where not each would have a bit of every
/// word.
template <class T, int L>
inline constexpr int polar_tile = L * polar_word_bits<T> < 32 ? L * polar_word_bits<T> : 32;
/// Whether threads that share a list make the LLRs of the root's children where they are read. Stored they
/// are half of a path's memory, and memory bounds how many lists a multiprocessor works on, if paths are
/// many: from 32 bytes of LLRs for each bit on (docs/notes/2026-11-polar-lists.md). A word has as many bits
/// as an LLR.
template <class T, int L>
inline constexpr bool polar_makes_halves = L * polar_word_bits<T> >= 256;
/// A number in memory.
template <class T>
using polar_element = std::conditional_t<is_whole<T> && WB_WIDTH == 1, std::int16_t, T>;
template <class T>
WB_HD void put(polar_element<T>* p, T x) {
  if constexpr (std::is_same_v<polar_element<T>, T>)
    *p = x;
  else
    *p = static_cast<std::int16_t>(x.x);
}

/// x F^(x)5 (or 4) for the bits of a word: bit i becomes the sum of the bits whose index has all ones of i.
template <class I>
WB_HD I polar_word(I x) {
  x = x ^ ((x >> 1) & I(0x55555555));
  x = x ^ ((x >> 2) & I(0x33333333));
  x = x ^ ((x >> 4) & I(0x0f0f0f0f));
  x = x ^ ((x >> 8) & I(0x00ff00ff));
  if constexpr (is_whole<I>)
    return x;
  else
    return x ^ ((x >> 16) & I(0x0000ffff));
}

/// The exclusive-or of a word's bits.
template <class I>
WB_HD I polar_parity(I x) {
  if constexpr (!is_whole<I>) x = x ^ (x >> 16);
  x = x ^ (x >> 8);
  x = x ^ (x >> 4);
  x = x ^ (x >> 2);
  return (x ^ (x >> 1)) & I(1);
}

/// Metric of a path that is not there yet, and what all others stay below.
inline constexpr float polar_no_path = 1e38f, polar_a_path = 1e37f;

/// With `Exact` f is the sum-product rule and a penalty ln(1 + e^x), else their max-log forms. L: paths.
template <class T, bool Exact, int L>
struct polar_rules {
  using I = typename rebind<T>::i32;
  using M = typename rebind<T>::mask;
  /// Metric of a path that is not there; more than any |LLR|.
  WB_HD static T no_path() { return T(polar_no_path); }
  WB_HD static T above_all() { return T(polar_no_path); }
  WB_HD static M exists(T metric) { return metric < T(polar_a_path); }
  WB_HD static T limited(T llr, int) { return llr; }
  WB_HD static T grown(T metric, T penalty) { return metric + penalty; }
  /// Of two penalties.
  WB_HD static T sum(T a, T b) { return a + b; }
  /// What metrics of a list are compared by: without their last bits, in place of which is `path`.
  WB_HD static T key(T metric, I path) { return as_float((as_int(metric) & I(-2 * L)) | path); }
  WB_HD static T less(T metric, T) { return metric; }
  /// x, or -x where the word's highest bit is set.
  WB_HD static T turned(T x, I word) { return as_float(as_int(x) ^ (word & I(INT32_MIN))); }
  WB_HD static I one_at(I n) {
    using U = typename rebind<T>::u32;
    return as_int(shift_right(U(0x80000000u), as_uint(I(31) - n)));
  }
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

/// The same of integers. A metric is above the list's smallest by at most `farthest`, above which a path is
/// as good as lost; all that of absent paths is one more.
template <int L>
struct polar_rules<whole16, false, L> {
  using T = whole16;
  using M = mask16;
  static constexpr int most = polar_most_whole, farthest = 32767 / (2 * L) - 1;
  WB_HD static T no_path() { return most; }
  WB_HD static T above_all() { return 32767; }
  WB_HD static M exists(T metric) { return metric < T(most); }
  WB_HD static T limited(T llr, int limit) { return min(max(llr, T(-limit)), T(limit)); }
  WB_HD static T grown(T metric, T penalty) {
    return select(exists(metric), min(metric + penalty, T(most - 1)), metric);
  }
  WB_HD static T sum(T a, T b) { return min(a + b, T(most - 1)); }
  WB_HD static T key(T metric, T path) {
    const T apart = select(exists(metric), min(metric, T(farthest)), T(farthest + 1));
    return apart * T(2 * L) | path;
  }
  WB_HD static T less(T metric, T least) { return select(exists(metric), metric - least, metric); }
  WB_HD static T turned(T x, T word) {
    const T sign = word >> 15;
    return (x ^ sign) - sign;
  }
  WB_HD static T one_at(T n) { return WB_ISA::one_at(n); }
  WB_HD static T penalty(T x) { return max(x, T(0)); }
  /// f(a, b): of two LLRs of the same sign the smaller one, of others minus the smaller one of a and -b.
  WB_HD static T combined(T a, T b) { return max(min(a, b), T(0) - max(a, b)); }
};

/// Scratch of a codeword's list, polar_list_values for each path: where its arrays begin.
template <int WordBits, bool HalvesStored>
struct polar_layout {
  static constexpr int log2_word = WordBits == 32 ? 5 : 4;
  int n;
  WB_HD constexpr int words() const { return n / WordBits; }
  /// Where the 2^stage LLRs of a node begin. Where those of the root's children are not stored, `decide`
  /// stores their magnitudes at 0, over the smaller nodes, which are not in use then.
  WB_HD constexpr int alpha(int stage) const { return (1 << stage) & (alphas() - 1); }
  WB_HD constexpr int alphas() const { return HalvesStored ? n : n / 2; }
  WB_HD constexpr int left(int stage) const {
    return alphas() + (stage < log2_word ? stage : log2_word - 1 + (1 << (stage - log2_word)));
  }
  WB_HD constexpr int now(int buffer) const { return alphas() + log2_word + (1 + buffer) * words(); }
};

}  // namespace WB_ISA
}  // namespace wb
