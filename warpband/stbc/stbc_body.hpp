#pragma once
// What the space-time decoders share: the sums that a codeword's Y and H enter by, folding and slicing, and
// the search over one pair of symbols.
//
// A symbol of B bits per dimension is scale * l with odd levels l = L - 1, L - 3, ... 1 - L, L = 2^B, in each
// dimension; `at level j` counts from the top.
#include <type_traits>

#include <warpband/core/cx.hpp>
#include <warpband/core/rounding.hpp>
#include <warpband/core/size.hpp>
#include <warpband/modem/qam/qam_body.hpp>

namespace wb {
inline namespace WB_ISA {

inline constexpr float unreached_metric = 1e38f;

/// Level j from the top, a constant or a lane.
template <int B>
WB_HD float level_of(int j) {
  return static_cast<float>((1 << B) - 1 - 2 * j);
}
template <int B, class T, class I>
WB_HD T level_at(I j) {
  const T x = to_float(j);
  return T(static_cast<float>((1 << B) - 1)) - (x + x);
}
/// Bit i of level j's symbol, of one dimension.
template <int B>
WB_HD bool bit_of_level(int j, int i) {
  return ((j ^ j >> 1 ^ ((1 << B) / 2 - 1)) >> (B - 1 - i) & 1) != 0;
}

/// |x|, which on a CUDA device costs nothing: it is a modifier of the instruction that uses it.
template <class T>
WB_HD T magnitude_of(T x) {
  if constexpr (std::is_same_v<T, float>)
    return __builtin_fabsf(x);
  else
    return abs(x);
}

/// Distance of levels to the borders of decisions: fold[i] = g 2^(B - 1 - i), with g half the distance of
/// neighbouring levels.
template <int B, class T>
struct folds {
  T fold[B];
  explicit WB_HD folds(T g) {
    fold[B - 1] = g;
    WB_UNROLL for (int i = B - 1; i > 0; i--) fold[i - 1] = fold[i] + fold[i];
  }
  WB_HD T g() const { return fold[B - 1]; }
  /// Distance to the nearest level, with a sign. The axis folds at 0, then at the middle of the positive
  /// levels, and so on; beyond the outermost levels that is right too.
  WB_HD T error(T w) const {
    WB_UNROLL for (int i = 0; i < B; i++) w = magnitude_of(w) - fold[i];
    return w;
  }
  /// f(i, v) for each bit i: v is w folded i times. The nearest level has b_0 = 1 where v < 0, other bits 1
  /// where v > 0; the nearest one with the other bit i is |v| + g away.
  template <class F>
  WB_HD void each_bit(T w, F f) const {
    WB_UNROLL for (int i = 0; i < B; i++) {
      f(i, w);
      if (i + 1 < B) w = magnitude_of(w) - fold[i];
    }
  }
};
/// The level nearest to x.
template <int B, class T>
WB_HD T nearest_level(T x) {
  constexpr float top = static_cast<float>((1 << B) - 1);
  const T j = fma(unit_clamp(fma(x, T(0.5f / top), T(0.5f))), T(top), T(rounder)) - T(rounder);
  return fma(T(2.f), j, T(-top));
}

/// A pair of symbols (l3, l4) by which another pair is conditioned: numbers that are affine in it, and the
/// part of the metric that is its own.
template <class T>
struct conditioned {
  cx<T> value[2], by[2][2];  // value[k] + by[k][0] l3 + by[k][1] l4
  cx<T> linear[2];           // metric: the sum of Re(conj(linear[n]) l_n) + square[n] |l_n|^2
  T square[2];
  cx<T> cross;  // and Re(conj(l4) cross l3), where the code has it
};
/// The same after l3, or after l3 and the real part of l4.
template <class T>
struct prefix {
  cx<T> value[2];
  T metric;
};

template <class T>
WB_HD prefix<T> given_first(const conditioned<T>& c, T re, T im) {
  prefix<T> p;
  WB_UNROLL for (int k = 0; k < 2; k++) p.value[k] = fma(c.by[k][0], cx<T>{re, im}, c.value[k]);
  p.metric = fma(fma(c.square[0], re, c.linear[0].re), re, fma(c.square[0], im, c.linear[0].im) * im);
  return p;
}
template <bool Crossed, class T>
WB_HD cx<T> linear_given(const conditioned<T>& c, T re, T im) {
  if constexpr (Crossed)
    return fma(c.cross, cx<T>{re, im}, c.linear[1]);
  else
    return c.linear[1];
}
template <class T>
WB_HD prefix<T> given_row(const conditioned<T>& c, const prefix<T>& first, T linear_re, T re) {
  prefix<T> p;
  WB_UNROLL for (int k = 0; k < 2; k++) {
    p.value[k].re = fma(c.by[k][1].re, re, first.value[k].re);
    p.value[k].im = fma(c.by[k][1].im, re, first.value[k].im);
  }
  p.metric = fma(fma(c.square[1], re, linear_re), re, first.metric);
  return p;
}
/// Metric of the imaginary part of l4 alone.
template <class T>
WB_HD T metric_of_im(const conditioned<T>& c, T linear_im, T im) {
  return fma(c.square[1], im, linear_im) * im;
}
/// `im_metric`: that of the imaginary part.
template <class T>
WB_HD prefix<T> given_both(const conditioned<T>& c, const prefix<T>& row, T im, T im_metric) {
  prefix<T> p;
  WB_UNROLL for (int k = 0; k < 2; k++) {
    p.value[k].re = fnma(c.by[k][1].im, im, row.value[k].re);
    p.value[k].im = fma(c.by[k][1].re, im, row.value[k].im);
  }
  p.metric = row.metric + im_metric;
  return p;
}

/// For each value of each bit of the pair the least metric. Dimensions: real and imaginary part of l3, of l4.
template <int B, class T>
struct pair_minima {
  T least[2][4][B];
  WB_HD void clear() {
    WB_UNROLL for (int d = 0; d < 4; d++) {
      WB_UNROLL for (int i = 0; i < B; i++) least[0][d][i] = least[1][d][i] = T(unreached_metric);
    }
  }
  WB_HD void add(int d, int j, T metric) {
    WB_UNROLL for (int i = 0; i < B; i++) {
      const bool one = bit_of_level<B>(j, i);
      least[0][d][i] = one ? least[0][d][i] : min(least[0][d][i], metric);
      least[1][d][i] = one ? min(least[1][d][i], metric) : least[1][d][i];
    }
  }
  template <class G>
  WB_HD void merge(G g) {
    for (int s = 1; s < g.size; s *= 2) {
      WB_UNROLL for (int v = 0; v < 2; v++) {
        WB_UNROLL for (int d = 0; d < 4; d++) {
          WB_UNROLL for (int i = 0; i < B; i++) least[v][d][i] =
              min(least[v][d][i], g.exchange(least[v][d][i], s));
        }
      }
    }
  }
  WB_HD T difference(int d, int i) const { return least[1][d][i] - least[0][d][i]; }
};

/// The pair with the least metric, and what its `prefix` is.
template <class T>
struct best_pair {
  T least;
  cx<T> level[2];
  prefix<T> after;
};

/// f(j) for the real parts of l4.
template <bool Unrolled, int B, class F>
WB_HD void each_row(F f) {
  if constexpr (Unrolled)
    loop(fixed<(1 << B)>{}, f);
  else {
    WB_ROLL for (int j = 0; j < 1 << B; j++) f(j);
  }
}

/// f(j) for the imaginary parts of l4. The body for 16 levels is compiled once: 16 times it would be too
/// long.
template <int B, class F>
WB_HD void each_column(F f) {
  if constexpr (B < 4)
    loop(fixed<(1 << B)>{}, f);
  else {
    WB_ROLL for (int j = 0; j < 1 << B; j++) f(j);
  }
}

/// A search without a-priori LLRs. Else `cost[k][q][j]` is the cost of level j of real (q = 0) or imaginary
/// part of l3 (k = 0) or l4 (level_costs in prior_body.hpp).
struct no_costs {
  static constexpr bool given = false;
};

/// All pairs: found.least[v][d][i] as pair_minima says. `other(prefix)` is the least metric of the other pair
/// given this one. Threads of the group share the values of l3.
template <int B, class T, class G, class Other, class Costs = no_costs>
WB_HD void search_minima(G g, const conditioned<T>& c, const Other& other, pair_minima<B, T>& found,
                         const Costs& costs = {}) {
  constexpr int levels = 1 << B;
  constexpr fixed<levels> level_count{};
  T im_metric[levels], column[levels];
  loop(level_count, [&](int j) WB_INLINE_LAMBDA {
    if constexpr (!Other::crossed) im_metric[j] = metric_of_im(c, c.linear[1].im, T(level_of<B>(j)));
    if constexpr (!Other::crossed && Costs::given) im_metric[j] = im_metric[j] + costs.cost[1][1][j];
    column[j] = T(unreached_metric);
  });
  found.clear();
  WB_ROLL for (int i = g.rank; i < levels * levels; i += g.size) {
    const T re3 = T(level_of<B>(i >> B)), im3 = T(level_of<B>(i & (levels - 1)));
    prefix<T> first = given_first(c, re3, im3);
    if constexpr (Costs::given)
      first.metric = first.metric + (costs.cost[0][0][i >> B] + costs.cost[0][1][i & (levels - 1)]);
    const cx<T> linear = linear_given<Other::crossed>(c, re3, im3);
    if constexpr (Other::crossed)
      loop(level_count, [&](int j) WB_INLINE_LAMBDA {
        im_metric[j] = metric_of_im(c, linear.im, T(level_of<B>(j)));
        if constexpr (Costs::given) im_metric[j] = im_metric[j] + costs.cost[1][1][j];
      });
    T least = T(unreached_metric);
    each_row<Other::unrolled, B>([&](int row) WB_INLINE_LAMBDA {
      prefix<T> half = given_row(c, first, linear.re, T(level_of<B>(row)));
      if constexpr (Costs::given) half.metric = half.metric + costs.cost[1][0][row];
      T least_row = T(unreached_metric);
      each_column<B>([&](int j) WB_INLINE_LAMBDA {
        const T metric = other.metric(given_both(c, half, T(level_of<B>(j)), im_metric[j]));
        least_row = min(least_row, metric);
        column[j] = min(column[j], metric);
      });
      least = min(least, least_row);
      found.add(2, row, least_row);
    });
    found.add(0, i >> B, least);
    found.add(1, i & (levels - 1), least);
  }
  loop(level_count, [&](int j) WB_INLINE_LAMBDA { found.add(3, j, column[j]); });
  found.merge(g);
}

/// The best of all pairs, the first one among equals.
template <int B, class T, class G, class Other>
WB_HD void search_best(G g, const conditioned<T>& c, const Other& other, best_pair<T>& best) {
  using I = typename rebind<T>::i32;
  constexpr int levels = 1 << B;
  constexpr fixed<levels> level_count{};
  T im_metric[levels], least = T(unreached_metric);
  I best_row = I(0);  // row: l3 * levels + real part of l4
  loop(level_count, [&](int j) WB_INLINE_LAMBDA {
    if constexpr (!Other::crossed) im_metric[j] = metric_of_im(c, c.linear[1].im, T(level_of<B>(j)));
  });
  WB_ROLL for (int i = g.rank; i < levels * levels; i += g.size) {
    const T re3 = T(level_of<B>(i >> B)), im3 = T(level_of<B>(i & (levels - 1)));
    const prefix<T> first = given_first(c, re3, im3);
    const cx<T> linear = linear_given<Other::crossed>(c, re3, im3);
    if constexpr (Other::crossed)
      loop(level_count,
           [&](int j) WB_INLINE_LAMBDA { im_metric[j] = metric_of_im(c, linear.im, T(level_of<B>(j))); });
    each_row<Other::unrolled, B>([&](int row) WB_INLINE_LAMBDA {
      const prefix<T> half = given_row(c, first, linear.re, T(level_of<B>(row)));
      T least_row = T(unreached_metric);
      each_column<B>([&](int j) WB_INLINE_LAMBDA {
        least_row = min(least_row, other.metric(given_both(c, half, T(level_of<B>(j)), im_metric[j])));
      });
      best_row = select(least_row < least, I(i << B | row), best_row);
      least = min(least, least_row);
    });
  }
  for (int s = 1; s < g.size; s *= 2) {
    const T theirs = g.exchange(least, s);
    const I their_row = g.exchange(best_row, s);
    best_row = select((theirs < least) | ((theirs == least) & (their_row < best_row)), their_row, best_row);
    least = min(least, theirs);
  }
  // The best row once more, for its best column.
  const T re3 = level_at<B, T>(best_row >> 2 * B), im3 = level_at<B, T>((best_row >> B) & I(levels - 1)),
          re4 = level_at<B, T>(best_row & I(levels - 1));
  const prefix<T> first = given_first(c, re3, im3);
  const cx<T> linear = linear_given<Other::crossed>(c, re3, im3);
  const prefix<T> half = given_row(c, first, linear.re, re4);
  T im4 = T(0.f), least_row = T(unreached_metric);
  WB_ROLL for (int j = 0; j < levels; j++) {
    const T im = T(level_of<B>(j));
    const T metric = other.metric(given_both(c, half, im, metric_of_im(c, linear.im, im)));
    im4 = select(metric < least_row, im, im4);
    least_row = min(least_row, metric);
  }
  best.least = least;
  best.level[0] = {re3, im3};
  best.level[1] = {re4, im4};
  best.after = given_both(c, half, im4, metric_of_im(c, linear.im, im4));
}

}  // namespace WB_ISA
}  // namespace wb
