#include <warpband/channel/awgn/awgn_op.hpp>
#include <warpband/exec/launch.hpp>

namespace wb {
inline namespace WB_ISA {
WB_EXPORT_OP(awgn, awgn_args, awgn_op)
}  // namespace WB_ISA
}  // namespace wb
