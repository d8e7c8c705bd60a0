#pragma once
// The devices of a frame_pipeline: their lanes, the threads that drive them, and what follows if one fails.
//
// One thread, a device_worker, drives all lanes of a CUDA device. Each lane of a CPU has a worker, as it
// computes a frame inside start(). A worker takes frames from the queue, starts them on an idle lane, asks
// its lanes whether they are done, and delivers.
//
// Threads: a worker belongs to its thread. The mutex of frame_slots guards its `signals`, and what it changes
// in slots and in the queue: to take frames, to end them, to fail. The thread calls lanes without the mutex.
// - An idle worker waits on frame_queue::work. A lane that is done wakes it by a notification, on a thread of
//   CUDA. A device that failed may send none: a worker with frames on its device asks again every 20 ms, or
//   more often if the timeout is shorter.
// - `joining_` guards the end of the threads. stop() locks it, and the mutex of frame_slots under it; nobody
//   locks them the other way round.
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <warpband/stream/queue.hpp>

namespace wb {

struct device_worker;

struct frame_devices {
  frame_devices(const frame_receiver& chain, const pipeline_config& config, frame_slots& slots,
                frame_queue& queue);
  ~frame_devices();
  /// Opens lanes, slots and the queue, and starts the threads.
  void open();
  /// Ends the threads of a closed queue and frees the lanes. If a device hangs, the pipeline stays for good.
  void stop(std::shared_ptr<void> pipeline);
  const std::vector<std::string>& descriptions() const noexcept { return descriptions_; }
  std::size_t graphs() const noexcept { return graphs_; }

 private:
  void open_device(std::size_t device);
  void open_slots();
  void record_graphs();

  const frame_receiver& chain_;
  const pipeline_config& config_;
  frame_slots& slots_;
  frame_queue& queue_;
  std::vector<std::string> descriptions_;
  std::size_t graphs_ = 0;
  std::mutex joining_;
  std::shared_ptr<void> left_to_device_;  // the pipeline, if a device hangs
  std::vector<std::unique_ptr<device_worker>> workers_;
};

}  // namespace wb
