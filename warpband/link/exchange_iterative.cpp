// Frames whose detector and decoder exchange extrinsic LLRs, counted after every outer iteration.
#include <warpband/core/status.hpp>
#include <warpband/link/count/count.hpp>
#include <warpband/link/exchange_buffers.hpp>
#include <warpband/modem/qam/qam.hpp>
#include <warpband/receive/codewords.hpp>

namespace wb {
namespace {

/// Uses of the channel that a receiver takes at once.
std::size_t uses_at_once(const link_config& c) noexcept {
  return std::holds_alternative<stbc_config>(c.antennas) ? 2 : 1;
}
std::shared_ptr<const soft_detector> detector_of(const link_config& c) {
  if (const auto* code = std::get_if<stbc_config>(&c.antennas)) return make_soft_detector(*code);
  if (const auto* massive = std::get_if<massive_link_config>(&c.antennas))
    return make_soft_detector(uplink_of(*massive, c.qam));
  return make_soft_detector(std::get<detector_config>(c.antennas));
}
/// `own`: the interleaver of a codeword. Of massive MIMO that of the receiver also brings the codewords of
/// all users into the order of vectors.
iterative_receiver receiver_of(const link_config& c, const bit_interleaver& own, std::size_t uses) {
  const auto* massive = std::get_if<massive_link_config>(&c.antennas);
  if (massive == nullptr) return {detector_of(c), c.code, *c.receiver, uses};
  const auto of = [](int n) { return static_cast<std::size_t>(n); };
  const user_codewords frame{of(massive->users), of(massive->symbols), of(massive->subcarriers),
                             of(bits_per_symbol(c.qam))};
  receiver_config loop = *c.receiver;
  loop.inner = 0;  // the decoder has it
  loop.interleaver = receiver_interleaver::none;
  loop.permutation = order_of(frame, own);
  return {
      detector_of(c),
      make_codewords_decoder(make_soft_decoder(c.code, c.receiver->inner), frame.codewords(), frame.places()),
      loop, uses};
}

class iterative_exchange final : public frame_exchange {
 public:
  explicit iterative_exchange(const link_config& c)
      : size_(c),
        outer_(static_cast<std::size_t>(c.receiver->outer)),
        at_once_(uses_at_once(c)),
        taken_(size_.uses / at_once_),
        massive_(std::holds_alternative<massive_link_config>(c.antennas)),
        source_(c),
        code_(make_codec(c.code)),
        order_(interleaver_of(*c.receiver, size_.sent)),
        receiver_(receiver_of(c, order_, taken_)) {
    const auto rx = static_cast<std::size_t>(rx_antennas_of(c)), tx = static_cast<std::size_t>(streams_of(c));
    const auto* massive = std::get_if<massive_link_config>(&c.antennas);
    receiver_bytes_ = receiver_.working_bytes(rx * at_once_, rx * tx,
                                              massive ? static_cast<std::size_t>(massive->symbols) : 1);
  }

  std::size_t bytes_per_frame() const noexcept override {
    const std::size_t codeword =
        (1 + outer_) * size_.k + size_.sent + size_.padded + 4 * outer_ + code_->working_bytes();
    return size_.codewords * codeword + taken_ + outer_ + 8 + receiver_bytes_;
  }

  void allocate(executor& exec, std::size_t frames) override {
    const std::size_t rows = frames * size_.codewords;
    bits_ = exec.make<std::uint8_t>(size_.k, rows);
    coded_ = exec.make<std::uint8_t>(size_.sent, rows);
    sent_ = exec.make<std::uint8_t>(size_.padded, rows);
    decided_ = exec.make<std::uint8_t>(size_.k, outer_ * rows);
    errors_ = exec.make<std::int32_t>(1, outer_ * rows);
    status_ = exec.make<std::uint8_t>(1, outer_ * frames);
    use_status_ = exec.make<std::uint8_t>(1, taken_ * frames);
    iterations_ = exec.make<std::int32_t>(1, frames);
    erased_uses_ = exec.make<std::int32_t>(1, frames);
  }

  void run(executor& exec, antenna_system& antennas, const frame_batch& batch,
           frame_counts& counts) override {
    const std::size_t n = batch.frames, rows = n * size_.codewords, all = outer_ * n;
    const auto bits = make_view(bits_.data(), size_.k, rows);
    const auto coded = make_view(coded_.data(), size_.sent, rows);
    source_.run(exec, bits, batch);
    code_->encode(exec, bits, coded);
    order_.interleave(exec, coded, make_view(sent_.data(), size_.padded, rows));
    const samples in = antennas.send(exec, sent_.data(), batch);
    receiver_.run(exec,
                  {.received = in.received,
                   .channel = in.channel,
                   .uses_per_channel = in.items_per_channel,
                   .noise_var = in.noise_var},
                  {.bits = make_view(decided_.data(), size_.k * size_.codewords, all),
                   .iterations = make_view(iterations_.data(), n),
                   .status = make_view(status_.data(), all),
                   .use_status = make_view(use_status_.data(), taken_ * n)});
    for (std::size_t j = 0; j < outer_; j++)
      count_errors(exec, bits,
                   view<const std::uint8_t>(make_view(decided_.data() + j * rows * size_.k, size_.k, rows)),
                   make_view(errors_.data() + j * rows, rows));
    count_erased(exec, make_view(use_status_.data(), taken_, n), static_cast<int>(at_once_),
                 make_view(erased_uses_.data(), n));
    download(exec, counts.iterations, iterations_, n);
    download(exec, counts.erased_uses, erased_uses_, n);
    download(exec, now_.bit_errors, errors_, outer_ * rows);
    download(exec, now_.erased, status_, all);
    exec.sync();
    share(counts, n);
  }

 private:
  /// From the results of all outer iterations to those of each, and from codewords to frames.
  void share(frame_counts& counts, std::size_t frames) {
    counts.outer_bit_errors.resize(outer_);
    counts.outer_erased.resize(outer_);
    counts.outer_codeword_errors.resize(massive_ ? outer_ : 0);
    auto of_codeword = now_.bit_errors.begin();
    auto erased = now_.erased.begin();
    for (std::size_t j = 0; j < outer_; j++) {
      counts.outer_bit_errors[j].assign(frames, 0);
      counts.outer_erased[j].resize(frames);
      if (massive_) counts.outer_codeword_errors[j].assign(frames, 0);
      for (std::size_t i = 0; i < frames; i++) {
        counts.outer_erased[j][i] = *erased++ & status_erased;
        for (std::size_t codeword = 0; codeword < size_.codewords; codeword++) {
          const std::int32_t wrong = *of_codeword++;
          counts.outer_bit_errors[j][i] += wrong;
          if (massive_) counts.outer_codeword_errors[j][i] += wrong != 0;
        }
      }
    }
    counts.bit_errors = counts.outer_bit_errors.back();
    counts.erased = counts.outer_erased.back();
    if (massive_) counts.codeword_errors = counts.outer_codeword_errors.back();
  }

  frame_sizes size_;
  std::size_t outer_;
  std::size_t at_once_, taken_;  // uses of the channel in one of the receiver, and those of a frame
  bool massive_;
  frame_source source_;
  std::unique_ptr<codec> code_;
  bit_interleaver order_;  // of a codeword
  iterative_receiver receiver_;
  std::size_t receiver_bytes_ = 0;
  array<std::uint8_t> bits_, coded_, sent_, decided_, status_, use_status_;
  array<std::int32_t> iterations_, errors_, erased_uses_;
  frame_counts now_;  // of all outer iterations, one after the other
};

}  // namespace

std::unique_ptr<frame_exchange> make_iterative_exchange(const link_config& c) {
  return std::make_unique<iterative_exchange>(c);
}

}  // namespace wb
