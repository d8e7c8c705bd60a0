#pragma once
// What the kernels of PDCCH take. A grid is a CORESET's symbols, subcarrier by subcarrier. A candidate has
// `bundles` bundles of neighbouring resource blocks, the same ones in all symbols.
#include <cstddef>
#include <cstdint>

#include <warpband/core/view.hpp>

namespace wb {

inline constexpr int pdcch_slots = 80;      // whose DMRS are in the tables
inline constexpr int pdcch_widths = 4;      // of delay profiles
inline constexpr int pdcch_ratios = 14;     // of signal and noise
inline constexpr int pdcch_block_dmrs = 3;  // of a resource block and symbol, on subcarriers 1, 5, 9
inline constexpr int pdcch_block_data = 9;

struct pdcch_shape {
  int blocks = 0, symbols = 0;         // of the CORESET
  int subcarriers = 0;                 // of the CORESET
  int bundles = 0, bundle_blocks = 0;  // of a candidate
  int bundle_subcarriers = 0;          // of a bundle
  int bundle_dmrs = 0;                 // of a bundle and symbol
  int candidate_blocks = 0;            // of a candidate
  int coded_bits = 0;                  // E
  int dmrs_words = 0;                  // of a symbol of the CORESET
  int values = 0, dmrs = 0;            // of a candidate: all values; DMRS of a symbol
  // Offsets in scratch memory, which begins with the values. Complex values take two.
  int pilots = 0, means = 0, energies = 0, scores = 0, parts = 0, rotations = 0, scratch = 0;
};

/// Of a decoded candidate. 0, 1: power of signal and noise of a resource element. 2, 3: exp(i phi). 4, 5: the
/// phase's advance from subcarrier to subcarrier. 6: metric. 7: 1 if the candidate is usable, else 0.
inline constexpr int pdcch_numbers = 8;

/// Wiener filters of a bundle for uniform delay profiles. R is the correlation between its DMRS.
struct pdcch_filters {
  const float* vectors = nullptr;  // [widths][dmrs][dmrs]: eigenvectors of R, one after the other
  const float* values = nullptr;   // [widths][dmrs]: eigenvalues
  // [widths][subcarriers][dmrs]: correlation with a subcarrier, times the vectors
  const float* spread = nullptr;
  const float* volumes = nullptr;  // [widths][ratios]: ln det(1 + symbols ratio R)
  const float* ratios = nullptr;   // [ratios]
};

/// Channel estimates and LLRs of candidates.
struct pdcch_equalise_args {
  pdcch_shape shape;
  view<const cx_pair> grid;                    // [grids, symbols * subcarriers]
  const std::int32_t* candidates = nullptr;    // [items][3]: grid, slot, number of the candidate
  const std::int32_t* first_blocks = nullptr;  // [candidates][bundles], rising
  const std::uint32_t* dmrs = nullptr;  // [pdcch_slots][symbols][dmrs_words]: bits, the first one lowest
  const std::uint32_t* scrambling = nullptr;  // of E bits
  pdcch_filters filters;
  float* llr = nullptr;      // [items][E]
  float* numbers = nullptr;  // [items][pdcch_numbers]
};

/// Coded bits to grids.
struct pdcch_map_args {
  pdcch_shape shape;
  view<const std::uint8_t> coded;             // [items, E]
  const std::int32_t* candidates = nullptr;   // [items][2]: slot, number of the candidate
  const std::int32_t* block_rank = nullptr;   // [candidates][blocks]: among the candidate's blocks, or -1
  const std::uint32_t* dmrs = nullptr;        // as above
  const std::uint32_t* scrambling = nullptr;  // as above
  view<cx_pair> grid;                         // [items, symbols * subcarriers]
};

}  // namespace wb
