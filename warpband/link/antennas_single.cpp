// One antenna to one antenna: mapper, channel.
#include <warpband/link/antenna_kind.hpp>
#include <warpband/link/config/link_schema.hpp>
#include <warpband/link/link_settings.hpp>
#include <warpband/modem/qam/qam.hpp>
#include <warpband/receive/open_loop.hpp>

namespace wb {
namespace {

class single_antennas final : public antenna_system {
 public:
  explicit single_antennas(const link_config& c)
      : config_(c),
        size_(c),
        noise_(c),
        mapper_(c.qam),
        air_(make_air(c.channel, air_antennas_of(c), true)) {}

  std::size_t bytes_per_frame() const noexcept override {
    return size_.symbols * (fades() ? 16 : 8) + air_->bytes_per_frame();
  }

  void allocate(executor& exec, std::size_t frames) override {
    received_ = exec.make<std::complex<float>>(1, frames * size_.symbols);
    if (fades()) gain_ = exec.make<std::complex<float>>(1, frames * size_.symbols);
    air_->allocate(exec, frames);
    noise_.allocate(exec);
  }

  samples send(executor& exec, const std::uint8_t* bits, const frame_batch& batch) override {
    const std::size_t m = static_cast<std::size_t>(mapper_.bits()), n = batch.frames * size_.symbols;
    const auto y = make_view(received_.data(), n);
    noise_.set(exec, batch.point_db);
    mapper_.run(exec, make_view(bits, m, n), y);
    if (fades()) air_->send(exec, y, y, make_view(gain_.data(), n), batch.random(config_.seed));
    noise_.add(exec, received_.data(), size_.symbols, batch);
    return received(n);
  }

 private:
  samples received(std::size_t symbols) const {
    samples s{.received = make_view(received_.data(), symbols), .noise_var = noise_.variances(symbols)};
    if (fades()) s.channel = make_view(gain_.data(), symbols);
    return s;
  }
  bool fades() const noexcept { return air_->matrices() != 0; }

  link_config config_;
  frame_sizes size_;
  noise_of_link noise_;
  qam_mapper mapper_;
  std::unique_ptr<air> air_;
  array<std::complex<float>> received_, gain_;  // received_ holds the symbols before
};

const single_antenna& settings_of(const link_config& c) { return c.antennas.get<single_antenna>(); }

/// Two demappers differ from 16-QAM on.
std::vector<link_antennas> candidates(const link_config& c) {
  std::vector<link_antennas> all{c.antennas};
  if (c.qam > 4)
    for (const demap_algorithm a : {demap_algorithm::max_log, demap_algorithm::exact})
      if (settings_of(c).demapper != a) all.emplace_back(single_antenna{a});
  return all;
}

}  // namespace

antenna_kind single_antenna_kind() {
  return {
      .name = "single",
      .complete = complete_uses,
      .check_loop =
          [](const link_config& c) {
            refuse_loop(c, "unset without a detector of streams, a space-time code or massive MIMO");
          },
      .erases_uses = false,
      .results =
          [](const link_config& c) {
            named_values values;
            add_values(values, "modem", config::demapper_settings(), settings_of(c));
            return values;
          },
      .make = [](const link_config& c) -> std::unique_ptr<antenna_system> {
        return std::make_unique<single_antennas>(c);
      },
      .make_detector =
          [](const link_config& c) {
            return make_open_detector(demapper_config{c.qam, settings_of(c).demapper});
          },
      .candidates = candidates,
      .receiver_name =
          [](const link_antennas& a) {
            return std::string("demapper ") + name_of(a.get<single_antenna>().demapper);
          },
  };
}

}  // namespace wb
