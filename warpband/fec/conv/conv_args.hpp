#pragma once
// Arguments that the kernels of convolutional codes share. Plain data.
#include <cstdint>

#include <warpband/core/status.hpp>
#include <warpband/core/view.hpp>

namespace wb {

/// Steps whose branch weights decoders make at once; metrics are brought back to zero at the first of them.
inline constexpr int conv_run = 16;

/// How a codeword ends.
enum class conv_ending : int {
  zero_tail,    // K - 1 more steps bring the register to zero; their bits are sent too
  tail_biting,  // the register starts with the last K - 1 bits, so that it ends as it started
  truncated,    // the register starts with zeros and stops anywhere
};

/// Codes of K = 7 without feedback that are known when CUDA kernels are compiled, by their generators.
/// Decoders in float32 and 16 bits have kernels of their own for them.
enum class conv_known : std::uint8_t {
  none,          // any other code
  g133_171,      // IEEE 802.11
  g133_171_165,  // LTE
};

/// A code over codewords of one length. Register bits are counted as in an octal generator: the newest one is
/// the highest, bit K - 1; the K - 1 older ones are the state.
struct conv_trellis {
  int memory = 0;   // K - 1
  int outputs = 0;  // coded bits of a step before puncturing
  int k = 0, steps = 0;
  conv_ending ending = conv_ending::zero_tail;
  int feedback = 0;     // the polynomial of the input bit over the register
  int systematic = -1;  // the output that is the input bit; -1: none
  int ranges = 1;       // a run of steps has its values in one range of the codeword, or one of each output
  int older = 0, newer = 0;  // the coded bits that the oldest, the newest bit of the register flips
  /// Coded bits (bit i: output i, bit `outputs`: the input) of the branch from state 2 j with a new bit 0,
  /// for j = 0..2^(K-2) - 1.
  const std::int32_t* codes = nullptr;
  const std::int32_t* places = nullptr;  // [step][output]: which value of the codeword, -1: not sent
  const std::int32_t* firsts = nullptr;  // [range][step]: where the values of a step begin; steps + 1 of them
};

/// What a decoder does for a codeword: runs of steps, steps in them, those of them that have an information
/// bit, LLRs of the codeword that it loads.
struct conv_work {
  double runs = 0, steps = 0, inputs = 0, values = 0;
};

struct conv_encode_args {
  conv_trellis code;
  int generators[4] = {};
  int n = 0;
  view<const std::uint8_t> bits;  // k
  view<std::uint8_t> coded;       // >= n, zeros behind
};

}  // namespace wb
