// Streams with a detector, and what all have that send symbols in uses of the channel.
#include <warpband/core/as_size.hpp>
#include <warpband/core/check.hpp>
#include <warpband/link/antenna_kind.hpp>
#include <warpband/link/link_settings.hpp>
#include <warpband/link/tradeoff.hpp>
#include <warpband/modem/qam/qam.hpp>
#include <warpband/receive/open_loop.hpp>

namespace wb {
namespace {

class antennas_in_uses final : public antenna_system {
 public:
  antennas_in_uses(const link_config& c, use_mapper mapper, bool separate)
      : config_(c),
        size_(c),
        tx_(static_cast<std::size_t>(streams_of(c))),
        rx_(static_cast<std::size_t>(rx_antennas_of(c))),
        together_(static_cast<std::size_t>(c.antennas.kind().uses_at_once(c))),
        channels_(static_cast<std::size_t>(c.antennas.kind().channels_at_once(c))),
        noise_(c),
        mapper_(std::move(mapper)),
        air_(make_air(c.channel, air_antennas_of(c), separate || channels_ > 1)) {}

  std::size_t bytes_per_frame() const noexcept override {
    return size_.uses * 8 * (tx_ + (in_place() ? 0 : rx_)) + air_->matrices() * 8 * rx_ * tx_ +
           air_->bytes_per_frame();
  }

  void allocate(executor& exec, std::size_t frames) override {
    const std::size_t uses = frames * size_.uses;
    symbols_ = exec.make<std::complex<float>>(uses, tx_);
    if (!in_place()) received_ = exec.make<std::complex<float>>(uses, rx_);
    if (fades()) channel_ = exec.make<std::complex<float>>(frames * air_->matrices(), rx_ * tx_);
    air_->allocate(exec, frames);
    noise_.allocate(exec);
  }

  samples send(executor& exec, const std::uint8_t* bits, const frame_batch& batch) override {
    const std::size_t uses = batch.frames * size_.uses, items = uses / together_;
    const auto h = make_view(channel_.data(), batch.frames * air_->matrices(), rx_ * tx_);
    std::complex<float>* y = in_place() ? symbols_.data() : received_.data();
    noise_.set(exec, batch.point_db);
    mapper_(exec, bits, symbols_.data(), uses);
    if (fades())
      air_->send(exec, make_view(symbols_.data(), uses, tx_), make_view(y, uses, rx_), h,
                 batch.random(config_.seed));
    noise_.add(exec, y, size_.uses * rx_, batch);
    samples s{.received = make_view(y, items, together_ * rx_), .noise_var = noise_.variances(items)};
    if (fades()) {
      s.channel = make_view(h.data, h.items / channels_, h.elements * channels_);
      s.items_per_channel = items / s.channel.items;
    }
    return s;
  }

 private:
  bool fades() const noexcept { return air_->matrices() != 0; }
  bool in_place() const noexcept { return tx_ == 1 && rx_ == 1; }

  link_config config_;
  frame_sizes size_;
  std::size_t tx_, rx_, together_, channels_;
  noise_of_link noise_;
  use_mapper mapper_;
  std::unique_ptr<air> air_;
  array<std::complex<float>> symbols_, received_, channel_;  // in place symbols_ has what is received
};

const detector_config& detector_of(const link_config& c) { return c.antennas.get<detector_config>(); }

void complete_streams(link_config& c) {
  auto& detector = c.antennas.edit<detector_config>();
  check_range("streams", detector.streams, 1, most_soft_streams);
  check_range("rx_antennas", detector.rx_antennas, detector.streams, 16);
  complete_uses(c);
  check_modulation(c.qam, "several antennas or a detector");
  detector.qam = c.qam;
  detector = completed(detector);
}

void check_loop(const link_config& c) {
  const detector_config& d = detector_of(c);
  check_bit_loop(c, takes_prior(d) ? "" : "detector.type = \"" + d.type + '"');
}

std::vector<link_antennas> stream_candidates(const link_config& c) {
  detector_config base = detector_of(c);
  base.qam = c.qam;
  const std::vector<detector_config> candidates = detector_candidates(base);
  return {candidates.begin(), candidates.end()};
}
std::vector<link_antennas> stream_limits(const link_antennas& a) {
  auto detector = a.get<detector_config>();
  std::vector<link_antennas> candidates;
  for (const float clip : clip_candidates(clip_of(detector), may_miss(detector))) {
    detector.llr_clip = clip;
    candidates.emplace_back(detector);
  }
  return candidates;
}

}  // namespace

std::unique_ptr<antenna_system> make_antennas_in_uses(const link_config& c, use_mapper mapper) {
  return std::make_unique<antennas_in_uses>(c, std::move(mapper), false);
}
std::unique_ptr<antenna_system> make_symbols_in_uses(const link_config& c, bool separate) {
  const std::size_t tx = as_size(streams_of(c)), m = as_size(bits_per_symbol(c));
  const auto use_with = [=](auto mapper) -> use_mapper {
    return [=](executor& exec, const std::uint8_t* bits, std::complex<float>* to, std::size_t uses) {
      mapper->run(exec, make_view(bits, uses * tx, m), make_view(to, uses * tx));
    };
  };
  const use_mapper map =
      c.constellation
          ? use_with(std::make_shared<const constellation_mapper>(constellation(*c.constellation)))
          : use_with(std::make_shared<const qam_mapper>(c.qam));
  return std::make_unique<antennas_in_uses>(c, map, separate);
}

// 16 operations are about as much as a step of a turbo decoder.
std::uint64_t work_of(const detector_config& d) {
  return static_cast<std::uint64_t>(flops_per_use(d) / 16) + 1;
}

void add_detector(named_values& to, const detector_config& detector) {
  add_values(to, "detector", settings_of(detector.kind()), detector);
}

antenna_kind streams_kind() {
  return {
      .name = "streams",
      .complete = complete_streams,
      .check_loop = check_loop,
      .streams = [](const link_config& c) { return detector_of(c).streams; },
      .rx_antennas = [](const link_config& c) { return detector_of(c).rx_antennas; },
      .describe = [](const link_config&, air_antennas& a) { a.system = air_system::streams; },
      .results =
          [](const link_config& c) {
            named_values values = mimo_values(c);
            add_detector(values, detector_of(c));
            return values;
          },
      .work = [](const link_config& c) { return uses_per_frame(c) * work_of(detector_of(c)); },
      .make = [](const link_config& c) { return make_symbols_in_uses(c, false); },
      .make_detector = [](const link_config& c) { return make_open_detector(detector_of(c)); },
      .make_loop = [](const link_config& c) { return make_bit_loop(c, make_soft_detector(detector_of(c))); },
      .candidates = stream_candidates,
      .limits = stream_limits,
      .receiver_name = [](const link_antennas& a) { return label_of(a.get<detector_config>()); },
  };
}

}  // namespace wb
