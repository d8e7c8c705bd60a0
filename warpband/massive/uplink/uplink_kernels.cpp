#include <warpband/exec/launch.hpp>
#include <warpband/massive/stream_plan.hpp>
#include <warpband/massive/uplink/mapping.hpp>
#include <warpband/massive/uplink/uplink_op.hpp>

namespace wb {
inline namespace WB_ISA {
#if defined(__CUDACC__)
/// Defined in launch_frames.hpp.
template <class P>
int launch_frames(const massive_args& a, const place& where);
/// Defined in frames_64_kernels.cpp.
int launch_streamed(const massive_args& a, const place& where);

/// Calls that `takes_frames` or `takes_streamed` accepts have kernels of their own.
template <class Users>
struct uplink_call : uplink_op<Users> {
  using uplink_op<Users>::uplink_op;
};
/// The workspace of the generic kernel; the others need none.
template <class Users>
std::size_t scratch_bytes(const uplink_call<Users>& op, const device_limits& limits, std::size_t items) {
  if (takes_streamed(op.a, limits.shared_bytes)) return 0;
  return scratch_bytes(static_cast<const uplink_op<Users>&>(op), limits, items);
}
template <class Users>
int launch(const uplink_call<Users>& op, const place& where) {
  if (where.first == where.last) return 0;
  if (takes_streamed(op.a, where.limits.shared_bytes)) return launch_streamed(op.a, where);
  if (!takes_frames(op.a, where.limits.shared_bytes))
    return launch(static_cast<const uplink_op<Users>&>(op), where);
  return with_uplink_policy(op.a, [&]<class P>() { return launch_frames<P>(op.a, where); });
}
#else
template <class Users>
using uplink_call = uplink_op<Users>;
#endif
template <class F>
static auto with_uplink(const massive_args& a, F f) {
  return with_massive_users(a.users, [&]<class Users>() { return f(uplink_call<Users>(a)); });
}
WB_EXPORT_KERNEL(uplink, massive_args, with_uplink)
}  // namespace WB_ISA
}  // namespace wb
