#pragma once
#include <cstdint>

#include <warpband/core/status.hpp>
#include <warpband/core/view.hpp>

namespace wb {
struct demap_backward_args {
  int bits_per_symbol = 0;
  bool exact = false;
  view<const cx_pair> received;
  view<const cx_pair> channel;      // null data: 1
  view<const float> noise_var;      // one per symbol; item_stride 0: one for all
  view<const float> llr_gradient;   // bits_per_symbol
  view<cx_pair> received_gradient;  // null data: not wanted, here and below
  view<cx_pair> channel_gradient;
  view<float> noise_var_gradient;
  view<std::uint8_t> status;
};
}  // namespace wb
