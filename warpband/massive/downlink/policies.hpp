#pragma once
// What the precoder's kernels of frames (downlink_frames.hpp) are built for: a policy for each number of
// users, and for a new H for each vector or an H that several vectors share. Host code, without CUDA.
//
// docs/notes/2026-11-downlink-frames.md has the rates of the alternatives.
#include <warpband/massive/frame_layout.hpp>

namespace wb {
inline namespace WB_ISA {

/// How the warps of a block are divided: teams of summing warps, buffers of each team, sending warps (0: a
/// team's own warps send) and solver warps.
struct send_split {
  int teams, buffers, senders, solvers;
};

/// What the policies have in common. `Many`: several vectors share H.
template <int Users, bool Many>
struct downlink_policy {
  using shape = frame_shape<Users, Many>;
  static constexpr int users = Users;
  static constexpr bool many = Many;
  /// Summing warps of a team.
  static constexpr int team = Users == 32 ? 4 : Users == 24 ? 3 : 1;
  /// Whether warps other than those of the teams send.
  static constexpr bool apart = false;
  /// Vectors are handed from the solver to those who send in groups. A slot has room for two groups.
  static constexpr int group = Many ? shape::sides / 2 : 1;
  /// Vectors that a warp weighs at once.
  static constexpr int at_once = 1;
  /// Most warps of a block. A thread then has up to 255 registers.
  static constexpr int warps = 8;
};

// Each policy lists its `splits` in the order of their rates; `iterative_splits` are for conjugate gradients,
// which need more solvers. The first that fits in shared memory is taken. 8 users on an H100, with a new and
// with a shared H: 4.9 and 24.4 Gb/s for 128x8 (generic kernel: 1.7 and 8.6).

struct downlink_8 : downlink_policy<8, false> {
  static constexpr int warps = 12;
  static constexpr send_split splits[] = {
      {8, 3, 0, 4}, {8, 2, 0, 4}, {4, 3, 0, 4}, {4, 2, 0, 2}, {4, 2, 0, 1}};
  static constexpr const auto& iterative_splits = splits;
};
struct downlink_8_shared : downlink_policy<8, true> {
  static constexpr int at_once = group, warps = 12;
  static constexpr const auto& splits = downlink_8::splits;
  static constexpr const auto& iterative_splits = splits;
};
struct downlink_16 : downlink_policy<16, false> {
  static constexpr send_split splits[] = {{4, 3, 0, 4}, {4, 2, 0, 4}, {3, 3, 0, 3}, {3, 2, 0, 3},
                                          {2, 2, 0, 2}, {1, 3, 0, 1}, {1, 2, 0, 1}};
  static constexpr const auto& iterative_splits = splits;
};
struct downlink_16_shared : downlink_policy<16, true> {
  static constexpr int at_once = group;
  static constexpr const auto& splits = downlink_16::splits;
  static constexpr const auto& iterative_splits = splits;
};
struct downlink_24 : downlink_policy<24, false> {
  static constexpr send_split splits[] = {
      {2, 3, 0, 2}, {2, 2, 0, 2}, {1, 3, 0, 2}, {1, 2, 0, 2}, {1, 2, 0, 1}};
  static constexpr const auto& iterative_splits = splits;
};
/// With seven vectors at once registers are spilled: 17.7 Gb/s in place of 21.7 with four (128x24 on an H200,
/// by the host's clock).
struct downlink_24_shared : downlink_policy<24, true> {
  static constexpr int at_once = 4;
  static constexpr const auto& splits = downlink_24::splits;
  static constexpr const auto& iterative_splits = splits;
};
struct downlink_32 : downlink_policy<32, false> {
  static constexpr bool apart = true;
  static constexpr send_split splits[] = {{1, 3, 2, 2}, {1, 2, 2, 2}},
                              iterative_splits[] = {{1, 3, 1, 3}, {1, 2, 1, 2}};
};
/// Shared memory has room for two vectors at once.
struct downlink_32_shared : downlink_policy<32, true> {
  static constexpr int at_once = 2;
  static constexpr send_split splits[] = {{1, 3, 0, 2}, {1, 2, 0, 2}};
  static constexpr const auto& iterative_splits = splits;
};

/// f.operator()<Policy>() with the policy of a call of 8, 16, 24 or 32 users; for other numbers of users
/// a value-initialised result.
template <class F>
auto with_downlink_policy(const massive_args& a, F f) {
  if (a.users == 8) return with_policy<downlink_8, downlink_8_shared>(a, f);
  if (a.users == 16) return with_policy<downlink_16, downlink_16_shared>(a, f);
  if (a.users == 24) return with_policy<downlink_24, downlink_24_shared>(a, f);
  if (a.users == 32) return with_policy<downlink_32, downlink_32_shared>(a, f);
  return decltype(f.template operator()<downlink_8>())();
}

}  // namespace WB_ISA
}  // namespace wb
