#pragma once

#include <cstdint>
#include <vector>

/// Codes of 1 to 11 bits of uplink control information: 3GPP TS 38.212 §5.3.3, repeated as in §5.4.3.
namespace oracle {

/// Coded bits of a message; 2 and 3 for the placeholders x and y.
std::vector<std::uint8_t> short_block_word(const std::vector<std::uint8_t>& message, int coded_bits,
                                           int modulation_order);

struct short_block_decision {
  std::vector<std::uint8_t> message;
  double margin;     ///< ln P of the message less that of the next likeliest
  double agreement;  ///< correlation with its word, over that of a word that fits every sign
};
/// The likeliest of all messages. LLRs are ln P(0)/P(1). A y is the bit before it; an x tells nothing.
short_block_decision short_block_search(int k, int modulation_order, const std::vector<double>& llr);

}  // namespace oracle
