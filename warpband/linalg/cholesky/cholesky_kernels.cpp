#include <warpband/exec/launch.hpp>
#include <warpband/linalg/cholesky/cholesky_op.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_cholesky(const cholesky_args& a, F f) {
  return with_matrix_sizes<8, 8>(a.size, a.size, [&]<class S>() { return f(cholesky_op<S>{a}); });
}
WB_EXPORT_KERNEL(cholesky, cholesky_args, with_cholesky)
}  // namespace WB_ISA
}  // namespace wb
