#include <warpband/link/chain.hpp>

#include <algorithm>
#include <climits>
#include <cmath>
#include <numeric>

#include <warpband/channel/awgn/awgn.hpp>
#include <warpband/channel/mimo/mimo.hpp>
#include <warpband/channel/rayleigh/rayleigh.hpp>
#include <warpband/core/check.hpp>
#include <warpband/link/count/count.hpp>
#include <warpband/link/names.hpp>
#include <warpband/link/source/source.hpp>

namespace wb {
namespace {

/// Separates the points of a sweep, and the transmissions of a frame. From the point's number alone, so that
/// its result does not depend on which others are in the sweep: at most 100000 in size, so that the numbers
/// of transmissions, 2^20 apart, do not meet.
std::uint32_t number_of(double point_db, int transmission = 0) {
  static_assert(most_transmissions << 20 < 1 << 30);
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(std::llround(point_db * 1000)) +
                                    (transmission << 20));
}

constexpr int slots = 2;  // uses of the channel that a codeword of a space-time code takes

demap_algorithm demapper_of(const link_config& c) {
  const auto* one = std::get_if<single_antenna>(&c.antennas);
  return one != nullptr ? one->demapper : demap_algorithm::max_log;
}

}  // namespace

link_chain::link_chain(const link_config& config, executor& exec, std::size_t max_batch)
    : config_(completed(config)),
      exec_(exec),
      mapper_(config.qam),
      demapper_(config.qam, demapper_of(config)) {
  const std::size_t m = static_cast<std::size_t>(mapper_.bits());
  sent_ = sizes_of(config_.code).n;
  uses_ = uses_per_frame(config_);
  symbols_ = symbols_per_frame(config_);
  codewords_ = codewords_per_frame(config_);
  padded_ = symbols_ * m / codewords_;
  const code_config& code = config_.code;
  if (code.crc) crc_.emplace(code.k - code.crc->degree, *code.crc);
  if (code.type == code_type::lte_transport) {
    transport_encoder_.emplace(transport_of(code));
    transport_decoder_.emplace(transport_of(code));
  } else if (coded()) {
    code_ = make_codec(code);
  }
  if (const auto* c = std::get_if<detector_config>(&config_.antennas)) detector_ = make_detector(*c);
  if (const auto* c = std::get_if<stbc_config>(&config_.antennas)) {
    space_time_encoder_.emplace(c->code, config_.qam);
    space_time_decoder_.emplace(*c);
  }
  if (std::holds_alternative<massive_link_config>(config_.antennas))
    massive_ = std::make_unique<massive_link>(config_);
  else if (const auto* c = std::get_if<tdl_config>(&config_.channel))
    tdl_.emplace(*c);
  // What one unit of the executor's work needs is taken in any case, within reason.
  const std::size_t unit = preferred_frames(), frame = bytes_per_frame();
  const std::size_t usual = (exec_.is_device() ? std::size_t{1024} : std::size_t{64}) << 20;
  const std::size_t most = std::size_t{1} << 30;
  std::size_t batch = std::max<std::size_t>(1, std::clamp(unit * frame, usual, most) / frame);
  if (batch > unit) batch = batch / unit * unit;
  batch = std::min(batch, std::max<std::size_t>(1, max_batch));
  while (max_batch_ == 0) {
    try {
      allocate(batch);
    } catch (const memory_error&) {  // others may use the device's memory too
      if (batch == 1) throw;
      batch /= 2;
    }
  }
}

std::size_t link_chain::preferred_frames() const {
  const std::size_t unit = exec_.preferred_batch(true);
  // Massive MIMO's items are subcarriers and codewords.
  return massive_ ? std::max<std::size_t>(1, unit / std::min(uses_, codewords_)) : unit;
}

std::size_t link_chain::bytes_per_frame() const noexcept {
  const std::size_t k = static_cast<std::size_t>(config_.code.k);
  std::size_t bits =
      padded_ * (coded() ? 5 : 4) + (coded() ? 2 : 1) * k + 9 + (code_ ? code_->working_bytes() : 0);
  if (massive_) return bits * codewords_ + massive_->bytes_per_frame();
  if (transport_decoder_) {  // what encoder and decoder keep: code blocks and their codewords
    const lte_segmentation& s = transport_decoder_->segmentation();
    for (int r = 0; r < s.blocks; r++)
      bits += static_cast<std::size_t>(2 * s.k(r) + 5 * 3 * (s.k(r) + 4) + 17);
  }
  if (!erases_uses(config_))
    return bits + symbols_ * (std::holds_alternative<awgn_config>(config_.channel) ? 8 : 16);
  const std::size_t rx = static_cast<std::size_t>(rx_antennas_of(config_)),
                    tx = static_cast<std::size_t>(streams_of(config_));
  const std::size_t channels = is_block_fading(config_) ? 1 : uses_;
  return bits + uses_ * (8 * (tx + rx) + 1) + channels * 8 * rx * tx + 4;
}

void link_chain::allocate(std::size_t batch) {
  const std::size_t k = static_cast<std::size_t>(config_.code.k), uses = batch * uses_,
                    rows = batch * codewords_;
  bits_ = exec_.make<std::uint8_t>(coded() ? k : padded_, rows);
  if (massive_) {
    massive_->allocate(exec_, batch);
    erased_uses_ = exec_.make<std::int32_t>(1, batch);
  } else if (erases_uses(config_)) {
    const std::size_t rx = static_cast<std::size_t>(rx_antennas_of(config_)),
                      tx = static_cast<std::size_t>(streams_of(config_));
    symbols_sent_ = exec_.make<std::complex<float>>(tx, uses);
    received_ = exec_.make<std::complex<float>>(rx, uses);
    const std::size_t fast = space_time_decoder_ ? uses / slots : uses;
    gain_ = exec_.make<std::complex<float>>(rx * tx, is_block_fading(config_) ? batch : fast);
    use_status_ = exec_.make<std::uint8_t>(1, uses);
    erased_uses_ = exec_.make<std::int32_t>(1, batch);
    const std::uint8_t zero = 0;
    zero_ = exec_.make<std::uint8_t>(1, 1);
    exec_.upload(zero_.data(), &zero, 1);
    exec_.sync();
  } else {
    received_ = exec_.make<std::complex<float>>(1, uses);
    if (!std::holds_alternative<awgn_config>(config_.channel))
      gain_ = exec_.make<std::complex<float>>(1, uses);
  }
  if (space_time_decoder_ && !coded())
    decided_ = exec_.make<std::uint8_t>(padded_, rows);
  else
    llr_ = exec_.make<float>(padded_, rows);
  noise_var_ = exec_.make<float>(1, 1);
  errors_ = exec_.make<std::int32_t>(1, rows);
  if (coded()) {
    coded_ = exec_.make<std::uint8_t>(padded_, rows);
    decided_ = exec_.make<std::uint8_t>(k, rows);
    status_ = exec_.make<std::uint8_t>(1, rows);
    iterations_ = exec_.make<std::int32_t>(
        transport_decoder_ ? static_cast<std::size_t>(transport_decoder_->segmentation().blocks) : 1, rows);
  }
  if (transport_decoder_) passed_ = exec_.make<std::uint8_t>(1, batch);
  // Source and rate matching leave the padding alone: zero it once.
  array<std::uint8_t>& padding = coded() ? coded_ : bits_;
  if (!code_ && padded_ > sent_) {
    const std::vector<std::uint8_t> zeros(padding.size());
    exec_.upload(padding.data(), zeros.data(), padding.bytes());
    exec_.sync();
  }
  max_batch_ = batch;
}

void link_chain::transmit(const std::uint8_t* sent, std::uint64_t first_frame, std::size_t frames,
                          double point_db, int transmission) {
  const std::size_t m = static_cast<std::size_t>(mapper_.bits()), n = frames * symbols_;
  const std::uint64_t first_symbol = first_frame * symbols_;
  const std::uint32_t point = number_of(point_db, transmission);
  n0_ = static_cast<float>(std::pow(10, -noise_level_at(config_, point_db).esn0_db / 10));
  exec_.upload(noise_var_.data(), &n0_, sizeof n0_);
  if (massive_)
    return massive_->transmit(exec_, sent, llr_.data(), noise_var_.data(), n0_, erased_uses_.data(), frames,
                              {config_.seed, first_frame, point});
  if (space_time_encoder_) {
    const std::size_t codewords = frames * uses_ / slots;
    space_time_encoder_->run(exec_, make_view(sent, space_time_encoder_->bits_per_codeword(), codewords),
                             make_view(symbols_sent_.data(), 2 * slots, codewords));
    return transmit_codewords(first_frame, frames, point);
  }
  const auto y = make_view(received_.data(), n);
  if (detector_) {
    mapper_.run(exec_, make_view(sent, m, n), make_view(symbols_sent_.data(), n));
    return transmit_streams(first_frame, frames, point);
  }
  mapper_.run(exec_, make_view(sent, m, n), y);
  view<const std::complex<float>> h;
  if (tdl_) {
    tdl_->apply(exec_, y, y, make_view(gain_.data(), n), blocks_of(first_frame, point));
    h = make_view(gain_.data(), n);
  } else if (std::holds_alternative<rayleigh_config>(config_.channel)) {
    const bool block = is_block_fading(config_);
    apply_rayleigh(exec_, y, y, make_view(gain_.data(), n), block ? static_cast<int>(symbols_) : 1,
                   {config_.seed, block ? first_frame : first_symbol, point});
    h = make_view(gain_.data(), n);
  }
  add_awgn(exec_, y, y, n0_, {config_.seed, first_symbol, point});
  const view<const float> noise_var{noise_var_.data(), 1, n, 1, 0};  // one for all
  demapper_.run(exec_, {.received = y, .channel = h, .noise_var = noise_var}, make_view(llr_.data(), m, n));
}

random_range link_chain::blocks_of(std::uint64_t first_frame, std::uint32_t point) const noexcept {
  return {config_.seed, first_frame * (uses_ / tdl_->config().grid.elements()), point};
}

void link_chain::transmit_streams(std::uint64_t first_frame, std::size_t frames, std::uint32_t point) {
  const std::size_t rx = static_cast<std::size_t>(rx_antennas_of(config_)),
                    tx = static_cast<std::size_t>(streams_of(config_)), uses = frames * uses_;
  const bool block = is_block_fading(config_);
  const std::size_t shared = block ? uses_ : 1;
  const auto y = make_view(received_.data(), rx, uses);
  const auto h = make_view(gain_.data(), rx * tx, uses / shared);
  const auto s = make_view(symbols_sent_.data(), tx, uses);
  if (tdl_)
    tdl_->apply(exec_, s, y, h, blocks_of(first_frame, point));
  else
    apply_mimo_rayleigh(exec_, s, y, h, shared,
                        {config_.seed, block ? first_frame : first_frame * uses_, point});
  add_noise(first_frame, frames, point);
  const auto status = make_view(use_status_.data(), uses);
  detector_->run(
      exec_,
      {.received = y,
       .channel = h,
       .uses_per_channel = shared,
       .noise_var = {noise_var_.data(), 1, uses, 1, 0},
       .prior = {}},
      {.llr = make_view(llr_.data(), detector_->bits_per_use(), uses), .bits = {}, .status = status});
  count_erased(uses_, frames);
}

void link_chain::transmit_codewords(std::uint64_t first_frame, std::size_t frames, std::uint32_t point) {
  const std::size_t rx = static_cast<std::size_t>(rx_antennas_of(config_)), uses = frames * uses_,
                    codewords = uses / slots, bits = space_time_decoder_->bits_per_codeword();
  const bool block = is_block_fading(config_);
  const std::size_t shared = block ? uses_ : slots;
  const auto h = make_view(gain_.data(), 2 * rx, uses / shared);
  apply_mimo_rayleigh(exec_, make_view(symbols_sent_.data(), 2, uses), make_view(received_.data(), rx, uses),
                      h, shared, {config_.seed, block ? first_frame : first_frame * (uses_ / slots), point});
  add_noise(first_frame, frames, point);
  stbc_output out{.llr = {}, .bits = {}, .status = make_view(use_status_.data(), codewords)};
  if (coded())
    out.llr = make_view(llr_.data(), bits, codewords);
  else
    out.bits = make_view(decided_.data(), bits, codewords);
  space_time_decoder_->run(exec_,
                           {.received = make_view(received_.data(), slots * rx, codewords),
                            .channel = h,
                            .codewords_per_channel = shared / slots,
                            .noise_var = {noise_var_.data(), 1, codewords, 1, 0}},
                           out);
  count_erased(uses_ / slots, frames);
}

void link_chain::add_noise(std::uint64_t first_frame, std::size_t frames, std::uint32_t point) {
  const std::size_t of_frame = uses_ * static_cast<std::size_t>(rx_antennas_of(config_));
  const auto entries = make_view(received_.data(), frames * of_frame);
  add_awgn(exec_, entries, entries, n0_, {config_.seed, first_frame * of_frame, point});
}

void link_chain::count_erased(std::size_t per_frame, std::size_t frames) {
  static_assert(status_erased == 1);
  count_errors(exec_, view<const std::uint8_t>{zero_.data(), per_frame, frames, 0, 0},
               view<const std::uint8_t>(make_view(use_status_.data(), per_frame, frames)),
               make_view(erased_uses_.data(), frames));
}

// Blocks that have passed stay in the batch, sent and decoded with the others, and what becomes of them is
// not looked at: the soft buffers then never move, and frames keep their places in the channel's random
// numbers, which kernels count up from the first. The decoder's early stop makes them cheap. A batch ends
// with the transmission after which all have passed.
void link_chain::run_transmissions(view<const std::uint8_t> bits, std::uint64_t first_frame,
                                   std::size_t frames, double point_db) {
  const lte_transport_settings& settings = config_.code.transport;
  const std::size_t blocks = iterations_.elements(), versions = settings.redundancy_versions.size();
  frame_counts now{.bit_errors = std::vector<std::int32_t>(frames),
                   .iterations = std::vector<std::int32_t>(frames * blocks),
                   .erased = std::vector<std::uint8_t>(frames),
                   .erased_uses = std::vector<std::int32_t>(detector_ ? frames : 0),
                   .passed = std::vector<std::uint8_t>(frames)};
  counts_ = now;
  counts_.iterations.resize(frames);
  counts_.transmissions.resize(frames);
  const auto decided = make_view(decided_.data(), bits.elements, frames);
  transport_decoder_->reset();
  bool failed = frames != 0;
  for (int n = 0; failed && n < settings.transmissions; n++) {
    const int rv = settings.redundancy_versions[static_cast<std::size_t>(n) % versions];
    transport_encoder_->run(exec_, bits, rv, {coded_.data(), sent_, frames, 1, padded_});
    transmit(coded_.data(), first_frame, frames, point_db, n);
    transport_decoder_->combine(exec_, view<const float>{llr_.data(), sent_, frames, 1, padded_}, rv);
    transport_decoder_->decode(exec_, {.bits = decided,
                                       .ok = make_view(passed_.data(), frames),
                                       .block_ok = {},
                                       .iterations = make_view(iterations_.data(), blocks, frames),
                                       .status = make_view(status_.data(), frames)});
    count_errors(exec_, bits, view<const std::uint8_t>(decided), make_view(errors_.data(), frames));
    exec_.download(now.bit_errors.data(), errors_.data(), frames * sizeof(std::int32_t));
    exec_.download(now.iterations.data(), iterations_.data(), frames * blocks * sizeof(std::int32_t));
    exec_.download(now.erased.data(), status_.data(), frames);
    exec_.download(now.passed.data(), passed_.data(), frames);
    if (detector_) exec_.download(now.erased_uses.data(), erased_uses_.data(), frames * sizeof(std::int32_t));
    exec_.sync();
    failed = false;
    for (std::size_t i = 0; i < frames; i++) {
      if (counts_.passed[i] != 0) continue;
      const auto used = now.iterations.begin() + static_cast<std::ptrdiff_t>(i * blocks);
      counts_.transmissions[i]++;
      counts_.bit_errors[i] = now.bit_errors[i];
      counts_.iterations[i] += std::accumulate(used, used + static_cast<std::ptrdiff_t>(blocks), 0);
      counts_.erased[i] = now.erased[i] & status_erased;
      counts_.passed[i] = now.passed[i];
      if (detector_) counts_.erased_uses[i] += now.erased_uses[i];
      failed = failed || now.passed[i] == 0;
    }
  }
}

void link_chain::count_codewords(std::size_t frames) {
  counts_.codeword_errors.assign(frames, 0);
  for (std::size_t i = 0; i < frames; i++) {
    std::int32_t bits = 0, iterations = 0;
    std::uint8_t erased = 0;
    for (std::size_t row = i * codewords_; row < (i + 1) * codewords_; row++) {
      bits += counts_.bit_errors[row];
      counts_.codeword_errors[i] += counts_.bit_errors[row] != 0;
      if (coded()) iterations += counts_.iterations[row], erased |= counts_.erased[row];
    }
    counts_.bit_errors[i] = bits;
    if (coded()) counts_.iterations[i] = iterations, counts_.erased[i] = erased;
  }
  counts_.bit_errors.resize(frames);
  if (coded()) counts_.iterations.resize(frames), counts_.erased.resize(frames);
}

const frame_counts& link_chain::run(std::uint64_t first_frame, std::size_t frames, double point_db) {
  if (frames > max_batch_)
    throw argument_error("frames", std::to_string(frames),
                         "at most max_batch = " + std::to_string(max_batch_));
  if (!(point_db >= -100 && point_db <= 100))
    throw argument_error(name_of(config_.axis), std::to_string(point_db), "-100 to 100 dB");
  const std::size_t k = static_cast<std::size_t>(config_.code.k), rows = frames * codewords_;

  const view<std::uint8_t> bits{bits_.data(), k, rows, 1, bits_.elements()};
  const int drawn = config_.code.k - (crc_ ? config_.code.crc->degree : 0);
  random_bits(exec_, bits, drawn, {config_.seed, first_frame * codewords_, number_of(point_db)});
  if (transport_decoder_) {
    run_transmissions(bits, first_frame, frames, point_db);
    return counts_;
  }
  if (crc_) crc_->run(exec_, bits);
  if (coded()) code_->encode(exec_, bits, make_view(coded_.data(), padded_, rows));
  transmit(coded() ? coded_.data() : bits_.data(), first_frame, frames, point_db);

  const view<float> llr{llr_.data(), sent_, rows, 1, padded_};  // a codeword's symbols as one row
  const auto errors = make_view(errors_.data(), rows);
  counts_.bit_errors.resize(rows);
  if (coded()) {
    const auto decided = make_view(decided_.data(), k, rows);
    code_->decode(exec_, llr,
                  {.bits = decided,
                   .soft = {},
                   .iterations = make_view(iterations_.data(), rows),
                   .status = make_view(status_.data(), rows)});
    count_errors(exec_, bits, view<const std::uint8_t>(decided), errors);
    counts_.iterations.resize(rows);
    counts_.erased.resize(rows);
    exec_.download(counts_.iterations.data(), iterations_.data(), rows * sizeof(std::int32_t));
    exec_.download(counts_.erased.data(), status_.data(), rows);
  } else if (space_time_decoder_) {
    count_errors(exec_, bits, view<const std::uint8_t>{decided_.data(), sent_, frames, 1, padded_}, errors);
  } else {
    count_errors(exec_, bits, view<const float>(llr), errors);
  }
  if (erases_uses(config_)) {
    counts_.erased_uses.resize(frames);
    exec_.download(counts_.erased_uses.data(), erased_uses_.data(), frames * sizeof(std::int32_t));
  }
  exec_.download(counts_.bit_errors.data(), errors_.data(), rows * sizeof(std::int32_t));
  exec_.sync();
  for (std::uint8_t& e : counts_.erased) e &= status_erased;
  if (space_time_decoder_)
    for (std::int32_t& e : counts_.erased_uses) e *= slots;
  if (massive_) count_codewords(frames);
  return counts_;
}

}  // namespace wb
