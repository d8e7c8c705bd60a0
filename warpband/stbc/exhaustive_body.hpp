#pragma once
// Every codeword. The code has to be linear in the real and imaginary parts of the symbols, the N real
// dimensions of a codeword; no other structure is used. With S = sum over d of l_d E_d, l_d the level of
// dimension d,
//
//   |Y - H S|^2 - |Y|^2 = sum over d of l_d (square_d l_d + linear_d) + sum over e < d of cross_ed l_e l_d
//
// The search descends from dimension to dimension: a level chosen in one changes `linear` of the later ones.
#include <warpband/stbc/stbc_body.hpp>

namespace wb {
inline namespace WB_ISA {

template <int N, class T>
struct quadratic_form {
  T square[N], linear[N], cross[N][N];  // cross[e][d] with e < d
};

/// What a search of all codewords finds: for each level of each dimension the least metric, or the best path,
/// the levels' numbers of all dimensions, the first dimension's highest.
template <int N, int B, bool Soft, class T>
struct all_codewords {
  using I = typename rebind<T>::i32;
  static constexpr int levels = 1 << B;
  T least_of[Soft ? N : 1][levels];
  T least;
  I best;

  /// All levels of dimension D and those behind it. `linear`: of the form, given the earlier dimensions.
  /// `cost(d, j)`: of level j of dimension d. Returns the least metric.
  template <int D, class Cost>
  WB_HD T descend(const quadratic_form<N, T>& form, const T (&linear)[N], T metric, int path,
                  const Cost& cost) {
    T found = T(unreached_metric);
    WB_ROLL for (int j = 0; j < levels; j++) found =
        min(found, choose<D>(form, linear, metric, path, cost, j));
    return found;
  }
  /// Level j of dimension D, and all levels behind it.
  template <int D, class Cost>
  WB_HD T choose(const quadratic_form<N, T>& form, const T (&linear)[N], T metric, int path, const Cost& cost,
                 int j) {
    const T level = T(level_of<B>(j));
    T found = fma(fma(form.square[D], level, linear[D]), level, metric);
    if constexpr (Soft) found = found + cost(D, j);
    const int chosen = path << B | j;
    if constexpr (D + 1 < N) {
      T next[N];
      WB_UNROLL for (int d = D + 1; d < N; d++) next[d] = fma(form.cross[D][d], level, linear[d]);
      found = descend<D + 1>(form, next, found, chosen, cost);
    } else if constexpr (!Soft) {
      best = select(found < least, I(chosen), best);
      least = min(least, found);
    }
    if constexpr (Soft) least_of[D][j] = min(least_of[D][j], found);
    return found;
  }
  /// Threads of the group share the levels of the first two dimensions, and all get the result.
  template <class G, class Cost>
  WB_HD void search(G g, const quadratic_form<N, T>& form, const Cost& cost) {
    WB_ROLL for (int d = 0; d < (Soft ? N : 1); d++) {
      WB_ROLL for (int j = 0; j < levels; j++) least_of[d][j] = T(unreached_metric);
    }
    least = T(unreached_metric);
    best = I(0);
    WB_ROLL for (int i = g.rank; i < levels * levels; i += g.size) {
      const int first = i >> B, second = i & (levels - 1);
      const T level = T(level_of<B>(first));
      T metric = fma(form.square[0], level, form.linear[0]) * level;
      if constexpr (Soft) metric = metric + cost(0, first);
      T next[N];
      WB_UNROLL for (int d = 1; d < N; d++) next[d] = fma(form.cross[0][d], level, form.linear[d]);
      const T found = choose<1>(form, next, metric, first, cost, second);
      if constexpr (Soft) least_of[0][first] = min(least_of[0][first], found);
    }
    WB_ROLL for (int s = 1; s < g.size; s *= 2) {
      if constexpr (Soft) {
        WB_ROLL for (int d = 0; d < N; d++) {
          WB_ROLL for (int j = 0; j < levels; j++) least_of[d][j] =
              min(least_of[d][j], g.exchange(least_of[d][j], s));
        }
      } else {
        const T theirs = g.exchange(least, s);
        const I their_best = g.exchange(best, s);
        best = select((theirs < least) | ((theirs == least) & (their_best < best)), their_best, best);
        least = min(least, theirs);
      }
    }
  }
  /// For bit i of dimension d the least metric with a 1 less that with a 0.
  WB_HD T difference(int d, int i) const {
    T zero = T(unreached_metric), one = T(unreached_metric);
    WB_ROLL for (int j = 0; j < levels; j++) {
      T& kept = bit_of_level<B>(j, i) ? one : zero;
      kept = min(kept, least_of[d][j]);
    }
    return one - zero;
  }
  /// The level of dimension d on the best path.
  WB_HD T level(int d) const { return level_at<B, T>(best >> (N - 1 - d) * B & I(levels - 1)); }
};

}  // namespace WB_ISA
}  // namespace wb
