#pragma once
#include <cstddef>
#include <cstdint>

#include <warpband/core/view.hpp>

namespace wb {

inline constexpr int pusch_uci_parts = 4;  // data, HARQ-ACK, CSI part 1, CSI part 2

/// Coded bits of all parts to a codeword's. An item is a bit of a codeword.
struct pusch_uci_multiplex_args {
  int bits = 1;                            // of a codeword
  const std::int32_t* source = nullptr;    // [bits] part and number in it: part << 28 | number
  const std::uint8_t* scramble = nullptr;  // [bits]
  view<const std::uint8_t> in[pusch_uci_parts];
  view<std::uint8_t> out;
};

/// LLRs of codewords to those of the parts. An item is a bit of a part, all parts after one another.
struct pusch_uci_demultiplex_args {
  int bits = 1;                         // of all parts
  int first[pusch_uci_parts] = {};      // of each part, among them
  const std::int32_t* place = nullptr;  // [bits] in the codeword, or -1: punctured
  const float* sign = nullptr;          // [bits] of the scrambling
  view<const float> in;
  view<float> out[pusch_uci_parts];  // data may be null
};

}  // namespace wb
