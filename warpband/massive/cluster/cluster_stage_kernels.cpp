// The stages of a call beside its sums and its detector.
#include <warpband/exec/launch.hpp>
#include <warpband/massive/cluster/cluster_cg_op.hpp>
#include <warpband/massive/cluster/cluster_fuse_op.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_cluster_fuse(const cluster_fuse_args& a, F f) {
  return with_number<1, 4>(a.pam_bits, [&]<int B>() { return f(cluster_fuse_op<B>{a}); });
}
WB_EXPORT_KERNEL(cluster_fuse, cluster_fuse_args, with_cluster_fuse)
WB_EXPORT_OP(cluster_cg, cluster_cg_args, cluster_cg_op)
WB_EXPORT_OP(cluster_energy, cluster_energy_args, cluster_energy_op)
WB_EXPORT_OP(cluster_join, cluster_join_args, cluster_join_op)
}  // namespace WB_ISA
}  // namespace wb
