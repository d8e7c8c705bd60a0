// stream/: frames under a deadline. The pipeline's threads never touch Python: what is delivered is copied,
// without the GIL, into arrays that were made when the frame was pushed, and a thread of Python's calls back.
#include <Python.h>

#include <algorithm>
#include <chrono>
#include <complex>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <warpband/fec/bcjr/bcjr.hpp>
#include <warpband/fec/ldpc/ldpc.hpp>
#include <warpband/fec/turbo/turbo.hpp>
#include <warpband/fec/viterbi/viterbi.hpp>
#include <warpband/receive/chains.hpp>
#include <warpband/stream/pipeline.hpp>

#include "arrays.hpp"
#include "detect.hpp"
#include "rooms.hpp"
#include "settings.hpp"
#include "wimax.hpp"

namespace wb::python {
namespace {

using cf = std::complex<float>;
using seconds = std::chrono::duration<double>;

/// Waits look for signals as often, in seconds.
constexpr double signals_every = 0.05;

// ---- chains

/// What Python calls the setting that chains call by other names.
template <class Make>
std::shared_ptr<const frame_receiver> chain_by(Make make) {
  try {
    return make();
  } catch (const argument_error& e) {
    if (e.argument() == "uses_per_channel" || e.argument() == "symbols" ||
        e.argument() == "codewords_per_channel")
      throw argument_error("items_per_channel", e.value(), e.allowed());
    throw;
  }
}

/// Decides bits. It does not iterate: Python does not show the second output.
class viterbi final : public soft_decoder {
 public:
  explicit viterbi(const viterbi_decoder& d) : decoder_(d) {}
  std::size_t k() const noexcept override { return static_cast<std::size_t>(decoder_.frame().k()); }
  std::size_t n() const noexcept override { return decoder_.frame().n(); }
  bool gives_extrinsic() const noexcept override { return false; }
  void run(executor& exec, view<const float> llr, const soft_decoder_state&,
           const soft_decoder_output& out) const override {
    decoder_.run(exec, llr, {.bits = out.bits, .status = out.status});
  }

 private:
  viterbi_decoder decoder_;
};

std::shared_ptr<const soft_decoder> decoder_of(nb::handle decoder) {
  if (nb::isinstance<turbo_decoder>(decoder))
    return make_soft_decoder(nb::cast<const turbo_decoder&>(decoder));
  if (nb::isinstance<ldpc_decoder>(decoder)) {
    const auto& d = nb::cast<const ldpc_decoder&>(decoder);
    return make_soft_decoder(d.code(), d.config());
  }
  if (nb::isinstance<viterbi_decoder>(decoder))
    return std::make_shared<viterbi>(nb::cast<const viterbi_decoder&>(decoder));
  if (nb::isinstance<ctc_decoder>(decoder)) return make_soft_decoder(nb::cast<const ctc_decoder&>(decoder));
  return make_soft_decoder(nb::cast<const bcjr_decoder&>(decoder));
}

struct stream_choice {
  pipeline_config pipeline;
  uplink_chain_config numbers;  // of massive MIMO; which LLRs follows from the outputs
};

/// Nothing in Python reads a trace.
const std::vector<setting_of<stream_choice>>& stream_keywords() {
  static const auto settings =
      joined<stream_choice>([](stream_choice& c) -> pipeline_config& { return c.pipeline; },
                            without({"trace"}, pipeline_settings()),
                            [](stream_choice& c) -> uplink_chain_config& { return c.numbers; },
                            without({"llr"}, uplink_chain_settings()));
  return settings;
}

bool is_uplink(nb::handle stage) {
  return nb::isinstance<uplink_detector>(stage) || nb::isinstance<clustered_uplink_detector>(stage);
}
bool is_downlink(nb::handle stage) {
  return nb::isinstance<downlink_precoder>(stage) || nb::isinstance<clustered_downlink_precoder>(stage);
}

std::unique_ptr<frame_receiver> massive_chain_of(nb::handle stage, int per_channel, int splits,
                                                 uplink_chain_config numbers) {
  numbers.symbols = per_channel, numbers.splits = splits;
  if (nb::isinstance<uplink_detector>(stage)) {
    numbers.detector = nb::cast<const uplink_detector&>(stage).config();
    return make_uplink_chain(numbers);
  }
  if (nb::isinstance<clustered_uplink_detector>(stage)) {
    const auto& c = nb::cast<const clustered_uplink_detector&>(stage).config();
    numbers.detector = c.detector, numbers.clusters = c.clusters, numbers.cluster_method = c.cluster_method;
    return make_uplink_chain(numbers);
  }
  precode_chain_config sent;
  sent.symbols = per_channel, sent.half = numbers.half;
  if (nb::isinstance<downlink_precoder>(stage)) {
    sent.precoder = nb::cast<const downlink_precoder&>(stage).config();
  } else {
    const auto& c = nb::cast<const clustered_downlink_precoder&>(stage).config();
    sent.precoder = c.precoder, sent.clusters = c.clusters, sent.cluster_method = c.cluster_method;
  }
  return make_precode_chain(sent);
}

std::shared_ptr<const frame_receiver> chain_of(nb::handle stage, nb::handle decoder, int per_channel,
                                               int splits, const uplink_chain_config& numbers) {
  const auto shared = static_cast<std::size_t>(std::max(per_channel, 0));
  return chain_by([&]() -> std::unique_ptr<frame_receiver> {
    if (nb::isinstance<detector_ref>(stage)) {
      const detect_chain_config c{nb::cast<const detector_ref&>(stage).config, shared};
      return decoder.is_none() ? make_detect_chain(c) : make_decode_chain(c, decoder_of(decoder));
    }
    if (is_uplink(stage) || is_downlink(stage)) return massive_chain_of(stage, per_channel, splits, numbers);
    if (nb::isinstance<wimax_frame_ref>(stage))
      return make_wimax_chain(nb::cast<const wimax_frame_ref&>(stage).config);
    return make_stbc_chain({nb::cast<const stbc_decoder&>(stage).config(), shared});
  });
}

// ---- frames

/// A frame that was pushed. Made and destroyed with the GIL held.
struct frame_state {
  struct target {
    std::size_t port;
    std::byte* to;
    bool negated;
  };
  std::vector<target> targets;
  std::size_t items = 0;
  nb::object payload;          // keeps the memory of the targets
  std::uint64_t sequence = 0;  // under the hub's mutex
  // Written before `done`, which is under the hub's mutex.
  bool done = false;
  frame_status status = frame_status::delivered;
  std::string error;
  std::size_t device = 0;
  int attempts = 0;
  double latency = 0, queued = 0, on_device = 0;  // seconds
};
using frame_ptr = std::shared_ptr<frame_state>;

/// Whether this thread is inside of a call that may deliver frames itself: it must not wait for the callback.
thread_local bool delivering_caller = false;

struct caller_delivers {
  caller_delivers() { delivering_caller = true; }
  ~caller_delivers() { delivering_caller = false; }
  caller_delivers(const caller_delivers&) = delete;
  caller_delivers& operator=(const caller_delivers&) = delete;
};

/// Where frames go: shared by a stream, its tickets and the pipeline's threads.
struct frame_hub {
  explicit frame_hub(bool has_callback) : calls_back(has_callback) {}

  const unsigned generation = forks_so_far();
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<frame_ptr> under_way;  // pushed and not delivered, in order
  std::deque<frame_ptr> ready;      // delivered, and the callback is still to be called
  std::vector<frame_ptr> over;      // to be let go by a thread with the GIL
  std::size_t occupied = 0;  // slots, also of pushes that have not pushed yet; not where frames are dropped
  std::uint64_t delivered = 0;  // frames
  std::uint64_t for_callback = 0, called_back = 0;
  std::size_t most_ready = 1;
  int unhindered =
      0;  // calls that wait for frames, of the callback or of stop: nothing waits for the callback
  bool calls_back, ended = false;
  std::optional<std::thread::id> caller;  // of the callback

  void check_process() const {
    if (generation != forks_so_far())
      throw error("a stream cannot be used in the child of a fork: make one there");
  }
  bool in_callback() {
    std::lock_guard l(mutex);
    return caller == std::this_thread::get_id();
  }

  /// What the pipeline calls.
  void deliver(const frame_result& r) {
    const auto time = frame_clock::now();
    frame_ptr f;
    bool wanted = false;
    {
      std::lock_guard l(mutex);
      f = under_way.front();
      wanted = calls_back;
    }
    // Besides this and the list somebody may hold it.
    if (r.status == frame_status::delivered && (wanted || f.use_count() > 2)) copy(r, *f);
    std::unique_lock l(mutex);
    f->status = r.status, f->sequence = r.sequence;
    if (r.status != frame_status::dropped) {
      f->error = r.error;
      f->device = r.device, f->attempts = r.attempts;
      f->latency = seconds(time - r.pushed).count();
      f->queued = seconds(r.started - r.pushed).count();
      f->on_device = seconds(r.finished - r.started).count();
    }
    f->done = true;
    under_way.pop_front();
    delivered++;
    const bool calls = calls_back && r.status != frame_status::dropped;
    if (calls) for_callback++;
    (calls ? static_cast<void>(ready.push_back(std::move(f))) : over.push_back(std::move(f)));
    changed.notify_all();
    if (calls && !delivering_caller)
      changed.wait(l, [this] { return ready.size() <= most_ready || unhindered > 0 || !calls_back; });
    if (occupied > 0) occupied--;  // now the pipeline has the slot back
    changed.notify_all();
  }
  static void copy(const frame_result& r, const frame_state& f) {
    const auto& ports = r.chain->outputs();
    for (const auto& t : f.targets) {
      const std::size_t bytes = ports[t.port].bytes_of(r.items);
      const std::byte* from = r.outputs + offset_of(ports, t.port, r.items);
      if (!t.negated)
        std::memcpy(t.to, from, bytes);
      else if (ports[t.port].type == element_type::int8)
        negate<std::int8_t>(from, t.to, bytes);
      else
        negate<float>(from, t.to, bytes);
    }
  }
  /// Steps are -127 to 127.
  template <class T>
  static void negate(const std::byte* from, std::byte* to, std::size_t bytes) {
    const auto* in = reinterpret_cast<const T*>(from);
    auto* out = reinterpret_cast<T*>(to);
    for (std::size_t i = 0; i < bytes / sizeof(T); i++) out[i] = static_cast<T>(0 - in[i]);
  }
  void vacate() {
    std::lock_guard l(mutex);
    occupied--;
    changed.notify_all();
  }
  /// With the GIL, which the objects that frames hold need.
  void let_go() {
    std::vector<frame_ptr> gone;
    std::lock_guard l(mutex);
    gone.swap(over);
  }
  /// Waits without the GIL until `ready` holds, false after `timeout` seconds; signals are Python's.
  template <class Ready>
  bool wait(std::optional<double> timeout, Ready when) {
    const auto start = frame_clock::now();
    const bool inside = in_callback();
    for (;;) {
      double slice = signals_every;
      if (timeout) slice = std::min(slice, *timeout - seconds(frame_clock::now() - start).count());
      {
        nb::gil_scoped_release released;
        std::unique_lock l(mutex);
        if (inside && unhindered++ == 0) changed.notify_all();
        const bool reached = changed.wait_for(l, seconds(std::max(slice, 0.0)), when);
        if (inside) unhindered--;
        if (reached) return true;
      }
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      if (timeout && seconds(frame_clock::now() - start).count() >= *timeout) return false;
    }
  }
};

/// While the callback, or stop, is inside of a call that waits for frames, nobody waits for the callback.
class unhindered_deliveries {
 public:
  unhindered_deliveries(frame_hub& hub, bool counts) : hub_(hub), counts_(counts) { add(1); }
  ~unhindered_deliveries() { add(-1); }
  unhindered_deliveries(const unhindered_deliveries&) = delete;
  unhindered_deliveries& operator=(const unhindered_deliveries&) = delete;

 private:
  void add(int n) {
    if (!counts_) return;
    std::lock_guard l(hub_.mutex);
    hub_.unhindered += n;
    hub_.changed.notify_all();
  }
  frame_hub& hub_;
  bool counts_;
};

struct ticket {
  std::shared_ptr<frame_hub> hub;
  frame_ptr frame;

  bool done() const {
    hub->check_process();
    std::lock_guard l(hub->mutex);
    return frame->done;
  }
  bool wait(std::optional<double> timeout) const {
    hub->check_process();
    return hub->wait(timeout, [this] { return frame->done; });
  }
  std::uint64_t sequence() const {
    if (hub->generation != forks_so_far())
      return frame->sequence;  // who had the mutex stayed with the parent
    std::lock_guard l(hub->mutex);
    return frame->sequence;
  }
};

/// For the garbage collector: a payload's tag may refer to the ticket. It belongs to the frame, which is this
/// ticket's alone once it is delivered; before, what else holds it keeps all of it.
int traverse_ticket(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  const auto* t = nb::inst_ptr<ticket>(self);
  if (t->frame && t->frame.use_count() == 1) Py_VISIT(t->frame->payload.ptr());
  return 0;
}
int clear_ticket(PyObject* self) {
  if (!nb::inst_ready(self)) return 0;
  const auto* t = nb::inst_ptr<ticket>(self);
  if (t->frame && t->frame.use_count() == 1) t->frame->payload.reset();
  return 0;
}
PyType_Slot ticket_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_ticket)},
                              {Py_tp_clear, reinterpret_cast<void*>(clear_ticket)},
                              {0, nullptr}};

// ---- streams

using extents = std::vector<std::size_t>;
/// What the thread that calls back takes frames from.
struct delivered_frames {
  std::shared_ptr<frame_hub> hub;

  /// The next frame, none after the last one. The one before has been called back.
  std::optional<ticket> next(bool called_back) const {
    frame_hub& h = *hub;
    h.let_go();
    frame_ptr f;
    {
      nb::gil_scoped_release released;
      std::unique_lock l(h.mutex);
      h.caller = std::this_thread::get_id();
      h.called_back += called_back;
      h.changed.notify_all();
      h.changed.wait(l, [&] { return !h.ready.empty() || h.ended; });
      if (h.ready.empty()) {
        h.caller.reset();  // the next thread may be given the same id
        return std::nullopt;
      }
      f = std::move(h.ready.front());
      h.ready.pop_front();
      h.changed.notify_all();
    }
    return ticket{hub, std::move(f)};
  }
};

template <class Channel, class Items = Channel>
struct samples_of {
  view<const Channel> channel;  // no data: the frame has none
  view<const Items> items;
};
/// What a frame brings.
using samples = std::variant<samples_of<cf>, samples_of<half_complex>, samples_of<half_complex, cf>>;

/// For tests: numbers of frames, and at whose first run the device fails, "device", or the frame itself does.
using faults = std::vector<std::pair<std::uint64_t, std::string>>;

class stream {
 public:
  stream(nb::object stage, nb::object decoder, int per_channel, int splits, extents channel_shape,
         extents item_shape, bool has_callback, stream_choice choice)
      : stage_(std::move(stage)),
        decoder_(std::move(decoder)),
        channel_shape_(std::move(channel_shape)),
        item_shape_(std::move(item_shape)),
        half_channel_(choice.numbers.half),
        half_items_(half_channel_ && is_uplink(stage_)),
        hub_(std::make_shared<frame_hub>(has_callback)),
        drops_(choice.pipeline.overflow == overflow_policy::drop_oldest),
        host_(1, std::nullopt),
        choice_(std::move(choice)) {
    chain_ = chain_of(stage_, decoder_, per_channel, splits, choice_.numbers);
    items_port_ = chain_->inputs().size() - 2;
    nb::gil_scoped_release released;
    pipeline_ = std::make_unique<frame_pipeline>(
        chain_, choice_.pipeline, [hub = hub_.get()](const frame_result& r) { hub->deliver(r); });
    slots_ = hub_->most_ready = pipeline_->slots();
  }
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;
  ~stream() {
    if (hub_->generation != forks_so_far()) {  // the threads stayed with the parent: nothing can be ended
      static_cast<void>(pipeline_.release());
      new std::shared_ptr<frame_hub>(hub_);
      return;
    }
    {
      nb::gil_scoped_release released;
      {
        std::lock_guard l(hub_->mutex);
        hub_->calls_back = false;
      }
      hub_->changed.notify_all();
      pipeline_.reset();
    }
    hub_->let_go();
    std::deque<frame_ptr> ready;
    std::lock_guard l(hub_->mutex);
    ready.swap(hub_->ready);
    hub_->ended = true;
    hub_->changed.notify_all();
  }

  /// None where the timeout is over.
  std::optional<ticket> push(nb::handle channel, nb::handle items_array, nb::handle noise_var,
                             nb::object payload, nb::sequence outputs, std::optional<double> timeout) {
    const auto since = frame_clock::now();
    hub_->check_process();
    hub_->let_go();
    const auto& in = chain_->inputs();
    const frame_port& of_items = in[items_port_];
    const argument h("channel", channel, host_), y(of_items.name.c_str(), items_array, host_);
    const int trailing = static_cast<int>(item_shape_.size()),
              of_channel = static_cast<int>(channel_shape_.size());
    expect(y, of_items.name, item_shape_, half_items_, is_uplink(stage_));
    // Halves have one axis more, of real and imaginary part.
    const std::size_t items = product(y.batch(trailing + half_items_));
    if (items_port_ != 0) {
      expect(h, "channel", channel_shape_, half_channel_, is_uplink(stage_) || is_downlink(stage_));
      const std::size_t channels = product(h.batch(of_channel + half_channel_)),
                        numbers = std::accumulate(channel_shape_.begin(), channel_shape_.end(),
                                                  std::size_t{1}, std::multiplies<>()),
                        wanted = in[0].rows_of(items) * in[0].elements / numbers;
      if (channels != wanted)
        throw shape_error("channel", "shape " + text_of(h.batch(0)),
                          std::to_string(wanted) + " in all for " + of_items.name + " of shape " +
                              text_of(y.batch(0)) + ", " + std::to_string(in[0].per_items) +
                              " items for each");
    }
    const samples inputs = [&]() -> samples {
      if (half_items_) return samples_of<half_complex>{h.as_halves(2), y.as_halves(trailing)};
      if (half_channel_) return samples_of<half_complex, cf>{h.as_halves(2), y.as<const cf>(trailing)};
      return samples_of<cf>{h.as<const cf>(of_channel), y.as<const cf>(trailing)};
    }();
    const float n0 = noise_of(noise_var);

    auto f = std::make_shared<frame_state>();
    f->items = items;
    for (const nb::handle o : outputs) {
      const auto [port, negated, array] = nb::cast<std::tuple<std::size_t, bool, nb::object>>(o);
      f->targets.push_back({port, memory_of(array, chain_->outputs().at(port).bytes_of(items)), negated});
    }
    f->payload = std::move(payload);

    frame_hub& hub = *hub_;
    bool reserved = false;
    const auto room = [&] {
      reserved = hub.occupied < slots_;
      hub.occupied += reserved;
      return reserved || hub.ended;
    };
    // Where frames are dropped none is reserved: what waits makes room. Where nothing waits, since all are
    // under way or ended behind a callback, acquire waits.
    if (!drops_ && !hub.wait(timeout, room)) return std::nullopt;
    const unhindered_deliveries in_callback(hub, hub.in_callback());
    try {
      for (;;) {
        const auto time = frame_clock::now();
        const double left = drops_ && timeout ? *timeout - seconds(time - since).count() : signals_every;
        const seconds slice(std::clamp(left, 0.0, signals_every));
        if (push_by(time + std::chrono::duration_cast<frame_clock::duration>(slice), f, inputs, n0, since))
          return ticket{hub_, std::move(f)};
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        if (left <= 0) return std::nullopt;
      }
    } catch (...) {
      if (reserved) hub.vacate();
      throw;
    }
  }

  /// False where the timeout is over.
  bool drain(std::optional<double> timeout) {
    hub_->check_process();
    if (hub_->in_callback()) throw error("a callback cannot drain its stream: it would wait for itself");
    frame_hub& hub = *hub_;
    std::uint64_t total = 0, calls = 0;
    {
      std::lock_guard l(hub.mutex);
      total = hub.delivered + hub.under_way.size();
    }
    // Then how many of them the callback gets is known.
    const bool reached = hub.wait(timeout, [&] {
      if (hub.delivered < total) return false;
      if (calls == 0) calls = hub.for_callback;
      return hub.called_back >= calls;
    });
    hub.let_go();
    return reached;
  }
  /// Waits for frames under way, and for no callback.
  void stop() {
    hub_->check_process();
    if (hub_->in_callback()) throw error("a callback cannot stop its stream: it would wait for itself");
    {
      nb::gil_scoped_release released;
      {
        const caller_delivers flag;
        pipeline_->close();  // before deliveries go on, so that what waits now is dropped
        const unhindered_deliveries of_all(*hub_, true);
        pipeline_->stop();
      }
      std::lock_guard l(hub_->mutex);
      hub_->ended = true;
      hub_->changed.notify_all();
    }
    hub_->let_go();
  }

  /// What does not change.
  const frame_pipeline& pipeline() const { return *pipeline_; }
  /// What does, under a mutex that a thread of the parent may have had when it forked.
  frame_pipeline& counting_pipeline() const {
    hub_->check_process();
    return *pipeline_;
  }
  const frame_receiver& chain() const { return *chain_; }
  const stream_choice& choice() const { return choice_; }
  const std::shared_ptr<frame_hub>& hub() const { return hub_; }

 private:
  /// Without the GIL; false where no slot was free by then.
  bool push_by(frame_clock::time_point until, const frame_ptr& f, const samples& inputs, float n0,
               frame_clock::time_point since) {
    frame_hub& hub = *hub_;
    nb::gil_scoped_release released;
    std::optional<frame_slot> slot = [&] {
      const caller_delivers flag;
      return pipeline_->acquire(f->items, until);
    }();
    if (!slot) return false;
    std::visit(
        [&](const auto& in) {
          if (items_port_ != 0) put(in.channel, slot->bytes(0));
          put(in.items, slot->bytes(items_port_));
        },
        inputs);
    std::memcpy(slot->bytes(items_port_ + 1), &n0, sizeof n0);
    std::lock_guard order(pushing_);
    {
      std::lock_guard l(hub.mutex);
      hub.under_way.push_back(f);
    }
    try {
      const std::uint64_t sequence = pipeline_->push(std::move(*slot), 0, since);
      std::lock_guard l(hub.mutex);
      if (!f->done) f->sequence = sequence;
    } catch (...) {
      std::lock_guard l(hub.mutex);
      hub.under_way.pop_back();
      throw;
    }
    return true;
  }
  /// Of another type than the stream's the array is blamed for that, not for its shape.
  static void expect(const argument& a, const std::string& name, const extents& shape, bool half,
                     bool may_be_half) {
    if (half) {
      if (a.type() != number::float16) (void)a.as_halves(static_cast<int>(shape.size()));
      return shape.size() == 1 ? a.expect_item({shape[0], 2}) : a.expect_item({shape[0], shape[1], 2});
    }
    if (a.type() == number::float16)
      throw shape_error(
          name, "an array of float16",
          may_be_half ? "one of complex64, or a stream with samples = \"complex32\"" : "one of complex64");
    if (shape.size() == 3) return a.expect_item({shape[0], shape[1], shape[2]});
    shape.size() == 1 ? a.expect_item({shape[0]}) : a.expect_item({shape[0], shape[1]});
  }
  float noise_of(nb::handle noise_var) {
    if (PyFloat_Check(noise_var.ptr()) || PyLong_Check(noise_var.ptr()))
      return static_cast<float>(noise_number(noise_var, is_downlink(stage_)));
    if (noise_var.is_none()) throw nb::type_error("noise_var is None: expected a number");
    const argument a("noise_var", noise_var, host_);
    if (product(a.batch(0)) != 1)
      throw shape_error("noise_var", "shape " + text_of(a.batch(0)), "one number for a frame");
    return a.as<const float>(0).data[0];
  }
  static std::byte* memory_of(nb::handle array, std::size_t bytes) {
    Py_buffer buffer;
    if (PyObject_GetBuffer(array.ptr(), &buffer, PyBUF_CONTIG) != 0) throw nb::python_error();
    auto* const memory = static_cast<std::byte*>(buffer.buf);
    const bool fits = static_cast<std::size_t>(buffer.len) == bytes;
    PyBuffer_Release(&buffer);  // the array is kept, and nobody else has it
    if (!fits) throw shape_error("out", "another size", std::to_string(bytes) + " bytes");
    return memory;
  }
  template <class Sample>
  static void put(const view<const Sample>& from, std::byte* bytes) {
    auto* to = reinterpret_cast<Sample*>(bytes);
    if (from.element_stride == 1 && (from.item_stride == from.elements || from.items == 1)) {
      std::memcpy(bytes, from.data, from.items * from.elements * sizeof(Sample));
      return;
    }
    for (std::size_t i = 0; i < from.items; i++)
      for (std::size_t e = 0; e < from.elements; e++)
        *to++ = from.data[i * from.item_stride + e * from.element_stride];
  }

  nb::object stage_, decoder_;
  extents channel_shape_, item_shape_;
  bool half_channel_, half_items_;  // which of them come in as pairs of halves
  std::shared_ptr<frame_hub> hub_;
  std::shared_ptr<const frame_receiver> chain_;
  std::size_t items_port_ = 1;  // of the inputs: 0 where frames have no H; N0 is behind it
  std::size_t slots_ = 0;
  bool drops_;
  executor_ref host_;  // what arrays must lie beside
  const stream_choice choice_;
  std::mutex pushing_;  // frames are listed in the order in which the pipeline numbers them
  std::unique_ptr<frame_pipeline> pipeline_;
};

stream_choice choice_of(const nb::dict& settings, bool llr_int8, faults fail) {
  stream_choice choice = with_settings(stream_keywords(), settings);
  choice.numbers.llr_int8 = llr_int8;
  pipeline_config& c = choice.pipeline;
  if (!fail.empty())
    c.fault = [fail = std::move(fail)](const fault_point& p) {
      for (const auto& [sequence, kind] : fail) {
        if (p.sequence != sequence || p.attempt != 0 || p.moment != fault_moment::start) continue;
        if (kind == "device") throw device_error("a fault that a test asked for");
        throw error("a fault that a test asked for");
      }
    };
  return choice;
}

}  // namespace

void bind_stream(nb::module_& m) {
  // Tells sys.unraisablehook, whose own argument only the interpreter makes.
  m.def(
      "report_unraisable",
      [](nb::handle error, nb::handle where) {
        PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
        PyErr_WriteUnraisable(where.ptr());
      },
      nb::arg("error"), nb::arg("where").none());
  nb::class_<latency_histogram>(m, "Latencies")
      .def_prop_ro("count", &latency_histogram::count)
      .def_prop_ro("mean_us", &latency_histogram::mean_us)
      .def_prop_ro("max_us", &latency_histogram::max_us)
      .def(
          "percentiles_us",
          [](const latency_histogram& h, const std::vector<double>& percents) {
            std::vector<double> times;
            for (const double p : percents) times.push_back(h.percentile_us(p));
            return times;
          },
          nb::arg("percents"))
      .def("__getstate__",
           [](const latency_histogram& h) {
             static_assert(std::is_trivially_copyable_v<latency_histogram>);
             return nb::bytes(reinterpret_cast<const char*>(&h), sizeof h);
           })
      .def("__setstate__", [](latency_histogram& h, const nb::bytes& counts) {
        if (counts.size() != sizeof h)
          throw argument_error("state", std::to_string(counts.size()) + " bytes", std::to_string(sizeof h));
        new (&h) latency_histogram();
        std::memcpy(static_cast<void*>(&h), counts.c_str(), sizeof h);
      });
  nb::class_<ticket>(m, "StreamTicket", nb::type_slots(ticket_slots))
      .def("done", &ticket::done)
      .def("wait", &ticket::wait, nb::arg("timeout").none())
      .def_prop_ro("payload", [](const ticket& t) { return t.frame->payload; })
      .def_prop_ro("sequence", &ticket::sequence)
      // status, error, device, attempts, seconds: of one that is done
      .def("about", [](const ticket& t) {
        const frame_state& f = *t.frame;
        return nb::make_tuple(name_of(f.status), f.error, f.device, f.attempts, f.latency, f.queued,
                              f.on_device);
      });
  nb::class_<delivered_frames>(m, "DeliveredFrames")
      .def("next", &delivered_frames::next, nb::arg("called_back"));
  add_keywords(m, "Stream", stream_keywords(), {}, {"most_items"});
  nb::class_<stream>(m, "Stream")
      .def(
          "__init__",
          [](stream* self, nb::object stage, nb::object decoder, int items_per_channel, int splits,
             bool llr_int8, extents channel_shape, extents item_shape, bool calls_back,
             const nb::dict& settings, faults fail) {
            new (self) stream(std::move(stage), std::move(decoder), items_per_channel, splits,
                              std::move(channel_shape), std::move(item_shape), calls_back,
                              choice_of(settings, llr_int8, std::move(fail)));
          },
          nb::kw_only(), nb::arg("stage"), nb::arg("decoder").none(), nb::arg("items_per_channel"),
          nb::arg("splits"), nb::arg("llr_int8"), nb::arg("channel_shape"), nb::arg("item_shape"),
          nb::arg("calls_back"), nb::arg("settings"), nb::arg("faults"))
      .def_prop_ro("settings", [](const stream& s) { return settings_in(stream_keywords(), s.choice()); })
      .def("push", &stream::push, optional("channel"), nb::arg("items"), optional("noise_var"),
           nb::arg("payload"), nb::arg("outputs"), nb::arg("timeout").none())
      .def("drain", &stream::drain, nb::arg("timeout").none())
      .def("stop", &stream::stop)
      .def_prop_ro("frames", [](const stream& s) { return delivered_frames{s.hub()}; })
      .def_prop_ro("slots", [](const stream& s) { return s.pipeline().slots(); })
      .def_prop_ro("descriptions", [](const stream& s) { return s.pipeline().descriptions(); })
      .def_prop_ro("graphs", [](const stream& s) { return s.pipeline().graphs(); })
      .def("counters",
           [](const stream& s) {
             const pipeline_counters c = s.counting_pipeline().counters();
             nb::dict d;
             d["pushed"] = c.pushed, d["delivered"] = c.delivered, d["dropped"] = c.dropped;
             d["failed"] = c.failed, d["rerun"] = c.rerun, d["devices_failed"] = c.devices_failed;
             d["missed"] = c.missed, d["waiting"] = c.waiting, d["most_waiting"] = c.most_waiting;
             d["mean_waiting"] =
                 c.pushed == 0 ? 0 : static_cast<double>(c.waiting_sum) / static_cast<double>(c.pushed);
             return d;
           })
      // in all, until the start on a device, from there
      .def("times",
           [](const stream& s) {
             const auto t = std::make_unique<pipeline_times>(s.counting_pipeline().times());
             return nb::make_tuple(t->latency, t->queued, t->device);
           })
      .def("reset_times", [](stream& s) { s.counting_pipeline().reset_times(); });
}

}  // namespace wb::python
