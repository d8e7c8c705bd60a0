#pragma once
// Which calls with 64 users take the kernel of streamed_frames.hpp, and the layout of the shared memory of
// its block. Host code, without CUDA.
//
// H of 512x64 has 256 KiB, more than a block's shared memory. So it comes through a ring in parts of some
// antennas of each run (linalg/gram), once for each group of tiles whose sums fit in registers.
//
// Shared memory, in floats (`stream_plan`):
//
//   [0]          the generic solver's lanes (`massive_plan::values`): matrix, right sides and solutions
//   [memory]     4096 bytes             of the decomposition
//   [y]          sides x `y_side`       vectors of a group
//   [stages_at]  stages x `stage`       ring of parts of H
//   [barriers]   2 stages mbarriers, two floats each
#include <warpband/massive/massive_plan.hpp>
#include <warpband/massive/uplink/mapping.hpp>

namespace wb {
inline namespace WB_ISA {

/// The kernel of 64 users. `Many`: several vectors share H.
template <bool Many>
struct streamed_uplink {
  static constexpr int users = 64;
  static constexpr bool many = Many;
  using sums = detector_sums<users, Many>;
  /// All warps sum, and then all solve. With eight a thread has 255 registers, of which a tile takes 230.
  static constexpr int warps = 8, threads = 32 * warps;
  /// Antennas of each run in a part, at most and at least. A part costs about 480 cycles beside its sums.
  static constexpr int most_part = 16, least_part = 4;
  /// With two stages a part would be copied only after the one before it is summed: 512x64 takes 1.2 times
  /// as long. A fourth one gains nothing.
  static constexpr int stages = 3;
};

/// Layout of the block's shared memory, as the first comment of this file shows. `h_run` is that of a part.
struct stream_plan : frame_samples {
  int part_antennas, parts, passes, sides;  // parts of H; how often it is read; vectors of a group
  int stage, memory, stages_at, barriers, floats;

  /// The plan of a call; `parts` is 0 where nothing fits into `shared_bytes`.
  template <class P>
  static stream_plan of(const massive_args& a, std::size_t shared_bytes) {
    const massive_plan solver = massive_plan::of(a, 1, false);
    stream_plan p{};
    p.run_log2 = solver.run_log2;
    const int run = 1 << p.run_log2, last = (a.antennas - 1) >> p.run_log2;
    p.pad = 4;
    p.never = -1;
    p.y_run = 2 * run + 4;
    p.y_side = last * p.y_run + 2 * (a.antennas - (last << p.run_log2));
    p.memory = solver.values;
    p.y = p.memory + 1024;
    p.sides = solver.sides;
    p.passes = 2 + (P::many ? (a.symbols + p.sides - 1) / p.sides : 0);
    p.stages_at = (p.y + p.sides * p.y_side + 31) / 32 * 32;
    const int most = static_cast<int>(shared_bytes / sizeof(float));
    for (int size = P::most_part; size >= P::least_part; size--) {
      p.parts = (run + size - 1) / size;
      p.part_antennas = (run + p.parts - 1) / p.parts;
      p.h_run = 2 * P::users * p.part_antennas;
      p.stage = frame_runs * (p.h_run + p.pad);
      p.barriers = p.stages_at + P::stages * p.stage;
      p.floats = p.barriers + 4 * P::stages;
      if (p.floats <= most) return p;
    }
    p.parts = 0;
    return p;
  }
};

/// Calls f with the policy of a call, f.operator()<Policy>().
template <class F>
auto with_stream_policy(const massive_args& a, F f) {
  return a.symbols > 1 ? f.template operator()<streamed_uplink<true>>()
                       : f.template operator()<streamed_uplink<false>>();
}
/// Whether a call takes the kernel of streamed_frames.hpp on a device whose blocks have `shared_bytes`: 64
/// users, complex64 that lies as `takes_frames` wants it, and any mode.
inline bool takes_streamed(const massive_args& a, std::size_t shared_bytes) {
  return a.users == 64 && a.half_channel.data == nullptr && lies_in_pieces(a) &&
         with_stream_policy(a, [&]<class P>() { return stream_plan::of<P>(a, shared_bytes).parts > 0; });
}

}  // namespace WB_ISA
}  // namespace wb
