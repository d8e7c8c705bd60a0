#include <warpband/exec/launch.hpp>
#include <warpband/link/exit/exit_op.hpp>

namespace wb {
inline namespace WB_ISA {
WB_EXPORT_OP(exit_llrs, exit_llrs_args, exit_llrs_op)
WB_EXPORT_OP(exit_loss, exit_loss_args, exit_loss_op)
}  // namespace WB_ISA
}  // namespace wb
