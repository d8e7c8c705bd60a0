#pragma once
#include <cstdint>

#include <warpband/core/view.hpp>

namespace wb {
struct source_args {
  int n = 0;
  view<std::uint8_t> bits;  // >= n: the first n are written
  std::uint64_t seed = 0, first = 0;
  std::uint32_t point = 0;
};
}  // namespace wb
