#pragma once
// Arguments of the kernels of the 5G NR transport channel, beside transport_args.hpp. Plain data. An item is
// a code block; the code blocks of a transport block follow each other.
#include <cstdint>

#include <warpband/core/known_llr.hpp>
#include <warpband/fec/transport/transport_args.hpp>

namespace wb {

/// LLR of a filler bit, a zero that both sides know.
inline constexpr float nr_filler_llr = known_llr;

/// The circular buffer without its fillers: so many bits, of which a transmission begins with number `start`.
struct nr_ring {
  int length = 1, start = 0;
};
/// Of nr_segmentation and nr_code_block what kernels need.
struct nr_blocks {
  using ring_type = nr_ring;
  static constexpr int kinds = 1, rings = 1;
  int blocks = 1;
  int k = 0;         // K'
  int padded = 0;    // of the systematic columns that hold bits
  int codeword = 0;  // of the codeword, all parity columns
  int punctured = 0;
  int block_crc_bits = 0, crc_bits = 0, transport_bits = 0;

  int longest() const { return k; }
  double mean_k() const { return k; }
  double mean_padded() const { return padded; }
};
struct nr_match_args {
  nr_blocks segments;
  transport_sent_bits sent;
  nr_ring ring;
  int modulation_order = 2;
  const std::uint8_t* scrambling = nullptr;  // G bits; null: none
  view<const std::uint8_t> coded;            // [batch C, codeword]
  view<std::uint8_t> out;                    // [batch, G]
};
struct nr_combine_args {
  nr_blocks segments;
  transport_sent_bits sent;
  nr_ring ring;
  int modulation_order = 2, rv = 0;
  const std::uint8_t* scrambling = nullptr;
  view<const float> llr;       // [batch, G]
  view<float> soft;            // [batch C, codeword]
  view<std::uint8_t> marks;    // [batch, C]: 0 or status_erased; null data: not wanted
  view<std::int32_t> history;  // [batch, transport_history_size C]; null data: not wanted
  bool first = true;           // overwrite instead of add
  float least = 0.f;           // an LLR up to this magnitude is not usable
};
using nr_crc_args = transport_crc_args<nr_blocks>;
using nr_segment_args = transport_segment_args<nr_blocks>;
using nr_assemble_args = transport_assemble_args<nr_blocks>;
using nr_harq_args = transport_harq_args<nr_blocks>;

/// Of each bit that a transmission sends what the decoder and other receptions say, without its own LLR.
struct nr_feedback_args {
  nr_blocks segments;
  transport_sent_bits sent;
  nr_ring ring;
  int modulation_order = 2;
  const std::uint8_t* scrambling = nullptr;
  view<const float> extrinsic;      // [batch C, codeword]
  view<const float> soft;           // [batch C, codeword]
  view<const float> llr;            // [batch, G]
  view<float> prior;                // [batch, G]
  view<const std::uint8_t> status;  // [batch C]: of one with status_erased nothing is known; null data: none
  view<const std::uint8_t> marks;   // [batch C]: not 0 where `soft` has no part of `llr`; null data: it has
};

/// Rows: the first n values, and zeros up to what the output has. An item is a row.
struct nr_front_args {
  int n = 0;
  view<const std::uint8_t> bits;  // [batch, >= n]; not looked at with n = 0
  view<std::uint8_t> out_bits;    // [batch, >= n]; null data: not wanted, and so of soft
  view<const float> soft;
  view<float> out_soft;
};

}  // namespace wb
