#include <warpband/exec/launch.hpp>
#include <warpband/link/regroup/regroup_op.hpp>

namespace wb {
inline namespace WB_ISA {
WB_EXPORT_OP(regroup, regroup_args, regroup_op)
}  // namespace WB_ISA
}  // namespace wb
