#include <warpband/exec/launch.hpp>
#include <warpband/fec/ldpc/ldpc_op.hpp>

namespace wb {
inline namespace WB_ISA {

template <class F>
static auto with_ldpc_decode(const ldpc_decode_args& a, F f) {
  switch (a.precision) {
    case 1:
      return f(ldpc_decode_op<f16x, min_sum<f16x>>{a});
    case 2:
      return f(ldpc_decode_op<i8x, min_sum<i8x>>{a});
    default:
      return a.sum_product ? f(ldpc_decode_op<lane, sum_product<lane>>{a})
                           : f(ldpc_decode_op<lane, min_sum<lane>>{a});
  }
}
WB_EXPORT_KERNEL_OF(ldpc_decode, ldpc_decode_args, with_ldpc_decode, 1)
WB_EXPORT_OP(ldpc_encode, ldpc_encode_args, ldpc_encode_op)

}  // namespace WB_ISA
}  // namespace wb
