#pragma once
// What the detector's kernels of frames (uplink_frames.hpp) are built for: a policy for each number of users,
// for a new H for each vector or an H that several vectors share, and for the arithmetic of the sums. Host
// code, without CUDA.
//
// Rates are coded Gb/s of 16-QAM on an H100 80GB HBM3 in November 2026, data in place, beside the bound of
// `warpband bench`. docs/notes/2026-11-uplink-frames.md has the alternatives.
#include <warpband/massive/frame_layout.hpp>

namespace wb {
inline namespace WB_ISA {

/// How the warps of a block are divided: teams of producer warps, and solver warps.
struct warp_split {
  int teams, solvers;
  /// Whether conjugate gradients may use it. They need more solvers than a decomposition.
  bool iterative = true;
};

/// Memory of a team that sums on tensor cores (tensor_sums.hpp), offsets in floats: energies of users;
/// inverse scale of users and of vectors; partial energies and partial H^H y of `subsets` of the antennas.
template <int U, bool Many>
struct tensor_scratch {
  /// A subset is that of a warp. Where teams may share a frame the number is fixed, so that one team and
  /// several add in the same order.
  static constexpr bool fixed = U == 16 && Many;
  static constexpr int subsets = fixed     ? 16
                                 : U == 32 ? 4
                                           : 1,
                       energy = 0, inverse = U, vector_inverse = 2 * U, energies = vector_inverse + 16,
                       filters = energies + subsets * U, floats = filters + (Many ? 0 : 2 * subsets * U);
  static_assert(vector_inverse + frame_sides <= energies);
};

/// What most policies have in common. `Many`: several vectors share H.
template <int Users, bool Many>
struct uplink_policy {
  using shape = frame_shape<Users, Many>;
  using sums = detector_sums<Users, Many>;
  static constexpr int users = Users;
  static constexpr bool many = Many;
  /// Sums on tensor cores.
  static constexpr bool tensor = false;
  /// Producer warps of a team; buffers of each team at most, in frames.
  static constexpr int team = 1, most_buffers = 3;
  /// Buffers that H of a frame takes: two, if each has half of the antennas.
  static constexpr int parts = 1;
  /// Whether the number of buffers need not be a multiple of teams * parts. A buffer then serves both teams
  /// in turn.
  static constexpr bool buffers_change = false;
  /// If not 0, so many warps of a team start its bulk copies, and only they wait until a buffer has been
  /// read.
  static constexpr int copiers = 0;
  /// Whether H^H y is summed before H^H H. The next vectors are then copied during the sums of H^H H, at the
  /// cost of one more named barrier.
  static constexpr bool filters_first = false;
  /// Whether all warps of a block share its only frame.
  static constexpr bool shares = false;
  /// Floats of scratch memory of a team.
  static constexpr int scratch = 0;
  /// Most warps of a block. A thread then has up to 255 (8 warps), 168 (12) or 128 (16) registers.
  static constexpr int warps = 8;
};

// Each policy lists its `splits` in the order of their rates. The first that fits in shared memory is taken.

/// 9.5 for 128x8 (87 %). A frame needs less work than a copy takes, so the teams have one warp and there are
/// many.
struct uplink_8 : uplink_policy<8, false> {
  static constexpr int warps = 12;
  static constexpr warp_split splits[] = {{8, 4}, {6, 3}, {4, 2}, {2, 2}, {1, 1}};
};
/// 42 for 128x8 (72 %).
struct uplink_8_shared : uplink_policy<8, true> {
  static constexpr int warps = 16;
  static constexpr warp_split splits[] = {{8, 8}, {4, 4}, {2, 2}, {1, 1}};
};

/// 9.5 for 128x16 (82 % of the bound).
struct uplink_16 : uplink_policy<16, false> {
  static constexpr warp_split splits[] = {{4, 4}, {3, 3}, {2, 4}, {2, 3, false}, {2, 2}, {1, 2}};
};
/// 45 for 128x16 and 14 vectors (54 %).
struct uplink_16_shared : uplink_policy<16, true> {
  static constexpr bool shares = true;
  static constexpr warp_split splits[] = {{4, 4}, {3, 3}, {2, 4}, {2, 3, false}, {2, 2}, {1, 2}};
};
/// 10.4 for 128x16 (90 %).
struct uplink_16_split : uplink_policy<16, false> {
  static constexpr bool tensor = true;
  static constexpr int warps = 16, scratch = tensor_scratch<16, false>::floats;
  static constexpr warp_split splits[] = {{8, 8}, {6, 6}, {4, 8}, {4, 4}, {2, 4}, {1, 2}};
};
/// 56 for 128x16 and 14 vectors (67 %).
struct uplink_16_split_shared : uplink_16_shared {
  static constexpr bool tensor = true;
  static constexpr int warps = 12, team = 2, scratch = tensor_scratch<16, true>::floats;
};

/// 3.4 for 128x24 (29 %). The warp of the rectangle sums least, and starts the copies.
struct uplink_24 : uplink_policy<24, false> {
  static constexpr int team = 3, scratch = team * run_scratch, copiers = 1;
  static constexpr warp_split splits[] = {{2, 2}, {1, 4}, {1, 3}, {1, 2}, {1, 1}};
};
/// 21 for 128x24 (21 %).
struct uplink_24_shared : uplink_policy<24, true> {
  static constexpr int team = 3, scratch = team * run_scratch, copiers = 1;
  static constexpr bool filters_first = true;
  static constexpr warp_split splits[] = {{2, 2}, {1, 4}, {1, 3}, {1, 2}, {1, 1}};
};

/// 2.9 for 256x32 (48 %).
struct uplink_32 : uplink_policy<32, false> {
  static constexpr int team = 4, scratch = team * run_scratch, copiers = 2;
  static constexpr warp_split splits[] = {{1, 4}, {1, 3}, {1, 2}, {1, 1}};
};
/// 23 for 256x32 and 14 vectors (48 %).
struct uplink_32_shared : uplink_policy<32, true> {
  static constexpr int team = 4, scratch = team * run_scratch;
  static constexpr bool filters_first = true;
  static constexpr warp_split splits[] = {{1, 4}, {1, 3}, {1, 2}, {1, 1}};
};
/// 4.0 for 256x32 (68 %). Shared memory has five half frames of 256x32, where only two whole frames fit.
struct uplink_32_split : uplink_policy<32, false> {
  static constexpr bool tensor = true, buffers_change = true;
  static constexpr int warps = 16, team = 4, parts = 2, scratch = parts * tensor_scratch<32, false>::floats;
  static constexpr warp_split splits[] = {{2, 8}, {2, 3, false}, {1, 4}, {1, 3}, {1, 2}, {1, 1}};
};
/// 29 for 256x32 and 14 vectors.
struct uplink_32_split_shared : uplink_policy<32, true> {
  static constexpr bool tensor = true, buffers_change = true;
  static constexpr int warps = 12, team = 4, scratch = tensor_scratch<32, true>::floats;
  static constexpr warp_split splits[] = {{2, 4}, {2, 3, false}, {1, 4}, {1, 3}, {1, 2}, {1, 1}};
};

/// f.operator()<Policy>() with the policy of a call of 8, 16, 24 or 32 users; for other numbers of users
/// a value-initialised result.
template <class F>
auto with_uplink_policy(const massive_args& a, F f) {
  if (a.users == 8) return with_policy<uplink_8, uplink_8_shared>(a, f);
  if (a.users == 24) return with_policy<uplink_24, uplink_24_shared>(a, f);
  if (a.users == 16)
    return a.split_f16 ? with_policy<uplink_16_split, uplink_16_split_shared>(a, f)
                       : with_policy<uplink_16, uplink_16_shared>(a, f);
  if (a.users == 32)
    return a.split_f16 ? with_policy<uplink_32_split, uplink_32_split_shared>(a, f)
                       : with_policy<uplink_32, uplink_32_shared>(a, f);
  return decltype(f.template operator()<uplink_8>())();
}

}  // namespace WB_ISA
}  // namespace wb
