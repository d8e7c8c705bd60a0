#pragma once

#include <cstdint>
#include <vector>

/// Textbook channel coding of 3GPP TS 36.212, for checking the library. Slow, plain, and sharing no code with
/// it.
namespace oracle {

/// QPP interleaver of TS 36.212 §5.1.3.2.3: bit i into encoder 2 is input bit pi(i) = (f1 i + f2 i^2) mod k.
/// Returns pi(0..k-1), a permutation or not. Throws std::invalid_argument unless 1 <= k <= 65536 and f1, f2
/// >= 0: within these the polynomial is evaluated without overflow, exactly as printed.
std::vector<int> qpp(int k, int f1, int f2);

/// Parity bits of TS 36.212 §5.1.1 by long division over GF(2): the remainder of bits(D) * D^degree divided
/// by the polynomial, highest degree (p0) first. The first bit is the highest-degree coefficient; the
/// register starts at 0. `polynomial_with_leading_term` has bit `degree` set, e.g. 0x1864CFB with degree 24
/// for CRC24A.
std::vector<std::uint8_t> crc(const std::vector<std::uint8_t>& bits,
                              std::uint32_t polynomial_with_leading_term, int degree);

/// The three output streams of the turbo encoder, each k + 4 long, tail bits in the order of TS 36.212
/// §5.1.3.2.2.
struct turbo_streams {
  std::vector<std::uint8_t> d0, d1, d2;
};

/// Turbo encoder of TS 36.212 §5.1.3.2 without filler bits. `interleaver[i]` is the index of the input bit
/// that enters encoder 2 at time i. Any permutation of any length is accepted, not only the QPP of the
/// standard.
turbo_streams turbo_encode(const std::vector<std::uint8_t>& bits, const std::vector<int>& interleaver);

}  // namespace oracle
