#include <warpband/stream/pusch.hpp>

#include <deque>
#include <string>
#include <utility>

#include <warpband/core/check.hpp>
#include <warpband/core/count.hpp>
#include <warpband/core/error.hpp>
#include <warpband/fec/nr/tbs.hpp>
#include <warpband/fec/nr/transport.hpp>

namespace wb {
namespace {

using cx64 = std::complex<float>;

nr_channel_config uplink_of(const nr_channel_config& c) {
  if (c.direction != nr_direction::uplink) throw argument_error("channel", "\"pdsch\"", "\"pusch\"");
  return c;
}
nr_transport_config transport_of(const nr_shared_channel& channel, const pusch_chain_config& c) {
  check_range("mcs_table", c.mcs_table, 1, 3);
  check_range("mcs", c.mcs, 0, 31);
  if (nr_mcs_of(c.mcs_table, c.mcs).rate_x1024 == 0)
    throw argument_error("mcs", std::to_string(c.mcs), "one that is not reserved for retransmissions");
  nr_transport_config t = channel.transport(c.mcs_table, c.mcs);
  t.ldpc = c.decoder;
  check(t);
  return t;
}
detector_config detector_of(const nr_shared_channel& channel, const nr_transport_config& transport,
                            detector_config c) {
  c.streams = channel.config().layers;
  c.qam = 1 << transport.modulation_order;
  check_range("rx_antennas", c.rx_antennas, c.streams, 16);
  return c;
}

/// What receives batches of so many slots. Frames are cut into batches of the largest frame's slots, or of
/// half, a quarter, ... of them, down to one, so that each keeps its memory from frame to frame.
template <class Receiver>
struct slot_batch {
  template <class... A>
  explicit slot_batch(std::size_t n, A&&... a) : slots(n), receiver(std::forward<A>(a)...) {}
  std::size_t slots;
  Receiver receiver;
};
template <class Receiver>
class slot_batches {
 public:
  /// `make`(batches, slots) adds the one of so many slots.
  template <class Make>
  slot_batches(std::size_t most, Make make) {
    for (std::size_t slots = most; slots > 0; slots /= 2) make(all_, slots);
  }
  /// Calls f(receiver, first slot, slots) for the batches of a frame.
  template <class F>
  void each(std::size_t slots, F f) {
    std::size_t at = 0;
    for (auto& [n, receiver] : all_)
      for (; slots - at >= n; at += n) f(receiver, at, n);
  }

 private:
  std::deque<slot_batch<Receiver>> all_;  // largest first
};

class pusch_chain final : public frame_chain {
 public:
  pusch_chain(const pusch_chain_config& c, pusch_receiver receiver)
      : channel_(uplink_of(c.channel)),
        transport_(transport_of(channel_, c)),
        estimator_(pilots_of(channel_), c.estimator, channel_.data_places()),
        detector_config_(detector_of(channel_, transport_, c.detector)),
        detector_(make_detector(detector_config_)),
        receiver_(std::move(receiver)),
        rx_(size(c.detector.rx_antennas)) {
    if (receiver_)
      stages_ = {"estimate", "receive"};
    else
      stages_ = {"estimate", "detect", "decode"};
    inputs_ = {
        {.name = "received", .type = element_type::complex64, .elements = rx_, .rows = channel_.elements()},
        {.name = "noise_var", .type = element_type::float32, .elements = 1, .rows = 1, .per_items = 0}};
    outputs_ = {{.name = "bits", .type = element_type::uint8, .elements = size(transport_.transport_bits)},
                {.name = "ok", .type = element_type::uint8},
                {.name = "status", .type = element_type::uint8}};
  }
  std::string name() const override { return "pusch"; }
  const std::vector<frame_port>& inputs() const noexcept override { return inputs_; }
  const std::vector<frame_port>& outputs() const noexcept override { return outputs_; }
  const std::vector<std::string>& stages() const noexcept override { return stages_; }
  std::size_t granularity(std::size_t) const noexcept override { return 0; }
  double bits_of(std::size_t items) const noexcept override {
    return static_cast<double>(transport_.transport_bits) * static_cast<double>(items);
  }
  std::unique_ptr<chain_run> attach(executor& exec, std::size_t most_items) const override {
    if (receiver_) return std::make_unique<looped_slots>(*this, exec, most_items);
    return std::make_unique<open_slots>(*this, exec, most_items);
  }

 private:
  /// What both receivers begin with: H, N0 and y of the resource elements with data.
  class slots_on : public chain_run {
   public:
    slots_on(const pusch_chain& chain, executor& exec, std::size_t most)
        : chain_(chain),
          exec_(exec),
          h_(exec.make<cx64>(chain.rx_ * chain.channel_.layers(), most * data())),
          y_(exec.make<cx64>(chain.rx_, most * data())),
          trusted_(exec.make<float>(1, most * data())) {}

   protected:
    std::size_t data() const noexcept { return chain_.channel_.data_elements(); }
    view<const cx64> received(const frame_arrays& f) const {
      return make_view(static_cast<const cx64*>(f.inputs[0]), chain_.rx_,
                       f.items * chain_.channel_.elements());
    }
    void estimate(const frame_arrays& f) {
      const std::size_t uses = f.items * data();
      chain_.estimator_.run(exec_, received(f), {static_cast<const float*>(f.inputs[1]), 1, f.items, 1, 0},
                            {.channel = make_view(h_.data(), h_.elements(), uses),
                             .noise_var = make_view(trusted_.data(), uses)});
    }
    void extract(const frame_arrays& f) {
      chain_.channel_.extract(exec_, received(f), make_view(y_.data(), y_.elements(), f.items * data()));
    }
    /// What a detector takes of `slots` slots from slot `at` on.
    detector_input heard(std::size_t at, std::size_t slots) const {
      const std::size_t first = at * data(), uses = slots * data();
      const auto from = [&](const auto& a) {
        return make_view(a.data() + first * a.elements(), a.elements(), uses);
      };
      return {.received = from(y_),
              .channel = from(h_),
              .uses_per_channel = 1,
              .noise_var = from(trusted_),
              .prior = {}};
    }
    nr_transport_output decided(const frame_arrays& f, std::size_t at, std::size_t slots) const {
      const std::size_t a = size(chain_.transport_.transport_bits);
      return {.bits = make_view(static_cast<std::uint8_t*>(f.outputs[0]) + at * a, a, slots),
              .ok = make_view(static_cast<std::uint8_t*>(f.outputs[1]) + at, slots),
              .block_ok = {},
              .iterations = {},
              .status = make_view(static_cast<std::uint8_t*>(f.outputs[2]) + at, slots),
              .extrinsic = {}};
    }

    const pusch_chain& chain_;
    executor& exec_;

   private:
    array<cx64> h_, y_;
    array<float> trusted_;
  };

  /// Detector and decoder one behind the other.
  class open_slots final : public slots_on {
   public:
    open_slots(const pusch_chain& chain, executor& exec, std::size_t most)
        : slots_on(chain, exec, most),
          llr_(exec.make<float>(size(chain.transport_.coded_bits), most)),
          decoders_(most, [&](auto& all, std::size_t slots) { all.emplace_back(slots, chain.transport_); }) {}
    void run(std::size_t stage, const frame_arrays& f) override {
      if (stage == 0)
        estimate(f);
      else if (stage == 1)
        detect(f);
      else
        decode(f);
    }

   private:
    void detect(const frame_arrays& f) {
      extract(f);
      const auto llr = make_view(llr_.data(), chain_.detector_->bits_per_use(), f.items * data());
      chain_.detector_->run(exec_, heard(0, f.items), {.llr = llr, .bits = {}, .status = {}});
    }
    void decode(const frame_arrays& f) {
      const std::size_t g = llr_.elements();
      decoders_.each(f.items, [&](nr_transport_decoder& decoder, std::size_t at, std::size_t slots) {
        decoder.reset();
        decoder.combine(exec_, make_view(static_cast<const float*>(llr_.data()) + at * g, g, slots), 0);
        decoder.decode(exec_, decided(f, at, slots));
      });
    }

    array<float> llr_;
    slot_batches<nr_transport_decoder> decoders_;
  };

  /// Both in one.
  class looped_slots final : public slots_on {
   public:
    looped_slots(const pusch_chain& chain, executor& exec, std::size_t most)
        : slots_on(chain, exec, most), loops_(most, [&](auto& all, std::size_t slots) {
            all.emplace_back(slots, chain.receiver_(exec, slots, chain.detector_config_, chain.transport_));
          }) {}
    void run(std::size_t stage, const frame_arrays& f) override {
      if (stage == 0) return estimate(f);
      extract(f);
      loops_.each(f.items, [&](const pusch_receive& receive, std::size_t at, std::size_t slots) {
        receive(exec_, heard(at, slots), decided(f, at, slots));
      });
    }

   private:
    slot_batches<pusch_receive> loops_;
  };

  nr_shared_channel channel_;
  nr_transport_config transport_;
  channel_estimator estimator_;
  detector_config detector_config_;
  std::unique_ptr<detector> detector_;
  pusch_receiver receiver_;  // none: detector and decoder one behind the other
  std::size_t rx_;
  std::vector<frame_port> inputs_, outputs_;
  std::vector<std::string> stages_;
};

}  // namespace

std::unique_ptr<frame_chain> make_pusch_chain(const pusch_chain_config& config) {
  return std::make_unique<pusch_chain>(config, pusch_receiver{});
}
std::unique_ptr<frame_chain> make_pusch_chain(const pusch_chain_config& config, pusch_receiver receiver) {
  if (!receiver) throw argument_error("receiver", "without a target", "a function");
  return std::make_unique<pusch_chain>(config, std::move(receiver));
}

}  // namespace wb
