#pragma once
// Parts of a CUDA warp that work on neighbouring problems in step: all threads of the warp call each
// collective together, so that one instruction serves all parts.
#include <warpband/core/group.hpp>

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)
/// S neighbouring threads of a warp, 16 or all 32. Sums and counts are below 2^16.
template <int S>
struct warp_part {
  static_assert(S == 16 || S == 32);
  static constexpr int size = S, parts = 32 / S;
  int rank, part;
  __device__ __forceinline__ warp_part()
      : rank(static_cast<int>(threadIdx.x) % S), part(static_cast<int>(threadIdx.x) % 32 / S) {}
  WB_HD void sync() const { __syncwarp(); }
  /// x of the thread whose rank differs in the bits of `step`.
  WB_HD float exchange(float x, int step) const { return __shfl_xor_sync(0xffffffffu, x, step, 32); }
  /// Is the condition true for any thread of the warp?
  WB_HD bool any(bool m) const { return __any_sync(0xffffffffu, m) != 0; }
  // The others are over the threads of the part.
  WB_HD std::int32_t sum(std::int32_t x) const {
    if constexpr (S == 32) return __reduce_add_sync(0xffffffffu, x);
    const unsigned sums = __reduce_add_sync(0xffffffffu, static_cast<unsigned>(x) << (16 * part));
    return static_cast<std::int32_t>(sums >> (16 * part) & 0xffffu);
  }
  /// Sum of x over the threads of lower rank.
  WB_HD std::int32_t sum_before(std::int32_t x) const {
    std::int32_t sum = x;
    WB_UNROLL for (int step = 1; step < S; step *= 2) {
      const std::int32_t below = __shfl_up_sync(0xffffffffu, sum, static_cast<unsigned>(step), S);
      if (rank >= step) sum += below;
    }
    return sum - x;
  }
  /// Of numbers that are not negative, which are ordered as integers.
  WB_HD float min_all(float x) const {
    if constexpr (S == 32) return as_float(as_int(__reduce_min_sync(0xffffffffu, as_uint(as_int(x)))));
    return in_pairs(x, [](float a, float b) { return min(a, b); });
  }
  WB_HD float max_all(float x) const {
    if constexpr (S == 32) return as_float(as_int(__reduce_max_sync(0xffffffffu, as_uint(as_int(x)))));
    return in_pairs(x, [](float a, float b) { return max(a, b); });
  }

 private:
  template <class F>
  WB_HD float in_pairs(float x, F f) const {
    WB_UNROLL for (int step = 1; step < S; step *= 2) x = f(x, __shfl_xor_sync(0xffffffffu, x, step, S));
    return x;
  }
};
#endif

}  // namespace WB_ISA
}  // namespace wb
