#include <warpband/detect/kbest/kbest_op.hpp>
#include <warpband/exec/launch.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_kbest(const detect_args& a, F f) {
#if defined(__CUDACC__)
  constexpr int threads = 32;
  // Few survivors leave most threads of a warp without a parent, and each thread repeats the QR
  // decomposition: on an H100 8 threads are 1.4 to 2.3 times as fast as 32 up to K = 64, and slower at K =
  // 256.
  if (a.prior.data == nullptr && a.algorithm == 0 && a.streams == 4 && a.rx_antennas == 4 &&
      a.survivors <= 64) {
    if (a.pam_bits == 2) return f(kbest_op<exact_sizes<4, 2>, 8>{a});
    if (a.pam_bits == 3) return f(kbest_op<exact_sizes<4, 3>, 8>{a});
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
