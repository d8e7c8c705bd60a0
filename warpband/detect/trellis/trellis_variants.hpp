#pragma once
// The variants of the trellis detectors.
#include <warpband/detect/trellis/trellis_op.hpp>
#include <warpband/exec/launch.hpp>

namespace wb {
inline namespace WB_ISA {
template <trellis_algorithm Algorithm, class F>
auto with_trellis_variants(const search_args& a, F f) {
  return with_trellis_sizes(a, [&]<class S>() {
#if defined(__CUDACC__)
    constexpr bool registers = S::pam::known && S::pam::capacity == 1;  // hold all paths of QPSK
    return f(trellis_op<S, Algorithm, trellis_tile<S>(), registers>{a});
#else
    return f(trellis_op<S, Algorithm, 1>{a});
#endif
  });
}
}  // namespace WB_ISA
}  // namespace wb
