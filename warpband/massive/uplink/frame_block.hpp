#pragma once
// What the warps of a block of uplink_frames.hpp share: which frames are the block's, and the rings in shared
// memory that connect producers and solvers.
#include <warpband/exec/ring.hpp>
#include <warpband/massive/uplink/mapping.hpp>

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)
/// What producers and solvers share: frames, offsets and barriers. A frame's vectors are taken in groups of
/// up to 14.
template <class P>
struct frame_block {
  using Shape = typename P::shape;
  static constexpr int U = P::users;
  static constexpr bool Many = P::many, Tensor = P::tensor;
  const massive_args& a;
  const frame_plan& p;
  float* shared;
  std::size_t first;
  int count, groups;  // frames of this block; groups of vectors of each frame
  bool alone;         // all teams and all solvers share the block's only frame

  WB_HD frame_block(const massive_args& args, const frame_plan& plan, float* memory, std::size_t begin,
                    std::size_t end)
      : a(args), p(plan), shared(memory), first(begin + blockIdx.x) {
    count = static_cast<int>((end - first + gridDim.x - 1) / gridDim.x);
    groups = Many ? (a.symbols + Shape::sides - 1) / Shape::sides : 1;
    alone = P::shares && count == 1;
  }
  WB_HD std::size_t frame(int n) const { return first + static_cast<std::size_t>(n) * gridDim.x; }
  WB_HD int count_from(int symbol) const {
    if constexpr (!Many) return 1;
    return a.symbols - symbol < Shape::sides ? a.symbols - symbol : Shape::sides;
  }
  WB_HD std::size_t vector_number(std::size_t f, int symbol) const {
    return f * static_cast<std::size_t>(a.symbols) + static_cast<std::size_t>(symbol);
  }
  /// H of frames, or parts of them; y of several vectors, a stage for each team; sums.
  WB_HD ring channels() const { return {shared, barriers(0), p.buffers, p.buffer}; }
  WB_HD ring vectors() const { return {shared + p.vectors_at, barriers(2 * p.buffers), p.teams, p.vectors}; }
  WB_HD ring slots() const {
    return {shared + p.slots_at, barriers(2 * p.buffers + p.teams), p.slots, Shape::floats};
  }
  WB_HD float* vector_area(int v) const { return shared + p.vectors_at + v * p.vectors; }
  /// Whether only some warps of a team start its copies of H, and wait until the buffer has been read.
  static constexpr bool apart = async_copies::bulk && P::copiers > 0;
  /// Whether all threads of a team release a buffer. Otherwise the team meets after it has read one, and its
  /// first thread releases it when the next copies have started.
  static constexpr bool all_release = apart || P::parts > 1;
  /// Warps of a team that start copies of H: the first ones.
  static constexpr int copiers = apart ? P::copiers : async_copies::bulk && Tensor ? 1 : P::team;
  /// Arrivals in a phase: of all threads of a team; of the threads that issue bulk copies.
  static constexpr int by_threads = 32 * P::team, by_engine = async_copies::bulk ? copiers : by_threads;
  WB_HD int sharers() const { return alone ? p.teams : 1; }
  WB_HD std::uint64_t* barriers(int i) const {
    return reinterpret_cast<std::uint64_t*>(shared + p.barriers) + i;
  }

  /// By all threads of the block, before anything else. Ends with `__syncthreads`.
  WB_HD void begin() const {
    const int rank = static_cast<int>(threadIdx.x);
    channels().init(by_engine, all_release ? by_threads : 1);
    vectors().init(sharers() * by_threads, 0);
    slots().init(sharers() * by_threads, Shape::lanes);
    // Solvers also solve slots that have no frame; nothing of that is stored. Tensor cores also multiply the
    // part of a vector past its last antenna: it must be zero.
    WB_ROLL for (int i = rank; i < p.slots * Shape::floats; i += static_cast<int>(blockDim.x)) slots()[0][i] =
        0.f;
    if (Tensor && a.antennas < 8 * p.octets) {
      WB_ROLL for (int i = rank; i < p.slots_at; i += static_cast<int>(blockDim.x)) shared[i] = 0.f;
    }
    async_copies::order_bulk();
    __syncthreads();
  }
};
#endif

}  // namespace WB_ISA
}  // namespace wb
