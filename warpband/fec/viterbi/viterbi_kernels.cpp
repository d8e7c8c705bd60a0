#include <warpband/exec/launch.hpp>
#include <warpband/fec/viterbi/viterbi_op.hpp>
#if defined(__CUDACC__)
#include <warpband/fec/viterbi/viterbi_known_op.hpp>
#endif

namespace wb {
inline namespace WB_ISA {

template <int Memory, class F>
static auto with_viterbi_of(const viterbi_args& a, F f) {
#if defined(__CUDACC__)
  constexpr int threads = Memory < 5 ? 8 : 32;
#else
  constexpr int threads = 1;
#endif
  return a.code.older == a.code.newer ? f(viterbi_op<Memory, true, threads>{a})
                                      : f(viterbi_op<Memory, false, threads>{a});
}
template <class F>
static auto with_viterbi(const viterbi_args& a, F f) {
#if defined(__CUDACC__)
  using half = conv_known_code<0133, 0171>;
  using third = conv_known_code<0133, 0171, 0165>;
  if (a.known == conv_known::g133_171 && viterbi_known_op<half>::takes(a))
    return f(viterbi_known_op<half>(a));
  if (a.known == conv_known::g133_171_165 && viterbi_known_op<third>::takes(a))
    return f(viterbi_known_op<third>(a));
#endif
  switch (a.code.memory) {
    case 2:
      return with_viterbi_of<2>(a, f);
    case 3:
      return with_viterbi_of<3>(a, f);
    case 4:
      return with_viterbi_of<4>(a, f);
    case 5:
      return with_viterbi_of<5>(a, f);
    case 6:
      return with_viterbi_of<6>(a, f);
    case 7:
      return with_viterbi_of<7>(a, f);
    default:
      return with_viterbi_of<8>(a, f);
  }
}
WB_EXPORT_KERNEL(viterbi, viterbi_args, with_viterbi)

}  // namespace WB_ISA
}  // namespace wb
