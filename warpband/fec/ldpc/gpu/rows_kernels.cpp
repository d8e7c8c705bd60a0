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
/// f(op) with the Op of the first known rows from `First` on that fit the call: one does
/// (ldpc_has_known_rows).
template <template <int, int, int, int> class Op, std::size_t First = 0, class F>
static auto with_rows(const ldpc_decode_args& a, F f) {
  constexpr ldpc_known_rows known = ldpc_known[First];
  if constexpr (First + 1 < std::size(ldpc_known))
    if (!known.fit(a)) return with_rows<Op, First + 1>(a, f);
  return f(Op<known.rows, known.least_degree, known.most_degree, known.blocks>{{a}});
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
