// Streams between several antennas.
#include <warpband/link/stages.hpp>
#include <warpband/modem/qam/qam.hpp>

namespace wb {
namespace {

class stream_antennas final : public antenna_system {
 public:
  explicit stream_antennas(const link_config& c)
      : config_(c),
        size_(c),
        tx_(static_cast<std::size_t>(streams_of(c))),
        rx_(static_cast<std::size_t>(rx_antennas_of(c))),
        noise_(c),
        mapper_(c.qam),
        air_(make_air(c.channel, air_antennas_of(c))) {}

  std::size_t bytes_per_frame() const noexcept override {
    return size_.uses * 8 * (tx_ + rx_) + air_->matrices() * 8 * rx_ * tx_ + air_->bytes_per_frame();
  }

  void allocate(executor& exec, std::size_t frames) override {
    const std::size_t uses = frames * size_.uses;
    symbols_ = exec.make<std::complex<float>>(tx_, uses);
    received_ = exec.make<std::complex<float>>(rx_, uses);
    channel_ = exec.make<std::complex<float>>(rx_ * tx_, frames * air_->matrices());
    air_->allocate(exec, frames);
    noise_.allocate(exec);
  }

  samples send(executor& exec, const std::uint8_t* bits, const frame_batch& batch) override {
    const std::size_t uses = batch.frames * size_.uses, symbols = uses * tx_;
    const auto s = make_view(symbols_.data(), tx_, uses);
    const auto y = make_view(received_.data(), rx_, uses);
    const auto h = make_view(channel_.data(), rx_ * tx_, batch.frames * air_->matrices());
    noise_.set(exec, batch.point_db);
    mapper_.run(exec, make_view(bits, static_cast<std::size_t>(mapper_.bits()), symbols),
                make_view(symbols_.data(), symbols));
    air_->send(exec, s, y, h, batch.random(config_.seed));
    noise_.add(exec, received_.data(), size_.uses * rx_, batch);
    return received(uses);
  }

 private:
  samples received(std::size_t uses) const {
    return {.received = make_view(received_.data(), rx_, uses),
            .channel = make_view(channel_.data(), rx_ * tx_, uses / size_.uses * air_->matrices()),
            .items_per_channel = size_.uses / air_->matrices(),
            .noise_var = noise_.variances(uses)};
  }

  link_config config_;
  frame_sizes size_;
  std::size_t tx_, rx_;
  noise_of_link noise_;
  qam_mapper mapper_;
  std::unique_ptr<air> air_;
  array<std::complex<float>> symbols_, received_, channel_;
};

}  // namespace

std::unique_ptr<antenna_system> make_stream_antennas(const link_config& c) {
  return std::make_unique<stream_antennas>(c);
}

}  // namespace wb
