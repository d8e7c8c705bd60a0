#include <warpband/c/queue.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <warpband/c/device.hpp>
#include <warpband/c/errors.hpp>

namespace wb::c {
namespace {

constexpr std::uint32_t most_depth = 1u << 20;

/// Operations lie in a ring from their submission until they are polled. Batches, taken from the front of
/// what waits, are under way in a ring of their own.
///
///   ring       polled_ <= started_ <= submitted_ <= polled_ + depth      (counts since the queue was opened)
///   batches    drained_ <= begun_ <= drained_ + most_under_way
///
/// The submitter writes submitted_, the poller polled_ and drained_. Who holds starting_ writes started_ and
/// begun_: that is the poller, or on a GPU the submitter once a batch is full. Nobody waits for starting_:
/// who holds it looks again after letting go of it.
template <class Op>
class queue final : public wb_queue {
 public:
  queue(wb_device& device, std::uint32_t depth, std::uint32_t batch)
      : wb_queue(Op::id), device_(device), depth_(depth), batch_(std::min(batch, depth)), ring_(depth) {
    for (auto& b : batches_) {
      b.blocks.reserve(batch_);
      b.results.reserve(batch_);
    }
  }

  ~queue() override {
    for (; drained_ != begun_; drained_++) finish(front());
  }

  std::size_t submit(const void* ops, std::size_t n) override {
    const caller_structures given("ops", ops, n);
    const std::uint64_t first = submitted_.load(std::memory_order_relaxed);
    const std::size_t room =
                          depth_ - static_cast<std::size_t>(first - polled_.load(std::memory_order_acquire)),
                      taken = std::min(n, room);
    for (std::size_t i = 0; i < taken; i++)
      ring_[(first + i) % depth_] = {block_of<Op>(given, i), given.tag(i)};
    submitted_.store(first + taken);  // sequentially consistent, as starting_ is: see start()
    if (device_.is_device()) start(false);
    return taken;
  }

  std::size_t poll(wb_done* done, std::size_t capacity) noexcept override {
    std::size_t given = 0;
    while (given < capacity && result_is_there()) {
      under_way& b = front();
      const std::uint64_t first = polled_.load(std::memory_order_relaxed);
      const std::size_t count = std::min(capacity - given, b.count - b.given);
      for (std::size_t i = 0; i < count; i++) {
        const std::uint64_t tag = ring_[(first + i) % depth_].tag;
        done[given + i] = b.failed ? failed(tag) : done_of(tag, b.results[b.given + i]);
      }
      polled_.store(first + count, std::memory_order_release);
      given += count;
      b.given += count;
      if (b.given == b.count) drained_.fetch_add(1, std::memory_order_release);
    }
    if (device_.is_device()) start(under_way_now() == 0);
    return given;
  }

  bool wait(std::uint64_t nanoseconds) noexcept override {
    using clock = std::chrono::steady_clock;
    constexpr std::uint64_t year = 1'000'000'000ull * 3600 * 24 * 365;
    const auto begin = clock::now();
    const auto limit = std::chrono::nanoseconds(std::min(nanoseconds, year));
    constexpr auto soon = std::chrono::microseconds(200);
    for (;;) {
      if (!device_.is_device()) return true;  // poll computes
      if (under_way_now() == 0) start(true);
      if (waiting() == 0 && under_way_now() == 0) return true;  // nothing is expected
      if (under_way_now() != 0 && (front().finished || is_done(front()))) return true;
      const auto waited = clock::now() - begin;
      if (waited >= limit) return false;
      if (waited < soon)
        std::this_thread::yield();
      else
        std::this_thread::sleep_for(std::chrono::microseconds(10));
    }
  }

 private:
  struct entry {
    typename Op::block block;
    std::uint64_t tag = 0;
  };
  struct under_way {
    lease lane;
    std::vector<typename Op::block> blocks;
    std::vector<block_result> results;
    std::size_t count = 0, given = 0;
    bool finished = false, failed = false;
  };
  static constexpr std::size_t most_under_way = 4;

  std::uint64_t under_way_now() const noexcept {
    return begun_.load(std::memory_order_acquire) - drained_.load(std::memory_order_relaxed);
  }
  under_way& front() noexcept { return batches_[drained_.load(std::memory_order_relaxed) % most_under_way]; }
  std::size_t waiting() const noexcept {
    return static_cast<std::size_t>(submitted_.load() - started_.load());
  }
  bool has_room() const noexcept { return begun_.load() - drained_.load() < most_under_way; }

  /// Of the poller: whether the front batch has results. On a CPU it computes what waits.
  bool result_is_there() noexcept {
    if (under_way_now() == 0) start(true);
    if (under_way_now() == 0) return false;
    under_way& b = front();
    if (b.finished) return true;
    if (!is_done(b)) return false;
    if (device_.is_device() && under_way_now() == 1)
      start(true);  // the device computes while results are written
    finish(b);
    return true;
  }

  /// Starts what waits: full batches, and the rest too if asked for.
  void start(bool rest) noexcept {
    do {
      if (starting_.exchange(true)) return;
      while (has_room()) {
        const std::size_t count = std::min<std::size_t>(waiting(), batch_);
        if (count == 0 || (count < batch_ && !rest)) break;
        begin(count);
        rest = false;
        if (!device_.is_device()) break;  // its results first
      }
      starting_.store(false);
      // Who submitted meanwhile found starting_ taken. The order of all these stores and loads is one, so
      // that either sees the other.
    } while (device_.is_device() && has_room() && waiting() >= batch_);
  }

  void begin(std::size_t count) noexcept {
    under_way& b = batches_[begun_.load() % most_under_way];
    const std::uint64_t first = started_.load();
    b.count = count;
    b.given = 0;
    b.finished = false;
    b.failed = true;
    try {
      b.blocks.clear();
      for (std::size_t i = 0; i < count; i++) b.blocks.push_back(ring_[(first + i) % depth_].block);
      b.results.resize(count);
      b.lane = device_.take();
      b.lane->template runner<Op>().start(b.lane.exec(), b.blocks);
      b.failed = false;
    } catch (...) {
      keep_exception();
      b.lane = {};
    }
    begun_.fetch_add(1);  // before started_: what no longer waits is under way
    started_.store(first + count);
  }

  bool is_done(under_way& b) noexcept {
    if (b.failed) return true;
    try {
      return !device_.is_device() || b.lane->template runner<Op>().done();
    } catch (...) {  // finish() meets it again
      return true;
    }
  }

  void finish(under_way& b) noexcept {
    if (!b.failed && !b.finished) try {
        b.lane->template runner<Op>().finish(b.results);
        b.lane.give_back();
      } catch (...) {
        keep_exception();
        b.failed = true;
        b.lane = {};
      }
    b.finished = true;
  }

  wb_device& device_;
  std::size_t depth_, batch_;
  std::vector<entry> ring_;
  std::array<under_way, most_under_way> batches_;
  std::atomic<std::uint64_t> submitted_{0}, started_{0}, polled_{0};
  std::atomic<std::uint64_t> begun_{0}, drained_{0};
  std::atomic<bool> starting_{false};
};

wb_queue* open_queue(wb_device& device, const wb_queue_config& c) {
  if (c.depth < 1 || c.depth > most_depth)
    throw argument_error("depth", std::to_string(c.depth), "1..2^20 operations");
  if (c.batch < 1) throw argument_error("batch", std::to_string(c.batch), "at least 1 operation");
  switch (c.operation) {
    case WB_LDPC_DECODE:
      return new queue<ldpc_decode_operation>(device, c.depth, c.batch);
    case WB_LDPC_ENCODE:
      return new queue<ldpc_encode_operation>(device, c.depth, c.batch);
    case WB_TURBO_DECODE:
      return new queue<turbo_decode_operation>(device, c.depth, c.batch);
    case WB_TURBO_ENCODE:
      return new queue<turbo_encode_operation>(device, c.depth, c.batch);
    default:
      throw argument_error("operation", std::to_string(c.operation),
                           "WB_LDPC_DECODE, WB_LDPC_ENCODE, WB_TURBO_DECODE or WB_TURBO_ENCODE");
  }
}

std::size_t submit(wb_queue* queue, wb_operation operation, const void* ops, std::size_t n, wb_status* why) {
  std::size_t taken = 0;
  wb_status status = guarded([&] {
    check_given("queue", queue);
    if (queue->operation() != operation)
      throw argument_error("operation", std::to_string(operation),
                           "that of the queue, " + std::to_string(queue->operation()));
    if (n != 0) taken = queue->submit(ops, n);
  });
  if (status == WB_OK && taken < n) status = keep_error(WB_BUSY, "the queue is full: poll results first");
  if (why != nullptr) *why = status;
  return taken;
}

}  // namespace
}  // namespace wb::c

using namespace wb::c;

extern "C" {

wb_status wb_queue_open(wb_device* device, const wb_queue_config* config, wb_queue** queue) {
  return guarded([&] {
    check_given("queue", queue);
    *queue = nullptr;
    check_given("device", device);
    wb_queue_config read;
    caller_structures("config", config, 1).read(0, &read, sizeof read);
    *queue = open_queue(*device, read);
  });
}
void wb_queue_close(wb_queue* queue) { delete queue; }

size_t wb_submit_ldpc_decode(wb_queue* queue, const wb_ldpc_decode* ops, size_t n, wb_status* why) {
  return submit(queue, WB_LDPC_DECODE, ops, n, why);
}
size_t wb_submit_ldpc_encode(wb_queue* queue, const wb_ldpc_encode* ops, size_t n, wb_status* why) {
  return submit(queue, WB_LDPC_ENCODE, ops, n, why);
}
size_t wb_submit_turbo_decode(wb_queue* queue, const wb_turbo_decode* ops, size_t n, wb_status* why) {
  return submit(queue, WB_TURBO_DECODE, ops, n, why);
}
size_t wb_submit_turbo_encode(wb_queue* queue, const wb_turbo_encode* ops, size_t n, wb_status* why) {
  return submit(queue, WB_TURBO_ENCODE, ops, n, why);
}

size_t wb_poll(wb_queue* queue, wb_done* done, size_t capacity) {
  return queue == nullptr || done == nullptr ? 0 : queue->poll(done, capacity);
}
wb_status wb_wait(wb_queue* queue, uint64_t nanoseconds) {
  bool in_time = true;
  const wb_status status = guarded([&] {
    check_given("queue", queue);
    in_time = queue->wait(nanoseconds);
  });
  if (in_time) return status;
  return keep_error(WB_TIMEOUT, "no result came in time");
}

}  // extern "C"
