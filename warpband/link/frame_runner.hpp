#pragma once
// What runs frames of a link and counts what becomes of them: one executor (link/chain.hpp), or several side
// by side (link/team.hpp). A frame's counts depend on the link, the point and the frame's index alone, so
// that it does not matter which of them it is.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include <warpband/link/stages.hpp>

namespace wb {

/// Sends frames and counts what becomes of them. Threads: one at a time.
class frame_runner {
 public:
  frame_runner(const frame_runner&) = delete;
  frame_runner& operator=(const frame_runner&) = delete;
  virtual ~frame_runner() = default;
  /// Sends the frames [first_frame, first_frame + frames) at a point, in config().axis, and waits for the
  /// counts, which stay valid until the next run. Throws argument_error for frames > max_batch() or a point
  /// out of -100..100 dB.
  virtual const frame_counts& run(std::uint64_t first_frame, std::size_t frames, double point_db) = 0;
  /// The configuration in force, see `completed`.
  virtual const link_config& config() const noexcept = 0;
  virtual std::size_t max_batch() const noexcept = 0;
  /// Frames that keep all that runs them busy; a good batch is a multiple.
  virtual std::size_t preferred_frames() const = 0;

 protected:
  frame_runner() = default;
  /// What `run` refuses.
  void check_run(std::size_t frames, double point_db) const;
};

/// Makes what runs the frames of a link, for at most so many in one run.
using runner_maker = std::function<std::unique_ptr<frame_runner>(const link_config&, std::size_t max_batch)>;

}  // namespace wb
