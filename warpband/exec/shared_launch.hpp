#pragma once
// Starts kernels whose blocks have as much shared memory as a device gives.
#include <warpband/exec/launch.hpp>

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)
/// `blocks_for(resident)` blocks of `threads`, with `bytes` of shared memory each; `resident()` asks how many
/// a multiprocessor holds. Returns a cudaError_t.
template <class... Args, class F>
int launch_with_shared(void (*kernel)(Args...), int threads, std::size_t bytes, const place& where,
                       F blocks_for, const Args&... args) {
  cudaError_t e = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       static_cast<int>(where.limits.shared_bytes));
  if (e == cudaSuccess)
    e = cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                             cudaSharedmemCarveoutMaxShared);
  if (e != cudaSuccess) return e;
  const std::size_t grid = blocks_for([&]() -> std::size_t {
    int blocks = 0;
    e = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, bytes);
    return blocks > 0 ? static_cast<std::size_t>(blocks) : 1;
  });
  if (e != cudaSuccess) return e;
  kernel<<<static_cast<unsigned>(grid), static_cast<unsigned>(threads), bytes,
           static_cast<cudaStream_t>(where.stream)>>>(args...);
  return cudaGetLastError();
}
/// `max_blocks` blocks, or one for each item of the launch if these are fewer, with `floats` of shared memory
/// each. The kernel's last arguments are the first item and the one past the last.
template <class Kernel, class... Args>
int launch_blocks(Kernel kernel, int max_blocks, int threads, int floats, const place& where,
                  const Args&... args) {
  const std::size_t items = where.last - where.first, blocks = static_cast<std::size_t>(max_blocks);
  return launch_with_shared(
      kernel, threads, static_cast<std::size_t>(floats) * sizeof(float), where,
      [&](auto) { return items < blocks ? items : blocks; }, args..., where.first, where.last);
}
#endif

}  // namespace WB_ISA
}  // namespace wb
