#pragma once
// Frames of a link whose counts depend on the batch they are in, because a function of the program is not
// batch-invariant: the float32 sums of torch, for instance, depend on the size of an array.
#include <memory>
#include <optional>

#include <warpband/link/frame_runner.hpp>

namespace wb {

/// Runs only whole batches, which begin at multiples of `batch`, and returns the frames that were asked for.
/// It keeps the last batch for the next run. A frame's counts then depend on `batch`, but neither on the stop
/// rule nor on where a run goes on.
/// Threads: one at a time.
class whole_batches final : public frame_runner {
 public:
  /// Throws argument_error for a batch of 0 or above frames->max_batch().
  whole_batches(std::unique_ptr<frame_runner> frames, std::size_t batch);
  whole_batches(const whole_batches&) = delete;
  whole_batches& operator=(const whole_batches&) = delete;

  const frame_counts& run(std::uint64_t first_frame, std::size_t frames, double point_db) override;
  const link_config& config() const noexcept override { return frames_->config(); }
  std::size_t max_batch() const noexcept override { return batch_; }
  std::size_t preferred_frames() const override { return batch_; }

 private:
  struct batch_of_point {
    std::uint64_t number = 0;
    double point_db = 0;
    bool operator==(const batch_of_point&) const = default;
  };
  const frame_counts& batch(const batch_of_point& wanted);

  std::unique_ptr<frame_runner> frames_;
  std::size_t batch_;
  std::optional<batch_of_point> held_;  // what frames_ counted last
  const frame_counts* held_counts_ = nullptr;
  frame_counts counts_;
};

}  // namespace wb
