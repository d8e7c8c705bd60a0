#pragma once
// What the steps of a cell search hand to kernels. Samples at the search rate, 128 for each subcarrier
// spacing, lie as rows of `stride` real and of `stride` imaginary parts.
#include <cstddef>
#include <cstdint>

#include <warpband/core/view.hpp>

namespace wb {

inline constexpr int search_fft = 128;   // samples of an OFDM symbol without its prefix
inline constexpr int search_prefix = 9;  // of the symbols of a block
inline constexpr int search_sss_distance = 2 * (search_fft + search_prefix);  // from PSS to SSS
inline constexpr int search_window = search_sss_distance + search_fft;        // samples that a block takes
inline constexpr int search_peak_block = 64;  // offsets of which the best one is kept
inline constexpr int search_tile = 128;       // samples that a filter item makes, offsets of a correlation
inline constexpr int search_transform_size = 256;
inline constexpr int search_peak_values = 3 * 3 * search_tile / search_peak_block;
inline constexpr int search_taps_aside = 8;  // taps of a channel before and after the strongest one
inline constexpr int search_values = 127;
/// Of a candidate: phase advance in 64 samples, 127 values of PSS and of SSS, 336 metrics.
inline constexpr int search_ids = 336;
inline constexpr int search_result = 2 + 4 * search_values + search_ids;

/// Shifts in frequency, filters and decimates. An item is a tile of a row.
struct search_filter_args {
  view<const cx_pair> in;  // [rows, samples]
  const cx_pair* taps = nullptr;
  int tap_count = 1, decimation = 1;
  int columns = 0;         // samples of a phase that a tile needs, rounded up to 16
  std::uint32_t turn = 0;  // of a sample at the search rate, in 2^-32 turns, taken off
  float *re = nullptr, *im = nullptr;
  std::size_t stride = 0, tiles = 0;
  std::int32_t* erased = nullptr;  // [rows * tiles]: samples that are not finite or too large
};

/// Correlates with the PSS by overlap-save, and keeps the best offset of each block of offsets. An item is a
/// tile of a row.
struct search_correlate_args {
  const float *re = nullptr, *im = nullptr;
  // [half][hypothesis][N_ID2][bin]: conjugate spectra, complex, in the order of search_bin
  const float* replicas = nullptr;
  int hypotheses = 1;
  std::size_t tiles = 0, offsets = 0;  // of a row
  const float* circle = nullptr;       // exp(2 pi i k / 256), complex
  // [tiles, search_peak_values]: of each N_ID2 and block |correlation|^2 over the energy, code, offset in the
  // block. The code is 2 * hypothesis, + 1 where it is half a sample late.
  view<float> peaks;
};

/// Estimates channel and SSS metrics of a candidate. Item: a candidate, all of one N_ID2.
struct search_identify_args {
  const float *re = nullptr, *im = nullptr;
  const std::int64_t* start = nullptr;  // sample of the buffer
  const std::int32_t* code = nullptr;
  const std::uint32_t* turns = nullptr;  // of each hypothesis, a sample
  const float* replica = nullptr;        // [code][128] complex values of this N_ID2, in time
  const float* pss = nullptr;            // [127]
  const float* first = nullptr;          // m-sequence of the SSS, twice: [2 * 127]
  const std::int32_t* states = nullptr;  // [127]: of the second m-sequence from each value on, 7 bits
  const std::int32_t* masks = nullptr;   // [112]: its shift by n is the parity of state and mask
  const float* circle = nullptr;
  int n_id2 = 0;
  view<float> out;  // [candidates, search_result]
};

}  // namespace wb
