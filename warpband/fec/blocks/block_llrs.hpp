#pragma once
// Input and output formats of single code blocks: LLRs as integers, and packed bits.
#include <cstddef>
#include <cstdint>

#include <warpband/fec/format/format_args.hpp>

namespace wb {

/// LLRs of a block, L = ln P(0)/P(1). An integer is L * 2^decimals; int16 is limited to +-127. float32 is L,
/// and is rounded to such integers.
struct block_llrs {
  const void* data = nullptr;  // host memory, until the call that reads it returns
  std::size_t count = 0;
  llr_format format = llr_format::int8;
  int decimals = 1;       // 0..7
  bool negative = false;  // L = ln P(1)/P(0) instead
};

/// Packed bits: the first bit in the most significant place of the first byte.
struct packed_bits {
  std::uint8_t* data = nullptr;
  std::size_t bytes = 0;  // that fit
};
struct packed_input {
  const std::uint8_t* data = nullptr;
  std::size_t bytes = 0;
};

/// What a block's status says: none of them is success.
inline constexpr std::uint8_t block_refused = 1,  // its description contradicts itself; nothing was written
    block_syndrome = 2,                           // parity checks fail after the last iteration
    block_crc = 4;                                // a CRC that was asked for fails
/// Of one block.
struct block_result {
  std::uint8_t status = 0;
  std::uint8_t crc_passed = 0;    // 1: the CRC that was asked for holds
  std::uint16_t iterations = 0;   // done
  std::uint32_t bytes = 0;        // written to the output
  std::uint32_t harq_length = 0;  // LLRs written to the HARQ buffer
};

}  // namespace wb
