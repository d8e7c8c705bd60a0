#include <warpband/exec/launch.hpp>
#include <warpband/fec/viterbi/viterbi_short_op.hpp>

namespace wb {
inline namespace WB_ISA {

// Codes of many standards, of which weights are in registers.
template <class F>
static auto with_viterbi_i16_known(const viterbi_short_args& a, F f) {
  return a.known == conv_known::g133_171
             ? f(viterbi_short_op<6, 4, true, i16x, conv_known_code<0133, 0171>>(a))
             : f(viterbi_short_op<6, 4, true, i16x, conv_known_code<0133, 0171, 0165>>(a));
}
WB_EXPORT_KERNEL_OF(viterbi_i16_known, viterbi_short_args, with_viterbi_i16_known, i16x::lanes* i16x::items)

}  // namespace WB_ISA
}  // namespace wb
