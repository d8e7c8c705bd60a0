#include <warpband/exec/launch.hpp>
#include <warpband/link/source/source_op.hpp>

namespace wb {
inline namespace WB_ISA {
WB_EXPORT_OP(source, source_args, source_op)
}  // namespace WB_ISA
}  // namespace wb
