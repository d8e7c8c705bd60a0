#include <warpband/exec/launch.hpp>
#include <warpband/fec/bcjr/bcjr_short_op.hpp>

namespace wb {
inline namespace WB_ISA {

// Up to 32 states.
template <class F>
static auto with_bcjr_i16(const bcjr_short_args& a, F f) {
  switch (a.code.memory) {
    case 2:
      return f(bcjr_short_op<2, false>(a));
    case 3:
      return f(bcjr_short_op<3, false>(a));
    case 4:
      return f(bcjr_short_op<4, false>(a));
    default:
      return f(bcjr_short_op<5, false>(a));
  }
}
WB_EXPORT_KERNEL_OF(bcjr_i16, bcjr_short_args, with_bcjr_i16, i16x::lanes* i16x::items)

}  // namespace WB_ISA
}  // namespace wb
