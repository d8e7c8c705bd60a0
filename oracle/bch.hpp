#pragma once
// Binary BCH codes by the definition: minimal polynomials by linear dependence of powers, parity by long
// division, decoding by solving Newton's identities for each number of errors (Peterson, Gorenstein,
// Zierler).
#include <cstdint>
#include <optional>
#include <vector>

namespace oracle {

struct bch {
  int m, t, n;
  unsigned polynomial;  // primitive, bit i for x^i
};

/// Coefficients of the generator, from x^0 on.
std::vector<std::uint8_t> bch_generator(const bch& code);
/// The codeword of bits, the first of which is the coefficient of the highest power.
std::vector<std::uint8_t> bch_encode(const bch& code, const std::vector<std::uint8_t>& bits);
/// The codeword within distance t of a word, or nothing.
std::optional<std::vector<std::uint8_t>> bch_decode(const bch& code, const std::vector<std::uint8_t>& word);

}  // namespace oracle
