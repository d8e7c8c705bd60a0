#pragma once
#include <cstdint>

#include <warpband/core/view.hpp>

namespace wb {
struct constellation_map_args {
  int bits_per_symbol = 0;
  const cx_pair* points = nullptr;  // by label
  view<const std::uint8_t> bits;    // bits_per_symbol
  view<cx_pair> symbols;
};

/// A point of the demapper's table.
struct point_entry {
  float re, im, energy;
};

struct constellation_demap_args {
  int bits_per_symbol = 0;
  bool exact = false;
  const point_entry* points = nullptr;  // 2^bits_per_symbol, by label
  view<const cx_pair> received;
  view<const cx_pair> channel;  // null data: 1
  view<const float> noise_var;  // one per symbol; item_stride 0: one for all
  view<float> llr;              // bits_per_symbol; null data: not wanted
  view<std::uint8_t> status;    // null data: not wanted
};
}  // namespace wb
