// 16-bit integers. Each kernel is a unit (cmake/library.cmake).
#include <warpband/exec/kernel_part.hpp>
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
// Codes of many standards, of which weights are in registers.
template <class F>
static auto with_bcjr_i16_known(const bcjr_short_args& a, F f) {
  return a.known == conv_known::g133_171
             ? f(bcjr_short_op<6, true, i16x, 4, conv_known_code<0133, 0171>>(a))
             : f(bcjr_short_op<6, true, i16x, 4, conv_known_code<0133, 0171, 0165>>(a));
}
WB_EXPORT_PART(bcjr_short_args, i16x::lanes* i16x::items)

}  // namespace WB_ISA
}  // namespace wb
