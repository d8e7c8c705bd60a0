#include <warpband/exec/launch.hpp>
#include <warpband/massive/downlink/downlink_op.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_downlink(const massive_args& a, F f) {
  return with_massive_users(a.users, [&]<class Users>() { return f(downlink_op<Users>(a)); });
}
WB_EXPORT_KERNEL_OF(downlink, massive_args, with_downlink, WB_WIDTH)
}  // namespace WB_ISA
}  // namespace wb
