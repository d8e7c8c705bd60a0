#include <warpband/detect/nway/nway_op.hpp>
#include <warpband/exec/launch.hpp>

namespace wb {
inline namespace WB_ISA {
/// With a prior. On a CUDA device the sizes of 4x4 with 16 and 64 points are known, which keeps costs in
/// registers.
template <class F>
static auto with_nway_prior(const nway_args& a, F f) {
#if defined(__CUDACC__)
  const bool known = a.streams == 4 && a.rx_antennas == 4 && a.sort == sort_none;
  if (known && a.pam_bits == 2)
    return a.tile > 1 ? f(nway_op<informed_sizes<4, 2>, 4>{a}) : f(nway_op<informed_sizes<4, 2>, 1>{a});
  if (known && a.pam_bits == 3)
    return a.tile > 1 ? f(nway_op<informed_sizes<4, 3>, 8>{a}) : f(nway_op<informed_sizes<4, 3>, 1>{a});
  if (a.tile > 1) return f(nway_op<any_sizes, 4>{a});
#endif
  return f(nway_op<any_sizes, 1>{a});
}
WB_EXPORT_KERNEL(nway_prior, nway_args, with_nway_prior)
}  // namespace WB_ISA
}  // namespace wb
