#pragma once
#include <cstdint>

#include <warpband/core/view.hpp>

namespace wb {
struct qam_map_args {
  int bits_per_symbol = 0;
  view<const std::uint8_t> bits;  // bits_per_symbol
  view<cx_pair> symbols;
};
}  // namespace wb
