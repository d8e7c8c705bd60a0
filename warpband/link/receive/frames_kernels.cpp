#include <warpband/exec/launch.hpp>
#include <warpband/link/receive/frames_op.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_frames_arrange(const frames_arrange_args& a, F f) {
  return a.in.data != nullptr ? f(frames_arrange_op<false>{a}) : f(frames_arrange_op<true>{a});
}
WB_EXPORT_KERNEL(frames_arrange, frames_arrange_args, with_frames_arrange)

template <class F>
static auto with_frames_gather(const frames_gather_args& a, F f) {
  return f(frames_gather_op{a});
}
WB_EXPORT_KERNEL(frames_gather, frames_gather_args, with_frames_gather)

template <class F>
static auto with_frames_list(const frames_list_args& a, F f) {
  return f(frames_list_op{a});
}
WB_EXPORT_KERNEL(frames_list, frames_list_args, with_frames_list)

template <class F>
static auto with_frames_keep(const frames_keep_args& a, F f) {
  return f(frames_keep_op{a});
}
WB_EXPORT_KERNEL(frames_keep, frames_keep_args, with_frames_keep)

template <class F>
static auto with_frames_check(const frames_check_args& a, F f) {
  return f(frames_check_op{a});
}
WB_EXPORT_KERNEL(frames_check, frames_check_args, with_frames_check)

template <class F>
static auto with_frames_join(const frames_join_args& a, F f) {
  return f(frames_join_op{a});
}
WB_EXPORT_KERNEL(frames_join, frames_join_args, with_frames_join)
}  // namespace WB_ISA
}  // namespace wb
