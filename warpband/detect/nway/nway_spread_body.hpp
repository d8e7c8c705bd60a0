#pragma once
#include <warpband/detect/lattice_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// The points of a level by rising metric; among equals the lower step of the real part, then of the
/// imaginary part, comes first. Each is found by a look at all points, so lanes need no lists.
template <class B, class T>
struct by_metric {
  T last, last_point;  // metric and number of the point before

  WB_HD void clear() { last = last_point = T(-1.f); }
  template <class Costs>
  WB_HD void next(B pam, cx<T> w, T g, const Costs* costs, int k, step<T>& re, step<T>& im) {
    T least = T(unreached), best_re = T(0.f), best_im = T(0.f);
    loop(levels_of(pam), [&](int jr) WB_INLINE_LAMBDA {
      const T re_error = fnma(g, T(static_cast<float>(jr)), w.re);
      T row = re_error * re_error;
      if (costs) row = row + costs->re[k][jr];
      loop(levels_of(pam), [&](int ji) WB_INLINE_LAMBDA {
        const T im_error = fnma(g, T(static_cast<float>(ji)), w.im);
        T metric = fma(im_error, im_error, row);
        if (costs) metric = metric + costs->im[k][ji];
        const T point = T(static_cast<float>(jr << pam | ji));
        const auto comes_after = (last < metric) | ((last <= metric) & (last_point < point));
        const auto closer = comes_after & (metric < least);
        least = select(closer, metric, least);
        best_re = select(closer, T(static_cast<float>(jr)), best_re);
        best_im = select(closer, T(static_cast<float>(ji)), best_im);
      });
    });
    last = least;
    last_point = fma(best_re, T(static_cast<float>(1 << pam)), best_im);
    re = {best_re, best_re + T(rounder)};
    im = {best_im, best_im + T(rounder)};
  }
};

/// One pass with a spread: below each path level k keeps the spread[k] points of the least metric, all paths
/// depth first. How many there are does not depend on the data, so all lanes go the same way.
template <class N, class B, class T, class Costs>
WB_HD void nway_spread_pass(N n, B pam, const lattice<N, T>& m, const int (&spread)[N::capacity],
                            const Costs* costs, hypotheses<N, B, T>& found) {
  using I = typename rebind<T>::i32;
  const int low = (1 << pam) - 1, points = 1 << 2 * pam;
  T distance[N::capacity];  // of the path down to a level
  cx<T> w[N::capacity], symbol[N::capacity];
  I label[N::capacity];
  by_metric<B, T> closest[N::capacity];
  int taken[N::capacity];  // points of the level so far
  const auto enter = [&](int k) WB_INLINE_LAMBDA {
    w[k] = m.w[k];
    for (int j = k + 1; j < n; j++) w[k] = fnma(m.above[k][j], symbol[j], w[k]);
    closest[k].clear();
    taken[k] = 0;
  };
  int k = n - 1;
  enter(k);
  while (k < n) {
    if (taken[k] == spread[k]) {
      k++;
      continue;
    }
    const int point = taken[k]++;
    step<T> re, im;
    if (spread[k] == points) {
      const T j_re = T(static_cast<float>(point >> pam)), j_im = T(static_cast<float>(point & low));
      re = {j_re, j_re + T(rounder)};
      im = {j_im, j_im + T(rounder)};
    } else if (spread[k] > 1) {
      closest[k].next(pam, w[k], m.g[k], costs, k, re, im);
    } else if (costs) {
      re = slice(pam, w[k].re, m.g[k], costs->re[k]);
      im = slice(pam, w[k].im, m.g[k], costs->im[k]);
    } else {
      re = slice(pam, w[k].re, m.slope[k]);
      im = slice(pam, w[k].im, m.slope[k]);
    }
    symbol[k] = {re.j, im.j};
    label[k] = label_of(pam, re, im);
    const T re_error = fnma(m.g[k], re.j, w[k].re), im_error = fnma(m.g[k], im.j, w[k].im);
    const T above = k + 1 < n ? distance[k + 1] : T(0.f);
    distance[k] = fma(im_error, im_error, fma(re_error, re_error, above));
    if (costs)
      distance[k] = distance[k] + (cost_of(pam, costs->re[k], as_int(re.rounded) & I(low)) +
                                   cost_of(pam, costs->im[k], as_int(im.rounded) & I(low)));
    if (k == 0)
      found.add(n, pam, distance[0], label);
    else
      enter(--k);
  }
}

}  // namespace WB_ISA
}  // namespace wb
