// A space-time code of two antennas: codewords of two uses.
#include <warpband/link/stages.hpp>
#include <warpband/stbc/stbc.hpp>

namespace wb {
namespace {

constexpr std::size_t slots = 2;  // uses of the channel that a codeword takes

class space_time_antennas final : public antenna_system {
 public:
  explicit space_time_antennas(const link_config& c)
      : config_(c),
        size_(c),
        rx_(static_cast<std::size_t>(rx_antennas_of(c))),
        noise_(c),
        encoder_(std::get<stbc_config>(c.antennas).code, c.qam),
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

}  // namespace

std::unique_ptr<antenna_system> make_space_time_antennas(const link_config& c) {
  return std::make_unique<space_time_antennas>(c);
}

}  // namespace wb
