#include <warpband/exec/launch.hpp>
#include <warpband/nr/shared_channel_op.hpp>

namespace wb {
inline namespace WB_ISA {
WB_EXPORT_OP(nr_map, nr_map_args, nr_map_op)
WB_EXPORT_OP(nr_extract, nr_extract_args, nr_extract_op)
}  // namespace WB_ISA
}  // namespace wb
