#include <warpband/exec/launch.hpp>
#include <warpband/fec/sparse_ldpc/sparse_ldpc_op.hpp>

namespace wb {
inline namespace WB_ISA {
WB_EXPORT_OP(sparse_ldpc_decode, sparse_ldpc_args, sparse_ldpc_decode_op<min_sum>)
WB_EXPORT_OP(sparse_ldpc_product, sparse_ldpc_args, sparse_ldpc_decode_op<sparse_sum_product>)
}  // namespace WB_ISA
}  // namespace wb
