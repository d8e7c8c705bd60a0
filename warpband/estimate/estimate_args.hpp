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
  estimate_sizes of;
  const std::int32_t* element = nullptr;  // [ports, rows, cells, 4]
  const cx_pair* weight = nullptr;        // [ports, rows, cells, 4]: 0 where there are fewer
  view<const cx_pair> received;           // [slots * elements, rx]
  cx_pair* out = nullptr;
};
/// An item is a subcarrier of a row.
struct estimate_frequency_args {
  estimate_sizes of;
  int taps = 1;
  const std::int32_t* start = nullptr;  // [ports, rows, subcarriers]
  const cx_pair* filter = nullptr;      // [ports, rows, subcarriers, taps]
  const cx_pair* in = nullptr;
  cx_pair* out = nullptr;
};
/// An item is a place of a slot.
struct estimate_time_args {
  estimate_sizes of;
  int places = 1;
  const std::int32_t* place = nullptr;  // [places]
  const float* filter = nullptr;        // [symbols, rows]
  const float* variance = nullptr;      // [places, 2]
  const cx_pair* in = nullptr;
  view<const float> noise_var;
  view<cx_pair> channel;  // null data: not wanted, and so of noise
  view<float> noise;
};

/// Resource elements of a cell in tables.
inline constexpr int cell_elements = 4;
inline constexpr int covariance_chunk = 64;
/// An item is a pair of antennas (r, c) and a chunk of samples: a part of a sum over samples x_r x_c*.
/// Samples are what is received in silent elements, or else differences of neighbouring estimates at pilots.
struct covariance_sum_args {
  estimate_sizes of;
  int chunks = 1, samples = 1;
  const std::int32_t* silent = nullptr;  // [samples]; null: differences of cells
  view<const cx_pair> received;
  const cx_pair* cells = nullptr;
  const float* scale = nullptr;  // of differences, [ports, rows]
  cx_pair* out = nullptr;        // [slots, pairs, chunks]
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
};

}  // namespace wb
