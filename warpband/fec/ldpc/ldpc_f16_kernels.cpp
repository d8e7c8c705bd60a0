#include <warpband/exec/launch.hpp>
#include <warpband/fec/ldpc/gpu/graph_call.hpp>
#include <warpband/fec/ldpc/ldpc_op.hpp>

namespace wb {
inline namespace WB_ISA {

template <int Most>
using decode_f16 = graph_or_any<f16x, ldpc_decode_op<f16x, min_sum<f16x>, Most>>;

template <class F>
static auto with_ldpc_decode_f16(const ldpc_decode_args& a, F f) {
  if (a.most_degree <= 8) return f(decode_f16<8>{{a}});
  if (a.most_degree <= 24) return f(decode_f16<24>{{a}});
  return f(decode_f16<64>{{a}});
}
WB_EXPORT_KERNEL_OF(ldpc_decode_f16, ldpc_decode_args, with_ldpc_decode_f16, message_memory<f16x>::rows)

}  // namespace WB_ISA
}  // namespace wb
