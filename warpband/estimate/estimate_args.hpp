#pragma once
#include <cstddef>
#include <cstdint>

#include <warpband/core/view.hpp>

namespace wb {

/// Estimates at pilots lie as [slots, rx antennas, ports, rows, cells], those at all subcarriers of the rows
/// as [slots, rx antennas, ports, rows, subcarriers].
struct estimate_sizes {
  int rx = 1, ports = 1, rows = 1, cells = 1, subcarriers = 1, elements = 1;
};
/// An item is a cell.
struct estimate_cells_args {
  estimate_sizes sizes;
  const std::int32_t* element = nullptr;  // [ports, rows, cells, 4]
  const cx_pair* weight = nullptr;        // [ports, rows, cells, 4]: 0 where there are fewer
  view<const cx_pair> received;           // [slots * elements, rx]
  cx_pair* out = nullptr;
};
/// An item is a subcarrier of a row.
struct estimate_frequency_args {
  estimate_sizes sizes;
  int taps = 1;
  const std::int32_t* start = nullptr;  // [ports, rows, subcarriers]
  const cx_pair* filter = nullptr;      // [ports, rows, subcarriers, taps]
  const cx_pair* in = nullptr;
  cx_pair* out = nullptr;
};
/// What least squares measures of a slot, estimate/filters.hpp: sums of squares, then terms of them.
enum class spread_times { one, two, more };
inline constexpr int spread_sums = 8, spread_terms = 7, spread_chunk = 64;
/// The largest mean |difference|^2 of Clarke's spectrum, for a channel of power 1.
inline constexpr float clarke_step = 2.8f;
/// A sum, and of how many values.
struct spread_sum {
  float sum, count;
};
/// An item is a chunk of the cells of a row. Sums: P, F1, F2, F3, T1, T2, and the real and imaginary part of
/// the product of neighbours. What is not finite is left out.
struct spread_part_args {
  estimate_sizes sizes;
  int chunks = 1;
  const std::int32_t* next = nullptr;  // [rows, 2], or -1
  const float* divided = nullptr;      // [rows, 4]
  const cx_pair* cells = nullptr;
  spread_sum* out = nullptr;  // [slots, parts of a slot, spread_sums]
};
/// An item is a sum of a slot.
struct spread_total_args {
  int parts = 1;
  const spread_sum* in = nullptr;
  float* out = nullptr;  // [slots, spread_sums]: means
};
/// An item is a slot.
struct spread_terms_args {
  estimate_sizes sizes;
  spread_times known = spread_times::one;
  float most_slope = 1;  // of T1 / P
  float noise[spread_sums] = {};
  const float* in = nullptr;
  view<const float> noise_var;
  float* out = nullptr;  // [slots, spread_terms]
};
/// An item is a place of a slot.
struct estimate_time_args {
  estimate_sizes sizes;
  int places = 1;
  const std::int32_t* place = nullptr;  // [places]
  const float* filter = nullptr;        // [symbols, rows]
  const float* gain = nullptr;          // [places]
  int terms = 1;
  const float* weight = nullptr;  // [places, terms]
  const float* term = nullptr;    // [slots, terms]; null: 1
  const cx_pair* in = nullptr;
  view<const float> noise_var;
  view<cx_pair> channel;  // null data: not wanted, and so of noise
  view<float> noise;
};

/// Resource elements of a cell in tables.
inline constexpr int cell_elements = 4;
inline constexpr int covariance_chunk = 64;
/// An item is a sample of an antenna: filtered cells of a row, or the difference of two rows'.
struct noise_sample_args {
  estimate_sizes sizes;
  int taps = 1, filters = 1, starts = 1, samples = 1;  // samples: rows * starts * filters
  const std::int32_t* start = nullptr;                 // [starts]
  const std::int32_t* row = nullptr;                   // [rows, 2]: of ports * rows; the second -1: one row
  const float* scale = nullptr;                        // [rows]
  const cx_pair* filter = nullptr;                     // [filters, taps]
  const cx_pair* cells = nullptr;
  cx_pair* out = nullptr;  // [slots, rx, samples]
};
/// An item is a pair of antennas (r, c) and a chunk of samples: a part of a sum over samples x_r x_c*.
/// Samples are what is received in silent elements, or else what is filtered of cells.
struct covariance_sum_args {
  estimate_sizes sizes;
  int chunks = 1, samples = 1;
  const std::int32_t* silent = nullptr;  // [samples]; null: filtered
  view<const cx_pair> received;
  const cx_pair* filtered = nullptr;  // [slots, rx, samples]
  cx_pair* out = nullptr;             // [slots, pairs, chunks]
};
/// An item is a slot.
struct covariance_args {
  int rx = 1, chunks = 1;
  float scale = 1;
  const cx_pair* sums = nullptr;
  view<cx_pair> covariance;  // [slots, rx * rx]; null data: not wanted, and so of noise
  view<float> noise;         // [slots, 1]
};
/// An item is a slot: L^-1 of the covariance R = L L^H, with what is added to its diagonal.
struct whitener_args {
  int rx = 1;
  view<const cx_pair> covariance;  // [slots, rx * rx]
  float added = 0;
  cx_pair* out = nullptr;  // [slots, rx * rx]
};
/// An item is a use: L^-1 y and L^-1 H.
struct whiten_args {
  int rx = 1, columns = 1;  // of H
  std::size_t uses = 1;     // of a slot
  const cx_pair* factor = nullptr;
  view<const cx_pair> received, channel;
  view<cx_pair> out_received, out_channel;
  view<std::uint8_t> status;  // where wanted
};

}  // namespace wb
