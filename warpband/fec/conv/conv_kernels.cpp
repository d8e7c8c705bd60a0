#include <warpband/exec/launch.hpp>
#include <warpband/fec/conv/conv_op.hpp>

namespace wb {
inline namespace WB_ISA {
WB_EXPORT_OP(conv_encode, conv_encode_args, conv_encode_op)
}  // namespace WB_ISA
}  // namespace wb
