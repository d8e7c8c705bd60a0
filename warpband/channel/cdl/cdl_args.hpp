#pragma once
#include <cstddef>
#include <cstdint>

#include <warpband/core/view.hpp>

namespace wb {

/// Angles of a ray, in turns of 2^-32: azimuth of departure from the user's direction, the others as they
/// are.
struct cdl_ray {
  std::uint32_t aod, aoa, zod, zoa;
};

/// Whose random numbers a block of four words are among those of a drop: with `ray` 0 and 1 of the user, with
/// ray + 2 of a ray. 17 of the 24 bits.
constexpr std::uint32_t cdl_number(int user, int ray) { return static_cast<std::uint32_t>(user << 11 | ray); }

/// Most rays of a drop and user: 32 clusters and a line of sight.
inline constexpr int cdl_most_rays = 32 * 20 + 1, cdl_most_paths = 32 * 3 + 1;

/// What a drop's kernels hand on lies in `drawn`: for each drop and ray, of each user, how much of a turn its
/// phase is at the first antenna and symbol, and how much it grows from antenna to antenna and from symbol to
/// symbol; behind all rays the amplitude of each user, as the bits of a float.
struct cdl_args {
  int subcarriers = 1, symbols = 1, antennas = 1, users = 1;
  int paths = 1, rays = 1;  // of a user
  int times = 1;            // at which H differs: symbols, or 1 for users that stand still
  int padded_subcarriers = 4;
  bool moving = false, tilted = false;  // users; rays in zenith
  bool power_control = false;
  float spacing = 0;                     // of antennas, wavelengths
  float doppler = 0;                     // turns a symbol
  float shadowing = 0;                   // of ln amplitude
  const cdl_ray* angles = nullptr;       // [rays]
  const std::int32_t* starts = nullptr;  // [paths + 1]
  const float* amplitudes = nullptr;     // [paths]
  const float* rotations = nullptr;      // [2 * paths, padded subcarriers]
  const float* overlaps = nullptr;       // [paths, paths, 2]
  const std::uint32_t* turns = nullptr;  // [users, 4]: begin and width of directions, then of headings
  std::uint32_t* drawn = nullptr;        // [drops, 3 * rays + 1, users]
  view<cx_pair> channel;
  std::uint64_t seed = 0, first = 0;
  std::uint32_t point = 0;
};

}  // namespace wb
