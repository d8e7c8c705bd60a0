// Slots of 5G NR: layers to resource elements, channel, estimation, detection.
#include <warpband/estimate/estimator.hpp>
#include <warpband/link/count/count.hpp>
#include <warpband/link/stages.hpp>
#include <warpband/modem/qam/qam.hpp>

namespace wb {
namespace {

/// A channel that is 1 everywhere, as its statistics.
const tdl_profile one_tap{{{0, 0}}, {}};

class nr_antennas final : public antenna_system {
 public:
  explicit nr_antennas(const link_config& c)
      : config_(c),
        nr_(std::get<nr_link_config>(c.antennas)),
        channel_(nr_.channel),
        noise_(c),
        mapper_(c.qam),
        detector_(make_detector(nr_.detector)),
        tx_(channel_.layers()),
        rx_(static_cast<std::size_t>(nr_.detector.rx_antennas)) {
    if (const auto* line = std::get_if<tdl_config>(&c.channel)) tdl_.emplace(*line);
    if (nr_.csi == csi_type::ls)  // else made for the N0 of a point
      estimator_.emplace(pilots_of(channel_), estimator_config{}, channel_.data_places());
  }

  std::size_t bytes_per_frame() const noexcept override {
    const std::size_t all = channel_.elements(), data = channel_.data_elements(), matrix = 8 * rx_ * tx_;
    return data * (8 * (tx_ + rx_) + matrix + 5) + all * (8 * (tx_ + rx_) + matrix) + 4 +
           (estimator_                     ? estimator_->working_bytes(1, rx_)
            : nr_.csi == csi_type::perfect ? 0
                                           : all * matrix / 2);
  }
  std::size_t items_per_frame() const noexcept override { return 1; }

  void allocate(executor& exec, std::size_t frames) override {
    const std::size_t all = frames * channel_.elements(), data = frames * channel_.data_elements();
    symbols_ = exec.make<std::complex<float>>(channel_.symbols_of(0), frames);
    grid_ = exec.make<std::complex<float>>(tx_, all);
    received_ = exec.make<std::complex<float>>(rx_, all);
    y_ = exec.make<std::complex<float>>(rx_, data);
    h_ = exec.make<std::complex<float>>(rx_ * tx_, data);
    if (tdl_) true_h_ = exec.make<std::complex<float>>(rx_ * tx_, all);
    n0_ = exec.make<float>(1, data);
    status_ = exec.make<std::uint8_t>(1, data);
    noise_.allocate(exec);
    if (!tdl_) ones_on(exec);
  }

  samples send(executor& exec, const std::uint8_t* bits, const frame_batch& batch) override {
    const std::size_t n = batch.frames, all = n * channel_.elements(), symbols = n * channel_.symbols_of(0);
    const auto grid = make_view(grid_.data(), tx_, all), received = make_view(received_.data(), rx_, all);
    noise_.set(exec, batch.point_db);
    prepare(noise_.n0());
    mapper_.run(exec, make_view(bits, static_cast<std::size_t>(mapper_.bits()), symbols),
                make_view(symbols_.data(), symbols));
    channel_.map(
        exec, {view<const std::complex<float>>(make_view(symbols_.data(), channel_.symbols_of(0), n))}, grid);
    if (tdl_)
      tdl_->apply(exec, grid, received, make_view(true_h_.data(), rx_ * tx_, all),
                  batch.random(config_.seed));
    std::complex<float>* sent = tdl_ ? received_.data() : grid_.data();  // without a delay line h is 1
    noise_.add(exec, sent, channel_.elements() * rx_, batch);
    estimate(exec, make_view(static_cast<const std::complex<float>*>(sent), rx_, all), n);
    return heard_samples(n);
  }

  void detect(executor& exec, std::size_t frames, const heard& out) override {
    const std::size_t data = channel_.data_elements(), uses = frames * data;
    const samples in = heard_samples(frames);
    detector_->run(exec, {in.received, in.channel, 1, in.noise_var, {}},
                   {.llr = make_view(out.llr, detector_->bits_per_use(), uses),
                    .bits = {},
                    .status = make_view(status_.data(), uses)});
    if (out.erased != nullptr)
      count_erased(exec, make_view(status_.data(), data, frames), 1, make_view(out.erased, frames));
  }

 private:
  /// Wiener filters are those of a point's N0.
  void prepare(float n0) {
    if (nr_.csi != csi_type::lmmse || n0 == made_for_) return;
    const tdl_profile& profile = tdl_ ? tdl_->config().profile : one_tap;
    estimator_.emplace(pilots_of(channel_),
                       estimator_of(nr_, profile, tdl_ ? tdl_->config().grid : nr_.channel.carrier.grid(),
                                    tdl_ ? tdl_->config().doppler_hz : 0, n0),
                       channel_.data_places());
    made_for_ = n0;
  }
  void ones_on(executor& exec) {
    const std::vector<std::complex<float>> ones(h_.size(), 1.f);
    exec.upload(h_.data(), ones.data(), h_.bytes());
    exec.sync();
  }
  /// What is received, H and N0 of the resource elements with data.
  void estimate(executor& exec, view<const std::complex<float>> received, std::size_t frames) {
    const std::size_t uses = frames * channel_.data_elements();
    channel_.extract(exec, received, make_view(y_.data(), rx_, uses));
    const auto h = make_view(h_.data(), rx_ * tx_, uses);
    if (nr_.csi != csi_type::perfect)
      estimator_->run(exec, received, noise_.variances(frames),
                      {.channel = h, .noise_var = make_view(n0_.data(), uses)});
    else if (tdl_)
      channel_.extract(
          exec, make_view(static_cast<const std::complex<float>*>(true_h_.data()), rx_ * tx_, received.items),
          h);
  }
  samples heard_samples(std::size_t frames) const {
    const std::size_t uses = frames * channel_.data_elements();
    return {.received = make_view(y_.data(), rx_, uses),
            .channel = make_view(h_.data(), rx_ * tx_, uses),
            .items_per_channel = 1,
            .noise_var = nr_.csi == csi_type::perfect ? noise_.variances(uses) : make_view(n0_.data(), uses)};
  }

  link_config config_;
  nr_link_config nr_;
  nr_shared_channel channel_;
  noise_of_link noise_;
  qam_mapper mapper_;
  std::unique_ptr<detector> detector_;
  std::size_t tx_, rx_;
  std::optional<tdl_channel> tdl_;
  std::optional<channel_estimator> estimator_;
  float made_for_ = 0;
  array<std::complex<float>> symbols_, grid_, received_, true_h_, y_, h_;
  array<float> n0_;
  array<std::uint8_t> status_;
};

}  // namespace

std::unique_ptr<antenna_system> make_nr_antennas(const link_config& c) {
  return std::make_unique<nr_antennas>(c);
}

}  // namespace wb
