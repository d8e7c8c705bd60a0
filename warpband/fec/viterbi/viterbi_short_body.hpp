#pragma once
// The Viterbi recursion in 16-bit integers, several steps at a time.
//
// A stage is R steps: all metrics of a part (conv_short_body.hpp) stay in registers.
//
// Metrics are multiples of 2^R. The R bits below tell in which of the part's states a path began: its
// survivor. State u of a part begins with 2^R - 1 - u. The maximum of two paths then takes the survivor
// along, and of equal metrics the path whose oldest bit is 0. The traceback reads one survivor a stage.
//
// Range, in units of 2^R: the branches of a step differ by at most B = 127 outputs, so that metrics of states
// differ by at most D = (K - 1) B. Weights are centred, within (B + 1) / 2. A stage begins with the largest
// metric at D / 2 and ends with all of them within D / 2 + 1 + R (B + 1) / 2. viterbi_stage_steps() chooses R
// such that this is below 2^(15 - R).
//
// Of codes with fewer outputs that room is enough for metrics which are centred at state 0's instead of the
// largest (viterbi_centres_state_zero()).
//
// At a known state the others get D + 1 less. Paths from them last K - 1 steps. Until then no metric is more
// than that below the largest. They still lose against the path of the same bits from the known state.
#include <warpband/fec/conv/conv_short_body.hpp>
#include <warpband/fec/viterbi/viterbi_short_args.hpp>

namespace wb {
inline namespace WB_ISA {

template <int Memory, int Steps>
struct viterbi_parts : conv_parts<Memory, Steps> {
  static constexpr int states = 1 << Memory, survivor = (1 << Steps) - 1;
#if defined(__CUDACC__)
  static constexpr bool with_metrics = false;
#else
  /// Survivors are kept as metrics, below which they are. Else four of them make a word.
  static constexpr bool with_metrics = states <= 64;
#endif
  static constexpr int words = with_metrics ? states : states / 4;  // survivors of a stage
  /// Metric and survivor apart.
  template <class V>
  WB_HD static V metric_of(V x) {
    return x & to_short(~survivor);
  }
  template <class V>
  WB_HD static V survivor_of(V x) {
    return x & to_short(survivor);
  }
};

/// Survivors of four states, lowest first, as a word of their lanes.
template <class Parts, class V>
WB_HD V viterbi_word(const V* x) {
  const V low = join_bits(x[0], shift_left(x[1], 4), 4), high = join_bits(x[2], shift_left(x[3], 4), 4);
  return join_bits(low, shift_left(high, 8), 8);
}

/// A stage of one part. `begin` is what is added to each state's metric; weights of a known code have it
/// already, but for the survivors. `largest` becomes the largest that it was or a metric is, unless nobody
/// needs it.
template <int Memory, int Steps, bool WithMost, class V, class Weights>
WB_HD void viterbi_stage(int part, const short_element* before, short_element* after, const Weights& weights,
                         const V* begin, V& largest, short_element* survivors) {
  using parts = viterbi_parts<Memory, Steps>;
  constexpr int R = Steps, N = parts::size, half = parts::half, L = i16x::lanes;
  V m0[N], m1[N], m2[N], m3[N], m4[N];  // before the stage's steps 0..4
  const auto step = [&](int i, int q, const V* from, V* to) WB_INLINE_LAMBDA {
    V w[4];
    weights.find(i, q, w);
    conv_short_butterfly(w, from[2 * q], from[2 * q + 1], to[q], to[half + q]);
  };
  // Two steps of four states at a time: what lies between the two stays in a CPU's registers.
  WB_UNROLL for (int g = 0; g < N / 4; g++) {
    i16x x[4];
    load_four_shorts(before + parts::place(part * N, 4 * g) * L, x);
    WB_UNROLL for (int i = 0; i < 4; i++) {
      const int u = 4 * g + i;
      if constexpr (Weights::with_raise)
        m0[u] = parts::metric_of(V(x[i])) | V(to_short(parts::survivor - u));
      else
        m0[u] = parts::metric_of(V(x[i])) + begin[u];
    }
    step(0, 2 * g, m0, m1);
    step(0, 2 * g + 1, m0, m1);
    step(1, g, m1, m2);
    step(1, g + half / 2, m1, m2);
  }
  if constexpr (R == 3) WB_UNROLL for (int q = 0; q < half; q++) step(2, q, m2, m3);
  if constexpr (R == 4) WB_UNROLL for (int g = 0; g < N / 4; g++) {
      step(2, 2 * g, m2, m3);
      step(2, 2 * g + 1, m2, m3);
      step(3, g, m3, m4);
      step(3, g + half / 2, m3, m4);
    }
  const V* m = R == 2 ? m2 : R == 3 ? m3 : m4;
  WB_UNROLL for (int u = 0; u < N; u++) {
    if constexpr (WithMost) largest = max(largest, m[u]);
    store_short(after + parts::place(u * parts::count, part) * L, m[u]);
  }
  if constexpr (!parts::with_metrics) {
    i16x words[N / 4];
    WB_UNROLL for (int w = 0; w < N / 4; w++) words[w] = i16x(viterbi_word<parts>(m + 4 * w));
    if constexpr (N == 16)
      store_four_shorts(survivors + part * 4 * L, words);
    else
      WB_UNROLL for (int w = 0; w < N / 4; w++) store_short(survivors + (part * (N / 4) + w) * L, words[w]);
  }
}

/// One step of all states, where what is left is no stage: `base` is added to their metrics. `member` of
/// `members` threads takes a share.
template <int Memory, int Steps, bool Paired, class Code, class V>
WB_HD_CALL void viterbi_short_step(int member, int members, const conv_trellis& code,
                                   const short_element* before, short_element* after,
                                   const conv_short_table& weights, V base, V& largest,
                                   short_element* survivors) {
  using parts = viterbi_parts<Memory, Steps>;
  constexpr int S = parts::states, half = S / 2, per_round = half < 4 ? half : 4, L = i16x::lanes;
  const V even = base + to_short(1);
  for (int first = member * per_round; first < half; first += members * per_round) {
    V to[2 * per_round];
    WB_UNROLL for (int i = 0; i < per_round; i++) {
      const int j = first + i;
      const V p0 = load_short(before + parts::place(2 * j) * L),
              p1 = load_short(before + parts::place(2 * j + 1) * L);
      V w[4];
      conv_step_weights<Paired, Code>(weights, code, j, w);
      conv_short_butterfly(w, parts::metric_of(p0) + even, parts::metric_of(p1) + base, to[i],
                           to[per_round + i]);
      largest = max(largest, max(to[i], to[per_round + i]));
      store_short(after + parts::place(j) * L, to[i]);
      store_short(after + parts::place(half + j) * L, to[per_round + i]);
    }
    if constexpr (parts::with_metrics) continue;
    if constexpr (per_round == 4) {
      store_short(survivors + first / 4 * L, viterbi_word<parts>(to));
      store_short(survivors + (half + first) / 4 * L, viterbi_word<parts>(to + per_round));
    } else {
      store_short(survivors, viterbi_word<parts>(to));
    }
  }
}

/// The state after a stage of `Now` steps becomes that before it; also gives the bits that entered the
/// register, the first one lowest. Survivors are read in lane `lane_index`.
template <int Memory, int Steps, int Now>
WB_HD int viterbi_step_back(const short_element* survivors, int lane_index, int& state) {
  using parts = viterbi_parts<Memory, Steps>;
  constexpr int S = parts::states, count = S >> Now, last = (1 << Now) - 1, L = i16x::lanes;
  const int entered = state >> (Memory - Now), part = state & (count - 1);
  int left;
  if constexpr (parts::with_metrics) {
    left = lane_at(survivors + state * L, lane_index);
  } else {
    const int index = Now == 1 ? state : part * (1 << Now) + entered;
    left = bits_at(survivors + (index >> 2) * L, lane_index, (index & 3) * 4);
  }
  state = part << Now | (~left & last);
  return entered;
}

/// The first state of the largest metric, for all threads of g.
template <class Parts, class V, class G>
WB_HD_CALL i16x viterbi_best_state(const short_element* metrics, G g) {
  constexpr int per_thread = Parts::states / G::size;  // neighbouring states of a thread
  const int first = g.rank * per_thread;
  V best = Parts::metric_of(V(load_short(metrics + Parts::place(first) * i16x::lanes)));
  i16x state = to_short(first);
  WB_UNROLL_ON_DEVICE for (int s = first + 1; s < first + per_thread; s++) {
    const V m = Parts::metric_of(V(load_short(metrics + Parts::place(s) * i16x::lanes)));
    state = select_less(best, m, to_short(s), state);
    best = max(best, m);
  }
  if constexpr (G::size > 1)
    for (int step = 1; step < G::size; step *= 2) {
      const i16x m{g.exchange(i16x(best).x, step)}, other{g.exchange(state.x, step)};
      state = (g.rank & step) != 0 ? select_less(m, best, state, other) : select_less(best, m, other, state);
      best = max(best, m);
    }
  return state;
}

}  // namespace WB_ISA
}  // namespace wb
