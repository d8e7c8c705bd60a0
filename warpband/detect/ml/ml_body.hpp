#pragma once
#include <warpband/detect/lattice_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// All hypotheses of antennas n - 1 .. 1; the last antenna, 0, separates into its two dimensions, where the
/// least distance for each value of a bit follows from the L steps. Threads of the group share the points of
/// antennas n - 1 .. 2. `costs` of the steps as in prior_costs.
template <class G, class N, class B, class T, class Costs>
WB_HD void exhaustive(G g, N n, B pam, const lattice<N, T>& m, const Costs* costs, minima<N, B, T>& found) {
  const int levels = 1 << pam, low = levels - 1;
  const auto steps = [&]() WB_INLINE_LAMBDA {
    if constexpr (B::known)
      return fixed<(1 << B::capacity)>{};
    else
      return upto<(1 << B::capacity)>{levels};
  }();
  /// Antenna 0 given the others: w is what they leave, `above` their distance. Returns the least distance.
  const auto leaf = [&](cx<T> w, T above) WB_INLINE_LAMBDA {
    T re[1 << B::capacity], im[1 << B::capacity], least_re = T(unreached), least_im = T(unreached);
    loop(steps, [&](int j) WB_INLINE_LAMBDA {
      const T x = T(static_cast<float>(j)), r = fnma(m.g[0], x, w.re), i = fnma(m.g[0], x, w.im);
      re[j] = costs ? fma(r, r, costs->re[0][j]) : r * r;
      im[j] = costs ? fma(i, i, costs->im[0][j]) : i * i;
      least_re = min(least_re, re[j]);
      least_im = min(least_im, im[j]);
    });
    const T with_re = above + least_re, with_im = above + least_im;
    loop(steps, [&](int j) WB_INLINE_LAMBDA {
      found.add(pam, 0, pam, j ^ j >> 1, with_im + re[j]);
      found.add(pam, 0, 0, j ^ j >> 1, with_re + im[j]);
    });
    return with_re + least_im;
  };
  if constexpr (!N::known) {
    if (n == 1) {
      leaf(m.w[0], T(0.f));
      return;
    }
  }
  constexpr int second = N::capacity > 1 ? 1 : 0;
  const int prefixes = 1 << 2 * pam * (n - 2);
  for (int p = g.rank; p < prefixes; p += g.size) {
    T distance = T(0.f);
    cx<T> symbol[N::capacity] = {};
    const auto digit = [&](int k) WB_INLINE_LAMBDA { return p >> 2 * pam * (k - 2); };
    const auto left_of = [&](int k) WB_INLINE_LAMBDA {  // w without the antennas above k that are chosen
      cx<T> w = m.w[k];
      loop(n, [&](int j) WB_INLINE_LAMBDA {
        if (j > k && j > 1) w = fnma(m.above[k][j], symbol[j], w);
      });
      return w;
    };
    loop(n, [&](int down) WB_INLINE_LAMBDA {
      const int k = n - 1 - down;
      if (k < 2) return;
      const int jr = digit(k) >> pam & low, ji = digit(k) & low;
      symbol[k] = {T(static_cast<float>(jr)), T(static_cast<float>(ji))};
      const cx<T> w = left_of(k);
      const T re = fnma(m.g[k], symbol[k].re, w.re), im = fnma(m.g[k], symbol[k].im, w.im);
      distance = fma(im, im, fma(re, re, distance));
      if (costs) distance = distance + (costs->re[k][jr] + costs->im[k][ji]);
    });
    const cx<T> w1 = left_of(second), w0 = left_of(0), h = m.above[0][second];
    T least = T(unreached);
    for (int jr = 0; jr < levels; jr++) {
      const T x = T(static_cast<float>(jr)), re = fnma(m.g[second], x, w1.re);
      const cx<T> row = {fnma(h.re, x, w0.re), fnma(h.im, x, w0.im)};
      T above = fma(re, re, distance), least_row = T(unreached);
      if (costs) above = above + costs->re[second][jr];
      for (int ji = 0; ji < levels; ji++) {
        const T y = T(static_cast<float>(ji)), im = fnma(m.g[second], y, w1.im);
        T d = fma(im, im, above);
        if (costs) d = d + costs->im[second][ji];
        d = leaf({fma(h.im, y, row.re), fnma(h.re, y, row.im)}, d);
        least_row = min(least_row, d);
        found.add(pam, second, 0, ji ^ ji >> 1, d);
      }
      least = min(least, least_row);
      found.add(pam, second, pam, jr ^ jr >> 1, least_row);
    }
    loop(n, [&](int k) WB_INLINE_LAMBDA {
      if (k < 2) return;
      const int jr = digit(k) >> pam & low, ji = digit(k) & low;
      found.add(pam, k, pam, jr ^ jr >> 1, least);
      found.add(pam, k, 0, ji ^ ji >> 1, least);
    });
  }
}

}  // namespace WB_ISA
}  // namespace wb
