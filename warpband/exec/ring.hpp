#pragma once
// A ring buffer in shared memory through which warps of a block hand data to other warps of it.
//
//   producer   acquire(at)   waits until the stage has been released
//              ...           writes the stage, or starts copies into it
//              commit(at)
//   consumer   wait(at)      waits until the stage is full: all have committed, all copies have ended
//              ...           reads the stage
//              release(at)
//
// A `ring_position` is a stage and a phase: how often the stage was filled before. Each warp keeps positions
// of its own, which begin in phase 0, and advances them.
//
// Who calls: all threads of the block `init`, then `__syncthreads`. In each phase `commits` threads commit
// and `releases` threads release; `init` has these numbers. Threads acquire or wait if they touch the stage,
// commit or release it. Others could come too late: see below. A phase that nobody will acquire need not be
// released.
//
// Needs: `stages` times `floats` floats of shared memory from `data` on, and from `barriers` on an mbarrier
// for each stage, or two where stages are released. Positions are the only state: two registers each.
//
// Order: what a thread wrote before `commit` is seen by those that waited; reads before `release` come before
// writes of those that acquired. Bulk copies are an exception: threads that wrote into a stage (or wrote what
// was read there) call `async_copies::order_bulk` before they release it.
//
// A wait sees only whether a phase is even or odd. So a thread waits for a phase of a barrier only when the
// phase before it is over. A warp that uses every phase of a stage has waited for that one. If two producers
// fill a stage in turn, and commit without copies, they call `acquire_in_turn`. If two consumers read it in
// turn, they call `wait_in_turn`. If such a producer or consumer has several warps, they must have met since
// they last committed or released the stage. More than two cannot take turns.
#include <cstdint>

#include <warpband/exec/async_copies.hpp>

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)
/// A stage of a ring, and how often it was filled before.
struct ring_position {
  int stage = 0, phase = 0;
};

/// The first comment of this file has the contract.
struct ring {
  float* data;
  std::uint64_t* barriers;  // full, for each stage; then empty, for each stage
  int stages, floats;       // number of stages; size of one

  WB_HD float* operator[](int stage) const { return data + stage * floats; }
  WB_HD shared_barrier full(int stage) const { return shared_barrier(barriers + stage); }
  WB_HD shared_barrier empty(int stage) const { return shared_barrier(barriers + stages + stage); }

  /// `releases` 0: there are no `empty` barriers, and no stage is acquired or released.
  WB_HD void init(int commits, int releases) const {
    const int rank = static_cast<int>(threadIdx.x), step = static_cast<int>(blockDim.x);
    WB_ROLL for (int i = rank; i < stages; i += step) {
      full(i).init(commits);
      if (releases > 0) empty(i).init(releases);
    }
  }

  /// Moves `steps` stages on, at most once round. `phases`: in which a stage is used before its users go on.
  WB_HD void advance(ring_position& position, int steps, int phases = 1) const {
    position.stage += steps;
    if (position.stage >= stages) position.stage -= stages, position.phase += phases;
  }
  /// The position `steps` stages on, at most once round.
  WB_HD ring_position after(ring_position position, int steps) const {
    advance(position, steps);
    return position;
  }
  /// The next use of the same stage.
  WB_HD static ring_position once_more(ring_position position) {
    return {position.stage, position.phase + 1};
  }

  WB_HD void acquire(ring_position position) const { empty(position.stage).wait(position.phase - 1); }
  WB_HD void acquire_in_turn(ring_position position) const {
    full(position.stage).wait(position.phase - 1);
    acquire(position);
  }
  WB_HD void commit(ring_position position) const { full(position.stage).arrive(); }
  /// Commits when all copies that this thread started by `async_copies::copy16` have ended.
  WB_HD void commit_copies(ring_position position) const { full(position.stage).arrive_after_copies(); }
  /// Starts a bulk copy, mostly into the stage, which is full only after its end. By a thread that has yet to
  /// commit. Addresses and `bytes` are multiples of 16.
  WB_HD void copy(ring_position position, float* to, const void* from, int bytes) const {
    full(position.stage).copy(to, from, bytes);
  }

  WB_HD void wait(ring_position position) const { full(position.stage).wait(position.phase); }
  WB_HD void wait_in_turn(ring_position position) const {
    empty(position.stage).wait(position.phase - 1);
    wait(position);
  }
  WB_HD void release(ring_position position) const { empty(position.stage).arrive(); }
};
#endif

}  // namespace WB_ISA
}  // namespace wb
