#include <warpband/exec/launch.hpp>
#include <warpband/fec/blocks/turbo_blocks_op.hpp>

namespace wb {
inline namespace WB_ISA {
WB_EXPORT_OP(turbo_block_input, turbo_block_input_args, turbo_block_input_op)
WB_EXPORT_OP(turbo_block_output, turbo_block_output_args, turbo_block_output_op)
WB_EXPORT_OP(turbo_block_encode, turbo_block_encode_args, turbo_block_encode_op)
}  // namespace WB_ISA
}  // namespace wb
