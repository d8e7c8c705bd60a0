#pragma once
// Starts the kernels of frames_op.hpp. For the files of this folder.
#include <warpband/exec/executor.hpp>
#include <warpband/receive/frames_args.hpp>

namespace wb {

/// The items of one outer iteration in an output of all or of the last.
template <class T>
view<T> of_iteration(view<T> v, std::size_t frames, int j) {
  if (v.data == nullptr || v.items == frames) return v;
  v.data += static_cast<std::size_t>(j) * frames * v.item_stride;
  v.items = frames;
  return v;
}

/// Queues the kernel for so many items.
void run_frames_arrange(executor& exec, const frames_arrange_args& a, std::size_t items);
void run_frames_gather(executor& exec, const frames_gather_args& a, std::size_t frames);
void run_frames_list(executor& exec, const frames_list_args& a);
void run_frames_keep(executor& exec, const frames_keep_args& a, std::size_t frames);
void run_frames_check(executor& exec, const frames_check_args& a, std::size_t frames);
void run_frames_join(executor& exec, const frames_join_args& a, std::size_t frames);

}  // namespace wb
