#include <warpband/detect/pic/pic_op.hpp>
#include <warpband/exec/launch.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_pic(const detect_args& a, F f) {
  return with_soft_sizes(a, [&]<class S>() { return f(pic_op<S>{a}); });
}
WB_EXPORT_KERNEL(pic, detect_args, with_pic)
}  // namespace WB_ISA
}  // namespace wb
