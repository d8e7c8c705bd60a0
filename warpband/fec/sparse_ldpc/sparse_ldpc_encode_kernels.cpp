#include <warpband/exec/launch.hpp>
#include <warpband/fec/sparse_ldpc/sparse_ldpc_op.hpp>

namespace wb {
inline namespace WB_ISA {
WB_EXPORT_OP(sparse_ldpc_encode, sparse_ldpc_encode_args, sparse_ldpc_encode_op)
}  // namespace WB_ISA
}  // namespace wb
