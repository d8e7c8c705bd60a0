#pragma once
// What the 16-bit decoders of convolutional codes share: stages of several steps, butterflies, and the
// windows of a codeword.
#include <type_traits>

#include <warpband/core/warp_tile.hpp>
#include <warpband/fec/conv/conv_body.hpp>
#include <warpband/fec/conv/conv_short_code_body.hpp>
#include <warpband/fec/conv/conv_short_weights_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// Stages of `Steps` steps of a register with `Memory` older bits. The states that differ in their `Steps`
/// oldest bits, a part, lead within a stage to those that differ in their `Steps` newest bits.
template <int Memory, int Steps>
struct conv_parts {
  static constexpr int states = 1 << Memory;
  static constexpr int steps = Steps;
  static constexpr int size = 1 << steps, half = size / 2;
  static constexpr int count = states / size;
  static constexpr int run = conv_run / steps * steps;  // steps whose weights are made at once
  /// Where the metric of a state lies. On CUDA 32 of them begin 8 banks of shared memory further on, so that
  /// threads which read 16 of them each meet few conflicts.
  WB_HD static constexpr int place(int s) {
#if defined(__CUDACC__)
    return s + s / 32 * 8;
#else
    return s;
#endif
  }
  /// place(a + b), where a is a multiple of a power of two above b, up to 32. What of it the compiler knows
  /// becomes part of a load's or store's address.
  WB_HD static constexpr int place(int a, int b) { return count <= 32 ? place(a) + b : place(a + b); }
  static constexpr int room = states + states / 32 * 8;

  /// Which butterfly of all is q of a part in step i of a stage.
  WB_HD static constexpr int butterfly(int i, int q, int part) {
    const int rest = steps - 1 - i;
    return (q >> rest) << (Memory - 1 - i) | part << rest | (q & ((1 << rest) - 1));
  }
  /// How many numbers find_codes gives.
  template <class Code>
  static constexpr int code_count = Code::known ? steps : steps * half;
  /// Of each step of a stage: offsets of the coded bits of a part's butterflies, or of a known code the coded
  /// bits of the first one.
  template <class Code>
  WB_HD static void find_codes(const conv_trellis& c, int part, int* codes) {
    WB_UNROLL_ON_DEVICE for (int i = 0; i < steps; i++) {
      if constexpr (Code::known)
        codes[i] = Code::coded(butterfly(i, 0, part));
      else
        WB_UNROLL_ON_DEVICE for (int q = 0; q < half; q++) codes[i * half + q] =
            (c.codes[butterfly(i, q, part)] & ((1 << c.outputs) - 1)) * 2 * i16x::lanes;
    }
  }
};

/// Metrics p0, p1 of a butterfly's states become those of the states that it leads to.
template <class V>
WB_HD void conv_short_butterfly(const V (&w)[4], V p0, V p1, V& to0, V& to1) {
  to0 = add_max(p1, w[1], p0 + w[0]);
  to1 = add_max(p1, w[3], p0 + w[2]);
}

/// Who shares the windows of a value: this many threads of the group that decodes codewords. All of a warp
/// call the same functions together.
template <int Threads, class G>
struct conv_short_team {
  using type = solo;
};
#if defined(__CUDACC__)
template <int Threads>
  requires(Threads > 1)
struct conv_short_team<Threads, block<>> {
  using type = warp_tile<Threads>;
};
#endif

/// The steps of a window: five segments, some of them empty. One before it, two to its end, of which the
/// second is none of the last window's, and two behind it.
struct conv_short_segments {
  static constexpr int count = 5;
  const conv_short_args& a;

  WB_HD int steps_of_last() const { return a.code.steps - (a.windows - 1) * a.length; }
  WB_HD int boundary(int i) const {
    const int end = a.length + a.overlap, last = steps_of_last(), next = last + a.length;
    return i == 0   ? -a.overlap
           : i == 1 ? 0
           : i == 2 ? last
           : i == 3 ? a.length
           : i == 4 ? (next < end ? next : end)
                    : end;
  }
  /// How many steps of a segment, its first ones, are no stages of `stage` steps.
  WB_HD int single_steps(int i, int stage) const { return (boundary(i + 1) - boundary(i)) % stage; }
  /// The window whose state before step `step` is known, if not all windows' are unknown; -1: none.
  WB_HD int known_at(int step) const {
    if (a.code.ending == conv_ending::tail_biting) return -1;
    const int last = steps_of_last();
    return step == 0                                 ? 0
           : a.code.ending != conv_ending::zero_tail ? -1
           : step == last                            ? a.windows - 1
           : step == last + a.length                 ? a.windows - 2
                                                     : -1;
  }
};

/// The windows that a group's lanes decode: those of value `value` of at most `items` codewords.
WB_HD void conv_short_fill(conv_short_lanes& lane_map, bool* bad, std::size_t first, int items, int windows,
                           int value) {
  constexpr int lanes = conv_short_lanes::count;
  WB_UNROLL_ON_DEVICE for (int l = 0; l < lanes; l++) {
    const int slot = value * lanes + l, last = items * windows - 1, used = slot < last ? slot : last;
    lane_map.codeword[l] = used / windows;
    lane_map.window[l] = used % windows;
    lane_map.item[l] = first + static_cast<std::size_t>(lane_map.codeword[l]);
    lane_map.stores[l] = slot <= last;
    bad[l] = false;
  }
}
/// A value that is `then` in the lanes with a window, else `other`.
WB_HD i16x conv_short_in_window(const conv_short_lanes& lane_map, int window, int then, int other) {
  constexpr int lanes = conv_short_lanes::count;
  std::int16_t x[lanes];
  WB_UNROLL for (int l = 0; l < lanes; l++) x[l] =
      static_cast<std::int16_t>(lane_map.window[l] == window ? then : other);
  return of_lanes(x);
}

/// What a codeword's LLRs make of it: 0, or the status of an erased one.
WB_HD int conv_short_status(const conv_short_args& a, int usable, int spoilt) {
  const int n = static_cast<int>(a.llr8.data ? a.llr8.elements : a.llr.elements);
  return spoilt != 0                              ? status_erased
         : usable < (a.code.k < n ? a.code.k : n) ? status_erased | status_insufficient
                                                  : 0;
}

}  // namespace WB_ISA
}  // namespace wb
