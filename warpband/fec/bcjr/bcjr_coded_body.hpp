#pragma once
// Extrinsics of the coded bits: sums over the branches of a step by the value of each coded bit.
#include <warpband/core/known_llr.hpp>
#include <warpband/fec/bcjr/bcjr_dual_body.hpp>

namespace wb {
inline namespace WB_ISA {

inline constexpr int conv_most_outputs = 4;

/// The most that is said of a bit of which the code leaves no other value.
inline constexpr float certain_llr = known_llr;
/// What leaves a sum as it is.
template <class M, class T>
WB_HD T bcjr_nothing() {
  return std::is_same_v<M, log_map> ? T(0.f) : T(-1e38f);
}

/// The sums over a step's branches by the value of each coded bit, right in thread 0: alpha before the step,
/// the step's weights, beta behind it. The order of the sums is that of bcjr_backward.
template <int Memory, class M, class T, class G>
WB_HD_CALL void bcjr_coded_sums(G g, const conv_trellis& c, int known, const T* alpha, const T* after,
                                const T* weights, T (&sums)[conv_most_outputs][2]) {
  using loop = bcjr_loop<Memory, G>;
  constexpr int half = conv_states<Memory>::butterflies, groups = (loop::round + loop::span - 1) / loop::span;
  constexpr int J = conv_most_outputs;
  for (int q = 0; q < half; q += loop::round) {
    T part[J][2][groups];
    for (int i = 0; i < groups; i++) {
      T x[J][2][loop::unroll];
      WB_UNROLL for (int u = 0; u < loop::unroll; u++) {
        const int b = i * loop::span + u * G::size + g.rank;
        WB_UNROLL for (int j = 0; j < J; j++) x[j][0][u] = x[j][1][u] = bcjr_nothing<M, T>();
        if (loop::round % loop::span == 0 || b < loop::round) {
          const int n = q + b;
          const std::int32_t coded = c.codes[n], code = coded & known;
          const T a0 = alpha[2 * n], a1 = alpha[2 * n + 1], low = after[n], high = after[n + half];
          const T even0 = M::times(M::times(a0, weights[code]), low),
                  even1 = M::times(M::times(a0, weights[code ^ (c.newer & known)]), high),
                  odd0 = M::times(M::times(a1, weights[code ^ (c.older & known)]), low),
                  odd1 = M::times(M::times(a1, weights[code ^ ((c.older ^ c.newer) & known)]), high);
          WB_UNROLL for (int j = 0; j < J; j++) {
            if (j >= c.outputs) continue;
            // Which of the branches have the bit that even0 has.
            const bool older = (c.older >> j & 1) != 0, newer = (c.newer >> j & 1) != 0;
            T same = M::plus(even0, older ? (newer ? odd1 : even1) : newer ? odd0 : even1), other;
            if (older || newer) {
              other = M::plus(older && newer ? odd0 : odd1, older && !newer ? odd0 : even1);
            } else {
              same = M::plus(same, M::plus(odd0, odd1));
              other = bcjr_nothing<M, T>();
            }
            const bool one = (coded >> j & 1) != 0;
            x[j][0][u] = one ? other : same;
            x[j][1][u] = one ? same : other;
          }
        }
      }
      WB_UNROLL for (int j = 0; j < J; j++) {
        WB_UNROLL for (int value = 0; value < 2; value++) part[j][value][i] =
            j < c.outputs ? sum_of_pairs<M>(x[j][value]) : bcjr_nothing<M, T>();
      }
    }
    WB_UNROLL for (int j = 0; j < J; j++) {
      if (j >= c.outputs) continue;
      WB_UNROLL for (int value = 0; value < 2; value++) {
        const T s = sum_of_round<loop::round, M>(g, sum_of_pairs<M>(part[j][value]));
        sums[j][value] = q == 0 ? s : M::plus(sums[j][value], s);
      }
    }
  }
  g.sync();
}

/// On transforms: D of each coded bit, with its polynomial added to g(e); S is that of the input bit. Right
/// in all threads. `products` is room for the states.
template <class T, class G>
WB_HD_CALL void bcjr_coded_differences(G g, const bcjr_dual<log_map_on_dual>& dual, int outputs,
                                       const T* alpha, const T* after, const T* weights, T* products,
                                       T (&differences)[conv_most_outputs]) {
  const T factor = bcjr_factor(alpha[0]);
  for (int j = 0; j < outputs; j++) {
    for (int x = g.rank; x < dual.states; x += g.size)
      products[x] = factor * dual.ahead(alpha, weights, x, dual.generators[1 << j]) * after[x];
    g.sync();
    for (int n = dual.states / 2; n > 0; n /= 2) {
      for (int x = g.rank; x < n; x += g.size) products[x] = products[x] + products[x + n];
      g.sync();
    }
    differences[j] = products[0];
    g.sync();
  }
}

/// The coded bits of `count` steps from t on: their ratios become LLRs without their own channel LLR.
template <class M, class T, class G>
WB_HD_CALL void bcjr_store_coded(G g, const conv_trellis& c, const view<const float>& llr,
                                 const view<float>& coded, int t, int count, item<T> item, const T* ratios,
                                 typename rebind<T>::mask erased) {
  for (int i = g.rank; i < count * c.outputs; i += g.size) {
    const std::int32_t place = c.places[t * c.outputs + i];
    if (place < 0) continue;
    const T channel = load(llr, static_cast<std::size_t>(place), item);
    const T x = saturate(M::llr(M::limit_twice(ratios[i])), certain_llr) -
                saturate(select(is_finite(channel), channel, T(0.f)), M::llr_limit);
    store(coded, static_cast<std::size_t>(place), item, select(erased, T(0.f), x));
  }
}

}  // namespace WB_ISA
}  // namespace wb
