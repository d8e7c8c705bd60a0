#include <warpband/exec/launch.hpp>
#include <warpband/fec/ldpc/code/encode_op.hpp>

namespace wb {
inline namespace WB_ISA {
WB_EXPORT_OP(ldpc_encode, ldpc_encode_args, ldpc_encode_op)
}  // namespace WB_ISA
}  // namespace wb
