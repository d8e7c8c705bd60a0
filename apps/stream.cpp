// `warpband stream`: frames at a rate, or as fast as they are taken, through a pipeline of devices.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <warpband/core/error.hpp>
#include <warpband/core/printable.hpp>
#include <warpband/core/status.hpp>
#include <warpband/exec/cpu.hpp>
#include <warpband/exec/energy.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/exec/start_thread.hpp>
#include <warpband/io/json_lines.hpp>
#include <warpband/io/replacement.hpp>
#include <warpband/link/result.hpp>
#include <warpband/stream/measure.hpp>

#include "command.hpp"
#include "stream_output.hpp"
#include "stream_runs.hpp"
#include "stream_source.hpp"

namespace {

using json = nlohmann::ordered_json;
using wb::frame_clock;

struct stream_options {
  std::string scenario, json, devices, output;
  std::optional<std::uint64_t> frames;
  std::optional<double> seconds;
  std::optional<int> threads;
  bool quiet = false, help_scenario = false, force = false, energy = false;
};

double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double pages = 0, resident = 0;
  file >> pages >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

/// How many uses, vectors, codewords, slots or WiMAX frames of a frame were erased.
std::uint64_t erased_in(const wb::frame_result& r, std::size_t status) {
  const wb::view<const std::uint8_t> codes = r.output<std::uint8_t>(status);
  // Most frames have none, and those behind wait for this: memcmp is faster than the count.
  if (codes.items == 0 ||
      (codes.data[0] == 0 && std::memcmp(codes.data, codes.data + 1, codes.items - 1) == 0))
    return 0;
  return wb::count_erased(std::span(codes.data, codes.items));
}
/// Which output is the status of items; nothing where there is none.
std::optional<std::size_t> status_of(const wb::frame_receiver& chain) {
  for (std::size_t i = 0; i < chain.outputs().size(); i++)
    if (chain.outputs()[i].name == "status") return i;
  return {};
}

/// Compares frames with what they gave the first time, on a thread of its own.
class checker {
 public:
  checker(const wb::frame_receiver& chain, const stream_source& source)
      : chain_(chain),
        source_(source),
        status_(status_of(chain)),
        first_(source.frames()),
        thread_(wb::start_thread([this] { work(); })) {}
  ~checker() { finish(); }
  /// `counts`: those of its items that were erased are.
  void take(wb::frame_ticket ticket, std::size_t frame, bool counts) {
    {
      std::lock_guard l(mutex_);
      waiting_.push_back({std::move(ticket), frame, counts});
    }
    some_.notify_one();
  }
  bool busy() {
    std::lock_guard l(mutex_);
    return !waiting_.empty();
  }
  /// Waits until all that was taken is compared, and its slots are free.
  void drain() {
    std::unique_lock l(mutex_);
    idle_.wait(l, [this] { return waiting_.empty() && !looking_; });
  }
  void finish() {
    {
      std::lock_guard l(mutex_);
      end_ = true;
    }
    some_.notify_one();
    if (thread_.joinable()) thread_.join();
  }
  /// Of generated frames, once each.
  struct decided {
    std::uint64_t blocks = 0, block_errors = 0, bits = 0, bit_errors = 0;
  };
  // After finish():
  std::uint64_t compared = 0, different = 0, erased = 0;
  std::vector<decided> bursts;  // of chains that decide bits; of one, but for WiMAX frames

 private:
  struct taken {
    wb::frame_ticket ticket;
    std::size_t frame = 0;
    bool counts = false;
  };
  void work() {
    for (;;) {
      taken next;
      {
        std::unique_lock l(mutex_);
        looking_ = false;
        idle_.notify_all();
        some_.wait(l, [this] { return end_ || !waiting_.empty(); });
        if (waiting_.empty()) return;
        next = std::move(waiting_.front());
        waiting_.erase(waiting_.begin());
        looking_ = true;
      }
      look(next.ticket.wait(), next.frame, next.counts);
    }
  }
  void look(const wb::frame_result& r, std::size_t frame, bool counts) {
    if (r.status != wb::frame_status::delivered) return;
    if (counts && status_) erased += erased_in(r, *status_);
    std::vector<std::byte> outputs;
    for (std::size_t i = 0; i < chain_.outputs().size(); i++) {
      const std::byte* a = r.outputs + wb::offset_of(chain_.outputs(), i, r.items);
      outputs.insert(outputs.end(), a, a + chain_.outputs()[i].bytes_of(r.items));
    }
    std::vector<std::byte>& first = first_[frame];
    if (first.empty()) {
      first = std::move(outputs);
      if (!source_.sent(frame).empty()) count_errors(first, source_.sent(frame), r.items);
      return;
    }
    compared++;
    different += outputs != first;
  }
  /// Of what was decided, in outputs that begin with "bits".
  void count_errors(const std::vector<std::byte>& outputs, const std::vector<std::uint8_t>& sent,
                    std::size_t items) {
    std::size_t o = 0, output = 0, known = 0;
    for (const wb::frame_port& p : chain_.outputs()) {
      if (!p.name.starts_with("bits")) continue;
      if (bursts.size() == o) bursts.emplace_back();
      decided& d = bursts[o++];
      for (std::size_t b = 0; b < p.rows_of(items); b++, output += p.elements, known += p.elements) {
        std::uint64_t wrong = 0;
        for (std::size_t i = 0; i < p.elements; i++)
          wrong += std::to_integer<std::uint8_t>(outputs[output + i]) != sent[known + i];
        d.blocks++, d.block_errors += wrong != 0;
        d.bits += p.elements, d.bit_errors += wrong;
      }
    }
  }
  const wb::frame_receiver& chain_;
  const stream_source& source_;
  std::optional<std::size_t> status_;
  bool end_ = false, looking_ = false;
  std::vector<std::vector<std::byte>> first_;
  std::mutex mutex_;
  std::condition_variable some_, idle_;
  std::vector<taken> waiting_;
  std::thread thread_;
};

json times_json(const wb::latency_histogram& h) {
  return {{"mean", h.mean_us()},
          {"p50", h.percentile_us(50)},
          {"p99", h.percentile_us(99)},
          {"p99.9", h.percentile_us(99.9)},
          {"max", h.max_us()}};
}

/// Memory of this process and of the devices, looked at by a thread of its own: every second that of the
/// process; that of the devices, which takes them a millisecond, every minute.
class memory_watch {
 public:
  explicit memory_watch(const std::vector<std::string>& devices) {
    samples_.reserve(2'000);
    try {
      for (const std::string& d : devices)
        if (d != "cpu") devices_.push_back(wb::open_executor(d));
      look(true);
    } catch (const wb::device_error&) {  // of a device that failed there is nothing to tell
      devices_.clear();
      look(true);
    }
    thread_ = wb::start_thread([this] { work(); });
  }
  ~memory_watch() { finish(); }
  /// Looks for the last time.
  void finish() {
    {
      std::lock_guard l(mutex_);
      if (std::exchange(end_, true)) return;
    }
    wake_.notify_one();
    thread_.join();
    try {
      look(true);
    } catch (const wb::device_error&) {  // as above
    }
  }
  json host() const { return host_.to_json(); }
  json device() const { return device_.to_json(); }
  /// [seconds, bytes of the process, bytes of the devices], about one a minute.
  json samples() const {
    json list = json::array();
    for (const sample& s : samples_) list.push_back({s.seconds, s.host, s.device});
    return list;
  }

 private:
  struct sample {
    double seconds, host, device;
  };
  struct extent {
    std::optional<double> first = {};
    double last = 0, greatest = 0;
    void add(double bytes) {
      if (!first) first = bytes;
      last = bytes, greatest = std::max(greatest, bytes);
    }
    json to_json() const { return {{"first", *first}, {"last", last}, {"most", greatest}}; }
  };
  void look(bool devices) {
    const double host = resident_bytes();
    host_.add(host);
    if (!devices) return;
    double used = 0;
    for (const auto& d : devices_) used += static_cast<double>(d->memory_used());
    device_.add(used);
    samples_.push_back({std::chrono::duration<double>(frame_clock::now() - start_).count(), host, used});
  }
  void work() {
    for (std::uint64_t n = 1;; n++) {
      {
        std::unique_lock l(mutex_);
        if (wake_.wait_for(l, std::chrono::seconds(1), [this] { return end_; })) return;
      }
      try {
        look(n % 60 == 0);
      } catch (const wb::device_error&) {
        return;
      }
    }
  }
  std::vector<std::unique_ptr<wb::executor>> devices_;
  frame_clock::time_point start_ = frame_clock::now();
  std::vector<sample> samples_;
  extent host_, device_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool end_ = false;
  std::thread thread_;
};

constexpr const char* row_format = "{:<34} {:>10} {:>10} {:>9} {:>9} {:>9} {:>9} {:>8} {:>7} {:>7} {:>7}\n";

/// Waits for a time, or for an interrupt: awake, or asleep as long as it is far.
void wait_until(frame_clock::time_point due, bool sleeps) {
  constexpr auto awake = std::chrono::microseconds(150), nap = std::chrono::microseconds(50'000);
  for (auto time = frame_clock::now(); time < due && !interrupted(); time = frame_clock::now())
    if (sleeps && due - time > 2 * awake)
      std::this_thread::sleep_for(std::min<frame_clock::duration>(due - time - awake, nap));
}

/// Counters of the devices of all runs, opened once, before the first run.
using energy_counters = std::map<std::string, std::unique_ptr<wb::energy_counter>>;

/// Throws device_error where a device has none.
energy_counters open_energy_counters(const std::vector<stream_run>& runs) {
  energy_counters counters;
  for (const stream_run& r : runs)
    for (const std::string& d : r.devices)
      if (auto& c = counters[d]; !c) c = wb::open_energy_counter(*wb::open_executor(d, 1));
  return counters;
}

/// The energy of a run's devices, each counted once.
class energy_watch {
 public:
  /// Measures what the devices take for five seconds without frames.
  energy_watch(const energy_counters& counters, const std::vector<std::string>& devices) {
    for (const std::string& d : std::set<std::string>(devices.begin(), devices.end())) {
      counters_.push_back(counters.at(d).get());
      sources_[d] = counters_.back()->source();
    }
    wait_until(frame_clock::now() + std::chrono::seconds(5),
               true);  // after work clocks stay high for a while
    start();
    wait_until(start_ + std::chrono::seconds(5), true);
    idle_watts_ = joules() / elapsed();
  }
  void start() {
    before_ = 0;
    before_ = joules();
    start_ = frame_clock::now();
  }
  /// Since start(). Call it at least once a minute.
  double joules() {
    double sum = -before_;
    for (const auto& c : counters_) sum += c->joules();
    return sum;
  }
  void stop() {
    seconds_ = elapsed();
    joules_ = joules();
  }
  json result(double bits) const {
    json r{{"sources", sources_}, {"seconds", seconds_}, {"joules", joules_}, {"idle_watts", idle_watts_}};
    if (seconds_ >= 5 && bits > 0) r["nanojoules_per_bit"] = (joules_ - idle_watts_ * seconds_) / bits * 1e9;
    return r;
  }

 private:
  double elapsed() const { return std::chrono::duration<double>(frame_clock::now() - start_).count(); }

  std::vector<wb::energy_counter*> counters_;
  json sources_;
  double before_ = 0, idle_watts_ = 0, seconds_ = 0, joules_ = 0;
  frame_clock::time_point start_;
};

/// The time of a frame in the middle one of many short times of a run: what goes on outside of this process
/// for some of them does not count.
class pace {
 public:
  explicit pace(frame_clock::time_point start) : since_(start) { windows_.reserve(100'000); }
  bool due(frame_clock::time_point time) const { return time - since_ >= std::chrono::milliseconds(20); }
  /// So many were delivered by now, since the start. When due.
  void look(frame_clock::time_point time, std::uint64_t frames) {
    if (frames == before_) return;
    if (windows_.size() < windows_.capacity())
      windows_.push_back(std::chrono::duration<double, std::micro>(time - since_).count() /
                         static_cast<double>(frames - before_));
    since_ = time, before_ = frames;
  }
  std::optional<double> median() {
    if (windows_.size() < 5) return {};
    const auto middle = windows_.begin() + static_cast<std::ptrdiff_t>(windows_.size() / 2);
    std::nth_element(windows_.begin(), middle, windows_.end());
    return *middle;
  }

 private:
  frame_clock::time_point since_;
  std::uint64_t before_ = 0;
  std::vector<double> windows_;
};

/// Copies of a frame's bytes to a device and nothing else, by the clock that frames are timed by: what the
/// machine adds to any of them.
class bare_copies {
 public:
  bare_copies(const std::string& device, std::size_t bytes)
      : exec_(wb::open_executor(device)),
        from_(exec_->make_host<std::byte>(frames, bytes)),
        to_(exec_->make<std::byte>(1, bytes)) {
    std::memset(from_.data(), 0, from_.bytes());
    copy(frame_clock::now());  // the first one takes longer
    times_ = {};
  }
  /// Before a copy is due: a thread that has not called CUDA for long finds its code in no cache.
  void wake() {
    exec_->upload(to_.data(), from_.data(), 256);
    exec_->sync();
  }
  /// One that is due now. Waits for it, awake.
  void copy(frame_clock::time_point due) {
    const std::size_t bytes = to_.bytes();
    exec_->upload(to_.data(), from_.data() + next_++ % frames * bytes, bytes);
    while (!exec_->idle() && !interrupted()) continue;
    times_.add(frame_clock::now() - due);
  }
  const wb::latency_histogram& times() const { return times_; }
  std::size_t bytes() const { return to_.bytes(); }

 private:
  static constexpr std::size_t frames = 8;  // as those of a pipeline: not the same memory each time
  std::unique_ptr<wb::executor> exec_;
  wb::array<std::byte> from_, to_;
  std::size_t next_ = 0;
  wb::latency_histogram times_;
};

/// Where frames lost their time.
json trace_json(const wb::stream_trace& trace, const wb::trace_tail& tail, frame_clock::time_point start,
                std::uint64_t first) {
  const auto by_place = [](const auto& value_of) {
    json object;
    for (std::size_t p = 0; p < wb::frame_places; p++)
      object[wb::name_of(static_cast<wb::frame_place>(p))] = value_of(p);
    return object;
  };
  json slowest = json::array();
  for (const wb::traced_frame& f : trace.slowest) {
    const wb::lane_times& on_device = f.times.on_device;
    json frame{{"frame", f.times.sequence - first},
               {"device", f.times.device},
               {"seconds", std::chrono::duration<double>(f.times.due - start).count()},
               {"latency_us", f.latency_us},
               {"places_us", by_place([&](std::size_t p) { return f.places_us[p]; })}};
    if (on_device.uploaded != wb::lane_times::no_time)
      frame["upload_us"] = on_device.uploaded - on_device.upload_begun;
    slowest.push_back(frame);
  }
  return {{"frames", trace.frames},
          {"places_us", by_place([&](std::size_t p) { return times_json(trace.places[p]); })},
          {"tail",
           {{"frames", trace.slowest.size()},
            {"from_us", tail.from_us},
            {"runs", tail.runs},
            {"longest_run", tail.longest_run},
            {"excess_us", by_place([&](std::size_t p) { return tail.excess_us[p]; })},
            {"share", by_place([&](std::size_t p) { return tail.share[p]; })}}},
          {"slowest", slowest}};
}
std::string trace_text(const wb::stream_trace& trace, const wb::trace_tail& tail) {
  const double excess = std::accumulate(tail.excess_us.begin(), tail.excess_us.end(), 0.0);
  std::string text = fmt::format(
      "  the slowest {}, from {:.1f} us on, in {} runs: {:.1f} us above the medians:", trace.slowest.size(),
      tail.from_us, tail.runs, excess);
  for (std::size_t p = 0; p < wb::frame_places; p++)
    if (tail.share[p] >= 0.01)
      text += fmt::format("{} {} {:.0f} %", text.ends_with(':') ? "" : ",",
                          wb::name_of(static_cast<wb::frame_place>(p)), 100 * tail.share[p]);
  return text;
}

/// Settings that not all devices can have.
void check_devices(const stream_run& run) {
  if (run.copies_every != 0 && run.devices.front() == "cpu")
    throw wb::argument_error("stream.copies_every", std::to_string(run.copies_every), "0 on a CPU");
  const auto cpus = std::count(run.devices.begin(), run.devices.end(), "cpu");
  if (run.massive.sums == wb::massive_sums::split_f16 && cpus != 0 && cpus != std::ssize(run.devices))
    throw wb::argument_error("massive.sums", "split-f16", "float32 where frames go to a CPU and to GPUs");
}

/// f(), whose errors name the setting `key` where a device is not allowed.
template <class F>
auto naming_devices(const std::string& key, F f) {
  try {
    return f();
  } catch (const wb::argument_error& e) {
    if (e.argument() != "device" && e.argument() != "devices") throw;
    throw wb::argument_error(key, e.value(), e.allowed());
  }
}

/// What copies and stages of a frame take alone.
json stages_of(const stream_run& run, const wb::frame_receiver& chain, const stream_source& source) {
  wb::stage_times t = wb::measure_stages(chain, run.devices.front(), run.threads, run.items, source.arrays(0),
                                         run.repetitions, run.batch, interrupted);
  if (run.devices.size() > 1 && !interrupted() &&
      std::find(run.devices.begin(), run.devices.end(), "cpu") == run.devices.end())
    t.copies_us = wb::measure_copies(chain, run.devices, run.items, run.repetitions, run.batch);
  json stages;
  double alone = t.upload_us + t.download_us;
  for (std::size_t i = 0; i < t.stage_us.size(); i++) {
    stages[chain.stages()[i]] = t.stage_us[i];
    alone += t.stage_us[i];
  }
  json share{{"upload", t.upload_us / alone}};
  for (std::size_t i = 0; i < t.stage_us.size(); i++) share[chain.stages()[i]] = t.stage_us[i] / alone;
  share["download"] = t.download_us / alone;
  return {{"device", run.devices.front()},
          {"upload_us", t.upload_us},
          {"stages_us", stages},
          {"download_us", t.download_us},
          {"kernel_us", t.kernel_us},
          {"copies_us", t.copies_us},
          {"synchronous_us", t.synchronous_us},
          {"upload_p99.9_us", t.upload_p999_us},
          {"upload_max_us", t.upload_max_us},
          {"synchronous_p99.9_us", t.synchronous_p999_us},
          {"synchronous_max_us", t.synchronous_max_us},
          {"upload_bytes", t.upload_bytes},
          {"download_bytes", t.download_bytes},
          {"share", share}};
}

wb::pipeline_config pipeline_of(const stream_run& run) {
  wb::pipeline_config c = run;
  c.most_items = run.items;
  return c;
}

stream_run with_batch(stream_run run, const wb::frame_receiver& chain) {
  if (run.batch == 0) run.batch = run.parts > 1 ? 1 : wb::automatic_batch(chain, run.items);
  return run;
}

/// A run of a scenario: its pipeline, the frames pushed into it, what was measured.
class measured_run {
 public:
  /// `output`: the file that results of the frames are written to, or an empty name.
  measured_run(const stream_run& run, progress_line& line, std::FILE* table,
               const stream_output_config& output, const energy_counters* counters)
      : work_(work_of(run)),
        chain_(*work_.chain),
        run_(with_batch(run, chain_)),
        source_(run_, work_),
        line_(line),
        table_(table),
        stages_(run_.stages ? stages_of(run_, chain_, source_) : json()),
        status_(status_of(chain_)),
        output_(output_of(output)),
        pipeline_(work_.chain, pipeline_of(run_),
                  status_ || output_ ? looks_at_results() : wb::frame_callback()),
        check_(chain_, source_),
        filled_(pipeline_.slots(), 0),
        rng_(run_.seed),
        counters_(counters) {}

  /// Runs it, prints its row into the table, and gives its record. Throws interrupted_before_frames.
  json measure() {
    warm_up();
    pipeline_.drain();
    if (interrupted()) throw interrupted_before_frames();
    pipeline_.reset_times();
    before_ = pipeline_.counters();
    items_pushed_ = 0;
    bits_pushed_ = 0;
    counts_ = true;
    erased_ = 0;
    writes_ = output_.has_value();
    if (run_.copies_every != 0)
      copies_.emplace(run_.devices.front(),
                      wb::offset_of(chain_.inputs(), chain_.inputs().size(), run_.items));
    if (counters_ != nullptr) energy_.emplace(*counters_, run_.devices);
    memory_watch memory(run_.devices);
    if (energy_) energy_->start();
    push_frames();
    pipeline_.drain();
    seconds_ = elapsed();
    if (energy_) looks_at_energy([&] { energy_->stop(); });
    memory.finish();
    line_.clear();
    after_ = pipeline_.counters();
    times_ = pipeline_.times();
    const std::size_t graphs = pipeline_.graphs();
    check_.finish();
    pipeline_.stop();
    trace_ = pipeline_.trace();
    tail_ = wb::tail_of(trace_);
    json result = settings_record(graphs);
    add_throughput(result);
    add_times(result);
    if (energy_) result["energy"] = energy_->result(bits_pushed_ * delivered_share());
    result["checked"] = {{"compared", check_.compared}, {"different", check_.different}};
    add_decided(result["checked"]);
    result["host_memory_bytes"] = memory.host();
    result["device_memory_bytes"] = memory.device();
    result["memory_samples"] = memory.samples();
    if (!error_.empty()) result["error"] = error_;
    if (!stages_.is_null()) result["alone"] = stages_;
    if (output_ && finished_ && error_.empty()) output_->commit();
    print(result);
    return result;
  }
  /// No signal came before the last frame. After measure().
  bool finished() const { return finished_; }

 private:
  bool one_size() const { return run_.least_items == 0; }
  bool checks() const { return one_size() && run_.check_every != 0; }
  std::size_t least_items() const { return std::max(run_.least_items, chain_.least_items()); }
  double elapsed() const { return std::chrono::duration<double>(frame_clock::now() - start_).count(); }

  wb::frame_callback looks_at_results() {
    return [this](const wb::frame_result& r) {
      if (status_ && r.status == wb::frame_status::delivered) erased_ += erased_in(r, *status_);
      if (writes_) output_->take(r);
    };
  }
  /// Each frame of the file then runs once.
  std::optional<stream_output> output_of(stream_output_config output) {
    if (output.path.empty()) return std::nullopt;
    if (run_.frames > source_.stored())
      throw wb::argument_error("--frames", std::to_string(run_.frames),
                               fmt::format("at most the {} frames of {}", source_.stored(), run_.source));
    if (run_.frames == 0) run_.frames = source_.stored();
    output.items = run_.items;
    output.frames = run_.frames;
    if (run_.chain == "uplink" && run_.frames_as.llr_int8) output.llr_steps = run_.massive.llr_steps;
    return std::optional<stream_output>(std::in_place, chain_, output);
  }

  void push(std::uint64_t n, frame_clock::time_point since) {
    std::size_t items = run_.items;
    if (!one_size()) {
      const std::size_t unit = chain_.multiple();
      items = std::uniform_int_distribution<std::size_t>((least_items() + unit - 1) / unit,
                                                         run_.items / unit)(rng_) *
              unit;
    }
    wb::frame_slot slot = pipeline_.acquire(items);
    const std::size_t frame = slot.index() % source_.frames();
    if (writes_)
      source_.fill_stored(slot, n);
    else if (!one_size() || filled_[slot.index()] == 0)
      source_.fill(slot, frame);
    filled_[slot.index()] = 1;
    if (checks() && n % run_.check_every == 0 && !check_.busy())
      check_.take(pipeline_.submit(std::move(slot), frame, since), frame, counts_);
    else
      pipeline_.push(std::move(slot), frame, since);
    items_pushed_ += items;
    bits_pushed_ += chain_.bits_of(items);
  }

  /// Every slot is filled before anything counts: those deep in the queue are needed when frames wait
  /// already.
  void warm_up() {
    try {
      if (one_size()) {
        std::vector<wb::frame_slot> slots;
        while (slots.size() < pipeline_.slots()) {
          slots.push_back(pipeline_.acquire(run_.items));
          source_.fill(slots.back(), slots.back().index() % source_.frames());
          filled_[slots.back().index()] = 1;
        }
      }
      const std::uint64_t count = std::max<std::uint64_t>(run_.warmup, 2 * pipeline_.slots());
      for (std::uint64_t n = 0; n < count && !interrupted(); n++) {
        push(n, {});
        if (checks() && n < 4 * pipeline_.slots()) {  // one by one: none is left out for a busy checker
          pipeline_.drain();
          check_.drain();
        }
      }
    } catch (const wb::device_error& e) {
      error_ = e.what();
    }
  }

  /// Waits until turn n is due.
  frame_clock::time_point due_at(std::uint64_t n, bool is_copy) {
    const frame_clock::time_point due =
        start_ +
        std::chrono::nanoseconds(static_cast<std::int64_t>(static_cast<double>(n) * (1e9 / *run_.rate)));
    if (is_copy) {
      wait_until(due - std::chrono::microseconds(60), run_.waiting == wb::wait_policy::block);
      copies_->wake();
    }
    wait_until(due, run_.waiting == wb::wait_policy::block);
    return due;
  }

  void push_frames() {
    start_ = frame_clock::now();
    frame_clock::time_point looked = start_, counted = start_;
    windows_.emplace(start_);
    std::uint64_t n = 0, frames = 0;  // turns, and those of them that are frames'
    for (; run_.seconds ? elapsed() < *run_.seconds : frames < run_.frames; n++) {
      if (interrupted() || !error_.empty()) break;
      const bool is_copy = copies_ && n % run_.copies_every == run_.copies_every - 1;
      frame_clock::time_point due{};
      if (run_.rate) due = due_at(n, is_copy);
      if (interrupted()) break;
      try {
        if (is_copy) {
          copies_->copy(due);
          continue;
        }
        push(frames++, due);
      } catch (const wb::device_error& e) {
        error_ = e.what();
        break;
      }
      const auto time = frame_clock::now();
      if (!run_.rate && windows_->due(time))
        windows_->look(time, pipeline_.counters().delivered - before_.delivered);
      if (time - looked > std::chrono::seconds(1)) {
        looked = time;
        if (line_.due()) show_progress(frames);
      }
      if (energy_ && time - counted > std::chrono::seconds(30)) {
        counted = time;
        if (!looks_at_energy([&] { (void)energy_->joules(); })) break;
      }
    }
    finished_ = !interrupted();
  }

  /// Whether the counter could be read; else the run ends, and its record says why.
  template <class F>
  bool looks_at_energy(F f) {
    try {
      f();
      return true;
    } catch (const wb::device_error& e) {
      error_ = e.what();
      return false;
    }
  }

  void show_progress(std::uint64_t frames) {
    const wb::pipeline_counters current = pipeline_.counters();
    const std::uint64_t delivered = current.delivered - before_.delivered;
    const double share = static_cast<double>(delivered) / static_cast<double>(frames);
    line_.show(fmt::format("{}: {} frames, {:.4g} Mb/s, {} waiting, {} missed, {} dropped, {} failed, {}",
                           run_.label, delivered, share * bits_pushed_ / elapsed() * 1e-6, current.waiting,
                           current.missed, current.dropped - before_.dropped, current.failed - before_.failed,
                           duration_text(elapsed())));
  }

  std::uint64_t pushed() const { return after_.pushed - before_.pushed; }
  std::uint64_t delivered() const { return after_.delivered - before_.delivered; }
  double delivered_share() const {
    return pushed() == 0 ? 0 : static_cast<double>(delivered()) / static_cast<double>(pushed());
  }

  json settings_record(std::size_t graphs) {
    json result{{"label", run_.label}, {"chain", run_.chain}, {"items", run_.items}};
    if (!one_size()) result["least_items"] = least_items();
    result["per_channel"] = run_.per_channel;
    result["devices"] = run_.devices;
    result["descriptions"] = pipeline_.descriptions();
    result["streams"] = run_.streams;
    result["batch"] = run_.batch;
    result["frames_per_start"] =
        static_cast<double>(pushed() - (after_.dropped - before_.dropped) + after_.rerun - before_.rerun) /
        static_cast<double>(std::max<std::uint64_t>(after_.starts - before_.starts, 1));
    result["parts"] = run_.parts;
    result["splits"] = run_.splits;
    result["graphs"] = graphs;
    result["waiting"] = run_.waiting == wb::wait_policy::spin ? "spin" : "block";
    result["rate"] = run_.rate ? json(*run_.rate) : json("max");
    return result;
  }

  void add_throughput(json& result) {
    const std::uint64_t erased = erased_ + check_.erased;
    result["seconds"] = seconds_;
    result["counters"] = {{"pushed", pushed()},
                          {"delivered", delivered()},
                          {"dropped", after_.dropped - before_.dropped},
                          {"failed", after_.failed - before_.failed},
                          {"erased", status_ ? json(erased) : json()},
                          {"rerun", after_.rerun - before_.rerun},
                          {"devices_failed", after_.devices_failed}};
    result["bits_per_frame"] = chain_.bits_of(run_.items);
    result["throughput_mbps"] = bits_pushed_ * delivered_share() / seconds_ * 1e-6;
    result["frame_us"] = delivered() == 0 ? 0 : seconds_ * 1e6 / static_cast<double>(delivered());
    if (const auto median = windows_->median()) result["median_frame_us"] = *median;
    const auto bytes =
        static_cast<double>(wb::offset_of(chain_.inputs(), chain_.inputs().size(), run_.items));
    result["input_gb_per_s"] =
        bytes * (static_cast<double>(items_pushed_) * delivered_share() / static_cast<double>(run_.items)) /
        seconds_ * 1e-9;
  }

  void add_decided(json& checked) {
    if (check_.bursts.empty()) return;
    std::uint64_t blocks = 0, block_errors = 0;
    json bursts = json::array();
    for (std::size_t i = 0; i < check_.bursts.size(); i++) {
      const auto& b = check_.bursts[i];
      blocks += b.blocks, block_errors += b.block_errors;
      if (run_.chain == "wimax-frame")
        bursts.push_back({{"modulation", run_.wimax.modulations[i]},
                          {"blocks", b.blocks},
                          {"block_errors", b.block_errors},
                          {"bits", b.bits},
                          {"bit_errors", b.bit_errors}});
    }
    checked["blocks"] = blocks;
    checked["block_errors"] = block_errors;
    if (!bursts.empty()) checked["bursts"] = bursts;
  }

  void add_times(json& result) {
    result["latency_us"] = times_json(times_.latency);
    result["queued_us"] = times_json(times_.queued);
    result["device_us"] = times_json(times_.device);
    if (copies_) {
      result["bare_copies_us"] = times_json(copies_->times());
      result["bare_copies_us"].update(
          {{"every", run_.copies_every}, {"count", copies_->times().count()}, {"bytes", copies_->bytes()}});
    }
    if (run_.trace != 0) result["trace"] = trace_json(trace_, tail_, start_, before_.pushed);
    result["deadline_us"] = run_.deadline ? json(1e-3 * static_cast<double>(run_.deadline->count())) : json();
    result["missed"] = times_.missed;
    result["missed_runs"] = {{"count", times_.missed_runs}, {"longest", times_.longest_missed_run}};
    result["queue"] = {
        {"size", run_.queue},
        {"mean", after_.pushed == 0 ? 0
                                    : static_cast<double>(after_.waiting_sum - before_.waiting_sum) /
                                          static_cast<double>(std::max<std::uint64_t>(pushed(), 1))},
        {"most", after_.most_waiting}};
  }

  void print(const json& result) {
    const auto us = [](double x) { return fmt::format("{:.1f}", x); };
    const json &counters = result["counters"], &erased = counters["erased"];
    print_to(table_, row_format, wb::printable(run_.label, most_shown),
             fmt::format("{:.5g}", result["throughput_mbps"].get<double>()),
             us(result["frame_us"].get<double>()), us(times_.latency.percentile_us(50)),
             us(times_.latency.percentile_us(99)), us(times_.latency.percentile_us(99.9)),
             us(times_.latency.max_us()), times_.missed, counters["dropped"].dump(),
             counters["failed"].dump(), erased.is_null() ? "-" : erased.dump());
    if (run_.stages) {
      std::string text = fmt::format("  one by one: upload {:.1f}", stages_["upload_us"].get<double>());
      for (const auto& [name, value] : stages_["stages_us"].items())
        text += fmt::format(", {} {:.1f}", name, value.get<double>());
      print_to(
          table_,
          "{}, download {:.1f} us; copies alone, overlapped {:.1f} us; synchronous {:.1f} us, p99.9 {:.1f}\n",
          text, stages_["download_us"].get<double>(), stages_["copies_us"].get<double>(),
          stages_["synchronous_us"].get<double>(), stages_["synchronous_p99.9_us"].get<double>());
    }
    if (copies_) {
      const wb::latency_histogram& t = copies_->times();
      print_to(
          table_,
          "  bare copies in, {} in turn with frames: p50 {:.1f}, p99 {:.1f}, p99.9 {:.1f}, max {:.1f} us\n",
          t.count(), t.percentile_us(50), t.percentile_us(99), t.percentile_us(99.9), t.max_us());
    }
    if (energy_) {
      const json& e = result["energy"];
      if (e.contains("nanojoules_per_bit"))
        print_to(table_, "  energy: {:.4g} nJ a bit, beyond the {:.4g} W of idle devices\n",
                 e["nanojoules_per_bit"].get<double>(), e["idle_watts"].get<double>());
      else
        print_to(table_, "  energy: not stated for less than 5 s\n");
    }
    if (!trace_.slowest.empty()) print_to(table_, "{}\n", trace_text(trace_, tail_));
    if (!error_.empty()) print_to(table_, "  ended early: {}\n", wb::printable(error_, most_shown));
    if (check_.different != 0)
      print_to(table_, "  {} of {} results differ from the first of their frame\n", check_.different,
               check_.compared);
    std::fflush(table_);
  }

  const stream_work work_;
  const wb::frame_receiver& chain_;
  stream_run run_;
  const stream_source source_;
  progress_line& line_;
  std::FILE* const table_;
  json stages_;
  std::optional<std::size_t> status_;
  std::atomic<std::uint64_t> erased_{0};
  std::string error_;  // of the last device
  std::optional<stream_output> output_;
  std::atomic<bool> writes_{false};  // after the warm-up
  wb::frame_pipeline pipeline_;
  checker check_;
  std::vector<char> filled_;         // by slot
  std::mt19937_64 rng_;              // of sizes
  const energy_counters* counters_;  // null: energy is not counted
  bool counts_ = false, finished_ = false;
  std::uint64_t items_pushed_ = 0;
  double bits_pushed_ = 0, seconds_ = 0;
  std::optional<bare_copies> copies_;
  std::optional<pace> windows_;
  std::optional<energy_watch> energy_;
  frame_clock::time_point start_;
  wb::pipeline_counters before_, after_;
  wb::pipeline_times times_;
  wb::stream_trace trace_;
  wb::trace_tail tail_;
};

/// What --output cannot be combined with.
void check_written_run(const stream_options& o, const stream_scenario& scenario) {
  if (o.output == "-") throw usage_error("--output - is not allowed: expected the name of an HDF5 file");
  if (o.seconds)
    throw usage_error("--seconds has no meaning with --output: each frame of the file runs once");
  if (!o.json.empty() && o.json != "-" && wb::same_place(o.json, o.output))
    throw usage_error("--output and --json name the same file: give each its own");
  if (scenario.runs.size() != 1)
    throw usage_error(
        fmt::format("--output is for a scenario with one run: {} has {}", o.scenario, scenario.runs.size()));
  const stream_run& run = scenario.runs.front();
  if (run.source == "generated")
    throw usage_error("--output needs frames of a file: stream.source in the scenario");
  if (run.least_items != 0)
    throw usage_error("--output is for frames of one size: leave stream.least_items out");
  if (run.copies_every != 0) throw usage_error("--output is for frames alone: leave stream.copies_every out");
  check_not_an_input(o.output, {o.scenario, run.source});
}

int run_stream(const stream_options& o) {
  stream_scenario scenario = load_stream_scenario(o.scenario);
  print_hints(scenario.hints);
  const bool to_stdout = o.json == "-";
  std::FILE* table = to_stdout ? stderr : stdout;
  if (!o.json.empty() && !to_stdout) {
    check_not_an_input(o.json, {o.scenario});
    for (const stream_run& r : scenario.runs) check_not_an_input(o.json, {r.source});
    claim_output(o.json);
    wb::check_writable(o.json);
  }
  if (!o.output.empty()) {
    check_written_run(o, scenario);
    claim_output(o.output);
    if (!o.force) check_not_another_result(o.output, "--force replaces it");
    wb::check_writable(o.output);
  }
  for (stream_run& r : scenario.runs) {
    if (!o.devices.empty()) {
      r.devices.clear();
      std::istringstream list(o.devices);
      for (std::string d; std::getline(list, d, ',');) r.devices.push_back(d);
    }
    if (o.threads) {
      if (std::find(r.devices.begin(), r.devices.end(), "cpu") == r.devices.end())
        throw usage_error("--threads is for frames on the device cpu: leave it out");
      r.threads = *o.threads;
    }
    if (o.frames) r.frames = *o.frames, r.seconds.reset();
    if (o.seconds) r.seconds = *o.seconds;
    if (!o.output.empty()) {  // each frame of the file once, and each result written instead of compared
      r.frames = o.frames.value_or(0);
      r.seconds.reset();
      r.check_every = 0;
    }
  }
  stop_on_interrupt();
  progress_line line(o.quiet);
  const energy_counters counters = o.energy ? open_energy_counters(scenario.runs) : energy_counters();
  if (!scenario.title.empty()) print_to(table, "{}\n", wb::printable(scenario.title, most_shown));
  const std::string devices_key = o.devices.empty() ? "stream.devices" : "--device";
  const stream_run& first = scenario.runs.front();
  const auto exec =
      naming_devices(devices_key, [&] { return wb::open_executor(first.devices.front(), first.threads); });
  const wb::machine_info m = wb::describe_machine(*exec);
  print_to(table, "{}, {}\n\n", m.cpu, m.device);
  print_to(table, row_format, "", "Mb/s", "us/frame", "p50 us", "p99 us", "p99.9 us", "max us", "missed",
           "dropped", "failed", "erased");
  std::fflush(table);
  json out{{"format", "warpband stream 1"},
           {"version", wb::version()},
           {"commit", wb::commit()},
           {"machine",
            {{"cpu", m.cpu},
             {"cores", std::thread::hardware_concurrency()},
             {"os", m.os},
             {"device", m.device},
             {"instruction_set", m.instruction_set}}},
           {"title", scenario.title},
           {"scenario", scenario.text},
           {"runs", json::array()}};
  for (const stream_run& r : scenario.runs) check_devices(r);
  bool fine = true;
  std::size_t finished = 0;
  for (const stream_run& r : scenario.runs) {
    try {
      if (interrupted()) throw interrupted_before_frames();
      naming_devices(devices_key, [&] {
        measured_run run(r, line, table, {.path = o.output, .scenario = scenario.text},
                         o.energy ? &counters : nullptr);
        out["runs"].push_back(run.measure());
        if (run.finished()) finished++;
      });
    } catch (const interrupted_before_frames&) {
      if (out["runs"].empty()) throw;
      break;
    } catch (...) {
      if (to_stdout && !out["runs"].empty()) print_json(wb::json_lines(out));
      throw;
    }
    const json& last = out["runs"].back();
    fine = fine && last["checked"]["different"] == 0 && last["counters"]["failed"] == 0 &&
           !last.contains("error");
    if (!o.json.empty() && !to_stdout) wb::write_file(o.json, wb::json_lines(out));  // what is done is kept
  }
  if (to_stdout) print_json(wb::json_lines(out));
  if (finished < scenario.runs.size())
    throw wb::error(
        fmt::format("interrupted: {} of {} runs finished{}", finished, scenario.runs.size(),
                    finished < out["runs"].size() ? "; the last row has the frames until then" : ""));
  return fine ? done : failed;
}

constexpr const char* stream_footer =
    R"(A row for each run: throughput, time per frame, percentiles of the latency from host memory to host memory, frames
that were late, dropped or failed; and uses, vectors, codewords, slots or WiMAX frames that were erased, as for a NaN in
them (- of decode, whose results do not say). With stream.stages a second line says what copies and stages of a frame take alone; with
stream.trace one says where the slowest frames lost their time.
With --energy another line has the energy of a bit, for runs of 5 s or more: NVML counts that of a GPU's board, RAPL that of a CPU's
packages, and both count other programs too. The idle devices' power is subtracted; threads that spin are a part of it.
After Ctrl-C or a signal the table and --json have the runs until then.
The exit code is 1 after a signal, where a frame failed, or where a result differs from the first one of the same frame.

Examples:
  warpband stream examples/stream/stream.toml                          two chains on this machine's cores
  warpband stream examples/stream/stream.toml --device cuda:0 --json stream.json
  warpband stream examples/stream/stream.toml --device cuda:0,cuda:1 --seconds 60
  warpband stream recorded.toml -o results.h5                          results of the frames in stream.source

docs/stream.md explains scenarios, HDF5 files of frames and the library's interface.)";

}  // namespace

command add_stream(CLI::App& app) {
  CLI::App* stream = app.add_subcommand("stream", "Frames through a pipeline of devices, under a deadline");
  const auto o = std::make_shared<stream_options>();
  stream->footer(stream_footer);
  stream->add_option("SCENARIO", o->scenario, "What to run, in TOML: see --help-scenario");
  stream
      ->add_option("--json", o->json,
                   "Write all that was measured to FILE; - for standard output, the table then to stderr")
      ->type_name("FILE");
  stream
      ->add_option("-o,--output", o->output,
                   "Write the results of the frames in stream.source to FILE, in HDF5: each frame once, in "
                   "their order")
      ->type_name("FILE");
  stream->add_flag("--force", o->force, "Replace a file of --output that holds something already");
  stream->add_option("--device", o->devices, "Instead of stream.devices: cpu, cuda:N, or several with commas")
      ->type_name("NAME,...");
  add_integer(
      *stream, "--threads", 0, 4096, "Instead of stream.threads, of a frame on the device cpu; 0: all cores",
      [o](std::int64_t n) { o->threads = static_cast<int>(n); }, "0 (all cores) to 4096");
  add_integer(*stream, "--frames", 1, 1'000'000'000'000, "Instead of stream.frames and stream.seconds",
              [o](std::int64_t n) { o->frames = static_cast<std::uint64_t>(n); });
  stream->add_option("--seconds", o->seconds, "Instead of stream.seconds")
      ->type_name("X")
      ->check(number_between(1e-3, 1e9));
  add_trusted(*stream);
  stream->add_flag("--energy", o->energy,
                   "Also count the energy of a bit, beyond what the devices take in 5 s without frames");
  stream->add_flag("--quiet", o->quiet, "No progress on stderr");
  stream->add_flag("--help-scenario", o->help_scenario, "Explain every key of a scenario file");
  return {stream, [o] {
            if (o->help_scenario) {
              std::fputs(stream_scenario_help().c_str(), stdout);
              return done;
            }
            if (o->scenario.empty()) throw usage_error("SCENARIO is missing (see warpband stream --help)");
            return run_stream(*o);
          }};
}
