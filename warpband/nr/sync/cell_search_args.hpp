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
inline constexpr int search_pairs = search_fft / 2;
inline constexpr int search_peak_block = 64;  // offsets of which the best one is kept
inline constexpr int search_tile = 128;       // samples that a filter item makes
inline constexpr int search_taps_aside = 8;   // taps of a channel before and after the strongest one
inline constexpr int search_values = 127;
/// Of a candidate: phase advance in 64 samples, 127 values of PSS and of SSS, 336 metrics.
inline constexpr int search_ids = 336;
inline constexpr int search_result = 2 + 4 * search_values + search_ids;

/// Shifts in frequency, filters and decimates. An item is a tile of a row.
struct search_filter_args {
  view<const cx_pair> in;  // [rows, samples]
  const cx_pair* taps = nullptr;
  int tap_count = 1, decimation = 1;
  std::uint32_t turn = 0;  // of a sample at the search rate, in 2^-32 turns, taken off
  float *re = nullptr, *im = nullptr;
  std::size_t stride = 0, tiles = 0;
  std::int32_t* erased = nullptr;  // [rows * tiles]: samples that are not finite or too large
};

/// Correlates with the PSS. An item is an offset.
struct search_correlate_args {
  const float *re = nullptr, *im = nullptr;
  // [half][hypothesis group][pair][hypothesis of the group][N_ID2]: real and imaginary part
  const float* replicas = nullptr;
  int groups = 1, per_group = 1;  // hypotheses of the frequency: groups * per_group
  float* metric[3] = {};          // of each N_ID2: the largest |correlation|^2 over the energy
  float* code[3] = {};            // 2 * hypothesis + 1 where it is half a sample late
};

/// The best offset of each block of offsets. Item: (row * blocks + block) * 3 + N_ID2.
struct search_peaks_args {
  const float* metric[3] = {};
  const float* code[3] = {};
  std::size_t stride = 0, blocks = 0, offsets = 0;
  struct peak {
    float metric, code;
    std::int32_t offset;
  }* peaks = nullptr;
};

/// Takes a candidate apart. Item: a candidate, all of one N_ID2.
struct search_identify_args {
  const float *re = nullptr, *im = nullptr;
  const std::int64_t* start = nullptr;  // sample of the buffer
  const std::int32_t* code = nullptr;
  const std::uint32_t* turns = nullptr;  // of each hypothesis, a sample
  const float* replica = nullptr;        // [code][128] complex values of this N_ID2, in time
  const float* pss = nullptr;            // [127]
  const float* sss = nullptr;            // first, twice; second, twice: [4 * 127]
  const float* circle = nullptr;         // exp(2 pi i k / 256), complex
  int n_id2 = 0;
  view<float> out;  // [candidates, search_result]
};

}  // namespace wb
