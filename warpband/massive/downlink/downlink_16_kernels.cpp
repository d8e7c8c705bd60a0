// The frames of 16 users on a CUDA device (downlink_frames.hpp). On a CPU there is nothing to build.
#if defined(__CUDACC__)
#include <warpband/massive/downlink/launch_sent_frames.hpp>

namespace wb {
inline namespace WB_ISA {
int launch_sent_frames_of_16(const massive_args& a, const place& where) {
  switch (sending_warps(a)) {
    case 1:
      return launch_sent_frames<1>(a, where);
    case 4:
      return launch_sent_frames<4>(a, where);
    default:
      return launch_sent_frames<8>(a, where);
  }
}
}  // namespace WB_ISA
}  // namespace wb
#endif
