#pragma once
// Arguments of the kernels of polar codes. Plain data. An item is a code block of a message.
#include <cstdint>

#include <warpband/core/view.hpp>
#include <warpband/fec/quantise/quantise_args.hpp>

namespace wb {

/// Of polar_block what kernels need.
struct polar_shape {
  int k = 0, n = 0, e = 0;
  int payload = 0, first_bit = 0, first_sent = 0;
  int fillers_before = 0;
  int crc_bits = 0;
  std::int32_t crc_target = 0;
  const std::int32_t* place = nullptr;        // [k] u of a bit of c
  const std::int32_t* crc_weights = nullptr;  // [k]
};

struct polar_encode_args {
  polar_shape at;
  const std::int32_t* sent = nullptr;     // [e] d of a sent bit
  const std::int32_t* carries = nullptr;  // [n] bit of c that a u carries; -1: none
  /// [parity_checks, n / 32 + 1]: the u, and of the words of u the bits that it sums.
  const std::int32_t* parity_checks = nullptr;
  int parity_check_count = 0;
  int zeros_from = 0, zeros_to = 0;  // of `coded`: written as zeros
  view<const std::uint8_t> bits;     // [A]
  view<std::uint8_t> coded;          // [>= E]
};

/// What a decoder does at a node of the code's tree of 2^stage bits; instructions are
/// step | stage << 4 | place << 8.
enum class polar_step : int {
  left,        // LLRs of the left child
  right,       // of the right one, given the bits of the left one
  combine,     // the bits of the node from those of its children
  frozen,      // all bits are 0
  repetition,  // all bits are the same
  single_parity,
  rate_one,  // any bits
  check      // one bit, that sums the bits 5, 10, ... before it
};
/// `place` of an information bit whose parity-check class is not needed; else the class, u mod 5.
inline constexpr int polar_untracked = 7;

/// Coded bits that are known zeros have this LLR. Those received are limited to polar_most_llr.
inline constexpr float polar_known_llr = 1e32f, polar_most_llr = 1e30f;

/// Values of scratch memory of each path, with words of so many bits: LLRs of the nodes under way (n, or half
/// of it where those of the root's children are not stored), bits of their left children, twice those of the
/// node that was left last.
constexpr int polar_list_values(int n, int word_bits, bool halves_stored) {
  return (halves_stored ? n : n / 2) + (word_bits == 32 ? 5 : 4) + 3 * (n / word_bits);
}

/// Integers, metrics of paths, are at most this large, LLRs of int16 one less, and received ones 1/16 of it:
/// the sum of two is one of 16 bits.
inline constexpr int polar_most_whole = 16383, polar_most_heard = 1023;

struct polar_decode_args {
  polar_shape at;
  int list_size = 8;
  int stages = 0;  // log2 N
  int steps = 0;
  double operations = 0;                  // of each path at least, for the bench
  const std::int32_t* program = nullptr;  // [steps]
  /// The LLRs that are added up to that of coded bit d: received[first[d]] to received[first[d + 1]].
  const std::int32_t* first = nullptr;     // [n + 1]
  const std::int32_t* received = nullptr;  // [e]
  float missing = 0.f;                     // LLR of a coded bit that is not sent
  llr_quanta quanta;                       // int16, int8: of an LLR of 1
  int most_heard = 0, most_llr = 0;        // and limits of LLRs received and in the tree, in quanta
  int reached = 0;                         // coded bits that are sent
  bool goes_on = false;                    // a block of the message was decoded before
  /// [1] What was decided before: messages of status_stopped keep their bits. Null data: none.
  view<const std::uint8_t> settled;
  view<const float> llr;      // [E]
  view<std::uint8_t> bits;    // [A]; null data: not wanted
  view<std::uint8_t> status;  // [1]; there where goes_on
};

}  // namespace wb
