#pragma once
// What the warps of a block of downlink_frames.hpp share: which frames are the block's, and the rings in
// shared memory that connect summing, solver and sending warps.
#include <warpband/exec/ring.hpp>
#include <warpband/massive/downlink/mapping.hpp>
#include <warpband/massive/frame_tiles.hpp>

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)
/// What all warps share: frames, offsets and barriers.
template <class P>
struct send_block {
  using Shape = typename P::shape;
  static constexpr int U = P::users, group = P::group;
  static constexpr bool Many = P::many;
  const massive_args& a;
  const send_plan& p;
  float* shared;
  std::size_t first;
  int count, groups;  // frames of this block; groups of vectors of a frame
  bool alone;         // all warps share the block's only frame
  int lane;

  WB_HD send_block(const massive_args& args, const send_plan& plan, float* memory, std::size_t begin,
                   std::size_t end)
      : a(args),
        p(plan),
        shared(memory),
        first(begin + blockIdx.x),
        lane(static_cast<int>(threadIdx.x) % 32) {
    count = static_cast<int>((end - first + gridDim.x - 1) / gridDim.x);
    groups = (a.symbols + group - 1) / group;
    alone = Many && count == 1;
  }
  WB_HD std::size_t frame(int n) const { return first + static_cast<std::size_t>(n) * gridDim.x; }
  WB_HD std::size_t vector_number(int n, int g) const {
    return frame(n) * static_cast<std::size_t>(a.symbols) + static_cast<std::size_t>(g * group);
  }
  WB_HD int vectors_of(int g) const {
    const int left = a.symbols - g * group;
    return left < group ? left : group;
  }
  WB_HD std::uint64_t* barriers(int i) const {
    return reinterpret_cast<std::uint64_t*>(shared + p.barriers) + i;
  }
  /// H of the frames of a team; sums; solutions, in stages 2 s and 2 s + 1 those of slot s.
  WB_HD ring channels(int team) const {
    return {shared + team * p.buffers * p.buffer, barriers(team * p.buffers), p.buffers, p.buffer};
  }
  WB_HD ring slots() const {
    return {shared + p.slots_at, barriers(p.teams * p.buffers), p.slots, Shape::floats};
  }
  WB_HD ring solutions() const {
    return {nullptr, barriers(p.teams * p.buffers + 2 * p.slots), 2 * p.slots, 0};
  }
  /// Where group g of a frame goes: its stage of `solutions`. `slot`: the frame's.
  WB_HD ring_position group_at(ring_position slot, int g) const {
    if (alone) {
      const int i = g / workers();
      return {2 * (g % workers()) + i % 2, i / 2};
    }
    return {2 * slot.stage + g % 2, slot.phase * uses(g % 2) + g / 2};
  }
  /// Groups of a frame in a half of its slot.
  WB_HD int uses(int half) const { return (groups + 1 - half) / 2; }
  /// Warps of the teams; warps that share a frame; frames that are solved at once.
  WB_HD int summing() const { return P::team * p.teams; }
  WB_HD int sending() const { return alone ? summing() + p.senders : P::apart ? p.senders : P::team; }
  WB_HD int workers() const { return p.solvers * Shape::frames; }

  /// By all threads of the block, before anything else. Ends with `__syncthreads`.
  WB_HD void begin() const {
    const int rank = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
    const int senders_of_group = Many ? 32 * sending() : 32;
    WB_ROLL for (int team = 0; team < p.teams; team++) channels(team).init(async_copies::bulk ? 1 : 32, 0);
    slots().init(32 * P::team, senders_of_group);
    solutions().init(Shape::lanes, senders_of_group);
    // Solvers also solve slots that have no frame; nothing of that is stored.
    WB_ROLL for (int i = rank; i < p.slots * Shape::floats; i += threads) slots()[0][i] = 0.f;
    async_copies::order_bulk();
    __syncthreads();
  }
};
#endif

}  // namespace WB_ISA
}  // namespace wb
