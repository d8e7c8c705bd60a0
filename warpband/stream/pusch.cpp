#include <warpband/stream/pusch.hpp>

#include <deque>
#include <string>

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

class pusch_chain final : public frame_chain {
 public:
  explicit pusch_chain(const pusch_chain_config& c)
      : channel_(uplink_of(c.channel)),
        transport_(transport_of(channel_, c)),
        estimator_(pilots_of(channel_), c.estimator, channel_.data_places()),
        detector_(make_detector(detector_of(channel_, transport_, c.detector))),
        rx_(size(c.detector.rx_antennas)) {
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
    return std::make_unique<slots_on>(*this, exec, most_items);
  }

 private:
  /// A decoder for batches of so many slots: it keeps its memory from frame to frame.
  struct batch_decoder {
    batch_decoder(const nr_transport_config& c, std::size_t n) : slots(n), decoder(c) {}
    std::size_t slots;
    nr_transport_decoder decoder;
  };

  class slots_on final : public chain_run {
   public:
    slots_on(const pusch_chain& chain, executor& exec, std::size_t most)
        : chain_(chain),
          exec_(exec),
          h_(exec.make<cx64>(chain.rx_ * chain.channel_.layers(), most * data())),
          y_(exec.make<cx64>(chain.rx_, most * data())),
          trusted_(exec.make<float>(1, most * data())),
          llr_(exec.make<float>(size(chain.transport_.coded_bits), most)) {
      for (std::size_t slots = most; slots > 0; slots /= 2) decoders_.emplace_back(chain.transport_, slots);
    }
    void run(std::size_t stage, const frame_arrays& f) override {
      if (stage == 0)
        estimate(f);
      else if (stage == 1)
        detect(f);
      else
        decode(f);
    }

   private:
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
    void detect(const frame_arrays& f) {
      const std::size_t uses = f.items * data();
      const auto y = make_view(y_.data(), y_.elements(), uses);
      chain_.channel_.extract(exec_, received(f), y);
      chain_.detector_->run(
          exec_,
          {.received = y,
           .channel = make_view(static_cast<const cx64*>(h_.data()), h_.elements(), uses),
           .uses_per_channel = 1,
           .noise_var = make_view(static_cast<const float*>(trusted_.data()), uses),
           .prior = {}},
          {.llr = make_view(llr_.data(), chain_.detector_->bits_per_use(), uses), .bits = {}, .status = {}});
    }
    /// In batches of the largest frame's slots, or of half, a quarter, ... of them, down to one.
    void decode(const frame_arrays& f) {
      const std::size_t a = size(chain_.transport_.transport_bits), g = llr_.elements();
      std::size_t at = 0;
      for (auto& [slots, decoder] : decoders_)
        for (; f.items - at >= slots; at += slots) {
          decoder.reset();
          decoder.combine(exec_, make_view(static_cast<const float*>(llr_.data()) + at * g, g, slots), 0);
          decoder.decode(exec_,
                         {.bits = make_view(static_cast<std::uint8_t*>(f.outputs[0]) + at * a, a, slots),
                          .ok = make_view(static_cast<std::uint8_t*>(f.outputs[1]) + at, slots),
                          .status = make_view(static_cast<std::uint8_t*>(f.outputs[2]) + at, slots)});
        }
    }

    const pusch_chain& chain_;
    executor& exec_;
    array<cx64> h_, y_;
    array<float> trusted_, llr_;
    std::deque<batch_decoder> decoders_;  // largest first
  };

  nr_shared_channel channel_;
  nr_transport_config transport_;
  channel_estimator estimator_;
  std::unique_ptr<detector> detector_;
  std::size_t rx_;
  std::vector<frame_port> inputs_, outputs_;
  std::vector<std::string> stages_{"estimate", "detect", "decode"};
};

}  // namespace

std::unique_ptr<frame_chain> make_pusch_chain(const pusch_chain_config& config) {
  return std::make_unique<pusch_chain>(config);
}

}  // namespace wb
