#include <warpband/code/passes/passes_op.hpp>
#include <warpband/exec/launch.hpp>

namespace wb {
inline namespace WB_ISA {
WB_EXPORT_OP(count_pass, count_pass_args, count_pass_op)
WB_EXPORT_OP(sum_up, sum_up_args, sum_up_op)
}  // namespace WB_ISA
}  // namespace wb
