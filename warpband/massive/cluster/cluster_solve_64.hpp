#pragma once
// Detection from the sums of clusters for 64 users on a CUDA device: the generic solver by blocks that
// decompose in registers (linalg/ldl/ldl_block.hpp).
#include <warpband/linalg/ldl/ldl_block.hpp>
#include <warpband/massive/cluster/cluster_solve_op.hpp>

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)
/// Frames `first` to `last` - 1. Shared memory: `massive_plan::values` and `factor_block::floats`.
template <class Op>
__global__ void __launch_bounds__(factor_block::size, 2)
    solve_64(const __grid_constant__ Op op, std::size_t first, std::size_t last) {
  extern __shared__ __align__(128) float shared[];
  const factor_block g(shared + op.p.values);
  for (std::size_t n = first + blockIdx.x; n < last; n += gridDim.x) op(n, 1, g, shared);
}
#endif

}  // namespace WB_ISA
}  // namespace wb
