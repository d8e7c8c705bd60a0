#include <warpband/exec/launch.hpp>
#include <warpband/fec/ldpc/ldpc_rows.hpp>

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)
/// A check of sum-product has three numbers of each edge in registers, so one block less of a multiprocessor.
template <int Rows, int Least, int Most, int Blocks>
struct decode_product_rows
    : ldpc_decode_registers_op<lane, sum_product<lane>, Rows, Least, Most, Blocks - 1> {};
#endif

/// A CPU does not run this one (kernels_of in ldpc.cpp).
template <class F>
static auto with_ldpc_decode_product_rows(const ldpc_decode_args& a, F f) {
#if defined(__CUDACC__)
  return with_rows<decode_product_rows>(a, f);
#else
  return f(ldpc_decode_op<lane, sum_product<lane>, 64>{a});
#endif
}
WB_EXPORT_KERNEL_OF(ldpc_decode_product_rows, ldpc_decode_args, with_ldpc_decode_product_rows,
                    message_memory<lane>::rows)

}  // namespace WB_ISA
}  // namespace wb
