#include <warpband/exec/launch.hpp>
#include <warpband/massive/cluster/cluster_solve_op.hpp>
#include <warpband/massive/cluster/cluster_takes.hpp>

namespace wb {
inline namespace WB_ISA {
#if defined(__CUDACC__)
/// Defined in launch_frames.hpp.
template <class P>
int launch_cluster_solve(const cluster_solve_args& args, const place& where);
/// Defined in frames_64_kernels.cpp.
int launch_cluster_solve_64(const cluster_solve_args& args, const place& where);

/// Calls with 16, 32 and 64 users have kernels of their own for what they fit.
template <class Users>
struct cluster_detect_call : cluster_detect_op<Users> {
  cluster_solve_args args;
  explicit cluster_detect_call(const cluster_solve_args& arguments)
      : cluster_detect_op<Users>(arguments), args(arguments) {}
};
template <class Users>
int launch(const cluster_detect_call<Users>& op, const place& where) {
  if (where.first == where.last) return 0;
  if (op.a.users == 64) return launch_cluster_solve_64(op.args, where);
  if (!takes_cluster_solve(op.args.massive))
    return launch(static_cast<const cluster_detect_op<Users>&>(op), where);
  return with_cluster_policy(op.args.massive,
                             [&]<class P>() { return launch_cluster_solve<P>(op.args, where); });
}
#else
template <class Users>
using cluster_detect_call = cluster_detect_op<Users>;
#endif
template <class F>
static auto with_cluster_detect(const cluster_solve_args& a, F f) {
  return with_massive_users(a.massive.users, [&]<class Users>() { return f(cluster_detect_call<Users>(a)); });
}
WB_EXPORT_KERNEL(cluster_detect, cluster_solve_args, with_cluster_detect)
}  // namespace WB_ISA
}  // namespace wb
