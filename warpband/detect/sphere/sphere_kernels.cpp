#include <warpband/detect/sphere/sphere_op.hpp>
#include <warpband/exec/launch.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_sphere(const sphere_args& a, F f) {
  const auto of_sizes = [&]<class S>() {
    return a.hard ? f(sphere_op<S, false>{a}) : f(sphere_op<S, true>{a});
  };
  if (a.prior.data != nullptr) return of_sizes.template operator()<any_sizes>();
#if defined(__CUDACC__)
  if (a.streams == 4 && a.rx_antennas == 4 && a.pam_bits == 1)
    return of_sizes.template operator()<exact_sizes<4, 1>>();
  if (a.streams == 4 && a.rx_antennas == 4 && a.pam_bits == 2)
    return of_sizes.template operator()<exact_sizes<4, 2>>();
  if (a.streams == 4 && a.rx_antennas == 4 && a.pam_bits == 3)
    return of_sizes.template operator()<exact_sizes<4, 3>>();
  return of_sizes.template operator()<any_sizes>();
#else
  return with_square_sizes(a, of_sizes);
#endif
}
WB_EXPORT_KERNEL(sphere, sphere_args, with_sphere)
}  // namespace WB_ISA
}  // namespace wb
