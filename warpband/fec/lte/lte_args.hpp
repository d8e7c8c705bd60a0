#pragma once
// Arguments of the kernels of the LTE transport channel, beside transport_args.hpp. Plain data. An item is a
// code block; the code blocks of a transport block follow each other.
#include <cstdint>

#include <warpband/core/known_llr.hpp>
#include <warpband/fec/transport/transport_args.hpp>

namespace wb {

/// LLR of a filler bit, a zero that both sides know.
inline constexpr float lte_filler_llr = known_llr;
/// The places of a circular buffer that are no NULL, in its order: `length` of them, of which a transmission
/// begins with number `start`.
struct lte_ring {
  const std::int32_t* table = nullptr;
  int length = 1, start = 0;
};
/// Of lte_segmentation what kernels need. [0] is of the C- blocks of K- bits, [1] of those of K+.
struct lte_blocks {
  using ring_type = lte_ring;
  static constexpr int kinds = 2, rings = 3;  // rings: of block 0, of K-, of K+
  int blocks = 1, minus = 0;
  int k[2] = {0, 0};
  int fillers = 0, block_crc_bits = 0, crc_bits = 24, transport_bits = 0;

  int longest() const { return k[1]; }
  double mean_k() const { return (1.0 * minus * k[0] + 1.0 * (blocks - minus) * k[1]) / blocks; }
  double mean_padded() const { return mean_k(); }
};
struct lte_match_args {
  lte_blocks segments;
  transport_sent_bits sent;
  lte_ring ring[3];                   // of block 0, of K-, of K+; table: the place in the codeword
  view<const std::uint8_t> coded[2];  // [batch C-, 3 (K- + 4)] and [batch C+, 3 (K+ + 4)]
  view<std::uint8_t> out;             // [batch, G]
};
struct lte_combine_args {
  lte_blocks segments;
  transport_sent_bits sent;
  /// Table: by place in the codeword its number in the ring; `length` where it is not kept, length + 1 where
  /// it is of a filler bit.
  lte_ring ring[3];
  view<const float> llr;       // [batch, G]
  view<float> soft[2];         // as `coded` above
  view<std::uint8_t> marks;    // [batch, C]: 0 or status_erased; null data: not wanted
  view<std::int32_t> history;  // [batch, transport_history_size C]; null data: not wanted
  bool first = true;           // overwrite instead of add
  float least = 0.f;           // an LLR up to this magnitude is not usable
  int rv = 0, modulation_order = 2;
};
using lte_crc_args = transport_crc_args<lte_blocks>;
using lte_segment_args = transport_segment_args<lte_blocks>;
using lte_assemble_args = transport_assemble_args<lte_blocks>;
using lte_harq_args = transport_harq_args<lte_blocks>;

}  // namespace wb
