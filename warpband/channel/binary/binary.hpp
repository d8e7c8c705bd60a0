#pragma once
// Channels of bits without memory, and the LLR L = ln P(r | b = 0) / P(r | b = 1) of what is received, r:
//
//   bsc  a bit is flipped with p          r = 0: ln((1 - p) / p)   1: -ln((1 - p) / p)
//   bec  a bit is erased with p           r = 0: known_bit_llr     1: -known_bit_llr    erased_bit: 0
//   z    a 1 becomes 0 with p, a 0 stays  r = 0: ln(1 / p)         1: -known_bit_llr
//
// All L are limited to +-known_bit_llr. A bsc with p > 1/2 is legal: its LLRs have the other sign. With p =
// 1/2 they are 0.
//
// Random numbers: Philox with the index of the bit (channel/random.hpp), 64 bits for each. So events of p =
// 1e-12 come at their rate. An event of p = 1 is left out with a probability of 2^-64.
//
// T. Richardson, R. Urbanke, "Modern Coding Theory", 2008, chapters 3 and 4.
#include <cstdint>

#include <warpband/channel/binary/binary_args.hpp>
#include <warpband/channel/random.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/modem/bit_llrs/bit_llrs.hpp>

namespace wb {

/// LLR of a bit about which the channel leaves no doubt. It is large enough that e^-L is below 1e-43, and
/// small enough that sums with the other LLRs of a codeword keep these.
inline constexpr double known_bit_llr = 100;
/// What is received of a bit, besides 0 and 1.
inline constexpr std::uint8_t erased_bit = 2;

struct binary_channel {
  double change[2] = {};             // probability that a sent 0, a sent 1 changes
  std::uint8_t changed[2] = {1, 0};  // what it changes into
  bit_llrs llr = {};                 // of what is received
};
/// `probability`: 0..1, of an error, an erasure, a 1 that becomes 0. They throw argument_error.
binary_channel binary_symmetric_channel(double probability);
binary_channel binary_erasure_channel(double probability);
binary_channel z_channel(double probability);

/// Queues: sends bits [bits, 1], of which the lowest bit counts, to received [bits, 1]. `range.first` is the
/// index of the first bit. In place if received is bits. Throws argument_error, shape_error.
void send_bits(executor& exec, const binary_channel& channel, view<const std::uint8_t> bits,
               view<std::uint8_t> received, random_range range);

}  // namespace wb
