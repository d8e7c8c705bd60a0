#pragma once
// What the kernels of PBCH take. A grid is a block's 4 symbols of 240 subcarriers, symbol by symbol.
#include <cstddef>
#include <cstdint>

#include <warpband/core/view.hpp>

namespace wb {

inline constexpr int pbch_coded_bits = 864;   // E
inline constexpr int pbch_dmrs_indices = 8;   // DMRS sequences of a cell
inline constexpr int pbch_dmrs_values = 144;  // of a block
inline constexpr int pbch_comb = 60;          // subcarriers with DMRS of a symbol

/// Bits of a cell's sequences in words of 32, the first one lowest: of the eight DMRS (288 bits each), of the
/// SSS (127), of the scrambling (8 times 864).
inline constexpr int pbch_dmrs_words = 9, pbch_sss_word = pbch_dmrs_indices * pbch_dmrs_words,
                     pbch_scrambling_word = pbch_sss_word + 4, pbch_scrambling_words = 27,
                     pbch_cell_words = pbch_scrambling_word + 8 * pbch_scrambling_words;

/// Of a decoded hypothesis. 0: index of the DMRS sequence. 1, 2: power of signal and noise of a resource
/// element. 3, 4: exp(i phi). 5: delay in 1/256 of a symbol. 6: 1 if the block is usable, else 0.
inline constexpr int pbch_numbers = 7;

/// DMRS hypotheses, channel estimate and LLRs of a block.
struct pbch_equalise_args {
  view<const cx_pair> grid;              // [blocks, 960]
  const std::int32_t* cell = nullptr;    // [blocks]
  const std::uint32_t* words = nullptr;  // [1008][pbch_cell_words]
  const float* circle = nullptr;         // exp(2 pi i k / 256), complex
  int hypotheses = 1;                    // that are decoded, the likeliest first
  std::uint32_t scrambling_mask = 7;     // the DMRS index's bits that shift the scrambling
  float* llr = nullptr;                  // [blocks][hypotheses][864]
  float* numbers = nullptr;              // [blocks][hypotheses][pbch_numbers]
};

/// Coded bits to a block's grid.
struct pbch_map_args {
  view<const std::uint8_t> coded;         // [blocks, 864]
  const std::int32_t* cell = nullptr;     // [blocks]
  const std::int32_t* indices = nullptr;  // [blocks]: of the DMRS sequence
  const std::uint32_t* words = nullptr;   // as above
  const float* pss = nullptr;             // [3][127]
  std::uint32_t scrambling_mask = 7;
  view<cx_pair> grid;  // [blocks, 960]
};

}  // namespace wb
