#pragma once
// What the steps of front-end impairments hand to kernels. An item is a tile of a capture, or a capture.
#include <cstddef>
#include <cstdint>

#include <warpband/core/view.hpp>

namespace wb {

inline constexpr int impair_tile = 256;          // samples that an item makes
inline constexpr int impair_taps = 32;           // of the interpolation filter
inline constexpr int impair_before = 15;         // taps before the position, besides the nearest
inline constexpr int impair_phases = 512;        // filters for the fraction of a position
inline constexpr int impair_fraction_bits = 40;  // of positions in fixed point
inline constexpr std::uint32_t stream_impairments = 7u << 24;  // next to those of channel/random.hpp

struct impair_args {
  view<const cx_pair> in;  // [captures, samples]
  view<cx_pair> out;
  std::size_t tiles = 0;  // of a capture
  std::uint64_t seed = 0, first = 0;
  std::uint32_t point = 0;
  // Position of output sample n: n + (n drift - delay) 2^-40.
  std::int64_t drift = 0, delay = 0;
  const float* filters = nullptr;  // [phases + 1, taps]; null: no interpolation
  std::uint64_t cfo_step = 0;      // of a sample by the carrier frequency offset, in 2^-64 turns
  float walk = 0;                  // phase noise: scale of a Gaussian step, in 2^walk_shift 2^-32 turns
  int walk_shift = 0;
  float deviation = 0;            // sqrt(N0)
  float mixer[4] = {1, 0, 0, 1};  // I' = [0] I + [1] Q, Q' = [2] I + [3] Q
  bool imbalanced = false;
  float offset[2] = {};                                         // added to I and Q
  float steps_per_unit = 0, unit_per_step = 0, most_steps = 0;  // of the converter; most_steps = 0: none
  std::int32_t* walked = nullptr;      // [captures * tiles]: phase steps of a tile, then before a tile
  std::int32_t* erased = nullptr;      // [captures * tiles]: samples taken as 0
  view<std::int32_t> erased_sum = {};  // [captures, 1] or no data
};

}  // namespace wb
