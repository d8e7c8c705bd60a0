#include "short_block.hpp"

#include <cmath>
#include <string>

namespace oracle {
namespace {

/// Table 5.3.3.3-1, M(i, 0) to M(i, 10) of each row.
const char* const rows[32] = {
    "11000000001", "11100000011", "10010010111", "10110000101", "11110001001", "11001011101", "10101010111",
    "10011001101", "11011001011", "10111010011", "10100111011", "11100110101", "10010101111", "11010101011",
    "10001101001", "11001111011", "11101110010", "10011100100", "11011111000", "10000110000", "10100010001",
    "11010000011", "10001001101", "11101000111", "11111011110", "11000111001", "10110100110", "11110101110",
    "10101110100", "10111111100", "11111111111", "10000000000"};

/// A period of the word, as the clauses print it: c and d are the bits, s their sum.
std::string pattern_of(std::size_t k, int modulation_order) {
  const std::string fill(modulation_order > 2 ? static_cast<std::size_t>(modulation_order - 2) : 0, 'x');
  if (k == 1) return modulation_order == 1 ? "c" : "cy" + fill;
  return "cd" + fill + "sc" + fill + "ds" + fill;
}

}  // namespace

std::vector<std::uint8_t> short_block_word(const std::vector<std::uint8_t>& message, int coded_bits,
                                           int modulation_order) {
  std::vector<std::uint8_t> word;
  for (int e = 0; e < coded_bits; e++) {
    unsigned bit = 0;
    if (message.size() > 2) {
      for (std::size_t i = 0; i < message.size(); i++)
        bit ^= static_cast<unsigned>(rows[e % 32][i] - '0') & message[i];
    } else {
      const std::string pattern = pattern_of(message.size(), modulation_order);
      switch (pattern[static_cast<std::size_t>(e) % pattern.size()]) {
        case 'x':
          bit = 2;
          break;
        case 'y':
          bit = 3;
          break;
        case 'c':
          bit = message[0];
          break;
        case 'd':
          bit = message[1];
          break;
        default:
          bit = static_cast<unsigned>(message[0] ^ message[1]);
      }
    }
    word.push_back(static_cast<std::uint8_t>(bit));
  }
  return word;
}

short_block_decision short_block_search(int k, int modulation_order, const std::vector<double>& llr) {
  short_block_decision best{{}, 0, 0};
  double first = -INFINITY, second = -INFINITY, magnitude = 0;
  for (unsigned m = 0; m < 1u << k; m++) {
    std::vector<std::uint8_t> message;
    for (int i = 0; i < k; i++) message.push_back(static_cast<std::uint8_t>(m >> i & 1));
    const auto word = short_block_word(message, static_cast<int>(llr.size()), modulation_order);
    double correlation = 0;
    magnitude = 0;
    for (std::size_t e = 0; e < llr.size(); e++) {
      if (word[e] == 2) continue;
      const unsigned bit = word[e] == 3 ? word[e - 1] : word[e];
      correlation += bit == 0 ? llr[e] : -llr[e];
      magnitude += std::abs(llr[e]);
    }
    if (correlation > first) {
      second = first;
      first = correlation;
      best.message = message;
    } else if (correlation > second) {
      second = correlation;
    }
  }
  best.margin = (first - second) / 2;
  best.agreement = first / magnitude;
  return best;
}

}  // namespace oracle
