#include <warpband/exec/launch.hpp>
#include <warpband/fec/quantise/quantise_op.hpp>

namespace wb {
inline namespace WB_ISA {
WB_EXPORT_OP(llr_scale, llr_scale_args, llr_scale_op)
}  // namespace WB_ISA
}  // namespace wb
