// Messages in registers on a CUDA device, for the rates of WiMAX and WiFi (ldpc_has_known_rows). Each kernel
// is a unit (cmake/library.cmake). A CPU runs none of them.
#include <warpband/exec/kernel_part.hpp>
#include <warpband/fec/ldpc/ldpc_op.hpp>
#if defined(__CUDACC__)
#include <warpband/fec/ldpc/gpu/int8_pairs.hpp>
#include <warpband/fec/ldpc/gpu/registers_op.hpp>
#endif

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)
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

template <int Rows, int Least, int Most, int Blocks>
using decode_f32_rows = ldpc_decode_registers_op<lane, min_sum<lane>, Rows, Least, Most, Blocks>;
template <int Rows, int Least, int Most, int Blocks>
using decode_f16_rows = ldpc_decode_registers_op<f16x, min_sum<f16x>, Rows, Least, Most, Blocks>;
template <int Rows, int Least, int Most, int Blocks>
using decode_f16_kept_rows = ldpc_decode_kept_rows_op<min_sum<f16x>, Rows, Least, Most, Blocks>;
template <int Rows, int Least, int Most, int Blocks>
using decode_i8_rows = ldpc_decode_registers_op<i8_pair, min_sum<i8_pair>, Rows, Least, Most, Blocks>;
/// A check of sum-product has three numbers of each edge in registers, so one block less of a multiprocessor.
template <int Rows, int Least, int Most, int Blocks>
using decode_product_rows = ldpc_decode_registers_op<lane, sum_product<lane>, Rows, Least, Most, Blocks - 1>;

template <class F>
static auto with_ldpc_decode_f32_rows(const ldpc_decode_args& a, F f) {
  return with_rows<decode_f32_rows>(a, f);
}
template <class F>
static auto with_ldpc_decode_f16_rows(const ldpc_decode_args& a, F f) {
  return with_rows<decode_f16_rows>(a, f);
}
template <class F>
static auto with_ldpc_decode_f16_kept_rows(const ldpc_decode_args& a, F f) {
  return with_rows<decode_f16_kept_rows>(a, f);
}
template <class F>
static auto with_ldpc_decode_i8_rows(const ldpc_decode_args& a, F f) {
  return with_rows<decode_i8_rows>(a, f);
}
template <class F>
static auto with_ldpc_decode_product_rows(const ldpc_decode_args& a, F f) {
  return with_rows<decode_product_rows>(a, f);
}
WB_EXPORT_PART(ldpc_decode_args, WB_WIDTH)
#else
template <class F>
static auto with_any_rows(const ldpc_decode_args& a, F f) {
  return f(ldpc_decode_op<lane, min_sum<lane>, 64>{a});
}
WB_EXPORT_KERNEL(WB_PART, ldpc_decode_args, with_any_rows)
#endif

}  // namespace WB_ISA
}  // namespace wb
