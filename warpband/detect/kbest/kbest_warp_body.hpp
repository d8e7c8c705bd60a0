#pragma once
// The K-best search of 4x4, 16- and 64-QAM, by the threads of a CUDA warp or of half of one, with what they
// compare in registers. It keeps the same paths as kbest_search.
//
// A thread has up to P parents and, of each, the children in a window of 4x4 steps around the nearest one: of
// 16-QAM all. The K-th least distance is found by counting how many are up to a bound. The bound is
// interpolated between the counts of two others, so that about six rounds end with exactly K. Where a child
// outside a window could be one of them, the search goes over all children.
//
// Paths lie in the order of their steps, from the top of the tree down, and so do the children of a thread:
// where distances equal the K-th least one, the first of them stay.
#include <warpband/core/rounding.hpp>
#include <warpband/core/warp_part.hpp>
#include <warpband/detect/lattice_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// Steps of all antennas so far in one word, of the last one lowest: of each the real part above the
/// imaginary one.
struct alignas(8) kbest_path {
  float distance;
  std::int32_t steps;
};
/// A path that is a parent, with what is left of w.
struct alignas(16) kbest_parent {
  float distance, re, im;
  std::int32_t steps;
};

/// What a search needs of a use of four antennas: numbers `stride` apart in shared memory, so that threads
/// which write one use each meet no conflict of banks.
struct kbest_use {
  static constexpr int n = 4, stride = 32, size = 4 * n + 2 * n * n + 3;
  float* first;

  WB_HD float& at(int i) const { return first[i * stride]; }
  WB_HD float& g(int k) const { return at(k); }
  WB_HD float& slope(int k) const { return at(n + k); }
  WB_HD float& w(int k, int part) const { return at((2 + part) * n + k); }
  WB_HD float& above(int k, int j, int part) const { return at((4 + part * n + k) * n + j); }
  WB_HD float& scale() const { return at(size - 3); }
  WB_HD float& good() const { return at(size - 2); }   // bits of 0 or 1
  WB_HD float& order() const { return at(size - 1); }  // bits of an order of streams

  WB_HD void set(const lattice<fixed<n>, float>& m) const {
    WB_UNROLL for (int k = 0; k < n; k++) {
      g(k) = m.g[k];
      slope(k) = m.slope[k];
      w(k, 0) = m.w[k].re;
      w(k, 1) = m.w[k].im;
      WB_UNROLL for (int j = k + 1; j < n; j++) {
        above(k, j, 0) = m.above[k][j].re;
        above(k, j, 1) = m.above[k][j].im;
      }
    }
  }
};

/// W: warp_part. All threads of the warp call all methods together.
template <class W, int B, int P>
class kbest_warp_search {
  using I = std::int32_t;
  static_assert(B == 2 || B == 3);

 public:
  static constexpr int n = 4, levels = 1 << B, points = levels * levels;
  static constexpr int most = P * W::size;  // survivors

  /// Shared memory of a search.
  struct storage {
    kbest_parent parents[P > 2 ? most : 1];
    kbest_path paths[most];
  };
  WB_HD kbest_warp_search(W warp, kbest_use use, storage* memory, int survivors)
      : warp_(warp),
        use_(use),
        paths_(memory->paths),
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
  static constexpr int window = 4;
  static constexpr int begin_bit =
      24;  // of a parent's steps, above 2 B (n - 1) bits: where its window begins
  static constexpr float nowhere = 3.2e38f;  // distance of what is no path

  struct parent {
    float distance, re, im;  // re, im: what is left of w
    float row, column;       // where its window begins
    I steps;
    bool there;
  };
  /// Bits of floats: at most low are fewer than K, at most high K or more.
  struct bounds {
    I low, high;
    float low_count, high_count;  // high_count may be a guess other than K until a round lowers `high`
    I mine;                       // of high_count, this thread's
  };

  WB_HD static float small_float(I x) { return as_float(x | rounder_bits) - rounder; }

  /// The children of the root, four to a thread.
  WB_HD void first() {
    constexpr int per_row = levels / 4;
    const bool there = warp_.rank < points / 4;
    const float g = use_.g(n - 1);
    const float re = fnma(g, small_float(warp_.rank / per_row), use_.w(n - 1, 0)), above = fma(re, re, 0.f);
    const float column = small_float(warp_.rank % per_row * 4), wi = use_.w(n - 1, 1);
    float c[4], near = nowhere, far = 0.f;
    WB_UNROLL for (int i = 0; i < 4; i++) {
      const float im = fnma(g, column + static_cast<float>(i), wi);
      c[i] = there ? fma(im, im, above) : nowhere;
      near = min(near, c[i]);
      far = there ? max(far, c[i]) : far;
    }
    const I four = warp_.rank * 4;
    const auto each = [&](auto f)
                          WB_INLINE_LAMBDA { WB_UNROLL for (int i = 0; i < 4; i++) f(i, c[i], four + i); };
    const int keep = survivors_ < points ? survivors_ : points;
    bounds b{as_int(warp_.min_all(near)) - 1, as_int(warp_.max_all(far)), 0.f, static_cast<float>(points),
             there ? 4 : 0};
    narrow(b, each, static_cast<float>(keep), between(b, static_cast<float>(keep)));
    choose(b, each, keep);
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
      near[i] = children(p[i], g, c[i]);
      most_near = p[i].there ? max(most_near, near[i]) : most_near;
    }
    bounds b;
    if (parents_ >= keep) {
      b.high = as_int(1.1f * warp_.max_all(most_near));
      b.high_count = 2.f * static_cast<float>(keep);
      b.mine = 0;
    } else {
      b.mine = 0;
      WB_UNROLL for (int i = 0; i < Q; i++) {
        WB_UNROLL for (int j = 0; j < window * window; j++) far = p[i].there ? max(far, c[i][j]) : far;
        b.mine += p[i].there ? window * window : 0;
      }
      b.high = as_int(warp_.max_all(far));
      b.high_count = static_cast<float>(window * window * parents_);
    }
    float least = near[0];
    WB_UNROLL for (int i = 1; i < Q; i++) least = min(least, near[i]);
    b.low = as_int(warp_.min_all(least)) - 1;
    b.low_count = 0.f;
    const auto each = [&](auto f) WB_INLINE_LAMBDA {
      WB_UNROLL for (int i = 0; i < Q; i++) {
        const I base = (p[i].steps << 2 * B) + window_steps(p[i]);
        WB_UNROLL for (int j = 0; j < window * window; j++)
            f(j, c[i][j], base + (j / window << B | j % window));
      }
    };
    narrow(b, each, static_cast<float>(keep), between(b, static_cast<float>(keep)));
    if constexpr (levels > window) {
      float outer[Q];
      bool outside = false;
      WB_UNROLL for (int i = 0; i < Q; i++) {
        outer[i] = nearest_outside(p[i], g);
        outside = outside || outer[i] <= as_float(b.high);
        least = min(least, outer[i]);
      }
      if (warp_.any(outside)) {
        over_all<Q>(p, g, least, b.high, keep);
        return;
      }
    }
    choose(b, each, keep);
  }

  /// A level of more than two parents a thread. A bound of the K-th least distance comes from the 2x2
  /// children nearest to each parent, in registers. Then the parents' children that can be up to it are
  /// counted from shared memory, in as many rows and columns as any parent needs.
  WB_HD void expand_many(int k) {
    const int keep = survivors_, mine = (parents_ + W::size - 1) / W::size;
    const float g = use_.g(k);
    float c[P][4], least = nowhere, most_near = 0.f;
    WB_UNROLL for (int i = 0; i < P; i++) {
      WB_UNROLL for (int j = 0; j < 4; j++) c[i][j] = nowhere;
      if (i >= mine) continue;
      const parent p = parent_at(warp_.rank * mine + i, k);
      open_[i * W::size] = {p.distance, p.re, p.im, p.steps};
      const float near = nearest_four(p, g, use_.slope(k), c[i]);
      least = min(least, near);
      most_near = p.there ? max(most_near, near) : most_near;
    }
    warp_.sync();
    const auto four = [&](auto f) WB_INLINE_LAMBDA {
      WB_UNROLL for (int i = 0; i < P; i++) WB_UNROLL for (int j = 0; j < 4; j++) f(j, c[i][j], 0);
    };
    bounds b{as_int(warp_.min_all(least)) - 1, as_int(1.1f * warp_.max_all(most_near)), 0.f,
             2.f * static_cast<float>(keep), 0};
    narrow(b, four, static_cast<float>(keep), between(b, static_cast<float>(keep)));
    const extent most_of = place_windows(g, mine, as_float(b.high));
    b = {-1, b.high, 0.f, static_cast<float>(keep + 1), 0};
    if (most_of.columns <= 4)
      choose_of_windows<4>(b, g, mine, most_of.rows, keep);
    else
      choose_of_windows<levels>(b, g, mine, most_of.rows, keep);
  }
  /// The distances of the 2x2 children around the nearest one. Returns the least.
  WB_HD static float nearest_four(const parent& p, float g, float slope, float (&c)[4]) {
    const auto from = [&](float w) WB_INLINE_LAMBDA {
      const float step = round_to_even(fma(unit_clamp(w * slope), static_cast<float>(levels - 1), -0.5f));
      return min(max(step, 0.f), static_cast<float>(levels - 2));
    };
    const float row = from(p.re), column = from(p.im);
    WB_UNROLL for (int i = 0; i < 4; i++) {
      const float re = fnma(g, row + static_cast<float>(i / 2), p.re),
                  im = fnma(g, column + static_cast<float>(i % 2), p.im);
      c[i] = fma(im, im, fma(re, re, p.distance));
    }
    return min(min(c[0], c[1]), min(c[2], c[3]));
  }
  struct extent {
    int rows, columns;
  };
  /// The steps of a dimension whose error may be up to a limit: neighbours, as errors have one minimum.
  struct range {
    float first, count;
  };
  WB_HD static range range_of(const float (&error)[levels], float other, float distance, float limit) {
    range r{0.f, 0.f};
    WB_UNROLL for (int j = 0; j < levels; j++) {
      const bool fits = fma(other, other, fma(error[j], error[j], distance)) <= limit;
      r.count = fits ? r.count + 1.f : r.count;
      r.first = !fits && error[j] > 0.f ? r.first + 1.f : r.first;
    }
    return r;
  }
  /// Notes for each parent where its children up to a limit begin. Returns the most rows and columns of them.
  WB_HD extent place_windows(float g, int mine, float limit) {
    float rows = 1.f, columns = 1.f;
    WB_ROLL for (int i = 0; i < mine; i++) {
      const kbest_parent p = open_[i * W::size];
      float re[levels], im[levels], least_re = nowhere, least_im = nowhere;
      WB_UNROLL for (int j = 0; j < levels; j++) {
        re[j] = fnma(g, static_cast<float>(j), p.re);
        im[j] = fnma(g, static_cast<float>(j), p.im);
        least_re = min(least_re, abs(re[j]));
        least_im = min(least_im, abs(im[j]));
      }
      const range row = range_of(re, least_im, p.distance, limit),
                  column = range_of(im, least_re, p.distance, limit);
      rows = max(rows, row.count);
      columns = max(columns, column.count);
      const I begin = as_int(fma(min(column.first, 7.f), 8.f, min(row.first, 7.f) + rounder)) & 63;
      open_[i * W::size].steps = p.steps | begin << begin_bit;
    }
    return {nearest_integer(warp_.max_all(rows)), nearest_integer(warp_.max_all(columns))};
  }
  /// Chooses among the children in windows.
  template <int Columns>
  WB_HD void choose_of_windows(bounds& b, float g, int mine, int rows, int keep) {
    const auto each = [&](auto f) WB_INLINE_LAMBDA {
      WB_ROLL for (int i = 0; i < mine; i++) {
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
    narrow(b, each, static_cast<float>(keep), b.high);
    choose(b, each, keep);
  }

  WB_HD parent parent_at(int q, int k) const {
    parent p;
    p.there = q < parents_;
    const kbest_path path = paths_[q];
    p.distance = p.there ? path.distance : nowhere;
    p.steps = p.there ? path.steps : 0;
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
    p.row = window_of(w.re, slope);
    p.column = window_of(w.im, slope);
    return p;
  }
  /// The step where the window of a dimension begins.
  WB_HD static float window_of(float w, float slope) {
    if constexpr (levels == window) return 0.f;
    const float step = round_to_even(fma(unit_clamp(w * slope), static_cast<float>(levels - 1), -1.5f));
    return min(max(step, 0.f), static_cast<float>(levels - window));
  }
  WB_HD static I window_steps(const parent& p) {
    if constexpr (levels == window) return 0;
    return as_int(fma(p.row, static_cast<float>(levels), p.column + rounder)) & (points - 1);
  }
  /// The distances of the children in a parent's window, in the order of their steps. Returns the least.
  WB_HD static float children(const parent& p, float g, float (&c)[window * window]) {
    float im[window], least_im = nowhere, least_above = as_float(0x7f800000);
    WB_UNROLL for (int j = 0; j < window; j++) {
      im[j] = fnma(g, p.column + static_cast<float>(j), p.im);
      least_im = min(least_im, abs(im[j]));
    }
    WB_UNROLL for (int i = 0; i < window; i++) {
      const float re = fnma(g, p.row + static_cast<float>(i), p.re), above = fma(re, re, p.distance);
      least_above = min(least_above, above);
      WB_UNROLL for (int j = 0; j < window; j++) c[i * window + j] = fma(im[j], im[j], above);
    }
    return fma(least_im, least_im, least_above);
  }
  /// The least error of a dimension inside a window that begins at `from`, and right outside it.
  struct errors {
    float inside, outside;
  };
  WB_HD static errors errors_of(float w, float g, float from) {
    errors e{nowhere, nowhere};
    WB_UNROLL for (int j = 0; j < window; j++) e.inside =
        min(e.inside, abs(fnma(g, from + static_cast<float>(j), w)));
    const float below = abs(fnma(g, from - 1.f, w)),
                beyond = abs(fnma(g, from + static_cast<float>(window), w));
    e.outside = from > 0.f ? below : nowhere;
    e.outside = from < static_cast<float>(levels - window) ? min(e.outside, beyond) : e.outside;
    return e;
  }
  /// No child outside the window has a lesser distance.
  WB_HD static float nearest_outside(const parent& p, float g) {
    const errors re = errors_of(p.re, g, p.row), im = errors_of(p.im, g, p.column);
    const float best_re = min(re.inside, re.outside), best_im = min(im.inside, im.outside);
    return min(fma(best_im, best_im, fma(re.outside, re.outside, p.distance)),
               fma(im.outside, im.outside, fma(best_re, best_re, p.distance)));
  }
  /// Chooses among all children. `least`: of this thread's; `high`: a bound of the K-th least.
  template <int Q>
  WB_HD void over_all(const parent (&p)[Q], float g, float least, I high, int keep) {
    const auto each = [&](auto f) WB_INLINE_LAMBDA {
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
    bounds b{as_int(warp_.min_all(least)) - 1, high, 0.f, static_cast<float>(keep + 1), 0};
    narrow(b, each, static_cast<float>(keep), high);
    choose(b, each, keep);
  }

  /// A bound of which about K children could be below: between the two by their counts.
  WB_HD static I between(const bounds& b, float keep) {
    const float x = b.high_count - b.low_count + 1.f;
    const float rough = as_float(0x7ef311c3 - as_int(x)), inverse = rough * fnma(x, rough, 2.f);
    const float part = min(max((keep - b.low_count + 0.5f) * inverse, 0.05f), 0.95f);
    const float low = as_float(b.low < 0 ? 0 : b.low);
    return as_int(fma(as_float(b.high) - low, part, low));
  }
  /// Brings the bounds together until K children are up to the upper one, or they are neighbours. `trial` is
  /// the first to try.
  template <class Each>
  WB_HD void narrow(bounds& b, Each each, float keep, I trial) const {
    bool open = !(b.high_count == keep) && b.low + 1 < b.high;
    for (int round = 1; warp_.any(open); round++) {
      const float limit = as_float(trial);
      float sums[4] = {0.f, 0.f, 0.f, 0.f};
      each([&](int i, float d, I)
               WB_INLINE_LAMBDA { sums[i % 4] = d <= limit ? sums[i % 4] + 1.f : sums[i % 4]; });
      const I mine = nearest_integer((sums[0] + sums[1]) + (sums[2] + sums[3]));
      const float all = small_float(warp_.sum(mine));
      if (open && all >= keep) {
        b.high = trial;
        b.high_count = all;
        b.mine = mine;
      } else if (open) {
        b.low = trial;
        b.low_count = all;
      }
      open = open && !(b.high_count == keep) && b.low + 1 < b.high;
      // Every fourth round halves the interval of bits, so that it ends.
      trial = round % 4 == 3 ? b.low + ((b.high - b.low) >> 1) : between(b, keep);
    }
  }
  /// The K children that stay become the paths.
  template <class Each>
  WB_HD void choose(const bounds& b, Each each, int keep) {
    const bool exact = b.high_count == static_cast<float>(keep);
    if (!warp_.any(!exact)) {
      const float limit = as_float(b.high);
      I at = warp_.sum_before(b.mine);
      each([&](int, float d, I steps) WB_INLINE_LAMBDA {
        if (d <= limit) paths_[at++] = {d, steps};
      });
    } else {
      choose_of_equal(b, each, keep, exact);
    }
    warp_.sync();
    parents_ = keep;
  }
  /// The same where more children are at the K-th least distance than stay.
  template <class Each>
  WB_HD void choose_of_equal(const bounds& b, Each each, int keep, bool exact) {
    const float limit = as_float(exact ? b.high + 1 : b.high);
    const I ties = exact ? 0 : keep - nearest_integer(b.low_count);  // that stay
    I below = 0, equal = 0;
    each([&](int, float d, I) WB_INLINE_LAMBDA {
      below += d < limit ? 1 : 0;
      equal += d == limit ? 1 : 0;
    });
    I tied = warp_.sum_before(equal);
    I mine = ties - tied;  // of those, this thread's
    mine = mine < 0 ? 0 : mine < equal ? mine : equal;
    I at = warp_.sum_before(below + mine);
    each([&](int, float d, I steps) WB_INLINE_LAMBDA {
      const bool same = d == limit, stays = d < limit || (same && tied < ties);
      if (stays) paths_[at++] = {d, steps};
      tied += same ? 1 : 0;
    });
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
  kbest_use use_;
  kbest_path* paths_;
  kbest_parent* open_;  // this thread's are W::size apart
  int survivors_, parents_ = 0;
};

}  // namespace WB_ISA
}  // namespace wb
