#include <warpband/stream/lane.hpp>

#include <algorithm>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

#include <warpband/core/error.hpp>
#include <warpband/exec/cpu.hpp>
#include <warpband/exec/cuda.hpp>

namespace wb {
namespace {

/// A frame whose arrays begin at `inputs` and `outputs`.
frame_arrays arrays_of(const frame_receiver& chain, const std::byte* inputs, std::byte* outputs,
                       std::size_t items) {
  frame_arrays f;
  f.items = f.frame_items = items;
  for (std::size_t i = 0; i < chain.inputs().size(); i++)
    f.inputs[i] = inputs + offset_of(chain.inputs(), i, items);
  for (std::size_t i = 0; i < chain.outputs().size(); i++)
    f.outputs[i] = outputs + offset_of(chain.outputs(), i, items);
  return f;
}
std::size_t input_bytes(const frame_receiver& chain, std::size_t items) {
  return offset_of(chain.inputs(), chain.inputs().size(), items);
}
std::size_t output_bytes(const frame_receiver& chain, std::size_t items) {
  return offset_of(chain.outputs(), chain.outputs().size(), items);
}

/// Sizes that a lane runs frames of before any counts: the largest one and its halves, as a small batch may
/// take another way through a kernel than a large one, with other working memory.
std::vector<std::size_t> sizes_to_run(const frame_receiver& chain, std::size_t most_items) {
  const std::size_t unit = chain.multiple(), least = chain.least_items();
  std::vector<std::size_t> sizes;
  for (std::size_t items = most_items; items >= least && items != 0; items = items / 2 / unit * unit)
    sizes.push_back(items);
  return sizes;
}

/// Where part `part` of `parts` begins, of `units` that cannot be cut. Parts get smaller, as
/// parts : parts - 1 : ... : 1. What a frame takes beside its copies in is the work on its last part, which
/// is short then without a larger number of copies, of which each costs some microseconds whatever its size.
std::size_t part_begin(std::size_t units, std::size_t parts, std::size_t part) {
  const std::size_t boundary = units * (part * (2 * parts - part + 1)) / (parts * (parts + 1));
  return std::clamp(boundary, part, units - (parts - part));  // none is empty
}

/// Works where the frame lies.
class cpu_lane final : public frame_lane {
 public:
  cpu_lane(const frame_receiver& chain, const lane_config& c)
      : chain_(chain),
        exec_({.threads = c.threads != 0 ? std::optional(c.threads) : std::nullopt, .instructions = {}}),
        run_(chain.attach(exec_, c.most_items)) {
    auto in = exec_.make<std::byte>(1, input_bytes(chain, c.most_items)),
         out = exec_.make<std::byte>(1, output_bytes(chain, c.most_items));
    std::memset(in.data(), 0, in.bytes());
    for (const std::size_t items : sizes_to_run(chain, c.most_items)) start({in.data(), out.data(), items});
  }
  void start(const lane_frame& f) override {
    const std::size_t in = input_bytes(chain_, f.items), out = output_bytes(chain_, f.items);
    for (std::size_t i = 0; i < f.count; i++) {
      const frame_arrays a = arrays_of(chain_, f.inputs + i * in, f.outputs + i * out, f.items);
      for (std::size_t s = 0; s < chain_.stages().size(); s++) run_(s, a);
    }
  }
  bool done() override { return true; }
  bool abandon(std::chrono::steady_clock::time_point) noexcept override { return true; }
  executor& where() noexcept override { return exec_; }

 private:
  const frame_receiver& chain_;
  cpu exec_;
  frame_run run_;
};

/// A device's time as a number. CUDA tells times between events, as floats, which are good for seconds and
/// not for hours: the event that they count from is renewed. Used by the thread that drives the device.
class device_clock {
 public:
  explicit device_clock(cuda& exec)
      : base_(std::make_unique<cuda_event>(exec.device().index, true)),
        next_(std::make_unique<cuda_event>(exec.device().index, true)) {
    base_->record(exec);
    exec.sync();
  }
  /// Before a frame starts on `exec`, so that after a pause it is timed from an event that is close.
  void renew(cuda& exec) {
    const auto time = frame_clock::now();
    if (waits_ || time - renewed_ < std::chrono::milliseconds(500)) return;
    next_->record(exec);
    renewed_ = time;
    waits_ = true;
  }
  /// Of places that are reached, from now on from the new event if that is reached too.
  void look() {
    if (!waits_ || !next_->reached()) return;
    zero_us_ += next_->us_since(*base_);
    std::swap(base_, next_);
    waits_ = false;
  }
  double time_of(const cuda_event& reached) const { return zero_us_ + reached.us_since(*base_); }

 private:
  std::unique_ptr<cuda_event> base_, next_;
  frame_clock::time_point renewed_ = frame_clock::now();
  double zero_us_ = 0;
  bool waits_ = false;  // for next_
};

/// Copies in, kernels and copies out, on one stream. A frame in parts has its kernels and copies out on
/// several streams in turn, so that the kernels of one part run while the next part is copied. All parts of
/// all frames of a device are copied in on one stream. Copies of several streams would share the bus, and the
/// first part would arrive as late as the last one.
class cuda_lane final : public frame_lane {
 public:
  /// `clock`: of the device, where frames are traced. `in`: zeros, `out`: page-locked memory, each of `batch`
  /// frames, for those that run here.
  cuda_lane(const frame_receiver& chain, const lane_config& c, int device, std::shared_ptr<cuda> uploads,
            std::shared_ptr<device_clock> clock, const array<std::byte>& in, array<std::byte>& out)
      : chain_(chain),
        parts_(static_cast<std::size_t>(c.parts)),
        batch_(static_cast<std::size_t>(c.batch)),
        uploads_(std::move(uploads)),
        arrived_(device),
        clock_(std::move(clock)) {
    if (clock_) {
      upload_begun_.emplace(device, true);
      uploaded_.emplace(device, true);
    }
    const std::size_t streams = std::min<std::size_t>(parts_, most_streams);
    for (std::size_t i = 0; i < streams; i++) {
      branches_.push_back(std::make_unique<branch>(chain, device, c.most_items, clock_ != nullptr));
    }
    inputs_ = first().exec.make<std::byte>(batch_, input_bytes(chain, c.most_items));
    outputs_ = first().exec.make<std::byte>(batch_, output_bytes(chain, c.most_items));
    // Between its arrays lie bytes that no stage writes, and that are copied with them.
    std::memset(out.data(), 0, out.bytes());
    first().exec.upload(outputs_.data(), out.data(), out.bytes());
    first().exec.sync();
    for (const std::size_t items : sizes_to_run(chain, c.most_items)) {
      const lane_frame f{const_cast<std::byte*>(in.data()), out.data(), items, 0,
                         items == c.most_items ? batch_ : 1};
      start(f);
      abandon(for_ever);
      // Which part meets which stream depends on their number: each stream meets the largest one.
      if (const std::size_t unit = chain.granularity(items); parts_ > 1 && unit != 0) {
        const std::size_t units = (items + unit - 1) / unit, parts = std::min(parts_, units);
        frame_arrays a = arrays_of(chain, inputs_.data(), outputs_.data(), items);
        a.items = std::min(items, part_begin(units, parts, 1) * unit);
        for (auto& b : branches_) {
          run(*b, a);
          b->exec.sync();
        }
      }
    }
    for (auto& b : branches_) b->exec.sync();
  }
  ~cuda_lane() override { abandon(for_ever); }

  void enter() override { first().exec.select(); }
  void start(const lane_frame& f) override {
    if (clock_) clock_->renew(first().exec);
    const graph* const g = find(f);
    as_graph_ = g != nullptr;
    if (as_graph_) {
      if (clock_) upload_begun_->record(first().exec);
      g->recorded.run(first().exec);
    } else {
      queue(f, clock_ != nullptr);
    }
    end();
  }
  lane_times times() override {
    lane_times t;
    if (!clock_) return t;
    clock_->look();
    t.upload_begun = clock_->time_of(*upload_begun_);
    if (!as_graph_) t.uploaded = clock_->time_of(*uploaded_);
    for (std::size_t b = 0; b < used_; b++) {
      if (!as_graph_) t.computed = std::max(t.computed, clock_->time_of(*branches_[b]->computed));
      t.downloaded = std::max(t.downloaded, clock_->time_of(branches_[b]->event));
    }
    return t;
  }
  bool done() override {
    for (std::size_t b = used_; b > 0; b--)  // the last part ends last, mostly
      if (!branches_[b - 1]->event.reached()) return false;
    return true;
  }
  bool idle() noexcept override {
    try {
      for (auto& b : branches_)
        if (!b->event.reached()) return false;
      return parts_ == 1 || arrived_.reached();
    } catch (const std::exception&) {
      return true;
    }
  }
  bool abandon(std::chrono::steady_clock::time_point until) noexcept override {
    try {
      if (until != for_ever) {  // behind all that is queued, also where a start broke off
        for (auto& b : branches_) b->event.record(b->exec);
        if (parts_ > 1) arrived_.record(*uploads_);
        while (!idle()) {
          if (std::chrono::steady_clock::now() > until) return false;
          std::this_thread::yield();
        }
        return true;
      }
      for (auto& b : branches_) b->exec.sync();
      if (parts_ > 1) uploads_->sync();
    } catch (const std::exception&) {  // the device failed: nothing of it runs any more
    }
    return true;
  }
  void prepare(const std::vector<lane_frame>& frames) override {
    // Tables and workspaces are there after, and do not grow under a graph that is recorded already.
    for (const lane_frame& f : frames) queue(f);
    for (auto& b : branches_) b->exec.sync();
    for (const lane_frame& f : frames) {
      graph g{f, {}};
      g.recorded.record(first().exec, [&] { queue(f); });
      graphs_.push_back(std::move(g));
    }
  }
  void notify(std::function<void()> f) override { notify_ = std::move(f); }
  bool queues() const noexcept override { return true; }
  executor& where() noexcept override { return branches_.front()->exec; }
  std::size_t graphs() const noexcept override { return graphs_.size(); }

 private:
  static constexpr std::size_t most_streams = 4;
  struct branch {
    branch(const frame_receiver& chain, int device, std::size_t most_items, bool traced)
        : exec({.device = device}), event(device, traced), run(chain.attach(exec, most_items)) {
      if (traced) computed.emplace(device, true);
    }
    cuda exec;
    cuda_event event;  // of the end
    std::optional<cuda_event> computed;
    frame_run run;
  };
  struct graph {
    lane_frame frame;
    cuda_graph recorded;
  };

  branch& first() noexcept { return *branches_.front(); }
  const graph* find(const lane_frame& f) const {
    for (const graph& g : graphs_)
      if (g.frame.slot == f.slot && g.frame.items == f.items && g.frame.count == f.count &&
          g.frame.inputs == f.inputs && g.frame.outputs == f.outputs)
        return &g;
    return nullptr;
  }
  void run(branch& b, const frame_arrays& a) {
    for (std::size_t s = 0; s < chain_.stages().size(); s++) b.run(s, a);
  }
  /// With `stamps` it records the events of times(). A graph has none, as its events have no time.
  void queue(const lane_frame& f, bool stamps = false) {
    const std::size_t unit = chain_.granularity(f.items);
    const std::size_t units = parts_ == 1 || unit == 0 ? 1 : (f.items + unit - 1) / unit;
    units == 1 ? queue_whole(f, stamps) : queue_parts(f, unit, units, stamps);
  }
  void queue_whole(const lane_frame& f, bool stamps) {
    const std::size_t in_bytes = input_bytes(chain_, f.items), out_bytes = output_bytes(chain_, f.items);
    used_ = 1;
    if (stamps) upload_begun_->record(first().exec);
    first().exec.upload(inputs_.data(), f.inputs, f.count * in_bytes);
    if (stamps) uploaded_->record(first().exec);
    for (std::size_t i = 0; i < f.count; i++)
      run(first(),
          arrays_of(chain_, inputs_.data() + i * in_bytes, outputs_.data() + i * out_bytes, f.items));
    if (stamps) first().computed->record(first().exec);
    first().exec.download(f.outputs, outputs_.data(), f.count * out_bytes);
  }
  /// `units`: pieces of `unit` items that cannot be cut.
  void queue_parts(const lane_frame& f, std::size_t unit, std::size_t units, bool stamps) {
    const std::size_t parts = std::min(parts_, units);
    const frame_arrays host = arrays_of(chain_, f.inputs, f.outputs, f.items),
                       device = arrays_of(chain_, inputs_.data(), outputs_.data(), f.items);
    const auto &in = chain_.inputs(), &out = chain_.outputs();
    const auto comes_first = [&](std::size_t i) { return in[i].shared() || in[i].whole; };
    std::size_t last = in.size();  // the last array that is cut; what lies behind it goes with its last rows
    while (last > 0 && comes_first(last - 1)) last--;
    const std::size_t behind = last == 0 ? 0 : input_bytes(chain_, f.items) - offset_of(in, last, f.items);
    if (stamps) upload_begun_->record(*uploads_);
    for (std::size_t i = 0; i < (behind == 0 ? in.size() : last); i++)
      if (comes_first(i))
        uploads_->upload(const_cast<void*>(device.inputs[i]), host.inputs[i], in[i].bytes_of(f.items));
    const std::size_t used = std::min(parts, branches_.size());
    for (std::size_t p = 0; p < parts; p++) {  // from the last rows to the first
      branch& b = *branches_[p % used];
      const std::size_t from = (units - part_begin(units, parts, p + 1)) * unit,
                        to = std::min(f.items, (units - part_begin(units, parts, p)) * unit);
      frame_arrays part;
      part.items = to - from;
      part.frame_items = f.items;
      for (std::size_t i = 0; i < in.size(); i++) {
        const std::size_t skipped = comes_first(i) ? 0 : in[i].bytes_of(from);
        part.inputs[i] = static_cast<const std::byte*>(device.inputs[i]) + skipped;
        if (comes_first(i)) continue;
        const std::size_t gap =
            offset_of(in, i + 1, f.items) - offset_of(in, i, f.items) - in[i].bytes_of(f.items);
        uploads_->upload(const_cast<void*>(part.inputs[i]),
                         static_cast<const std::byte*>(host.inputs[i]) + skipped,
                         in[i].bytes_of(part.items) + (p == 0 && i + 1 == last ? gap + behind : 0));
      }
      arrived_.record(*uploads_);
      arrived_.hold(b.exec);
      if (stamps && p + 1 == parts) uploaded_->record(*uploads_);
      for (std::size_t i = 0; i < out.size(); i++)
        part.outputs[i] = static_cast<std::byte*>(device.outputs[i]) + out[i].bytes_of(from);
      run(b, part);
      if (stamps) b.computed->record(b.exec);
      for (std::size_t i = 0; i < out.size(); i++)
        b.exec.download(static_cast<std::byte*>(host.outputs[i]) + out[i].bytes_of(from), part.outputs[i],
                        out[i].bytes_of(part.items));
    }
    used_ = used;
    for (std::size_t b = 1; b < used; b++) {
      branches_[b]->event.record(branches_[b]->exec);
      if (notify_) branches_[b]->event.hold(first().exec);  // which tells of the end then
    }
  }
  /// What tells that the frame is done.
  void end() {
    first().event.record(first().exec);
    if (notify_) first().exec.notify([](void* lane) { static_cast<cuda_lane*>(lane)->notify_(); }, this);
  }

  const frame_receiver& chain_;
  std::size_t parts_, batch_;
  std::size_t used_ = 1;           // branches of the frame that was started
  std::shared_ptr<cuda> uploads_;  // of parts
  cuda_event arrived_;
  std::shared_ptr<device_clock> clock_;  // where frames are traced
  std::optional<cuda_event> upload_begun_, uploaded_;
  bool as_graph_ = false;  // the frame that was started
  std::vector<std::unique_ptr<branch>> branches_;
  array<std::byte> inputs_, outputs_;
  std::vector<graph> graphs_;
  std::function<void()> notify_;
};

}  // namespace

std::vector<std::unique_ptr<frame_lane>> make_lanes(const frame_receiver& chain, const lane_config& config,
                                                    std::size_t lanes) {
  if (config.parts > 1 && chain.granularity(config.most_items) == 0)
    throw argument_error("parts", std::to_string(config.parts),
                         "1: " + chain.name() + " works on a frame as a whole");
  const std::shared_ptr<cuda> device = open_cuda(config.device);  // checks the name
  // Of an executor that ends here: one that stays would keep it page-locked.
  std::optional<cuda> passing;
  array<std::byte> in, out;
  if (device) {
    passing.emplace(cuda_options{.device = device->device().index});
    const std::size_t batch = static_cast<std::size_t>(config.batch);
    in = passing->make_host<std::byte>(batch, input_bytes(chain, config.most_items));
    out = passing->make_host<std::byte>(batch, output_bytes(chain, config.most_items));
    std::memset(in.data(), 0, in.bytes());
  }
  const auto clock = device && config.traced ? std::make_shared<device_clock>(*device) : nullptr;
  std::vector<std::unique_ptr<frame_lane>> created;
  for (std::size_t i = 0; i < lanes; i++)
    if (device)
      created.push_back(
          std::make_unique<cuda_lane>(chain, config, device->device().index, device, clock, in, out));
    else
      created.push_back(std::make_unique<cpu_lane>(chain, config));
  return created;
}

}  // namespace wb
