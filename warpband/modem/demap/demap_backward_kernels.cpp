#include <warpband/exec/launch.hpp>
#include <warpband/modem/demap/demap_backward_op.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_demap_backward(const demap_backward_args& a, F f) {
  return f(demap_backward_op{a});
}
WB_EXPORT_KERNEL(demap_backward, demap_backward_args, with_demap_backward)
}  // namespace WB_ISA
}  // namespace wb
