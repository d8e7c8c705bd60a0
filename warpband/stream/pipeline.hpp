#pragma once
// Frames in, decisions out, under a deadline: several frames under way on each of several devices, delivered
// in the order in which they were pushed.
//
// A slot is host memory of one frame, its arrays in and out, page-locked where there is a CUDA device. A
// caller takes one, fills its inputs and pushes it; or has arrays copied into one. The slots are the bounded
// queue: whoever needs one where none is free waits, or takes that of the frame that waits longest, which is
// dropped, by choice.
//
//   wb::frame_pipeline p(chain, {.devices = {"cuda:0", "cuda:1"}, .most_items = 8400},
//                        [](const wb::frame_result& r) { use(r.output<float>(0)); });
//   wb::frame_slot slot = p.acquire(8400);
//   fill(slot.input<std::complex<float>>(0), ...);
//   p.push(std::move(slot));      // or wb::frame_ticket t = p.submit(std::move(slot)); t.wait()
//   p.drain();
//
// The constructor runs frames of most_items, of half of that and so on: after it frames of these sizes
// allocate nothing, on a device or on the host. One of another size may still enlarge working memory, once.
//
// Every frame that was pushed is delivered, with its result or as failed or dropped, none twice:
// pushed = delivered + dropped + failed once drain() or stop() returned. A device that fails takes no frame
// with it: what was under way on it runs again on another one, `retries` times at most, and is else delivered
// as failed. So does one that hangs, after `timeout`.
#include <chrono>
#include <complex>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <warpband/core/error.hpp>
#include <warpband/core/setting.hpp>
#include <warpband/receive/frame_receiver.hpp>
#include <warpband/stream/latency.hpp>
#include <warpband/stream/trace.hpp>

namespace wb {

enum class overflow_policy {
  wait,         // acquire waits for a free slot, also inside of the push that copies arrays
  drop_oldest,  // the frame that waits longest is dropped; not one under way, nor one with a ticket
};
/// How the threads that drive devices wait for frames and for their results, and callers of acquire for a
/// slot.
enum class wait_policy {
  block,  // they sleep
  spin,   // they look again and again, each a core's full time: some tens of us less latency
};

/// When a fault is asked for, see pipeline_config.
enum class fault_moment { start, started, done };
struct device_hang : std::exception {
  const char* what() const noexcept override { return "a device hangs"; }
};
struct fault_point {
  fault_moment moment;
  std::size_t device;  // index in pipeline_config::devices
  std::uint64_t sequence;
  int attempt;  // 0 for the first
};

struct pipeline_config {
  /// "cpu", "cuda:0", ... 1 to 64 of them; "cpu" may stand there more than once.
  std::vector<std::string> devices{"cpu"};
  int streams = 2;             // frames under way on each device: 1..64
  int threads = 1;             // "cpu": threads that a frame is shared by; 0: all cores
  std::size_t most_items = 0;  // of a frame
  std::size_t queue = 8;       // frames that wait beside those under way: 1..65536
  overflow_policy overflow = overflow_policy::wait;
  wait_policy waiting = wait_policy::block;
  /// CUDA: parts of a frame, 1..64. With more than one its copies and kernels overlap among themselves, which
  /// shortens the latency of large frames. Parts get smaller, as parts : parts - 1 : ... : 1, so that little
  /// is left to do once the last one is there. Not of chains that work on a frame as a whole.
  int parts = 1;
  /// CUDA, with parts = 1: frames of these many items that are started one by one are started as a recorded
  /// graph, one for each slot and stream. A group of them (batch) is not: it goes without a graph.
  std::vector<std::size_t> graph_items = {};
  bool graphs = false;  // most_items is one of graph_items
  /// CUDA, with parts = 1: most frames of a group, 1..64. Waiting frames of most_items go together as one
  /// copy in, their kernels and one copy out, as each copy costs some microseconds whatever its size. Only
  /// frames of neighbouring slots make a group, so slots are taken in turn.
  /// automatic_batch() is a number for which that is small. A free stream waits for a whole group while two
  /// others work: small frames get more throughput and a longer latency. Frames of a group finish together.
  int batch = 1;
  int retries = 1;  // devices that may fail under a frame before it is failed itself: 0..64
  /// CUDA: a device under which a frame is longer than this counts as failed, and its frames, which it may
  /// still write to, get other memory for their results. Absent: whoever waits for a device that
  /// hangs waits too.
  /// After a frame fails, the device has the same time to release it.
  /// What such a device holds is given back if it is done when the pipeline stops, else never.
  std::optional<std::chrono::nanoseconds> timeout = {};
  /// Latencies above it are counted as missed.
  std::optional<std::chrono::nanoseconds> deadline = {};
  /// So many of the slowest frames, 0..100000, keep the times at which they passed each place, for trace(),
  /// and the times of all are counted. 0: none of this.
  std::size_t trace = 0;
  /// For tests: called by the threads that drive devices at each moment of each frame. What it throws is
  /// taken for the device's (device_error) or the frame's (others) own; device_hang: from then on the device
  /// does not say that it is done with the frame, for which there has to be a timeout.
  std::function<void(const fault_point&)> fault = {};
};
/// Its settings: names, what is allowed, what they mean.
const std::vector<setting_of<pipeline_config>>& pipeline_settings();

/// How many frames of `items` make up 16 MB in or out, 1..64: of such a group 1 % is what its copies cost
/// beside their bytes.
int automatic_batch(const frame_receiver& chain, std::size_t items) noexcept;

enum class frame_status { delivered, dropped, failed };
/// "delivered", "dropped", "failed".
const char* name_of(frame_status status) noexcept;

/// A frame as it is delivered. Views and texts are valid until the callback returns, or as long as the
/// ticket.
struct frame_result {
  std::uint64_t sequence = 0;  // 0, 1, 2, ... in the order of pushes
  frame_status status = frame_status::delivered;
  const char* error = "";  // of a failed one
  // The rest is not told of dropped frames.
  std::size_t items = 0, slot = 0, device = 0;
  int attempts = 0;         // runs that a device failed under
  std::uint64_t token = 0;  // what the caller gave
  frame_clock::time_point pushed, started, finished;
  const frame_receiver* chain = nullptr;
  const std::byte *inputs = nullptr, *outputs = nullptr;

  template <class T>
  view<const T> input(std::size_t port) const {
    return array_of<T>(chain->inputs(), inputs, port);
  }
  template <class T>
  view<const T> output(std::size_t port) const {
    return array_of<T>(chain->outputs(), outputs, port);
  }

 private:
  template <class T>
  view<const T> array_of(const std::vector<frame_port>& ports, const std::byte* base, std::size_t i) const {
    const frame_port& p = ports.at(i);
    if (size_of(p.type) != sizeof(T))
      throw argument_error("port", p.name, std::string("read as ") + name_of(p.type));
    return make_view(reinterpret_cast<const T*>(base + offset_of(ports, i, items)), p.rows_of(items),
                     p.elements);
  }
};
using frame_callback = std::function<void(const frame_result&)>;

struct pipeline_state;

/// Memory of a frame that its caller fills; of one that was pushed or moved from, its calls throw error. Goes
/// back where it is not pushed. Threads: one at a time.
class frame_slot {
 public:
  frame_slot() = default;
  frame_slot(frame_slot&& o) noexcept { *this = std::move(o); }
  frame_slot& operator=(frame_slot&& o) noexcept;
  ~frame_slot();
  /// Its number, 0 .. pipeline.slots() - 1. What was written to its inputs stays there, for frames of equal
  /// size.
  std::size_t index() const noexcept { return index_; }
  std::size_t items() const noexcept { return items_; }
  /// [rows, elements] of the chain's input. Throws argument_error for another size of T.
  template <class T>
  view<T> input(std::size_t port) const {
    const frame_port& p = chain().inputs().at(port);
    if (size_of(p.type) != sizeof(T))
      throw argument_error("port", p.name, std::string("filled as ") + name_of(p.type));
    return make_view(reinterpret_cast<T*>(bytes(port)), p.rows_of(items_), p.elements);
  }
  std::byte* bytes(std::size_t port) const { return inputs_ + offset_of(chain().inputs(), port, items_); }

 private:
  const frame_receiver& chain() const {
    if (chain_ == nullptr) throw error("this slot belongs to no frame");
    return *chain_;
  }
  friend class frame_pipeline;
  std::shared_ptr<pipeline_state> state_;
  const frame_receiver* chain_ = nullptr;
  std::byte* inputs_ = nullptr;
  std::size_t index_ = 0, items_ = 0;
};

/// A frame's result, once it is there. Keeps the frame's slot until it goes: whoever holds as many tickets as
/// there are slots cannot push. May outlive the pipeline.
/// Threads: one at a time.
class frame_ticket {
 public:
  frame_ticket() = default;
  frame_ticket(frame_ticket&& o) noexcept { *this = std::move(o); }
  frame_ticket& operator=(frame_ticket&& o) noexcept;
  ~frame_ticket();
  std::uint64_t sequence() const noexcept { return sequence_; }
  bool ready() const;
  /// Waits. Call again for the same result.
  frame_result wait() const;

 private:
  friend class frame_pipeline;
  std::shared_ptr<pipeline_state> state_;
  std::size_t index_ = 0;
  std::uint64_t sequence_ = 0;
};

struct pipeline_counters {
  std::uint64_t pushed = 0, delivered = 0, dropped = 0, failed = 0;
  std::uint64_t rerun = 0;  // runs that were repeated since a device failed
  std::uint64_t callback_errors =
      0;  // exceptions that callbacks threw: the frames count as delivered all the same
  std::uint64_t devices_failed = 0;
  std::uint64_t starts = 0;                   // of frames, or of groups of them
  std::size_t waiting = 0, most_waiting = 0;  // frames in the queue, now and at most
  std::uint64_t missed = 0;                   // as in pipeline_times
  std::uint64_t waiting_sum = 0;              // of those that the pushed frames met there
};
struct pipeline_times {
  /// Of delivered frames. latency: from push, or from the time given there, to delivery; queued: to the start
  /// on a device; device: from there until the result is seen.
  latency_histogram latency, queued, device;
  std::uint64_t missed = 0;  // delivered later than the deadline
  /// Runs of such frames, one behind the other among those delivered, and how many there are in the longest
  /// one: a disturbance that lasts makes few long ones.
  std::uint64_t missed_runs = 0, longest_missed_run = 0;
};

/// Threads: any number may push and take results at once; the callback is called by one thread at a time.
class frame_pipeline {
 public:
  /// Opens the devices, allocates all memory, runs a frame of most_items on each stream and starts the
  /// threads. `on_frame` is called for each frame that was pushed (not: submitted), in order, by one thread
  /// at a time: one of the pipeline's, or one inside of acquire, close or stop. The next frame is delivered
  /// when it returns. It may push, which then never waits: without a free slot it throws error. It may call
  /// neither drain nor stop. Throws argument_error, device_error, memory_error.
  frame_pipeline(std::shared_ptr<const frame_receiver> chain, pipeline_config config,
                 frame_callback on_frame = {});
  /// As stop().
  ~frame_pipeline();
  frame_pipeline(const frame_pipeline&) = delete;
  frame_pipeline& operator=(const frame_pipeline&) = delete;

  /// A slot for a frame of so many items. Waits, or drops, where none is free. Throws argument_error for
  /// items that the chain or the pipeline does not take, device_error where no device is left, error after
  /// stop().
  frame_slot acquire(std::size_t items);
  /// The same, but none where the wait would last longer than `until`.
  std::optional<frame_slot> acquire(std::size_t items, frame_clock::time_point until);
  /// Queues a frame; its number. Its latency counts from `since`, or from now. Throws device_error and error
  /// as acquire; the frame then was not pushed.
  std::uint64_t push(frame_slot slot, std::uint64_t token = 0, frame_clock::time_point since = {});
  /// The same for one that is not given to the callback.
  frame_ticket submit(frame_slot slot, std::uint64_t token = 0, frame_clock::time_point since = {});
  /// Copies arrays, one for each input, into a slot and pushes it.
  std::uint64_t push(std::size_t items, const std::vector<const void*>& arrays, std::uint64_t token = 0);

  /// Waits until all frames pushed before are delivered.
  void drain();
  /// Frames that wait are delivered as dropped, those under way finish; then the threads end. Whoever waits
  /// in acquire gets error. Safe to call twice, and by another thread than the one that pushes.
  void stop();
  /// How stop() begins: no frame is taken any more, those that wait are dropped. Does not wait.
  void close();

  pipeline_counters counters() const;
  pipeline_times times() const;
  /// Takes what is counted off the next times() and trace(), and the most that waited off the next
  /// counters().
  void reset_times();
  /// Where frames delivered since then lost their time; empty without pipeline_config::trace. A frame counts
  /// once its device has been asked, which is after its delivery: all do after stop(). Allocates, and holds
  /// up frames meanwhile.
  stream_trace trace() const;
  std::size_t slots() const noexcept;
  /// What devices are: "NVIDIA H100 80GB HBM3", "avx512, 1 thread".
  const std::vector<std::string>& descriptions() const noexcept;
  /// Graphs recorded on all devices.
  std::size_t graphs() const noexcept;

 private:
  std::shared_ptr<pipeline_state> state_;
};

}  // namespace wb
