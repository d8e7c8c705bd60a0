// The frames of 16 users on a CUDA device (uplink_frames.hpp) with sums on tensor cores. On a CPU there is
// nothing to build.
#if defined(__CUDACC__)
#include <warpband/massive/uplink/launch_frames.hpp>

namespace wb {
inline namespace WB_ISA {
int launch_tensor_frames_of_16(const massive_args& a, const place& where) {
  return a.symbols > 1 ? launch_frames<16, true, true>(a, where) : launch_frames<16, false, true>(a, where);
}
}  // namespace WB_ISA
}  // namespace wb
#endif
