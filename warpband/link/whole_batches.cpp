#include <warpband/link/whole_batches.hpp>

#include <algorithm>
#include <string>

#include <warpband/core/error.hpp>

namespace wb {

whole_batches::whole_batches(std::unique_ptr<frame_runner> frames, std::size_t batch)
    : frames_(std::move(frames)), batch_(batch) {
  if (batch_ == 0 || batch_ > frames_->max_batch())
    throw argument_error("batch", std::to_string(batch_), "1 to " + std::to_string(frames_->max_batch()));
}

const frame_counts& whole_batches::batch(const batch_of_point& wanted) {
  if (held_ != wanted) {
    held_.reset();
    held_counts_ = &frames_->run(wanted.number * batch_, batch_, wanted.point_db);
    held_ = wanted;
  }
  return *held_counts_;
}

const frame_counts& whole_batches::run(std::uint64_t first_frame, std::size_t frames, double point_db) {
  check_run(frames, point_db);
  counts_ = {};
  const std::uint64_t end = first_frame + frames;
  for (std::uint64_t next = first_frame; next < end;) {
    const std::uint64_t number = next / batch_;
    const auto first = static_cast<std::size_t>(next - number * batch_),
               count = static_cast<std::size_t>(std::min(end - next, std::uint64_t{batch_ - first}));
    append(counts_, batch({number, point_db}), first, count);
    next += count;
  }
  return counts_;
}

}  // namespace wb
