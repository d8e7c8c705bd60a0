#pragma once
// The queue of a frame_pipeline: which frames wait for a device, and the order in which frames are delivered.
//
// Back pressure: acquire() waits for a free slot, or drops the frame that has waited longest. Delivery: one
// thread at a time takes the frame in front, once it has ended, counts its latency against the deadline and
// calls the callback. The same thread delivers what other threads end meanwhile.
//
// Threads: the mutex of frame_slots guards every member. The atomics are also read without it. Calls of the
// pipeline lock it themselves; other functions expect their caller to hold it, except where they say so.
// - Threads of devices wait on `work`: a frame was queued, a lane is done, or the pipeline stops. Those that
//   spin read the atomics.
// - wait(), drain() and wait_for_end() wait on `progress_`: frames were delivered.
// - deliver() unlocks the mutex during each callback. `delivering_` then keeps other threads out. So a
//   callback may push. It may not wait for a slot or a frame: both wait for the callback.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <warpband/stream/slots.hpp>
#include <warpband/stream/trace.hpp>

namespace wb {

/// A list of bounded length, which does not allocate after reserve(). erase() moves the elements before the
/// erased one, as that is near the front.
template <class T>
struct bounded_list {
  void reserve(std::size_t n) { values_.resize(n); }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  T& operator[](std::size_t i) noexcept { return values_[index_of(i)]; }
  const T& operator[](std::size_t i) const noexcept { return values_[index_of(i)]; }
  const T& front() const noexcept { return (*this)[0]; }
  void push_back(const T& v) noexcept { insert(size_, v); }
  void pop_front() noexcept {
    first_ = index_of(1);
    size_--;
  }
  void clear() noexcept { size_ = 0; }
  void insert(std::size_t position, const T& v) noexcept {
    size_++;
    for (std::size_t i = size_ - 1; i > position; i--) (*this)[i] = (*this)[i - 1];
    (*this)[position] = v;
  }
  void erase(std::size_t position) noexcept {
    for (std::size_t i = position; i > 0; i--) (*this)[i] = (*this)[i - 1];
    pop_front();
  }

 private:
  std::size_t index_of(std::size_t i) const noexcept {
    const std::size_t index = first_ + i;
    return index < values_.size() ? index : index - values_.size();
  }
  std::vector<T> values_;
  std::size_t first_ = 0, size_ = 0;
};

struct frame_queue {
  using lock = frame_slots::lock;

  frame_queue(frame_slots& slots, const pipeline_config& config, frame_callback on_frame)
      : slots_(slots), config_(config), on_frame_(std::move(on_frame)) {}
  /// Allocates, once the slots are there.
  void open() {
    alive_.assign(config_.devices.size(), 1);
    devices_left_ = alive_.size();
    device_failure_.reserve(1024);
    waiting_.reserve(slots_.size() + 1);
    deliveries_.reserve(2 * slots_.size() + 2);  // frames with a slot, and runs of dropped ones between them
    if (config_.trace != 0)
      tracer = std::make_unique<frame_tracer>(config_.trace, slots_.size(), config_.devices.size());
  }

  // ---- For callers of the pipeline

  /// Whether this thread is in a callback of this pipeline.
  bool in_callback() const noexcept { return calls_back_ == this; }
  /// A slot; null: none was free until then.
  slot_state* acquire(frame_clock::time_point until) {
    lock l = slots_.locked();
    for (;;) {
      check_open();
      if (slot_state* const f = slots_.take_free()) return f;
      if (config_.overflow == overflow_policy::drop_oldest && drop_oldest()) {
        deliver(l);
        continue;
      }
      if (in_callback())
        throw error("no slot is free, and a callback cannot wait for one: it is what frees them");
      if (until != frame_lane::for_ever && frame_clock::now() >= until) return nullptr;
      slots_.wait_for_space(l, until);
    }
  }
  std::uint64_t push(slot_state& f, std::size_t items, bool ticket, std::uint64_t token,
                     frame_clock::time_point since) {
    const auto time = since == frame_clock::time_point{} ? frame_clock::now() : since;
    lock l = slots_.locked();
    check_open();
    f.use = slot_use::queued;
    f.ticket = f.silent = ticket;
    f.status = frame_status::delivered;
    f.error[0] = '\0';
    f.items = items;
    f.sequence = next_++;
    f.token = token;
    f.attempts = 0;
    f.alone = false;
    f.pushed = f.started = f.finished = time;
    if (tracer) f.queued = frame_clock::now();
    counts_.waiting_sum += waiting_.size();
    waiting_.push_back(f.index);
    counts_.most_waiting = std::max(counts_.most_waiting, waiting_.size());
    deliveries_.push_back({f.sequence, 1, f.index});
    counts_.pushed++;
    note_waiting();
    const std::uint64_t sequence = f.sequence;
    l.unlock();
    if (config_.waiting == wait_policy::block) work.notify_all();
    return sequence;
  }
  /// Until a ticket's frame is delivered.
  frame_result wait(const slot_state& f) {
    lock l = slots_.locked();
    if (f.use != slot_use::kept && in_callback())
      throw error("a callback cannot wait for a frame: frames are delivered one after the other");
    progress_.wait(l, [&] { return f.use == slot_use::kept; });
    return slots_.result_of(f);
  }
  void drain() {
    if (in_callback()) throw error("a callback cannot drain its pipeline: it would wait for itself");
    lock l = slots_.locked();
    progress_.wait(l, [this, pushed = next_] { return through_ >= pushed; });
  }
  /// Drops what waits. From now on acquire() and push() throw.
  void close() {
    lock l = slots_.locked();
    stopping_.store(true, std::memory_order_release);
    while (!waiting_.empty()) drop(0);
    work.notify_all();
    slots_.announce_space(true);
    deliver(l);
  }
  /// Until nothing is left to deliver.
  void wait_for_end() {
    lock l = slots_.locked();
    progress_.wait(l, [this] { return deliveries_.empty() && !delivering_; });
  }
  pipeline_counters counters() {
    const lock l = slots_.locked();
    pipeline_counters c = counts_;
    c.waiting = waiting_.size();
    c.missed = times_.missed;
    return c;
  }
  pipeline_times times() {
    const lock l = slots_.locked();
    return times_;
  }
  void reset_times() {
    const lock l = slots_.locked();
    times_ = {};
    missed_now_ = 0;
    counts_.most_waiting = waiting_.size();
    if (tracer) tracer->reset();
  }
  stream_trace trace() {
    if (!tracer) return {};
    const lock l = slots_.locked();
    return tracer->result();
  }

  // ---- For threads of devices, without the lock

  bool stopping() const noexcept { return stopping_.load(std::memory_order_acquire); }
  /// What ready() may say: it can be out of date.
  bool may_be_ready(std::size_t limit, std::size_t under_way) const noexcept {
    const std::size_t frames = waiting_now_.load(std::memory_order_relaxed);
    return frames != 0 && (frames >= limit || under_way < enough_under_way || stopping());
  }

  // ---- For threads of devices, with the lock

  /// Whether a device takes frames.
  bool alive(std::size_t device) const noexcept { return alive_[device] != 0; }
  /// How many frames a lane takes now from the front, with groups of up to `limit` frames: all that are
  /// neighbours. 0: it waits for more. `under_way`: groups that its device works on.
  std::size_t ready(std::size_t limit, std::size_t under_way) const noexcept {
    if (waiting_.empty()) return 0;
    const auto alone = [this](const slot_state& f) {
      return f.alone || f.moved || f.items != config_.most_items;
    };
    const std::size_t first = waiting_.front();
    if (limit == 1 || alone(slots_[first])) return 1;
    std::size_t n = 1;
    while (n < limit && n < waiting_.size() && waiting_[n] == first + n && !alone(slots_[first + n])) n++;
    const bool more_may_come = n < limit && n == waiting_.size() && first + n < slots_.size();
    return more_may_come && under_way >= enough_under_way && !stopping() ? 0 : n;
  }
  slot_run pop(std::size_t count, std::size_t device) noexcept {
    const slot_run run{waiting_.front(), count};
    counts_.starts++;
    for (slot_state& f : slots_.in(run)) {
      waiting_.pop_front();
      f.use = slot_use::running;
      f.device = device;
    }
    note_waiting();
    return run;
  }
  /// A device has failed. If it was the last one, the frames that wait fail too.
  void lose_device(std::size_t device, const char* text) {
    if (!std::exchange(alive_[device], char{0})) return;
    devices_left_--;
    counts_.devices_failed++;
    device_failure_ = text;
    if (devices_left_ != 0) return;
    for (std::size_t i = 0; i < waiting_.size(); i++) {
      slot_state& f = slots_[waiting_[i]];
      f.fail(text);
      f.started = f.finished;
    }
    waiting_.clear();
    note_waiting();
  }
  /// A frame under which a device failed runs again, or fails.
  void retry(slot_state& f, const char* text) {
    f.attempts++;
    counts_.rerun += end_or_run_again(f, devices_left_ != 0 && f.attempts <= config_.retries, text);
  }
  /// The frames of a group that failed run again one by one; a single one fails.
  void fail(slot_run run, const char* text) {
    const bool group = run.count > 1;  // which of its frames is the cause is not known
    for (slot_state& f : slots_.in(run)) {
      f.alone = group;
      end_or_run_again(f, group, text);
    }
    if (group) work.notify_all();
  }
  /// Delivers what is in front and has ended.
  void deliver(lock& l) {
    if (delivering_) return;
    delivering_ = true;
    while (!deliveries_.empty()) {
      const delivery front = deliveries_.front();
      if (front.slot != no_slot && slots_[front.slot].use != slot_use::ended) break;
      deliveries_.pop_front();
      front.slot == no_slot ? deliver_dropped(l, front) : deliver_frame(l, slots_[front.slot]);
      progress_.notify_all();
    }
    delivering_ = false;
    progress_.notify_all();
  }

  std::condition_variable work;
  std::unique_ptr<frame_tracer> tracer;  // null: frames are not traced

 private:
  /// A frame that is not delivered yet, or a run of dropped ones, which hold no slot.
  struct delivery {
    std::uint64_t first, count;
    std::size_t slot;
  };
  static constexpr std::size_t no_slot = SIZE_MAX;
  /// Groups on a device from which on a free lane waits for a full one: one is copied and one computed.
  static constexpr std::size_t enough_under_way = 2;

  void check_open() const {
    if (stopping()) throw error("the pipeline was stopped: it takes no frames any more");
    if (devices_left_ == 0) throw device_error("no device is left: " + device_failure_);
  }

  // ---- What waits

  void note_waiting() noexcept { waiting_now_.store(waiting_.size(), std::memory_order_relaxed); }
  /// False if no frame that waits may be dropped.
  bool drop_oldest() {
    for (std::size_t i = 0; i < waiting_.size(); i++)
      if (!slots_[waiting_[i]].silent) {
        drop(i);
        return true;
      }
    return false;
  }
  /// Drops the frame at a position. Its slot is free then, unless it has a ticket.
  void drop(std::size_t position) {
    slot_state& f = slots_[waiting_[position]];
    waiting_.erase(position);
    note_waiting();
    if (f.silent) {
      f.status = frame_status::dropped;
      f.use = slot_use::ended;
      return;
    }
    std::size_t i = 0;
    while (deliveries_[i].slot != f.index) i++;
    deliveries_[i].slot = no_slot;
    join_dropped(i);
    if (i > 0) join_dropped(i - 1);
    slots_.give_back(f);
  }
  /// Joins a run of dropped frames with the next one, if that follows it.
  void join_dropped(std::size_t i) {
    if (i + 1 >= deliveries_.size()) return;
    const delivery run = deliveries_[i];
    delivery& after = deliveries_[i + 1];
    if (run.slot != no_slot || after.slot != no_slot || run.first + run.count != after.first) return;
    after.first = run.first;
    after.count += run.count;
    deliveries_.erase(i);
  }
  /// Puts a frame back into the queue, in order, or ends it. Whether it runs again.
  bool end_or_run_again(slot_state& f, bool again, const char* text) {
    if (!again || stopping()) {
      f.fail(text);
      return false;
    }
    f.use = slot_use::queued;
    std::size_t position = 0;
    while (position < waiting_.size() && slots_[waiting_[position]].sequence < f.sequence) position++;
    waiting_.insert(position, f.index);
    note_waiting();
    return true;
  }

  // ---- Delivery

  void deliver_dropped(lock& l, const delivery& run) {
    for (std::uint64_t i = 0; i < run.count; i++) {
      counts_.dropped++;
      frame_result dropped;
      dropped.sequence = run.first + i;
      dropped.status = frame_status::dropped;
      call_back(l, dropped);
      through_++;
    }
  }
  void deliver_frame(lock& l, slot_state& f) {
    if (f.status == frame_status::delivered) count_times(f);
    (f.status == frame_status::delivered ? counts_.delivered
     : f.status == frame_status::dropped ? counts_.dropped
                                         : counts_.failed)++;
    if (!f.silent) call_back(l, slots_.result_of(f));
    through_++;
    if (f.ticket)
      f.use = slot_use::kept;
    else
      slots_.give_back(f);
  }
  void count_times(const slot_state& f) {
    const auto time = frame_clock::now();
    const auto latency = time - f.pushed;
    if (tracer) tracer->delivered(f.index, time);
    times_.latency.add(latency);
    times_.queued.add(f.started - f.pushed);
    times_.device.add(f.finished - f.started);
    if (!config_.deadline || latency <= *config_.deadline) {
      missed_now_ = 0;
      return;
    }
    times_.missed++;
    times_.missed_runs += missed_now_++ == 0;
    times_.longest_missed_run = std::max(times_.longest_missed_run, missed_now_);
  }
  void call_back(lock& l, const frame_result& r) {
    if (!on_frame_) return;
    l.unlock();
    const frame_queue* const before = std::exchange(calls_back_, this);
    bool threw = false;
    try {
      on_frame_(r);
    } catch (...) {
      threw = true;
    }
    calls_back_ = before;
    slots_.take(l);
    counts_.callback_errors += threw;
  }

  frame_slots& slots_;
  const pipeline_config& config_;
  frame_callback on_frame_;
  std::condition_variable progress_;
  bounded_list<std::size_t> waiting_;     // slots
  bounded_list<delivery> deliveries_;     // in the order of pushes
  std::uint64_t next_ = 0, through_ = 0;  // the next frame's sequence; those before `through_` were delivered
  bool delivering_ = false;
  std::vector<char> alive_;  // of each device
  std::size_t devices_left_ = 0;
  std::string device_failure_;
  pipeline_counters counts_;
  pipeline_times times_;
  std::uint64_t missed_now_ = 0;  // the last frames delivered, as far as all of them were late
  static inline thread_local const frame_queue* calls_back_ = nullptr;
  std::atomic<std::size_t> waiting_now_{0};
  std::atomic<bool> stopping_{false};
};

}  // namespace wb
