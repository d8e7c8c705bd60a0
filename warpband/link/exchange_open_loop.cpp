// Frames that are sent and decoded once, coded or not.
#include <warpband/core/status.hpp>
#include <warpband/link/count/count.hpp>
#include <warpband/link/exchange_buffers.hpp>

namespace wb {
namespace {

/// From counts of codewords to those of frames.
void add_codewords(frame_counts& counts, std::size_t frames, std::size_t codewords) {
  const bool coded = !counts.iterations.empty(), informed = !counts.information_lost.empty();
  counts.codeword_errors.assign(frames, 0);
  for (std::size_t i = 0; i < frames; i++) {
    std::int32_t bits = 0, iterations = 0;
    float lost = 0;
    std::uint8_t erased = 0;
    for (std::size_t row = i * codewords; row < (i + 1) * codewords; row++) {
      bits += counts.bit_errors[row];
      counts.codeword_errors[i] += counts.bit_errors[row] != 0;
      if (coded) iterations += counts.iterations[row], erased |= counts.erased[row];
      if (informed) lost += counts.information_lost[row];
    }
    counts.bit_errors[i] = bits;
    if (coded) counts.iterations[i] = iterations, counts.erased[i] = erased;
    if (informed) counts.information_lost[i] = lost;
  }
  counts.bit_errors.resize(frames);
  if (coded) counts.iterations.resize(frames), counts.erased.resize(frames);
  if (informed) counts.information_lost.resize(frames);
}

class open_loop : public frame_exchange {
 public:
  explicit open_loop(const link_config& c)
      : size_(c),
        source_(c),
        erases_uses_(erases_uses(c)),
        informed_(c.mutual_information),
        massive_(std::holds_alternative<massive_link_config>(c.antennas)) {}

  void allocate(executor& exec, std::size_t frames) override {
    errors_ = exec.make<std::int32_t>(1, frames * size_.codewords);
    if (erases_uses_) erased_uses_ = exec.make<std::int32_t>(1, frames);
    if (informed_) lost_ = exec.make<float>(1, frames * size_.codewords);
  }

 protected:
  std::size_t rows_of(const frame_batch& batch) const noexcept { return batch.frames * size_.codewords; }
  /// Queues what LLRs do not tell of the bits sent, [rows, padded], where that is asked for.
  void measure(executor& exec, const std::uint8_t* bits, const float* llr, std::size_t rows,
               frame_counts& counts) {
    if (!informed_) return;
    lost_information(exec, {bits, size_.sent, rows, 1, size_.padded},
                     {llr, size_.sent, rows, 1, size_.padded}, make_view(lost_.data(), rows));
    download(exec, counts.information_lost, lost_, rows);
  }
  heard into(float* llr, std::uint8_t* bits = nullptr) { return {llr, bits, erased_uses_.data()}; }
  /// Waits for what all links count.
  void finish(executor& exec, const frame_batch& batch, frame_counts& counts) {
    if (erases_uses_) download(exec, counts.erased_uses, erased_uses_, batch.frames);
    download(exec, counts.bit_errors, errors_, rows_of(batch));
    exec.sync();
    for (std::uint8_t& e : counts.erased) e &= status_erased;
    if (massive_) add_codewords(counts, batch.frames, size_.codewords);
  }

  frame_sizes size_;
  frame_source source_;
  array<std::int32_t> errors_;

 private:
  bool erases_uses_, informed_, massive_;
  array<float> lost_;
  array<std::int32_t> erased_uses_;
};

class uncoded_exchange final : public open_loop {
 public:
  explicit uncoded_exchange(const link_config& c)
      : open_loop(c), decided_by_antennas_(std::holds_alternative<stbc_config>(c.antennas)) {}

  std::size_t bytes_per_frame() const noexcept override {
    return size_.codewords * (4 * size_.padded + size_.k + 13);
  }

  void allocate(executor& exec, std::size_t frames) override {
    open_loop::allocate(exec, frames);
    const std::size_t rows = frames * size_.codewords;
    bits_ = exec.make<std::uint8_t>(size_.padded, rows);
    if (decided_by_antennas_)
      decided_ = exec.make<std::uint8_t>(size_.padded, rows);
    else
      llr_ = exec.make<float>(size_.padded, rows);
    if (size_.padded > size_.sent) clear(exec, bits_);
  }

  void run(executor& exec, antenna_system& antennas, const frame_batch& batch,
           frame_counts& counts) override {
    const std::size_t rows = rows_of(batch), k = size_.k, padded = size_.padded;
    const view<std::uint8_t> bits{bits_.data(), k, rows, 1, padded};
    const auto errors = make_view(errors_.data(), rows);
    source_.run(exec, bits, batch);
    antennas.send(exec, bits_.data(), batch);
    antennas.detect(exec, batch.frames, into(llr_.data(), decided_.data()));
    measure(exec, bits_.data(), llr_.data(), rows, counts);
    if (decided_by_antennas_)
      count_errors(exec, bits, view<const std::uint8_t>{decided_.data(), k, rows, 1, padded}, errors);
    else
      count_errors(exec, bits, view<const float>{llr_.data(), k, rows, 1, padded}, errors);
    finish(exec, batch, counts);
  }

 private:
  bool decided_by_antennas_;
  array<std::uint8_t> bits_, decided_;
  array<float> llr_;
};

class coded_exchange final : public open_loop {
 public:
  explicit coded_exchange(const link_config& c) : open_loop(c), code_(make_codec(c.code)) {}

  std::size_t bytes_per_frame() const noexcept override {
    return size_.codewords * (5 * size_.padded + 2 * size_.k + 13 + code_->working_bytes());
  }

  void allocate(executor& exec, std::size_t frames) override {
    open_loop::allocate(exec, frames);
    const std::size_t rows = frames * size_.codewords;
    bits_ = exec.make<std::uint8_t>(size_.k, rows);
    coded_ = exec.make<std::uint8_t>(size_.padded, rows);
    llr_ = exec.make<float>(size_.padded, rows);
    decided_ = exec.make<std::uint8_t>(size_.k, rows);
    status_ = exec.make<std::uint8_t>(1, rows);
    iterations_ = exec.make<std::int32_t>(1, rows);
  }

  void run(executor& exec, antenna_system& antennas, const frame_batch& batch,
           frame_counts& counts) override {
    const std::size_t rows = rows_of(batch);
    const auto bits = make_view(bits_.data(), size_.k, rows),
               decided = make_view(decided_.data(), size_.k, rows);
    source_.run(exec, bits, batch);
    code_->encode(exec, bits, make_view(coded_.data(), size_.padded, rows));
    antennas.send(exec, coded_.data(), batch);
    antennas.detect(exec, batch.frames, into(llr_.data()));
    measure(exec, coded_.data(), llr_.data(), rows, counts);
    code_->decode(exec, view<const float>{llr_.data(), size_.sent, rows, 1, size_.padded},
                  {.bits = decided,
                   .soft = {},
                   .iterations = make_view(iterations_.data(), rows),
                   .status = make_view(status_.data(), rows)});
    count_errors(exec, bits, view<const std::uint8_t>(decided), make_view(errors_.data(), rows));
    download(exec, counts.iterations, iterations_, rows);
    download(exec, counts.erased, status_, rows);
    finish(exec, batch, counts);
  }

 private:
  std::unique_ptr<codec> code_;
  array<std::uint8_t> bits_, coded_, decided_, status_;
  array<float> llr_;
  array<std::int32_t> iterations_;
};

}  // namespace

std::unique_ptr<frame_exchange> make_uncoded_exchange(const link_config& c) {
  return std::make_unique<uncoded_exchange>(c);
}
std::unique_ptr<frame_exchange> make_coded_exchange(const link_config& c) {
  return std::make_unique<coded_exchange>(c);
}

}  // namespace wb
