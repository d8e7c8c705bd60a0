#include <warpband/exec/launch.hpp>
#include <warpband/fec/bcjr/bcjr_op.hpp>

namespace wb {
inline namespace WB_ISA {

template <int Memory, class F>
static auto with_bcjr_of(const bcjr_args& a, F f) {
#if defined(__CUDACC__)
  constexpr int threads = Memory < 5 ? 8 : 32;
#else
  constexpr int threads = 1;
#endif
  const bool recursive = a.code.feedback != 1 << Memory;
  if (a.log_map)
    return recursive ? f(bcjr_op<Memory, log_map, true, threads>{a})
                     : f(bcjr_op<Memory, log_map, false, threads>{a});
  return recursive ? f(bcjr_op<Memory, max_log, true, threads>{a})
                   : f(bcjr_op<Memory, max_log, false, threads>{a});
}
template <class F>
static auto with_bcjr(const bcjr_args& a, F f) {
  switch (a.code.memory) {
    case 2:
      return with_bcjr_of<2>(a, f);
    case 3:
      return with_bcjr_of<3>(a, f);
    case 4:
      return with_bcjr_of<4>(a, f);
    case 5:
      return with_bcjr_of<5>(a, f);
    case 6:
      return with_bcjr_of<6>(a, f);
    case 7:
      return with_bcjr_of<7>(a, f);
    default:
      return with_bcjr_of<8>(a, f);
  }
}
WB_EXPORT_KERNEL(bcjr, bcjr_args, with_bcjr)

}  // namespace WB_ISA
}  // namespace wb
