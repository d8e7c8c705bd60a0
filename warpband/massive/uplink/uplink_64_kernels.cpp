// The frames of 64 users on a CUDA device (streamed_frames.hpp). On a CPU there is nothing to build.
#if defined(__CUDACC__)
#include <warpband/massive/uplink/launch_streamed.hpp>

namespace wb {
inline namespace WB_ISA {
/// A call that `takes_streamed`.
int launch_streamed(const massive_args& a, const place& where) {
  return launch_streamed_op(uplink_op<fixed<64>>(a), where);
}
}  // namespace WB_ISA
}  // namespace wb
#endif
