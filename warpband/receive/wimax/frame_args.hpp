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

/// Where a burst begins in each frame, as its DL-MAP says: symbol * 65536 + tone, or less than 0 where no
/// map says it.
struct burst_places {
  const std::int32_t* data = nullptr;  // null: 0 in every frame
  std::size_t stride = 0;              // from frame to frame
};

/// Copies codewords out of a grid, or into one. A codeword is [slots, antennas].
struct grid_copy_args {
  grid_piece piece;
  const cx_pair* from_grid = nullptr;  // null: into to_grid
  cx_pair* to_grid = nullptr;
  view<const cx_pair> from;
  view<cx_pair> to;
  // Further offsets into from_grid. Without a place it is that of tone 0 and symbol 0.
  burst_places places = {};
  std::size_t symbol_stride = 0;  // of the places' symbols
};

/// N0 of each codeword of a burst, 0 in frames without a place.
struct burst_noise_args {
  grid_piece piece;              // frame_stride, tone_stride: of `noise`
  const float* noise = nullptr;  // of a frame and tone
  float* out = nullptr;          // [codewords]
  burst_places places = {};
};

/// Adds up the LLRs of the copies of coded bits. A frame has `copies` copies of n bits, one behind the other,
/// each bit `halves` times side by side.
struct map_combine_args {
  const float* llr = nullptr;  // the first copy of the first frame
  std::size_t frame_stride = 0;
  std::uint32_t n = 1, copies = 1, halves = 1;
  float* out = nullptr;  // [frames, n]
};

/// Reads FCH and DL-MAP of a frame (wimax/map.hpp).
struct map_read_args {
  const std::uint8_t* header = nullptr;  // [frames, header_bits]
  const std::uint8_t* map = nullptr;     // [frames, map_bits]
  // Remainders of the checks for each bit, and what those of the set bits of a right message add up to.
  const std::int32_t* header_weights = nullptr;
  const std::int32_t* map_weights = nullptr;
  std::int32_t header_residue = 0, map_residue = 0;
  const std::uint8_t* expected_header = nullptr;  // [header_bits]
  const std::int32_t* bursts = nullptr;           // [count, 3]: DIUC, symbols, tones
  std::int32_t header_bits = 0, map_bits = 0, count = 0;
  std::int32_t first_symbol = 0, symbols = 0, tones = 0;  // bursts begin there; of the downlink
  std::int32_t* places = nullptr;                         // [frames, count]
  std::uint8_t* status = nullptr;                         // [frames] status_erased
};

}  // namespace wb
