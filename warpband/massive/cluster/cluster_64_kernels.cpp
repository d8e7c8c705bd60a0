// Exact sums and detection from them for 64 users on a CUDA device. On a CPU there is nothing to build.
#if defined(__CUDACC__)
#include <warpband/massive/cluster/cluster_solve_64.hpp>
#include <warpband/massive/cluster/cluster_sums_op.hpp>
#include <warpband/massive/uplink/launch_streamed.hpp>

namespace wb {
inline namespace WB_ISA {
/// A call that `takes_streamed_sums`.
int launch_cluster_sums_64(const cluster_sums_args& args, const place& where) {
  return launch_streamed_op(cluster_sums_op<fixed<64>>(args), where);
}
/// Two blocks for each multiprocessor.
int launch_cluster_solve_64(const cluster_solve_args& args, const place& where) {
  using op_of_64 = cluster_detect_op<fixed<64>>;
  const op_of_64 op(args);
  const std::size_t most = 2 * static_cast<std::size_t>(where.limits.multiprocessors),
                    frames = where.last - where.first;
  return launch_with_shared(
      solve_64<op_of_64>, factor_block::size,
      static_cast<std::size_t>(op.p.values + factor_block::floats) * sizeof(float), where,
      [&](auto) { return frames < most ? frames : most; }, op, where.first, where.last);
}
}  // namespace WB_ISA
}  // namespace wb
#endif
