// Streams between several antennas, and a detector.
#include <warpband/link/count/count.hpp>
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
        detector_(make_detector(std::get<detector_config>(c.antennas))),
        air_(make_air(c.channel, air_antennas_of(c))) {}

  std::size_t bytes_per_frame() const noexcept override {
    return size_.uses * (8 * (tx_ + rx_) + 1) + air_->matrices() * 8 * rx_ * tx_ + 4 +
           air_->bytes_per_frame();
  }

  void allocate(executor& exec, std::size_t frames) override {
    const std::size_t uses = frames * size_.uses;
    symbols_ = exec.make<std::complex<float>>(tx_, uses);
    received_ = exec.make<std::complex<float>>(rx_, uses);
    channel_ = exec.make<std::complex<float>>(rx_ * tx_, frames * air_->matrices());
    status_ = exec.make<std::uint8_t>(1, uses);
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

  void detect(executor& exec, std::size_t frames, const heard& out) override {
    const std::size_t uses = frames * size_.uses;
    const samples in = received(uses);
    detector_->run(exec, {in.received, in.channel, in.items_per_channel, in.noise_var, {}},
                   {.llr = make_view(out.llr, detector_->bits_per_use(), uses),
                    .bits = {},
                    .status = make_view(status_.data(), uses)});
    if (out.erased != nullptr)
      count_erased(exec, make_view(status_.data(), size_.uses, frames), 1, make_view(out.erased, frames));
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
  std::unique_ptr<detector> detector_;
  std::unique_ptr<air> air_;
  array<std::complex<float>> symbols_, received_, channel_;
  array<std::uint8_t> status_;
};

}  // namespace

std::unique_ptr<antenna_system> make_stream_antennas(const link_config& c) {
  return std::make_unique<stream_antennas>(c);
}

}  // namespace wb
