#include <warpband/exec/launch.hpp>
#include <warpband/massive/cluster/cluster_cg_op.hpp>

namespace wb {
inline namespace WB_ISA {
WB_EXPORT_OP(cluster_cg, cluster_cg_args, cluster_cg_op)
}  // namespace WB_ISA
}  // namespace wb
