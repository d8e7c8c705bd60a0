#pragma once
#include <cstdint>

#include <warpband/core/view.hpp>

namespace wb {

/// A piece of a grid of frames: the codewords of a burst, each of `slots` symbols of a tone. Codeword i has
/// step i % steps, tone i / steps % tones, frame i / steps / tones.
struct grid_piece {
  std::uint32_t tones = 1, steps = 1, slots = 1, antennas = 1;
  std::size_t frame_stride = 0, tone_stride = 0, step_stride = 0, slot_stride = 0, antenna_stride = 0;
};

/// Copies codewords out of a grid, or into one. A codeword is [slots, antennas].
struct grid_copy_args {
  grid_piece piece;
  const cx_pair* from_grid = nullptr;  // null: into to_grid
  cx_pair* to_grid = nullptr;
  view<const cx_pair> from;
  view<cx_pair> to;
};

}  // namespace wb
