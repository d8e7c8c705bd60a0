#pragma once
// Arguments of the kernels of polar codes. Plain data. An item is a code block of a message.
#include <cstdint>

#include <warpband/core/view.hpp>

namespace wb {

/// Of polar_block what kernels need.
struct polar_shape {
  int k = 0, n = 0, e = 0;
  int payload = 0, first_bit = 0, first_sent = 0;
  int fillers_before = 0;
  int crc_bits = 0;
  std::int32_t crc_target = 0;
  const std::int32_t* place = nullptr;        // [k] u of a bit of c
  const std::int32_t* crc_weights = nullptr;  // [k]
};

struct polar_encode_args {
  polar_shape at;
  const std::int32_t* sent = nullptr;     // [e] d of a sent bit
  const std::int32_t* carries = nullptr;  // [n] bit of c that a u carries; -1: none
  /// [parity_checks, n / 32 + 1]: the u, and of the words of u the bits that it sums.
  const std::int32_t* parity_checks = nullptr;
  int parity_check_count = 0;
  int zeros_from = 0, zeros_to = 0;  // of `coded`: written as zeros
  view<const std::uint8_t> bits;     // [A]
  view<std::uint8_t> coded;          // [>= E]
};

}  // namespace wb
