#include <warpband/detect/trellis/trellis_op.hpp>
#include <warpband/exec/launch.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_mtt(const detect_args& a, F f) {
  return with_sizes(a, [&]<class S>() {
    constexpr trellis_algorithm algorithm = trellis_algorithm::multi_pass;
#if defined(__CUDACC__)
    if constexpr (!S::pam::known)
      return f(trellis_op<S, algorithm, 8>{a});
    else if constexpr (S::pam::most == 1)
      return f(trellis_op<S, algorithm, 1, true>{a});
    else
      return f(trellis_op<S, algorithm, 1 << S::pam::most>{a});
#else
    return f(trellis_op<S, algorithm, 1>{a});
#endif
  });
}
WB_EXPORT_KERNEL(mtt, detect_args, with_mtt)
}  // namespace WB_ISA
}  // namespace wb
