#pragma once
// Arguments of the kernels that the transport channels of LTE and 5G NR have alike. Plain data. An item is a
// code block, but for transport_finish, where it is a transport block; the code blocks of a transport block
// follow each other.
//
// `Blocks` is how a channel cuts its transport blocks, lte_blocks or nr_blocks. Code blocks have one of
// Blocks::kinds lengths, and buffers of their own for each, and Blocks::rings circular buffers.
#include <cstdint>

#include <warpband/core/status.hpp>
#include <warpband/core/view.hpp>
#include <warpband/fec/format/format_args.hpp>

namespace wb {

/// Limit of sums of LLRs.
inline constexpr float transport_most_llr = 1e30f;
/// What was received of a code block: the usable LLRs in its soft buffer, without fillers. The number of sign
/// bits: the first two bits of symbols of 16-QAM or more, as many as are counted. The number of these that
/// are zeros by LLRs that are not negligible. The redundancy versions, bit rv of each.
enum transport_history : int {
  transport_usable,
  transport_signs,
  transport_positive,
  transport_versions,
  transport_history_size
};
/// A transmission's signs are counted of so many symbols at most.
inline constexpr int transport_counted_symbols = 1024;

/// Code block r sends least bits, from `larger` on `step` more.
struct transport_sent_bits {
  int least = 0, step = 0, larger = 0;
};

template <class Blocks>
struct transport_crc_args {
  Blocks segments;
  view<const std::uint8_t> bits;                    // [batch, A]
  view<std::int32_t> part;                          // [batch, C]: the block's part of the transport CRC
  const std::int32_t* transport_weights = nullptr;  // B remainders of it
};
template <class Blocks>
struct transport_segment_args {
  Blocks segments;
  view<const std::uint8_t> bits;             // [batch, A]
  view<const std::int32_t> part;             // [batch, C]; not looked at where C = 1
  view<std::uint8_t> blocks[Blocks::kinds];  // [code blocks of the kind, their bits into the encoder]
  const std::int32_t* transport_weights = nullptr;
  const std::int32_t* block_weights = nullptr;  // remainders of CRC-24B, of the longest kind
};
template <class Blocks>
struct transport_assemble_args {
  Blocks segments;
  transport_sent_bits sent;
  typename Blocks::ring_type ring[Blocks::rings];          // `start` is not looked at
  std::int32_t start[Blocks::rings][4] = {};               // of the rings, by redundancy version
  float least = 0.f;                                       // an LLR up to this magnitude is not usable
  view<const std::uint8_t> decided[Blocks::kinds];         // as `blocks` above
  view<const std::uint8_t> decided_status[Blocks::kinds];  // of the decoder; null data: not looked at
  view<const std::int32_t> iterations[Blocks::kinds];
  view<const float> soft[Blocks::kinds];  // the soft buffers
  view<const std::uint8_t> marks;         // [batch, C]: 0 or status_erased
  view<const std::int32_t> history;       // [batch, transport_history_size C]
  view<std::uint8_t> bits;                // [batch, A]; null data: not wanted, here and below
  view<std::uint8_t> block_ok;            // [batch, C]
  view<std::int32_t> iterations_used;     // [batch, C]
  view<std::int32_t> part;                // [batch, C]: its part of the transport CRC and flags
  const std::int32_t* transport_weights = nullptr;
  const std::int32_t* block_weights = nullptr;
};
/// Soft buffers from or to a caller's memory. A row of it is a transport block: `length` LLRs of each code
/// block, those of the ring in its order and then zeros. Behind them are for each code block the history and
/// the mark, transport_state_bytes.
template <class Blocks>
struct transport_harq_args {
  Blocks segments;
  typename Blocks::ring_type ring[Blocks::rings];  // `start` is not looked at
  view<float> soft[Blocks::kinds];
  view<std::uint8_t> marks;
  view<std::int32_t> history;
  std::uint8_t* memory = nullptr;
  std::size_t stride = 0;  // of its rows, in bytes
  harq_format format = harq_format::int8;
  float scale = 1.f;  // a value v in the memory is the LLR v * scale
  float least = 0.f;  // an LLR up to this magnitude is not usable
  std::int32_t length = 0;
  bool reads = false;  // from the memory; else to it, and the soft buffers become what it holds
};
/// The last one is a spare, which keeps rows of halves on even addresses.
inline constexpr int transport_state_bytes = 4 * transport_history_size + 2;
inline constexpr std::int32_t transport_block_failed = 1 << 24, transport_block_erased = 1 << 25,
                              transport_block_insufficient = 1 << 26;
struct transport_finish_args {
  int blocks = 1;
  view<const std::int32_t> part;  // [batch, C]
  view<std::uint8_t> ok;          // [batch]
  view<std::uint8_t> status;      // [batch]
};

}  // namespace wb
