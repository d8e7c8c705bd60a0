#include <warpband/exec/launch.hpp>
#include <warpband/fec/blocks/turbo_blocks_op.hpp>

namespace wb {
inline namespace WB_ISA {
WB_EXPORT_OP(turbo_block_input, turbo_block_input_args, turbo_block_input_op)
WB_EXPORT_OP(turbo_block_output, turbo_block_output_args, turbo_block_output_op)
WB_EXPORT_OP(turbo_block_unpack, turbo_block_unpack_args, turbo_block_unpack_op)
WB_EXPORT_OP(turbo_block_pack, turbo_block_pack_args, turbo_block_pack_op)
}  // namespace WB_ISA
}  // namespace wb
