#include <warpband/channel/impairments/impairments_op.hpp>
#include <warpband/exec/launch.hpp>

namespace wb {
inline namespace WB_ISA {
WB_EXPORT_OP(impair_sums, impair_args, impair_sums_op)
WB_EXPORT_OP(impair_totals, impair_args, impair_totals_op)
WB_EXPORT_OP(impair, impair_args, impair_op)
}  // namespace WB_ISA
}  // namespace wb
