#pragma once
// The forward and the backward recursion over the register's trellis, semiring M, lane type T and group G.
#include <warpband/fec/conv/conv_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// How metrics keep their range.
template <class M>
struct bcjr_range;

/// The weights of a run's first step bring alpha of state 0 back to 0; that alone keeps beta near 0 too, as
/// the best path's alpha + beta is the same at every step.
template <>
struct bcjr_range<max_log> {
  static constexpr bool each_step = false;
  template <class T>
  WB_HD static T zero() {
    return max_log::zero<T>();
  }
};
template <>
struct bcjr_range<log_map::of_large_llrs> : bcjr_range<max_log> {};
/// The largest metric before each step is brought to [1, 2); after it, it is below 4. All are at least 2^-60
/// and branch weights too, so that no product of two metrics, or of a metric and a weight, underflows.
template <>
struct bcjr_range<log_map> {
  static constexpr bool each_step = true;
  template <class T>
  WB_HD static T zero() {
    return T(log_map::least_product);
  }
};

/// 2^-exponent, exact.
template <class T>
WB_HD T bcjr_factor(T largest) {
  using I = typename rebind<T>::i32;
  return as_float(I(0x7f000000) - (as_int(largest) & I(0x7f800000)));
}
/// The factor of the first step of a run.
template <int Memory, class T, class G>
WB_HD T bcjr_first_factor(G g, const T* metrics) {
  T most = T(0.f);
  for (int s = g.rank; s < conv_states<Memory>::states; s += g.size) most = max(most, metrics[s]);
  return bcjr_factor(g.max_all(most));
}

/// How a thread goes through the butterflies of a round: `unroll` at a time, its group `span`.
template <int Memory, class G>
struct bcjr_loop {
  static constexpr int round = conv_states<Memory>::round;
  static constexpr int unroll = G::size > 1 ? 1 : round < 4 ? round : 4, span = unroll * G::size;
};

/// The sum of x over the threads that had a butterfly of a round, pairs of neighbours first: for every group
/// size the same order.
template <int Round, class M, class T, class G>
WB_HD T sum_of_round(G g, T x) {
  if constexpr (G::size > 1)
    WB_UNROLL for (int step = 1; step < Round && step < G::size; step *= 2) x =
        M::plus(x, g.exchange(x, step));
  return x;
}
template <class M, int N, class T>
WB_HD T sum_of_pairs(T (&x)[N]) {
  if constexpr (N > 1)
    WB_UNROLL for (int n = 1; n < N; n *= 2) for (int i = 0; i < N; i += 2 * n) x[i] =
        M::plus(x[i], x[i + n]);
  return x[0];
}

/// Metrics of a step's butterfly: new ones from those of two states and the weights of their branches.
template <class M, class T>
WB_HD T bcjr_metric(T a, T w, T b, T x, T factor, T& most) {
  T n = M::accumulate(M::times(a, w), b, x);
  if constexpr (bcjr_range<M>::each_step) {
    n = max(M::times(n, factor), bcjr_range<M>::template zero<T>());
    most = max(most, n);
  }
  return n;
}

/// alpha of the next step, times a factor. Returns the factor for the step after it.
template <int Memory, class M, class T, class G>
WB_HD_CALL T bcjr_forward(G g, const conv_trellis& c, int known, const T* before, T* after, const T* weights,
                          T factor) {
  using loop = bcjr_loop<Memory, G>;
  constexpr int half = conv_states<Memory>::butterflies;
  T most = T(0.f);
  for (int q = 0; q < half; q += loop::round)
    for (int i = 0; i < loop::round; i += loop::span) WB_UNROLL for (int u = 0; u < loop::unroll; u++) {
        const int b = i + u * G::size + g.rank;
        if (loop::round % loop::span == 0 || b < loop::round) {
          const int j = q + b;
          const std::int32_t code = c.codes[j] & known;
          const T p0 = before[2 * j], p1 = before[2 * j + 1];
          after[j] = bcjr_metric<M>(p0, weights[code], p1, weights[code ^ (c.older & known)], factor, most);
          after[j + half] = bcjr_metric<M>(p0, weights[code ^ (c.newer & known)], p1,
                                           weights[code ^ ((c.older ^ c.newer) & known)], factor, most);
        }
      }
  g.sync();
  if constexpr (bcjr_range<M>::each_step) return bcjr_factor(g.max_all(most));
  return factor;
}

/// beta of the step before, times a factor, and the sums over the step's branches with input 0 and 1 (right
/// in thread 0). `alpha` is that before the step, `alpha_next` that after it. Where the input is the newest
/// bit of the register the sum over branches is one over the states they lead to.
template <int Memory, class M, bool Recursive, class T, class G>
WB_HD_CALL T bcjr_backward(G g, const conv_trellis& c, int known, const T* alpha, const T* alpha_next,
                           const T* after, T* before, const T* weights, T factor, T& sum0, T& sum1) {
  using loop = bcjr_loop<Memory, G>;
  constexpr int half = conv_states<Memory>::butterflies, groups = (loop::round + loop::span - 1) / loop::span;
  T most = T(0.f);
  for (int q = 0; q < half; q += loop::round) {
    T part0[groups], part1[groups];
    for (int i = 0; i < groups; i++) {
      T x0[loop::unroll], x1[loop::unroll];
      WB_UNROLL for (int u = 0; u < loop::unroll; u++) {
        const int b = i * loop::span + u * G::size + g.rank;
        x0[u] = x1[u] = M::template one<T>();
        if (loop::round % loop::span == 0 || b < loop::round) {
          const int j = q + b;
          const std::int32_t all = c.codes[j], code = all & known;
          const T low = after[j], high = after[j + half];
          const T w = weights[code], x = weights[code ^ (c.older & known)],
                  y = weights[code ^ (c.newer & known)], z = weights[code ^ ((c.older ^ c.newer) & known)];
          before[2 * j] = bcjr_metric<M>(low, w, high, y, factor, most);
          before[2 * j + 1] = bcjr_metric<M>(low, x, high, z, factor, most);
          if constexpr (!Recursive) {
            x0[u] = M::times(alpha_next[j], low);
            x1[u] = M::times(alpha_next[j + half], high);
          } else {
            const T a0 = alpha[2 * j], a1 = alpha[2 * j + 1];
            const T even0 = M::times(M::times(a0, w), low), even1 = M::times(M::times(a0, y), high);
            const T odd0 = M::times(M::times(a1, x), low), odd1 = M::times(M::times(a1, z), high);
            // The oldest bit flips the input where the feedback taps it.
            const bool flips = (c.older >> c.outputs & 1) != 0, one = (all >> c.outputs & 1) != 0;
            const T same = M::plus(even0, flips ? odd1 : odd0), other = M::plus(even1, flips ? odd0 : odd1);
            x0[u] = one ? other : same;
            x1[u] = one ? same : other;
          }
        }
      }
      part0[i] = sum_of_pairs<M>(x0);
      part1[i] = sum_of_pairs<M>(x1);
    }
    const T s0 = sum_of_round<loop::round, M>(g, sum_of_pairs<M>(part0));
    const T s1 = sum_of_round<loop::round, M>(g, sum_of_pairs<M>(part1));
    sum0 = q == 0 ? s0 : M::plus(sum0, s0);
    sum1 = q == 0 ? s1 : M::plus(sum1, s1);
  }
  g.sync();
  if constexpr (bcjr_range<M>::each_step) return bcjr_factor(g.max_all(most));
  return factor;
}

}  // namespace WB_ISA
}  // namespace wb
