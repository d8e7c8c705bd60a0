#include <warpband/exec/launch.hpp>
#include <warpband/fec/viterbi/viterbi_short_op.hpp>

namespace wb {
inline namespace WB_ISA {

template <int Memory, class F>
static auto with_viterbi_i16_of(const viterbi_short_args& a, F f) {
  return viterbi_stage_steps(Memory, a.code.outputs, a.code.older == a.code.newer) == 4
             ? f(viterbi_short_op<Memory, 4, true>(a))
             : f(viterbi_short_op<Memory, 2, false>(a));
}
// 64 to 256 states.
template <class F>
static auto with_viterbi_i16_large(const viterbi_short_args& a, F f) {
  switch (a.code.memory) {
    case 6:
      return with_viterbi_i16_of<6>(a, f);
    case 7:
      return with_viterbi_i16_of<7>(a, f);
    default:
      return with_viterbi_i16_of<8>(a, f);
  }
}
WB_EXPORT_KERNEL_OF(viterbi_i16_large, viterbi_short_args, with_viterbi_i16_large, i16x::lanes* i16x::items)

}  // namespace WB_ISA
}  // namespace wb
