#include <warpband/exec/launch.hpp>
#include <warpband/nr/shared_channel_op.hpp>

namespace wb {
inline namespace WB_ISA {
WB_EXPORT_OP(nr_map, nr_map_args, nr_map_op)
WB_EXPORT_OP(nr_extract, nr_extract_args, nr_extract_op)
WB_EXPORT_OP(nr_turn, nr_turn_args, nr_turn_op)
WB_EXPORT_OP(nr_equalise, nr_equalise_args, nr_equalise_op)
WB_EXPORT_OP(nr_rest, nr_rest_args, nr_rest_op)
}  // namespace WB_ISA
}  // namespace wb
