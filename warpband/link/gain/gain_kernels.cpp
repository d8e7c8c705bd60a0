#include <warpband/exec/launch.hpp>
#include <warpband/link/gain/gain_op.hpp>

namespace wb {
inline namespace WB_ISA {
WB_EXPORT_OP(vector_power, vector_power_args, vector_power_op)
WB_EXPORT_OP(effective_gain, effective_gain_args, effective_gain_op)
WB_EXPORT_OP(gain_division, gain_division_args, gain_division_op)
}  // namespace WB_ISA
}  // namespace wb
