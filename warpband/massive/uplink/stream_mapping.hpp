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
  /// Antennas of each run in a part: 32 KiB of H.
  static constexpr int part_antennas = 8;
  /// Parts that are on their way at once, at most.
  static constexpr int most_stages = 6;
};

/// Layout of the block's shared memory, as the first comment of this file shows. `h_run` is that of a part.
struct stream_plan : frame_samples {
  int parts, passes, sides;  // parts of H; how often a frame's H is read; vectors of a group
  int stages, stage, memory, stages_at, barriers, floats;

  /// The plan of a call; `stages` is 0 where fewer than two fit into `shared_bytes`.
  template <class P>
  static stream_plan of(const massive_args& a, std::size_t shared_bytes) {
    const massive_plan solver = massive_plan::of(a, 1, false);
    stream_plan p{};
    p.run_log2 = solver.run_log2;
    const int run = 1 << p.run_log2, last = (a.antennas - 1) >> p.run_log2;
    p.pad = 4;
    p.h_run = 2 * P::users * P::part_antennas;
    p.y_run = 2 * run + 4;
    p.y_side = last * p.y_run + 2 * (a.antennas - (last << p.run_log2));
    p.memory = solver.values;
    p.y = p.memory + 1024;
    p.sides = solver.sides;
    p.parts = (run + P::part_antennas - 1) / P::part_antennas;
    p.passes = 2 + (P::many ? (a.symbols + p.sides - 1) / p.sides : 0);
    p.stage = frame_runs * (p.h_run + p.pad);
    p.stages_at = (p.y + p.sides * p.y_side + 31) / 32 * 32;
    const int rest = static_cast<int>(shared_bytes / sizeof(float)) - p.stages_at;
    p.stages = rest < 0 ? 0 : rest / (p.stage + 4);
    if (p.stages > P::most_stages) p.stages = P::most_stages;
    if (p.stages < 2) p.stages = 0;
    p.barriers = p.stages_at + p.stages * p.stage;
    p.floats = p.barriers + 4 * p.stages;
    p.never = -1;
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
         with_stream_policy(a, [&]<class P>() { return stream_plan::of<P>(a, shared_bytes).stages > 0; });
}

}  // namespace WB_ISA
}  // namespace wb
