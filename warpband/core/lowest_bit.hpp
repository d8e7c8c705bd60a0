#pragma once
// The lowest one of a word.
#include <cstdint>

#include <warpband/core/lane.hpp>

namespace wb {
inline namespace WB_ISA {

/// The place of the lowest one of x, from 0. x is not 0.
WB_HD int lowest_bit(std::uint32_t x) {
#if defined(__CUDACC__)
  return __ffs(static_cast<int>(x)) - 1;
#else
  return __builtin_ctz(x);
#endif
}

}  // namespace WB_ISA
}  // namespace wb
