#include <warpband/detect/kbest/kbest_op.hpp>
#include <warpband/exec/launch.hpp>

namespace wb {
inline namespace WB_ISA {
#if defined(__CUDACC__)
/// Few survivors leave most threads of a warp without a parent, and each thread repeats the QR decomposition.
template <class S, class F>
static auto with_few_or_many(const detect_args& a, F f) {
  return a.survivors <= 16 ? f(kbest_op<S, 8>{a}) : f(kbest_op<S, 32>{a});
}
#endif
template <class F>
static auto with_kbest(const detect_args& a, F f) {
#if defined(__CUDACC__)
  constexpr int threads = 32;
  if (a.prior.data == nullptr && a.algorithm == 0 && a.streams == 4 && a.rx_antennas == 4) {
    if (a.pam_bits == 2) return with_few_or_many<exact_sizes<4, 2>>(a, f);
    if (a.pam_bits == 3) return with_few_or_many<exact_sizes<4, 3>>(a, f);
  }
#else
  constexpr int threads = 1;
#endif
  if (a.prior.data != nullptr) return f(kbest_op<any_sizes, threads>{a});
  return with_square_sizes(a, [&]<class S>() { return f(kbest_op<S, threads>{a}); });
}
WB_EXPORT_KERNEL(kbest, detect_args, with_kbest)
}  // namespace WB_ISA
}  // namespace wb
