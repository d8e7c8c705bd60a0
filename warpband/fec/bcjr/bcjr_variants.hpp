#pragma once
// The builds of the BCJR decoder with one semiring, Coded: with extrinsics of the coded bits; for codes with
// or without feedback, or both. Included by *_kernels.cpp only.
#include <warpband/exec/launch.hpp>
#include <warpband/fec/bcjr/bcjr_known_call.hpp>
#include <warpband/fec/bcjr/bcjr_op.hpp>

namespace wb {
inline namespace WB_ISA {

enum class bcjr_codes { all, feed_forward, recursive };

template <int Memory, class M, bool Coded, bcjr_codes Codes, class F>
static auto with_bcjr_of(const bcjr_args& a, F f) {
#if defined(__CUDACC__)
  constexpr int threads = Memory < 5 ? 8 : 32;
#else
  constexpr int threads = 1;
#endif
  if constexpr (Codes == bcjr_codes::recursive) {
    return f(bcjr_op<Memory, M, true, threads, Coded>{a});
  } else if constexpr (Codes == bcjr_codes::feed_forward) {
    return f(bcjr_op<Memory, M, false, threads, Coded>{a});
  } else {
#if defined(__CUDACC__)
    if constexpr (Memory == 6 && !Coded && !std::is_same_v<M, max_star_table>)
      if (a.code.feedback == 1 << Memory)
        return f(bcjr_known_or_any<M, bcjr_op<Memory, M, false, threads>>{{a}});
#endif
    return a.code.feedback != 1 << Memory ? f(bcjr_op<Memory, M, true, threads, Coded>{a})
                                          : f(bcjr_op<Memory, M, false, threads, Coded>{a});
  }
}
template <class M, bool Coded = false, bcjr_codes Codes = bcjr_codes::all, class F>
static auto with_bcjr(const bcjr_args& a, F f) {
  switch (a.code.memory) {
    case 2:
      return with_bcjr_of<2, M, Coded, Codes>(a, f);
    case 3:
      return with_bcjr_of<3, M, Coded, Codes>(a, f);
    case 4:
      return with_bcjr_of<4, M, Coded, Codes>(a, f);
    case 5:
      return with_bcjr_of<5, M, Coded, Codes>(a, f);
    case 6:
      return with_bcjr_of<6, M, Coded, Codes>(a, f);
    case 7:
      return with_bcjr_of<7, M, Coded, Codes>(a, f);
    default:
      return with_bcjr_of<8, M, Coded, Codes>(a, f);
  }
}

}  // namespace WB_ISA
}  // namespace wb
