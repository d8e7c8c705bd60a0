#include <warpband/exec/launch.hpp>
#include <warpband/fec/bcjr/bcjr_short_op.hpp>

namespace wb {
inline namespace WB_ISA {

// 64 to 256 states; of 64 two builds, as most codes have so many and butterflies whose branches pair.
template <class F>
static auto with_bcjr_i16_large(const bcjr_short_args& a, F f) {
  switch (a.code.memory) {
    case 6:
      return a.code.older == a.code.newer ? f(bcjr_short_op<6, true>(a)) : f(bcjr_short_op<6, false>(a));
    case 7:
      return f(bcjr_short_op<7, false>(a));
    default:
      return f(bcjr_short_op<8, false>(a));
  }
}
WB_EXPORT_KERNEL_OF(bcjr_i16_large, bcjr_short_args, with_bcjr_i16_large, i16x::lanes* i16x::items)

}  // namespace WB_ISA
}  // namespace wb
