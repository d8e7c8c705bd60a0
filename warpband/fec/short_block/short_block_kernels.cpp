#include <warpband/exec/launch.hpp>
#include <warpband/fec/short_block/short_block_op.hpp>

namespace wb {
inline namespace WB_ISA {
WB_EXPORT_OP(short_block_encode, short_block_encode_args, short_block_encode_op)
WB_EXPORT_OP(short_block_decode, short_block_decode_args, short_block_decode_op)
}  // namespace WB_ISA
}  // namespace wb
