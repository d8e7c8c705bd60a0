#include <warpband/channel/matrix/matrix_op.hpp>
#include <warpband/exec/launch.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_matrix_channel(const matrix_channel_args& a, F f) {
  return a.adjoint ? f(matrix_channel_op<true>{a}) : f(matrix_channel_op<false>{a});
}
WB_EXPORT_KERNEL(matrix_channel, matrix_channel_args, with_matrix_channel)
}  // namespace WB_ISA
}  // namespace wb
