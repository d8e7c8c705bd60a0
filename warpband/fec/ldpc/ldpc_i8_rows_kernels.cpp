#include <warpband/exec/launch.hpp>
#include <warpband/fec/ldpc/ldpc_int8_pairs.hpp>
#include <warpband/fec/ldpc/ldpc_rows.hpp>

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)
template <int Rows, int Least, int Most, int Blocks>
struct decode_i8_rows : ldpc_decode_registers_op<i8_pair, min_sum<i8_pair>, Rows, Least, Most, Blocks> {};
#endif

/// A CPU does not run this one (kernels_of in ldpc.cpp).
template <class F>
static auto with_ldpc_decode_i8_rows(const ldpc_decode_args& a, F f) {
#if defined(__CUDACC__)
  return with_rows<decode_i8_rows>(a, f);
#else
  return f(ldpc_decode_op<i8x, min_sum<i8x>, 64>{a});
#endif
}
WB_EXPORT_KERNEL_OF(ldpc_decode_i8_rows, ldpc_decode_args, with_ldpc_decode_i8_rows,
                    message_memory<i8x>::rows)

}  // namespace WB_ISA
}  // namespace wb
