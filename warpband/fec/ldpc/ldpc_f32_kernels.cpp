#include <warpband/exec/launch.hpp>
#include <warpband/fec/ldpc/ldpc_op.hpp>

namespace wb {
inline namespace WB_ISA {

template <class F>
static auto with_ldpc_decode_f32(const ldpc_decode_args& a, F f) {
  if (a.most_degree <= 8) return f(ldpc_decode_op<lane, min_sum<lane>, 8>{a});
  if (a.most_degree <= 24) return f(ldpc_decode_op<lane, min_sum<lane>, 24>{a});
  return f(ldpc_decode_op<lane, min_sum<lane>, 64>{a});
}
WB_EXPORT_KERNEL_OF(ldpc_decode_f32, ldpc_decode_args, with_ldpc_decode_f32, message_memory<lane>::rows)

}  // namespace WB_ISA
}  // namespace wb
