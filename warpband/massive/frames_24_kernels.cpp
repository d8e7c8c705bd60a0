// The frames of 24 users on a CUDA device. On a CPU there is nothing to build.
#if defined(__CUDACC__)
#include <warpband/massive/launch_frames.hpp>

namespace wb {
inline namespace WB_ISA {
template int launch_frames<uplink_24>(const massive_args&, const place&);
template int launch_frames<uplink_24_shared>(const massive_args&, const place&);
template int launch_sent_frames<downlink_24>(const massive_args&, const place&);
template int launch_sent_frames<downlink_24_shared>(const massive_args&, const place&);
}  // namespace WB_ISA
}  // namespace wb
#endif
