// The frames of 32 users on a CUDA device (uplink_frames.hpp). On a CPU there is nothing to build.
#if defined(__CUDACC__)
#include <warpband/massive/uplink/launch_frames.hpp>

namespace wb {
inline namespace WB_ISA {
template int launch_frames<uplink_32>(const massive_args&, const place&);
template int launch_frames<uplink_32_shared>(const massive_args&, const place&);
}  // namespace WB_ISA
}  // namespace wb
#endif
