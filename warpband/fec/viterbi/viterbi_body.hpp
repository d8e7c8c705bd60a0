#pragma once
// The Viterbi recursion and its traceback over the register's trellis, lane type T and group G.
#include <warpband/fec/conv/conv_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// Metrics of the two states before a butterfly, which lie side by side.
template <class T>
WB_HD void load_pair(const T* p, T& a, T& b) {
#if defined(__CUDACC__)
  const float2 v = *reinterpret_cast<const float2*>(p);
  a = v.x, b = v.y;
#else
  a = p[0], b = p[1];
#endif
}

template <int Memory>
struct viterbi_words {
  /// Words of decisions a step: bit s % 32 of word s / 32 is that of state s.
  static constexpr int count = Memory > 5 ? 1 << (Memory - 5) : 1;
};

/// Add, compare, select: metrics p0, p1 of the states 2 j and 2 j + 1 become those of the states that
/// butterfly j leads to. Where the state 2 j + 1 wins, `bit` is set. `weights` has the weight of each
/// combination of coded bits. With `Paired` the oldest and the newest register bit flip the same coded bits,
/// as in all usual feed-forward codes.
template <bool Paired, class T, class I>
WB_HD void viterbi_butterfly(const conv_trellis& c, int j, const T* weights, T p0, T p1, T& to0, T& to1,
                             I bit, I& chosen0, I& chosen1) {
  const std::int32_t code = c.codes[j] & ((1 << c.outputs) - 1);
  const T w = weights[code], x = weights[code ^ c.older];
  const T y = Paired ? x : weights[code ^ c.newer], z = Paired ? w : weights[code ^ c.older ^ c.newer];
  const T a = p0 + w, b = p1 + x, e = p0 + y, f = p1 + z;
  to0 = max(a, b);
  to1 = max(e, f);
  chosen0 = select(b > a, chosen0 | bit, chosen0);
  chosen1 = select(f > e, chosen1 | bit, chosen1);
}

/// One step.
template <int Memory, bool Paired, class T, class G>
WB_HD void viterbi_step(G g, const conv_trellis& c, const T* before, T* after, const T* weights,
                        T* decisions) {
  using I = typename rebind<T>::i32;
  using trellis = conv_states<Memory>;
  constexpr int round = trellis::round, half = trellis::butterflies;
  // A thread alone takes eight butterflies at a time: their bits in the word are constants.
  constexpr int unroll = G::size > 1 ? 1 : round < 8 ? round : 8, span = unroll * G::size;
  for (int q = 0; q < half; q += round) {
    I low(0), high(0);
    for (int i = (round - 1) / span * span; i >= 0; i -= span) {
      if constexpr (round > span) {
        low = low << span;
        high = high << span;
      }
      WB_UNROLL for (int u = 0; u < unroll; u++) {
        const int b = i + u * G::size + g.rank;
        if (round % span == 0 || b < round) {
          const int j = q + b;
          T p0, p1, to0, to1;
          load_pair(before + 2 * j, p0, p1);
          viterbi_butterfly<Paired>(c, j, weights, p0, p1, to0, to1, I(1 << (u * G::size)) << g.rank, low,
                                    high);
          after[j] = to0;
          after[j + half] = to1;
        }
      }
    }
    if constexpr (Memory > 5) {
      low = g.xor_all(low);
      high = g.xor_all(high);
      if (g.rank == 0) {
        decisions[q / 32] = as_float(low);
        decisions[q / 32 + half / 32] = as_float(high);
      }
    } else {
      low = g.xor_all(low | (high << half));
      if (g.rank == 0) decisions[0] = as_float(low);
    }
  }
  g.sync();
}

/// Two steps at once, of at least 64 states, by a thread alone: four metrics stay in registers from the first
/// to the second, which halves the loads and stores. Butterflies 2 i and 2 i + 1 of the first lead to
/// butterflies i and i + half / 2 of the second.
template <int Memory, bool Paired, class T>
WB_HD void viterbi_two_steps(const conv_trellis& c, const T* before, T* after, const T* weights0,
                             const T* weights1, T* decisions0, T* decisions1) {
  using I = typename rebind<T>::i32;
  constexpr int half = conv_states<Memory>::butterflies, unroll = 2;
  for (int q = 0; q < half / 2; q += 16) {
    I low(0), high(0), part[4] = {I(0), I(0), I(0), I(0)};
    for (int i = 16 - unroll; i >= 0; i -= unroll) {
      low = low << (2 * unroll);
      high = high << (2 * unroll);
      WB_UNROLL for (int n = 0; n < 4; n++) part[n] = part[n] << unroll;
      WB_UNROLL for (int u = 0; u < unroll; u++) {
        const int j = q + i + u;
        T m0, m1, h0, h1, to[4];
        viterbi_butterfly<Paired>(c, 2 * j, weights0, before[4 * j], before[4 * j + 1], m0, h0,
                                  I(1 << (2 * u)), low, high);
        viterbi_butterfly<Paired>(c, 2 * j + 1, weights0, before[4 * j + 2], before[4 * j + 3], m1, h1,
                                  I(2 << (2 * u)), low, high);
        viterbi_butterfly<Paired>(c, j, weights1, m0, m1, to[0], to[2], I(1 << u), part[0], part[2]);
        viterbi_butterfly<Paired>(c, j + half / 2, weights1, h0, h1, to[1], to[3], I(1 << u), part[1],
                                  part[3]);
        WB_UNROLL for (int n = 0; n < 4; n++) after[j + n * (half / 2)] = to[n];
      }
    }
    decisions0[q / 16] = as_float(low);
    decisions0[q / 16 + half / 32] = as_float(high);
    WB_UNROLL for (int n = 0; n < 4; n++) {
      const int s = q + n * (half / 2);
      T& word = decisions1[s / 32];
      word = s % 32 == 0 ? as_float(part[n]) : as_float(as_int(word) | (part[n] << 16));
    }
  }
}

/// Bit s of a step's decisions, lane by lane; others may stand above it.
template <int Memory, class T>
WB_HD typename rebind<T>::u32 decision_at(const T* decisions, typename rebind<T>::i32 s) {
  using I = typename rebind<T>::i32;
  I word;
  if constexpr (Memory <= 5)
    word = as_int(decisions[0]);
  else if constexpr (Memory == 6)
    word = select((s & I(32)) != I(0), as_int(decisions[1]), as_int(decisions[0]));
  else
    word = as_int(load_at(decisions, s >> 5));
  return shift_right(as_uint(word), as_uint(s & I(31)));
}

}  // namespace WB_ISA
}  // namespace wb
