#include <warpband/exec/launch.hpp>
#include <warpband/massive/uplink/uplink_op.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_uplink(const massive_args& a, F f) {
  return with_massive_users(a.users, [&]<class Users>() { return f(uplink_op<Users>(a)); });
}
WB_EXPORT_KERNEL_OF(uplink, massive_args, with_uplink, WB_WIDTH)
}  // namespace WB_ISA
}  // namespace wb
