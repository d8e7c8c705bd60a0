// The frames of 16 users on a CUDA device (downlink_frames.hpp). On a CPU there is nothing to build.
#if defined(__CUDACC__)
#include <warpband/massive/downlink/launch_sent_frames.hpp>

namespace wb {
inline namespace WB_ISA {
int launch_sent_frames_of_16(const massive_args& a, const place& where) {
  return a.symbols > 1 ? launch_sent_frames<16, true>(a, where) : launch_sent_frames<16, false>(a, where);
}
}  // namespace WB_ISA
}  // namespace wb
#endif
