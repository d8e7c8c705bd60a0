#pragma once
// How a call of the precoder maps to a CUDA device: which kernel it takes, how many warps a block has, and
// the layout of its shared memory. Host code, without CUDA.
//
// Frames of 8, 16, 24 and 32 users have a kernel of their own (downlink_frames.hpp) if `takes_sent_frames`
// says so, those of 64 users another one (frame_stream.hpp, stream_plan.hpp). All other calls take the
// generic kernel. All give the same bits. docs/notes/2026-11-downlink-frames.md has the rates of the
// alternatives to these policies.
//
// Shared memory of a block, in floats (`send_plan`):
//
//   [0]          teams x buffers x buffer            H of frames, a ring for each team
//   [slots_at]   slots x `frame_shape::floats`       sums, right sides and solutions
//   [scratch]    sending warps x `scratch_floats`    m of the vectors that a warp sends
//   [barriers]   teams x buffers + 6 slots mbarriers, two floats each
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
  /// Whether warps other than those of the teams send. One of them solves instead with conjugate gradients,
  /// which need more solvers.
  static constexpr bool apart = false;
  /// Vectors are handed from the solver to those who send in groups. A slot has room for two groups.
  static constexpr int group = Many ? shape::sides / 2 : 1;
  /// Vectors that a warp weighs at once.
  static constexpr int at_once = 1;
  /// Most warps of a block. A thread then has up to 255 registers.
  static constexpr int warps = 8;
};

// Each policy lists its `splits` in the order of their rates. The first that fits in shared memory is taken.
// 8 users on an H100, with a new and with a shared H: 4.9 and 24.4 Gb/s for 128x8 (generic kernel: 1.7 and
// 8.6).

struct downlink_8 : downlink_policy<8, false> {
  static constexpr int warps = 12;
  static constexpr send_split splits[] = {
      {8, 3, 0, 4}, {8, 2, 0, 4}, {4, 3, 0, 4}, {4, 2, 0, 2}, {4, 2, 0, 1}};
};
struct downlink_8_shared : downlink_policy<8, true> {
  static constexpr int at_once = group, warps = 12;
  static constexpr const auto& splits = downlink_8::splits;
};
struct downlink_16 : downlink_policy<16, false> {
  static constexpr send_split splits[] = {{4, 3, 0, 4}, {4, 2, 0, 4}, {3, 3, 0, 3}, {3, 2, 0, 3},
                                          {2, 2, 0, 2}, {1, 3, 0, 1}, {1, 2, 0, 1}};
};
struct downlink_16_shared : downlink_policy<16, true> {
  static constexpr int at_once = group;
  static constexpr const auto& splits = downlink_16::splits;
};
struct downlink_24 : downlink_policy<24, false> {
  static constexpr send_split splits[] = {
      {2, 3, 0, 2}, {2, 2, 0, 2}, {1, 3, 0, 2}, {1, 2, 0, 2}, {1, 2, 0, 1}};
};
/// With seven vectors at once registers are spilled: 17.7 Gb/s in place of 21.7 with four (128x24 on an H200,
/// by the host's clock).
struct downlink_24_shared : downlink_policy<24, true> {
  static constexpr int at_once = 4;
  static constexpr const auto& splits = downlink_24::splits;
};
struct downlink_32 : downlink_policy<32, false> {
  static constexpr bool apart = true;
  static constexpr send_split splits[] = {{1, 3, 2, 2}, {1, 2, 2, 2}};
};
/// Shared memory has room for two vectors at once.
struct downlink_32_shared : downlink_policy<32, true> {
  static constexpr int at_once = 2;
  static constexpr send_split splits[] = {{1, 3, 0, 2}, {1, 2, 0, 2}};
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

/// Layout of a block's shared memory, as the first comment of this file shows.
struct send_plan : frame_samples {
  int teams, buffers, senders, solvers, slots;
  int buffer, scratch_floats;               // sizes
  int slots_at, scratch, barriers, floats;  // offsets; size of all

  /// The plan of a call; `buffers` is 0 where nothing fits into `shared_bytes`.
  template <class P>
  static send_plan of(const massive_args& a, std::size_t shared_bytes) {
    using Shape = typename P::shape;
    send_plan p{};
    static_cast<frame_samples&>(p) = of_samples(a.antennas, a.users, 0, false, gram_sums::turned);
    p.buffer = p.y;
    p.scratch_floats = P::at_once * (2 * frame_runs << p.run_log2);
    for (const send_split& split : P::splits) {
      // A solver warp takes its frames from group to group together: of more than two groups, these frames
      // need different teams.
      if (a.symbols > 2 * P::group && split.teams < Shape::frames) continue;
      const int moved = P::apart && is_iterative(a.solver) ? 1 : 0;
      p.teams = split.teams, p.buffers = split.buffers;
      p.senders = split.senders - moved, p.solvers = split.solvers + moved;
      p.slots = p.solvers * Shape::frames;
      if (p.slots < 2 * p.teams) p.slots = 2 * p.teams;
      // A wait sees only whether a phase is even or odd: a slot's frames must have one sender, if any.
      if (p.senders > 0 && p.slots % p.senders != 0) continue;
      p.slots_at = p.teams * p.buffers * p.buffer;
      p.scratch = p.slots_at + p.slots * Shape::floats;
      p.barriers = p.scratch + (P::apart ? p.senders : P::team * p.teams) * p.scratch_floats;
      p.floats = p.barriers + 2 * (p.teams * p.buffers + 6 * p.slots);
      if (static_cast<std::size_t>(p.floats) * sizeof(float) <= shared_bytes) return p;
    }
    p.buffers = 0;
    return p;
  }
  /// The plan of a call with the policy for it.
  static send_plan of_call(const massive_args& a, std::size_t shared_bytes) {
    return with_downlink_policy(a, [&]<class P>() { return of<P>(a, shared_bytes); });
  }
  template <class P>
  int threads() const {
    return 32 * (P::team * teams + senders + solvers);
  }
};

/// Whether a call takes the kernel of downlink_frames.hpp on a device whose blocks have `shared_bytes`.
inline bool takes_sent_frames(const massive_args& a, std::size_t shared_bytes) {
  return a.antennas >= 16 && sends_in_pieces(a) && send_plan::of_call(a, shared_bytes).buffers > 0;
}
}  // namespace WB_ISA
}  // namespace wb
