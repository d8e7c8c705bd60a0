#include <warpband/exec/launch.hpp>
#include <warpband/massive/uplink/uplink_op.hpp>
#if defined(__CUDACC__)
#include <warpband/massive/uplink/uplink_frames.hpp>
#endif

namespace wb {
inline namespace WB_ISA {
#if defined(__CUDACC__)
/// 16 and 32 users have kernels of their own for what they fit.
template <class Users>
struct uplink_frames_op : uplink_op<Users> {
  using uplink_op<Users>::uplink_op;
};
template <class Users>
int launch(const uplink_frames_op<Users>& op, const place& where) {
  if (where.first == where.last) return 0;
  if (takes_frames(op.a, where.limits.shared_bytes)) {
    if (op.a.split_f16)
      return Users::most == 16 ? launch_tensor_frames_of_16(op.a, where)
                               : launch_tensor_frames_of_32(op.a, where);
    return Users::most == 16 ? launch_frames_of_16(op.a, where) : launch_frames_of_32(op.a, where);
  }
  return launch(static_cast<const uplink_op<Users>&>(op), where);
}
#endif
template <class F>
static auto with_uplink(const massive_args& a, F f) {
  return with_massive_users(a.users, [&]<class Users>() {
#if defined(__CUDACC__)
    if constexpr (Users::known && (Users::most == 16 || Users::most == 32))
      return f(uplink_frames_op<Users>(a));
    else
#endif
      return f(uplink_op<Users>(a));
  });
}
WB_EXPORT_KERNEL_OF(uplink, massive_args, with_uplink, WB_WIDTH)
}  // namespace WB_ISA
}  // namespace wb
