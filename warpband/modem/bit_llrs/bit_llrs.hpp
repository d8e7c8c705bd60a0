#pragma once
// LLRs of what a channel of bits gives: L = ln P(r | b = 0) / P(r | b = 1) of each value r that is received.
// channel/binary/binary.hpp has the channels and their LLRs.
#include <cstdint>

#include <warpband/exec/executor.hpp>
#include <warpband/modem/bit_llrs/bit_llrs_args.hpp>

namespace wb {

/// LLRs of a received 0, a received 1, and an erasure, which is any other value.
struct bit_llrs {
  float zero = 0, one = 0, erased = 0;
};
/// Queues: LLRs [bits, 1] of what is received, [bits, 1]. Throws shape_error.
void llrs_of_bits(executor& exec, const bit_llrs& llrs, view<const std::uint8_t> received, view<float> llr);

}  // namespace wb
