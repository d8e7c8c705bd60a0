// The frames of 16 users on a CUDA device. On a CPU there is nothing to build.
#if defined(__CUDACC__)
#include <warpband/massive/launch_frames.hpp>

namespace wb {
inline namespace WB_ISA {
template int launch_frames<uplink_16>(const massive_args&, const place&);
template int launch_frames<uplink_16_shared>(const massive_args&, const place&);
template int launch_frames<uplink_16_split>(const massive_args&, const place&);
template int launch_frames<uplink_16_split_shared>(const massive_args&, const place&);
template int launch_sent_frames<downlink_16>(const massive_args&, const place&);
template int launch_sent_frames<downlink_16_shared>(const massive_args&, const place&);
template int launch_cluster_sums<uplink_16>(const cluster_sums_args&, const place&);
template int launch_cluster_sums<uplink_16_shared>(const cluster_sums_args&, const place&);
template int launch_cluster_solve<uplink_16>(const cluster_solve_args&, const place&);
template int launch_cluster_solve<uplink_16_shared>(const cluster_solve_args&, const place&);
}  // namespace WB_ISA
}  // namespace wb
#endif
