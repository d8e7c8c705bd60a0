#pragma once
// Arguments of the kernels around the turbo code of single blocks. Plain data. An item is a block; the blocks
// of a call have one size.
#include <cstdint>

#include <warpband/core/view.hpp>

namespace wb {

/// A block to decode. Addresses are of the executor's memory.
struct turbo_decode_item {
  const std::int8_t* llr = nullptr;  // 3 K_pi
  std::uint8_t* bits = nullptr;      // packed, of `kept` bits
  std::int8_t* soft = nullptr;       // 3 (k + 4), null: not wanted
  float step = 1.f;                  // an LLR of 1 in `llr` and in `soft`
  int kept = 0;
  bool streams = false;  // d0, d1, d2 in place of the circular buffer
  bool negative = false, negative_soft = false;
};
/// What is said of a decoded block.
struct turbo_block_record {
  std::int32_t iterations = 0;
  std::uint8_t status = 0;  // of turbo_decoder
};
struct turbo_block_input_args {
  int k = 0;
  const turbo_decode_item* items = nullptr;
  // 3 (k + 4): d0, d1, d2. One of them has data.
  view<std::int8_t> steps;
  view<float> llr;
};
struct turbo_block_output_args {
  int k = 0;
  const turbo_decode_item* items = nullptr;
  view<const std::uint8_t> bits;  // k
  view<const std::int32_t> iterations;
  view<const std::uint8_t> status;
  // Soft output, 3 (k + 4) each; null data: not wanted. coded: the codeword of the decisions.
  view<const float> llr, extrinsic;
  view<const std::uint8_t> coded;
  turbo_block_record* records = nullptr;
};

/// A block to encode.
struct turbo_encode_item {
  const std::uint8_t* bits = nullptr;   // packed, k less the CRC
  std::uint8_t* out = nullptr;          // packed, `sent` bits
  int length = 0, first = 0, sent = 0;  // of the ring without NULLs; where sending starts; E
  bool rate_matched = true;             // false: d0, d1, d2 one after the other in place of the ring
};
struct turbo_block_encode_args {
  int k = 0, crc_degree = 0;  // degree 0: no CRC
  const turbo_encode_item* items = nullptr;
  const std::int32_t* weights = nullptr;      // k remainders
  const std::int32_t* permutation = nullptr;  // k
  const std::uint16_t* table = nullptr;       // [8 states][256]: parity of a byte, the next state << 8
};

}  // namespace wb
