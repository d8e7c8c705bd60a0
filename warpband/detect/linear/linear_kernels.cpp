#include <warpband/detect/linear/linear_op.hpp>
#include <warpband/exec/launch.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_linear(const linear_args& a, F f) {
  return with_square_sizes(a, [&]<class S>() {
    switch (a.algorithm) {
      case linear_algorithm::mf:
        return f(linear_op<S, linear_algorithm::mf>{a});
      case linear_algorithm::zf:
        return f(linear_op<S, linear_algorithm::zf>{a});
      default:
        return f(linear_op<S, linear_algorithm::mmse>{a});
    }
  });
}
WB_EXPORT_KERNEL(linear, linear_args, with_linear)
}  // namespace WB_ISA
}  // namespace wb
