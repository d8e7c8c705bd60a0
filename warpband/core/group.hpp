#pragma once
// Groups: the threads that share one problem. A body strides its work over the group,
//   for (int i = g.rank; i < n; i += g.size) ...
// calls g.sync() between phases, and writes nothing in a phase that another thread reads in it.
#include <warpband/core/lane.hpp>

namespace wb {
inline namespace WB_ISA {

/// Sets a flag that other threads of the group may set at the same time.
WB_HD void set_flag(std::int32_t* flag) {
#if defined(__CUDACC__)
  atomicExch(flag, 1);
#else
  *flag = 1;
#endif
}

/// Adds to a number that other threads of the group may add to at the same time.
WB_HD void add_to(std::int32_t* sum, std::int32_t x) {
#if defined(__CUDACC__)
  atomicAdd(sum, x);
#else
  *sum += x;
#endif
}

/// One thread has the problem (or the W problems of its lanes) to itself.
struct solo {
  static constexpr int rank = 0, size = 1;
  WB_HD void sync() const {}
  /// Per lane: is the condition true for any thread of the group?
  template <class M>
  WB_HD M any(M m) const {
    return m;
  }
  /// Per lane: exclusive-or and sum over the group.
  template <class I>
  WB_HD I xor_all(I x) const {
    return x;
  }
  template <class I>
  WB_HD I sum_all(I x) const {
    return x;
  }
  /// Per lane: the largest x of the group. Not negative.
  template <class T>
  WB_HD T max_all(T x) const {
    return x;
  }
  /// Per lane: sum of x over the threads of lower rank.
  template <class I>
  WB_HD I sum_before(I) const {
    return I(0);
  }
  /// x of the thread whose rank differs in the bits of `step`.
  template <class X>
  WB_HD X exchange(X x, int) const {
    return x;
  }
};

#if defined(__CUDACC__)
/// S neighbouring threads of a CUDA warp share the problem; S a power of two up to 32.
template <int S>
struct tile {
  static_assert(S > 1 && S <= 32 && (S & (S - 1)) == 0);
  static constexpr int size = S;
  int rank;
  unsigned members;
  __device__ __forceinline__ tile() : rank(static_cast<int>(threadIdx.x) % S), members(0xffffffffu) {
    if constexpr (S < 32) members = ((1u << S) - 1u) << (static_cast<int>(threadIdx.x) % 32 / S * S);
  }
  WB_HD void sync() const { __syncwarp(members); }
  WB_HD bool any(bool m) const { return __any_sync(members, m) != 0; }
  WB_HD std::int32_t xor_all(std::int32_t x) const {
    return static_cast<std::int32_t>(__reduce_xor_sync(members, static_cast<unsigned>(x)));
  }
  WB_HD std::int32_t sum_all(std::int32_t x) const {
    return static_cast<std::int32_t>(__reduce_add_sync(members, static_cast<unsigned>(x)));
  }
  WB_HD float max_all(float x) const {  // floats that are not negative are ordered as integers
    return as_float(static_cast<std::int32_t>(__reduce_max_sync(members, static_cast<unsigned>(as_int(x)))));
  }
  WB_HD std::int32_t sum_before(std::int32_t x) const {
    std::int32_t sum = x;
    WB_UNROLL for (int step = 1; step < S; step *= 2) {
      const std::int32_t below = __shfl_up_sync(members, sum, step, S);
      if (rank >= step) sum += below;
    }
    return sum - x;
  }
  template <class X>
  WB_HD X exchange(X x, int step) const {
    return __shfl_xor_sync(members, x, step, S);
  }
};

/// A CUDA thread block has the problem. `S` threads, or as many as the launch has with S = 0; whole warps.
template <int S = 0>
struct block {
  int rank, size;
  std::int32_t* shared;  // one word for reductions
  __device__ __forceinline__ block(std::int32_t* word)
      : rank(static_cast<int>(threadIdx.x)), size(S ? S : static_cast<int>(blockDim.x)), shared(word) {}
  WB_HD void sync() const { __syncthreads(); }
  WB_HD bool any(bool m) const { return __syncthreads_or(m) != 0; }
  WB_HD std::int32_t xor_all(std::int32_t x) const {
    const unsigned part = __reduce_xor_sync(0xffffffffu, static_cast<unsigned>(x));
    return combine([&] { atomicXor(shared, static_cast<std::int32_t>(part)); });
  }
  WB_HD std::int32_t sum_all(std::int32_t x) const {
    const unsigned part = __reduce_add_sync(0xffffffffu, static_cast<unsigned>(x));
    return combine([&] { atomicAdd(shared, static_cast<std::int32_t>(part)); });
  }
  WB_HD float max_all(float x) const {
    const unsigned part = __reduce_max_sync(0xffffffffu, static_cast<unsigned>(as_int(x)));
    return as_float(combine([&] { atomicMax(shared, static_cast<std::int32_t>(part)); }));
  }

 private:
  /// One thread of each warp adds its part to the shared word.
  template <class F>
  WB_HD std::int32_t combine(F add) const {
    if (rank == 0) *shared = 0;
    __syncthreads();
    if (rank % 32 == 0) add();
    __syncthreads();
    const std::int32_t x = *shared;
    __syncthreads();
    return x;
  }
};
#endif

}  // namespace WB_ISA
}  // namespace wb
