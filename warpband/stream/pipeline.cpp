#include <warpband/stream/pipeline.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>

#include <warpband/core/check.hpp>
#include <warpband/core/decimal.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/exec/start_thread.hpp>
#include <warpband/stream/lane.hpp>

namespace wb {

const char* name_of(frame_status status) noexcept {
  switch (status) {
    case frame_status::delivered:
      return "delivered";
    case frame_status::dropped:
      return "dropped";
    case frame_status::failed:
      return "failed";
  }
  return "?";
}

namespace {

/// A time, as a number of units of `nanoseconds`.
setting_of<pipeline_config> time_setting(const char* name, std::chrono::nanoseconds pipeline_config::*member,
                                         double nanoseconds, const char* text) {
  const std::string allowed = settings_detail::range_text("a number", 0, 1e9);
  return {name,
          "number",
          allowed,
          text,
          {},
          [=](pipeline_config& c, const setting_value& v) {
            const double units = settings_detail::real(name, v, 0, 1e9, false, allowed);
            c.*member = std::chrono::nanoseconds(static_cast<std::int64_t>(units * nanoseconds));
          },
          [=](const pipeline_config& c) -> setting_value {
            return static_cast<double>((c.*member).count()) / nanoseconds;
          }};
}

}  // namespace

const std::vector<setting_of<pipeline_config>>& pipeline_settings() {
  using c = pipeline_config;
  static const std::vector<setting_of<c>> all{
      integer("most_items", &c::most_items, 1, std::int64_t{1} << 31,
              "Of a frame: uses of the channel, vectors, or codewords of the space-time code.",
              "an integer from 1 to 2^31"),
      texts("devices", &c::devices, "Frames go to whichever has a stream free.",
            "a list of \"cpu\", \"cuda:0\", \"cuda:1\", ..."),
      integer("streams", &c::streams, 1, 64, "Frames under way on each device."),
      integer("threads", &c::threads, 0, 4096, "\"cpu\": threads that share a frame.",
              "an integer from 0 (all cores) to 4096"),
      integer("batch", &c::batch, 1, 64,
              "CUDA, without parts: up to so many frames that wait one behind the other are copied as one, "
              "for more throughput of small frames."),
      integer("parts", &c::parts, 1, 64,
              "CUDA: parts of a frame whose copies and kernels overlap, for less latency of large frames."),
      boolean("graphs", &c::graphs, "CUDA: frames of most_items are started as recorded graphs."),
      integer("queue", &c::queue, 1, 65536, "Frames that may wait beside those under way."),
      words("overflow", &c::overflow,
            {{"wait", overflow_policy::wait}, {"drop-oldest", overflow_policy::drop_oldest}},
            "When the queue is full: whoever pushes waits, or the frame that waits longest is dropped."),
      words(
          "waiting", &c::waiting, {{"block", wait_policy::block}, {"spin", wait_policy::spin}},
          "How threads wait for frames and devices: asleep, or looking all the time, which costs a core for "
          "each device and takes tens of microseconds off the latency."),
      integer("retries", &c::retries, 0, 64,
              "Devices that may fail under a frame before it is failed itself."),
      time_setting("deadline_us", &c::deadline, 1e3, "Later deliveries are counted as missed; 0: none are."),
      time_setting(
          "timeout_ms", &c::timeout, 1e6,
          "CUDA: a device under which a frame is longer than this counts as failed; 0: it is waited for."),
      integer("trace", &c::trace, 0, 100'000,
              "The times of all frames at each place that they pass are counted, and so many of the slowest "
              "frames are told one by one, with the share of each place in what they have in excess of the "
              "others. 0: none of this.")};
  return all;
}

int automatic_batch(const frame_receiver& chain, std::size_t items) noexcept {
  const std::size_t bytes = std::max(offset_of(chain.inputs(), chain.inputs().size(), items),
                                     offset_of(chain.outputs(), chain.outputs().size(), items));
  return static_cast<int>(std::clamp<std::size_t>(16'000'000 / std::max<std::size_t>(bytes, 1), 1, 64));
}

namespace {

constexpr std::size_t none = SIZE_MAX;
constexpr auto for_ever = frame_clock::time_point::max();
constexpr const char* stopped_text = "the pipeline was stopped: it takes no frames any more";

/// What a slot's memory is used for.
enum class slot_use {
  free,
  filling,  // its caller writes to it
  queued,
  running,
  ended,  // waits for those before it to be delivered
  kept,   // delivered to a ticket
};

struct slot_state {
  std::byte *inputs = nullptr, *outputs = nullptr;
  slot_use use = slot_use::free;
  bool ticket = false;  // somebody holds one
  bool silent = false;  // it was submitted: the callback is not called
  frame_status status = frame_status::delivered;
  std::size_t items = 0, device = 0;
  std::uint64_t sequence = 0, token = 0;
  int attempts = 0;
  bool alone = false;  // not with others: one of them failed, and by itself it is told which
  bool moved = false;  // its outputs do not lie beside its neighbours' any more
  frame_clock::time_point pushed, started, finished;
  frame_clock::time_point queued, submitted;  // where frames are traced
  char error[240] = "";

  void fail(const char* what) noexcept {
    status = frame_status::failed;
    std::strncpy(error, what, sizeof error - 1);
  }
};

/// A frame that is not delivered yet, or a run of them that were dropped and hold no slot.
struct record {
  std::uint64_t first, count;
  std::size_t slot;
};

/// A queue of bounded length, whose memory is there from the start.
template <class T>
class ring {
 public:
  void reserve(std::size_t n) { values_.resize(n); }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  T& operator[](std::size_t i) noexcept { return values_[place(i)]; }
  const T& operator[](std::size_t i) const noexcept { return values_[place(i)]; }
  T& front() noexcept { return (*this)[0]; }
  T& back() noexcept { return (*this)[size_ - 1]; }
  void push_back(const T& v) noexcept { insert(size_, v); }
  void pop_front() noexcept {
    first_ = place(1);
    size_--;
  }
  void pop_back() noexcept { size_--; }
  void clear() noexcept { size_ = 0; }
  void insert(std::size_t at, const T& v) noexcept {
    size_++;
    for (std::size_t i = size_ - 1; i > at; i--) (*this)[i] = (*this)[i - 1];
    (*this)[at] = v;
  }
  void erase(std::size_t at) noexcept {  // the part before it moves: most are near the front
    for (std::size_t i = at; i > 0; i--) (*this)[i] = (*this)[i - 1];
    pop_front();
  }

 private:
  std::size_t place(std::size_t i) const noexcept {
    const std::size_t at = first_ + i;
    return at < values_.size() ? at : at - values_.size();
  }
  std::vector<T> values_;
  std::size_t first_ = 0, size_ = 0;
};

/// What a lane works on: slots that lie side by side.
struct load {
  std::size_t first = none, count = 0;
};

/// A thread that drives lanes of one device.
struct worker {
  std::size_t device = 0;
  std::vector<std::unique_ptr<frame_lane>> lanes;
  std::vector<load> on;              // of each lane; none: it is idle
  std::vector<char> stuck;           // lanes that a fault makes hang
  std::vector<std::size_t> started;  // lanes in the order in which they were started
  std::uint64_t signals = 0;         // of lanes that are done
  bool over = false;                 // its device has failed
  bool hung = false;                 // and may still work
  std::thread thread;

  std::size_t idle_lane() const noexcept {
    std::size_t lane = 0;
    while (on[lane].first != none) lane++;
    return lane;
  }
  bool has_idle_lane() const noexcept { return started.size() < lanes.size(); }
  void release(std::size_t lane) noexcept {
    on[lane] = {};
    stuck[lane] = 0;
    started.erase(std::find(started.begin(), started.end(), lane));
  }
};

/// Groups under way of which a lane that is free waits for a full one: one is copied in and one worked on.
constexpr std::size_t enough_under_way = 2;

constexpr int most_batch = 64;

void relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

}  // namespace

struct pipeline_state : std::enable_shared_from_this<pipeline_state> {
  std::shared_ptr<const frame_receiver> chain;
  pipeline_config config;
  frame_callback on_frame;
  std::vector<std::string> descriptions;
  std::vector<std::unique_ptr<worker>> workers;
  std::vector<slot_state> slots;
  array<std::byte> inputs, outputs;  // of all slots, side by side
  array<std::byte> spare_outputs;
  std::shared_ptr<pipeline_state> left_to_device;  // itself
  std::size_t graphs = 0;
  std::mutex joining;  // of threads
  bool threads_run = false;

  // From here on under `mutex`. Vectors have their capacity from the start.
  mutable std::mutex mutex;
  std::condition_variable space, work;    // a slot is free; a frame is queued, a lane is done
  mutable std::condition_variable ended;  // frames were delivered
  ring<std::size_t> free, queue;
  std::size_t taken_last = 0;      // slot
  ring<record> records;            // in order of sequence
  std::vector<std::byte*> spares;  // memory for outputs
  std::vector<char> alive;         // of each device
  std::size_t devices_left = 0;
  std::uint64_t next = 0, through = 0;  // the next frame's sequence; all before were delivered
  bool delivering = false, stopping = false;
  pipeline_counters counts;
  pipeline_times times;
  std::uint64_t missed_now = 0;          // frames just delivered that were late, one behind the other
  std::unique_ptr<frame_tracer> tracer;  // none: frames are not traced
  std::string device_failure;
  // Looked at without it, by threads that spin.
  std::atomic<std::size_t> queued_now{0};
  std::atomic<std::uint64_t> space_changes{0};
  std::atomic<bool> stop_now{false};

  static thread_local const pipeline_state* inside_callback;

  using lock = std::unique_lock<std::mutex>;
  /// Threads that spin do so for the mutex too: whoever holds it needs it for less than a microsecond, and to
  /// be woken takes many.
  void take(lock& l) const {
    if (config.waiting == wait_policy::block) return l.lock();
    for (int n = 1; !l.try_lock(); n++) n % 4096 == 0 ? std::this_thread::yield() : relax();
  }
  lock hold() const {
    lock l(mutex, std::defer_lock);
    take(l);
    return l;
  }

  // ---- delivery

  frame_result result_of(std::size_t s) const {
    const slot_state& f = slots[s];
    frame_result r;
    r.sequence = f.sequence;
    r.status = f.status;
    r.error = f.error;
    r.items = f.items, r.slot = s, r.device = f.device;
    r.attempts = f.attempts, r.token = f.token;
    r.pushed = f.pushed, r.started = f.started, r.finished = f.finished;
    r.chain = chain.get();
    r.inputs = f.inputs, r.outputs = f.outputs;
    return r;
  }
  void call_back(lock& l, const frame_result& r) {
    if (!on_frame) return;
    l.unlock();
    const pipeline_state* const before = std::exchange(inside_callback, this);
    bool threw = false;
    try {
      on_frame(r);
    } catch (...) {
      threw = true;
    }
    inside_callback = before;
    take(l);
    counts.callback_errors += threw;
  }
  /// To those who wait for a slot. A thread that spins sees the count: waking a sleeper costs whoever drives
  /// a device microseconds of each small frame.
  void tell_of_space(bool all) {
    space_changes.fetch_add(1, std::memory_order_release);
    if (config.waiting == wait_policy::spin) return;
    all ? space.notify_all() : space.notify_one();
  }
  void wait_for_space(lock& l, frame_clock::time_point until) {
    if (config.waiting == wait_policy::block) {
      until == for_ever ? space.wait(l) : static_cast<void>(space.wait_until(l, until));
      return;
    }
    const std::uint64_t seen = space_changes.load(std::memory_order_acquire);
    l.unlock();
    for (int n = 1; space_changes.load(std::memory_order_acquire) == seen; n++) {
      n % 4096 == 0 ? std::this_thread::yield() : relax();
      if (n % 4096 == 0 && until != for_ever && frame_clock::now() >= until) break;
    }
    take(l);
  }
  void give_back(std::size_t s) {
    slots[s].use = slot_use::free;
    free.push_back(s);
    tell_of_space(false);
  }
  /// Delivers what is at the front and has ended. One thread at a time; what ends meanwhile it takes too.
  void deliver(lock& l) {
    if (delivering) return;
    delivering = true;
    while (!records.empty()) {
      const record r = records.front();
      if (r.slot == none) {
        records.pop_front();
        for (std::uint64_t i = 0; i < r.count; i++) {
          counts.dropped++;
          frame_result dropped;
          dropped.sequence = r.first + i;
          dropped.status = frame_status::dropped;
          call_back(l, dropped);
          through++;
        }
      } else {
        slot_state& f = slots[r.slot];
        if (f.use != slot_use::ended) break;
        records.pop_front();
        if (f.status == frame_status::delivered) {
          const auto now = frame_clock::now();
          const auto latency = now - f.pushed;
          if (tracer) tracer->delivered(r.slot, now);
          times.latency.add(latency);
          times.queued.add(f.started - f.pushed);
          times.device.add(f.finished - f.started);
          if (config.deadline.count() > 0 && latency > config.deadline) {
            times.missed++;
            times.missed_runs += missed_now++ == 0;
            times.longest_missed_run = std::max(times.longest_missed_run, missed_now);
          } else {
            missed_now = 0;
          }
        }
        (f.status == frame_status::delivered ? counts.delivered
         : f.status == frame_status::dropped ? counts.dropped
                                             : counts.failed)++;
        if (!f.silent) call_back(l, result_of(r.slot));
        through++;
        if (f.ticket)
          f.use = slot_use::kept;
        else
          give_back(r.slot);
      }
      ended.notify_all();
    }
    delivering = false;
    ended.notify_all();
  }

  // ---- the queue

  /// The queued frame at a place is dropped; its slot is free if it has no ticket.
  void drop(std::size_t at) {
    const std::size_t s = queue[at];
    queue.erase(at);
    queued_now.store(queue.size(), std::memory_order_relaxed);
    slot_state& f = slots[s];
    if (f.silent) {
      f.status = frame_status::dropped;
      f.use = slot_use::ended;
      return;
    }
    std::size_t r = 0;
    while (records[r].slot != s) r++;
    records[r].slot = none;
    const auto follows = [](const record& a, const record& b) {
      return a.slot == none && b.slot == none && a.first + a.count == b.first;
    };
    const auto join = [&](std::size_t i) {  // with the next one
      if (i + 1 >= records.size() || !follows(records[i], records[i + 1])) return;
      records[i + 1].first = records[i].first;
      records[i + 1].count += records[i].count;
      records.erase(i);
    };
    join(r);
    if (r > 0) join(r - 1);
    give_back(s);
  }
  /// The free slot that was used last, which is in the caches.
  std::size_t take_hot() {
    const std::size_t s = free.back();
    free.pop_back();
    return s;
  }
  /// The free slot that comes next behind the one that was taken last, as frames that lie side by side go
  /// together. One that comes back late, since somebody holds its ticket, is passed over this time; in a
  /// queue it would be out of its place from then on.
  std::size_t next_in_turn() {
    const auto behind = [&](std::size_t s) { return s + 1 < slots.size() ? s + 1 : 0; };
    do taken_last = behind(taken_last);
    while (slots[taken_last].use != slot_use::free);
    free.pop_back();  // how many there are is all that it tells here
    return taken_last;
  }
  /// none where there is none until then.
  std::size_t take_slot(lock& l, frame_clock::time_point until) {
    for (;;) {
      if (stopping) throw error(stopped_text);
      if (devices_left == 0) throw device_error("no device is left: " + device_failure);
      if (!free.empty()) {
        const std::size_t s = config.batch > 1 ? next_in_turn() : take_hot();
        slots[s].use = slot_use::filling;
        return s;
      }
      if (config.overflow == overflow_policy::drop_oldest) {
        std::size_t oldest = 0;
        while (oldest < queue.size() && slots[queue[oldest]].silent) oldest++;
        if (oldest < queue.size()) {
          drop(oldest);
          deliver(l);
          continue;
        }
      }
      if (inside_callback == this)
        throw error("no slot is free, and a callback cannot wait for one: it is what frees them");
      if (until != for_ever && frame_clock::now() >= until) return none;
      wait_for_space(l, until);
    }
  }
  /// Back to its place in the queue.
  void queue_again(std::size_t s) {
    slots[s].use = slot_use::queued;
    std::size_t behind = 0;
    while (behind < queue.size() && slots[queue[behind]].sequence < slots[s].sequence) behind++;
    queue.insert(behind, s);
    queued_now.store(queue.size(), std::memory_order_relaxed);
  }
  std::size_t most_of(const worker& w) const noexcept {
    return w.lanes.front()->queues() ? static_cast<std::size_t>(config.batch) : 1;
  }
  /// How many frames at the front of the queue a lane takes now: all that lie side by side, up to a group. 0
  /// where it waits for more of them.
  std::size_t ready_frames(const worker& w) const noexcept {
    if (queue.empty()) return 0;
    const std::size_t most = most_of(w);
    const auto alone = [&](const slot_state& f) {
      return f.alone || f.moved || f.items != config.most_items;
    };
    if (most == 1 || alone(slots[queue[0]])) return 1;
    std::size_t n = 1;
    while (n < most && n < queue.size() && queue[n] == queue[0] + n && !alone(slots[queue[n]])) n++;
    const bool more_may_come = n < most && n == queue.size() && queue[0] + n < slots.size();
    return more_may_come && w.started.size() >= enough_under_way && !stopping ? 0 : n;
  }
  load take_work(worker& w) {
    lock l = hold();
    w.over = !alive[w.device];
    if (w.over) return {};
    const std::size_t n = ready_frames(w);
    if (n == 0) return {};
    const std::size_t first = queue.front();
    counts.starts++;
    for (std::size_t s = first; s < first + n; s++) {
      queue.pop_front();
      slots[s].use = slot_use::running;
      slots[s].device = w.device;
    }
    queued_now.store(queue.size(), std::memory_order_relaxed);
    return {first, n};
  }

  // ---- threads of devices

  void fault(fault_moment moment, const worker& w, const slot_state& f) const {
    if (config.fault) config.fault({moment, w.device, f.sequence, f.attempts});
  }
  lane_frame frame_of(load what) const {
    const slot_state& f = slots[what.first];
    return {f.inputs, f.outputs, f.items, what.first, what.count};
  }
  /// Runs `call`, which is about the frame on a lane; false where it failed, and all that follows is done.
  template <class Call>
  bool guarded(worker& w, std::size_t lane, Call call) {
    const char* what = "an exception that is no std::exception";
    try {
      call();
      return true;
    } catch (const device_hang&) {
      w.stuck[lane] = 1;
      return true;
    } catch (const device_error& e) {
      fail_device(w, e.what());
      return false;
    } catch (const std::exception& e) {
      fail_frame(w, lane, e.what());
      return false;
    } catch (...) {
    }
    fail_frame(w, lane, what);
    return false;
  }
  /// Until when a device is waited for that has to let go of frames.
  frame_clock::time_point patience() const {
    const auto now = frame_clock::now();
    const bool bounded = config.timeout.count() > 0 && config.timeout < frame_lane::for_ever - now;
    return bounded ? now + config.timeout : frame_lane::for_ever;
  }
  void fail_frame(worker& w, std::size_t lane, const char* what) {
    if (!w.lanes[lane]->abandon(patience())) return fail_hung_device(w);
    const load on = w.on[lane];
    w.release(lane);
    lock l = hold();
    if (on.count > 1) {  // which one it was is not known: each runs again by itself
      for (std::size_t s = on.first; s < on.first + on.count; s++) {
        slots[s].alone = true;
        end_or_run_again(s, true, what);
      }
      work.notify_all();
    } else {
      end_or_run_again(on.first, false, what);
    }
    deliver(l);
  }
  void end_or_run_again(std::size_t s, bool again, const char* what) {
    if (again && !stopping) return queue_again(s);
    slots[s].fail(what);
    slots[s].finished = frame_clock::now();
    slots[s].use = slot_use::ended;
  }
  /// Whether a frame had been on the device for too long.
  bool overdue(const worker& w, frame_clock::time_point now) const {
    return config.timeout.count() > 0 && !w.started.empty() &&
           now - slots[w.on[w.started.front()].first].started > config.timeout;
  }
  void fail_hung_device(worker& w) {
    const std::string text = "a device that hangs: no answer for " +
                             decimal(std::chrono::duration<double>(config.timeout).count()) + " s";
    fail_device(w, text.c_str(), true);
  }
  void fail_device(worker& w, const char* what, bool hangs = false) {
    const auto until = patience();
    for (std::size_t i = 0; i < w.started.size() && !hangs; i++)
      hangs = !w.lanes[w.started[i]]->abandon(until);
    lock l = hold();
    w.hung = hangs;
    w.over = true;
    if (std::exchange(alive[w.device], char{0})) {
      devices_left--;
      counts.devices_failed++;
      device_failure = what;
    }
    for (const std::size_t lane : w.started) {
      const load on = w.on[lane];
      for (std::size_t s = on.first; s < on.first + on.count; s++) {
        slot_state& f = slots[s];
        if (hangs && !spares.empty()) {  // what still comes from the device goes where nobody looks
          f.outputs = spares.back();
          f.moved = true;
          spares.pop_back();
        }
        f.attempts++;
        const bool again = devices_left != 0 && f.attempts <= config.retries && !stopping;
        counts.rerun += again;
        end_or_run_again(s, again, what);
      }
      w.on[lane] = {};
    }
    w.started.clear();
    if (devices_left == 0) {
      for (std::size_t i = 0; i < queue.size(); i++) {
        const std::size_t s = queue[i];
        slots[s].fail(what);
        slots[s].started = slots[s].finished = frame_clock::now();
        slots[s].use = slot_use::ended;
      }
      queue.clear();
      queued_now.store(0, std::memory_order_relaxed);
    }
    work.notify_all();
    tell_of_space(true);
    deliver(l);
  }
  void fault(fault_moment moment, const worker& w, load what) const {
    if (!config.fault) return;
    for (std::size_t s = what.first; s < what.first + what.count; s++) fault(moment, w, slots[s]);
  }
  /// A CPU has worked when start() returns: nothing was submitted there.
  void note_submitted(const worker& w, load what, frame_clock::time_point started) {
    const auto now = w.lanes.front()->queues() ? frame_clock::now() : started;
    for (std::size_t s = what.first; s < what.first + what.count; s++) slots[s].submitted = now;
  }
  /// Frames that a lane is done with. The device is asked for its times when they are delivered, if nothing
  /// is in their way: it is not on their time.
  void deliver_traced(const worker& w, frame_lane& lane, load what, lock& l) {
    const bool tells = lane.queues();
    std::array<std::uint64_t, most_batch> sequences{};
    for (std::size_t i = 0; i < what.count; i++) {
      const slot_state& f = slots[what.first + i];
      sequences[i] = f.sequence;
      tracer->ended(what.first + i,
                    {f.sequence, w.device, f.pushed, f.queued, f.started, f.submitted, f.finished, {}, {}},
                    tells);
    }
    deliver(l);
    if (!tells) return;
    l.unlock();
    lane_times on_device;
    try {
      on_device = lane.times();
    } catch (const device_error&) {  // is met again when the device is asked for the next frame
    }
    take(l);
    for (std::size_t i = 0; i < what.count; i++) tracer->device_told(what.first + i, sequences[i], on_device);
  }
  void begin(worker& w, load what) {
    const std::size_t lane = w.idle_lane();
    w.on[lane] = what;
    w.started.push_back(lane);
    const auto now = frame_clock::now();
    for (std::size_t s = what.first; s < what.first + what.count; s++) slots[s].started = now;
    guarded(w, lane, [&] {
      fault(fault_moment::start, w, what);
      w.lanes[lane]->start(frame_of(what));
      if (tracer) note_submitted(w, what, now);
      fault(fault_moment::started, w, what);
    });
  }
  /// Whether a lane was done, or failed.
  bool finish_one(worker& w) {
    // The time before lanes are asked: a thread that was stopped in between takes none for late that is done.
    const auto asked = config.timeout.count() > 0 ? frame_clock::now() : frame_clock::time_point{};
    for (const std::size_t lane : w.started) {
      if (w.stuck[lane] != 0) continue;
      const load on = w.on[lane];
      bool done = false;
      const bool fine = guarded(w, lane, [&] {
        done = w.lanes[lane]->done();
        if (done) fault(fault_moment::done, w, on);
      });
      if (!fine) return true;
      if (!done || w.stuck[lane] != 0) continue;
      const auto now = frame_clock::now();
      w.release(lane);
      lock l = hold();
      for (std::size_t s = on.first; s < on.first + on.count; s++) {
        slots[s].finished = now;
        slots[s].status = frame_status::delivered;
        slots[s].use = slot_use::ended;
      }
      if (tracer)
        deliver_traced(w, *w.lanes[lane], on, l);
      else
        deliver(l);
      return true;
    }
    if (!overdue(w, asked)) return false;
    fail_hung_device(w);
    return true;
  }
  /// Whether it is worth a look at the queue, from outside the mutex.
  bool may_take(const worker& w) const noexcept {
    const std::size_t waiting = queued_now.load(std::memory_order_relaxed);
    return waiting != 0 && (waiting >= most_of(w) || w.started.size() < enough_under_way ||
                            stop_now.load(std::memory_order_relaxed));
  }
  void drive(worker& w) {
    guarded_entry(w);
    std::chrono::nanoseconds asked_every = std::chrono::milliseconds(20);
    if (config.timeout.count() > 0) asked_every = std::min(asked_every, config.timeout);
    for (;;) {
      std::uint64_t seen = 0;
      if (config.waiting == wait_policy::block) {
        lock l = hold();
        seen = w.signals;
      }
      bool moved = false;
      while (w.has_idle_lane()) {
        if (config.waiting == wait_policy::spin && !may_take(w)) break;
        const load what = take_work(w);
        if (what.first == none) break;
        begin(w, what);
        moved = true;
        if (!w.lanes.front()->queues()) break;
      }
      while (finish_one(w)) moved = true;
      if (moved) continue;
      if (w.over && w.started.empty()) return;
      if (config.waiting == wait_policy::spin) {
        if (stop_now.load(std::memory_order_acquire) && w.started.empty()) return;
        relax();
        continue;
      }
      lock l = hold();
      if (stopping && w.started.empty()) return;
      const auto ready = [&] {
        return w.signals != seen || (stopping && w.started.empty()) ||
               (w.has_idle_lane() && alive[w.device] && ready_frames(w) != 0);
      };
      // A device that failed signals nothing: it is asked now and then.
      if (w.started.empty())
        work.wait(l, ready);
      else
        work.wait_for(l, asked_every, ready);
    }
  }

  /// Makes the lanes ready for this thread; where that fails, so has the device.
  void guarded_entry(worker& w) {
    try {
      for (auto& lane : w.lanes) lane->enter();
    } catch (const std::exception& e) {
      fail_device(w, e.what());
    }
  }

  // ---- start and stop

  void check() const {
    if (!chain) throw argument_error("chain", "null", "a chain");
    const auto &in = chain->inputs(), &out = chain->outputs();
    check_range("devices", static_cast<long long>(config.devices.size()), 1, 64);
    check_range("streams", config.streams, 1, 64);
    check_range("queue", static_cast<long long>(std::min<std::size_t>(config.queue, 1 << 30)), 1, 65536);
    check_range("parts", config.parts, 1, 64);
    check_range("batch", config.batch, 1, most_batch);
    check_range("trace", static_cast<long long>(std::min<std::size_t>(config.trace, 1 << 30)), 0, 100'000);
    check_range("retries", config.retries, 0, 64);
    if (config.batch > 1 && config.parts > 1)
      throw argument_error("batch", std::to_string(config.batch), "1 with parts above 1");
    if (config.timeout.count() < 0)
      throw argument_error("timeout", std::to_string(config.timeout.count()) + " ns", "0 or more");
    if (config.deadline.count() < 0)
      throw argument_error("deadline", std::to_string(config.deadline.count()) + " ns", "0 or more");
    if (in.size() > frame_arrays::most || out.size() > frame_arrays::most)
      throw argument_error("chain", chain->name(), "one with at most 8 arrays in and 8 out");
    check_items("most_items", config.most_items);
    if (config.graphs && config.parts != 1)
      throw argument_error("graphs", "true", "false with parts above 1");
    for (const std::size_t items : config.graph_items) {
      check_items("graph_items", items);
      if (config.parts != 1)
        throw argument_error("graph_items", std::to_string(items), "none with parts above 1");
    }
  }
  void check_items(const char* argument, std::size_t items) const {
    wb::check_items(*chain, argument, items, config.most_items);
  }
  std::vector<std::unique_ptr<frame_lane>> lanes_on(const std::string& device) const {
    try {
      return make_lanes(
          *chain, {device, config.threads, config.most_items, config.parts, config.batch, config.trace != 0},
          static_cast<std::size_t>(config.streams));
    } catch (const argument_error& e) {
      if (e.argument() != "device") throw;
      throw argument_error("devices", e.value(), e.allowed());
    }
  }
  void open() {
    const std::size_t streams = static_cast<std::size_t>(config.streams);
    alive.assign(config.devices.size(), 1);
    devices_left = config.devices.size();
    executor* pinned = nullptr;
    for (std::size_t d = 0; d < config.devices.size(); d++) {
      auto lanes = lanes_on(config.devices[d]);
      for (std::size_t s = 0; s < streams; s++) {
        auto lane = std::move(lanes[s]);
        if (s == 0) descriptions.push_back(lane->where().description());
        if (s == 0 || !lane->queues()) {  // a lane that does not queue needs a thread for itself
          workers.push_back(std::make_unique<worker>());
          workers.back()->device = d;
        }
        worker& w = *workers.back();
        if (lane->queues()) {
          if (pinned == nullptr) pinned = &lane->where();
          if (config.waiting == wait_policy::block)
            lane->notify([this, &w] {
              lock l = hold();
              w.signals++;
              work.notify_all();
            });
        }
        w.lanes.push_back(std::move(lane));
        w.on.push_back({});
        w.stuck.push_back(0);
        w.started.reserve(streams);
      }
    }
    executor& where = pinned != nullptr ? *pinned : workers.front()->lanes.front()->where();
    const std::size_t in = offset_of(chain->inputs(), chain->inputs().size(), config.most_items),
                      out = offset_of(chain->outputs(), chain->outputs().size(), config.most_items);
    std::size_t under_way = 0, under_way_cuda = 0;  // frames, at most
    for (auto& w : workers) {
      under_way += w->lanes.size() * most_of(*w);
      if (w->lanes.front()->queues()) under_way_cuda += w->lanes.size() * most_of(*w);
    }
    slots = std::vector<slot_state>(config.queue + under_way);
    inputs = where.make_host<std::byte>(in, slots.size());
    outputs = where.make_host<std::byte>(out, slots.size());
    std::memset(inputs.data(), 0, inputs.bytes());
    std::memset(outputs.data(), 0, outputs.bytes());
    for (std::size_t s = 0; s < slots.size(); s++)
      slots[s].inputs = inputs.data() + s * in, slots[s].outputs = outputs.data() + s * out;
    if (config.timeout.count() > 0) {
      const std::size_t n = config.fault ? under_way : under_way_cuda;
      spare_outputs = where.make_host<std::byte>(out, n);
      for (std::size_t s = 0; s < n; s++) spares.push_back(spare_outputs.data() + s * out);
    }
    free.reserve(slots.size());
    for (std::size_t s = slots.size(); s > 0; s--) free.push_back(s - 1);
    taken_last = slots.size() - 1;
    queue.reserve(slots.size() + 1);
    records.reserve(2 * slots.size() + 2);  // frames with a slot, and runs of dropped ones between them
    if (config.trace != 0)
      tracer = std::make_unique<frame_tracer>(config.trace, slots.size(), config.devices.size());
    std::vector<lane_frame> recorded;
    for (const std::size_t items : config.graph_items)
      for (std::size_t s = 0; s < slots.size(); s++)
        recorded.push_back({slots[s].inputs, slots[s].outputs, items, s});
    for (auto& w : workers)
      for (auto& lane : w->lanes) lane->prepare(recorded);
    for (auto& w : workers)
      for (auto& lane : w->lanes) graphs += lane->graphs();
    device_failure.reserve(1024);
    threads_run = true;
    for (auto& w : workers) w->thread = start_thread([this, &w = *w] { drive(w); });
  }
  void close() {
    lock l = hold();
    stopping = true;
    stop_now.store(true, std::memory_order_release);
    while (!queue.empty()) drop(0);
    work.notify_all();
    tell_of_space(true);
    deliver(l);
  }
  void stop() {
    if (inside_callback == this) throw error("a callback cannot stop its pipeline: it would wait for itself");
    close();
    std::lock_guard join(joining);
    if (std::exchange(threads_run, false)) {
      for (auto& w : workers)
        if (w->thread.joinable()) w->thread.join();
    }
    {
      lock l = hold();
      ended.wait(l, [this] { return records.empty() && !delivering; });
    }
    // Without the mutex: lanes wait for notifications that are still to come and take it.
    bool hangs = false;
    for (auto& w : workers)
      for (auto& lane : w->lanes)
        if (w->hung ? !lane->idle() : !lane->abandon(patience())) hangs = true;
    // Nothing can be freed that a device which hangs may still use, its notifications use this object, and
    // each call that frees would wait for it: all of it stays, for good.
    if (hangs) {
      left_to_device = shared_from_this();
    } else {
      workers.clear();
      left_to_device.reset();  // the caller holds this object
    }
  }
  ~pipeline_state() { workers.clear(); }
};

thread_local const pipeline_state* pipeline_state::inside_callback = nullptr;

// ---- slots and tickets

frame_slot& frame_slot::operator=(frame_slot&& o) noexcept {
  std::swap(state_, o.state_);
  std::swap(chain_, o.chain_);
  std::swap(inputs_, o.inputs_);
  std::swap(index_, o.index_);
  std::swap(items_, o.items_);
  return *this;
}
frame_slot::~frame_slot() {
  if (!state_) return;
  const pipeline_state::lock l = state_->hold();
  state_->give_back(index_);
}

frame_ticket& frame_ticket::operator=(frame_ticket&& o) noexcept {
  std::swap(state_, o.state_);
  std::swap(index_, o.index_);
  std::swap(sequence_, o.sequence_);
  return *this;
}
frame_ticket::~frame_ticket() {
  if (!state_) return;
  const pipeline_state::lock l = state_->hold();
  slot_state& f = state_->slots[index_];
  f.ticket = false;
  if (f.use == slot_use::kept) state_->give_back(index_);
}
bool frame_ticket::ready() const {
  if (!state_) return false;
  const pipeline_state::lock l = state_->hold();
  return state_->slots[index_].use == slot_use::kept;
}
frame_result frame_ticket::wait() const {
  if (!state_) throw error("this ticket belongs to no frame");
  pipeline_state::lock l = state_->hold();
  slot_state& f = state_->slots[index_];
  if (f.use != slot_use::kept && pipeline_state::inside_callback == state_.get())
    throw error("a callback cannot wait for a frame: frames are delivered one after the other");
  state_->ended.wait(l, [&] { return f.use == slot_use::kept; });
  return state_->result_of(index_);
}

// ---- the pipeline

frame_pipeline::frame_pipeline(std::shared_ptr<const frame_receiver> chain, pipeline_config config,
                               frame_callback on_frame)
    : state_(std::make_shared<pipeline_state>()) {
  state_->chain = std::move(chain);
  state_->config = std::move(config);
  state_->on_frame = std::move(on_frame);
  state_->check();
  if (state_->config.graphs) state_->config.graph_items.push_back(state_->config.most_items);
  try {
    state_->open();
  } catch (...) {
    state_->stop();  // threads that have begun
    throw;
  }
}
frame_pipeline::~frame_pipeline() { state_->stop(); }

frame_slot frame_pipeline::acquire(std::size_t items) { return *acquire(items, for_ever); }
std::optional<frame_slot> frame_pipeline::acquire(std::size_t items, frame_clock::time_point until) {
  state_->check_items("items", items);
  pipeline_state::lock l = state_->hold();
  const std::size_t s = state_->take_slot(l, until);
  l.unlock();
  if (s == none) return std::nullopt;
  frame_slot slot;
  slot.state_ = state_;
  slot.chain_ = state_->chain.get();
  slot.inputs_ = state_->slots[s].inputs;
  slot.index_ = s, slot.items_ = items;
  return slot;
}

namespace {
std::uint64_t queue_frame(pipeline_state& p, std::size_t s, std::size_t items, bool ticket,
                          std::uint64_t token, frame_clock::time_point since) {
  const auto now = since == frame_clock::time_point{} ? frame_clock::now() : since;
  pipeline_state::lock l = p.hold();
  if (p.stopping) throw error(stopped_text);
  if (p.devices_left == 0) throw device_error("no device is left: " + p.device_failure);
  slot_state& f = p.slots[s];
  f.use = slot_use::queued;
  f.ticket = f.silent = ticket;
  f.status = frame_status::delivered;
  f.error[0] = '\0';
  f.items = items;
  f.sequence = p.next++;
  f.token = token;
  f.attempts = 0;
  f.alone = false;
  f.pushed = f.started = f.finished = now;
  if (p.tracer) f.queued = frame_clock::now();
  p.counts.waiting_sum += p.queue.size();
  p.queue.push_back(s);
  p.counts.most_waiting = std::max(p.counts.most_waiting, p.queue.size());
  p.records.push_back({f.sequence, 1, s});
  p.counts.pushed++;
  p.queued_now.store(p.queue.size(), std::memory_order_relaxed);
  const std::uint64_t sequence = f.sequence;
  const bool sleeps = p.config.waiting == wait_policy::block;
  l.unlock();
  if (sleeps) p.work.notify_all();
  return sequence;
}
}  // namespace

std::uint64_t frame_pipeline::push(frame_slot slot, std::uint64_t token, frame_clock::time_point since) {
  if (slot.state_ != state_)
    throw argument_error("slot", "of no or another pipeline", "one that acquire gave");
  const std::uint64_t sequence = queue_frame(*state_, slot.index_, slot.items_, false, token, since);
  slot.state_.reset();
  return sequence;
}
frame_ticket frame_pipeline::submit(frame_slot slot, std::uint64_t token, frame_clock::time_point since) {
  if (slot.state_ != state_)
    throw argument_error("slot", "of no or another pipeline", "one that acquire gave");
  frame_ticket ticket;
  ticket.sequence_ = queue_frame(*state_, slot.index_, slot.items_, true, token, since);
  ticket.index_ = slot.index_;
  ticket.state_ = std::move(slot.state_);
  return ticket;
}
std::uint64_t frame_pipeline::push(std::size_t items, const std::vector<const void*>& arrays,
                                   std::uint64_t token) {
  const std::vector<frame_port>& ports = state_->chain->inputs();
  if (arrays.size() != ports.size())
    throw argument_error("arrays", std::to_string(arrays.size()), std::to_string(ports.size()));
  for (std::size_t i = 0; i < ports.size(); i++)
    if (arrays[i] == nullptr)
      throw argument_error("arrays", "null for " + ports[i].name, "an array for each input");
  const auto since = frame_clock::now();
  frame_slot slot = acquire(items);
  for (std::size_t i = 0; i < ports.size(); i++)
    std::memcpy(slot.bytes(i), arrays[i], ports[i].bytes_of(items));
  return push(std::move(slot), token, since);
}

void frame_pipeline::drain() {
  if (pipeline_state::inside_callback == state_.get())
    throw error("a callback cannot drain its pipeline: it would wait for itself");
  pipeline_state::lock l = state_->hold();
  const std::uint64_t all = state_->next;
  state_->ended.wait(l, [&] { return state_->through >= all; });
}
void frame_pipeline::close() { state_->close(); }
void frame_pipeline::stop() { state_->stop(); }

pipeline_counters frame_pipeline::counters() const {
  const pipeline_state::lock l = state_->hold();
  pipeline_counters c = state_->counts;
  c.waiting = state_->queue.size();
  c.missed = state_->times.missed;
  return c;
}
pipeline_times frame_pipeline::times() const {
  const pipeline_state::lock l = state_->hold();
  return state_->times;
}
void frame_pipeline::reset_times() {
  const pipeline_state::lock l = state_->hold();
  state_->times = {};
  state_->missed_now = 0;
  state_->counts.most_waiting = state_->queue.size();
  if (state_->tracer) state_->tracer->reset();
}
stream_trace frame_pipeline::trace() const {
  if (!state_->tracer) return {};
  const pipeline_state::lock l = state_->hold();
  return state_->tracer->result();
}
std::size_t frame_pipeline::slots() const noexcept { return state_->slots.size(); }
const std::vector<std::string>& frame_pipeline::descriptions() const noexcept { return state_->descriptions; }
std::size_t frame_pipeline::graphs() const noexcept { return state_->graphs; }

}  // namespace wb
