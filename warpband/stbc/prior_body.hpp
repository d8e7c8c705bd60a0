#pragma once
// Space-time decoders with a-priori LLRs: the metric of a codeword is |Y - H S|^2 plus the costs of its bits.
//
// A priori bits are independent, and each belongs to one real dimension of one symbol. So the costs are a sum
// over these dimensions, and the conditional search stays exact: given one pair of symbols, what separated
// without costs still separates, into the same dimensions. Only slicing is exact no more. Levels are
// enumerated instead: L of them for each dimension of a pair code, L^2 pairs of levels for the Golden code.
#include <warpband/core/llr.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/stbc/stbc_args.hpp>
#include <warpband/stbc/stbc_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// A-priori LLRs of a codeword beyond this count as this.
inline constexpr float most_codeword_prior = 1e6f;

/// Costs of all levels of a codeword's symbols, times N0: cost[symbol][real, imaginary part][level]. A bit
/// that contradicts its a-priori LLR p costs |p|, one that agrees nothing.
template <int Symbols, int B, class T>
struct level_costs {
  T cost[Symbols][2][1 << B];

  WB_HD void clear() {
    WB_ROLL for (int e = 0; e < Symbols * 2; e++) {
      WB_ROLL for (int j = 0; j < 1 << B; j++) cost[e >> 1][e & 1][j] = T(0.f);
    }
  }
  /// Returns where all a-priori LLRs are finite.
  WB_HD auto load_from(const stbc_decode_args& a, item<T> item, T n0) {
    auto good = mask_from<typename rebind<T>::mask>(true);
    WB_ROLL for (int k = 0; k < Symbols; k++) {
      WB_ROLL for (int q = 0; q < 2; q++) {
        T zero[B], one[B];
        WB_UNROLL for (int i = 0; i < B; i++) {
          const T given = load(a.prior, static_cast<std::size_t>(k * 2 * B + 2 * i + q), item);
          const auto fine = is_finite(given);
          good = good & fine;
          const T p = n0 * saturate(select(fine, given, T(0.f)), most_codeword_prior);
          zero[i] = max(T(0.f) - p, T(0.f));
          one[i] = max(p, T(0.f));
        }
        loop(fixed<(1 << B)>{}, [&](int j) WB_INLINE_LAMBDA {
          T sum = bit_of_level<B>(j, 0) ? one[0] : zero[0];
          WB_UNROLL for (int i = 1; i < B; i++) sum = sum + (bit_of_level<B>(j, i) ? one[i] : zero[i]);
          cost[k][q][j] = sum;
        });
      }
    }
    return good;
  }
};
inline double level_costs_flops(int symbols, int b) { return symbols * 2.0 * (6 * b + (1 << b) * (b - 1)); }

/// Costs of the pair that is searched.
template <int B, class T>
struct searched_costs {
  static constexpr bool given = true;
  const T (*cost)[2][1 << B];
};

/// Least squared distance of w to a level, in amplitudes with half the distance `g` of levels, and its cost.
template <int B, class T>
WB_HD T least_of_levels(T w, T g, const T (&cost)[1 << B]) {
  T best = T(unreached_metric);
  loop(fixed<(1 << B)>{}, [&](int j) WB_INLINE_LAMBDA {
    const T e = fnma(g, T(level_of<B>(j)), w);
    best = min(best, fma(e, e, cost[j]));
  });
  return best;
}

/// The other pair of a pair code: `value` of a prefix is its two symbols in amplitudes of Y.
template <int B, class T>
struct enumerated_pair {
  T g;
  const T (*cost)[2][1 << B];
  static constexpr double least_flops = 3 * (1 << B);
  static constexpr bool crossed = false, unrolled = false;
  WB_HD T metric(const prefix<T>& p) const {
    T m = p.metric;
    WB_UNROLL for (int k = 0; k < 2; k++) {
      m = m + (least_of_levels<B>(p.value[k].re, g, cost[k][0]) +
               least_of_levels<B>(p.value[k].im, g, cost[k][1]));
    }
    return m;
  }
};

/// The other pair of the Golden code: `value` of a prefix is u and t (golden_body.hpp).
template <int B, class T>
struct enumerated_twice {
  T g, step, weight;
  const T (*cost)[2][1 << B];
  static constexpr double least_flops = (1 << B) * (5 + 3 * (1 << B));
  static constexpr bool crossed = true, unrolled = false;
  WB_HD T least(T u, T t, int q) const {
    T best = T(unreached_metric);
    loop(fixed<(1 << B)>{}, [&](int j) WB_INLINE_LAMBDA {
      const float level = level_of<B>(j);
      const T second_cost = fma(weight, T(level * level), fnma(t, T(level), cost[1][q][j]));
      best = min(best, least_of_levels<B>(fnma(step, T(level), u), g, cost[0][q]) + second_cost);
    });
    return best;
  }
  WB_HD T metric(const prefix<T>& p) const {
    return p.metric + (least(p.value[0].re, p.value[1].re, 0) + least(p.value[0].im, p.value[1].im, 1));
  }
};

/// For each value of each bit of one dimension the least metric, as LLRs before they are scaled.
template <int B, class T>
WB_HD void differences_of_levels(T w, T g, const T (&cost)[1 << B], T (&difference)[B]) {
  T least[2][B];
  WB_UNROLL for (int i = 0; i < B; i++) least[0][i] = least[1][i] = T(unreached_metric);
  loop(fixed<(1 << B)>{}, [&](int j) WB_INLINE_LAMBDA {
    const T e = fnma(g, T(level_of<B>(j)), w), metric = fma(e, e, cost[j]);
    WB_UNROLL for (int i = 0; i < B; i++) {
      T& of_bit = least[bit_of_level<B>(j, i) ? 1 : 0][i];
      of_bit = min(of_bit, metric);
    }
  });
  WB_UNROLL for (int i = 0; i < B; i++) difference[i] = least[1][i] - least[0][i];
}

}  // namespace WB_ISA
}  // namespace wb
