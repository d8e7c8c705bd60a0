// Slots of 5G NR: layers to resource elements, channel, estimation.
#include <warpband/channel/matrix/matrix.hpp>
#include <warpband/code/nr_transport.hpp>
#include <warpband/estimate/estimator.hpp>
#include <warpband/link/antenna_kind.hpp>
#include <warpband/link/config/link_schema.hpp>
#include <warpband/link/tradeoff.hpp>
#include <warpband/link/transmitter.hpp>
#include <warpband/modem/qam/qam.hpp>
#include <warpband/receive/open_loop.hpp>
#include <warpband/receive/slot_arrays.hpp>
#include <warpband/receive/transport_loop.hpp>

namespace wb {
namespace {

using cf = std::complex<float>;

const nr_link_config& nr_of(const link_config& c) { return c.antennas.get<nr_link_config>(); }

/// W^T, by which a row of H is multiplied as a vector.
std::vector<cf> transposed_precoder(const nr_shared_channel& c) {
  std::vector<cf> w(c.precoder().size());
  for (std::size_t p = 0; p < c.ports(); p++)
    for (std::size_t l = 0; l < c.layers(); l++) w[l * c.ports() + p] = c.precoder()[p * c.layers() + l];
  return w;
}

class nr_antennas final : public antenna_system {
 public:
  explicit nr_antennas(const link_config& c)
      : config_(c),
        nr_(nr_of(c)),
        channel_(nr_.channel),
        noise_(c),
        mapper_(c.qam),
        layers_(channel_.layers()),
        ports_(channel_.ports()),
        rx_(static_cast<std::size_t>(nr_.detector.rx_antennas)),
        slots_(channel_, rx_),
        air_(make_air(c.channel, air_antennas_of(c), true)),
        statistics_(air_->statistics()) {
    if (precoded()) precoder_ = resident<cf>(transposed_precoder(channel_));
    if (nr_.csi == csi_type::ls)  // else made for the N0 of a point
      estimator_.emplace(pilots(), estimator_of(nr_, {}, statistics_.doppler_hz, 0), channel_.data_places());
  }

  std::size_t bytes_per_frame() const noexcept override {
    const std::size_t elements = channel_.elements(), data = channel_.data_elements(),
                      matrix = 8 * rx_ * layers_, of_ports = 8 * rx_ * ports_;
    return slots_.bytes_per_slot() + data * (8 * layers_ + (precoded() ? of_ports : 0)) +
           elements * (8 * (ports_ + rx_) + of_ports) + air_->bytes_per_frame() +
           (estimator_                     ? estimator_->working_bytes(1, rx_)
            : nr_.csi == csi_type::perfect ? 0
                                           : elements * matrix / 2);
  }
  std::size_t items_per_frame() const noexcept override { return 1; }

  void allocate(executor& exec, std::size_t frames) override {
    const std::size_t elements = frames * channel_.elements(), data = frames * channel_.data_elements();
    symbols_ = exec.make<cf>(frames, channel_.symbols_of(0));
    grid_ = exec.make<cf>(elements, ports_);
    received_ = exec.make<cf>(elements, rx_);
    slots_.allocate(exec, frames);
    if (fades()) true_h_ = exec.make<cf>(elements, rx_ * ports_);
    if (precoded() && nr_.csi == csi_type::perfect) port_h_ = exec.make<cf>(data, rx_ * ports_);
    air_->allocate(exec, frames);
    noise_.allocate(exec);
    if (!fades()) ones_on(exec, data);
  }

  samples send(executor& exec, const std::uint8_t* bits, const frame_batch& batch) override {
    const std::size_t n = batch.frames, elements = n * channel_.elements(),
                      symbols = n * channel_.symbols_of(0);
    const auto grid = make_view(grid_.data(), elements, ports_),
               received = make_view(received_.data(), elements, rx_);
    noise_.set(exec, batch.point_db);
    prepare(noise_.n0());
    mapper_.run(exec, make_view(bits, symbols, static_cast<std::size_t>(mapper_.bits())),
                make_view(symbols_.data(), symbols));
    channel_.map(exec, {view<const cf>(make_view(symbols_.data(), n, channel_.symbols_of(0)))}, grid);
    if (fades())
      air_->send(exec, grid, received, make_view(true_h_.data(), elements, rx_ * ports_),
                 batch.random(config_.seed));
    cf* sent = fades() ? received_.data() : grid_.data();  // without fading h is 1
    noise_.add(exec, sent, channel_.elements() * rx_, batch);
    estimate(exec, make_view(static_cast<const cf*>(sent), elements, rx_), n);
    return heard_samples(n);
  }

 private:
  bool fades() const noexcept { return air_->matrices() != 0; }
  bool precoded() const noexcept { return nr_.precoder == nr_precoding::codebook; }
  /// DMRS, at the times of the channel's symbols: a long prefix sets them further apart.
  pilot_pattern pilots() const {
    pilot_pattern p = pilots_of(channel_);
    p.period_us = statistics_.grid.period_us();
    return p;
  }
  /// Wiener filters are those of a point's N0.
  void prepare(float n0) {
    if (nr_.csi != csi_type::lmmse || n0 == made_for_) return;
    estimator_.emplace(
        pilots(), estimator_of(nr_, {statistics_.delays_ns, statistics_.powers}, statistics_.doppler_hz, n0),
        channel_.data_places());
    made_for_ = n0;
  }
  void ones_on(executor& exec, std::size_t uses) {
    const std::vector<cf> ones(uses * rx_ * layers_, 1.f);
    exec.upload(slots_.channel(uses).data, ones.data(), ones.size() * sizeof(cf));
    exec.sync();
  }
  /// What is received, H and N0 of the resource elements with data.
  void estimate(executor& exec, view<const cf> received, std::size_t frames) {
    slots_.extract(exec, received, frames);
    const std::size_t uses = frames * channel_.data_elements();
    if (nr_.csi == csi_type::perfect) {
      true_channel(exec, received.items, uses);
      return slots_.equalise(exec, frames, noise_.variances(uses));
    }
    slots_.estimate(exec, *estimator_, received, noise_.variances(frames));
    slots_.equalise(exec, frames);
  }
  /// H, with a codebook H W, whose rows are those of H times W.
  void true_channel(executor& exec, std::size_t elements, std::size_t uses) {
    if (!fades()) return;
    cf* to = precoded() ? port_h_.data() : slots_.channel(uses).data;
    channel_.extract(exec, make_view(static_cast<const cf*>(true_h_.data()), elements, rx_ * ports_),
                     make_view(to, uses, rx_ * ports_));
    if (!precoded()) return;
    const std::size_t rows = uses * rx_;
    apply_channel(exec, view<const cf>{precoder_.on(exec), layers_ * ports_, rows, 1, 0},
                  make_view(static_cast<const cf*>(port_h_.data()), rows, ports_),
                  make_view(slots_.channel(uses).data, rows, layers_), 1);
  }
  samples heard_samples(std::size_t frames) const {
    const heard h = slots_.slots(0, frames);
    return {.channel = h.channel,
            .received = h.received,
            .noise_var = nr_.csi == csi_type::perfect && !nr_.channel.transform_precoding
                             ? noise_.variances(h.received.items)
                             : h.noise_var};
  }

  link_config config_;
  nr_link_config nr_;
  nr_shared_channel channel_;
  noise_of_link noise_;
  qam_mapper mapper_;
  std::size_t layers_, ports_, rx_;
  slot_arrays slots_;
  std::unique_ptr<air> air_;
  channel_statistics statistics_;
  resident<cf> precoder_;
  std::optional<channel_estimator> estimator_;
  float made_for_ = 0;
  array<cf> symbols_, grid_, received_, true_h_, port_h_;
};

void add_nr_keys(config::schema& s, const std::vector<setting_condition>& allowed) {
  config::add_table(
      s, "nr.channel", nr_link_settings(), allowed,
      "Frames are then transport blocks in slots of 5G NR (docs/pusch.md), whose code and modulation "
      "follow from the MCS: code.type is \"nr-dlsch\", and of [code] only the settings of HARQ apply. In a "
      "delay line every transmission has a channel of its own; \"awgn\" has one antenna. With \"cdl\" each "
      "antenna port is a user of its own.");
}

void read_nr(const config::link_keys& keys, link_config& c) {
  nr_link_config nr;
  keys.take("nr", nr_link_settings(), nr);
  nr.detector = keys.detector();
  nr.detector.streams = detector_config{}.streams;
  c.antennas = nr;
}

/// Code, constellation and grid follow from those of slots.
void complete_slots(link_config& c) {
  if (c.code.type != "nr-dlsch")
    throw argument_error("code.type", "\"" + c.code.type + "\"", "\"nr-dlsch\" in slots of 5G NR");
  auto& nr = c.antennas.edit<nr_link_config>();
  nr = completed(nr);
  c.qam = qam_of(nr);
  c.code = completed(code_of(nr, c.code));
  try {
    complete_channel(c);
  } catch (const argument_error& error) {
    if (error.argument() != "streams") throw;
    throw argument_error(nr.precoder == nr_precoding::codebook ? "ports" : "layers", error.value(),
                         error.allowed());
  }
}

void describe_nr(const link_config& c, air_antennas& a) {
  const nr_link_config& nr = nr_of(c);
  a.system = nr.channel.direction == nr_direction::uplink ? air_system::pusch : air_system::pdsch;
  a.tx = *nr.channel.antenna_ports;
  a.grid = nr.channel.carrier.grid();
  a.uses = a.grid.elements();
  a.needs_profile = nr.csi == csi_type::lmmse;
}

std::vector<link_antennas> slot_candidates(const link_config& c) {
  nr_link_config nr = nr_of(c);
  std::vector<link_antennas> candidates{c.antennas};
  detector_config base = nr_of(completed(c)).detector;
  base.llr_clip = nr.detector.llr_clip;  // as given: each kind has a default of its own
  const std::vector<detector_config> detectors = detector_candidates(base);
  for (std::size_t i = 1; i < detectors.size(); i++) {
    nr.detector = detectors[i];
    nr.detector.streams = detector_config{}.streams;  // follows from the layers
    candidates.emplace_back(nr);
  }
  return candidates;
}
std::vector<link_antennas> slot_limits(const link_antennas& a) {
  nr_link_config nr = a.get<nr_link_config>();
  const detector_config detector = completed(nr).detector;
  std::vector<link_antennas> candidates;
  for (const float clip : clip_candidates(clip_of(detector), may_miss(detector))) {
    nr.detector.llr_clip = clip;
    candidates.emplace_back(nr);
  }
  return candidates;
}

}  // namespace

antenna_kind nr_kind() {
  return {
      .name = "nr",
      .key = "nr.channel",
      .idle = {"mimo.streams", "modem.modulation", "modem.demapper"},
      .add_keys = add_nr_keys,
      .read = read_nr,
      .sets_code = true,
      .complete = complete_slots,
      .check_loop = [](const link_config& c) { check_transport_loop(*c.receiver, detector_of(nr_of(c))); },
      .streams = [](const link_config& c) { return nr_of(c).detector.streams; },
      .rx_antennas = [](const link_config& c) { return nr_of(c).detector.rx_antennas; },
      .uses = resource_elements,
      .sent_power = [](const link_config& c) { return sent_power(nr_of(c)); },
      .describe = describe_nr,
      .results =
          [](const link_config& c) {
            named_values values = mimo_values(c);
            add_detector(values, nr_of(c).detector);
            add_values(values, "nr", nr_link_settings(), nr_of(c));
            return values;
          },
      .work = [](const link_config& c) { return uses_per_frame(c) * work_of(detector_of(nr_of(c))); },
      .make = [](const link_config& c) -> std::unique_ptr<antenna_system> {
        return std::make_unique<nr_antennas>(c);
      },
      .make_detector = [](const link_config& c) { return make_open_detector(detector_of(nr_of(c))); },
      .make_loop = [](const link_config& c) -> std::unique_ptr<receiver> {
        return std::make_unique<transport_loop>(detector_of(nr_of(c)),
                                                nr_transport_of(c.code.get<nr_transport_settings>()),
                                                *c.receiver, versions_of(harq_of(c.code)), true);
      },
      .candidates = slot_candidates,
      .limits = slot_limits,
      .receiver_name =
          [](const link_antennas& a) { return label_of(completed(a.get<nr_link_config>()).detector); },
  };
}

}  // namespace wb
