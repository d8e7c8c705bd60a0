#include <warpband/stream/pipeline.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

#include <warpband/core/check.hpp>
#include <warpband/stream/devices.hpp>

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
setting_of<pipeline_config> time_setting(const char* name,
                                         std::optional<std::chrono::nanoseconds> pipeline_config::*member,
                                         double nanoseconds, const char* text) {
  const std::string allowed = settings_detail::range_text("a number", 0, 1e9, true);
  return {name,
          "number",
          allowed,
          text,
          {},
          [=](pipeline_config& c, const setting_value& v) {
            settings_detail::take(c.*member, v, [&] {
              const double units = settings_detail::real(name, v, 0, 1e9, true, allowed);
              return std::chrono::nanoseconds(static_cast<std::int64_t>(units * nanoseconds));
            });
          },
          [=](const pipeline_config& c) -> setting_value {
            if (!(c.*member)) return {};
            return static_cast<double>((c.*member)->count()) / nanoseconds;
          }};
}

}  // namespace

const std::vector<setting_of<pipeline_config>>& pipeline_settings() {
  using c = pipeline_config;
  static const std::vector<setting_of<c>> settings{
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
      time_setting("deadline_us", &c::deadline, 1e3,
                   "Later deliveries are counted as missed. Absent: none are."),
      time_setting("timeout_ms", &c::timeout, 1e6,
                   "CUDA: a device under which a frame is longer than this counts as failed. Absent: it is "
                   "waited for."),
      integer("trace", &c::trace, 0, 100'000,
              "Counts the times of all frames at each place that they pass. Lists this many of the slowest "
              "frames, with the share of each place in their excess over the others. 0: none of this.")};
  return settings;
}

int automatic_batch(const frame_receiver& chain, std::size_t items) noexcept {
  const std::size_t bytes = std::max(offset_of(chain.inputs(), chain.inputs().size(), items),
                                     offset_of(chain.outputs(), chain.outputs().size(), items));
  return static_cast<int>(std::clamp<std::size_t>(16'000'000 / std::max<std::size_t>(bytes, 1), 1, 64));
}

struct pipeline_state {
  pipeline_state(std::shared_ptr<const frame_receiver> receiver, pipeline_config settings,
                 frame_callback on_frame)
      : chain(std::move(receiver)), config(std::move(settings)), queue(slots, config, std::move(on_frame)) {}
  const std::shared_ptr<const frame_receiver> chain;
  const pipeline_config config;
  frame_slots slots{*chain, config};
  frame_queue queue;
  frame_devices devices{*chain, config, slots, queue};
};

namespace {

/// Throws argument_error for what the pipeline does not take. Completes graph_items.
pipeline_config checked(const frame_receiver* chain, pipeline_config config) {
  if (chain == nullptr) throw argument_error("chain", "null", "a chain");
  check_range("devices", static_cast<long long>(config.devices.size()), 1, 64);
  check_range("streams", config.streams, 1, 64);
  check_range("queue", static_cast<long long>(std::min<std::size_t>(config.queue, 1 << 30)), 1, 65536);
  check_range("parts", config.parts, 1, 64);
  check_range("batch", config.batch, 1, most_batch);
  check_range("trace", static_cast<long long>(std::min<std::size_t>(config.trace, 1 << 30)), 0, 100'000);
  check_range("retries", config.retries, 0, 64);
  if (config.batch > 1 && config.parts > 1)
    throw argument_error("batch", std::to_string(config.batch), "1 with parts above 1");
  for (const auto& [name, time] : {std::pair{"timeout", config.timeout}, {"deadline", config.deadline}})
    if (time && time->count() <= 0)
      throw argument_error(name, std::to_string(time->count()) + " ns", "more than 0, or none");
  if (chain->inputs().size() > frame_arrays::max_arrays || chain->outputs().size() > frame_arrays::max_arrays)
    throw argument_error("chain", chain->name(), "one with at most 8 arrays in and 8 out");
  check_items(*chain, "most_items", config.most_items, config.most_items);
  if (config.graphs && config.parts != 1) throw argument_error("graphs", "true", "false with parts above 1");
  for (const std::size_t items : config.graph_items) {
    check_items(*chain, "graph_items", items, config.most_items);
    if (config.parts != 1)
      throw argument_error("graph_items", std::to_string(items), "none with parts above 1");
  }
  if (config.graphs) config.graph_items.push_back(config.most_items);
  return config;
}

}  // namespace

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
  const auto l = state_->slots.locked();
  state_->slots.give_back(state_->slots[index_]);
}

frame_ticket& frame_ticket::operator=(frame_ticket&& o) noexcept {
  std::swap(state_, o.state_);
  std::swap(index_, o.index_);
  std::swap(sequence_, o.sequence_);
  return *this;
}
frame_ticket::~frame_ticket() {
  if (!state_) return;
  const auto l = state_->slots.locked();
  state_->slots.release_ticket(state_->slots[index_]);
}
bool frame_ticket::ready() const {
  if (!state_) return false;
  const auto l = state_->slots.locked();
  return state_->slots[index_].use == slot_use::kept;
}
frame_result frame_ticket::wait() const {
  if (!state_) throw error("this ticket belongs to no frame");
  return state_->queue.wait(state_->slots[index_]);
}

// ---- the pipeline

frame_pipeline::frame_pipeline(std::shared_ptr<const frame_receiver> chain, pipeline_config config,
                               frame_callback on_frame) {
  config = checked(chain.get(), std::move(config));
  state_ = std::make_shared<pipeline_state>(std::move(chain), std::move(config), std::move(on_frame));
  try {
    state_->devices.open();
  } catch (...) {
    stop();  // threads that have begun
    throw;
  }
}
frame_pipeline::~frame_pipeline() { stop(); }

frame_slot frame_pipeline::acquire(std::size_t items) { return *acquire(items, frame_lane::for_ever); }
std::optional<frame_slot> frame_pipeline::acquire(std::size_t items, frame_clock::time_point until) {
  check_items(*state_->chain, "items", items, state_->config.most_items);
  const slot_state* const f = state_->queue.acquire(until);
  if (f == nullptr) return std::nullopt;
  frame_slot slot;
  slot.state_ = state_;
  slot.chain_ = state_->chain.get();
  slot.inputs_ = f->inputs;
  slot.index_ = f->index, slot.items_ = items;
  return slot;
}

std::uint64_t frame_pipeline::push(frame_slot slot, std::uint64_t token, frame_clock::time_point since) {
  if (slot.state_ != state_)
    throw argument_error("slot", "of no or another pipeline", "one that acquire gave");
  const std::uint64_t sequence =
      state_->queue.push(state_->slots[slot.index_], slot.items_, false, token, since);
  slot.state_.reset();
  return sequence;
}
frame_ticket frame_pipeline::submit(frame_slot slot, std::uint64_t token, frame_clock::time_point since) {
  if (slot.state_ != state_)
    throw argument_error("slot", "of no or another pipeline", "one that acquire gave");
  frame_ticket ticket;
  ticket.sequence_ = state_->queue.push(state_->slots[slot.index_], slot.items_, true, token, since);
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

void frame_pipeline::drain() { state_->queue.drain(); }
void frame_pipeline::close() { state_->queue.close(); }
void frame_pipeline::stop() {
  if (state_->queue.in_callback())
    throw error("a callback cannot stop its pipeline: it would wait for itself");
  state_->queue.close();
  state_->devices.stop(state_);
}

pipeline_counters frame_pipeline::counters() const { return state_->queue.counters(); }
pipeline_times frame_pipeline::times() const { return state_->queue.times(); }
void frame_pipeline::reset_times() { state_->queue.reset_times(); }
stream_trace frame_pipeline::trace() const { return state_->queue.trace(); }
std::size_t frame_pipeline::slots() const noexcept { return state_->slots.size(); }
const std::vector<std::string>& frame_pipeline::descriptions() const noexcept {
  return state_->devices.descriptions();
}
std::size_t frame_pipeline::graphs() const noexcept { return state_->devices.graphs(); }

}  // namespace wb
