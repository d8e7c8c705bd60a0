#pragma once
#include <warpband/core/memory.hpp>
#include <warpband/detect/lattice_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// Planes of four values that hold a path: its distance, re and im of what it leaves of w for each antenna
/// below, and on request the point it took of every antenna.
WB_HD constexpr int trellis_planes(int n, bool points) {
  return (1 + 2 * (n - 1) + (points ? n : 0) + 3) / 4;
}

/// The trellis search (wu2010 §3.2): stage by stage from antenna n - 1 to 0, a vertex for each point. An edge
/// reduction keeps the best of the paths into a vertex. A path extension takes the best edge out of one,
/// which is the nearest point. Threads of the group share the real parts of a stage's points.
///
/// The paths of two stages lie in scratch, plane after plane; in a plane vertices with the same imaginary
/// part side by side.
/// `costs` of the steps as in prior_costs, or null.
template <class G, class N, class B, class T, bool Points, class Costs>
class trellis {
  using I = typename rebind<T>::i32;

 public:
  /// `memory` has 4 values for each point and plane, in_place; else those of two stages.
  WB_HD trellis(G g, N n, B pam, const lattice<N, T>& m, const Costs* costs, T* memory)
      : g_(g),
        n_(n),
        pam_(pam),
        m_(m),
        costs_(costs),
        current_(memory),
        next_(memory + (4 << 2 * pam) * trellis_planes(n, Points)) {}

  /// MTT: the list of each stage's antenna is what its reductions left, extended through the other stages;
  /// its bits take their minima from that list.
  WB_HD void multi_pass(minima<N, B, T>& found) {
    begin(&found);
    loop(n_, [&](int down) WB_INLINE_LAMBDA {
      const int a = n_ - 2 - down;
      if (a >= 0) reduce(a, &found);
    });
  }
  /// OT: reductions alone; all bits take their minima from the last list.
  WB_HD void one_pass(hypotheses<N, B, T>& found) {
    minima<N, B, T>* const none = nullptr;
    begin(none);
    loop(n_, [&](int down) WB_INLINE_LAMBDA {
      const int a = n_ - 2 - down;
      if (a >= 0) reduce(a, none);
    });
    own_rows([&](int jr) WB_INLINE_LAMBDA {
      every_step([&](int ji) WB_INLINE_LAMBDA {
        path p;
        read(current_, place(jr, ji), p);
        const int low = (1 << pam_) - 1;
        I label[N::capacity];
        loop(n_, [&](int k) WB_INLINE_LAMBDA {
          const I word = as_int(p.value[point_slot(k)]);
          label[k] = label_of(pam_, word >> pam_, word & I(low));
        });
        found.add(n_, pam_, p.value[0], label);
      });
    });
  }

 private:
  /// Few enough points for registers, where a thread has them all.
  static constexpr bool few_points = B::known && B::capacity == 1 && G::size == 1;
  /// Rows of points that a thread works on at once: on a CUDA device all of its own, where they are known.
  static constexpr int together = B::known && (few_points || G::size > 1) ? (1 << B::capacity) / G::size : 1;
  /// A thread's new paths wait in registers until all have read the old ones, whose places they take.
  static constexpr bool in_place = B::known && together * G::size == 1 << B::capacity;

  struct path {
    T value[4 * trellis_planes(N::capacity, Points)] = {};
  };
  /// Where a path that ends in antenna a has what it leaves for antenna l < a.
  WB_HD static int slot(int a, int l) { return 1 + 2 * (a - 1 - l); }
  WB_HD int point_slot(int k) const { return 2 * n_ - 1 + k; }
  WB_HD int place(int jr, int ji) const { return (ji << pam_) + jr; }

  /// The first `planes` planes of a path.
  WB_HD void read(const T* from, int vertex, path& p, int planes = 64) const {
    loop(plane_count(), [&](int i) WB_INLINE_LAMBDA {
      if (i >= planes) return;
      const T* source = from + (i << 2 * pam_) * 4 + 4 * vertex;
      T four[4];
      if constexpr (few_points) {
        WB_UNROLL for (int j = 0; j < 4; j++) four[j] = source[j];
      } else {
        load4(source, four);
      }
      WB_UNROLL for (int j = 0; j < 4; j++) p.value[4 * i + j] = four[j];
    });
  }
  WB_HD void read_at(const T* from, I vertex, path& p, int planes) const {
    if constexpr (few_points) {
      read(from, 0, p, planes);
      loop(fixed<4>{}, [&](int k) WB_INLINE_LAMBDA {
        if (k == 0) return;
        path other;
        read(from, k, other, planes);
        WB_UNROLL for (int j = 0; j < 4 * trellis_planes(N::capacity, Points); j++) p.value[j] =
            select(vertex == I(k), other.value[j], p.value[j]);
      });
    } else {
      loop(plane_count(), [&](int i) WB_INLINE_LAMBDA {
        if (i >= planes) return;
        T four[4];
        load4_at(from + (i << 2 * pam_) * 4, vertex, four);
        WB_UNROLL for (int j = 0; j < 4; j++) p.value[4 * i + j] = four[j];
      });
    }
  }
  WB_HD void write(T* to, int vertex, const path& p, int planes) const {
    loop(plane_count(), [&](int i) WB_INLINE_LAMBDA {
      if (i >= planes) return;
      const T four[4] = {p.value[4 * i], p.value[4 * i + 1], p.value[4 * i + 2], p.value[4 * i + 3]};
      T* target = to + (i << 2 * pam_) * 4 + 4 * vertex;
      if constexpr (few_points) {
        WB_UNROLL for (int j = 0; j < 4; j++) target[j] = four[j];
      } else {
        store4(target, four);
      }
    });
  }
  /// Planes with values of a path that ends in antenna a.
  WB_HD int planes_at(int a) const { return Points ? 64 : 2 * a / 4 + 1; }
  WB_HD auto plane_count() const {
    if constexpr (N::known)
      return fixed<trellis_planes(N::capacity, Points)>{};
    else
      return upto<trellis_planes(N::capacity, Points)>{trellis_planes(n_, Points)};
  }

  /// f(jr) for this thread's real parts.
  template <class F>
  WB_HD void own_rows(F f) const {
    if constexpr (few_points) {
      loop(fixed<2>{}, f);
    } else {
      for (int jr = g_.rank; jr < 1 << pam_; jr += G::size) f(jr);
    }
  }
  template <class F>
  WB_HD void every_step(F f) const {
    if constexpr (B::known)
      loop(fixed<(1 << B::capacity)>{}, f);
    else
      loop(upto<(1 << B::capacity)>{1 << pam_}, f);
  }

  /// The vertices of antenna n - 1, extended for `found` where that is wanted.
  WB_HD void begin(minima<N, B, T>* found) {
    const int top = n_ - 1;
    if (found) found->clear(pam_, top);
    own_rows([&](int jr) WB_INLINE_LAMBDA {
      T least_row = T(unreached);
      every_step([&](int ji) WB_INLINE_LAMBDA {
        const cx<T> symbol = {T(static_cast<float>(jr)), T(static_cast<float>(ji))};
        const T re = fnma(m_.g[top], symbol.re, m_.w[top].re), im = fnma(m_.g[top], symbol.im, m_.w[top].im);
        path p;
        p.value[0] = fma(im, im, re * re);
        if (costs_) p.value[0] = p.value[0] + (costs_->re[top][jr] + costs_->im[top][ji]);
        loop(n_, [&](int l) WB_INLINE_LAMBDA {
          if (l >= top) return;
          const cx<T> w = fnma(m_.above[l][top], symbol, m_.w[l]);
          p.value[slot(top, l)] = w.re;
          p.value[slot(top, l) + 1] = w.im;
        });
        if constexpr (Points) p.value[point_slot(top)] = as_float(I(jr << pam_ | ji));
        write(current_, place(jr, ji), p, planes_at(top));
        if (found) extend(top, ji, p, least_row, *found);
      });
      if (found) found->add(pam_, top, pam_, jr ^ jr >> 1, least_row);
    });
    if (found) found->merge(g_, pam_, top);
  }

  /// Each vertex of antenna a keeps the best of all paths. Let im' be the error at the middle of the
  /// imaginary steps. The square of the error at step ji is im'^2 + slope[ji] im' + a constant of the vertex:
  /// an fma for each edge finds the best, whose distance is then computed from its errors.
  WB_HD void reduce(int a, minima<N, B, T>* found) {
    g_.sync();
    if (found) found->clear(pam_, a);
    const T gain = m_.g[a];
    const float middle = static_cast<float>((1 << pam_) - 1) / 2;
    const auto slope = [&](int ji)
                           WB_INLINE_LAMBDA { return T(2.f * (middle - static_cast<float>(ji))) * gain; };
    const T centre = T(middle) * gain;
    const bool path_wanted = a > 0 || Points;
    for (int first = g_.rank; first < 1 << pam_; first += G::size * together) {
      const auto row = [&](int i) WB_INLINE_LAMBDA { return first + i * G::size; };
      const auto each_row = [&](auto f) WB_INLINE_LAMBDA { loop(fixed<together>{}, f); };
      T least[together][1 << B::capacity];
      I from[together][1 << B::capacity];
      each_row([&](int i) WB_INLINE_LAMBDA {
        every_step([&](int ji) WB_INLINE_LAMBDA {
          least[i][ji] = T(3e38f);
          from[i][ji] = I(0);
        });
      });
      const auto every_edge_of = [&](int k, auto f) WB_INLINE_LAMBDA {
        T p[4];
        load_head(k, p);
        const T im = p[2] - centre, base = fma(im, im, p[0]);
        each_row([&](int i) WB_INLINE_LAMBDA {
          const T re = fnma(gain, T(static_cast<float>(row(i))), p[1]), of_row = fma(re, re, base);
          every_step([&](int ji) WB_INLINE_LAMBDA { f(i, ji, fma(slope(ji), im, of_row)); });
        });
      };
      const auto keep_least = [&](int k) WB_INLINE_LAMBDA {
        every_edge_of(k, [&](int i, int ji, T d) WB_INLINE_LAMBDA {
          if (path_wanted) from[i][ji] = select(d < least[i][ji], I(k), from[i][ji]);
          least[i][ji] = min(least[i][ji], d);
        });
      };
      if constexpr (few_points) {
        loop(fixed<4>{}, keep_least);
      } else {
        for (int k = 0; k < 1 << 2 * pam_; k++) keep_least(k);
      }
      path kept[in_place ? together : 1][in_place ? 1 << B::capacity : 1];
      each_row([&](int i) WB_INLINE_LAMBDA {
        const int jr = row(i);
        const T x = T(static_cast<float>(jr));
        T least_row = T(unreached);
        every_step([&](int ji) WB_INLINE_LAMBDA {
          const T y = T(static_cast<float>(ji)), off = T(static_cast<float>(ji) - middle) * gain;
          path q;
          if (path_wanted) {
            path p;
            read_at(current_, from[i][ji], p, planes_at(a + 1));
            const T re = fnma(gain, x, p.value[1]), im = fnma(gain, y, p.value[2]);
            q.value[0] = fma(im, im, fma(re, re, p.value[0]));
            if (costs_) q.value[0] = q.value[0] + (costs_->re[a][jr] + costs_->im[a][ji]);
            loop(n_, [&](int l) WB_INLINE_LAMBDA {
              if (l >= a) return;
              const cx<T> w = {p.value[slot(a + 1, l)], p.value[slot(a + 1, l) + 1]};
              const cx<T> left = fnma(m_.above[l][a], cx<T>{x, y}, w);
              q.value[slot(a, l)] = left.re;
              q.value[slot(a, l) + 1] = left.im;
            });
            if constexpr (Points) {
              loop(n_, [&](int k) WB_INLINE_LAMBDA {
                if (k > a) q.value[point_slot(k)] = p.value[point_slot(k)];
              });
              q.value[point_slot(a)] = as_float(I(jr << pam_ | ji));
            }
            if constexpr (in_place)
              kept[i][ji] = q;
            else
              write(next_, place(jr, ji), q, planes_at(a));
          } else {
            q.value[0] = max(fma(off, off, least[i][ji]), T(0.f));
            if (costs_) q.value[0] = q.value[0] + (costs_->re[a][jr] + costs_->im[a][ji]);
          }
          if (found) extend(a, ji, q, least_row, *found);
        });
        if (found) found->add(pam_, a, pam_, jr ^ jr >> 1, least_row);
      });
      if constexpr (in_place) {
        if (path_wanted) {
          g_.sync();
          each_row([&](int i) WB_INLINE_LAMBDA {
            every_step([&](int ji) WB_INLINE_LAMBDA {
              write(current_, place(row(i), ji), kept[i][ji], planes_at(a));
            });
          });
        }
      }
    }
    if (found) found->merge(g_, pam_, a);
    if constexpr (!in_place) {
      T* const written = next_;
      next_ = current_;
      current_ = written;
    }
  }
  WB_HD void load_head(int vertex, T (&p)[4]) const {
    if constexpr (few_points) {
      WB_UNROLL for (int j = 0; j < 4; j++) p[j] = current_[4 * vertex + j];
    } else {
      load4(current_ + 4 * vertex, p);
    }
  }

  /// Extends a path of antenna a at imaginary step ji to the end: minima of the antenna's lower bits, and of
  /// the row of points.
  WB_HD void extend(int a, int ji, const path& p, T& least_row, minima<N, B, T>& found) const {
    T distance = p.value[0];
    cx<T> symbol[N::capacity] = {};
    loop(n_, [&](int down) WB_INLINE_LAMBDA {
      const int l = a - 1 - down;
      if (l < 0) return;
      cx<T> w = {p.value[slot(a, l)], p.value[slot(a, l) + 1]};
      loop(n_, [&](int j) WB_INLINE_LAMBDA {
        if (j > l && j < a) w = fnma(m_.above[l][j], symbol[j], w);
      });
      if (costs_) {
        const nearest<T> re = cheapest(pam_, w.re, m_.g[l], costs_->re[l]),
                         im = cheapest(pam_, w.im, m_.g[l], costs_->im[l]);
        symbol[l] = {re.j, im.j};
        distance = distance + (re.metric + im.metric);
        return;
      }
      symbol[l] = {slice(pam_, w.re, m_.slope[l]).j, slice(pam_, w.im, m_.slope[l]).j};
      const T re = fnma(m_.g[l], symbol[l].re, w.re), im = fnma(m_.g[l], symbol[l].im, w.im);
      distance = fma(im, im, fma(re, re, distance));
    });
    least_row = min(least_row, distance);
    found.add(pam_, a, 0, ji ^ ji >> 1, distance);
  }

  G g_;
  N n_;
  B pam_;
  const lattice<N, T>& m_;
  const Costs* costs_;
  T *current_, *next_;
};

}  // namespace WB_ISA
}  // namespace wb
