#pragma once
#include <cstdint>

#include <warpband/core/status.hpp>
#include <warpband/core/view.hpp>

namespace wb {
struct demap_args {
  int bits_per_symbol = 0;
  bool exact = false;
  view<const cx_pair> received;
  view<const cx_pair> channel;  // null data: 1
  view<const float> noise_var;  // one per symbol; item_stride 0: one for all
  view<float> llr;              // bits_per_symbol; null data: not wanted
  view<std::uint8_t> status;    // null data: not wanted
};
}  // namespace wb
