#pragma once
// Starts kernels whose blocks have as much shared memory as a device gives.
#include <warpband/exec/launch.hpp>

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)
/// `blocks_for(blocks a multiprocessor holds)` blocks of `threads`, with `bytes` of shared memory each.
/// Returns a cudaError_t.
template <class... Args, class F>
int launch_with_shared(void (*kernel)(Args...), int threads, std::size_t bytes, const place& where,
                       F blocks_for, const Args&... args) {
  cudaError_t e = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       static_cast<int>(where.limits.shared_bytes));
  if (e == cudaSuccess)
    e = cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                             cudaSharedmemCarveoutMaxShared);
  int blocks = 0;
  if (e == cudaSuccess) e = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, bytes);
  if (e != cudaSuccess) return e;
  const std::size_t grid = blocks_for(static_cast<std::size_t>(blocks > 0 ? blocks : 1));
  kernel<<<static_cast<unsigned>(grid), static_cast<unsigned>(threads), bytes,
           static_cast<cudaStream_t>(where.stream)>>>(args...);
  return cudaGetLastError();
}
#endif

}  // namespace WB_ISA
}  // namespace wb
