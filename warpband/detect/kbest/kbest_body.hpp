#pragma once
#include <warpband/core/memory.hpp>
#include <warpband/detect/lattice_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// Breadth-first search that keeps K paths a level. A level is an antenna, from n - 1 to 0, or one of its
/// dimensions in turn, the imaginary one first.
///
/// Which children stay is settled without sorting: the K-th least distance is found by bisection on the bits
/// of a float, which are in order for numbers from 0. Among equals the first ones stay: a child's number is
/// its parent's, then its steps. Children below the K-th distance come before those at it.
template <class G, class N, class B, class T, class Costs>
class kbest_search {
  using I = typename rebind<T>::i32;
  using M = typename rebind<T>::mask;

 public:
  static constexpr int slots = 8;  // values of scratch for each survivor

  WB_HD kbest_search(G g, N n, B pam, const lattice<N, T>& m, const Costs* costs, int most, T* memory)
      : g_(g), n_(n), pam_(pam), m_(m), costs_(costs), most_(most) {
    T** const columns[slots] = {&distance_,      &taken_[0],      &taken_[1], &next_distance_,
                                &next_taken_[0], &next_taken_[1], &re_,       &im_};
    WB_UNROLL for (int i = 0; i < slots; i++) * columns[i] = memory + i * most;
  }

  WB_HD void run(bool real_valued, hypotheses<N, B, T>& found) {
    if (g_.rank == 0) {
      distance_[0] = T(0.f);
      taken_[0][0] = taken_[1][0] = as_float(I(0));
    }
    parents_ = 1;
    for (int k = n_ - 1; k >= 0; k--) {
      if (real_valued) {
        expand(k, false, true);
        expand(k, true, false);
      } else {
        expand(k, true, true);
      }
    }
    g_.sync();
    for (int p = g_.rank; p < parents_; p += G::size) {
      const int low = (1 << pam_) - 1;
      I label[N::most];
      loop(n_, [&](int k) WB_INLINE_LAMBDA {
        const I word = as_int(taken_[k / 4][p]) >> 8 * (k % 4);
        label[k] = label_of(pam_, word >> pam_, word & I(low));
      });
      found.add(n_, pam_, distance_[p], label);
    }
  }

 private:
  /// f(number of the child among its parent's, its steps, its distance).
  template <class F>
  WB_HD void children(int p, int k, bool real, bool imaginary, F f) const {
    const int rows = real ? 1 << pam_ : 1, columns = imaginary ? 1 << pam_ : 1;
    const T d = distance_[p], wr = re_[p], wi = im_[p], g = m_.g[k];
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
        T all = above;
        if (imaginary) {
          const T im = fnma(g, T(y), wi);
          all = fma(im, im, all);
          if (costs_) all = all + costs_->im[k][ji];
        }
        f(jr << pam_ | ji, all);
      }
    }
  }

  WB_HD void expand(int k, bool real, bool imaginary) {
    const int per_parent = (real ? 1 << pam_ : 1) * (imaginary ? 1 << pam_ : 1);
    const int all = parents_ * per_parent, keep = all < most_ ? all : most_;  // at most 4096 * 256
    const float top = static_cast<float>((1 << pam_) - 1);
    g_.sync();
    // What is left of w for each parent; bounds of its children's distances.
    T least = T(unreached), most_least = T(0.f), most = T(0.f);
    for (int p = g_.rank; p < parents_; p += G::size) {
      cx<T> w = m_.w[k];
      const I words[2] = {as_int(taken_[0][p]), as_int(taken_[1][p])};
      for (int j = k + 1; j < n_; j++) {
        const I word = words[j / 4] >> 8 * (j % 4);
        const int low = (1 << pam_) - 1;
        w = fnma(m_.above[k][j], cx<T>{to_float((word >> pam_) & I(low)), to_float(word & I(low))}, w);
      }
      re_[p] = w.re;
      im_[p] = w.im;
      T near = distance_[p], far = distance_[p];
      if (real) bound(w.re, k, top, near, far);
      if (imaginary) bound(w.im, k, top, near, far);
      least = min(least, near);
      most_least = max(most_least, near);
      most = max(most, far);
    }
    for (int s = 1; s < G::size; s *= 2) {
      least = min(least, g_.exchange(least, s));
      most_least = max(most_least, g_.exchange(most_least, s));
      most = max(most, g_.exchange(most, s));
    }

    // At most `keep` children have a distance up to `limit`, and fewer one below it unless `limit` is exact.
    I below = I(keep);  // children below the limit, of which all stay
    T limit = T(3e38f);
    if (keep < all) {
      // Bounds are moved out by more than rounding, and by any costs.
      const I margin = I(4096);
      I low = as_int(least) - margin, high = as_int(parents_ >= keep ? most_least : most) + margin;
      if (costs_) high = as_int(T(3e38f));
      low = select(low < I(0), I(-1), low);
      I below_low = I(0);
      M open = mask_from<M>(true);
      while (any(open)) {
        const I middle = low + ((high - low) >> 1);
        const T trial = as_float(middle);
        I count = I(0);
        for (int p = g_.rank; p < parents_; p += G::size)
          children(p, k, real, imaginary,
                   [&](int, T d) WB_INLINE_LAMBDA { count = count + select(d <= trial, I(1), I(0)); });
        count = g_.sum_all(count);
        const M enough = !(count < I(keep)), exact = count == I(keep);
        // An exact one ends the search: everything up to `middle` is below the limit right above it.
        high = select(open & enough, select(exact, middle + I(1), middle), high);
        low = select(open & (exact | !enough), middle, low);
        below_low = select(open & (exact | !enough), count, below_low);
        open = open & (low + I(1) < high);
      }
      limit = as_float(high);
      below = below_low;
    }

    // Children below the limit go to places 0 .. below - 1, those at it behind them until K is reached.
    I place = I(0), tied = below;
    for (int first = 0; first < parents_; first += G::size) {
      const int p = first + g_.rank;
      I mine = I(0), mine_tied = I(0);
      if (G::size > 1) {
        if (p < parents_)
          children(p, k, real, imaginary, [&](int, T d) WB_INLINE_LAMBDA {
            mine = mine + select(d < limit, I(1), I(0));
            mine_tied = mine_tied + select(d == limit, I(1), I(0));
          });
      }
      I at = place + g_.sum_before(mine), at_tied = tied + g_.sum_before(mine_tied);
      if (p < parents_) {
        const I words[2] = {as_int(taken_[0][p]), as_int(taken_[1][p])};
        children(p, k, real, imaginary, [&](int steps, T d) WB_INLINE_LAMBDA {
          const M inside = (d < limit) & (at < I(keep)), equal = (d == limit) & (at_tied < I(keep));
          const M stays = inside | equal;
          const I to = select(inside, at, at_tied);
          store_at(next_distance_, to, d, stays);
          const I step = I(steps << 8 * (k % 4));
          store_at(next_taken_[0], to, as_float(k < 4 ? words[0] | step : words[0]), stays);
          if (n_ > 4) store_at(next_taken_[1], to, as_float(k < 4 ? words[1] : words[1] | step), stays);
          at = at + select(inside, I(1), I(0));
          at_tied = at_tied + select(equal, I(1), I(0));
        });
      }
      if (G::size > 1) {
        place = place + g_.sum_all(mine);
        tied = tied + g_.sum_all(mine_tied);
      } else {
        place = at;
        tied = at_tied;
      }
    }
    g_.sync();
    swap(distance_, next_distance_);
    swap(taken_[0], next_taken_[0]);
    swap(taken_[1], next_taken_[1]);
    parents_ = keep;
  }

  /// Adds the least and the largest square of a dimension's errors.
  WB_HD void bound(T w, int k, float top, T& near, T& far) const {
    const T j = slice(pam_, w, m_.slope[k]).j, e = fnma(m_.g[k], j, w), other = fnma(m_.g[k], T(top), w);
    near = fma(e, e, near);
    far = far + max(w * w, other * other);
  }
  WB_HD static void swap(T*& a, T*& b) {
    T* const c = a;
    a = b;
    b = c;
  }

  G g_;
  N n_;
  B pam_;
  const lattice<N, T>& m_;
  const Costs* costs_;
  int most_, parents_ = 0;
  T *distance_, *taken_[2], *next_distance_, *next_taken_[2];  // steps: a byte for each antenna
  T *re_, *im_;
};

}  // namespace WB_ISA
}  // namespace wb
