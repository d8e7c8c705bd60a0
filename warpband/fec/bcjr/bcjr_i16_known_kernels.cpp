#include <warpband/exec/launch.hpp>
#include <warpband/fec/bcjr/bcjr_short_op.hpp>

namespace wb {
inline namespace WB_ISA {

// Codes of many standards, of which weights are in registers.
template <class F>
static auto with_bcjr_i16_known(const bcjr_short_args& a, F f) {
  return a.known == conv_known::g133_171
             ? f(bcjr_short_op<6, true, i16x, 4, conv_known_code<0133, 0171>>(a))
             : f(bcjr_short_op<6, true, i16x, 4, conv_known_code<0133, 0171, 0165>>(a));
}
WB_EXPORT_KERNEL_OF(bcjr_i16_known, bcjr_short_args, with_bcjr_i16_known, i16x::lanes* i16x::items)

}  // namespace WB_ISA
}  // namespace wb
