#pragma once
// Where frames run: a lane takes one at a time. A device has as many as it shall have frames under way.
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <warpband/stream/chain.hpp>

namespace wb {

/// A frame in host memory, as a lane sees it: its arrays lie as offset_of says.
struct lane_frame {
  std::byte *inputs = nullptr, *outputs = nullptr;
  std::size_t items = 0;
  std::size_t slot = 0;  // which of the pipeline's, where its memory stays
};

struct lane_config {
  std::string device;
  int threads = 1;  // of a CPU
  std::size_t most_items = 0;
  int parts = 1;  // pieces of a frame whose copies and kernels overlap; CUDA
};

class frame_lane {
 public:
  virtual ~frame_lane() = default;
  /// Starts a frame; its memory stays until done() or abandon(). A lane of a CPU is done when start()
  /// returns.
  virtual void start(const lane_frame& frame) = 0;
  /// Whether the frame is done. Throws device_error where it failed.
  virtual bool done() = 0;
  /// Waits for what was started, whatever becomes of it: the frame's memory is no longer touched then.
  virtual void abandon() noexcept = 0;
  /// Prepares frames of so many items in these slots for a quick start: CUDA graphs. Others run without.
  virtual void prepare(const lane_frame&) {}
  /// `f` is called after each frame that is done, on a thread that must not wait long. Before start().
  virtual void notify(std::function<void()>) {}
  /// Whether start() returns before the frame is done.
  virtual bool queues() const noexcept { return false; }
  /// Its executor, for those that need its memory.
  virtual executor& where() noexcept = 0;
  virtual std::size_t graphs() const noexcept { return 0; }
};

/// Opens its device. What frames of most_items need is allocated, and such a frame, of zeros, has run, when
/// it returns. The chain outlives it. Throws as open_executor does, memory_error, and argument_error for
/// parts that the chain does not take.
std::unique_ptr<frame_lane> make_lane(const frame_chain& chain, const lane_config& config);

}  // namespace wb
