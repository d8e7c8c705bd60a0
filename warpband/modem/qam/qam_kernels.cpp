#include <warpband/exec/launch.hpp>
#include <warpband/modem/qam/qam_op.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_qam_map(const qam_map_args& a, F f) {
  return with_number<0, 6>(a.bits_per_symbol / 2, [&]<int B>() { return f(qam_map_op<B>{a}); });
}
WB_EXPORT_KERNEL(qam_map, qam_map_args, with_qam_map)
}  // namespace WB_ISA
}  // namespace wb
