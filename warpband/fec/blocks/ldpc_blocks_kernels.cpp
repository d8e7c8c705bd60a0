#include <warpband/exec/launch.hpp>
#include <warpband/fec/blocks/ldpc_blocks_op.hpp>

namespace wb {
inline namespace WB_ISA {
WB_EXPORT_OP(ldpc_block_input, ldpc_block_input_args, ldpc_block_input_op)
WB_EXPORT_OP(ldpc_block_output, ldpc_block_output_args, ldpc_block_output_op)
WB_EXPORT_OP(ldpc_block_encode, ldpc_block_encode_args, ldpc_block_encode_op)
}  // namespace WB_ISA
}  // namespace wb
