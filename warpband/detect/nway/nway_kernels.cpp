#include <warpband/detect/nway/nway_op.hpp>
#include <warpband/exec/launch.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_nway(const nway_args& a, F f) {
  return with_sizes(a, [&]<class S>() {
#if defined(__CUDACC__)
    constexpr int shared = S::pam::known ? 1 << S::pam::capacity : 4;  // real parts of the top antenna
    if (a.tile > 1) return f(nway_op<S, shared>{a});
#endif
    return f(nway_op<S, 1>{a});
  });
}
WB_EXPORT_KERNEL(nway, nway_args, with_nway)
}  // namespace WB_ISA
}  // namespace wb
