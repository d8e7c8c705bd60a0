#pragma once
// Arguments of the kernels of the LTE transport channel. Plain data. An item is a code block, but for
// lte_finish, where it is a transport block; the code blocks of a transport block follow each other.
#include <cstdint>

#include <warpband/core/status.hpp>
#include <warpband/core/view.hpp>

namespace wb {

/// LLR of a filler bit, a zero that both sides know: as large as the turbo decoder takes any (max-log-MAP;
/// log-MAP limits it to 30 like all others).
inline constexpr float lte_filler_llr = 10000.f;
/// Limit of sums of LLRs.
inline constexpr float lte_most_llr = 1e30f;
/// What was received of a code block: usable LLRs in its soft buffer, without fillers; the first two bits of
/// so many symbols of 16-QAM or more, which tell the signs; how many of them are zeros by LLRs that are not
/// negligible; redundancy versions, bit rv of each.
enum lte_history : int { lte_usable, lte_signs, lte_positive, lte_versions, lte_history_size };
/// A transmission's signs are counted of so many symbols at most.
inline constexpr int lte_counted_symbols = 1024;

/// Of lte_segmentation what kernels need. [0] is of the C- blocks of K- bits, [1] of those of K+.
struct lte_blocks {
  int blocks = 1, minus = 0;
  int k[2] = {0, 0};
  int fillers = 0, block_crc_bits = 0, transport_bits = 0;
};
/// Code block r sends least bits, from `larger` on `step` more.
struct lte_sent_bits {
  int least = 0, step = 0, larger = 0;
};
/// The places of a circular buffer that are no NULL, in its order: `length` of them, of which a transmission
/// begins with number `start`.
struct lte_ring {
  const std::int32_t* table = nullptr;
  int length = 1, start = 0;
};
struct lte_crc_args {
  lte_blocks at;
  view<const std::uint8_t> bits;                    // [batch, A]
  view<std::int32_t> part;                          // [batch, C]: the block's part of the CRC-24A
  const std::int32_t* transport_weights = nullptr;  // B remainders of CRC-24A
};
struct lte_segment_args {
  lte_blocks at;
  view<const std::uint8_t> bits;  // [batch, A]
  view<const std::int32_t> part;  // [batch, C]; not looked at where C = 1
  view<std::uint8_t> blocks[2];   // [batch C-, K-] and [batch C+, K+]
  const std::int32_t* transport_weights = nullptr;
  const std::int32_t* block_weights = nullptr;  // K+ remainders of CRC-24B
};
struct lte_match_args {
  lte_blocks at;
  lte_sent_bits sent;
  lte_ring ring[3];                   // of block 0, of K-, of K+; table: the place in the codeword
  view<const std::uint8_t> coded[2];  // [batch C-, 3 (K- + 4)] and [batch C+, 3 (K+ + 4)]
  view<std::uint8_t> out;             // [batch, G]
};
struct lte_combine_args {
  lte_blocks at;
  lte_sent_bits sent;
  /// Table: by place in the codeword its number in the ring; `length` where it is not kept, length + 1 where
  /// it is of a filler bit.
  lte_ring ring[3];
  view<const float> llr;       // [batch, G]
  view<float> soft[2];         // as `coded` above
  view<std::uint8_t> marks;    // [batch, C]: 0 or status_erased; null data: not wanted
  view<std::int32_t> history;  // [batch, lte_history_size C]; null data: not wanted
  bool first = true;           // overwrite instead of add
  float least = 0.f;           // an LLR up to this magnitude is not usable
  int rv = 0, modulation_order = 2;
};
struct lte_assemble_args {
  lte_blocks at;
  view<const std::uint8_t> decided[2];     // [batch C-, K-] and [batch C+, K+]
  view<const std::int32_t> iterations[2];  // [batch C-] and [batch C+]
  view<const std::uint8_t> marks;          // [batch, C]
  view<const std::int32_t> history;        // as above
  view<const float> soft[2];               // the soft buffers
  lte_sent_bits sent;
  lte_ring ring[3];               // as in lte_combine_args
  std::int32_t start[3][4] = {};  // of the rings, by redundancy version
  float least = 0.f;
  view<std::uint8_t> bits;             // [batch, A]; null data: not wanted, here and below
  view<std::uint8_t> block_ok;         // [batch, C]
  view<std::int32_t> iterations_used;  // [batch, C]
  view<std::int32_t> part;             // [batch, C]: its part of the CRC-24A and flags
  const std::int32_t* transport_weights = nullptr;
  const std::int32_t* block_weights = nullptr;
};
inline constexpr std::int32_t lte_block_failed = 1 << 24, lte_block_erased = 1 << 25,
                              lte_block_insufficient = 1 << 26;
struct lte_finish_args {
  int blocks = 1;
  view<const std::int32_t> part;  // [batch, C]
  view<std::uint8_t> ok;          // [batch]
  view<std::uint8_t> status;      // [batch]
};

}  // namespace wb
