#include <warpband/exec/launch.hpp>
#include <warpband/fec/ldpc/gpu/graph_call.hpp>
#include <warpband/fec/ldpc/ldpc_op.hpp>

namespace wb {
inline namespace WB_ISA {

template <int Most>
using decode_i8 = graph_or_any<i8_pair, ldpc_decode_op<i8x, min_sum<i8x>, Most>>;

template <class F>
static auto with_ldpc_decode_i8(const ldpc_decode_args& a, F f) {
  if (a.most_degree <= 8) return f(decode_i8<8>{{a}});
  if (a.most_degree <= 24) return f(decode_i8<24>{{a}});
  return f(decode_i8<64>{{a}});
}
WB_EXPORT_KERNEL_OF(ldpc_decode_i8, ldpc_decode_args, with_ldpc_decode_i8, message_memory<i8x>::rows)

}  // namespace WB_ISA
}  // namespace wb
