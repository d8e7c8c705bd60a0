#pragma once
// Which K of many children stay: those with the least distances and, at the K-th least one, those that come
// first in the order of their steps. Found by counting how many children are up to a bound, which is
// interpolated between the counts of two others: about six rounds end with exactly K.
#include <warpband/core/rounding.hpp>
#include <warpband/core/warp_part.hpp>

namespace wb {
inline namespace WB_ISA {

/// Steps of all antennas so far in one word, of the last one lowest: of each the real part above the
/// imaginary one.
struct alignas(8) kbest_path {
  float distance;
  std::int32_t steps;
};
inline constexpr float kbest_nowhere = 3.2e38f;  // distance of what is no path

/// An integer up to 2^22 as a float.
WB_HD float small_float(std::int32_t x) { return as_float(x | rounder_bits) - rounder; }

/// Bits of floats: at most low are fewer than K, at most high K or more.
struct kbest_bounds {
  std::int32_t low, high;
  float low_count, high_count;  // high_count: a guess, too large to stop at, until a round counts
  std::int32_t thread_count;    // of high_count, this thread's
};

/// W: warp_part. All threads of the warp call all methods together. `for_each(f)` calls f(i, distance, steps)
/// for a thread's children in the order of their steps. These come before those of threads of higher rank. i
/// mod 4 is known when f is compiled.
template <class W>
struct kbest_choice {
  using I = std::int32_t;
  W warp;
  kbest_path* paths;  // in shared memory: those that stay

  /// A bound of which about K children could be below: between the two by their counts.
  WB_HD static I between(const kbest_bounds& b, float keep) {
    const float x = b.high_count - b.low_count + 1.f;
    const float rough = as_float(0x7ef311c3 - as_int(x)), inverse = rough * fnma(x, rough, 2.f);
    const float part = min(max((keep - b.low_count + 0.5f) * inverse, 0.05f), 0.95f);
    const float low = as_float(b.low < 0 ? 0 : b.low);
    return as_int(fma(as_float(b.high) - low, part, low));
  }
  /// Brings the bounds together until K to `stop` children are up to the upper one, or they are neighbours.
  /// `trial` is the first to try.
  template <class Each>
  WB_HD void narrow(kbest_bounds& b, Each for_each, float keep, float stop, I trial) const {
    bool open = b.high_count > stop && b.low + 1 < b.high;
    for (int round = 1; warp.any(open); round++) {
      const float limit = as_float(trial);
      float sums[4] = {0.f, 0.f, 0.f, 0.f};
      for_each([&](int i, float d, I)
                   WB_INLINE_LAMBDA { sums[i % 4] = d <= limit ? sums[i % 4] + 1.f : sums[i % 4]; });
      const I thread_count = nearest_integer((sums[0] + sums[1]) + (sums[2] + sums[3]));
      const float warp_count = to_float(warp.sum(thread_count));
      if (open && warp_count >= keep) {
        b.high = trial;
        b.high_count = warp_count;
        b.thread_count = thread_count;
      } else if (open) {
        b.low = trial;
        b.low_count = warp_count;
      }
      open = open && b.high_count > stop && b.low + 1 < b.high;
      // Every fourth round halves the interval of bits, so that it ends.
      trial = round % 4 == 3 ? b.low + ((b.high - b.low) >> 1) : between(b, keep);
    }
  }
  /// The K children that stay become the paths.
  template <class Each>
  WB_HD void choose(const kbest_bounds& b, Each for_each, int keep) const {
    const bool exact = b.high_count == static_cast<float>(keep);
    if (!warp.any(!exact)) {
      const float limit = as_float(b.high);
      I target = warp.sum_before(b.thread_count);
      for_each([&](int, float d, I steps) WB_INLINE_LAMBDA {
        if (d <= limit) paths[target++] = {d, steps};
      });
    } else {
      choose_of_equal(b, for_each, keep, exact);
    }
    warp.sync();
  }
  /// The same where more children are at the K-th least distance than stay.
  template <class Each>
  WB_HD void choose_of_equal(const kbest_bounds& b, Each for_each, int keep, bool exact) const {
    const float limit = as_float(exact ? b.high + 1 : b.high);
    const I ties = exact ? 0 : keep - nearest_integer(b.low_count);  // that stay
    I below = 0, equal = 0;
    for_each([&](int, float d, I) WB_INLINE_LAMBDA {
      below += d < limit ? 1 : 0;
      equal += d == limit ? 1 : 0;
    });
    I tied = warp.sum_before(equal);
    I thread_ties = ties - tied;  // of those, this thread's
    thread_ties = thread_ties < 0 ? 0 : thread_ties < equal ? thread_ties : equal;
    I target = warp.sum_before(below + thread_ties);
    for_each([&](int, float d, I steps) WB_INLINE_LAMBDA {
      const bool same = d == limit, stays = d < limit || (same && tied < ties);
      if (stays) paths[target++] = {d, steps};
      tied += same ? 1 : 0;
    });
  }
  /// The same, where looking at a child takes long: first up to V children a thread are listed, then the K
  /// are chosen from these. `trial`: a bound to try first.
  template <int V, class Each>
  WB_HD void choose_listed(kbest_bounds b, Each for_each, int keep, I trial) const {
    constexpr int room = V * W::size;
    const float enough = static_cast<float>(keep);
    b.high_count = static_cast<float>(room + 1);
    narrow(b, for_each, enough, static_cast<float>(room), trial);
    if (warp.any(b.high_count > static_cast<float>(room))) {  // too many at equal distances
      narrow(b, for_each, enough, enough, between(b, enough));
      choose(b, for_each, keep);
      return;
    }
    I target = warp.sum_before(b.thread_count);
    for_each([&](int, float d, I steps) WB_INLINE_LAMBDA {
      if (d <= as_float(b.high)) paths[target++] = {d, steps};
    });
    warp.sync();
    const I left = nearest_integer(b.high_count) - warp.rank * V;
    kbest_path listed[V];
    WB_UNROLL for (int i = 0; i < V; i++) {
      listed[i] = paths[warp.rank * V + i];
      listed[i].distance = i < left ? listed[i].distance : kbest_nowhere;
    }
    warp.sync();
    b.thread_count = left < 0 ? 0 : left < V ? left : V;
    const auto each_of_list = [&](auto f) WB_INLINE_LAMBDA {
      WB_UNROLL for (int i = 0; i < V; i++) f(i, listed[i].distance, listed[i].steps);
    };
    narrow(b, each_of_list, enough, enough, between(b, enough));
    choose(b, each_of_list, keep);
  }
};

}  // namespace WB_ISA
}  // namespace wb
