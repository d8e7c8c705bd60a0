#include <warpband/exec/launch.hpp>
#include <warpband/massive/cluster/cluster_solve_op.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_cluster_weights(const cluster_solve_args& a, F f) {
  return with_massive_users(a.massive.users, [&]<class Users>() { return f(cluster_weights_op<Users>(a)); });
}
WB_EXPORT_KERNEL(cluster_weights, cluster_solve_args, with_cluster_weights)
}  // namespace WB_ISA
}  // namespace wb
