#pragma once
#include <warpband/detect/lattice_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// One pass: every point of the top antenna, the last of the triangle, and below it one child for each
/// dimension (wu2012, algorithm 2). Threads of the group share the real parts of the top antenna. With
/// `costs` of the steps (see prior_costs) the child is the step with the least metric and cost. `word`: the
/// rule for metrics of paths (core/fixed_point.hpp).
template <class G, class N, class B, class T, class Costs, class Rule>
WB_HD void nway_pass(G g, N n, B pam, const lattice<N, T>& m, const Costs* costs, hypotheses<N, B, T>& found,
                     Rule word) {
  using I = typename rebind<T>::i32;
  const int levels = 1 << pam, top = n - 1;
  // The top antenna's points are the same in all lanes: its minima cost less apart.
  minima<fixed<1>, B, T> of_top;
  of_top.clear(pam, 0);
  const T before = found.least;
  const I best_before = found.best[top];
  for (int jr = g.rank; jr < levels; jr += g.size) {
    const T re = T(static_cast<float>(jr));
    cx<T> row[N::capacity];  // w without the real part of the top antenna
    loop(n, [&](int k) WB_INLINE_LAMBDA {
      if (k < top)
        row[k] = {fnma(m.above[k][top].re, re, m.w[k].re), fnma(m.above[k][top].im, re, m.w[k].im)};
    });
    const T top_re = fnma(m.g[top], re, m.w[top].re);
    const T above = costs ? fma(top_re, top_re, cost_of(pam, costs->re[top], I(jr))) : top_re * top_re;
    T least = T(unreached);
    loop(levels_of(pam), [&](int ji) WB_INLINE_LAMBDA {
      const T im = T(static_cast<float>(ji));
      const T top_im = fnma(m.g[top], im, m.w[top].im);
      T distance = fma(top_im, top_im, above);
      if (costs) distance = distance + costs->im[top][ji];
      distance = word(distance);
      I label[N::capacity];
      cx<T> symbol[N::capacity];
      label[top] = label_of(pam, I(jr), I(ji));
      symbol[top] = {re, im};
      loop(n, [&](int down) WB_INLINE_LAMBDA {
        const int k = top - 1 - down;
        if (k < 0) return;
        cx<T> w = {fma(m.above[k][top].im, im, row[k].re), fnma(m.above[k][top].re, im, row[k].im)};
        loop(n, [&](int j) WB_INLINE_LAMBDA {
          if (j > k && j < top) w = fnma(m.above[k][j], symbol[j], w);
        });
        step<T> r, i;
        if (costs) {
          r = slice(pam, w.re, m.g[k], costs->re[k]);
          i = slice(pam, w.im, m.g[k], costs->im[k]);
        } else {
          r = slice(pam, w.re, m.slope[k]);
          i = slice(pam, w.im, m.slope[k]);
        }
        symbol[k] = {r.j, i.j};
        label[k] = label_of(pam, r, i);
        const T re_error = fnma(m.g[k], r.j, w.re), im_error = fnma(m.g[k], i.j, w.im);
        distance = fma(im_error, im_error, fma(re_error, re_error, distance));
        if (costs)
          distance = distance + (cost_of(pam, costs->re[k], as_int(r.rounded) & I(levels - 1)) +
                                 cost_of(pam, costs->im[k], as_int(i.rounded) & I(levels - 1)));
        distance = word(distance);
      });
      found.add(n, pam, top, distance, label);
      of_top.add(pam, 0, 0, ji ^ ji >> 1, distance);
      least = min(least, distance);
    });
    of_top.add(pam, 0, pam, jr ^ jr >> 1, least);
  }
  found.catch_up(pam, top, of_top, before, best_before);
}

}  // namespace WB_ISA
}  // namespace wb
