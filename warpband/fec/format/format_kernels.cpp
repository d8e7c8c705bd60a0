#include <warpband/exec/launch.hpp>
#include <warpband/fec/format/format_op.hpp>

namespace wb {
inline namespace WB_ISA {
WB_EXPORT_OP(llr_convert, llr_convert_args, llr_convert_op)
WB_EXPORT_OP(bit_pack, bit_pack_args, bit_pack_op)
}  // namespace WB_ISA
}  // namespace wb
