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
//   [slots_at]   2 teams x `frame_shape::floats`     sums, right sides and solutions, two slots for each team
//   [scratch]    teams x team x `scratch_floats`     memory of each sending warp
//   [barriers]   teams x buffers + 10 teams mbarriers, two floats each
#include <array>
#include <cstddef>
#include <cstdint>

#include <warpband/massive/frame_layout.hpp>
#include <warpband/massive/massive_args.hpp>

namespace wb {
inline namespace WB_ISA {

/// Teams of sending warps of a block, and buffers of each team.
struct send_trades {
  int teams, buffers;
};
/// Warps and sizes of a kernel. `Many`: frames have several vectors.
template <int U, bool Many>
struct send_roles {
  using shape = frame_shape<U, Many>;
  /// Warps of a team; frames that a solver warp solves side by side.
  static constexpr int team = U == 32 ? 4 : 1, frames_of_solver = 32 / U;
  /// Vectors are handed from the solver to the team in groups of 7. A slot has room for two of them.
  static constexpr int group = Many ? frame_sides / 2 : 1;
  /// Vectors that a warp weighs at once: of 32 users, shared memory has room for two.
  static constexpr int at_once = !Many ? 1 : U == 16 ? group : 2;
  static constexpr int slots_of_team = 2, most_teams = U == 32 ? 1 : 4;
  static constexpr int solvers(int teams) { return slots_of_team * teams / frames_of_solver; }
  static constexpr int warps(int teams) { return team * teams + solvers(teams); }
  static constexpr int threads = 32 * warps(most_teams);
  /// The first that fits in shared memory is taken.
  static constexpr auto trades() {
    if constexpr (U == 16)
      return std::array<send_trades, 7>{{{4, 3}, {4, 2}, {3, 3}, {3, 2}, {2, 2}, {1, 3}, {1, 2}}};
    else
      return std::array<send_trades, 2>{{{1, 3}, {1, 2}}};
  }
};

/// Layout of a block's shared memory, as the first comment of this file shows.
struct send_plan : frame_samples {
  int teams, buffers, slots, solvers;
  int buffer, scratch_floats;               // sizes
  int slots_at, scratch, barriers, floats;  // offsets; size of all

  /// The plan of a call; `buffers` is 0 where nothing fits into `shared_bytes`.
  template <class Roles>
  static send_plan of(const massive_args& a, std::size_t shared_bytes) {
    send_plan p{};
    static_cast<frame_samples&>(p) = of_samples(a.antennas, a.users, 0, false, false);
    const int sent = Roles::at_once * (2 * frame_runs << p.run_log2), sums = a.users == 32 ? run_scratch : 0;
    p.buffer = p.y;
    p.scratch_floats = sent > sums ? sent : sums;
    for (const send_trades& t : Roles::trades()) {
      // A solver warp takes its frames from group to group together: of more than two groups, these frames
      // need different teams.
      if (a.symbols > 2 * Roles::group && t.teams < Roles::frames_of_solver) continue;
      p.teams = t.teams, p.buffers = t.buffers;
      p.slots = Roles::slots_of_team * p.teams;
      p.solvers = Roles::solvers(p.teams);
      p.slots_at = p.teams * p.buffers * p.buffer;
      p.scratch = p.slots_at + p.slots * Roles::shape::floats;
      p.barriers = p.scratch + p.teams * Roles::team * p.scratch_floats;
      p.floats = p.barriers + 2 * (p.teams * p.buffers + 5 * p.slots);
      if (static_cast<std::size_t>(p.floats) * sizeof(float) <= shared_bytes) return p;
    }
    p.buffers = 0;
    return p;
  }
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
