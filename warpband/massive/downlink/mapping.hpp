#pragma once
// How a call of the precoder maps to a CUDA device: which kernel it takes, how many warps a block has, and
// the layout of its shared memory. Host code, without CUDA.
//
// Frames of 16 and 32 users have a kernel of their own (downlink_frames.hpp) if `takes_sent_frames` says so.
// All other calls take the generic kernel. Both give the same bits.
//
// Shared memory of a block, in floats (`send_plan`):
//
//   [0]          teams x buffers x buffer            H of frames, a ring for each team
//   [slots_at]   slots x `frame_shape::floats`       sums, right sides and solutions
//   [scratch]    sending warps x `scratch_floats`    m of the vectors that a warp sends
//   [barriers]   teams x buffers + 6 slots mbarriers, two floats each
#include <array>
#include <cstddef>
#include <cstdint>

#include <warpband/massive/frame_layout.hpp>
#include <warpband/massive/massive_args.hpp>

namespace wb {
inline namespace WB_ISA {

/// Warps of a block, and buffers of each team. `senders` 0: a team's own warp sends.
struct send_trades {
  int teams, buffers, senders, solvers;
};
/// Warps and sizes of a kernel. `Many`: frames have several vectors.
template <int U, bool Many>
struct send_roles {
  using shape = frame_shape<U, Many>;
  /// Summing warps of a team; frames that a solver warp solves side by side.
  static constexpr int team = U == 32 ? 4 : 1, frames_of_solver = 32 / U;
  /// Whether warps other than those of the teams send.
  static constexpr bool apart = U == 32 && !Many;
  /// Vectors are handed from the solver to those who send in groups of 7. A slot has room for two groups.
  static constexpr int group = Many ? frame_sides / 2 : 1;
  /// Vectors that a warp weighs at once: of 32 users, shared memory has room for two.
  static constexpr int at_once = !Many ? 1 : U == 16 ? group : 2;
  static constexpr int threads = 32 * 8;
  /// The first that fits in shared memory is taken, in the order of the rates in
  /// docs/notes/2026-11-downlink-frames.md. Conjugate gradients need more solvers.
  static constexpr auto trades(bool iterative) {
    using list = std::array<send_trades, 7>;
    if constexpr (U == 16)
      return list{
          {{4, 3, 0, 4}, {4, 2, 0, 4}, {3, 3, 0, 3}, {3, 2, 0, 3}, {2, 2, 0, 2}, {1, 3, 0, 1}, {1, 2, 0, 1}}};
    else if constexpr (Many)
      return list{{{1, 3, 0, 2}, {1, 2, 0, 2}}};
    else
      return iterative ? list{{{1, 3, 1, 3}, {1, 2, 1, 2}}} : list{{{1, 3, 2, 2}, {1, 2, 2, 2}}};
  }
};

/// Layout of a block's shared memory, as the first comment of this file shows.
struct send_plan : frame_samples {
  int teams, buffers, senders, solvers, slots;
  int buffer, scratch_floats;               // sizes
  int slots_at, scratch, barriers, floats;  // offsets; size of all

  /// The plan of a call; `buffers` is 0 where nothing fits into `shared_bytes`.
  template <class Roles>
  static send_plan of(const massive_args& a, std::size_t shared_bytes) {
    send_plan p{};
    static_cast<frame_samples&>(p) = of_samples(a.antennas, a.users, 0, false, false);
    p.buffer = p.y;
    p.scratch_floats = Roles::at_once * (2 * frame_runs << p.run_log2);
    for (const send_trades& t : Roles::trades(is_iterative(a.mode))) {
      // A solver warp takes its frames from group to group together: of more than two groups, these frames
      // need different teams.
      if (t.teams == 0 || (a.symbols > 2 * Roles::group && t.teams < Roles::frames_of_solver)) continue;
      p.teams = t.teams, p.buffers = t.buffers, p.senders = t.senders, p.solvers = t.solvers;
      p.slots = t.solvers * Roles::frames_of_solver;
      if (p.slots < 2 * p.teams) p.slots = 2 * p.teams;
      // A wait sees only whether a phase is even or odd: a slot's frames must have one sender, if any.
      if (p.senders > 0 && p.slots % p.senders != 0) continue;
      p.slots_at = p.teams * p.buffers * p.buffer;
      p.scratch = p.slots_at + p.slots * Roles::shape::floats;
      p.barriers = p.scratch + (Roles::apart ? p.senders : Roles::team * p.teams) * p.scratch_floats;
      p.floats = p.barriers + 2 * (p.teams * p.buffers + 6 * p.slots);
      if (static_cast<std::size_t>(p.floats) * sizeof(float) <= shared_bytes) return p;
    }
    p.buffers = 0;
    return p;
  }
  int warps(int team) const { return team * teams + senders + solvers; }
  /// The plan of a call with 16 or 32 users.
  static send_plan of_call(const massive_args& a, std::size_t shared_bytes) {
    if (a.users == 16)
      return a.symbols > 1 ? of<send_roles<16, true>>(a, shared_bytes)
                           : of<send_roles<16, false>>(a, shared_bytes);
    return a.symbols > 1 ? of<send_roles<32, true>>(a, shared_bytes)
                         : of<send_roles<32, false>>(a, shared_bytes);
  }
};

/// Whether a call takes the kernel of downlink_frames.hpp on a device whose blocks have `shared_bytes`. H is
/// copied, and results are stored, in pieces of 16 bytes.
inline bool takes_sent_frames(const massive_args& a, std::size_t shared_bytes) {
  if ((a.users != 16 && a.users != 32) || a.antennas % 2 != 0 || a.antennas < 16) return false;
  if (a.half_channel.data != nullptr || a.channel.element_stride != 1 || a.channel.item_stride % 2 != 0 ||
      reinterpret_cast<std::uintptr_t>(a.channel.data) % 16 != 0)
    return false;
  if (a.out.element_stride != 1 || a.out.item_stride % 2 != 0 ||
      reinterpret_cast<std::uintptr_t>(a.out.data) % 16 != 0)
    return false;
  return send_plan::of_call(a, shared_bytes).buffers > 0;
}

}  // namespace WB_ISA
}  // namespace wb
