#pragma once
// For kernels whose warps have roles, and hand work to one another in rings of shared memory.
#include <warpband/core/lane.hpp>

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)
/// The number of this warp. The shuffle tells the compiler that it is uniform in a warp.
WB_HD int warp_of_block() { return __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / 32, 0); }

/// A stage of a ring, and how often the ring has come round to it: the phase of the stage's barriers.
struct ring_place {
  int stage = 0, turn = 0;
  WB_HD void advance(int stages) {
    if (++stage == stages) stage = 0, turn++;
  }
};
#endif

}  // namespace WB_ISA
}  // namespace wb
