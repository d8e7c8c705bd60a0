#pragma once
#include <cstddef>
#include <cstdint>

#include <warpband/core/view.hpp>

namespace wb {

/// Rows of tables are padded to a multiple of the widest vector: vectors are loaded whole. For the host, as
/// tdl_number is.
constexpr int tdl_padded(int n) { return (n + 15) / 16 * 16; }

/// Where a path's random numbers begin among a block's: those of a sinusoid and, with number 0, of the fixed
/// part. 21 of the 24 bits.
constexpr std::uint32_t tdl_number(int rx, int stream, int tap) {
  return static_cast<std::uint32_t>(((rx << 3 | stream) << 6 | tap) << 8);
}

/// A path is a tap between a pair of antennas; number (r * streams + s) * taps + tap.
struct tdl_args {
  int subcarriers = 1, symbols = 1, taps = 1, streams = 1, rx_antennas = 1, sinusoids = 1;
  int padded_paths = 16, padded_subcarriers = 16;
  int times = 1;                           // at which paths differ: symbols, or 1 without Doppler
  bool fixed = false;                      // the first taps have a fixed part
  float turn = 0, fixed_turn = 0;          // 2 pi fD, and 0.7 times that, a symbol
  std::uint32_t sector = 0;                // 2^32 / sinusoids, the angles of a sinusoid
  const float* amplitudes = nullptr;       // [2, padded paths]
  const std::uint32_t* numbers = nullptr;  // [padded paths]
  const float* rotations = nullptr;        // [2 * taps, padded subcarriers]
  /// Between pairs of antennas, the lower triangle of L, complex: row i begins at i (i + 1) / 2. Null: the
  /// identity.
  const float* spatial = nullptr;
  view<const cx_pair> in;  // no data: only H
  view<cx_pair> out, channel;
  std::uint64_t seed = 0, first = 0;
  std::uint32_t point = 0;
};

}  // namespace wb
