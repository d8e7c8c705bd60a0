#pragma once
// Arguments of the kernels of polar codes: plain data without ownership. An item is a code block of a
// message.
#include <cstdint>

#include <warpband/core/view.hpp>
#include <warpband/fec/quantise/quantise_args.hpp>

namespace wb {

/// The part of polar_block that kernels need.
struct polar_shape {
  int k = 0, n = 0, e = 0;
  int payload = 0, first_bit = 0, first_sent = 0;
  int fillers_before = 0;
  int crc_bits = 0;
  std::int32_t crc_target = 0;
  bool ascending = false;                         // information_set is in ascending order
  const std::int32_t* information_set = nullptr;  // [k] index in u of each bit of c
  const std::int32_t* crc_weights = nullptr;      // [k]
};

struct polar_encode_args {
  polar_shape block;
  const std::int32_t* coded_index = nullptr;  // [e] index in d of each sent bit
  const std::int32_t* c_index = nullptr;      // [n] index in c of each bit of u; -1: frozen or parity check
  /// [parity_check_count, n / 32 + 1]: the index in u of the check bit, then a mask of the bits of u in its
  /// sum.
  const std::int32_t* parity_checks = nullptr;
  int parity_check_count = 0;
  int padding_begin = 0, padding_end = 0;  // elements of `coded` that become zeros
  view<const std::uint8_t> bits;           // [A]
  view<std::uint8_t> coded;                // [>= E]
};

/// Instructions of the decoder at a node of 2^stage bits of the decoding tree. An instruction is encoded as
/// step | stage << 4 | parity_class << 8.
enum class polar_step : int {
  left_llrs,     // f: LLRs of the left child
  right_llrs,    // g: LLRs of the right child, given the partial sums of the left child
  partial_sums,  // partial sums of the node from those of its children
  rate_0,        // all bits are frozen
  repetition,    // all coded bits of the node are the same
  spc,           // single parity check: the coded bits of the node have even parity
  rate_1,        // all bits are information bits
  parity_check   // one bit: the sum of the information bits 5, 10, ... before it
};
/// A parity class is u mod 5. An information bit of this class belongs to no parity check.
inline constexpr int polar_no_parity_class = 7;

/// LLR of a shortened bit, which is a known zero, and the limit of received LLRs.
inline constexpr float polar_shortened_llr = 1e32f, polar_max_channel_llr = 1e30f;

/// Values of scratch memory per path. A value holds an LLR or a word of word_bits bits.
/// - LLRs of all stages but the root's: n, or n / 2 if the top stage is not stored.
/// - Partial sums of the left child at each stage.
/// - Partial sums of the current node, twice.
constexpr int polar_path_values(int n, int word_bits, bool top_stage_stored) {
  return (top_stage_stored ? n : n / 2) + (word_bits == 32 ? 5 : 4) + 3 * (n / word_bits);
}

/// Limits of 16-bit integers: path metrics, and LLRs of int16 from the channel. LLRs of stages have the limit
/// of metrics less 1. The sum of two metrics is a 16-bit integer.
inline constexpr int polar_int16_max_metric = 16383, polar_int16_max_channel_llr = 1023;

struct polar_decode_args {
  polar_shape block;
  int list_size = 8;
  int program_length = 0;                 // instructions
  double operations = 0;                  // lower bound per path, for the bench
  const std::int32_t* program = nullptr;  // [program_length]
  /// Coded bit d has the sum of the LLRs received_index[i], received_begin[d] <= i < received_begin[d + 1].
  const std::int32_t* received_begin = nullptr;  // [n + 1]
  const std::int32_t* received_index = nullptr;  // [e]
  float unsent_llr = 0.f;                        // LLR of a coded bit that is not sent
  llr_quanta quanta;                             // int16, int8: quanta of an LLR of 1
  int max_channel_llr = 0, max_llr = 0;          // int16, int8: limits of channel and stage LLRs in quanta
  int distinct_sent = 0;                         // coded bits that are sent at least once
  bool in_order = false;                         // sent bit f is coded bit f, f = 0..N - 1
  bool later_block = false;                      // an earlier block of the message is already decoded
  /// [1] Status of an earlier decoder. Messages with status_stopped keep their bits. Null data: none.
  view<const std::uint8_t> prior_status;
  view<const float> llr;      // [E]
  view<std::uint8_t> bits;    // [A]; null data: not wanted
  view<std::uint8_t> status;  // [1]; has data if later_block
};

}  // namespace wb
