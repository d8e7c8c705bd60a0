#pragma once
// The K-best search of 4x4, 16- and 64-QAM, by the threads of a CUDA warp or of half of one, with what they
// compare in registers. It keeps the same paths as kbest_search.
//
// A thread has up to P parents and, of each, the children in a window of 4x4 steps around the nearest one: of
// 16-QAM all. Where a child outside a window could be one of the K best, the search goes over all children.
// Paths always lie in the order of their steps, from the top of the tree down.
#include <warpband/detect/kbest/kbest_children_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// W: warp_part. All threads of the warp call all methods together.
template <class W, int B, int P>
class kbest_warp_search : kbest_children<B> {
  static_assert(B == 2 || B == 3);
  using of_parent = kbest_children<B>;
  using of_parent::levels, of_parent::points, of_parent::window, of_parent::nowhere;
  using typename of_parent::I;
  using typename of_parent::parent;

 public:
  static constexpr int n = 4;
  static constexpr int max_survivors = P * W::size;
  using use = kbest_use<4 * kbest_most_uses>;

  /// Shared memory of a search.
  struct storage {
    kbest_parent parents[P > 2 ? max_survivors : 1];
    kbest_path paths[2 * max_survivors];
  };
  WB_HD kbest_warp_search(W warp, use of_use, storage* memory, int survivors)
      : warp_(warp),
        use_(of_use),
        paths_(memory->paths),
        choice_{warp, memory->paths},
        open_(memory->parents + warp.rank),
        survivors_(survivors) {}

  WB_HD void run() {
    first();
    WB_ROLL for (int k = n - 2; k >= 0; k--) {
      if (P == 1 || parents_ <= W::size) {
        expand<1>(k);
      } else if (P == 2 || parents_ <= 2 * W::size) {
        expand<2>(k);
      } else {
        if constexpr (P > 2) expand_many(k);
      }
    }
    take_labels();
  }
  /// Difference of the least distances of a bit of the labels, with the sign of an LLR. `Sharers` threads
  /// have the same bit, ranks `threads` apart, and share the paths.
  template <int Sharers>
  WB_HD float difference(int bit, int threads) const {
    float least[2] = {unreached, unreached};
    const I mask = 1 << bit;
    const int end = padded();
    WB_ROLL for (int p = warp_.rank / threads % Sharers * 8; p < end; p += 8 * Sharers) {
      WB_UNROLL for (int i = 0; i < 8; i++) {
        const kbest_path path = paths_[p + i];
        const bool one = (path.steps & mask) != 0;
        least[0] = one ? least[0] : min(least[0], path.distance);
        least[1] = one ? min(least[1], path.distance) : least[1];
      }
    }
    if constexpr (Sharers == 2) {
      warp_.sync();
      WB_UNROLL for (int value = 0; value < 2; value++) least[value] =
          min(least[value], warp_.exchange(least[value], threads));
    }
    const float apart = least[1] - least[0];
    return (flipped(fixed<B>{}) >> bit % (2 * B) & 1) != 0 ? -apart : apart;
  }

 private:
  static constexpr int begin_bit = 24;  // of a parent's steps: above them, where its window begins

  /// The children of the root, four to a thread.
  WB_HD void first() {
    constexpr int per_row = levels / 4;
    const bool valid = warp_.rank < points / 4;
    const float g = use_.g(n - 1);
    const float re = fnma(g, small_float(warp_.rank / per_row), use_.w(n - 1, 0)), above = fma(re, re, 0.f);
    const float column = small_float(warp_.rank % per_row * 4), wi = use_.w(n - 1, 1);
    float c[4], near = nowhere, far = 0.f;
    WB_UNROLL for (int i = 0; i < 4; i++) {
      const float im = fnma(g, column + static_cast<float>(i), wi);
      c[i] = valid ? fma(im, im, above) : nowhere;
      near = min(near, c[i]);
      far = valid ? max(far, c[i]) : far;
    }
    const I four = warp_.rank * 4;
    const auto for_each = [&](auto f) WB_INLINE_LAMBDA {
      WB_UNROLL for (int i = 0; i < 4; i++) f(i, c[i], four + i);
    };
    const int keep = survivors_ < points ? survivors_ : points;
    kbest_bounds b{as_int(warp_.min_all(near)) - 1, as_int(warp_.max_all(far)), 0.f,
                   static_cast<float>(points), valid ? 4 : 0};
    narrow(b, for_each, keep);
    choice_.choose(b, for_each, keep);
    parents_ = keep;
  }
  template <class Each>
  WB_HD void narrow(kbest_bounds& b, Each for_each, int keep, int stop = 0) const {
    const float enough = static_cast<float>(keep);
    choice_.narrow(b, for_each, enough, stop ? static_cast<float>(stop) : enough, choice_.between(b, enough));
  }

  /// A level of Q parents a thread.
  template <int Q>
  WB_HD void expand(int k) {
    const int keep = survivors_;  // children are more
    const float g = use_.g(k);
    parent p[Q];
    WB_UNROLL for (int i = 0; i < Q; i++) p[i] = parent_at(warp_.rank * Q + i, k);
    warp_.sync();
    float c[Q][window * window], near[Q], most_near = 0.f, far = 0.f;
    WB_UNROLL for (int i = 0; i < Q; i++) {
      near[i] = of_parent::children(p[i], g, c[i]);
      most_near = p[i].valid ? max(most_near, near[i]) : most_near;
    }
    kbest_bounds b;
    if (parents_ >= keep) {
      b.high = as_int(1.1f * warp_.max_all(most_near));
      b.high_count = 2.f * static_cast<float>(keep);
      b.thread_count = 0;
    } else {
      b.thread_count = 0;
      WB_UNROLL for (int i = 0; i < Q; i++) {
        WB_UNROLL for (int j = 0; j < window * window; j++) far = p[i].valid ? max(far, c[i][j]) : far;
        b.thread_count += p[i].valid ? window * window : 0;
      }
      b.high = as_int(warp_.max_all(far));
      b.high_count = static_cast<float>(window * window * parents_);
    }
    float least = near[0];
    WB_UNROLL for (int i = 1; i < Q; i++) least = min(least, near[i]);
    b.low = as_int(warp_.min_all(least)) - 1;
    b.low_count = 0.f;
    const auto for_each = [&](auto f) WB_INLINE_LAMBDA {
      WB_UNROLL for (int i = 0; i < Q; i++) {
        const I base = (p[i].steps << 2 * B) + of_parent::window_steps(p[i]);
        WB_UNROLL for (int j = 0; j < window * window; j++)
            f(j, c[i][j], base + (j / window << B | j % window));
      }
    };
    narrow(b, for_each, keep);
    if constexpr (levels > window) {
      float outer[Q];
      bool outside = false;
      WB_UNROLL for (int i = 0; i < Q; i++) {
        outer[i] = of_parent::nearest_outside(p[i], g);
        outside = outside || outer[i] <= as_float(b.high);
        least = min(least, outer[i]);
      }
      if (warp_.any(outside)) {
        over_all<Q>(p, g, least, b.high, keep);
        return;
      }
    }
    choice_.choose(b, for_each, keep);
    parents_ = keep;
  }

  /// A level of more than two parents a thread. A bound of the K-th least distance comes from the 2x2
  /// children nearest to each parent, in registers. Then the parents' children that can be up to it are
  /// counted from shared memory, in as many rows and columns as any parent needs.
  WB_HD void expand_many(int k) {
    const int keep = survivors_, parents_per_thread = (parents_ + W::size - 1) / W::size;
    const float g = use_.g(k);
    float c[P][4], least = nowhere, most_near = 0.f;
    WB_UNROLL for (int i = 0; i < P; i++) {
      WB_UNROLL for (int j = 0; j < 4; j++) c[i][j] = nowhere;
      if (i >= parents_per_thread) continue;
      const parent p = parent_at(warp_.rank * parents_per_thread + i, k);
      open_[i * W::size] = {p.distance, p.re, p.im, p.steps};
      const float near = of_parent::nearest_four(p, g, use_.slope(k), c[i]);
      least = min(least, near);
      most_near = p.valid ? max(most_near, near) : most_near;
    }
    warp_.sync();
    const auto four = [&](auto f) WB_INLINE_LAMBDA {
      WB_UNROLL for (int i = 0; i < P; i++) WB_UNROLL for (int j = 0; j < 4; j++) f(j, c[i][j], 0);
    };
    kbest_bounds b{as_int(warp_.min_all(least)) - 1, as_int(1.1f * warp_.max_all(most_near)), 0.f,
                   2.f * static_cast<float>(keep), 0};
    narrow(b, four, keep, keep + keep / 8);
    const extent most_of = place_windows(g, parents_per_thread, as_float(b.high));
    b = {-1, b.high, 0.f, 0.f, 0};
    if (most_of.columns <= 4)
      choose_of_windows<4>(b, g, parents_per_thread, most_of.rows, keep);
    else
      choose_of_windows<levels>(b, g, parents_per_thread, most_of.rows, keep);
  }
  struct extent {
    int rows, columns;
  };
  /// Notes for each parent where its children up to a limit begin. Returns the most rows and columns of them.
  WB_HD extent place_windows(float g, int parents_per_thread, float limit) {
    float rows = 1.f, columns = 1.f;
    WB_ROLL for (int i = 0; i < parents_per_thread; i++) {
      const kbest_parent p = open_[i * W::size];
      float re[levels], im[levels], least_re = nowhere, least_im = nowhere;
      WB_UNROLL for (int j = 0; j < levels; j++) {
        re[j] = fnma(g, static_cast<float>(j), p.re);
        im[j] = fnma(g, static_cast<float>(j), p.im);
        least_re = min(least_re, abs(re[j]));
        least_im = min(least_im, abs(im[j]));
      }
      const typename of_parent::range row = of_parent::range_of(re, least_im, p.distance, limit),
                                      column = of_parent::range_of(im, least_re, p.distance, limit);
      rows = max(rows, row.count);
      columns = max(columns, column.count);
      const I begin = as_int(fma(min(column.first, 7.f), 8.f, min(row.first, 7.f) + rounder)) & 63;
      open_[i * W::size].steps = p.steps | begin << begin_bit;
    }
    return {nearest_integer(warp_.max_all(rows)), nearest_integer(warp_.max_all(columns))};
  }
  /// Chooses among the children in windows.
  template <int Columns>
  WB_HD void choose_of_windows(const kbest_bounds& b, float g, int parents_per_thread, int rows, int keep) {
    const auto for_each = [&](auto f) WB_INLINE_LAMBDA {
      WB_ROLL for (int i = 0; i < parents_per_thread; i++) {
        const kbest_parent p = open_[i * W::size];
        const float last_row = static_cast<float>(levels) - small_float(rows);
        float row = min(small_float(p.steps >> begin_bit & 7), last_row);
        const float column =
            min(small_float(p.steps >> (begin_bit + 3) & 7), static_cast<float>(levels - Columns));
        float im[Columns];
        WB_UNROLL for (int j = 0; j < Columns; j++) im[j] = fnma(g, column + static_cast<float>(j), p.im);
        I steps = (p.steps & ((1 << begin_bit) - 1)) << 2 * B;
        steps += as_int(fma(row, static_cast<float>(levels), column + rounder)) & (points - 1);
        WB_ROLL for (int r = 0; r < rows; r++) {
          const float re = fnma(g, row, p.re), above = fma(re, re, p.distance);
          WB_UNROLL for (int j = 0; j < Columns; j++) f(j, fma(im[j], im[j], above), steps + j);
          row += 1.f;
          steps += levels;
        }
      }
    };
    choice_.template choose_listed<2 * P>(b, for_each, keep, b.high);
    parents_ = keep;
  }

  WB_HD parent parent_at(int q, int k) const {
    parent p;
    p.valid = q < parents_;
    const kbest_path path = paths_[q];
    p.distance = p.valid ? path.distance : nowhere;
    p.steps = p.valid ? path.steps : 0;
    cx<float> w = {use_.w(k, 0), use_.w(k, 1)};
    WB_UNROLL for (int j = 1; j < n; j++) {
      if (j <= k) continue;
      const I steps = p.steps >> 2 * B * (j - k - 1), low = levels - 1;
      w = fnma(cx<float>{use_.above(k, j, 0), use_.above(k, j, 1)},
               cx<float>{small_float(steps >> B & low), small_float(steps & low)}, w);
    }
    p.re = w.re;
    p.im = w.im;
    const float slope = use_.slope(k);
    p.row = of_parent::window_of(w.re, slope);
    p.column = of_parent::window_of(w.im, slope);
    return p;
  }
  /// Chooses among all children. `least`: of this thread's; `high`: a bound of the K-th least.
  template <int Q>
  WB_HD void over_all(const parent (&p)[Q], float g, float least, I high, int keep) {
    const auto for_each = [&](auto f) WB_INLINE_LAMBDA {
      WB_UNROLL for (int i = 0; i < Q; i++) {
        const I base = p[i].steps << 2 * B;
        WB_ROLL for (int row = 0; row < levels; row++) {
          const float re = fnma(g, small_float(row), p[i].re), above = fma(re, re, p[i].distance);
          WB_UNROLL for (int j = 0; j < levels; j++) {
            const float im = fnma(g, static_cast<float>(j), p[i].im);
            f(j, fma(im, im, above), base + (row << B | j));
          }
        }
      }
    };
    const kbest_bounds b{as_int(warp_.min_all(least)) - 1, high, 0.f, 0.f, 0};
    choice_.template choose_listed<2 * P>(b, for_each, keep, high);
    parents_ = keep;
  }

  /// Turns steps into labels, and fills up the paths so that all threads which share them read as many.
  WB_HD void take_labels() {
    constexpr I half = levels / 2 - 1, of_symbol = half << B | half;
    constexpr I lower = of_symbol | of_symbol << 2 * B | of_symbol << 4 * B | of_symbol << 6 * B;
    for (int p = warp_.rank; p < padded(); p += W::size) {
      if (p < parents_) {
        I& word = paths_[p].steps;
        word = word ^ (word >> 1 & lower);
      } else {
        paths_[p] = {unreached, 0};
      }
    }
    warp_.sync();
  }
  WB_HD int padded() const { return (parents_ + 15) / 16 * 16; }

  W warp_;
  use use_;
  kbest_path* paths_;
  kbest_choice<W> choice_;
  kbest_parent* open_;  // this thread's are W::size apart
  int survivors_, parents_ = 0;
};

}  // namespace WB_ISA
}  // namespace wb
