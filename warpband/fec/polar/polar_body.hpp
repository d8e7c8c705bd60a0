#pragma once
// Arithmetic of the polar decoder: the transform within a word, f, penalties of path metrics, and the layout
// of a list's scratch memory (polar.hpp has formulas and papers). Types: float32 or 16-bit integers. All
// functions work on registers and need no barrier.
#include <warpband/core/group.hpp>
#include <warpband/core/llr.hpp>
#include <warpband/core/whole_lane.hpp>
#include <warpband/fec/polar/polar_args.hpp>

namespace wb {
inline namespace WB_ISA {

/// Partial sums are packed into words of as many bits as an LLR has.
template <class T>
inline constexpr int polar_word_bits = is_whole<T> ? 16 : 32;
/// Threads that share a list on a CUDA device: a warp, or one thread per path and bit of a word if that is
/// less.
template <class T, int L>
inline constexpr int polar_tile = L * polar_word_bits<T> < 32 ? L * polar_word_bits<T> : 32;
/// Whether CUDA threads recompute the LLRs of stage log2(N) - 1 at each use instead of storing them. Stored
/// they are half of a path's memory, which limits the lists per multiprocessor. Measured on an H100,
/// recomputing pays from 32 bytes of LLRs per coded bit on (docs/notes/2026-11-polar-lists.md).
template <class T, int L>
inline constexpr bool polar_recomputes_top_stage = L * polar_word_bits<T> >= 256;
/// Type of a value in scratch memory.
template <class T>
using polar_element = std::conditional_t<is_whole<T> && WB_WIDTH == 1, std::int16_t, T>;
template <class T>
WB_HD void put(polar_element<T>* p, T x) {
  if constexpr (std::is_same_v<polar_element<T>, T>)
    *p = x;
  else
    *p = static_cast<std::int16_t>(x.x);
}

/// x F^(x)5, or F^(x)4 for 16 bits. Bit i becomes the sum of the bits j with i AND j = i.
template <class I>
WB_HD I polar_transform_word(I x) {
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

/// Metric of a list entry without a path, and a bound above all metrics of paths.
inline constexpr float polar_no_path_metric = 1e38f, polar_max_metric = 1e37f;

/// Rules for f and path metrics in float32. Exact: the sum-product f and the penalty ln(1 + e^x); else their
/// max-log forms. L: paths of the list.
template <class T, bool Exact, int L>
struct polar_rules {
  using I = typename rebind<T>::i32;
  using M = typename rebind<T>::mask;
  /// Metric of a list entry without a path.
  WB_HD static T no_path() { return T(polar_no_path_metric); }
  /// Larger than each |LLR|.
  WB_HD static T infinite_llr() { return T(polar_no_path_metric); }
  WB_HD static M is_path(T metric) { return metric < T(polar_max_metric); }
  WB_HD static T saturated(T llr, int) { return llr; }
  WB_HD static T with_penalty(T metric, T penalty) { return metric + penalty; }
  WB_HD static T sum_of_penalties(T a, T b) { return a + b; }
  /// Sort key of a candidate: its metric, whose last log2(2 L) bits are replaced by the candidate's index.
  WB_HD static T sort_key(T metric, I candidate) {
    return as_float((as_int(metric) & I(-2 * L)) | candidate);
  }
  WB_HD static T normalised(T metric, T) { return metric; }
  /// -x if the word's highest bit is set, else x.
  WB_HD static T negated_if(T x, I word) { return as_float(as_int(x) ^ (word & I(INT32_MIN))); }
  /// 1 << n, or 0 if n is no index of a bit.
  WB_HD static I bit_mask(I n) {
    using U = typename rebind<T>::u32;
    return as_int(shift_right(U(0x80000000u), as_uint(I(31) - n)));
  }
  /// Penalty of a bit 1 with the LLR x; that of a bit 0 is penalty(-x).
  WB_HD static T penalty(T x) {
    const T p = max(x, T(0.f));
    if constexpr (Exact) return p + log_sum_correction(abs(x));
    return p;
  }
  /// f(a, b) = 2 artanh(tanh(a / 2) tanh(b / 2)), or sign(a) sign(b) min(|a|, |b|).
  WB_HD static T f(T a, T b) {
    const I sign = (as_int(a) ^ as_int(b)) & I(INT32_MIN);
    const T x = abs(a), y = abs(b);
    T magnitude = min(x, y);
    if constexpr (Exact)
      magnitude =
          max(magnitude - log_sum_correction(max(x, y) - magnitude) + log_sum_correction(x + y), T(0.f));
    return as_float(as_int(magnitude) | sign);
  }
};

/// The same in saturating 16-bit integers. The list's smallest metric is kept at 0. Sorting saturates metrics
/// at `max_key`; list entries without a path have the key max_key + 1.
template <int L>
struct polar_rules<whole16, false, L> {
  using T = whole16;
  using M = mask16;
  static constexpr int max_metric = polar_int16_max_metric, max_key = 32767 / (2 * L) - 1;
  WB_HD static T no_path() { return max_metric; }
  WB_HD static T infinite_llr() { return 32767; }
  WB_HD static M is_path(T metric) { return metric < T(max_metric); }
  WB_HD static T saturated(T llr, int limit) { return min(max(llr, T(-limit)), T(limit)); }
  WB_HD static T with_penalty(T metric, T penalty) {
    return select(is_path(metric), min(metric + penalty, T(max_metric - 1)), metric);
  }
  WB_HD static T sum_of_penalties(T a, T b) { return min(a + b, T(max_metric - 1)); }
  WB_HD static T sort_key(T metric, T candidate) {
    const T key = select(is_path(metric), min(metric, T(max_key)), T(max_key + 1));
    return key * T(2 * L) | candidate;
  }
  WB_HD static T normalised(T metric, T smallest) {
    return select(is_path(metric), metric - smallest, metric);
  }
  WB_HD static T negated_if(T x, T word) {
    const T sign = word >> 15;
    return (x ^ sign) - sign;
  }
  WB_HD static T bit_mask(T n) { return WB_ISA::one_at(n); }
  WB_HD static T penalty(T x) { return max(x, T(0)); }
  /// sign(a) sign(b) min(|a|, |b|) = max(min(a, b), -max(a, b)).
  WB_HD static T f(T a, T b) { return max(min(a, b), T(0) - max(a, b)); }
};

/// Scratch memory of a list, in values per path (polar_path_values): offsets of the arrays.
template <int WordBits, bool TopStageStored>
struct polar_layout {
  static constexpr int log2_word = WordBits == 32 ? 5 : 4;
  int n;
  WB_HD constexpr int words() const { return n / WordBits; }
  /// The 2^stage LLRs of a stage. A top stage that is not stored has offset 0: polar_tree::hard_decisions
  /// stores its magnitudes over the lower stages, which are free then.
  WB_HD constexpr int llrs(int stage) const { return (1 << stage) & (llr_count() - 1); }
  WB_HD constexpr int llr_count() const { return TopStageStored ? n : n / 2; }
  /// Partial sums of the left child at a stage.
  WB_HD constexpr int left_sums(int stage) const {
    return llr_count() + (stage < log2_word ? stage : log2_word - 1 + (1 << (stage - log2_word)));
  }
  /// Partial sums of the current node, in one of two buffers.
  WB_HD constexpr int sums(int buffer) const { return llr_count() + log2_word + (1 + buffer) * words(); }
};

}  // namespace WB_ISA
}  // namespace wb
