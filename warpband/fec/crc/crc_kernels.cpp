#include <warpband/exec/launch.hpp>
#include <warpband/fec/crc/crc_op.hpp>

namespace wb {
inline namespace WB_ISA {
WB_EXPORT_OP(crc_attach, crc_attach_args, crc_attach_op)
}  // namespace WB_ISA
}  // namespace wb
