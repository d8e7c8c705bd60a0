// Frames whose detector and decoder exchange extrinsic LLRs, counted after every outer iteration.
#include <warpband/core/status.hpp>
#include <warpband/link/count/count.hpp>
#include <warpband/link/exchange_buffers.hpp>

namespace wb {
namespace {

/// Uses of the channel that a receiver takes at once.
std::size_t uses_at_once(const link_config& c) noexcept {
  return std::holds_alternative<stbc_config>(c.antennas) ? 2 : 1;
}
std::shared_ptr<const soft_detector> detector_of(const link_config& c) {
  if (const auto* code = std::get_if<stbc_config>(&c.antennas)) return make_soft_detector(*code);
  return make_soft_detector(std::get<detector_config>(c.antennas));
}

class iterative_exchange final : public frame_exchange {
 public:
  explicit iterative_exchange(const link_config& c)
      : size_(c),
        outer_(static_cast<std::size_t>(c.receiver->outer)),
        at_once_(uses_at_once(c)),
        taken_(size_.uses / at_once_),
        rx_(static_cast<std::size_t>(rx_antennas_of(c))),
        tx_(static_cast<std::size_t>(streams_of(c))),
        source_(c),
        code_(make_codec(c.code)),
        receiver_(detector_of(c), c.code, *c.receiver, taken_) {}

  std::size_t bytes_per_frame() const noexcept override {
    return (1 + outer_) * size_.k + size_.sent + size_.padded + taken_ + 9 * outer_ + 4 +
           code_->working_bytes() + receiver_.working_bytes(rx_ * at_once_, rx_ * tx_);
  }

  void allocate(executor& exec, std::size_t frames) override {
    bits_ = exec.make<std::uint8_t>(size_.k, frames);
    coded_ = exec.make<std::uint8_t>(size_.sent, frames);
    sent_ = exec.make<std::uint8_t>(size_.padded, frames);
    decided_ = exec.make<std::uint8_t>(size_.k, outer_ * frames);
    status_ = exec.make<std::uint8_t>(1, outer_ * frames);
    use_status_ = exec.make<std::uint8_t>(1, taken_ * frames);
    iterations_ = exec.make<std::int32_t>(1, frames);
    errors_ = exec.make<std::int32_t>(1, outer_ * frames);
    erased_uses_ = exec.make<std::int32_t>(1, frames);
  }

  void run(executor& exec, antenna_system& antennas, const frame_batch& batch,
           frame_counts& counts) override {
    const std::size_t n = batch.frames, all = outer_ * n;
    const auto bits = make_view(bits_.data(), size_.k, n);
    const auto coded = make_view(coded_.data(), size_.sent, n);
    source_.run(exec, bits, batch);
    code_->encode(exec, bits, coded);
    receiver_.interleaver().interleave(exec, coded, make_view(sent_.data(), size_.padded, n));
    const samples in = antennas.send(exec, sent_.data(), batch);
    receiver_.run(exec,
                  {.received = in.received,
                   .channel = in.channel,
                   .uses_per_channel = in.items_per_channel,
                   .noise_var = in.noise_var},
                  {.bits = make_view(decided_.data(), size_.k, all),
                   .iterations = make_view(iterations_.data(), n),
                   .status = make_view(status_.data(), all),
                   .use_status = make_view(use_status_.data(), taken_ * n)});
    for (std::size_t j = 0; j < outer_; j++)
      count_errors(exec, bits,
                   view<const std::uint8_t>(make_view(decided_.data() + j * n * size_.k, size_.k, n)),
                   make_view(errors_.data() + j * n, n));
    count_erased(exec, make_view(use_status_.data(), taken_, n), static_cast<int>(at_once_),
                 make_view(erased_uses_.data(), n));
    download(exec, counts.iterations, iterations_, n);
    download(exec, counts.erased_uses, erased_uses_, n);
    download(exec, now_.bit_errors, errors_, all);
    download(exec, now_.erased, status_, all);
    exec.sync();
    share(counts, n);
  }

 private:
  /// From the results of all outer iterations to those of each.
  void share(frame_counts& counts, std::size_t frames) {
    for (std::uint8_t& e : now_.erased) e &= status_erased;
    counts.outer_bit_errors.resize(outer_);
    counts.outer_erased.resize(outer_);
    for (std::size_t j = 0; j < outer_; j++) {
      const auto at = [&](auto& v) { return v.begin() + static_cast<std::ptrdiff_t>(j * frames); };
      counts.outer_bit_errors[j].assign(at(now_.bit_errors),
                                        at(now_.bit_errors) + static_cast<std::ptrdiff_t>(frames));
      counts.outer_erased[j].assign(at(now_.erased), at(now_.erased) + static_cast<std::ptrdiff_t>(frames));
    }
    counts.bit_errors = counts.outer_bit_errors.back();
    counts.erased = counts.outer_erased.back();
  }

  frame_sizes size_;
  std::size_t outer_;
  std::size_t at_once_, taken_;  // uses of the channel in one of the receiver, and those of a frame
  std::size_t rx_, tx_;
  frame_source source_;
  std::unique_ptr<codec> code_;
  iterative_receiver receiver_;
  array<std::uint8_t> bits_, coded_, sent_, decided_, status_, use_status_;
  array<std::int32_t> iterations_, errors_, erased_uses_;
  frame_counts now_;  // of all outer iterations, one after the other
};

}  // namespace

std::unique_ptr<frame_exchange> make_iterative_exchange(const link_config& c) {
  return std::make_unique<iterative_exchange>(c);
}

}  // namespace wb
