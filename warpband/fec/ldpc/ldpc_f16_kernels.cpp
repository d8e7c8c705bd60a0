#include <warpband/exec/launch.hpp>
#include <warpband/fec/ldpc/ldpc_op.hpp>

namespace wb {
inline namespace WB_ISA {

template <class F>
static auto with_ldpc_decode_f16(const ldpc_decode_args& a, F f) {
#if defined(__CUDACC__)
  using rule = min_sum<f16x>;  // the rates of WiMAX and WiFi
  if (ldpc_decode_registers_op<f16x, rule, 12, 6, 7, 5>::fits(a))
    return f(ldpc_decode_registers_op<f16x, rule, 12, 6, 7, 5>{{a}});
  if (ldpc_decode_registers_op<f16x, rule, 12, 7, 8, 5>::fits(a))
    return f(ldpc_decode_registers_op<f16x, rule, 12, 7, 8, 5>{{a}});
  if (ldpc_decode_registers_op<f16x, rule, 8, 10, 11, 4>::fits(a))
    return f(ldpc_decode_registers_op<f16x, rule, 8, 10, 11, 4>{{a}});
  if (ldpc_decode_registers_op<f16x, rule, 6, 14, 15, 4>::fits(a))
    return f(ldpc_decode_registers_op<f16x, rule, 6, 14, 15, 4>{{a}});
  if (ldpc_decode_registers_op<f16x, rule, 4, 19, 20, 4>::fits(a))
    return f(ldpc_decode_registers_op<f16x, rule, 4, 19, 20, 4>{{a}});
  if (ldpc_decode_registers_op<f16x, rule, 4, 21, 22, 4>::fits(a))
    return f(ldpc_decode_registers_op<f16x, rule, 4, 21, 22, 4>{{a}});
#endif
  if (a.most_degree <= 8) return f(ldpc_decode_op<f16x, min_sum<f16x>, 8>{a});
  if (a.most_degree <= 24) return f(ldpc_decode_op<f16x, min_sum<f16x>, 24>{a});
  return f(ldpc_decode_op<f16x, min_sum<f16x>, 64>{a});
}
WB_EXPORT_KERNEL_OF(ldpc_decode_f16, ldpc_decode_args, with_ldpc_decode_f16, 1)

}  // namespace WB_ISA
}  // namespace wb
