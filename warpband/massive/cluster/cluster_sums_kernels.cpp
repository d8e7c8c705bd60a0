#include <warpband/exec/launch.hpp>
#include <warpband/massive/cluster/cluster_sums_op.hpp>
#include <warpband/massive/cluster/cluster_takes.hpp>

namespace wb {
inline namespace WB_ISA {
#if defined(__CUDACC__)
/// Defined in launch_frames.hpp.
template <class P>
int launch_cluster_sums(const cluster_sums_args& args, const place& where);
/// Defined in frames_64_kernels.cpp.
int launch_cluster_sums_64(const cluster_sums_args& args, const place& where);

/// Calls with 16, 32 and 64 users have kernels of their own for what they fit.
template <class Users>
struct cluster_sums_call : cluster_sums_op<Users> {
  cluster_sums_args args;
  explicit cluster_sums_call(const cluster_sums_args& arguments)
      : cluster_sums_op<Users>(arguments), args(arguments) {}
};
template <class Users>
int launch(const cluster_sums_call<Users>& op, const place& where) {
  if (where.first == where.last) return 0;
  if (takes_streamed_sums(op.args, where.limits.shared_bytes)) return launch_cluster_sums_64(op.args, where);
  if (!takes_cluster_sums(op.args, where.limits.shared_bytes))
    return launch(static_cast<const cluster_sums_op<Users>&>(op), where);
  return with_cluster_policy(op.args.massive,
                             [&]<class P>() { return launch_cluster_sums<P>(op.args, where); });
}
#else
template <class Users>
using cluster_sums_call = cluster_sums_op<Users>;
#endif
template <class F>
static auto with_cluster_sums(const cluster_sums_args& a, F f) {
  return with_massive_users(a.massive.users, [&]<class Users>() { return f(cluster_sums_call<Users>(a)); });
}
WB_EXPORT_KERNEL(cluster_sums, cluster_sums_args, with_cluster_sums)
}  // namespace WB_ISA
}  // namespace wb
