#pragma once
// Where frames run: a lane takes one at a time. A device has as many as it shall have frames under way.
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <warpband/receive/frame_receiver.hpp>
#include <warpband/stream/trace.hpp>

namespace wb {

/// A frame in host memory, as a lane sees it: its arrays lie as offset_of says. Or several of them that lie
/// side by side: what one frame takes behind its inputs and outputs begin those of the next.
struct lane_frame {
  std::byte *inputs = nullptr, *outputs = nullptr;
  std::size_t items = 0;  // of each
  std::size_t slot = 0;   // which of the pipeline's, where its memory stays; of the first
  std::size_t count = 1;
};

struct lane_config {
  std::string device;
  int threads = 1;  // of a CPU
  std::size_t most_items = 0;
  int parts = 1;        // pieces of a frame whose copies and kernels overlap; CUDA
  int batch = 1;        // frames side by side that go as one copy: 1 with more parts; CUDA
  bool traced = false;  // times() tells when a frame was where; CUDA
};

/// A stream of a device, with the frames on it. Threads: one at a time.
class frame_lane {
 public:
  virtual ~frame_lane() = default;
  /// Called first by the thread that calls start() and done() from then on.
  virtual void enter() {}
  /// Starts a frame, or up to `batch` of them; their memory stays until done() or abandon(). A lane of a CPU
  /// is done when start() returns.
  virtual void start(const lane_frame& frame) = 0;
  /// Whether all that was started is done. Throws device_error where it failed.
  virtual bool done() = 0;
  /// Whether nothing of it runs, or the device failed and runs nothing any more: it can be destroyed without
  /// a wait.
  virtual bool idle() noexcept { return true; }
  /// Waits for what was started, whatever becomes of it: the frame's memory is no longer touched then. False
  /// where it is not done at that time; for_ever: there is none.
  virtual bool abandon(std::chrono::steady_clock::time_point until) noexcept = 0;
  static constexpr auto for_ever = std::chrono::steady_clock::time_point::max();
  /// Prepares these frames for a quick start: CUDA graphs. Others run without, and groups of these.
  virtual void prepare(const std::vector<lane_frame>&) {}
  /// `f` is called after each frame that is done, on a thread that must not wait long. Before start().
  virtual void notify(std::function<void()>) {}
  /// Whether start() returns before the frame is done.
  virtual bool queues() const noexcept { return false; }
  /// Its executor, for those that need its memory.
  virtual executor& where() noexcept = 0;
  virtual std::size_t graphs() const noexcept { return 0; }
  /// Of the frame that was done last, until the next one starts. One that started as a graph tells only its
  /// begin and its end. Throws device_error.
  virtual lane_times times() { return {}; }
};

/// Opens a device for so many lanes, which share it. What frames of most_items, and of half of that and so
/// on, need is allocated, and such frames, of zeros, have run on each lane, when it returns. The chain
/// outlives them. Throws as open_executor does, memory_error, and argument_error for parts that the chain
/// does not take.
std::vector<std::unique_ptr<frame_lane>> make_lanes(const frame_receiver& chain, const lane_config& config,
                                                    std::size_t lanes);

}  // namespace wb
