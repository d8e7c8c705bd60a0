#include <warpband/link/chain.hpp>

#include <algorithm>
#include <cmath>

#include <warpband/channel/awgn/awgn.hpp>
#include <warpband/channel/rayleigh/rayleigh.hpp>
#include <warpband/core/check.hpp>
#include <warpband/link/count/count.hpp>
#include <warpband/link/source/source.hpp>

namespace wb {
namespace {

code_config code_of(const link_config& c) {
  return {.type = c.code, .k = c.k, .crc = c.crc, .interleaver = c.interleaver, .decoder = c.decoder};
}

std::size_t sent_bits(const link_config& c) { return coded_bits(c.code, static_cast<std::size_t>(c.k)); }

/// Separates the points of a sweep. From Eb/N0 alone, so that a point's result does not depend on which
/// others are in the sweep.
std::uint32_t point_of(double ebn0_db) {
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(std::llround(ebn0_db * 1000)));
}

}  // namespace

link_config completed(const link_config& config) {
  link_config c = config;
  bits_per_symbol(c.qam);
  c.decoder = completed(code_of(config)).decoder;
  return c;
}

double code_rate(const link_config& c) {
  return static_cast<double>(c.k) / static_cast<double>(sent_bits(c));
}

double esn0_from_ebn0_db(const link_config& c, double ebn0_db) {
  return ebn0_db + 10 * std::log10(code_rate(c) * bits_per_symbol(c.qam));
}

link_chain::link_chain(const link_config& config, executor& exec, std::size_t max_batch)
    : config_(completed(config)), exec_(exec), mapper_(config.qam), demapper_(config.qam, config.demapper) {
  const std::size_t m = static_cast<std::size_t>(mapper_.bits());
  sent_ = sent_bits(config_);
  symbols_ = (sent_ + m - 1) / m;
  padded_ = symbols_ * m;
  if (config_.crc) crc_.emplace(config_.k - config_.crc->degree, *config_.crc);
  if (coded()) code_ = make_codec(code_of(config_));
  // What one unit of the executor's work needs is taken in any case, within reason.
  const std::size_t unit = exec_.preferred_batch(true), k = static_cast<std::size_t>(config_.k);
  const std::size_t symbol = config_.channel == channel_type::awgn ? 8 : 16;
  const std::size_t frame = symbols_ * symbol + padded_ * (coded() ? 5 : 4) + (coded() ? 2 : 1) * k + 9;
  const std::size_t usual = (exec_.name() == "cpu" ? std::size_t{64} : std::size_t{1024}) << 20;
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

void link_chain::allocate(std::size_t batch) {
  const std::size_t k = static_cast<std::size_t>(config_.k), m = static_cast<std::size_t>(mapper_.bits());
  bits_ = exec_.make<std::uint8_t>(coded() ? k : padded_, batch);
  received_ = exec_.make<std::complex<float>>(1, batch * symbols_);
  if (config_.channel == channel_type::rayleigh) gain_ = exec_.make<std::complex<float>>(1, batch * symbols_);
  llr_ = exec_.make<float>(m, batch * symbols_);
  noise_var_ = exec_.make<float>(1, 1);
  errors_ = exec_.make<std::int32_t>(1, batch);
  if (coded()) {
    coded_ = exec_.make<std::uint8_t>(padded_, batch);
    decided_ = exec_.make<std::uint8_t>(k, batch);
    status_ = exec_.make<std::uint8_t>(1, batch);
    iterations_ = exec_.make<std::int32_t>(1, batch);
  } else if (padded_ > k) {  // the source leaves the padding alone: zero it once
    const std::vector<std::uint8_t> zeros(bits_.size());
    exec_.upload(bits_.data(), zeros.data(), bits_.bytes());
    exec_.sync();
  }
  max_batch_ = batch;
}

const frame_counts& link_chain::run(std::uint64_t first_frame, std::size_t frames, double ebn0_db) {
  if (frames > max_batch_)
    throw argument_error("frames", std::to_string(frames),
                         "at most max_batch = " + std::to_string(max_batch_));
  if (!(ebn0_db >= -100 && ebn0_db <= 100))
    throw argument_error("ebn0_db", std::to_string(ebn0_db), "-100 to 100 dB");
  const std::size_t k = static_cast<std::size_t>(config_.k), m = static_cast<std::size_t>(mapper_.bits());
  const std::size_t n = frames * symbols_;
  const std::uint64_t first_symbol = first_frame * symbols_;
  const std::uint32_t point = point_of(ebn0_db);
  n0_ = static_cast<float>(std::pow(10, -esn0_from_ebn0_db(config_, ebn0_db) / 10));

  const view<std::uint8_t> bits{bits_.data(), k, frames, 1, bits_.elements()};
  const int drawn = config_.k - (crc_ ? config_.crc->degree : 0);
  random_bits(exec_, bits, drawn, {config_.seed, first_frame, point});
  if (crc_) crc_->run(exec_, bits);
  const std::uint8_t* sent = bits_.data();
  if (coded()) {
    code_->encode(exec_, bits, make_view(coded_.data(), padded_, frames));
    sent = coded_.data();
  }

  const auto y = make_view(received_.data(), n);
  mapper_.run(exec_, make_view(sent, m, n), y);
  view<const std::complex<float>> h;
  if (config_.channel == channel_type::rayleigh) {
    const bool block = config_.fading == fading_type::block;
    apply_rayleigh(exec_, y, y, make_view(gain_.data(), n), block ? static_cast<int>(symbols_) : 1,
                   {config_.seed, block ? first_frame : first_symbol, point});
    h = make_view(gain_.data(), n);
  }
  add_awgn(exec_, y, y, n0_, {config_.seed, first_symbol, point});

  exec_.upload(noise_var_.data(), &n0_, sizeof n0_);
  const view<const float> noise_var{noise_var_.data(), 1, n, 1, 0};  // one for all
  demapper_.run(exec_, {.received = y, .channel = h, .noise_var = noise_var}, make_view(llr_.data(), m, n));

  const view<float> llr{llr_.data(), sent_, frames, 1, padded_};  // a frame's symbols as one row
  const auto errors = make_view(errors_.data(), frames);
  counts_.bit_errors.resize(frames);
  if (coded()) {
    const auto decided = make_view(decided_.data(), k, frames);
    code_->decode(exec_, llr,
                  {.bits = decided,
                   .soft = {},
                   .iterations = make_view(iterations_.data(), frames),
                   .status = make_view(status_.data(), frames)});
    count_errors(exec_, bits, view<const std::uint8_t>(decided), errors);
    counts_.iterations.resize(frames);
    counts_.erased.resize(frames);
    exec_.download(counts_.iterations.data(), iterations_.data(), frames * sizeof(std::int32_t));
    exec_.download(counts_.erased.data(), status_.data(), frames);
  } else {
    count_errors(exec_, bits, view<const float>(llr), errors);
  }
  exec_.download(counts_.bit_errors.data(), errors_.data(), frames * sizeof(std::int32_t));
  exec_.sync();
  for (std::uint8_t& e : counts_.erased) e &= status_erased;
  return counts_;
}

}  // namespace wb
