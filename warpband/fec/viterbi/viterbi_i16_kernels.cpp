#include <warpband/exec/launch.hpp>
#include <warpband/fec/viterbi/viterbi_short_op.hpp>

namespace wb {
inline namespace WB_ISA {

// Up to 32 states. Few codes of up to 16 have anything to gain of butterflies whose branches pair.
template <class F>
static auto with_viterbi_i16(const viterbi_short_args& a, F f) {
  switch (a.code.memory) {
    case 2:
      return f(viterbi_short_op<2, 2, false>(a));
    case 3:
      return f(viterbi_short_op<3, 3, false>(a));
    case 4:
      return f(viterbi_short_op<4, 4, false>(a));
    default:
      return viterbi_stage_steps(5, a.code.outputs, a.code.older == a.code.newer) == 4
                 ? f(viterbi_short_op<5, 4, true>(a))
                 : f(viterbi_short_op<5, 2, false>(a));
  }
}
WB_EXPORT_KERNEL_OF(viterbi_i16, viterbi_short_args, with_viterbi_i16, i16x::lanes* i16x::items)

}  // namespace WB_ISA
}  // namespace wb
