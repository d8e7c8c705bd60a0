#pragma once
#include <cstdint>

#include <warpband/core/view.hpp>

namespace wb {
struct count_pass_args {
  view<const std::uint8_t> status;  // [frames]
  view<std::int32_t> iterations;    // [frames]
};
/// Of the code blocks of every frame.
struct sum_up_args {
  view<const std::int32_t> block_iterations;  // [frames, blocks]
  view<const std::uint8_t> ok, status;        // [frames]
  view<std::int32_t> iterations;              // [frames]; null data: not wanted
  view<std::uint8_t> stopped;                 // [frames]
};
}  // namespace wb
