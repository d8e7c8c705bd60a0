// Exact sums and detection from them for 32 users on a CUDA device (cluster_frames.hpp). On a CPU there is
// nothing to build.
#if defined(__CUDACC__)
#include <warpband/massive/cluster/launch_cluster_frames.hpp>

namespace wb {
inline namespace WB_ISA {
int launch_cluster_sums_of_32(const cluster_sums_args& args, const place& where) {
  return args.of.symbols > 1 ? launch_cluster_sums<32, true>(args, where)
                             : launch_cluster_sums<32, false>(args, where);
}
int launch_cluster_solve_of_32(const cluster_solve_args& args, const place& where) {
  return args.of.symbols > 1 ? launch_cluster_solve<32, true>(args, where)
                             : launch_cluster_solve<32, false>(args, where);
}
}  // namespace WB_ISA
}  // namespace wb
#endif
