#include <warpband/link/frame_counter.hpp>

#include <warpband/core/status.hpp>
#include <warpband/link/antenna_kind.hpp>
#include <warpband/link/count/count.hpp>

namespace wb {
namespace {

template <class T>
void fetch(executor& exec, std::vector<T>& to, const array<T>& from, std::size_t n) {
  to.resize(n);
  exec.download(to.data(), from.data(), n * sizeof(T));
}

}  // namespace

frame_counter::frame_counter(const link_config& c)
    : size_(c),
      rounds_(static_cast<std::size_t>(outer_iterations(c))),
      weight_(c.antennas.kind().uses_at_once(c)),
      coded_(!is_uncoded(c.code)),
      looped_(c.receiver.has_value()),
      transport_(is_transport(c.code)),
      many_(has_codewords(c)),
      erases_uses_(erases_uses(c)),
      informed_(c.mutual_information),
      sent_erases_(c.antennas.kind().erases_sent(c)),
      soft_(informed_ || (!coded_ && c.antennas.kind().decides_uncoded.empty())) {
  uses_ = size_.uses / static_cast<std::size_t>(weight_);
  if (transport_) blocks_ = static_cast<std::size_t>(harq_of(c.code).code_blocks);
}

std::size_t frame_counter::bytes_per_frame() const noexcept {
  return rounds_ * (size_.codewords * (size_.k + 4) + status_rows() + 1) + 4 * iteration_rows() +
         (soft_ ? size_.codewords * (4 * size_.padded + 4) : 0) + (erases_uses_ ? uses_ + 4 : 0);
}

void frame_counter::allocate(executor& exec, std::size_t frames) {
  const std::size_t rows = frames * size_.codewords;
  errors_ = exec.make<std::int32_t>(rounds_ * rows, 1);
  if (soft_) llr_ = exec.make<float>(rows, size_.padded);
  if (informed_) lost_ = exec.make<float>(rows, 1);
  if (coded_) {
    bits_ = exec.make<std::uint8_t>(rounds_ * rows, size_.k);
    status_ = exec.make<std::uint8_t>(rounds_ * status_rows() * frames, 1);
    iterations_ = exec.make<std::int32_t>(iteration_rows() * frames, 1);
  } else if (!soft_) {
    bits_ = exec.make<std::uint8_t>(rows, size_.padded);
  }
  if (transport_) ok_ = exec.make<std::uint8_t>(rounds_ * frames, 1);
  if (!erases_uses_) return;
  if (!sent_erases_) use_status_ = exec.make<std::uint8_t>(uses_ * frames, 1);
  erased_uses_ = exec.make<std::int32_t>(frames, 1);
}

void frame_counter::begin(std::size_t n) {
  counts_ = {.bit_errors = std::vector<std::int32_t>(n),
             .iterations = std::vector<std::int32_t>(coded_ ? n : 0),
             .erased = std::vector<std::uint8_t>(coded_ ? n : 0),
             .erased_uses = std::vector<std::int32_t>(erases_uses_ ? n : 0),
             .codeword_errors = std::vector<std::int32_t>(many_ ? n : 0),
             .information_lost = std::vector<float>(informed_ ? n : 0),
             .transmissions = std::vector<std::uint8_t>(transport_ ? n : 0),
             .passed = std::vector<std::uint8_t>(transport_ ? n : 0)};
  if (!looped_) return;
  counts_.outer_bit_errors.assign(rounds_, std::vector<std::int32_t>(n));
  counts_.outer_erased.assign(rounds_, std::vector<std::uint8_t>(n));
  if (many_) counts_.outer_codeword_errors.assign(rounds_, std::vector<std::int32_t>(n));
}

decided frame_counter::wanted(std::size_t n) {
  const std::size_t rows = n * size_.codewords;
  decided out;
  if (soft_) out.detected = make_view(llr_.data(), rows, size_.padded);
  if (!coded_ && !soft_) out.bits = make_view(bits_.data(), rows, size_.padded);
  if (erases_uses_ && !sent_erases_) out.use_status = make_view(use_status_.data(), uses_ * n);
  if (!coded_) return out;
  out.bits = looped_ ? make_view(bits_.data(), rounds_ * n, size_.k * size_.codewords)
                     : make_view(bits_.data(), rows, size_.k);
  out.status = make_view(status_.data(), rounds_ * status_rows() * n);
  out.iterations = transport_ && !looped_ ? make_view(iterations_.data(), n, blocks_)
                                          : make_view(iterations_.data(), status_rows() * n);
  if (transport_) out.ok = make_view(ok_.data(), rounds_ * n);
  return out;
}

bool frame_counter::count(executor& exec, view<const std::uint8_t> bits, const std::uint8_t* coded,
                          const samples& sent, const frame_batch& batch) {
  const std::size_t n = batch.frames, rows = n * size_.codewords, row = coded_ ? size_.k : size_.padded;
  for (std::size_t j = 0; j < rounds_; j++) {
    const auto errors = make_view(errors_.data() + j * rows, rows);
    if (coded_ || !soft_)
      count_errors(exec, bits, view<const std::uint8_t>{bits_.data() + j * rows * row, size_.k, rows, 1, row},
                   errors);
    else
      count_errors(exec, bits, view<const float>{llr_.data(), size_.k, rows, 1, size_.padded}, errors);
  }
  if (informed_)
    lost_information(exec, {coded, size_.sent, rows, 1, size_.padded},
                     {llr_.data(), size_.sent, rows, 1, size_.padded}, make_view(lost_.data(), rows));
  if (erases_uses_) {
    const std::uint8_t* status = sent_erases_ ? sent.status.data : use_status_.data();
    count_erased(exec, make_view(status, n, uses_), weight_, make_view(erased_uses_.data(), n));
  }
  download(exec, n);
  return fold(n);
}

void frame_counter::download(executor& exec, std::size_t n) {
  const std::size_t rows = n * size_.codewords;
  fetch(exec, now_.bit_errors, errors_, rounds_ * rows);
  if (coded_) {
    fetch(exec, now_.iterations, iterations_, iteration_rows() * n);
    fetch(exec, now_.erased, status_, rounds_ * status_rows() * n);
  }
  if (transport_) fetch(exec, now_.passed, ok_, rounds_ * n);
  if (erases_uses_) fetch(exec, now_.erased_uses, erased_uses_, n);
  if (informed_) fetch(exec, now_.information_lost, lost_, rows);
  exec.sync();
}

/// From a transmission's results in now_ to the counts.
bool frame_counter::fold(std::size_t n) {
  frame_counts& c = counts_;
  bool left = false;
  for (std::size_t i = 0; i < n; i++) {
    if (transport_ && c.passed[i] != 0) continue;  // by an earlier transmission
    if (transport_) c.transmissions[i]++;
    if (erases_uses_) c.erased_uses[i] += now_.erased_uses[i];
    for (std::size_t r = 0; coded_ && r < iteration_rows(); r++)
      c.iterations[i] += now_.iterations[i * iteration_rows() + r];
    for (std::size_t r = 0; informed_ && r < size_.codewords; r++)
      c.information_lost[i] += now_.information_lost[i * size_.codewords + r];
    for (std::size_t j = 0; j < rounds_; j++) {
      const std::size_t frame = j * n + i;
      std::int32_t bits = 0, codewords = 0;
      std::uint8_t erased = 0;
      for (std::size_t r = frame * size_.codewords; r < (frame + 1) * size_.codewords; r++) {
        bits += now_.bit_errors[r];
        codewords += now_.bit_errors[r] != 0;
      }
      for (std::size_t r = 0; coded_ && r < status_rows(); r++)
        erased |= now_.erased[frame * status_rows() + r];
      erased &= status_erased;
      if (transport_) c.passed[i] = now_.passed[frame];
      c.bit_errors[i] = bits;
      if (coded_) c.erased[i] = erased;
      if (many_) c.codeword_errors[i] = codewords;
      if (!looped_) continue;
      c.outer_bit_errors[j][i] = bits;
      c.outer_erased[j][i] = erased;
      if (transport_) c.outer_erased[j][i] = c.passed[i] == 0;
      if (many_) c.outer_codeword_errors[j][i] = codewords;
    }
    left = left || (transport_ && c.passed[i] == 0);
  }
  return left;
}

}  // namespace wb
