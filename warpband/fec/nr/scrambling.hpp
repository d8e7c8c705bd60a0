#pragma once
// Scrambling of 5G NR: the pseudo-random sequence of 3GPP TS 38.211 §5.2.1, a Gold sequence of length 31.
//
//   x1(n + 31) = x1(n + 3) + x1(n),  x1 starts at 1, 0, 0, ...
//   x2(n + 31) = x2(n + 3) + x2(n + 2) + x2(n + 1) + x2(n),  x2 starts at the bits of c_init
//   c(n) = x1(n + 1600) + x2(n + 1600)  (mod 2)
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace wb {

/// c(0..length - 1). Throws argument_error ("c_init": 0..2^31 - 1; "length": up to 2^28).
std::vector<std::uint8_t> nr_scrambling_sequence(std::int64_t c_init, std::size_t length);
/// Bits 0 and 1 in words of 32, the first bit lowest.
std::vector<std::uint32_t> packed_words(std::span<const std::uint8_t> bits);

/// c_init of a shared channel, §6.3.1.1 and §7.3.1.1: n_RNTI 2^15 + q 2^14 + n_ID. rnti 0..65535, codeword
/// q 0 or 1, identity 0..1023. Throws argument_error.
int nr_scrambling_init(int rnti, int identity, int codeword = 0);

}  // namespace wb
