#pragma once
// The Viterbi recursion and its traceback over the register's trellis, lane type T and group G.
#include <warpband/fec/conv/conv_branch.hpp>
#include <warpband/fec/conv/conv_op.hpp>

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

/// One step: add, compare, select. `weights` has the weight of each combination of coded bits. With `Paired`
/// the oldest and the newest register bit flip the same coded bits, as in all usual feed-forward codes.
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
          const std::int32_t code = c.codes[j] & ((1 << c.outputs) - 1);
          const I bit = I(1 << (u * G::size)) << g.rank;
          T p0, p1;
          load_pair(before + 2 * j, p0, p1);
          const T w = weights[code], x = weights[code ^ c.older];
          const T y = Paired ? x : weights[code ^ c.newer],
                  z = Paired ? w : weights[code ^ c.older ^ c.newer];
          const T a = p0 + w, b1 = p1 + x, e = p0 + y, f = p1 + z;
          after[j] = max(a, b1);
          after[j + half] = max(e, f);
          low = select(b1 > a, low | bit, low);
          high = select(f > e, high | bit, high);
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
