#pragma once
// For kernels whose warps have roles.
#include <warpband/core/lane.hpp>

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)
/// The number of this warp. The shuffle tells the compiler that it is uniform in a warp.
WB_HD int warp_of_block() { return __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / 32, 0); }
#endif

}  // namespace WB_ISA
}  // namespace wb
