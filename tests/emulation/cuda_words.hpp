#pragma once
// The words and functions of CUDA C++ that kernels of frames use, for a compiler of the host: with them a
// kernel's source is ordinary code for one thread of an emulated block (emulated_block.hpp). Include it
// before the kernel.
#include <cmath>
#include <cstdint>
#include <cstring>

#include <tests/emulation/emulated_block.hpp>

#define __CUDACC__ 1
#define __device__
#define __host__
#define __forceinline__ inline
#define __global__
#define __launch_bounds__(...)
#define __grid_constant__
#define __shared__
#define __align__(n) __attribute__((aligned(n)))

struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(4) short2 {
  short x, y;
};

namespace wb::emulation {
template <class T>
std::uint64_t bits_of(T x) {
  std::uint64_t b = 0;
  std::memcpy(&b, &x, sizeof x);
  return b;
}
template <class T>
T value_of(std::uint64_t bits) {
  T x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}
}  // namespace wb::emulation

inline const wb::emulation::index3& threadIdx = wb::emulation::thread_index;
inline const wb::emulation::index3& blockIdx = wb::emulation::block_index;
inline const wb::emulation::index3& blockDim = wb::emulation::block_size;
inline const wb::emulation::index3& gridDim = wb::emulation::grid_size;

inline void __syncwarp(unsigned lanes = 0xffffffffu) { wb::emulation::exchange(lanes, 0); }
inline void __syncthreads() { wb::emulation::meet(0, static_cast<int>(blockDim.x)); }
template <class T>
T __shfl_sync(unsigned lanes, T x, int from, int width = 32) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const std::uint64_t* words = wb::emulation::exchange(lanes, wb::emulation::bits_of(x));
  return wb::emulation::value_of<T>(words[(lane & ~(width - 1)) | (from & (width - 1))]);
}
template <class T>
T __shfl_xor_sync(unsigned lanes, T x, int step, int = 32) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  return wb::emulation::value_of<T>(wb::emulation::exchange(lanes, wb::emulation::bits_of(x))[lane ^ step]);
}
inline unsigned __ballot_sync(unsigned lanes, int x) {
  const std::uint64_t* words = wb::emulation::exchange(lanes, x != 0);
  unsigned ballot = 0;
  for (unsigned i = 0; i < 32; i++)
    if ((lanes >> i & 1) != 0 && words[i] != 0) ballot |= 1u << i;
  return ballot;
}
inline int __all_sync(unsigned lanes, int x) { return __ballot_sync(lanes, x) == lanes; }
inline int __any_sync(unsigned lanes, int x) { return __ballot_sync(lanes, x) != 0; }

inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline float __fsqrt_rn(float x) { return std::sqrt(x); }
inline float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1.f) : 0.f; }
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<std::uint64_t>(a) * b >> 32);
}
inline unsigned __float_as_uint(float x) {
  return wb::emulation::value_of<unsigned>(wb::emulation::bits_of(x));
}
inline float __uint_as_float(unsigned x) { return wb::emulation::value_of<float>(wb::emulation::bits_of(x)); }

template <class T>
T __shfl_up_sync(unsigned lanes, T x, unsigned step, int width = 32) {
  const unsigned lane = threadIdx.x % 32, in = lane % static_cast<unsigned>(width);
  const std::uint64_t* words = wb::emulation::exchange(lanes, wb::emulation::bits_of(x));
  return wb::emulation::value_of<T>(words[in < step ? lane : lane - step]);
}
template <class F>
unsigned reduced(unsigned lanes, unsigned x, F join) {
  const std::uint64_t* words = wb::emulation::exchange(lanes, x);
  unsigned sum = 0;
  for (unsigned i = 0; i < 32; i++)
    if ((lanes >> i & 1) != 0) sum = join(sum, static_cast<unsigned>(words[i]));
  return sum;
}
inline unsigned __reduce_xor_sync(unsigned lanes, unsigned x) {
  return reduced(lanes, x, [](unsigned a, unsigned b) { return a ^ b; });
}
inline unsigned __reduce_add_sync(unsigned lanes, unsigned x) {
  return reduced(lanes, x, [](unsigned a, unsigned b) { return a + b; });
}
inline unsigned __reduce_max_sync(unsigned lanes, unsigned x) {
  return reduced(lanes, x, [](unsigned a, unsigned b) { return a > b ? a : b; });
}
inline int __syncthreads_or(int x) { return wb::emulation::any_of_block(x != 0); }
// Fibres give way nowhere else: these are atomic.
template <class T>
T atomicExch(T* to, T x) {
  const T before = *to;
  *to = x;
  return before;
}
template <class T>
T atomicXor(T* to, T x) {
  return atomicExch(to, static_cast<T>(*to ^ x));
}
template <class T>
T atomicAdd(T* to, T x) {
  return atomicExch(to, static_cast<T>(*to + x));
}
template <class T>
T atomicMax(T* to, T x) {
  return atomicExch(to, *to < x ? x : *to);
}
