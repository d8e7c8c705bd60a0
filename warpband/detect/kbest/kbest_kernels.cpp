#include <warpband/detect/kbest/kbest_op.hpp>
#include <warpband/exec/launch.hpp>
#if defined(__CUDACC__)
#include <warpband/detect/kbest/kbest_warp_op.hpp>
#endif

namespace wb {
inline namespace WB_ISA {
#if defined(__CUDACC__)
// In kbest_warp_kernels.cpp.
extern template int launch(const kbest_warp_op<warp_part<16>, 2, 1>&, const place&);
extern template int launch(const kbest_warp_op<warp_part<32>, 2, 2>&, const place&);
extern template int launch(const kbest_warp_op<warp_part<16>, 3, 1>&, const place&);
extern template int launch(const kbest_warp_op<warp_part<32>, 3, 2>&, const place&);
extern template int launch(const kbest_warp_op<warp_part<32>, 3, 8>&, const place&);
#endif
template <class F>
static auto with_kbest(const kbest_args& a, F f) {
#if defined(__CUDACC__)
  constexpr int threads = 32;
  if (a.prior.data == nullptr && !a.real_valued && a.streams == 4 && a.rx_antennas == 4) {
    const bool few = a.survivors <= 16;
    if (a.pam_bits == 2 && a.survivors <= 64)
      return few ? f(kbest_warp_op<warp_part<16>, 2, 1>{a}) : f(kbest_warp_op<warp_part<32>, 2, 2>{a});
    if (a.pam_bits == 3 && a.survivors <= 64)
      return few ? f(kbest_warp_op<warp_part<16>, 3, 1>{a}) : f(kbest_warp_op<warp_part<32>, 3, 2>{a});
    if (a.pam_bits == 3 && a.survivors <= 256) return f(kbest_warp_op<warp_part<32>, 3, 8>{a});
  }
#else
  constexpr int threads = 1;
#endif
  if (a.prior.data != nullptr) return f(kbest_op<any_sizes, threads>{a});
  return with_square_sizes(a, [&]<class S>() { return f(kbest_op<S, threads>{a}); });
}
WB_EXPORT_KERNEL(kbest, kbest_args, with_kbest)
}  // namespace WB_ISA
}  // namespace wb
