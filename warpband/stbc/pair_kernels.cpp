// The tiles are those of mapping.hpp.
#include <warpband/exec/launch.hpp>
#include <warpband/stbc/pair_op.hpp>

namespace wb {
inline namespace WB_ISA {
template <bool Soft, class F>
static auto with_points(const stbc_decode_args& a, F f) {
  switch (a.pam_bits) {
    case 1:
      return f(pair_op<1, Soft, 1>{a});
#if defined(__CUDACC__)
    case 2:
      return a.tile == 1 ? f(pair_op<2, Soft, 1>{a}) : f(pair_op<2, Soft, 4>{a});
    case 3:
      return a.tile == 4 ? f(pair_op<3, Soft, 4>{a}) : f(pair_op<3, Soft, 32>{a});
    default:
      return f(pair_op<4, Soft, 32>{a});
#else
    case 2:
      return f(pair_op<2, Soft, 1>{a});
    case 3:
      return f(pair_op<3, Soft, 1>{a});
    default:
      return f(pair_op<4, Soft, 1>{a});
#endif
  }
}
template <class F>
static auto with_pair(const stbc_decode_args& a, F f) {
  return a.llr.data != nullptr ? with_points<true>(a, f) : with_points<false>(a, f);
}
WB_EXPORT_KERNEL(stbc_pair, stbc_decode_args, with_pair)
}  // namespace WB_ISA
}  // namespace wb
