#include <warpband/exec/launch.hpp>
#include <warpband/fec/bch/bch_op.hpp>

namespace wb {
inline namespace WB_ISA {
WB_EXPORT_OP(bch_encode, bch_encode_args, bch_encode_op)
WB_EXPORT_OP(bch_decode, bch_decode_args, bch_decode_op)
}  // namespace WB_ISA
}  // namespace wb
