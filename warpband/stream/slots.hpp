#pragma once
// The slots of a frame_pipeline: host memory of one frame each, and the state of each.
//
// The states of a slot:
//
//   free     -> filling   acquire
//   filling  -> queued    push, submit           -> free    it is given back without a push
//   queued   -> running   a lane takes it        -> free    it is dropped; with a ticket, or if no device is
//                                                           left: ended
//   running  -> ended     its device is done     -> queued  its device failed, and another one tries
//   ended    -> free      it is delivered        -> kept    to a ticket
//   kept     -> free      the ticket goes
//
// Threads: `mutex_` is the only lock for the frames of a pipeline. It guards what changes after open() in
// slots, in the queue and in workers of devices, because a step of a frame changes all three. locked() locks
// it; functions that do not say otherwise expect their caller to hold it.
// - A thread holds it for less than a microsecond, except in frame_queue::trace(), which allocates. No thread
//   holds it during a callback, a call of a lane, or a wait.
// - It is the last lock that a thread takes. frame_devices has the only other one, which comes before it.
// - Callers of frame_queue::acquire wait on `space_` for a free slot; give_back() wakes one of them. Those
//   who spin read `space_changes_` without the lock.
// - The bytes of a slot need no lock. They belong to the caller of acquire while the slot is filling, to its
//   worker while it is running, and to readers of its result after that. While it is running, the worker also
//   reads and writes the fields of slot_state without the lock: no other thread does.
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include <warpband/exec/executor.hpp>
#include <warpband/stream/lane.hpp>
#include <warpband/stream/pipeline.hpp>

namespace wb {

/// Turn number `turn` of a loop that waits and does not sleep.
inline void spin([[maybe_unused]] int turn) noexcept {
#if defined(__x86_64__)
  if (turn % 4096 != 0) return __builtin_ia32_pause();
#endif
  std::this_thread::yield();
}

enum class slot_use {
  free,
  filling,  // its caller writes to it
  queued,
  running,
  ended,  // waits for the frames before it to be delivered
  kept,   // delivered to a ticket
};

struct slot_state {
  std::byte *inputs = nullptr, *outputs = nullptr;
  std::size_t index = 0;
  slot_use use = slot_use::free;
  bool ticket = false;  // a ticket holds it; cleared if the ticket goes before the delivery
  bool silent = false;  // its frame was submitted: no callback, and it is not dropped
  frame_status status = frame_status::delivered;
  std::size_t items = 0, device = 0;
  std::uint64_t sequence = 0, token = 0;
  int attempts = 0;
  bool alone =
      false;  // not in a group: one that it was in failed, and alone it shows whether it is the cause
  bool moved = false;  // its outputs are no longer next to its neighbours'
  frame_clock::time_point pushed, started, finished;
  frame_clock::time_point queued, submitted;  // if frames are traced
  char error[240] = "";

  void fail(const char* text) noexcept {
    status = frame_status::failed;
    std::strncpy(error, text, sizeof error - 1);
    finished = frame_clock::now();
    use = slot_use::ended;
  }
};

inline constexpr int most_batch = 64;  // frames of a group

/// Neighbouring slots, whose frames run as a group.
struct slot_run {
  std::size_t first = 0, count = 0;
};

struct frame_slots {
  using lock = std::unique_lock<std::mutex>;

  frame_slots(const frame_receiver& chain, const pipeline_config& config) : chain_(chain), config_(config) {}
  /// Allocates `count` slots, and `spares` arrays of outputs for move_outputs().
  void open(executor& where, std::size_t count, std::size_t spares) {
    const std::size_t in = offset_of(chain_.inputs(), chain_.inputs().size(), config_.most_items),
                      out = offset_of(chain_.outputs(), chain_.outputs().size(), config_.most_items);
    states_ = std::vector<slot_state>(count);
    inputs_ = where.make_host<std::byte>(count, in);
    outputs_ = where.make_host<std::byte>(count, out);
    std::memset(inputs_.data(), 0, inputs_.bytes());
    std::memset(outputs_.data(), 0, outputs_.bytes());
    if (spares != 0) spare_outputs_ = where.make_host<std::byte>(spares, out);
    for (std::size_t s = 0; s < spares; s++) spares_.push_back(spare_outputs_.data() + s * out);
    for (std::size_t s = 0; s < count; s++) {
      states_[s].inputs = inputs_.data() + s * in, states_[s].outputs = outputs_.data() + s * out;
      states_[s].index = s;
      free_.push_back(count - 1 - s);
    }
    taken_last_ = count - 1;
  }

  // Without the lock.
  std::size_t size() const noexcept { return states_.size(); }
  slot_state& operator[](std::size_t slot) noexcept { return states_[slot]; }
  const slot_state& operator[](std::size_t slot) const noexcept { return states_[slot]; }
  std::span<slot_state> in(slot_run run) noexcept { return std::span(states_).subspan(run.first, run.count); }
  lock locked() {
    lock l(mutex_, std::defer_lock);
    take(l);
    return l;
  }
  /// Locks again. With wait_policy::spin it spins: to be woken takes longer than others hold the mutex.
  void take(lock& l) {
    if (config_.waiting == wait_policy::block) return l.lock();
    for (int n = 1; !l.try_lock(); n++) spin(n);
  }

  frame_result result_of(const slot_state& f) const {
    frame_result r;
    r.sequence = f.sequence;
    r.status = f.status;
    r.error = f.error;
    r.items = f.items, r.slot = f.index, r.device = f.device;
    r.attempts = f.attempts, r.token = f.token;
    r.pushed = f.pushed, r.started = f.started, r.finished = f.finished;
    r.chain = &chain_;
    r.inputs = f.inputs, r.outputs = f.outputs;
    return r;
  }
  /// A slot, which is filling from now on; null: none is free. With groups it is the next one after the slot
  /// that was taken last, else the one that was used last, which is in the caches.
  slot_state* take_free() noexcept {
    if (free_.empty()) return nullptr;
    slot_state& f = states_[config_.batch > 1 ? next_in_turn() : free_.back()];
    free_.pop_back();  // with groups only the size of free_ is right, not what it contains
    f.use = slot_use::filling;
    return &f;
  }
  void give_back(slot_state& f) {
    f.use = slot_use::free;
    free_.push_back(f.index);
    announce_space(false);
  }
  void release_ticket(slot_state& f) {
    f.ticket = false;
    if (f.use == slot_use::kept) give_back(f);
  }
  /// Wakes callers that wait for a slot: all of them, or one. Those that spin need no call, which would cost
  /// the thread of a device microseconds of each small frame.
  void announce_space(bool to_all) {
    space_changes_.fetch_add(1, std::memory_order_release);
    if (config_.waiting == wait_policy::spin) return;
    to_all ? space_.notify_all() : space_.notify_one();
  }
  void wait_for_space(lock& l, frame_clock::time_point until) {
    if (config_.waiting == wait_policy::block) {
      until == frame_lane::for_ever ? space_.wait(l) : static_cast<void>(space_.wait_until(l, until));
      return;
    }
    const std::uint64_t seen = space_changes_.load(std::memory_order_acquire);
    l.unlock();
    for (int n = 1; space_changes_.load(std::memory_order_acquire) == seen; n++) {
      spin(n);
      if (n % 4096 == 0 && until != frame_lane::for_ever && frame_clock::now() >= until) break;
    }
    take(l);
  }
  /// Gives a slot other memory for outputs, as a device that hangs may still write to the old one.
  void move_outputs(slot_state& f) noexcept {
    if (spares_.empty()) return;
    f.outputs = spares_.back();
    f.moved = true;
    spares_.pop_back();
  }

 private:
  /// Skips slots that are not free: a ticket may hold one for long. In a queue of free slots such a slot
  /// would come back out of order, after which groups never form again.
  std::size_t next_in_turn() noexcept {
    do taken_last_ = taken_last_ + 1 < states_.size() ? taken_last_ + 1 : 0;
    while (states_[taken_last_].use != slot_use::free);
    return taken_last_;
  }

  const frame_receiver& chain_;
  const pipeline_config& config_;
  array<std::byte> inputs_, outputs_, spare_outputs_;  // of all slots, one after the other
  std::mutex mutex_;
  std::condition_variable space_;
  std::atomic<std::uint64_t> space_changes_{0};
  std::vector<slot_state> states_;
  std::vector<std::size_t> free_;  // the one that was used last at the back
  std::size_t taken_last_ = 0;
  std::vector<std::byte*> spares_;
};

}  // namespace wb
