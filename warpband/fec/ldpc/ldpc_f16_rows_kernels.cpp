#include <warpband/exec/launch.hpp>
#include <warpband/fec/ldpc/ldpc_op.hpp>

namespace wb {
inline namespace WB_ISA {

/// Codes that ldpc_has_known_rows() names: the rates of WiMAX and WiFi.
template <class F>
static auto with_ldpc_decode_f16_rows(const ldpc_decode_args& a, F f) {
  using rule = min_sum<f16x>;
#if defined(__CUDACC__)
  if (a.rows == 12 && a.most_degree <= 7) return f(ldpc_decode_registers_op<f16x, rule, 12, 6, 7, 5>{{a}});
  if (a.rows == 12) return f(ldpc_decode_registers_op<f16x, rule, 12, 7, 8, 5>{{a}});
  if (a.rows == 8) return f(ldpc_decode_registers_op<f16x, rule, 8, 10, 11, 4>{{a}});
  if (a.rows == 6) return f(ldpc_decode_registers_op<f16x, rule, 6, 14, 15, 4>{{a}});
  if (a.most_degree <= 20) return f(ldpc_decode_registers_op<f16x, rule, 4, 19, 20, 4>{{a}});
  return f(ldpc_decode_registers_op<f16x, rule, 4, 21, 22, 4>{{a}});
#else
  return f(ldpc_decode_op<f16x, rule, 24>{a});
#endif
}
WB_EXPORT_KERNEL_OF(ldpc_decode_f16_rows, ldpc_decode_args, with_ldpc_decode_f16_rows,
                    message_memory<f16x>::rows)

}  // namespace WB_ISA
}  // namespace wb
