#include <warpband/channel/binary/binary_op.hpp>
#include <warpband/exec/launch.hpp>

namespace wb {
inline namespace WB_ISA {
WB_EXPORT_OP(binary, binary_args, binary_op)
}  // namespace WB_ISA
}  // namespace wb
