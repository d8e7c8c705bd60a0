#include <warpband/exec/launch.hpp>
#include <warpband/massive/cluster/cluster_sums_op.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_cluster_sums(const cluster_sums_args& a, F f) {
  return with_massive_users(a.of.users, [&]<class Users>() { return f(cluster_sums_op<Users>(a)); });
}
WB_EXPORT_KERNEL_OF(cluster_sums, cluster_sums_args, with_cluster_sums, WB_WIDTH)
}  // namespace WB_ISA
}  // namespace wb
