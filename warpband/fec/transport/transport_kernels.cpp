#include <warpband/exec/launch.hpp>
#include <warpband/fec/transport/transport_op.hpp>

namespace wb {
inline namespace WB_ISA {
WB_EXPORT_OP(transport_finish, transport_finish_args, transport_finish_op)
}  // namespace WB_ISA
}  // namespace wb
