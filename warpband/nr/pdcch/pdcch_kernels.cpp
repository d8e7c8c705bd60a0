#include <warpband/exec/launch.hpp>
#include <warpband/nr/pdcch/pdcch_op.hpp>

namespace wb {
inline namespace WB_ISA {
WB_EXPORT_OP(pdcch_equalise, pdcch_equalise_args, pdcch_equalise_op)
WB_EXPORT_OP(pdcch_map, pdcch_map_args, pdcch_map_op)
}  // namespace WB_ISA
}  // namespace wb
