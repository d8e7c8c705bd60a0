// The frames of 8 users on a CUDA device. On a CPU there is nothing to build.
#if defined(__CUDACC__)
#include <warpband/massive/launch_frames.hpp>

namespace wb {
inline namespace WB_ISA {
template int launch_frames<uplink_8>(const massive_args&, const place&);
template int launch_frames<uplink_8_shared>(const massive_args&, const place&);
template int launch_sent_frames<downlink_8>(const massive_args&, const place&);
template int launch_sent_frames<downlink_8_shared>(const massive_args&, const place&);
}  // namespace WB_ISA
}  // namespace wb
#endif
