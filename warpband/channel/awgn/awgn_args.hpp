#pragma once
#include <cstdint>

#include <warpband/core/view.hpp>

namespace wb {
struct awgn_args {
  view<const cx_pair> in;
  view<cx_pair> out;    // may be the input
  float deviation = 0;  // sqrt(N0)
  std::uint64_t seed = 0, first = 0;
  std::uint32_t point = 0;
  view<const float> noise_var = {};  // N0 of each symbol, in place of the deviation
};
}  // namespace wb
