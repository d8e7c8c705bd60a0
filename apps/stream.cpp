// `warpband stream`: frames at a rate, or as fast as they are taken, through a pipeline of devices.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <fstream>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <warpband/core/error.hpp>
#include <warpband/core/status.hpp>
#include <warpband/exec/cpu.hpp>
#include <warpband/exec/cuda.hpp>
#include <warpband/io/replacement.hpp>
#include <warpband/link/result.hpp>
#include <warpband/stream/measure.hpp>

#include "command.hpp"
#include "stream_scenario.hpp"
#include "stream_source.hpp"

namespace {

using json = nlohmann::ordered_json;
using wb::frame_clock;

struct stream_options {
  std::string scenario, json, devices;
  std::optional<std::uint64_t> frames;
  std::optional<double> seconds;
  std::optional<int> threads;
  bool quiet = false, help_scenario = false;
};

double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double pages = 0, resident = 0;
  file >> pages >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

/// How many uses, vectors or codewords of a frame were erased.
std::uint64_t erased_in(const wb::frame_result& r, std::size_t status) {
  const wb::view<const std::uint8_t> all = r.output<std::uint8_t>(status);
  // Most frames have none, and those behind wait for this: memcmp is faster than the count.
  if (all.items == 0 || (all.data[0] == 0 && std::memcmp(all.data, all.data + 1, all.items - 1) == 0))
    return 0;
  return wb::count_erased(std::span(all.data, all.items));
}
/// Which output is the status of items; nothing where there is none.
std::optional<std::size_t> status_of(const wb::frame_chain& chain) {
  for (std::size_t i = 0; i < chain.outputs().size(); i++)
    if (chain.outputs()[i].name == "status") return i;
  return {};
}

/// Compares frames with what they gave the first time, on a thread of its own.
class checker {
 public:
  checker(const wb::frame_chain& chain, const stream_source& source, bool decodes)
      : chain_(chain),
        source_(source),
        status_(status_of(chain)),
        decodes_(decodes),
        first_(source.frames()),
        thread_([this] { work(); }) {}
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
  std::uint64_t compared = 0, different = 0, blocks = 0, block_errors = 0, erased = 0;  // after finish()

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
    std::vector<std::byte> all;
    for (std::size_t i = 0; i < chain_.outputs().size(); i++) {
      const std::byte* a = r.outputs + wb::offset_of(chain_.outputs(), i, r.items);
      all.insert(all.end(), a, a + chain_.outputs()[i].bytes_of(r.items));
    }
    std::vector<std::byte>& first = first_[frame];
    if (first.empty()) {
      first = std::move(all);
      if (!decodes_ || source_.sent(frame).empty()) return;
      const std::size_t k = chain_.outputs()[0].elements;
      for (std::size_t b = 0; b < chain_.outputs()[0].rows_of(r.items); b++) {
        blocks++;
        block_errors += std::memcmp(first.data() + b * k, source_.sent(frame).data() + b * k, k) != 0;
      }
      return;
    }
    compared++;
    different += all != first;
  }
  const wb::frame_chain& chain_;
  const stream_source& source_;
  std::optional<std::size_t> status_;
  bool decodes_, end_ = false, looking_ = false;
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
    thread_ = std::thread([this] { work(); });
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
    json all = json::array();
    for (const sample& s : samples_) all.push_back({s.seconds, s.host, s.device});
    return all;
  }

 private:
  struct sample {
    double seconds, host, device;
  };
  struct extent {
    std::optional<double> first = {};
    double last = 0, most = 0;
    void add(double bytes) {
      if (!first) first = bytes;
      last = bytes, most = std::max(most, bytes);
    }
    json to_json() const { return {{"first", *first}, {"last", last}, {"most", most}}; }
  };
  void look(bool devices) {
    const double host = resident_bytes();
    host_.add(host);
    if (!devices) return;
    double used = 0;
    for (const auto& d : devices_)
      used += static_cast<double>(dynamic_cast<const wb::cuda&>(*d).memory_used());
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
  for (auto now = frame_clock::now(); now < due && !interrupted(); now = frame_clock::now())
    if (sleeps && due - now > 2 * awake)
      std::this_thread::sleep_for(std::min<frame_clock::duration>(due - now - awake, nap));
}

/// The time of a frame in the middle one of many short times of a run: what goes on outside of this process
/// for some of them does not count.
class pace {
 public:
  explicit pace(frame_clock::time_point start) : since_(start) { windows_.reserve(100'000); }
  bool due(frame_clock::time_point now) const { return now - since_ >= std::chrono::milliseconds(20); }
  /// So many were delivered by now, since the start. When due.
  void look(frame_clock::time_point now, std::uint64_t frames) {
    if (frames == before_) return;
    if (windows_.size() < windows_.capacity())
      windows_.push_back(std::chrono::duration<double, std::micro>(now - since_).count() /
                         static_cast<double>(frames - before_));
    since_ = now, before_ = frames;
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
      : opened_(wb::open_executor(device)),
        exec_(dynamic_cast<wb::cuda&>(*opened_)),
        from_(exec_.make_host<std::byte>(bytes, frames)),
        to_(exec_.make<std::byte>(bytes, 1)),
        done_(exec_) {
    std::memset(from_.data(), 0, from_.bytes());
    copy(frame_clock::now());  // the first one takes longer
    times_ = {};
  }
  /// Before a copy is due: a thread that has not called CUDA for long finds its code in no cache.
  void wake() {
    exec_.upload(to_.data(), from_.data(), 256);
    exec_.sync();
  }
  /// One that is due now. Waits for it, awake.
  void copy(frame_clock::time_point due) {
    const std::size_t bytes = to_.bytes();
    exec_.upload(to_.data(), from_.data() + next_++ % frames * bytes, bytes);
    done_.record(exec_);
    while (!done_.reached() && !interrupted()) continue;
    times_.add(frame_clock::now() - due);
  }
  const wb::latency_histogram& times() const { return times_; }
  std::size_t bytes() const { return to_.bytes(); }

 private:
  static constexpr std::size_t frames = 8;  // as those of a pipeline: not the same memory each time
  std::unique_ptr<wb::executor> opened_;
  wb::cuda& exec_;
  wb::array<std::byte> from_, to_;
  wb::cuda_event done_;
  std::size_t next_ = 0;
  wb::latency_histogram times_;
};

/// Where frames lost their time.
json trace_json(const wb::stream_trace& trace, const wb::trace_tail& tail, frame_clock::time_point start,
                std::uint64_t first) {
  const auto by_place = [](const auto& value_of) {
    json all;
    for (std::size_t p = 0; p < wb::frame_places; p++)
      all[wb::name_of(static_cast<wb::frame_place>(p))] = value_of(p);
    return all;
  };
  json slowest = json::array();
  for (const wb::traced_frame& f : trace.slowest) {
    const wb::lane_times& on_device = f.times.on_device;
    json each{{"frame", f.times.sequence - first},
              {"device", f.times.device},
              {"seconds", std::chrono::duration<double>(f.times.due - start).count()},
              {"latency_us", f.latency_us},
              {"places_us", by_place([&](std::size_t p) { return f.places_us[p]; })}};
    if (on_device.uploaded != wb::lane_times::no_time)
      each["upload_us"] = on_device.uploaded - on_device.upload_begun;
    slowest.push_back(each);
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

json run_one(stream_run run, progress_line& line) {
  const stream_work work = work_of(run);
  const wb::frame_chain& chain = *work.chain;
  if (run.batch == 0) run.batch = run.parts > 1 ? 1 : wb::automatic_batch(chain, run.items);
  const stream_source source(run, work);
  json result{{"label", run.label}};

  json stages;
  if (run.stages) {
    wb::stage_times t = wb::measure_stages(chain, run.devices.front(), run.threads, run.items,
                                           source.arrays(0), run.repetitions, run.batch, interrupted);
    if (run.devices.size() > 1 && !interrupted() &&
        std::find(run.devices.begin(), run.devices.end(), "cpu") == run.devices.end())
      t.copies_us = wb::measure_copies(chain, run.devices, run.items, run.repetitions, run.batch);
    json each;
    double alone = t.upload_us + t.download_us;
    for (std::size_t i = 0; i < t.stage_us.size(); i++) {
      each[chain.stages()[i]] = t.stage_us[i];
      alone += t.stage_us[i];
    }
    json share{{"upload", t.upload_us / alone}};
    for (std::size_t i = 0; i < t.stage_us.size(); i++) share[chain.stages()[i]] = t.stage_us[i] / alone;
    share["download"] = t.download_us / alone;
    stages = {{"device", run.devices.front()},
              {"upload_us", t.upload_us},
              {"stages_us", each},
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

  wb::pipeline_config c = run;
  c.most_items = run.items;
  const std::optional<std::size_t> status = status_of(chain);
  std::atomic<std::uint64_t> erased{0};
  wb::frame_callback count;
  if (status)
    count = [&](const wb::frame_result& r) {
      if (r.status == wb::frame_status::delivered) erased += erased_in(r, *status);
    };
  wb::frame_pipeline pipeline(work.chain, c, count);
  const bool one_size = run.least_items == 0;
  const bool checks = one_size && run.check_every != 0;
  checker check(chain, source, work.code != nullptr);
  std::vector<char> filled(pipeline.slots(), 0);
  std::mt19937_64 rng(run.seed);
  std::vector<std::size_t> sizes;  // that the chain takes
  const std::size_t unit = chain.multiple(), least = std::max(run.least_items, chain.least_items());

  bool counts = false;
  std::uint64_t items_pushed = 0;
  double bits_pushed = 0;
  const auto push = [&](std::uint64_t n, frame_clock::time_point since) {
    std::size_t items = run.items;
    if (!one_size) {
      items =
          std::uniform_int_distribution<std::size_t>((least + unit - 1) / unit, run.items / unit)(rng) * unit;
    }
    wb::frame_slot slot = pipeline.acquire(items);
    const std::size_t frame = slot.index() % source.frames();
    if (!one_size || filled[slot.index()] == 0) source.fill(slot, frame);
    filled[slot.index()] = 1;
    if (checks && n % run.check_every == 0 && !check.busy())
      check.take(pipeline.submit(std::move(slot), frame, since), frame, counts);
    else
      pipeline.push(std::move(slot), frame, since);
    items_pushed += items;
    bits_pushed += chain.bits_of(items);
  };
  std::string error;  // of the last device
  try {
    // Every slot is filled before anything counts: those deep in the queue are needed when frames wait
    // already.
    if (one_size) {
      std::vector<wb::frame_slot> all;
      while (all.size() < pipeline.slots()) {
        all.push_back(pipeline.acquire(run.items));
        source.fill(all.back(), all.back().index() % source.frames());
        filled[all.back().index()] = 1;
      }
    }
    for (std::uint64_t n = 0; n < std::max<std::uint64_t>(run.warmup, 2 * pipeline.slots()) && !interrupted();
         n++) {
      push(n, {});
      if (checks && n < 4 * pipeline.slots()) {  // one by one: none is left out for a busy checker
        pipeline.drain();
        check.drain();
      }
    }
  } catch (const wb::device_error& e) {
    error = e.what();
  }
  pipeline.drain();
  pipeline.reset_times();
  const wb::pipeline_counters before = pipeline.counters();
  items_pushed = 0;
  bits_pushed = 0;
  counts = true;
  erased = 0;

  std::optional<bare_copies> copies;
  if (run.copies_every != 0)
    copies.emplace(run.devices.front(), wb::offset_of(chain.inputs(), chain.inputs().size(), run.items));

  memory_watch memory(run.devices);
  const frame_clock::time_point start = frame_clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(frame_clock::now() - start).count(); };
  const double period = run.rate > 0 ? 1e9 / run.rate : 0;
  frame_clock::time_point looked = start;
  pace windows(start);
  std::uint64_t n = 0, frames = 0;  // turns, and those of them that are frames'
  for (; run.seconds > 0 ? elapsed() < run.seconds : frames < run.frames; n++) {
    if (interrupted() || !error.empty()) break;
    const bool is_copy = copies && n % run.copies_every == run.copies_every - 1;
    frame_clock::time_point due{};
    if (run.rate > 0) {
      due = start + std::chrono::nanoseconds(static_cast<std::int64_t>(static_cast<double>(n) * period));
      if (is_copy) {
        wait_until(due - std::chrono::microseconds(60), run.waiting == wb::wait_policy::block);
        copies->wake();
      }
      wait_until(due, run.waiting == wb::wait_policy::block);
    }
    if (interrupted()) break;
    try {
      if (is_copy) {
        copies->copy(due);
        continue;
      }
      push(frames++, due);
    } catch (const wb::device_error& e) {
      error = e.what();
      break;
    }
    const auto now = frame_clock::now();
    if (run.rate == 0 && windows.due(now))
      windows.look(now, pipeline.counters().delivered - before.delivered);
    if (now - looked > std::chrono::seconds(1)) {
      looked = now;
      if (line.due()) {
        const wb::pipeline_counters now_counted = pipeline.counters();
        const std::uint64_t done_frames = now_counted.delivered - before.delivered;
        line.show(fmt::format(
            "{}: {} frames, {:.4g} Mb/s, {} waiting, {} missed, {} dropped, {} failed, {}", run.label,
            done_frames,
            static_cast<double>(done_frames) * bits_pushed / static_cast<double>(frames) / elapsed() * 1e-6,
            now_counted.waiting, now_counted.missed, now_counted.dropped - before.dropped,
            now_counted.failed - before.failed, duration_text(elapsed())));
      }
    }
  }
  pipeline.drain();
  const double seconds = elapsed();
  memory.finish();
  line.clear();
  const wb::pipeline_counters after = pipeline.counters();
  const wb::pipeline_times times = pipeline.times();
  const std::size_t graphs = pipeline.graphs();
  check.finish();
  pipeline.stop();
  const wb::stream_trace trace = pipeline.trace();
  const wb::trace_tail tail = wb::tail_of(trace);

  const std::uint64_t pushed = after.pushed - before.pushed, delivered = after.delivered - before.delivered;
  const double part = pushed == 0 ? 0 : static_cast<double>(delivered) / static_cast<double>(pushed);
  const double frame_us = delivered == 0 ? 0 : seconds * 1e6 / static_cast<double>(delivered);
  const double mbps = bits_pushed * part / seconds * 1e-6;
  const std::uint64_t erased_items = erased + check.erased;
  result["chain"] = run.chain;
  result["items"] = run.items;
  if (!one_size) result["least_items"] = least;
  result["per_channel"] = run.per_channel;
  result["devices"] = run.devices;
  result["descriptions"] = pipeline.descriptions();
  result["streams"] = run.streams;
  result["batch"] = run.batch;
  result["frames_per_start"] =
      static_cast<double>(pushed - (after.dropped - before.dropped) + after.rerun - before.rerun) /
      static_cast<double>(std::max<std::uint64_t>(after.starts - before.starts, 1));
  result["parts"] = run.parts;
  result["splits"] = run.splits;
  result["graphs"] = graphs;
  result["waiting"] = run.waiting == wb::wait_policy::spin ? "spin" : "block";
  result["rate"] = run.rate > 0 ? json(run.rate) : json("max");
  result["seconds"] = seconds;
  result["counters"] = {{"pushed", pushed},
                        {"delivered", delivered},
                        {"dropped", after.dropped - before.dropped},
                        {"failed", after.failed - before.failed},
                        {"erased", status ? json(erased_items) : json()},
                        {"rerun", after.rerun - before.rerun},
                        {"devices_failed", after.devices_failed}};
  result["bits_per_frame"] = chain.bits_of(run.items);
  result["throughput_mbps"] = mbps;
  result["frame_us"] = frame_us;
  if (const auto median = windows.median()) result["median_frame_us"] = *median;
  result["input_gb_per_s"] =
      static_cast<double>(wb::offset_of(chain.inputs(), chain.inputs().size(), run.items)) *
      (static_cast<double>(items_pushed) * part / static_cast<double>(run.items)) / seconds * 1e-9;
  result["latency_us"] = times_json(times.latency);
  result["queued_us"] = times_json(times.queued);
  result["device_us"] = times_json(times.device);
  if (copies) {
    result["bare_copies_us"] = times_json(copies->times());
    result["bare_copies_us"].update(
        {{"every", run.copies_every}, {"count", copies->times().count()}, {"bytes", copies->bytes()}});
  }
  if (run.trace != 0) result["trace"] = trace_json(trace, tail, start, before.pushed);
  result["deadline_us"] =
      run.deadline.count() > 0 ? json(1e-3 * static_cast<double>(run.deadline.count())) : json();
  result["missed"] = times.missed;
  result["missed_runs"] = {{"count", times.missed_runs}, {"longest", times.longest_missed_run}};
  result["queue"] = {
      {"size", run.queue},
      {"mean", after.pushed == 0 ? 0
                                 : static_cast<double>(after.waiting_sum - before.waiting_sum) /
                                       static_cast<double>(std::max<std::uint64_t>(pushed, 1))},
      {"most", after.most_waiting}};
  result["checked"] = {{"compared", check.compared}, {"different", check.different}};
  if (check.blocks != 0)
    result["checked"]["blocks"] = check.blocks, result["checked"]["block_errors"] = check.block_errors;
  result["host_memory_bytes"] = memory.host();
  result["device_memory_bytes"] = memory.device();
  result["memory_samples"] = memory.samples();
  if (!error.empty()) result["error"] = error;
  if (!stages.is_null()) result["alone"] = stages;

  const auto us = [](double x) { return fmt::format("{:.1f}", x); };
  fmt::print(row_format, run.label, fmt::format("{:.5g}", mbps), us(frame_us),
             us(times.latency.percentile_us(50)), us(times.latency.percentile_us(99)),
             us(times.latency.percentile_us(99.9)), us(times.latency.max_us()), times.missed,
             after.dropped - before.dropped, after.failed - before.failed,
             status ? std::to_string(erased_items) : "-");
  if (run.stages) {
    std::string text = fmt::format("  one by one: upload {:.1f}", stages["upload_us"].get<double>());
    for (const auto& [name, value] : stages["stages_us"].items())
      text += fmt::format(", {} {:.1f}", name, value.get<double>());
    fmt::print(
        "{}, download {:.1f} us; copies alone, overlapped {:.1f} us; synchronous {:.1f} us, p99.9 {:.1f}\n",
        text, stages["download_us"].get<double>(), stages["copies_us"].get<double>(),
        stages["synchronous_us"].get<double>(), stages["synchronous_p99.9_us"].get<double>());
  }
  if (copies) {
    const wb::latency_histogram& t = copies->times();
    fmt::print(
        "  bare copies in, {} in turn with frames: p50 {:.1f}, p99 {:.1f}, p99.9 {:.1f}, max {:.1f} us\n",
        t.count(), t.percentile_us(50), t.percentile_us(99), t.percentile_us(99.9), t.max_us());
  }
  if (!trace.slowest.empty()) fmt::print("{}\n", trace_text(trace, tail));
  if (!error.empty()) fmt::print("  ended early: {}\n", error);
  if (check.different != 0)
    fmt::print("  {} of {} results differ from the first of their frame\n", check.different, check.compared);
  std::fflush(stdout);
  return result;
}

int run_stream(const stream_options& o) {
  stream_scenario scenario = load_stream_scenario(o.scenario);
  for (const std::string& hint : scenario.hints) fmt::print(stderr, "hint: {}\n", hint);
  if (!o.json.empty()) wb::check_writable(o.json);
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
    if (o.frames) r.frames = *o.frames, r.seconds = 0;
    if (o.seconds) r.seconds = *o.seconds;
  }
  stop_on_interrupt();
  progress_line line(o.quiet);
  if (!scenario.title.empty()) fmt::print("{}\n", scenario.title);
  const auto exec = wb::open_executor(scenario.runs.front().devices.front(), scenario.runs.front().threads);
  const wb::machine_info m = wb::describe_machine(*exec);
  fmt::print("{}, {}\n\n", m.cpu, m.device);
  fmt::print(row_format, "", "Mb/s", "us/frame", "p50 us", "p99 us", "p99.9 us", "max us", "missed",
             "dropped", "failed", "erased");
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
  for (const stream_run& r : scenario.runs) {
    if (interrupted()) break;
    out["runs"].push_back(run_one(r, line));
    const json& last = out["runs"].back();
    fine = fine && last["checked"]["different"] == 0 && last["counters"]["failed"] == 0 &&
           !last.contains("error");
    if (!o.json.empty()) wb::write_file(o.json, out.dump(1) + "\n");  // what is done is kept
  }
  return fine && !interrupted() ? done : failed;
}

constexpr const char* stream_footer =
    R"(A row for each run: throughput, time per frame, percentiles of the latency from host memory to host memory, frames
that were late, dropped or failed; and uses, vectors or codewords that were erased, as for a NaN in them (- of decode,
whose results do not say). With stream.stages a second line says what copies and stages of a frame take alone; with
stream.trace one says where the slowest frames lost their time.
The exit code is 1 where a frame failed, or a result differs from the first one of the same frame.

Examples:
  warpband stream examples/stream/stream.toml                          two chains on this machine's cores
  warpband stream examples/stream/stream.toml --device cuda:0 --json stream.json
  warpband stream examples/stream/stream.toml --device cuda:0,cuda:1 --seconds 60

docs/stream.md explains scenarios, HDF5 files of frames and the library's interface.)";

}  // namespace

command add_stream(CLI::App& app) {
  CLI::App* stream = app.add_subcommand("stream", "Frames through a pipeline of devices, under a deadline");
  const auto o = std::make_shared<stream_options>();
  stream->footer(stream_footer);
  stream->add_option("SCENARIO", o->scenario, "What to run, in TOML: see --help-scenario");
  stream->add_option("--json", o->json, "Write all that was measured to FILE")->type_name("FILE");
  stream->add_option("--device", o->devices, "Instead of stream.devices: cpu, cuda:N, or several with commas")
      ->type_name("NAME,...");
  add_integer(
      *stream, "--threads", 0, 4096, "Instead of stream.threads, of a frame on the device cpu; 0: all cores",
      [o](std::int64_t n) { o->threads = static_cast<int>(n); }, "0 (all cores) to 4096");
  add_integer(*stream, "--frames", 1, 1'000'000'000'000, "Instead of stream.frames and stream.seconds",
              [o](std::int64_t n) { o->frames = static_cast<std::uint64_t>(n); });
  stream->add_option("--seconds", o->seconds, "Instead of stream.seconds")
      ->type_name("X")
      ->check(CLI::Range(1e-3, 1e9));
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
