#include <warpband/exec/launch.hpp>
#include <warpband/massive/soft_uplink/soft_uplink_op.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_soft_uplink(const soft_uplink_args& a, F f) {
  return with_number<1, 4>(a.pam_bits, [&]<int B>() { return f(soft_uplink_op<B>{a}); });
}
WB_EXPORT_KERNEL(soft_uplink, soft_uplink_args, with_soft_uplink)
}  // namespace WB_ISA
}  // namespace wb
