#include <warpband/exec/launch.hpp>
#include <warpband/fec/sparse_ldpc/min_sum_backward_op.hpp>

namespace wb {
inline namespace WB_ISA {
WB_EXPORT_OP(min_sum_backward, min_sum_backward_args, min_sum_backward_op)
}  // namespace WB_ISA
}  // namespace wb
