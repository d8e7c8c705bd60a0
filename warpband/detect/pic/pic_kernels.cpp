#include <warpband/detect/pic/pic_op.hpp>
#include <warpband/exec/launch.hpp>

namespace wb {
inline namespace WB_ISA {
/// On a CUDA device the number of points is known too for 4x4 with 16 and 64, which keeps a use in registers.
template <class F>
static auto with_pic(const soft_args& a, F f) {
#if defined(__CUDACC__)
  if (a.streams == 4 && a.rx_antennas == 4 && a.pam_bits == 2) return f(pic_op<informed_sizes<4, 2>>{a});
  if (a.streams == 4 && a.rx_antennas == 4 && a.pam_bits == 3) return f(pic_op<informed_sizes<4, 3>>{a});
#endif
  return with_soft_sizes(a, [&]<class S>() { return f(pic_op<S>{a}); });
}
WB_EXPORT_KERNEL(pic, soft_args, with_pic)
}  // namespace WB_ISA
}  // namespace wb
