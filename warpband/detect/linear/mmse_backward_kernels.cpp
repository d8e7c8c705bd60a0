#include <warpband/detect/linear/mmse_backward_op.hpp>
#include <warpband/exec/launch.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_mmse_backward(const mmse_backward_args& a, F f) {
  return f(mmse_backward_op<any_sizes>{{a}});
}
WB_EXPORT_KERNEL(mmse_backward, mmse_backward_args, with_mmse_backward)
}  // namespace WB_ISA
}  // namespace wb
