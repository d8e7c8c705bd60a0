#pragma once
// Arguments of the kernels of short block codes. Plain data.
#include <cstdint>

#include <warpband/core/view.hpp>

namespace wb {

/// What a coded bit may be beside 0 and 1: the placeholders of TS 38.212 §5.3.3.
inline constexpr std::uint8_t short_block_x = 2, short_block_y = 3;

struct short_block_encode_args {
  view<const std::uint8_t> bits;
  view<std::uint8_t> coded;
  /// A word for each coded bit of a period: bit i is set where message bit i is in its sum. Of a placeholder
  /// -short_block_x or -short_block_y.
  const std::int32_t* rows = nullptr;
  std::int32_t k = 0, period = 0, coded_bits = 0;
};

/// Sums of LLRs that the transform takes, and how words follow from its values.
struct short_block_decode_args {
  view<const float> llr;
  view<std::uint8_t> bits, status;
  view<float> margin, agreement;
  /// Rows of three, one for each of the 32 sums: two places of its coded bit in a period, -1 for none, and
  /// bits 6..10 of the code's row.
  const std::int32_t* places = nullptr;
  std::int32_t k = 0, period = 0, coded_bits = 0;
  /// 1: the first message bit is in every coded bit, and the sign of a correlation tells it. 0: k is 1 or 2.
  std::int32_t by_sign = 0;
  std::int32_t transforms = 1;   // one for each word of message bits 6 to 10
  std::int32_t transformed = 1;  // values of a transform that are correlations with words
};

}  // namespace wb
