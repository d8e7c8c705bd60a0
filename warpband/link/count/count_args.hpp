#pragma once
#include <cstdint>

#include <warpband/core/view.hpp>

namespace wb {
struct count_args {
  view<const std::uint8_t> sent, received;  // bits
  view<const float> llr;                    // used where `received` has no data
  view<std::int32_t> errors;                // 1
};
struct count_erased_args {
  view<const std::uint8_t> status;
  int weight;
  view<std::int32_t> erased;  // 1
};
}  // namespace wb
