#pragma once
// The builds of the BCJR decoder with one semiring. Included by *_kernels.cpp only.
#include <warpband/exec/launch.hpp>
#include <warpband/fec/bcjr/bcjr_op.hpp>

namespace wb {
inline namespace WB_ISA {

template <int Memory, class M, class F>
static auto with_bcjr_of(const bcjr_args& a, F f) {
#if defined(__CUDACC__)
  constexpr int threads = Memory < 5 ? 8 : 32;
#else
  constexpr int threads = 1;
#endif
  return a.code.feedback != 1 << Memory ? f(bcjr_op<Memory, M, true, threads>{a})
                                        : f(bcjr_op<Memory, M, false, threads>{a});
}
template <class M, class F>
static auto with_bcjr(const bcjr_args& a, F f) {
  switch (a.code.memory) {
    case 2:
      return with_bcjr_of<2, M>(a, f);
    case 3:
      return with_bcjr_of<3, M>(a, f);
    case 4:
      return with_bcjr_of<4, M>(a, f);
    case 5:
      return with_bcjr_of<5, M>(a, f);
    case 6:
      return with_bcjr_of<6, M>(a, f);
    case 7:
      return with_bcjr_of<7, M>(a, f);
    default:
      return with_bcjr_of<8, M>(a, f);
  }
}

}  // namespace WB_ISA
}  // namespace wb
