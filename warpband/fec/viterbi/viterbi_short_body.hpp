#pragma once
// The Viterbi recursion in 16-bit integers, several steps at a time.
//
// A stage is R steps, four or as many as the state has bits. The states that differ in their R oldest bits,
// a part, lead within a stage to those that differ in their R newest bits: all metrics of a part stay in
// registers. Each state keeps which of the part's states its path began in, R bits: its survivor. So the
// traceback reads one survivor a stage. Four of them make a word.
//
// LLRs have up to 127 steps and there are up to four a step: a metric changes by at most 508 a step, and by
// 8128 between normalisations. Metrics of states differ by at most 8 x 508, and by 5000 in addition behind a
// known state. So their sums stay below 20000, and nothing wraps.
#include <warpband/core/group.hpp>
#include <warpband/core/short_lane.hpp>
#include <warpband/fec/conv/conv_body.hpp>

namespace wb {
inline namespace WB_ISA {

template <int Memory>
struct viterbi_parts {
  static constexpr int states = 1 << Memory;
  static constexpr int steps = Memory < 4 ? Memory : 4;  // R of a stage
  static constexpr int size = 1 << steps, half = size / 2;
  static constexpr int count = states / size;
  static constexpr int words = states / 4;              // survivors of a stage
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
  static constexpr int room = states + states / 32 * 8;
};

inline constexpr int viterbi_impossible = -5000;

/// What the branches of a stage's steps weigh: of each combination of coded bits the weight, and behind it
/// that of the branch from the other state of the butterfly. Offsets count short_element.
struct viterbi_weights {
  const short_element* first;
  int step;   // values from one step to the next
  int newer;  // what the newest bit flips of an offset
};

/// Metrics p0, p1 and survivors h0, h1 of a butterfly's states become those of the states that it leads to.
template <bool Paired>
WB_HD void viterbi_short_butterfly(const viterbi_weights& weights, int step, int code, i16x p0, i16x p1,
                                   i16x h0, i16x h1, i16x& to0, i16x& to1, i16x& kept0, i16x& kept1) {
  constexpr int L = i16x::lanes;
  const short_element* w = weights.first + step * weights.step * L;
  const i16x w0 = load_short(w + code), w1 = load_short(w + code + L);
  i16x w2 = w1, w3 = w0;
  if constexpr (!Paired) {
    w2 = load_short(w + (code ^ weights.newer));
    w3 = load_short(w + (code ^ weights.newer) + L);
  }
  const i16x a = p0 + w0, e = p0 + w2;
  to0 = add_max(p1, w1, a);
  to1 = add_max(p1, w3, e);
  kept0 = select_less(a, to0, h1, h0);
  kept1 = select_less(e, to1, h1, h0);
}

/// A stage of one part. `codes` has an offset of each step's butterflies.
template <int Memory, bool Paired>
WB_HD void viterbi_stage(int part, const int* codes, const short_element* before, short_element* after,
                         const viterbi_weights& weights, short_element* survivors) {
  using parts = viterbi_parts<Memory>;
  constexpr int R = parts::steps, N = parts::size, half = parts::half, L = i16x::lanes;
  // Metrics and survivors before the stage's steps 0..4; those before step 0 are known.
  i16x m0[N], m1[N], m2[N], m3[N], m4[N], h1[N], h2[N], h3[N], h4[N];
  const auto step = [&](int i, int q, const i16x* from, const i16x* kept, i16x* to,
                        i16x* keep) WB_INLINE_LAMBDA {
    const i16x bit = to_short(1 << i);
    viterbi_short_butterfly<Paired>(weights, i, codes[i * half + q], from[2 * q], from[2 * q + 1],
                                    i == 0 ? to_short(0) : kept[2 * q], i == 0 ? bit : kept[2 * q + 1] | bit,
                                    to[q], to[half + q], keep[q], keep[half + q]);
  };
  // Two steps of four states at a time: what lies between the two stays in a CPU's registers.
  WB_UNROLL for (int g = 0; g < N / 4; g++) {
    load_four_shorts(before + parts::place(part * N + 4 * g) * L, m0 + 4 * g);
    step(0, 2 * g, m0, h1, m1, h1);
    step(0, 2 * g + 1, m0, h1, m1, h1);
    step(1, g, m1, h1, m2, h2);
    step(1, g + half / 2, m1, h1, m2, h2);
  }
  if constexpr (R == 3) WB_UNROLL for (int q = 0; q < half; q++) step(2, q, m2, h2, m3, h3);
  if constexpr (R == 4) WB_UNROLL for (int g = 0; g < N / 4; g++) {
      step(2, 2 * g, m2, h2, m3, h3);
      step(2, 2 * g + 1, m2, h2, m3, h3);
      step(3, g, m3, h3, m4, h4);
      step(3, g + half / 2, m3, h3, m4, h4);
    }
  const i16x *m = R == 2 ? m2 : R == 3 ? m3 : m4, *h = R == 2 ? h2 : R == 3 ? h3 : h4;
  WB_UNROLL for (int u = 0; u < N; u++) store_short(after + parts::place(u * parts::count + part) * L, m[u]);
  WB_UNROLL for (int w = 0; w < N / 4; w++) store_short(
      survivors + (part * (N / 4) + w) * L, (h[4 * w] | shift_left(h[4 * w + 1], 4)) |
                                                (shift_left(h[4 * w + 2], 8) | shift_left(h[4 * w + 3], 12)));
}

/// One step of all states, where what is left is no stage. `member` of `members` threads takes a share.
template <int Memory, bool Paired>
WB_HD_CALL void viterbi_short_step(int member, int members, const std::int32_t* codes, int coded,
                                   const short_element* before, short_element* after,
                                   const viterbi_weights& weights, short_element* survivors) {
  using parts = viterbi_parts<Memory>;
  constexpr int S = parts::states, half = S / 2, each = half < 4 ? half : 4, L = i16x::lanes;
  for (int first = member * each; first < half; first += members * each) {
    i16x low = to_short(0), high = to_short(0);
    WB_UNROLL for (int i = 0; i < each; i++) {
      const int j = first + i;
      i16x to0, to1, kept0, kept1;
      viterbi_short_butterfly<Paired>(
          weights, 0, (codes[j] & coded) * 2 * L, load_short(before + parts::place(2 * j) * L),
          load_short(before + parts::place(2 * j + 1) * L), to_short(0), to_short(1), to0, to1, kept0, kept1);
      store_short(after + parts::place(j) * L, to0);
      store_short(after + parts::place(half + j) * L, to1);
      low = low | shift_left(kept0, 4 * i);
      high = high | shift_left(kept1, each == 4 ? 4 * i : 4 * (each + i));
    }
    if constexpr (each == 4) {
      store_short(survivors + first / 4 * L, low);
      store_short(survivors + (half + first) / 4 * L, high);
    } else {
      store_short(survivors, low | high);
    }
  }
}

/// The state after a stage of `steps` steps becomes that before it; also gives the bits that entered the
/// register, the first one lowest. `lane` of the survivors is read.
template <int Memory, int Steps>
WB_HD int viterbi_step_back(const short_element* survivors, int lane, int& state) {
  constexpr int S = 1 << Memory, count = S >> Steps, L = i16x::lanes;
  const int entered = state >> (Memory - Steps), part = state & (count - 1);
  const int at = Steps == 1 ? state : part * (1 << Steps) + entered;
  const int word = lane_at(survivors + (at >> 2) * L, lane);
  state = part << Steps | (word >> (at & 3) * 4 & ((1 << Steps) - 1));
  return entered;
}

/// The first state of the largest metric.
template <int Memory>
WB_HD_CALL i16x viterbi_best_state(const short_element* metrics) {
  using parts = viterbi_parts<Memory>;
  i16x best = load_short(metrics), state = to_short(0);
  for (int s = 1; s < parts::states; s++) {
    const i16x m = load_short(metrics + parts::place(s) * i16x::lanes);
    state = select_less(best, m, to_short(s), state);
    best = max(best, m);
  }
  return state;
}

}  // namespace WB_ISA
}  // namespace wb
