#include <warpband/detect/ml/ml_op.hpp>
#include <warpband/exec/launch.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_ml(const detect_call& a, F f) {
  return with_sizes(a, [&]<class S>() {
    if constexpr (S::pam::known && 2 * S::pam::capacity * S::streams::capacity > 24)
      return f(ml_op<any_sizes, 1>{a});  // more hypotheses than ml allows
    else {
#if defined(__CUDACC__)
      if (a.tile > 1) return f(ml_op<S, 32>{a});
#endif
      return f(ml_op<S, 1>{a});
    }
  });
}
WB_EXPORT_KERNEL(ml, detect_call, with_ml)
}  // namespace WB_ISA
}  // namespace wb
