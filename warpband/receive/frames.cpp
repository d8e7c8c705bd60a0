#include <warpband/receive/frames.hpp>

namespace wb {

WB_DECLARE_KERNEL(frames_arrange)
WB_DECLARE_KERNEL(frames_gather)
WB_DECLARE_KERNEL(frames_list)
WB_DECLARE_KERNEL(frames_keep)
WB_DECLARE_KERNEL(frames_check)
WB_DECLARE_KERNEL(frames_join)

void run_frames_arrange(executor& exec, const frames_arrange_args& a, std::size_t items) {
  exec.run(frames_arrange_kernels(), &a, items);
}
void run_frames_gather(executor& exec, const frames_gather_args& a, std::size_t frames) {
  exec.run(frames_gather_kernels(), &a, frames);
}
void run_frames_list(executor& exec, const frames_list_args& a) { exec.run(frames_list_kernels(), &a, 1); }
void run_frames_keep(executor& exec, const frames_keep_args& a, std::size_t frames) {
  exec.run(frames_keep_kernels(), &a, frames);
}
void run_frames_check(executor& exec, const frames_check_args& a, std::size_t frames) {
  exec.run(frames_check_kernels(), &a, frames);
}
void run_frames_join(executor& exec, const frames_join_args& a, std::size_t frames) {
  exec.run(frames_join_kernels(), &a, frames);
}

}  // namespace wb
