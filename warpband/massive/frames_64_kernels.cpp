// The frames of 64 users on a CUDA device (frame_stream.hpp). On a CPU there is nothing to build.
#if defined(__CUDACC__)
#include <warpband/exec/shared_launch.hpp>
#include <warpband/massive/cluster/cluster_solve_op.hpp>
#include <warpband/massive/cluster/cluster_sums_op.hpp>
#include <warpband/massive/frame_stream.hpp>

namespace wb {
inline namespace WB_ISA {
namespace {
/// A block for each multiprocessor.
template <class One, class Shared, template <class> class Steps, class Op>
int launch_op(const Op& op, const place& where) {
  return with_policy<One, Shared>(op.a, [&]<class P>() {
    const stream_plan p = stream_plan::of<P>(op.a, where.limits.shared_bytes);
    return launch_blocks(run_streamed<P, Steps, Op>, where.limits.multiprocessors, P::threads, p.floats,
                         where, op, p);
  });
}
}  // namespace

/// A call that `takes_streamed`.
int launch_streamed(const massive_args& a, const place& where) {
  return launch_op<uplink_64, uplink_64_shared, streamed_sums>(uplink_op<fixed<64>>(a), where);
}
/// A call that `takes_streamed_sends`.
int launch_streamed_sends(const massive_args& a, const place& where) {
  return launch_op<downlink_64, downlink_64_shared, streamed_sends>(downlink_op<fixed<64>>(a), where);
}
/// A call that `takes_streamed_sums`.
int launch_cluster_sums_64(const cluster_sums_args& args, const place& where) {
  return launch_op<uplink_64, uplink_64_shared, streamed_sums>(cluster_sums_op<fixed<64>>(args), where);
}
/// Two blocks for each multiprocessor.
int launch_cluster_solve_64(const cluster_solve_args& args, const place& where) {
  using op_of_64 = cluster_detect_op<fixed<64>>;
  const op_of_64 op(args);
  return launch_blocks(solve_64<op_of_64>, 2 * where.limits.multiprocessors, factor_block::size,
                       op.p.values + factor_block::floats, where, op);
}
}  // namespace WB_ISA
}  // namespace wb
#endif
