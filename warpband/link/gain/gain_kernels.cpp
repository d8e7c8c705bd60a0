#include <warpband/exec/launch.hpp>
#include <warpband/link/gain/gain_op.hpp>

namespace wb {
inline namespace WB_ISA {
WB_EXPORT_OP(gain, gain_args, gain_op)
}  // namespace WB_ISA
}  // namespace wb
