// Transport blocks, which are sent again until their CRCs hold.
//
// Blocks that have passed stay in the batch, sent and decoded with the others, and what becomes of them is
// not looked at: the soft buffers then never move, and frames keep their places in the channel's random
// numbers, which kernels count up from the first. The decoder's early stop makes them cheap. A batch ends
// with the transmission after which all have passed.
#include <numeric>

#include <warpband/core/status.hpp>
#include <warpband/link/codec_transport.hpp>
#include <warpband/link/count/count.hpp>
#include <warpband/link/exchange_buffers.hpp>

namespace wb {
namespace {

template <class Encoder, class Decoder>
class harq_exchange final : public frame_exchange {
 public:
  template <class Config>
  harq_exchange(const link_config& c, const Config& transport)
      : size_(c),
        source_(c),
        settings_(c.code.transport),
        erases_uses_(erases_uses(c)),
        encoder_(transport),
        decoder_(transport) {}

  std::size_t bytes_per_frame() const noexcept override {
    return 5 * size_.padded + 2 * size_.k + 9 + transport_bytes(decoder_.segmentation());
  }

  void allocate(executor& exec, std::size_t frames) override {
    bits_ = exec.make<std::uint8_t>(size_.k, frames);
    coded_ = exec.make<std::uint8_t>(size_.padded, frames);
    llr_ = exec.make<float>(size_.padded, frames);
    decided_ = exec.make<std::uint8_t>(size_.k, frames);
    status_ = exec.make<std::uint8_t>(1, frames);
    passed_ = exec.make<std::uint8_t>(1, frames);
    errors_ = exec.make<std::int32_t>(1, frames);
    iterations_ = exec.make<std::int32_t>(blocks(), frames);
    if (erases_uses_) erased_uses_ = exec.make<std::int32_t>(1, frames);
    if (size_.padded > size_.sent) clear(exec, coded_);
  }

  void run(executor& exec, antenna_system& antennas, const frame_batch& batch,
           frame_counts& counts) override {
    const std::size_t n = batch.frames;
    source_.run(exec, make_view(bits_.data(), size_.k, n), batch);
    counts = {.bit_errors = std::vector<std::int32_t>(n),
              .iterations = std::vector<std::int32_t>(n),
              .erased = std::vector<std::uint8_t>(n),
              .erased_uses = std::vector<std::int32_t>(erases_uses_ ? n : 0),
              .transmissions = std::vector<std::uint8_t>(n),
              .passed = std::vector<std::uint8_t>(n)};
    decoder_.reset();
    bool failed = n != 0;
    frame_batch sent = batch;
    for (; failed && sent.transmission < settings_.transmissions; sent.transmission++) {
      transmit(exec, antennas, sent);
      failed = count(counts);
    }
  }

 private:
  std::size_t blocks() const { return static_cast<std::size_t>(decoder_.segmentation().blocks); }

  /// One transmission of all blocks, to its counts in now_.
  void transmit(executor& exec, antenna_system& antennas, const frame_batch& batch) {
    const std::size_t n = batch.frames, versions = settings_.redundancy_versions.size();
    const int rv = settings_.redundancy_versions[static_cast<std::size_t>(batch.transmission) % versions];
    const auto bits = make_view(bits_.data(), size_.k, n), decided = make_view(decided_.data(), size_.k, n);
    encoder_.run(exec, bits, rv, {coded_.data(), size_.sent, n, 1, size_.padded});
    antennas.send(exec, coded_.data(), batch);
    antennas.detect(exec, n, {.llr = llr_.data(), .erased = erased_uses_.data()});
    decoder_.combine(exec, view<const float>{llr_.data(), size_.sent, n, 1, size_.padded}, rv);
    decoder_.decode(exec, {.bits = decided,
                           .ok = make_view(passed_.data(), n),
                           .block_ok = {},
                           .iterations = make_view(iterations_.data(), blocks(), n),
                           .status = make_view(status_.data(), n)});
    count_errors(exec, bits, view<const std::uint8_t>(decided), make_view(errors_.data(), n));
    download(exec, now_.bit_errors, errors_, n);
    download(exec, now_.iterations, iterations_, n * blocks());
    download(exec, now_.erased, status_, n);
    download(exec, now_.passed, passed_, n);
    if (erases_uses_) download(exec, now_.erased_uses, erased_uses_, n);
    exec.sync();
  }

  /// Adds the transmission to the counts of blocks that had not passed. Whether any is left.
  bool count(frame_counts& counts) const {
    bool failed = false;
    for (std::size_t i = 0; i < counts.passed.size(); i++) {
      if (counts.passed[i] != 0) continue;
      const auto used = now_.iterations.begin() + static_cast<std::ptrdiff_t>(i * blocks());
      counts.transmissions[i]++;
      counts.bit_errors[i] = now_.bit_errors[i];
      counts.iterations[i] += std::accumulate(used, used + static_cast<std::ptrdiff_t>(blocks()), 0);
      counts.erased[i] = now_.erased[i] & status_erased;
      counts.passed[i] = now_.passed[i];
      if (erases_uses_) counts.erased_uses[i] += now_.erased_uses[i];
      failed = failed || now_.passed[i] == 0;
    }
    return failed;
  }

  frame_sizes size_;
  frame_source source_;
  lte_transport_settings settings_;
  bool erases_uses_;
  Encoder encoder_;
  Decoder decoder_;
  array<std::uint8_t> bits_, coded_, decided_, status_, passed_;
  array<float> llr_;
  array<std::int32_t> errors_, iterations_, erased_uses_;
  frame_counts now_;  // of the last transmission
};

}  // namespace

std::unique_ptr<frame_exchange> make_harq_exchange(const link_config& c) {
  if (is_nr_transport(c.code.type))
    return std::make_unique<harq_exchange<nr_transport_encoder, nr_transport_decoder>>(
        c, nr_transport_of(c.code));
  return std::make_unique<harq_exchange<lte_transport_encoder, lte_transport_decoder>>(c,
                                                                                       transport_of(c.code));
}

}  // namespace wb
