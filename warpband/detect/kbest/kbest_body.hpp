#pragma once
#include <warpband/core/memory.hpp>
#include <warpband/detect/lattice_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// Breadth-first search that keeps K paths a level. A level is an antenna, from n - 1 to 0, or one of its
/// dimensions in turn, the imaginary one first.
///
/// Which children stay is settled without sorting, in two steps of bisection on the bits of a float, which
/// are in order for numbers from 0. The first looks at all children, until at most 2 K of them are below its
/// bound. These are listed. The second finds the K-th least distance among them.
///
/// Among children at the K-th least distance those stay whose steps, from the top of the tree down, come
/// first in the order of words. Survivors and listed children always lie in that order, so that the rule does
/// not depend on how many threads share the search.
template <class G, class N, class B, class T, class Costs>
class kbest_search {
  using I = typename rebind<T>::i32;
  using M = typename rebind<T>::mask;

 public:
  static constexpr int slots = 11;  // values of scratch for each survivor

  WB_HD kbest_search(G g, N n, B pam, const lattice<N, T>& m, const Costs* costs, int survivors, T* memory)
      : g_(g), n_(n), pam_(pam), m_(m), costs_(costs), survivors_(survivors) {
    T** const columns[5] = {&distance_, &taken_[0], &taken_[1], &re_, &im_};
    WB_UNROLL for (int i = 0; i < 5; i++) * columns[i] = memory + i * survivors;
    T** const lists[3] = {&listed_, &listed_taken_[0], &listed_taken_[1]};
    WB_UNROLL for (int i = 0; i < 3; i++) * lists[i] = memory + (5 + 2 * i) * survivors;
  }

  WB_HD void run(bool real_valued) {
    if (g_.rank == 0) {
      distance_[0] = T(0.f);
      taken_[0][0] = taken_[1][0] = as_float(I(0));
    }
    parents_ = 1;
    WB_ROLL for (int k = n_ - 1; k >= 0; k--) {
      if constexpr (B::known) {  // built for trees of complex symbols
        expand(k, true, true);
      } else if (real_valued) {
        expand(k, false, true);
        expand(k, true, false);
      } else {
        expand(k, true, true);
      }
    }
    g_.sync();
    if constexpr (G::size > 1) take_labels();
  }
  /// Adds the survivors.
  WB_HD void collect(hypotheses<N, B, T>& found) const {
    for (int p = g_.rank; p < parents_; p += G::size) {
      I label[N::capacity];
      loop(n_, [&](int k) WB_INLINE_LAMBDA { label[k] = label_of_survivor(p, k); });
      found.add(n_, pam_, distance_[p], label);
    }
  }
  /// Difference of the least distances of bit i of the label of position k, with the sign of an LLR: for
  /// threads that share the bits.
  WB_HD T difference(int k, int i) const {
    T least_zero = T(unreached), least_one = T(unreached);
    const I bit = I(static_cast<std::int32_t>(1u << (8 * (k % 4) + i)));
    for (int p = 0; p < parents_; p++) {
      const T d = distance_[p];
      const M one = (as_int(taken_[k / 4][p]) & bit) != I(0);
      least_zero = select(one, least_zero, min(least_zero, d));
      least_one = select(one, min(least_one, d), least_one);
    }
    const T apart = least_one - least_zero;
    return (flipped(pam_) >> i & 1) != 0 ? -apart : apart;
  }

 private:
  /// What a level needs of the lattice: copied, so that no register is indexed by k.
  struct level {
    T g, slope;
    cx<T> w, above[N::capacity];
  };
  WB_HD level level_of(int k) const {
    level l = {};
    loop(n_, [&](int i) WB_INLINE_LAMBDA {
      if (i != k) return;
      l.g = m_.g[i];
      l.slope = m_.slope[i];
      l.w = m_.w[i];
      loop(n_, [&](int j) WB_INLINE_LAMBDA {
        if (j > i) l.above[j] = m_.above[i][j];
      });
    });
    return l;
  }
  /// Turns steps into labels, all of a word at once.
  WB_HD void take_labels() {
    const int half = (1 << pam_) / 2 - 1;
    const I lower = I((half << pam_ | half) * 0x01010101);
    for (int p = g_.rank; p < parents_; p += G::size)
      WB_UNROLL for (int i = 0; i < (N::capacity + 3) / 4; i++) {
        const I word = as_int(taken_[i][p]);
        taken_[i][p] = as_float(word ^ ((word >> 1) & lower));
      }
    g_.sync();
  }
  WB_HD I label_of_survivor(int p, int k) const {
    const I word = as_int(taken_[k / 4][p]) >> 8 * (k % 4);
    return label_of(pam_, word >> pam_, word & I((1 << pam_) - 1));
  }

  /// f(number of the child among its parent's, its steps, its distance).
  template <class F>
  WB_HD void children(int p, int k, T g, bool real, bool imaginary, F f) const {
    const T d = distance_[p], wr = re_[p], wi = im_[p];
    if constexpr (B::known) {
      constexpr int levels = 1 << B::capacity;
      T im[levels];
      WB_UNROLL for (int j = 0; j < levels; j++) im[j] = fnma(g, T(static_cast<float>(j)), wi);
      WB_UNROLL for (int jr = 0; jr < levels; jr++) {
        const T re = fnma(g, T(static_cast<float>(jr)), wr), above = fma(re, re, d);
        WB_UNROLL for (int ji = 0; ji < levels; ji++) f(jr << B::capacity | ji, fma(im[ji], im[ji], above));
      }
      return;
    }
    const int rows = real ? 1 << pam_ : 1, columns = imaginary ? 1 << pam_ : 1;
    float x = 0.f;
    for (int jr = 0; jr < rows; jr++, x += 1.f) {
      T above = d;
      if (real) {
        const T re = fnma(g, T(x), wr);
        above = fma(re, re, above);
        if (costs_) above = above + costs_->re[k][jr];
      }
      float y = 0.f;
      for (int ji = 0; ji < columns; ji++, y += 1.f) {
        T distance = above;
        if (imaginary) {
          const T im = fnma(g, T(y), wi);
          distance = fma(im, im, distance);
          if (costs_) distance = distance + costs_->im[k][ji];
        }
        f(jr << pam_ | ji, distance);
      }
    }
  }

  /// Children are counted and listed, and those that stay are chosen.
  struct bounds {
    I low, high;         // bits of floats: at most low are fewer than K, at most high K or more
    I below_low, among;  // as many as these are
  };

  WB_HD void expand(int k, bool real, bool imaginary) {
    const int per_parent = (real ? 1 << pam_ : 1) * (imaginary ? 1 << pam_ : 1);
    const int child_count = parents_ * per_parent;  // at most 4096 * 256
    const int keep = child_count < survivors_ ? child_count : survivors_;
    g_.sync();
    const level l = level_of(k);
    bounds b = prepare(k, l, real, imaginary, keep);
    if (keep == child_count) b.high = as_int(T(3e38f));
    if (child_count > 2 * survivors_) narrow(b, k, l.g, real, imaginary, keep);
    const I listed = list(as_float(b.high), k, l.g, real, imaginary, keep);
    g_.sync();
    choose(b, listed, keep);
    parents_ = keep;
  }

  /// What is left of w for each parent; bounds of the K-th least of its children's distances.
  WB_HD bounds prepare(int k, const level& l, bool real, bool imaginary, int keep) {
    const float top = static_cast<float>((1 << pam_) - 1);
    T least = T(unreached), most_least = T(0.f), greatest = T(0.f);
    for (int p = g_.rank; p < parents_; p += G::size) {
      cx<T> w = l.w;
      const I words[2] = {as_int(taken_[0][p]), as_int(taken_[1][p])};
      loop(n_, [&](int j) WB_INLINE_LAMBDA {
        if (j <= k) return;
        const I word = words[j / 4] >> 8 * (j % 4);
        const int low = (1 << pam_) - 1;
        w = fnma(l.above[j], cx<T>{to_float((word >> pam_) & I(low)), to_float(word & I(low))}, w);
      });
      re_[p] = w.re;
      im_[p] = w.im;
      T near = distance_[p], far = distance_[p];
      if (real) bound(w.re, l, top, near, far);
      if (imaginary) bound(w.im, l, top, near, far);
      least = min(least, near);
      most_least = max(most_least, near);
      greatest = max(greatest, far);
    }
    for (int s = 1; s < G::size; s *= 2) {
      least = min(least, g_.exchange(least, s));
      most_least = max(most_least, g_.exchange(most_least, s));
      greatest = max(greatest, g_.exchange(greatest, s));
    }
    // Moved out by more than rounding, and by any costs.
    const I margin = I(4096);
    bounds b{as_int(least) - margin, as_int(parents_ >= keep ? most_least : greatest) + margin, I(0), I(0)};
    if (costs_) b.high = as_int(T(3e38f));
    b.low = select(b.low < I(0), I(-1), b.low);
    return b;
  }
  /// Adds the least and the largest square of a dimension's errors.
  WB_HD void bound(T w, const level& l, float top, T& near, T& far) const {
    const T j = slice(pam_, w, l.slope).j, e = fnma(l.g, j, w), other = fnma(l.g, T(top), w);
    near = fma(e, e, near);
    far = far + max(w * w, other * other);
  }

  /// Brings the bounds together until at most 2 K children are up to the upper one, or they are neighbours.
  WB_HD void narrow(bounds& b, int k, T g, bool real, bool imaginary, int keep) const {
    M open = b.low + I(1) < b.high;
    while (any(open)) {
      const I middle = b.low + ((b.high - b.low) >> 1);
      const T trial = as_float(middle);
      I count = I(0);
      for (int p = g_.rank; p < parents_; p += G::size)
        children(p, k, g, real, imaginary,
                 [&](int, T d) WB_INLINE_LAMBDA { count = count + select(d <= trial, I(1), I(0)); });
      count = sum(count);
      const M enough = !(count < I(keep)), fits = enough & (count < I(2 * survivors_ + 1));
      b.high = select(open & enough, middle, b.high);
      b.low = select(open & !enough, middle, b.low);
      b.below_low = select(open & !enough, count, b.below_low);
      open = open & !fits & (b.low + I(1) < b.high);
    }
  }

  /// Lists the children up to a limit, of those at it the first K. Returns how many there are.
  WB_HD I list(T limit, int k, T g, bool real, bool imaginary, int keep) {
    I place = I(0), tied = I(0);
    for (int first = 0; first < parents_; first += G::size) {
      const int p = first + g_.rank;
      I listed_here = I(0), tied_here = I(0);
      if (G::size > 1) {
        if (p < parents_)
          children(p, k, g, real, imaginary, [&](int, T d) WB_INLINE_LAMBDA {
            listed_here = listed_here + select(d < limit, I(1), I(0));
            tied_here = tied_here + select(d == limit, I(1), I(0));
          });
      }
      I at_tied = tied + before(tied_here);
      if (G::size > 1) listed_here = listed_here + at_most(I(keep) - at_tied, tied_here);
      I target = place + before(listed_here);
      if (p < parents_) {
        const I words[2] = {as_int(taken_[0][p]), as_int(taken_[1][p])};
        children(p, k, g, real, imaginary, [&](int steps, T d) WB_INLINE_LAMBDA {
          if (!any(d <= limit)) return;
          const M equal = d == limit, stays = (d < limit) | (equal & (at_tied < I(keep)));
          const I step = I(steps << 8 * (k % 4));
          store_at(listed_, target, d, stays);
          store_at(listed_taken_[0], target, as_float(k < 4 ? words[0] | step : words[0]), stays);
          if (n_ > 4) store_at(listed_taken_[1], target, as_float(k < 4 ? words[1] : words[1] | step), stays);
          target = target + select(stays, I(1), I(0));
          at_tied = at_tied + select(equal, I(1), I(0));
        });
      }
      if (G::size > 1) {
        place = place + sum(listed_here);
        tied = tied + sum(tied_here);
      } else {
        place = target;
        tied = at_tied;
      }
    }
    return place;
  }

  /// The K listed children that stay become the parents of the next level.
  WB_HD void choose(bounds b, I listed, int keep) {
    // Fewer than K of the listed are below `limit`, or K if all of those stay.
    M open = I(keep) < listed;
    b.high = select(open, b.high, as_int(T(3.2e38f)));
    b.below_low = select(open, b.below_low, I(keep));
    while (any(open)) {
      const I middle = b.low + ((b.high - b.low) >> 1);
      const T trial = as_float(middle);
      I count = I(0);
      for (int p = g_.rank; any(I(p) < listed); p += G::size)
        count = count + select((I(p) < listed) & (listed_[p] <= trial), I(1), I(0));
      count = sum(count);
      const M enough = !(count < I(keep)), exact = count == I(keep);
      // An exact one ends the search: everything up to `middle` is below the limit right above it.
      b.high = select(open & enough, select(exact, middle + I(1), middle), b.high);
      b.low = select(open & (exact | !enough), middle, b.low);
      b.below_low = select(open & (exact | !enough), count, b.below_low);
      open = open & (b.low + I(1) < b.high);
    }
    const T limit = as_float(b.high);
    const I ties = I(keep) - b.below_low;  // that stay
    I place = I(0), tied = I(0);
    for (int first = 0; any(I(first) < listed); first += G::size) {
      const int p = first + g_.rank;
      const M present = I(p) < listed;
      const T d = there_or(present, p);
      const M equal = present & (d == limit);
      const I one = select(equal, I(1), I(0)), at_tied = tied + before(one);
      const M stays = present & ((d < limit) | (equal & (at_tied < ties)));
      const I kept_here = select(stays, I(1), I(0)), target = place + before(kept_here);
      store_at(distance_, target, d, stays);
      if (any(stays)) {
        store_at(taken_[0], target, listed_taken_[0][p], stays);
        if (n_ > 4) store_at(taken_[1], target, listed_taken_[1][p], stays);
      }
      place = place + sum(kept_here);
      tied = tied + sum(one);
    }
  }
  WB_HD T there_or(M present, int p) const {
    if constexpr (width_of<T> == 1)
      return present ? listed_[p] : T(3e38f);
    else
      return select(present, listed_[p], T(3e38f));
  }

  /// Sums over the group: a part of a warp adds with shuffles, a whole one at once.
  WB_HD I sum(I x) const {
    if constexpr (G::size > 1 && G::size < 32) {
      for (int s = 1; s < G::size; s *= 2) x = x + g_.exchange(x, s);
      return x;
    } else {
      return g_.sum_all(x);
    }
  }
  WB_HD I before(I x) const { return g_.sum_before(x); }
  /// x limited to 0 .. limit.
  WB_HD static I at_most(I x, I limit) {
    x = select(x < I(0), I(0), x);
    return select(x < limit, x, limit);
  }

  G g_;
  N n_;
  B pam_;
  const lattice<N, T>& m_;
  const Costs* costs_;
  int survivors_, parents_ = 0;
  T *distance_, *taken_[2];       // survivors: K; steps: a byte for each antenna
  T *re_, *im_;                   // what is left of w: K
  T *listed_, *listed_taken_[2];  // children: 2 K
};

}  // namespace WB_ISA
}  // namespace wb
