#pragma once
#include <cstdint>

#include <warpband/core/view.hpp>

namespace wb {
struct bit_llrs_args {
  view<const std::uint8_t> received;
  view<float> llr;
  float values[3] = {};  // of a received 0, 1 and erasure
};
}  // namespace wb
