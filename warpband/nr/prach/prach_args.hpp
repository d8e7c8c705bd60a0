#pragma once
// What the steps of PRACH hand to kernels. L values of a sequence, M points of a correlation.
#include <cstddef>
#include <cstdint>

#include <warpband/core/view.hpp>

namespace wb {

/// The window of a preamble.
struct prach_window {
  std::int32_t root;      // its number in the list of roots
  std::int32_t first;     // point of the correlation
  std::int32_t count;     // points
  std::int32_t position;  // where delay 0 is, in samples of the sequence
};
struct prach_root {
  std::int32_t u, inverse;   // and 1 / u mod L
  std::int32_t first, last;  // preambles
};

/// Values of preambles to bins. Item: preamble * parts + part.
struct prach_place_args {
  const cx_pair* values = nullptr;  // [64, length]
  const std::int32_t* preambles = nullptr;
  const cx_pair* twiddles = nullptr;  // [parts, length] exp(2 pi i k p / N)
  int length = 0, size = 0, parts = 1, first_bin = 0;
  cx_pair* bins = nullptr;  // [items, size]
};

/// A sequence to prefix and repetitions. Item: a preamble.
struct prach_repeat_args {
  const cx_pair* sequence = nullptr;  // [items, length]
  int length = 0, prefix = 0;
  float scale = 1;
  view<cx_pair> out;
};

/// Bins to values. Item: (antenna and repetition) * occasions + occasion.
struct prach_take_args {
  const cx_pair* bins = nullptr;      // [items, parts, size]
  const cx_pair* twiddles = nullptr;  // as above
  int length = 0, size = 0, parts = 1, first_bin = 0;
  std::size_t occasions = 0;
  float scale = 1;
  view<cx_pair> out;  // [occasions, (antenna and repetition) * length + k]
};

/// Sums of repetitions. Item: (occasion * antennas + antenna) * groups + group.
struct prach_combine_args {
  view<const cx_pair> in;
  int length = 0, coherent = 1;
  std::size_t rows = 1;         // antennas * groups: items of an occasion
  cx_pair* sums = nullptr;      // [items, length]
  float* energy = nullptr;      // [items]
  std::int32_t* bad = nullptr;  // [items] values that are not finite or too large
};

/// Products with roots, zero padded. Item: (row of sums) * roots + root.
struct prach_multiply_args {
  const cx_pair *sums = nullptr, *replicas = nullptr;
  int length = 0, points = 0, roots = 1;
  cx_pair* out = nullptr;  // [items, points]
};

/// The largest metric of each window. Item: occasion * roots + root.
struct prach_peaks_args {
  const cx_pair* correlation = nullptr;  // [occasion, antenna, group, root, points]
  const float* energy = nullptr;         // [occasion, antenna, group]
  const std::int32_t* bad = nullptr;
  const prach_window* windows = nullptr;
  const prach_root* of_root = nullptr;
  int length = 0, points = 0, roots = 1, antennas = 1, groups = 1;
  struct peak {
    float metric, top, delay;  // at a point, at the top of its peak; in samples of the sequence
  }* peaks = nullptr;          // [occasions, 64]
};

/// Which peaks are preambles. Item: occasion * 64 + preamble.
struct prach_decide_args {
  const prach_peaks_args::peak* peaks = nullptr;
  const std::int32_t* bad = nullptr;
  const prach_window* windows = nullptr;
  const prach_root* of_root = nullptr;
  int length = 0, coherent = 1;
  std::size_t rows = 1;  // antennas * groups
  float threshold = 0;
  float offset = 0;                     // largest frequency offset in subcarriers
  float microseconds = 1, advance = 1;  // of a sample of the sequence
  view<std::uint8_t> detected, status;
  view<float> delay_us, snr_db, metric;
  view<std::int32_t> timing_advance;
};

}  // namespace wb
