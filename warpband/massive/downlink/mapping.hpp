#pragma once
// How a call of the precoder maps to a CUDA device: which kernel it takes, how many warps a block has, and
// the layout of its shared memory. Host code, without CUDA.
//
// Frames of 8, 16, 24 and 32 users have a kernel of their own (downlink_frames.hpp) if `takes_sent_frames`
// says so, those of 64 users another one (streamed_frames.hpp, ../stream_plan.hpp). All other calls take the
// generic kernel. All give the same bits.
//
// Shared memory of a block, in floats (`send_plan`):
//
//   [0]          teams x buffers x buffer            H of frames, a ring for each team
//   [slots_at]   slots x `frame_shape::floats`       sums, right sides and solutions
//   [scratch]    sending warps x `scratch_floats`    m of the vectors that a warp sends
//   [barriers]   teams x buffers + 6 slots mbarriers, two floats each
#include <cstddef>

#include <warpband/massive/downlink/policies.hpp>

namespace wb {
inline namespace WB_ISA {

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
    for (const send_split& split : is_iterative(a.mode) ? P::iterative_splits : P::splits) {
      // A solver warp takes its frames from group to group together: of more than two groups, these frames
      // need different teams.
      if (a.symbols > 2 * P::group && split.teams < Shape::frames) continue;
      p.teams = split.teams, p.buffers = split.buffers, p.senders = split.senders, p.solvers = split.solvers;
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
