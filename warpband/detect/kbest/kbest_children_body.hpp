#pragma once
// The children of a path in a K-best search of 4x4, by steps of two dimensions. Errors of a dimension, w - g
// j rounded once, fall and then rise in magnitude with j, and so do distances.
#include <warpband/detect/kbest/kbest_choice_body.hpp>
#include <warpband/detect/kbest/kbest_warp_args.hpp>
#include <warpband/detect/lattice_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// What a search needs of a use of four antennas: numbers Uses apart in shared memory, so that threads which
/// write one use each meet no conflict of banks.
template <int Uses>
struct kbest_use {
  static constexpr int n = 4, stride = Uses, size = 4 * n + 2 * (n - 1) * (n - 1) + 3;
  float* first;

  WB_HD float& at(int i) const { return first[i * stride]; }
  WB_HD float& g(int k) const { return at(k); }
  WB_HD float& slope(int k) const { return at(n + k); }
  WB_HD float& w(int k, int part) const { return at((2 + part) * n + k); }
  WB_HD float& above(int k, int j, int part) const {
    return at(4 * n + (part * (n - 1) + k) * (n - 1) + j - 1);
  }
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

/// A path that is a parent, with what is left of w.
struct alignas(16) kbest_parent {
  float distance, re, im;
  std::int32_t steps;
};

/// B: bits of a dimension.
template <int B>
struct kbest_children {
  using I = std::int32_t;
  static constexpr int levels = 1 << B, points = levels * levels;
  static constexpr int window = 4;  // steps of a dimension that a thread has in registers
  static constexpr float nowhere = kbest_nowhere;

  struct parent {
    float distance, re, im;  // re, im: what is left of w
    float row, column;       // where its window begins
    I steps;
    bool valid;
  };
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
};

}  // namespace WB_ISA
}  // namespace wb
