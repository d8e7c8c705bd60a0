#include <warpband/exec/group/group_sum_op.hpp>
#include <warpband/exec/launch.hpp>

namespace wb {
inline namespace WB_ISA {
WB_EXPORT_OP(group_sum, group_sum_args, group_sum_op)
}  // namespace WB_ISA
}  // namespace wb
