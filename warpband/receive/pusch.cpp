#include <warpband/receive/pusch.hpp>

#include <warpband/code/nr_transport.hpp>

#include <string>
#include <utility>

#include <warpband/core/as_size.hpp>
#include <warpband/core/check.hpp>
#include <warpband/core/error.hpp>
#include <warpband/fec/nr/tbs.hpp>
#include <warpband/receive/open_loop.hpp>
#include <warpband/receive/slot_arrays.hpp>
#include <warpband/receive/transport_loop.hpp>

namespace wb {
namespace {

using cx64 = std::complex<float>;

nr_channel_config uplink_of(const nr_channel_config& c) {
  if (c.direction != nr_direction::uplink) throw argument_error("channel", "\"pdsch\"", "\"pusch\"");
  if (c.pi2_bpsk) throw argument_error("pi2_bpsk", "true", "false, as detectors have no BPSK");
  return c;
}
nr_transport_config transport_of(const nr_shared_channel& channel, const pusch_chain_config& c) {
  check_range("mcs_table", c.mcs_table, 1, channel.config().transform_precoding ? 2 : 3);
  check_range("mcs", c.mcs, 0, 31);
  if (nr_mcs_of(channel.config(), c.mcs_table, c.mcs).rate_x1024 == 0)
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
  if (channel.config().transform_precoding) c.rx_antennas = 1;  // behind the equaliser
  return c;
}

/// What a configuration comes to.
struct pusch_receiver {
  explicit pusch_receiver(const pusch_chain_config& c)
      : channel(uplink_of(c.channel)),
        transport(transport_of(channel, c)),
        estimator(pilots_of(channel), c.estimator, channel.data_places()),
        detector(detector_of(channel, transport, c.detector)),
        rx_antennas(as_size(c.detector.rx_antennas)),
        loop(c.receiver),
        open(loop ? nullptr : make_open_detector(detector)) {}
  std::unique_ptr<receiver> make() const {
    if (loop) return std::make_unique<transport_loop>(detector, transport, *loop);
    return make_open_loop(
        open, [this] { return make_coder(transport); }, {0}, static_cast<std::size_t>(transport.coded_bits),
        channel.data_elements(), true);
  }

  nr_shared_channel channel;
  nr_transport_config transport;
  channel_estimator estimator;
  detector_config detector;
  std::size_t rx_antennas;
  std::optional<receiver_config> loop;
  std::shared_ptr<const soft_detector> open;
};

/// It on an executor.
class attached {
 public:
  attached(std::shared_ptr<const pusch_receiver> is, executor& exec, std::size_t max_slots)
      : is_(std::move(is)), exec_(exec), rx_(is_->rx_antennas), arrays_(is_->channel, rx_) {
    arrays_.allocate(exec, max_slots);
    for (std::size_t slots = max_slots; slots > 0; slots = is_->loop ? slots / 2 : 0) {
      batches_.emplace_back(slots, is_->make());
      batches_.back().second->allocate(exec, slots);
    }
  }
  void run(std::size_t stage, const frame_arrays& f) {
    const auto received =
        make_view(static_cast<const cx64*>(f.inputs[0]), f.items * is_->channel.elements(), rx_);
    if (stage == 0) {
      const view<const float> n0{static_cast<const float*>(f.inputs[1]), 1, f.items, 1, 0};
      arrays_.extract(exec_, received, f.items);
      arrays_.estimate(exec_, is_->estimator, received, n0);
      return arrays_.equalise(exec_, f.items);
    }
    std::size_t first = 0;
    for (const auto& [size, receiver] : batches_) {
      const std::size_t slots = is_->loop ? size : f.items;
      for (; first < f.items && f.items - first >= slots; first += slots)
        receiver->run_stage(exec_, stage - 1, arrays_.slots(first, slots), results(f, first, slots));
    }
  }

 private:
  decided results(const frame_arrays& f, std::size_t first, std::size_t slots) const {
    const auto output = [&](std::size_t port, std::size_t elements) {
      return make_view(static_cast<std::uint8_t*>(f.outputs[port]) + first * elements, slots, elements);
    };
    return {.bits = output(0, as_size(is_->transport.transport_bits)),
            .ok = output(1, 1),
            .iterations = {},
            .status = output(2, 1)};
  }

  std::shared_ptr<const pusch_receiver> is_;
  executor& exec_;
  std::size_t rx_;
  slot_arrays arrays_;
  std::vector<std::pair<std::size_t, std::unique_ptr<receiver>>> batches_;  // by slots, largest first
};

}  // namespace

std::unique_ptr<frame_receiver> make_pusch_chain(const pusch_chain_config& config) {
  const auto is = std::make_shared<const pusch_receiver>(config);
  frame_receiver_parts p{
      .name = "pusch",
      .inputs =
          {{.name = "received",
            .type = element_type::complex64,
            .elements = is->rx_antennas,
            .rows = is->channel.elements()},
           {.name = "noise_var", .type = element_type::float32, .elements = 1, .rows = 1, .per_items = 0}},
      .outputs = {{.name = "bits",
                   .type = element_type::uint8,
                   .elements = as_size(is->transport.transport_bits)},
                  {.name = "ok", .type = element_type::uint8},
                  {.name = "status", .type = element_type::uint8}},
      .stages = {"estimate"}};
  const std::unique_ptr<receiver> one = is->make();
  p.stages.insert(p.stages.end(), one->stages().begin(), one->stages().end());
  p.attach = [is](executor& exec, std::size_t max_slots) -> frame_run {
    return [a = std::make_shared<attached>(is, exec, max_slots)](std::size_t stage, const frame_arrays& f) {
      a->run(stage, f);
    };
  };
  return std::make_unique<frame_receiver>(std::move(p));
}

}  // namespace wb
