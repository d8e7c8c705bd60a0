#include <warpband/exec/launch.hpp>
#include <warpband/massive/downlink/downlink_op.hpp>
#if defined(__CUDACC__)
#include <warpband/massive/downlink/downlink_frames.hpp>
#endif

namespace wb {
inline namespace WB_ISA {
#if defined(__CUDACC__)
/// 16 and 32 users have kernels of their own for what they fit.
template <class Users>
struct downlink_frames_op : downlink_op<Users> {
  using downlink_op<Users>::downlink_op;
};
template <class Users>
int launch(const downlink_frames_op<Users>& op, const place& where) {
  if (where.first == where.last) return 0;
  if (takes_sent_frames(op.a, where.limits.shared_bytes))
    return Users::most == 16 ? launch_sent_frames_of_16(op.a, where) : launch_sent_frames_of_32(op.a, where);
  return launch(static_cast<const downlink_op<Users>&>(op), where);
}
#endif
template <class F>
static auto with_downlink(const massive_args& a, F f) {
  return with_massive_users(a.users, [&]<class Users>() {
#if defined(__CUDACC__)
    if constexpr (Users::known && (Users::most == 16 || Users::most == 32))
      return f(downlink_frames_op<Users>(a));
    else
#endif
      return f(downlink_op<Users>(a));
  });
}
WB_EXPORT_KERNEL_OF(downlink, massive_args, with_downlink, WB_WIDTH)
}  // namespace WB_ISA
}  // namespace wb
