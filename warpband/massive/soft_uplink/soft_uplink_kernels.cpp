#include <warpband/exec/launch.hpp>
#include <warpband/massive/soft_uplink/soft_uplink_op.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_soft_uplink(const soft_uplink_args& a, F f) {
  switch (a.pam_bits) {
    case 1:
      return f(soft_uplink_op<1>{a});
    case 2:
      return f(soft_uplink_op<2>{a});
    case 3:
      return f(soft_uplink_op<3>{a});
    default:
      return f(soft_uplink_op<4>{a});
  }
}
WB_EXPORT_KERNEL(soft_uplink, soft_uplink_args, with_soft_uplink)
}  // namespace WB_ISA
}  // namespace wb
