#pragma once
// The lists that are built. For polar_decode_*kernels.cpp: lists of up to 8 paths and longer ones are units
// of their own, as are the two algorithms.
#include <warpband/exec/launch.hpp>
#include <warpband/fec/polar/polar_decode_op.hpp>

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)
inline constexpr int polar_threads = 32;
#else
inline constexpr int polar_threads = 1;
#endif

template <bool Exact, class F>
static auto with_short_list(const polar_decode_args& a, F f) {
  switch (a.list_size) {
    case 1:
      return f(polar_decode_op<1, Exact, polar_threads>{a});
    case 2:
      return f(polar_decode_op<2, Exact, polar_threads>{a});
    case 4:
      return f(polar_decode_op<4, Exact, polar_threads>{a});
    default:
      return f(polar_decode_op<8, Exact, polar_threads>{a});
  }
}
template <bool Exact, class F>
static auto with_long_list(const polar_decode_args& a, F f) {
  return a.list_size == 16 ? f(polar_decode_op<16, Exact, polar_threads>{a})
                           : f(polar_decode_op<32, Exact, polar_threads>{a});
}

}  // namespace WB_ISA
}  // namespace wb
