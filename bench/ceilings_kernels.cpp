// Kernels that do nothing but keep one unit of a device busy: fp32 arithmetic, memory.
#include <bench/ceilings_args.hpp>
#include <cstdint>
#include <warpband/exec/launch.hpp>
#include <warpband/exec/op.hpp>

namespace wb {
inline namespace WB_ISA {

using bench::fp32_ceiling_args;
using bench::fp32_mix;
using bench::memory_ceiling_args;

// Chains that hide the latency of the units and fit into the registers (16 on x86 before AVX-512).
#if defined(__CUDACC__) || defined(__x86_64__)
inline constexpr int fp32_chains = 12;
#else
inline constexpr int fp32_chains = 24;
#endif
inline constexpr int fp32_steps = 8;  // of a round

template <fp32_mix Mix>
struct fp32_ceiling_op : thread_op<fp32_ceiling_args> {
  double flops() const { return 1.0 * fp32_chains * fp32_steps * a.rounds; }
  double bytes() const { return 4; }

  /// Operation n of a chain. No two maxima follow each other in a chain: they would be one.
  template <class T>
  WB_HD static T step(int n, T x, T one, T zero, T small) {
    if constexpr (Mix == fp32_mix::fma)
      return fma(x, one, small);
    else if constexpr (Mix == fp32_mix::fma_add)
      return n % 2 ? x + small : fma(x, one, small);
    else if constexpr (Mix == fp32_mix::fma_max)
      return n % 3 == 2 ? max(x, zero) : fma(x, one, small);
    else if constexpr (Mix == fp32_mix::add_max)
      return n % 2 ? max(x, zero) : x + small;
    else
      return n % 2 ? x + small : x * one;
  }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G, T*) const {
    const T one = T(a.values.data[0]), zero = T(a.values.data[1]), small = T(a.values.data[2]);
    T x[fp32_chains];
    WB_UNROLL for (int i = 0; i < fp32_chains; i++) x[i] = T(static_cast<float>(i)) + zero;
#if defined(__CUDACC__)
    long long ticks = clock64(), ns, end;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
#endif
    for (int round = 0; round < a.rounds; round++) {
      WB_UNROLL for (int j = 0; j < fp32_steps; j++) {
        WB_UNROLL for (int i = 0; i < fp32_chains; i++) x[i] = step(i + j, x[i], one, zero, small);
      }
    }
#if defined(__CUDACC__)
    if (item.first == 0) {
      asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(end));
      a.clock.data[0] = static_cast<float>(clock64() - ticks);
      a.clock.data[1] = static_cast<float>(end - ns);
    }
#endif
    WB_UNROLL for (int i = 1; i < fp32_chains; i++) x[0] = x[0] + x[i];
    store(a.out, 0, item, x[0]);
  }
};
template <class F>
static auto with_fp32_ceiling(const fp32_ceiling_args& a, F f) {
  switch (a.mix) {
    case fp32_mix::fma:
      return f(fp32_ceiling_op<fp32_mix::fma>{a});
    case fp32_mix::fma_add:
      return f(fp32_ceiling_op<fp32_mix::fma_add>{a});
    case fp32_mix::fma_max:
      return f(fp32_ceiling_op<fp32_mix::fma_max>{a});
    case fp32_mix::add_max:
      return f(fp32_ceiling_op<fp32_mix::add_max>{a});
    default:
      return f(fp32_ceiling_op<fp32_mix::multiply_add>{a});
  }
}
WB_EXPORT_KERNEL(fp32_ceiling, fp32_ceiling_args, with_fp32_ceiling)

template <bool ReadOnly>
struct memory_ceiling_op : thread_op<memory_ceiling_args> {
  double flops() const { return 0; }
#if defined(__CUDACC__)
  double bytes() const { return (ReadOnly ? 16.0 : 32.0) * static_cast<double>(a.vectors); }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G, T*) const {
    const std::size_t block = item.first / 128, rank = item.first % 128;
    const float4* in = static_cast<const float4*>(a.in) + block * 128 * a.vectors + rank;
    float4* out = static_cast<float4*>(a.out) + (ReadOnly ? item.first : block * 128 * a.vectors + rank);
    if (a.vectors == 1) {
      write(out, 0, *in);
      return;
    }
    float4 sum = make_float4(0, 0, 0, 0);
    for (std::size_t v = 0; v < a.vectors; v += 4) {  // a multiple of 4
      float4 x[4];
      WB_UNROLL for (int i = 0; i < 4; i++) x[i] = in[(v + static_cast<std::size_t>(i)) * 128];
      WB_UNROLL for (int i = 0; i < 4; i++) {
        if constexpr (ReadOnly)
          sum = make_float4(sum.x + x[i].x, sum.y + x[i].y, sum.z + x[i].z, sum.w + x[i].w);
        else
          out[(v + static_cast<std::size_t>(i)) * 128] = x[i];
      }
    }
    if constexpr (ReadOnly) write(out, 0, sum);
  }

 private:
  /// What was only read must go somewhere, in case: never, but the compiler cannot know.
  WB_HD static void write(float4* out, std::size_t index, float4 x) {
    if (!ReadOnly || x.x == 12345.f) out[index] = x;
  }
#else
  double bytes() const {
    return (ReadOnly ? 4.0 : 8.0) * static_cast<double>(a.vectors) * static_cast<double>(a.passes);
  }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G, T*) const {
    const std::size_t n = a.vectors, piece = item.first / width_of<T>;
    const T* in = static_cast<const T*>(a.in) + 2 * n * piece;
    T* out = static_cast<T*>(a.out) + 2 * n * piece + n;
    T sum[4] = {T(0.f), T(0.f), T(0.f), T(0.f)};
    for (int pass = 0; pass < a.passes; pass++) {
      for (std::size_t v = 0; v < n; v += 4) {  // a multiple of 4
        WB_UNROLL for (std::size_t i = 0; i < 4; i++) {
          if constexpr (ReadOnly)
            sum[i] = sum[i] + in[v + i];
          else
            out[v + i] = in[v + i] + T(0.f);  // as stores do: no copy that bypasses the caches
        }
      }
    }
    if constexpr (ReadOnly) out[0] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }
#endif
};
template <class F>
static auto with_memory_ceiling(const memory_ceiling_args& a, F f) {
  return a.read_only ? f(memory_ceiling_op<true>{a}) : f(memory_ceiling_op<false>{a});
}
WB_EXPORT_KERNEL(memory_ceiling, memory_ceiling_args, with_memory_ceiling)

}  // namespace WB_ISA
}  // namespace wb
