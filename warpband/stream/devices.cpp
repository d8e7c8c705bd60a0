#include <warpband/stream/devices.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <warpband/core/decimal.hpp>
#include <warpband/exec/start_thread.hpp>

namespace wb {

/// A thread that drives lanes of one device.
struct device_worker {
  const pipeline_config& config;
  frame_slots& slots;
  frame_queue& queue;
  std::size_t device;
  bool queues;        // its lanes do
  std::size_t limit;  // frames of a group
  std::vector<std::unique_ptr<frame_lane>> lanes = {};
  std::vector<slot_run> runs = {};        // of each lane; empty: it is idle
  std::vector<char> stuck = {};           // lanes that a fault makes hang
  std::vector<std::size_t> started = {};  // lanes in the order in which they were started
  std::uint64_t signals = 0;              // of lanes that are done
  bool over = false;                      // its device has failed
  bool hung = false;                      // and may still work
  std::thread thread = {};

  using lock = frame_slots::lock;

  void add(std::unique_ptr<frame_lane> lane) {
    if (queues && config.waiting == wait_policy::block)
      lane->notify([this] {
        const lock l = slots.locked();
        signals++;
        queue.work.notify_all();
      });
    lanes.push_back(std::move(lane));
    runs.push_back({});
    stuck.push_back(0);
    started.reserve(static_cast<std::size_t>(config.streams));
  }
  void drive() {
    enter();
    for (;;) {
      std::uint64_t seen = 0;
      if (config.waiting == wait_policy::block) {
        const lock l = slots.locked();
        seen = signals;
      }
      bool moved = start_frames();
      while (finish_one()) moved = true;
      if (moved) continue;
      if (over && started.empty()) return;
      if (config.waiting == wait_policy::block) {
        if (!wait_for_work(seen)) return;
      } else {
        if (queue.stopping() && started.empty()) return;
        spin(1);
      }
    }
  }
  /// Whether a lane still runs once the threads have ended. Waits for lanes without the mutex, as they wait
  /// for their notifications, which lock it.
  bool hangs() const {
    bool any = false;
    for (auto& lane : lanes)
      if (hung ? !lane->idle() : !lane->abandon(patience())) any = true;
    return any;
  }

 private:
  /// Makes the lanes ready for this thread. If that fails, so has the device.
  void enter() {
    try {
      for (auto& lane : lanes) lane->enter();
    } catch (const std::exception& e) {
      fail_device(e.what());
    }
  }

  // ---- frames

  bool start_frames() {
    bool any = false;
    while (has_idle_lane()) {
      if (config.waiting == wait_policy::spin && !queue.may_be_ready(limit, started.size())) break;
      const slot_run run = take_work();
      if (run.count == 0) break;
      start(run);
      any = true;
      if (!queues) break;
    }
    return any;
  }
  bool has_idle_lane() const noexcept { return started.size() < lanes.size(); }
  slot_run take_work() {
    const lock l = slots.locked();
    over = !queue.alive(device);
    if (over) return {};
    const std::size_t count = queue.ready(limit, started.size());
    return count == 0 ? slot_run{} : queue.pop(count, device);
  }
  void start(slot_run run) {
    std::size_t lane = 0;
    while (runs[lane].count != 0) lane++;
    runs[lane] = run;
    started.push_back(lane);
    const auto start = frame_clock::now();
    for (slot_state& f : slots.in(run)) f.started = start;
    guarded(lane, [&] {
      fault(fault_moment::start, run);
      const slot_state& first = slots[run.first];
      lanes[lane]->start({first.inputs, first.outputs, first.items, run.first, run.count});
      if (queue.tracer) {  // a CPU has computed by now: nothing was submitted there
        const auto submitted = queues ? frame_clock::now() : start;
        for (slot_state& f : slots.in(run)) f.submitted = submitted;
      }
      fault(fault_moment::started, run);
    });
  }
  /// Whether a lane was done, or failed.
  bool finish_one() {
    // The time before lanes are asked: if this thread pauses in between, a frame that is done is not overdue.
    const auto asked = config.timeout ? frame_clock::now() : frame_clock::time_point{};
    for (const std::size_t lane : started) {
      if (stuck[lane] != 0) continue;
      bool done = false;
      const bool fine = guarded(lane, [&] {
        done = lanes[lane]->done();
        if (done) fault(fault_moment::done, runs[lane]);
      });
      if (!fine) return true;
      if (!done || stuck[lane] != 0) continue;
      finish(lane);
      return true;
    }
    if (!overdue(asked)) return false;
    fail_hung_device();
    return true;
  }
  void finish(std::size_t lane) {
    const auto end = frame_clock::now();
    const slot_run run = release(lane);
    lock l = slots.locked();
    for (slot_state& f : slots.in(run)) {
      f.finished = end;
      f.status = frame_status::delivered;
      f.use = slot_use::ended;
    }
    if (queue.tracer)
      deliver_traced(*lanes[lane], run, l);
    else
      queue.deliver(l);
  }
  slot_run release(std::size_t lane) noexcept {
    stuck[lane] = 0;
    started.erase(std::find(started.begin(), started.end(), lane));
    return std::exchange(runs[lane], {});
  }
  /// Asks the device for its times after the delivery, which then does not wait for them.
  void deliver_traced(frame_lane& lane, slot_run run, lock& l) {
    std::array<std::uint64_t, most_batch> sequences{};
    for (const slot_state& f : slots.in(run)) {
      sequences[f.index - run.first] = f.sequence;
      queue.tracer->ended(
          f.index, {f.sequence, device, f.pushed, f.queued, f.started, f.submitted, f.finished, {}, {}},
          queues);
    }
    queue.deliver(l);
    if (!queues) return;
    l.unlock();
    lane_times on_device;
    try {
      on_device = lane.times();
    } catch (const device_error&) {  // occurs again when the device is asked for the next frame
    }
    slots.take(l);
    for (std::size_t i = 0; i < run.count; i++)
      queue.tracer->device_told(run.first + i, sequences[i], on_device);
  }
  /// False if the pipeline stops and this thread has nothing left to do.
  bool wait_for_work(std::uint64_t seen) {
    lock l = slots.locked();
    const auto finished = [&] { return queue.stopping() && started.empty(); };
    if (finished()) return false;
    const auto ready = [&] {
      return signals != seen || finished() ||
             (has_idle_lane() && queue.alive(device) && queue.ready(limit, started.size()) != 0);
    };
    std::chrono::nanoseconds asked_every = std::chrono::milliseconds(20);
    if (config.timeout) asked_every = std::min(asked_every, *config.timeout);
    started.empty() ? queue.work.wait(l, ready)
                    : static_cast<void>(queue.work.wait_for(l, asked_every, ready));
    return true;
  }

  // ---- failure

  void fault(fault_moment moment, slot_run run) const {
    if (!config.fault) return;
    for (const slot_state& f : slots.in(run)) config.fault({moment, device, f.sequence, f.attempts});
  }
  /// Runs `call`, which is about the frames on a lane. False if it failed; what follows from that is done
  /// then.
  template <class Call>
  bool guarded(std::size_t lane, Call call) {
    try {
      call();
      return true;
    } catch (const device_hang&) {
      stuck[lane] = 1;
      return true;
    } catch (const device_error& e) {
      fail_device(e.what());
    } catch (const std::exception& e) {
      fail_frames(lane, e.what());
    } catch (...) {
      fail_frames(lane, "an exception that is no std::exception");
    }
    return false;
  }
  void fail_frames(std::size_t lane, const char* text) {
    if (!lanes[lane]->abandon(patience())) return fail_hung_device();
    const slot_run run = release(lane);
    lock l = slots.locked();
    queue.fail(run, text);
    queue.deliver(l);
  }
  void fail_hung_device() {
    const std::string text = "a device that hangs: no answer for " +
                             decimal(std::chrono::duration<double>(*config.timeout).count()) + " s";
    fail_device(text.c_str(), true);
  }
  void fail_device(const char* text, bool hangs = false) {
    const auto until = patience();
    for (std::size_t i = 0; i < started.size() && !hangs; i++) hangs = !lanes[started[i]]->abandon(until);
    lock l = slots.locked();
    hung = hangs;
    over = true;
    queue.lose_device(device, text);
    for (const std::size_t lane : started)
      for (slot_state& f : slots.in(std::exchange(runs[lane], {}))) {
        if (hangs) slots.move_outputs(f);
        queue.retry(f, text);
      }
    started.clear();
    queue.work.notify_all();
    slots.announce_space(true);
    queue.deliver(l);
  }
  /// Whether a frame has been on the device for too long.
  bool overdue(frame_clock::time_point time) const {
    return config.timeout && !started.empty() &&
           time - slots[runs[started.front()].first].started > *config.timeout;
  }
  /// Until when a device may take to release frames.
  frame_clock::time_point patience() const {
    const auto time = frame_clock::now();
    const bool bounded = config.timeout && *config.timeout < frame_lane::for_ever - time;
    return bounded ? time + *config.timeout : frame_lane::for_ever;
  }
};

frame_devices::frame_devices(const frame_receiver& chain, const pipeline_config& config, frame_slots& slots,
                             frame_queue& queue)
    : chain_(chain), config_(config), slots_(slots), queue_(queue) {}
frame_devices::~frame_devices() = default;

void frame_devices::open() {
  for (std::size_t d = 0; d < config_.devices.size(); d++) open_device(d);
  open_slots();
  queue_.open();
  record_graphs();
  for (auto& w : workers_) w->thread = start_thread([&w = *w] { w.drive(); });
}
void frame_devices::open_device(std::size_t device) {
  const pipeline_config& c = config_;
  std::vector<std::unique_ptr<frame_lane>> lanes;
  try {
    lanes = make_lanes(chain_, {c.devices[device], c.threads, c.most_items, c.parts, c.batch, c.trace != 0},
                       static_cast<std::size_t>(c.streams));
  } catch (const argument_error& e) {
    if (e.argument() != "device") throw;
    throw argument_error("devices", e.value(), e.allowed());
  }
  descriptions_.push_back(lanes.front()->where().description());
  const bool queues = lanes.front()->queues();
  const std::size_t limit = queues ? static_cast<std::size_t>(c.batch) : 1;
  for (std::size_t i = 0; i < lanes.size(); i++) {
    if (i == 0 || !queues) workers_.emplace_back(new device_worker{c, slots_, queue_, device, queues, limit});
    workers_.back()->add(std::move(lanes[i]));
  }
}
/// As many slots as frames can wait and be under way, page-locked if there is a CUDA device.
void frame_devices::open_slots() {
  frame_lane* memory = workers_.front()->lanes.front().get();
  std::size_t under_way = 0, can_hang = 0;  // frames
  for (auto& w : workers_) {
    const std::size_t frames = w->lanes.size() * w->limit;
    under_way += frames;
    if (w->queues || config_.fault) can_hang += frames;
    if (w->queues && !memory->queues()) memory = w->lanes.front().get();
  }
  slots_.open(memory->where(), config_.queue + under_way, config_.timeout ? can_hang : 0);
}
void frame_devices::record_graphs() {
  std::vector<lane_frame> frames;
  for (const std::size_t items : config_.graph_items)
    for (std::size_t s = 0; s < slots_.size(); s++)
      frames.push_back({slots_[s].inputs, slots_[s].outputs, items, s});
  for (auto& w : workers_)
    for (auto& lane : w->lanes) {
      lane->prepare(frames);
      graphs_ += lane->graphs();
    }
}
void frame_devices::stop(std::shared_ptr<void> pipeline) {
  const std::lock_guard join(joining_);
  for (auto& w : workers_)
    if (w->thread.joinable()) w->thread.join();
  queue_.wait_for_end();
  bool hangs = false;
  for (auto& w : workers_) hangs |= w->hangs();
  // A device that hangs may still use its memory, its notifications use the workers, and each call that frees
  // would wait for it. So all of it stays.
  if (!hangs) {
    workers_.clear();
    pipeline.reset();
  }
  left_to_device_ = std::move(pipeline);
}

}  // namespace wb
