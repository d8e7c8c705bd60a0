#pragma once
// Arguments of the kernels for single code blocks of 5G NR. Plain data. Each block has a description of its
// own in a table, so that a launch serves all blocks of a batch.
#include <cstddef>
#include <cstdint>

#include <warpband/core/known_llr.hpp>
#include <warpband/fec/blocks/block_llrs.hpp>
#include <warpband/fec/ldpc/ldpc_args.hpp>

namespace wb {

/// The circular buffer of a block without its fillers, and the transmission: `sent` bits from number `start`
/// of `length` on, in an interleaver of `order` rows of sent / order columns.
struct ldpc_block_ring {
  std::int32_t length = 1, start = 0, sent = 1, order = 1;
  std::int32_t punctured = 0;    // 2 Z: bits before the ring
  std::int32_t information = 1;  // K - F - 2 Z: systematic bits of the ring
  std::int32_t padded = 0;       // of the systematic columns: where the parity bits begin in the codeword
};

/// Of a block into the decoder.
struct ldpc_block_received {
  ldpc_block_ring ring;
  llr_format format = llr_format::int8;
  bool negative = false;
  float steps = 1.f;          // in an LLR of 1
  float llr_of_a_step = 1.f;  // in the decoder's row
  const void* llr = nullptr;  // ring.sent
  harq_format harq = harq_format::int8;
  const void* harq_in = nullptr;
  void* harq_out = nullptr;
  std::int32_t harq_in_length = 0, harq_out_length = 0;
  float* row = nullptr;  // n
  std::int32_t n = 0;
};
/// An item is a piece of a block's row: item / pieces is the block.
struct ldpc_block_input_args {
  const ldpc_block_received* blocks = nullptr;
  std::int32_t pieces = 1, piece = 1024;  // places in a piece
  double mean_bytes = 0;                  // of an item
};

/// What becomes of a block, as the host reads it.
struct ldpc_block_outcome {
  std::int32_t iterations = 0;
  std::uint8_t status = 0, crc_passed = 0;
};
/// Of a block out of the decoder.
struct ldpc_block_decided {
  const std::uint8_t* bits = nullptr;         // a byte each, from a multiple of 8 bytes on
  std::int32_t k = 0;                         // with the CRC
  std::int32_t kept = 0;                      // of the output
  const std::int32_t* crc_weights = nullptr;  // k remainders; null: no CRC
  std::uint8_t* out = nullptr;
  const std::uint8_t* status = nullptr;  // of the decoder
  const std::int32_t* iterations = nullptr;
  ldpc_block_outcome* outcome = nullptr;
};
struct ldpc_block_output_args {
  const ldpc_block_decided* blocks = nullptr;
  double mean_bytes = 0;
};

inline constexpr std::size_t ldpc_block_spare = 8;
/// Of a block to encode.
struct ldpc_block_sent {
  ldpc_block_ring ring;
  const std::uint8_t* bits = nullptr;  // packed
  std::int32_t payload = 0;            // bits without the CRC that is attached
  std::int32_t crc_degree = 0;
  const std::int32_t* crc_weights = nullptr;  // remainders of the payload and the CRC
  std::int32_t z = 1, n = 0;                  // of the codeword as far as it is made
  std::int32_t stride = 0;                    // ldpc_block_stride
  ldpc_encode_tables tables;
  std::uint8_t* out = nullptr;  // with ldpc_block_spare bytes behind, which it may write
};
struct ldpc_block_encode_args {
  const ldpc_block_sent* blocks = nullptr;
  // The most bytes of a codeword, a multiple of 64, and of the blocks that sums read, ldpc_block_stride each.
  std::int32_t word_bytes = 0, sum_bytes = 0;
  std::int32_t table_bytes = 0;  // the most of ldpc_block_table_bytes on a device, 0 on a CPU
  double mean_bytes = 0;
};
/// Bytes of a device's copy of an encoder's tables in shared memory.
constexpr std::int32_t ldpc_block_table_bytes(const ldpc_encode_tables& t) {
  return t.sums * static_cast<std::int32_t>(sizeof(ldpc_sum)) +
         t.terms * static_cast<std::int32_t>(sizeof(ldpc_term));
}
/// A block of z bits as sums read it: twice, so that each rotation is contiguous, and what a vector reads and
/// writes behind.
constexpr std::int32_t ldpc_block_stride(std::int32_t z) { return (2 * z + 64 + 63) / 64 * 64; }

}  // namespace wb
