#include <warpband/exec/launch.hpp>
#include <warpband/fec/ldpc/ldpc_rows.hpp>

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)
template <int Rows, int Least, int Most, int Blocks>
struct decode_rows : ldpc_decode_registers_op<f16x, min_sum<f16x>, Rows, Least, Most, Blocks> {};
#endif

/// A CPU does not run this one (kernels_of in ldpc.cpp).
template <class F>
static auto with_ldpc_decode_f16_rows(const ldpc_decode_args& a, F f) {
#if defined(__CUDACC__)
  return with_rows<decode_rows>(a, f);
#else
  return f(ldpc_decode_op<f16x, min_sum<f16x>, 64>{a});
#endif
}
WB_EXPORT_KERNEL_OF(ldpc_decode_f16_rows, ldpc_decode_args, with_ldpc_decode_f16_rows,
                    message_memory<f16x>::rows)

}  // namespace WB_ISA
}  // namespace wb
