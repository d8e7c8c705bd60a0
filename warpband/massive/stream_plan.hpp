#pragma once
// Frames of 64 users on a CUDA device: which calls take the kernels of frame_stream.hpp, their policies, and
// how a call lies in the shared memory of a block. Host code, without CUDA.
//
// H of 512x64 has 256 KiB, more than a block's shared memory. So it comes through a ring in parts of some
// antennas of each run (linalg/gram). It comes once for each group of tiles whose sums fit in registers.
//
// Shared memory, in floats (`stream_plan`):
//
//   [0]          the generic solver's lanes (`massive_plan::values`): matrix, right sides and solutions
//   [memory]     4096 bytes             of the decomposition
//   [y]          sides x `y_side`       vectors of a group: y of the detector, m of the precoder
//   [stages_at]  stages x `stage`       ring of parts of H
//   [barriers]   2 stages mbarriers, two floats each
#include <warpband/massive/frame_layout.hpp>
#include <warpband/massive/massive_plan.hpp>

namespace wb {
inline namespace WB_ISA {

/// What the kernels of 64 users have in common. `Many`: several vectors share H.
template <bool Many, class Sums>
struct stream_policy {
  static constexpr int users = 64;
  static constexpr bool many = Many;
  using sums = Sums;
  /// Whether H passes once more for each group of vectors, to make m = H x.
  static constexpr bool sends = false;
  /// All warps sum, and then all solve. With eight a thread has 255 registers, of which a tile takes 230.
  static constexpr int warps = 8, threads = 32 * warps;
  /// Antennas of each run in a part, at most and at least. A part costs about 480 cycles beside its sums.
  static constexpr int most_part = 16, least_part = 4;
  /// With two stages a part would be copied only after the one before it is summed: the detector takes 1.2
  /// times as long for 512x64. A fourth one gains nothing.
  static constexpr int stages = 3;
};

/// The detector.
struct uplink_64 : stream_policy<false, detector_sums<64, false>> {};
struct uplink_64_shared : stream_policy<true, detector_sums<64, true>> {};

/// The precoder: warps that have other vectors and warps that share the
/// antennas of a part, vectors of a warp, and antennas of a lane at once.
struct downlink_64 : stream_policy<false, gram_sums> {
  static constexpr bool sends = true;
  static constexpr int sending = 1, sharing = 4, at_once = 1, rows = 1;
};
/// With all warps at each part (`sharing` 2, one row) 512x64 and 14 vectors take 1.06 times as long on an
/// H200.
struct downlink_64_shared : stream_policy<true, gram_sums> {
  static constexpr bool sends = true;
  static constexpr int sending = 4, sharing = 1, at_once = 4, rows = 2;
};

/// Layout of the block's shared memory, as the first comment of this file shows. `h_run` is that of a part.
struct stream_plan : frame_samples {
  int part_antennas, parts, passes, sides;  // parts of H; how often it is read; vectors of a group
  int stage, memory, stages_at, barriers, floats;

  /// The plan of a call; `parts` is 0 where nothing fits into `shared_bytes`.
  template <class P>
  static stream_plan of(const massive_args& a, std::size_t shared_bytes) {
    const massive_plan solver = massive_plan::of(a, 1, P::sends);
    stream_plan p{};
    p.run_log2 = solver.run_log2;
    const int run = 1 << p.run_log2, last = (a.antennas - 1) >> p.run_log2;
    p.pad = 4;
    p.memory = solver.values;
    p.y = p.memory + 1024;
    p.sides = solver.sides;
    const int groups = (a.symbols + p.sides - 1) / p.sides;
    if constexpr (P::sends) {
      p.y_side = 2 * frame_runs * run;
      p.passes = (a.solver == massive_solver::mf ? 0 : 2) + groups;
    } else {
      p.y_run = 2 * run + 4;
      p.y_side = last * p.y_run + 2 * (a.antennas - (last << p.run_log2));
      p.passes = 2 + (P::many ? groups : 0);
    }
    p.stages_at = (p.y + p.sides * p.y_side + 31) / 32 * 32;
    const int max_floats = static_cast<int>(shared_bytes / sizeof(float));
    for (int size = P::most_part; size >= P::least_part; size--) {
      p.parts = (run + size - 1) / size;
      p.part_antennas = (run + p.parts - 1) / p.parts;
      p.h_run = 2 * P::users * p.part_antennas;
      p.stage = frame_runs * (p.h_run + p.pad);
      p.barriers = p.stages_at + P::stages * p.stage;
      p.floats = p.barriers + 4 * P::stages;
      if (p.floats <= max_floats) return p;
    }
    p.parts = 0;
    return p;
  }
};

/// Whether a call of the detector takes these kernels: 64 users, complex64, and a solver of
/// `has_frame_solver`.
inline bool takes_streamed(const massive_args& a, std::size_t shared_bytes) {
  return a.users == 64 && a.half_channel.data == nullptr && detects_in_pieces(a) &&
         with_policy<uplink_64, uplink_64_shared>(
             a, [&]<class P>() { return stream_plan::of<P>(a, shared_bytes).parts > 0; });
}

/// The same of the precoder.
inline bool takes_streamed_sends(const massive_args& a, std::size_t shared_bytes) {
  return a.users == 64 && sends_in_pieces(a) &&
         with_policy<downlink_64, downlink_64_shared>(
             a, [&]<class P>() { return stream_plan::of<P>(a, shared_bytes).parts > 0; });
}

}  // namespace WB_ISA
}  // namespace wb
