#pragma once
// How a call of the detector maps to a CUDA device: which kernel it takes, how many producer and solver warps
// a block has, and the layout of its shared memory. Host code, without CUDA.
//
// Frames of 8, 16, 24 and 32 users have kernels of their own (uplink_frames.hpp) if `takes_frames` says so:
// the table `frame_rules` lists them, and their data are laid out as these kernels need. H and y are
// contiguous, at multiples of 16 bytes. The number of antennas is even, for halves a multiple of four. The
// LLRs of a vector are contiguous. All other calls take the generic kernel. With float32 sums both give the
// same bits.
//
// Shared memory of a block, in floats (`frame_plan`):
//
//   [0]           buffers x buffer   ring of H, `parts` buffers a frame
//   [vectors_at]  areas x vectors    y: one area for each frame of the ring, or one for each team
//   [own]         teams x sums       if H and y come as halves: H and y as floats
//   [slots_at]    slots x `frame_shape::floats`    ring of sums, from producers to solvers
//   [scratch]     teams x `scratch` of the policy  memory of the producers
//   [barriers]    2 buffers + teams + 2 slots mbarriers, two floats each
#include <cstddef>

#include <warpband/massive/uplink/policies.hpp>

namespace wb {
inline namespace WB_ISA {

/// Slots of a block.
template <class P>
constexpr int slots_of(const warp_split& s) {
  return s.solvers * P::shape::frames;
}
/// Whether the splits of a policy are valid: at least one slot for each team, each filled by one team or by
/// two in turn (exec/ring.hpp), and at most `warps` warps.
template <class P>
constexpr bool splits_hold() {
  for (const warp_split& s : P::splits) {
    const int slots = slots_of<P>(s);
    if (slots < s.teams || (slots % s.teams != 0 && s.teams > 2) || P::team * s.teams + s.solvers > P::warps)
      return false;
  }
  return true;
}
/// Whether a slot may be filled by one team and then by another.
template <class P>
constexpr bool slots_change_teams() {
  for (const warp_split& s : P::splits)
    if (slots_of<P>(s) % s.teams != 0) return true;
  return false;
}

/// Layout of the block's shared memory; offsets and sizes in floats, as the first comment of this file shows.
struct frame_plan : frame_samples {
  int teams, solvers, slots, buffers;
  int buffer, vectors, areas;  // size of a buffer and of a vector area; number of vector areas
  int vectors_at, own, slots_at, scratch, barriers, floats;  // offsets; size of all

  /// The plan of a call; `buffers` is 0 where nothing fits into `shared_bytes`.
  template <class P>
  static frame_plan of(const massive_args& a, std::size_t shared_bytes) {
    using Shape = typename P::shape;
    static_assert(splits_hold<P>());
    frame_plan p{};
    static_cast<frame_samples&>(p) =
        of_samples(a.antennas, a.users, Shape::sides, P::tensor, P::sums::turned);
    const bool halves = a.half_channel.data != nullptr;
    const int channel = halves ? a.antennas * a.users : p.y;
    p.buffer = P::parts == 1 ? channel : (halves ? 4 : 8) * p.octets * a.users;
    p.vectors = halves ? a.antennas * Shape::sides : p.sums - p.y;
    const int most = static_cast<int>(shared_bytes / sizeof(float));
    for (const warp_split& split : P::splits) {
      p.teams = split.teams, p.solvers = split.solvers, p.slots = slots_of<P>(split);
      // More than 14 vectors: a slot is filled once for each group of a frame. The frames of a solver warp go
      // from group to group together, so they need different teams. And only one team may fill a slot, since
      // a team counts the phases of its own frames only.
      if (a.symbols > Shape::sides && (p.teams < Shape::frames || p.slots % p.teams != 0)) continue;
      if (is_iterative(a.mode) && !split.iterative) continue;
      const int least = p.teams * P::parts, fewer = P::buffers_change && p.teams <= 2 ? 1 : least;
      for (p.buffers = P::most_buffers * least; p.buffers >= least; p.buffers -= fewer) {
        p.areas = P::many ? p.teams : (p.buffers + P::parts - 1) / P::parts;
        p.vectors_at = p.buffers * p.buffer;
        p.own = p.vectors_at + p.areas * p.vectors;
        p.slots_at = p.own + (halves ? p.teams * p.sums : 0);
        p.scratch = p.slots_at + p.slots * Shape::floats;
        p.barriers = p.scratch + p.teams * P::scratch;
        p.floats = p.barriers + 2 * (2 * p.buffers + p.teams + 2 * p.slots);
        if (p.floats <= most) return p;
      }
    }
    p.buffers = 0;
    return p;
  }
  /// The plan of a call with the policy for it.
  static frame_plan of_call(const massive_args& a, std::size_t shared_bytes) {
    return with_uplink_policy(a, [&]<class P>() { return of<P>(a, shared_bytes); });
  }
  template <class P>
  int threads() const {
    return 32 * (P::team * teams + solvers);
  }
};

/// From how many antennas on the kernels of uplink_frames.hpp are taken; and with conjugate gradients, where
/// frames have several vectors, how many the last group of 14 must have.
struct frame_rule {
  int users, least_antennas, least_antennas_iterative, least_of_last_group;
};
/// Where they are faster than the generic kernel on an H100. For 24 users the generic kernel was not
/// measured.
inline constexpr frame_rule frame_rules[] = {
    {8, 16, 16, 1}, {16, 16, 16, 6}, {24, 24, 24, 1}, {32, 16, 128, 6}};

/// Whether a call takes the kernels of uplink_frames.hpp on a device whose blocks have `shared_bytes`.
inline bool takes_frames(const massive_args& a, std::size_t shared_bytes) {
  const bool iterative = is_iterative(a.mode);
  const int last = (a.symbols - 1) % frame_sides + 1;
  for (const frame_rule& r : frame_rules)
    if (a.users == r.users && a.antennas >= (iterative ? r.least_antennas_iterative : r.least_antennas) &&
        (a.symbols == 1 || !iterative || last >= r.least_of_last_group))
      return detects_in_pieces(a) && frame_plan::of_call(a, shared_bytes).buffers > 0;
  return false;
}

}  // namespace WB_ISA
}  // namespace wb
