#pragma once
#include <cstddef>
#include <cstdint>

#include <warpband/core/view.hpp>

namespace wb {

/// Angles of a ray, in turns of 2^-32: azimuth of departure from the user's direction, the others as they
/// are. Which rays its path has: from `first`, `count` of them.
struct cdl_ray {
  std::uint32_t aod, aoa, zod, zoa;
  std::int32_t first, count;
};

/// Subcarriers that are made together.
inline constexpr int cdl_side = 4;

/// What the kernels of a drop hand on lies in `drawn`: for each drop and ray, of each user, its phase in
/// turns at the first antenna and symbol. Also how much the phase grows from antenna to antenna of a row,
/// from symbol to symbol and, where `numbers` is 4, from row to row. Behind all rays lies the amplitude of
/// each user, as the bits of a float.
struct cdl_args {
  int subcarriers = 1, symbols = 1, antennas = 1, users = 1;
  int paths = 1, rays = 1;               // of a user
  int times = 1;                         // at which H differs: symbols, or 1 for users that stand still
  bool moving = false, tilted = false;   // users; rays out of the horizon
  int numbers = 3;                       // of a ray in `drawn`: 4 for several rows of antennas
  int columns = 1;                       // antennas of a row; antenna b is in row b / columns
  std::uint32_t reciprocal = 0;          // of several columns: 2^32 / columns, rounded up
  float spacing = 0;                     // of antennas of a row, wavelengths
  float row_spacing = 0;                 // of rows, wavelengths
  float doppler = 0;                     // turns a symbol
  float shadowing = 0;                   // standard deviation of ln amplitude
  const cdl_ray* angles = nullptr;       // [rays]
  const std::int32_t* starts = nullptr;  // [paths + 1]: first ray of each
  const float* amplitudes = nullptr;     // [paths]: of a ray
  const float* rotations =
      nullptr;  // [subcarriers / cdl_side rounded up, paths, real and imaginary, cdl_side]
  const float* overlaps = nullptr;       // [paths, paths, 2]
  const std::uint32_t* turns = nullptr;  // [users, 4]: begin and width of directions, then of headings
  std::uint32_t* drawn = nullptr;        // [drops, numbers * rays + 1, users]
  view<cx_pair> channel;
  std::uint64_t seed = 0, first = 0;
  std::uint32_t point = 0;
};

}  // namespace wb
