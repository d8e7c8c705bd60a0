#include <warpband/exec/launch.hpp>
#include <warpband/modem/bit_llrs/bit_llrs_op.hpp>

namespace wb {
inline namespace WB_ISA {
WB_EXPORT_OP(bit_llrs, bit_llrs_args, bit_llrs_op)
}  // namespace WB_ISA
}  // namespace wb
