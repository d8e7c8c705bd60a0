#pragma once
#include <warpband/detect/lattice_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// What ends branches of a search beside the candidates that it found. Distances are squared.
template <class T>
struct sphere_limits {
  T clip;    // a counter-hypothesis beyond the least distance plus this is of no use
  T radius;  // of the sphere that the search begins with
  int node_limit;
};

/// Depth-first search of the tree with a level for each antenna, n - 1 at the top (Studer, Burg, Boelcskei
/// 2008, III). It keeps the least distance, and for each bit that of its counter-hypothesis: the best
/// candidate with the other value. A branch ends where nothing below it could change one of them (single tree
/// search). `Soft` false: only the least distance counts.
///
/// Each lane walks a path of its own. A sweep goes from the top of the tree down: lanes that are at a level
/// take their next child, and go on with it to the next level of the same sweep. So all arrays are indexed
/// by the loop, and threads of a warp meet at each level.
///
/// Children come row by row: the real parts by rising distance, and for each the imaginary parts by rising
/// distance, with equal ones in the order of their steps. A row ends at the first child outside, the level at
/// the first row without a child inside. The last antenna has no children: its two dimensions separate, and
/// all its points are one node.
template <bool Soft, class N, class B, class T, class Costs>
class sphere_search {
  using I = typename rebind<T>::i32;
  using M = typename rebind<T>::mask;

 public:
  /// `costs` of the steps as in prior_costs, or null.
  WB_HD sphere_search(N n, B pam, const lattice<N, T>& m, const Costs* costs, const sphere_limits<T>& limits)
      : n_(n), pam_(pam), m_(m), costs_(costs), limits_(limits), radius_(limits.radius), visited_(I(0)) {
    found_.clear(n, pam);
    last_.clear(pam, 0);
    loop(n, [&](int k) WB_INLINE_LAMBDA { worst_[k] = path_[k] = Soft ? T(unreached) : T(0.f); });
  }

  /// Searches in the lanes of a mask. Where the sphere is empty a search without radius follows.
  WB_HD void run(M lanes) {
    walk(lanes);
    const M empty = lanes & !(found_.least < radius_);
    if (any(empty)) {
      radius_ = select(empty, T(unreached), radius_);
      walk(empty);
    }
    if (!Soft) return;
    // Of what lies outside the sphere the search may have missed the best.
    loop(n_, [&](int k) WB_INLINE_LAMBDA {
      loop(pam_, [&](int b) WB_INLINE_LAMBDA {
        WB_UNROLL for (int i = 2 * b; i < 2 * b + 2; i++) {
          found_.other[k][i] = inside(found_.other[k][i]);
          if (k > 0) continue;
          last_.least[0][0][i] = inside(last_.least[0][0][i]);
          last_.least[1][0][i] = inside(last_.least[1][0][i]);
        }
      });
    });
  }
  /// Difference of the two distances of bit i of the label, with the sign of an LLR.
  WB_HD T difference(int k, int i) const {
    if (Soft && k == 0) return last_.difference(pam_, 0, i);
    return found_.difference(pam_, k, i);
  }
  /// Nodes entered. The points of the last antenna below a path are one.
  WB_HD I visited() const { return visited_; }

 private:
  static constexpr float none = 1.2e38f;  // metric where there is no child

  WB_HD void walk(M lanes) {
    level_ = select(lanes, I(n_ - 1), I(n_));
    arrive(n_ - 1, lanes, m_.w[n_ - 1], T(0.f));
    while (any(level_ < I(n_))) {
      loop(n_, [&](int down) WB_INLINE_LAMBDA {
        if (down + 1 < n_) step(n_ - 1 - down);
      });
      leaves();
    }
  }

  /// Lanes that may visit no more nodes stop, but not before they have a candidate.
  WB_HD M spent() const {
    return (I(limits_.node_limit - 1) < visited_) &
           ((found_.least < T(unreached)) | (radius_ < T(unreached)));
  }
  WB_HD T inside(T distance) const { return select(distance < radius_, distance, T(unreached)); }
  /// Beyond this distance nothing counts.
  WB_HD T limit() const {
    if (!Soft) return min(found_.least, radius_);
    // The margin: rounding must not cut off what would be an LLR just below the clip.
    return min((found_.least + limits_.clip) * T(1.000001f), radius_);
  }

  WB_HD void arrive(int k, M lanes, cx<T> w, T above) {
    w_[k] = {select(lanes, w.re, w_[k].re), select(lanes, w.im, w_[k].im)};
    above_[k] = select(lanes, above, above_[k]);
    re_[k] = select_child(lanes, before_first(k, w.re), re_[k]);
    im_[k] = select_child(lanes, {T(-1.f), T(none), T(0.f), T(top())}, im_[k]);  // a row that has ended
  }

  /// A step of one dimension, its metric, and without costs the steps low .. high that were taken so far.
  struct child {
    T j, metric, low, high;
  };
  WB_HD static child select_child(M m, const child& a, const child& b) {
    return {select(m, a.j, b.j), select(m, a.metric, b.metric), select(m, a.low, b.low),
            select(m, a.high, b.high)};
  }
  /// Before the first step: at the border of the two steps around w / g.
  WB_HD child before_first(int k, T w) const {
    if (costs_) return {T(-1.f), T(-1.f), T(0.f), T(0.f)};
    const T below = round_to_even(fma(unit_clamp(w * m_.slope[k]), T(top()), T(-0.5f)));
    return {T(-1.f), T(-1.f), below + T(1.f), below};
  }
  /// The step after `last` by rising metric. Without costs it is a neighbour of those taken.
  WB_HD child next(int k, T w, const T* cost, const child& last) const {
    if (cost == nullptr) {
      const T down = last.low - T(1.f), up = last.high + T(1.f);
      const T lower = fnma(m_.g[k], down, w), upper = fnma(m_.g[k], up, w);
      const T metric_down = select(down < T(0.f), T(none), lower * lower),
              metric_up = select(T(top()) < up, T(none), upper * upper);
      const M rises = metric_up < metric_down;
      return {select(rises, up, down), min(metric_up, metric_down), select(rises, last.low, down),
              select(rises, up, last.high)};
    }
    child found{T(-1.f), T(none), T(0.f), T(0.f)};
    loop(levels_of(pam_), [&](int i) WB_INLINE_LAMBDA {
      const T j = T(static_cast<float>(i)), e = fnma(m_.g[k], j, w), metric = fma(e, e, cost[i]);
      const M later = (last.metric < metric) | ((last.metric == metric) & (last.j < j));
      const M closer = later & (metric < found.metric);
      found.j = select(closer, j, found.j);
      found.metric = select(closer, metric, found.metric);
    });
    return found;
  }
  WB_HD float top() const { return static_cast<float>((1 << pam_) - 1); }

  /// Lanes at level k take their next child.
  WB_HD void step(int k) {
    const M done = spent();
    level_ = select(done, I(n_), level_);
    const M lanes = level_ == I(k);
    if (!any(lanes)) return;
    const T limit = this->limit();
    T others = T(0.f);  // the farthest counter-hypothesis that a bit of another level may change
    if (Soft)
      loop(n_, [&](int j) WB_INLINE_LAMBDA {
        if (j != k) others = max(others, j < k ? worst_[j] : path_[j]);
      });
    const T widest = Soft ? min(max(others, worst_[k]), limit) : limit;

    const T *re_cost = costs_ ? costs_->re[k] : nullptr, *im_cost = costs_ ? costs_->im[k] : nullptr;
    child re = re_[k], im = next(k, w_[k].im, im_cost, im_[k]);
    T distance = (above_[k] + re.metric) + im.metric;
    const M same = (distance < widest);
    if (any(lanes & !same)) {
      const child row = next(k, w_[k].re, re_cost, re),
                  start = next(k, w_[k].im, im_cost, before_first(k, w_[k].im));
      re = select_child(same, re, row);
      im = select_child(same, im, start);
      distance = select(same, distance, (above_[k] + row.metric) + start.metric);
    }
    const M inside = lanes & (distance < widest);
    const M up = lanes & !inside;
    re_[k] = select_child(inside, re, re_[k]);
    im_[k] = select_child(inside, im, im_[k]);
    symbol_[k] = {re_[k].j, im_[k].j};
    label_[k] = label_of(pam_, nearest_integer(re_[k].j), nearest_integer(im_[k].j));
    if (Soft) path_[k] = changeable(k);
    const M enters = Soft ? inside & (distance < min(max(others, path_[k]), limit)) : inside;
    visited_ = visited_ + select(enters, I(1), I(0));
    level_ = select(enters, I(k - 1), select(up, I(k + 1), level_));
    if (!any(enters)) return;
    cx<T> w = m_.w[k - 1];
    loop(n_, [&](int j) WB_INLINE_LAMBDA {
      if (j >= k) w = fnma(m_.above[k - 1][j], symbol_[j], w);
    });
    arrive(k - 1, enters, w, distance);
  }
  /// The farthest counter-hypothesis of the bits at level k in which the path differs from the best
  /// candidate.
  WB_HD T changeable(int k) const {
    const I differs = label_[k] ^ found_.best[k];
    T farthest = T(0.f);
    loop(pam_, [&](int b) WB_INLINE_LAMBDA {
      WB_UNROLL for (int i = 2 * b; i < 2 * b + 2; i++) farthest =
          max(farthest, select((differs & I(1 << i)) != I(0), found_.other[k][i], T(0.f)));
    });
    return farthest;
  }

  /// Lanes at the last antenna look at all its points.
  WB_HD void leaves() {
    const M done = spent();
    level_ = select(done, I(n_), level_);
    const M lanes = level_ == I(0);
    if (!any(lanes)) return;
    const T above = select(lanes, above_[0], T(unreached));  // other lanes find nothing
    T re[1 << B::capacity], im[1 << B::capacity], least_re = T(none), least_im = T(none);
    I best_re = I(0), best_im = I(0);
    loop(levels_of(pam_), [&](int j) WB_INLINE_LAMBDA {
      const T x = T(static_cast<float>(j)), r = fnma(m_.g[0], x, w_[0].re), i = fnma(m_.g[0], x, w_[0].im);
      re[j] = costs_ ? fma(r, r, costs_->re[0][j]) : r * r;
      im[j] = costs_ ? fma(i, i, costs_->im[0][j]) : i * i;
      if (!Soft) {
        best_re = select(re[j] < least_re, I(j), best_re);
        best_im = select(im[j] < least_im, I(j), best_im);
      }
      least_re = min(least_re, re[j]);
      least_im = min(least_im, im[j]);
    });
    const T with_re = above + least_re, distance = with_re + least_im;
    if (Soft) {
      const T with_im = above + least_im;
      loop(levels_of(pam_), [&](int j) WB_INLINE_LAMBDA {
        last_.add(pam_, 0, pam_, j ^ j >> 1, with_im + re[j]);
        last_.add(pam_, 0, 0, j ^ j >> 1, with_re + im[j]);
      });
    } else {
      label_[0] = label_of(pam_, best_re, best_im);
    }
    const M closer = distance < found_.least;
    const T larger = max(distance, found_.least);
    worst_[0] = T(0.f);
    if (Soft)
      loop(pam_, [&](int b) WB_INLINE_LAMBDA {
        WB_UNROLL for (int i = 2 * b; i < 2 * b + 2; i++) worst_[0] =
            max(worst_[0], max(last_.least[0][0][i], last_.least[1][0][i]));
      });
    loop(n_, [&](int k) WB_INLINE_LAMBDA {
      if (Soft && k == 0) return;
      const I differs = label_[k] ^ found_.best[k];
      found_.best[k] = select(closer, label_[k], found_.best[k]);
      if (!Soft) return;
      worst_[k] = T(0.f);
      loop(pam_, [&](int b) WB_INLINE_LAMBDA {
        WB_UNROLL for (int i = 2 * b; i < 2 * b + 2; i++) {
          found_.other[k][i] = min_where(differs, I(1 << i), found_.other[k][i], larger);
          worst_[k] = max(worst_[k], found_.other[k][i]);
        }
      });
      path_[k] = changeable(k);
    });
    found_.least = min(found_.least, distance);
    visited_ = visited_ + select(lanes, I(1), I(0));
    level_ = select(lanes, I(1), level_);
  }

  N n_;
  B pam_;
  const lattice<N, T>& m_;
  const Costs* costs_;
  sphere_limits<T> limits_;
  T radius_;
  I level_, visited_;
  hypotheses<N, B, T> found_;    // of position 0 only the best, and that only of hard decisions
  minima<fixed<1>, B, T> last_;  // of position 0
  cx<T> w_[N::capacity] = {}, symbol_[N::capacity] = {};
  T above_[N::capacity] = {};                          // distance of the path down to the level
  child re_[N::capacity] = {}, im_[N::capacity] = {};  // the child in each dimension
  I label_[N::capacity] = {};
  T worst_[N::capacity], path_[N::capacity];  // counter-hypotheses: the farthest, and of bits that differ
};

}  // namespace WB_ISA
}  // namespace wb
