#pragma once
#include <cstdint>

#include <warpband/core/view.hpp>

namespace wb {
struct crc_attach_args {
  int n = 0, degree = 0;
  view<std::uint8_t> bits;  // n + degree: parity is written behind the n bits
  const std::int32_t* weights = nullptr;
};
}  // namespace wb
