#pragma once
// The list of codes for which messages are in registers (ldpc_has_known_rows): the rates of WiMAX and WiFi.
#include <warpband/fec/ldpc/ldpc_op.hpp>

#if defined(__CUDACC__)
namespace wb {
inline namespace WB_ISA {

/// f(op) with Op<block rows, least degree, most degree, blocks of a multiprocessor> for a code's rows.
template <template <int, int, int, int> class Op, class F>
static auto with_rows(const ldpc_decode_args& a, F f) {
  if (a.rows == 12 && a.most_degree <= 7) return f(Op<12, 6, 7, 5>{{a}});
  if (a.rows == 12) return f(Op<12, 7, 8, 5>{{a}});
  if (a.rows == 8) return f(Op<8, 10, 11, 4>{{a}});
  if (a.rows == 6) return f(Op<6, 14, 15, 4>{{a}});
  if (a.most_degree <= 20) return f(Op<4, 19, 20, 4>{{a}});
  return f(Op<4, 21, 22, 4>{{a}});
}

}  // namespace WB_ISA
}  // namespace wb
#endif
