// Exact sums and detection from them for 32 users on a CUDA device (cluster_frames.hpp). On a CPU there is
// nothing to build.
#if defined(__CUDACC__)
#include <warpband/massive/cluster/launch_cluster_frames.hpp>

namespace wb {
inline namespace WB_ISA {
template int launch_cluster_sums<uplink_32>(const cluster_sums_args&, const place&);
template int launch_cluster_sums<uplink_32_shared>(const cluster_sums_args&, const place&);
template int launch_cluster_solve<uplink_32>(const cluster_solve_args&, const place&);
template int launch_cluster_solve<uplink_32_shared>(const cluster_solve_args&, const place&);
}  // namespace WB_ISA
}  // namespace wb
#endif
