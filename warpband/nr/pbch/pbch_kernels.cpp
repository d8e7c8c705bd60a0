#include <warpband/exec/launch.hpp>
#include <warpband/nr/pbch/pbch_op.hpp>

namespace wb {
inline namespace WB_ISA {
WB_EXPORT_OP(pbch_equalise, pbch_equalise_args, pbch_equalise_op)
WB_EXPORT_OP(pbch_map, pbch_map_args, pbch_map_op)
}  // namespace WB_ISA
}  // namespace wb
