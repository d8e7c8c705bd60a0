#include <warpband/exec/launch.hpp>
#include <warpband/massive/downlink/downlink_op.hpp>
#include <warpband/massive/downlink/mapping.hpp>
#include <warpband/massive/stream_plan.hpp>

namespace wb {
inline namespace WB_ISA {
#if defined(__CUDACC__)
/// Defined in launch_frames.hpp.
template <class P>
int launch_sent_frames(const massive_args& a, const place& where);
/// Defined in frames_64_kernels.cpp.
int launch_streamed_sends(const massive_args& a, const place& where);

/// Calls that `takes_sent_frames` or `takes_streamed_sends` accept have kernels of their own.
template <class Users>
struct downlink_call : downlink_op<Users> {
  using downlink_op<Users>::downlink_op;
};
/// The workspace of the generic kernel; the others need none.
template <class Users>
std::size_t scratch_bytes(const downlink_call<Users>& op, const device_limits& limits, std::size_t items) {
  if (takes_streamed_sends(op.a, limits.shared_bytes)) return 0;
  return scratch_bytes(static_cast<const downlink_op<Users>&>(op), limits, items);
}
template <class Users>
int launch(const downlink_call<Users>& op, const place& where) {
  if (where.first == where.last) return 0;
  if (takes_streamed_sends(op.a, where.limits.shared_bytes)) return launch_streamed_sends(op.a, where);
  if (!takes_sent_frames(op.a, where.limits.shared_bytes))
    return launch(static_cast<const downlink_op<Users>&>(op), where);
  return with_downlink_policy(op.a, [&]<class P>() { return launch_sent_frames<P>(op.a, where); });
}
#else
template <class Users>
using downlink_call = downlink_op<Users>;
#endif
template <class F>
static auto with_downlink(const massive_args& a, F f) {
  return with_massive_users(a.users, [&]<class Users>() { return f(downlink_call<Users>(a)); });
}
WB_EXPORT_KERNEL(downlink, massive_args, with_downlink)
}  // namespace WB_ISA
}  // namespace wb
