#include <warpband/exec/launch.hpp>
#include <warpband/receive/frames_op.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_frames_arrange(const frames_arrange_args& a, F f) {
  return a.in.data != nullptr ? f(frames_arrange_op<false>{a}) : f(frames_arrange_op<true>{a});
}
WB_EXPORT_KERNEL(frames_arrange, frames_arrange_args, with_frames_arrange)

WB_EXPORT_OP(frames_gather, frames_gather_args, frames_gather_op)
WB_EXPORT_OP(frames_list, frames_list_args, frames_list_op)
WB_EXPORT_OP(frames_keep, frames_keep_args, frames_keep_op)
WB_EXPORT_OP(frames_check, frames_check_args, frames_check_op)
WB_EXPORT_OP(frames_join, frames_join_args, frames_join_op)
}  // namespace WB_ISA
}  // namespace wb
