// A space-time code of two antennas: codewords of two uses.
#include <warpband/link/antenna_kind.hpp>
#include <warpband/link/link_settings.hpp>
#include <warpband/receive/open_loop.hpp>
#include <warpband/stbc/stbc.hpp>

namespace wb {
namespace {

constexpr std::size_t slots = 2;  // uses of the channel that a codeword takes

const stbc_config& code_of(const link_config& c) { return c.antennas.get<stbc_config>(); }

class space_time_antennas final : public antenna_system {
 public:
  explicit space_time_antennas(const link_config& c)
      : config_(c),
        size_(c),
        rx_(static_cast<std::size_t>(rx_antennas_of(c))),
        noise_(c),
        encoder_(code_of(c).code, c.qam),
        air_(make_air(c.channel, air_antennas_of(c))) {}

  std::size_t bytes_per_frame() const noexcept override {
    return size_.uses * 8 * (2 + rx_) + air_->matrices() * 8 * 2 * rx_ + air_->bytes_per_frame();
  }

  void allocate(executor& exec, std::size_t frames) override {
    const std::size_t uses = frames * size_.uses;
    symbols_ = exec.make<std::complex<float>>(2, uses);
    received_ = exec.make<std::complex<float>>(rx_, uses);
    channel_ = exec.make<std::complex<float>>(2 * rx_, frames * air_->matrices());
    air_->allocate(exec, frames);
    noise_.allocate(exec);
  }

  samples send(executor& exec, const std::uint8_t* bits, const frame_batch& batch) override {
    const std::size_t uses = batch.frames * size_.uses, codewords = uses / slots,
                      m = encoder_.bits_per_codeword();
    noise_.set(exec, batch.point_db);
    encoder_.run(exec, make_view(bits, m, codewords), make_view(symbols_.data(), 2 * slots, codewords));
    air_->send(exec, make_view(symbols_.data(), 2, uses), make_view(received_.data(), rx_, uses),
               make_view(channel_.data(), 2 * rx_, batch.frames * air_->matrices()),
               batch.random(config_.seed));
    noise_.add(exec, received_.data(), size_.uses * rx_, batch);
    return received(codewords);
  }

 private:
  samples received(std::size_t codewords) const {
    const std::size_t per_channel = size_.uses / air_->matrices() / slots;
    return {.received = make_view(received_.data(), slots * rx_, codewords),
            .channel = make_view(channel_.data(), 2 * rx_, codewords / per_channel),
            .items_per_channel = per_channel,
            .noise_var = noise_.variances(codewords)};
  }

  link_config config_;
  frame_sizes size_;
  std::size_t rx_;
  noise_of_link noise_;
  stbc_encoder encoder_;
  std::unique_ptr<air> air_;
  array<std::complex<float>> symbols_, received_, channel_;
};

void complete_space_time(link_config& c) {
  if (c.qam != 4 && c.qam != 16 && c.qam != 64)
    throw argument_error("modulation", "\"" + name_of_modulation(c.qam) + "\"",
                         "\"qpsk\", \"16qam\" or \"64qam\" with a space-time code");
  if (is_transport(c.code))
    throw argument_error("code.type", "\"" + c.code.type + "\"", "another one with a space-time code");
  auto& code = c.antennas.edit<stbc_config>();
  code.qam = c.qam;
  check(code);
  c.code = completed(c.code);
  complete_channel(c);
}

/// Hypotheses of a codeword, roughly; those of the Golden code are dearer.
std::uint64_t hypotheses(const stbc_config& c) {
  const auto points = static_cast<std::uint64_t>(c.qam);
  if (c.code.kind() == space_time_kind::alamouti) return 16;
  return 2 * points * points * (c.code.kind() == space_time_kind::golden ? 4 : 1);
}

}  // namespace

antenna_kind space_time_antennas_kind() {
  return {
      .name = "space-time",
      .key = "stbc.type",
      .complete = complete_space_time,
      .check_loop =
          [](const link_config& c) {
            check_bit_loop(c, takes_prior(code_of(c)) ? "" : "stbc.search = \"slicing\"");
          },
      .streams = [](const link_config&) { return 2; },
      .rx_antennas = [](const link_config& c) { return code_of(c).rx_antennas; },
      .symbols_per_use = [](const link_config& c) { return code_of(c).code.symbols() / 2; },
      .uses_at_once = 2,
      .uses_for =
          [](const link_config& c, std::size_t symbols) {
            const auto once = static_cast<std::size_t>(code_of(c).code.symbols());
            return (symbols + once - 1) / once * slots;
          },
      .describe =
          [](const link_config&, air_antennas& a) {
            a.system = air_system::space_time;
            a.together = slots;
          },
      .decides_uncoded = "an uncoded space-time code",
      .results =
          [](const link_config& c) {
            named_values values = mimo_values(c);
            add_values(values, "stbc", stbc_settings(), code_of(c));
            return values;
          },
      .work = [](const link_config& c) { return uses_per_frame(c) / slots * hypotheses(code_of(c)); },
      .make = [](const link_config& c) -> std::unique_ptr<antenna_system> {
        return std::make_unique<space_time_antennas>(c);
      },
      .make_detector = [](const link_config& c) { return make_open_detector(code_of(c)); },
      .make_loop = [](const link_config& c) { return make_bit_loop(c, make_soft_detector(code_of(c))); },
  };
}

}  // namespace wb
