#pragma once
#include <cstdint>

#include <warpband/core/view.hpp>

namespace wb {
struct binary_args {
  view<const std::uint8_t> bits;
  view<std::uint8_t> received;
  std::uint64_t threshold[2] = {};  // of a sent 0 and 1: 2^64 times the probability of a change
  int changed[2] = {};              // what they change into
  std::uint64_t seed = 0, first = 0;
  std::uint32_t point = 0;
};
}  // namespace wb
