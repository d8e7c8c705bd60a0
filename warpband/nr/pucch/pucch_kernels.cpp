#include <warpband/exec/launch.hpp>
#include <warpband/nr/pucch/pucch_op.hpp>

namespace wb {
inline namespace WB_ISA {
WB_EXPORT_OP(pucch_tones, pucch_tones_args, pucch_tones_op)
WB_EXPORT_OP(pucch_equalise, pucch_equalise_args, pucch_equalise_op)
WB_EXPORT_OP(pucch_decide, pucch_decide_args, pucch_decide_op)
WB_EXPORT_OP(pucch_map, pucch_map_args, pucch_map_op)
}  // namespace WB_ISA
}  // namespace wb
