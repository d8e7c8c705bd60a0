#pragma once
// H from a table of snapshots: frame n has snapshot n modulo their number, and its H take the snapshot's rows
// in turn.
#include <complex>
#include <cstddef>
#include <cstdint>

#include <warpband/channel/recorded/recorded_args.hpp>
#include <warpband/exec/executor.hpp>

namespace wb {

/// Which H come in turn.
struct recorded_frames {
  std::uint64_t first = 0;    // number of the first frame
  std::size_t per_frame = 1;  // H of a frame: 1..2^30
  std::size_t rows = 1;       // of a snapshot: 1..2^30, divides those of the table
};

/// Copies rows of `table` [snapshots * rows, entries] to `h` [frames * per_frame, entries], both side by
/// side: H number i of frame f is row i mod `rows` of snapshot (first + f) mod snapshots. Queues. Throws
/// argument_error, and shape_error ("table", "h").
void draw_recorded(executor& exec, view<const std::complex<float>> table, view<std::complex<float>> h,
                   const recorded_frames& frames);

}  // namespace wb
