#include <warpband/detect/trellis/trellis_op.hpp>
#include <warpband/exec/launch.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_ot(const detect_args& a, F f) {
  return with_trellis_sizes(a, [&]<class S>() {
    constexpr trellis_algorithm algorithm = trellis_algorithm::one_pass;
#if defined(__CUDACC__)
    constexpr bool registers = S::pam::known && S::pam::most == 1;  // hold all paths of QPSK
    return f(trellis_op<S, algorithm, trellis_tile<S>(), registers>{a});
#else
    return f(trellis_op<S, algorithm, 1>{a});
#endif
  });
}
WB_EXPORT_KERNEL(ot, detect_args, with_ot)
}  // namespace WB_ISA
}  // namespace wb
