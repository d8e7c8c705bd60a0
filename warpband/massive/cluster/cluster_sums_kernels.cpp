#include <warpband/exec/launch.hpp>
#include <warpband/massive/cluster/cluster_frames.hpp>
#include <warpband/massive/cluster/cluster_sums_op.hpp>

namespace wb {
inline namespace WB_ISA {
#if defined(__CUDACC__)
/// 16 and 32 users have kernels of their own for what they fit.
template <class Users>
struct cluster_sums_frames_op : cluster_sums_op<Users> {
  cluster_sums_args args;
  explicit cluster_sums_frames_op(const cluster_sums_args& all) : cluster_sums_op<Users>(all), args(all) {}
};
template <class Users>
int launch(const cluster_sums_frames_op<Users>& op, const place& where) {
  if (where.first == where.last) return 0;
  if (takes_cluster_sums(op.args, where.limits.shared_bytes))
    return Users::most == 16 ? launch_cluster_sums_of_16(op.args, where)
                             : launch_cluster_sums_of_32(op.args, where);
  return launch(static_cast<const cluster_sums_op<Users>&>(op), where);
}
#endif
template <class F>
static auto with_cluster_sums(const cluster_sums_args& a, F f) {
  return with_massive_users(a.of.users, [&]<class Users>() {
#if defined(__CUDACC__)
    if constexpr (Users::known && (Users::most == 16 || Users::most == 32))
      return f(cluster_sums_frames_op<Users>(a));
    else
#endif
      return f(cluster_sums_op<Users>(a));
  });
}
WB_EXPORT_KERNEL_OF(cluster_sums, cluster_sums_args, with_cluster_sums, WB_WIDTH)
}  // namespace WB_ISA
}  // namespace wb
