#pragma once

#include <cstdint>
#include <vector>

namespace oracle {

struct turbo_int16_options {
  int windows = 1, overlap = 0, iterations = 6, eighths = 8;
  /// Stop where the decisions are divisible by this polynomial of this degree (0: never).
  std::uint32_t crc = 0;
  int crc_degree = 0;
};
struct turbo_int16_result {
  std::vector<std::uint8_t> bits;
  int iterations = 0;
  int largest = 0;  ///< magnitude of any metric or sum that occurred: below 32768 nothing wrapped
};

/// Windowed max-log-MAP on whole numbers, one window after the other with all of alpha kept, for checking the
/// 16-bit decoder bit by bit. `llr`: 3 (k + 4) values of -127..127 as for turbo_decode.
///
/// A window starts from its neighbours' metrics of the iteration before, taken at the border. With an overlap
/// they are taken that many steps outside. The distance is rounded outwards to a multiple of 8 steps after
/// the start of the neighbour. Extrinsics are limited to +-1023, then become floor((e eighths + 4) / 8), but
/// for the last iteration. The second decoder's end in the decision as their lowest bit.
turbo_int16_result turbo_decode_int16(const std::vector<int>& llr, const std::vector<int>& interleaver,
                                      const turbo_int16_options& options);

}  // namespace oracle
