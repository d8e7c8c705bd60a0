#pragma once
#include <warpband/core/memory.hpp>
#include <warpband/detect/lattice_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// The paths of one stage of the trellis, a path for each vertex: its distance, what it leaves of w for the
/// antennas below, and on request the steps it took, packed. They lie in scratch, which the group shares.
template <class N, class B, class T>
struct paths {
  T* data;
  int slots;  // of a path
  WB_HD static constexpr int slots_of(int n, bool steps) { return 1 + 2 * (n - 1) + (steps ? n : 0); }
  WB_HD T& distance(int q) const { return data[q * slots]; }
  WB_HD T& re(int q, int antenna) const { return data[q * slots + 1 + 2 * antenna]; }
  WB_HD T& im(int q, int antenna) const { return data[q * slots + 2 + 2 * antenna]; }
  WB_HD T& taken(int q, int n, int antenna) const { return data[q * slots + 2 * n - 1 + antenna]; }
};

/// The trellis search (wu2010 §3.2): stage by stage from antenna n - 1 to 0, a vertex for each point. An edge
/// reduction keeps the best of the paths into a vertex; a path extension takes the best edge out of one,
/// which is the nearest point. Threads of the group share the real parts of a stage's points.
template <class G, class N, class B, class T>
class trellis {
 public:
  /// `memory` has 2 * points * slots values.
  WB_HD trellis(G g, N n, B pam, const lattice<N, T>& m, T* memory, bool steps)
      : g_(g), n_(n), pam_(pam), m_(m), steps_(steps) {
    const int slots = paths<N, B, T>::slots_of(n, steps), points = 1 << 2 * pam;
    now_ = {memory, slots};
    next_ = {memory + points * slots, slots};
  }

  /// MTT: the list of each stage's antenna is what its reductions left, extended through the other stages;
  /// its bits take their minima from that list.
  WB_HD void multi_pass(minima<N, B, T>& found) {
    begin();
    extend(n_ - 1, found);
    loop(n_, [&](int down) WB_INLINE_LAMBDA {
      const int a = n_ - 2 - down;
      if (a < 0) return;
      reduce(a);
      extend(a, found);
    });
  }
  /// OT: reductions alone; all bits take their minima from the last list.
  WB_HD void one_pass(hypotheses<N, B, T>& found) {
    using I = typename rebind<T>::i32;
    begin();
    loop(n_, [&](int down) WB_INLINE_LAMBDA {
      const int a = n_ - 2 - down;
      if (a >= 0) reduce(a);
    });
    own_points([&](int jr, int ji) WB_INLINE_LAMBDA {
      const int q = (jr << pam_) + ji, low = (1 << pam_) - 1;
      I label[N::most];
      label[0] = label_of(pam_, I(jr), I(ji));
      loop(n_, [&](int k) WB_INLINE_LAMBDA {
        if (k == 0) return;
        const I word = as_int(now_.taken(q, n_, k));
        label[k] = label_of(pam_, word >> pam_, word & I(low));
      });
      found.add(n_, pam_, now_.distance(q), label);
    });
  }

 private:
  static constexpr bool few_points = B::known && B::most == 1;  // few enough for registers

  /// f(jr) for this thread's real parts.
  template <class F>
  WB_HD void own_rows(F f) const {
    if constexpr (few_points && G::size == 1) {
      loop(fixed<2>{}, f);
    } else {
      for (int jr = g_.rank; jr < 1 << pam_; jr += G::size) f(jr);
    }
  }
  template <class F>
  WB_HD void every_step(F f) const {
    if constexpr (B::known)
      loop(fixed<(1 << B::most)>{}, f);
    else
      loop(upto<(1 << B::most)>{1 << pam_}, f);
  }
  template <class F>
  WB_HD void own_points(F f) const {
    own_rows([&](int jr) WB_INLINE_LAMBDA {
      if constexpr (few_points)
        loop(fixed<2>{}, [&](int ji) WB_INLINE_LAMBDA { f(jr, ji); });
      else
        for (int ji = 0; ji < 1 << pam_; ji++) f(jr, ji);
    });
  }
  template <class F>
  WB_HD void every_point(F f) const {
    if constexpr (few_points)
      loop(fixed<4>{}, f);
    else
      for (int q = 0; q < 1 << 2 * pam_; q++) f(q);
  }

  /// The vertices of antenna n - 1.
  WB_HD void begin() {
    const int top = n_ - 1;
    own_points([&](int jr, int ji) WB_INLINE_LAMBDA {
      const int q = (jr << pam_) + ji;
      const T x = T(static_cast<float>(jr)), y = T(static_cast<float>(ji));
      const T re = fnma(m_.g[top], x, m_.w[top].re), im = fnma(m_.g[top], y, m_.w[top].im);
      now_.distance(q) = fma(im, im, re * re);
      loop(n_, [&](int l) WB_INLINE_LAMBDA {
        if (l >= top) return;
        const cx<T> w = fnma(m_.above[l][top], cx<T>{x, y}, m_.w[l]);
        now_.re(q, l) = w.re;
        now_.im(q, l) = w.im;
      });
      if (steps_) now_.taken(q, n_, top) = as_float(typename rebind<T>::i32(q));
    });
  }

  /// Each vertex of antenna a keeps the best of all paths.
  WB_HD void reduce(int a) {
    using I = typename rebind<T>::i32;
    g_.sync();
    own_rows([&](int jr) WB_INLINE_LAMBDA {
      T least[1 << B::most];
      I from[1 << B::most];
      every_step([&](int ji) WB_INLINE_LAMBDA {
        least[ji] = T(unreached);
        from[ji] = I(0);
      });
      const T x = T(static_cast<float>(jr));
      every_point([&](int k) WB_INLINE_LAMBDA {
        const T w = now_.im(k, a), re = fnma(m_.g[a], x, now_.re(k, a));
        const T above = fma(re, re, now_.distance(k));
        every_step([&](int ji) WB_INLINE_LAMBDA {
          const T im = fnma(m_.g[a], T(static_cast<float>(ji)), w), d = fma(im, im, above);
          from[ji] = select(d < least[ji], I(k), from[ji]);
          least[ji] = min(least[ji], d);
        });
      });
      every_step([&](int ji) WB_INLINE_LAMBDA {
        const int q = (jr << pam_) + ji;
        const cx<T> symbol = {x, T(static_cast<float>(ji))};
        const I path = from[ji] * I(now_.slots);
        next_.distance(q) = least[ji];
        loop(n_, [&](int l) WB_INLINE_LAMBDA {
          if (l >= a) return;
          const cx<T> w = {load_at(&now_.re(0, l), path), load_at(&now_.im(0, l), path)};
          const cx<T> left = fnma(m_.above[l][a], symbol, w);
          next_.re(q, l) = left.re;
          next_.im(q, l) = left.im;
        });
        if (steps_) {
          next_.taken(q, n_, a) = as_float(I(q));
          loop(n_, [&](int k) WB_INLINE_LAMBDA {
            if (k > a) next_.taken(q, n_, k) = load_at(&now_.taken(0, n_, k), path);
          });
        }
      });
    });
    const paths<N, B, T> swapped = now_;
    now_ = next_;
    next_ = swapped;
  }

  /// Extends this thread's paths of antenna a to the end; minima of the antenna's bits.
  WB_HD void extend(int a, minima<N, B, T>& found) {
    found.clear(pam_, a);
    own_rows([&](int jr) WB_INLINE_LAMBDA {
      T least_row = T(unreached);
      every_step([&](int ji) WB_INLINE_LAMBDA {
        const int q = (jr << pam_) + ji;
        T distance = now_.distance(q);
        cx<T> symbol[N::most] = {};
        loop(n_, [&](int down) WB_INLINE_LAMBDA {
          const int l = a - 1 - down;
          if (l < 0) return;
          cx<T> w = {now_.re(q, l), now_.im(q, l)};
          loop(n_, [&](int j) WB_INLINE_LAMBDA {
            if (j > l && j < a) w = fnma(m_.above[l][j], symbol[j], w);
          });
          symbol[l] = {slice(pam_, w.re, m_.slope[l]).j, slice(pam_, w.im, m_.slope[l]).j};
          const T re = fnma(m_.g[l], symbol[l].re, w.re), im = fnma(m_.g[l], symbol[l].im, w.im);
          distance = fma(im, im, fma(re, re, distance));
        });
        least_row = min(least_row, distance);
        found.add(pam_, a, 0, ji ^ ji >> 1, distance);
      });
      found.add(pam_, a, pam_, jr ^ jr >> 1, least_row);
    });
    found.merge(g_, pam_, a);
  }

  G g_;
  N n_;
  B pam_;
  const lattice<N, T>& m_;
  bool steps_;
  paths<N, B, T> now_, next_;
};

}  // namespace WB_ISA
}  // namespace wb
