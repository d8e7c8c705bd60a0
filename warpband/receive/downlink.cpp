#include <warpband/receive/downlink.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <mutex>
#include <numbers>
#include <set>
#include <string>
#include <utility>

#include <warpband/core/as_size.hpp>
#include <warpband/core/check.hpp>
#include <warpband/core/decimal.hpp>
#include <warpband/estimate/estimator.hpp>
#include <warpband/estimate/noise.hpp>
#include <warpband/fec/nr/transport.hpp>
#include <warpband/modem/demap/demap.hpp>
#include <warpband/nr/pdcch/coreset.hpp>
#include <warpband/nr/pdcch/pdcch.hpp>

namespace wb {
namespace {

using downlink_sample = std::complex<float>;

constexpr int downlink_slot_symbols = 14, downlink_most_fft = 4096;
constexpr double downlink_rate = 30.72e6;  // whose samples are the unit of symbols at 15 kHz: 2048 + 144
constexpr double downlink_symbol = 2192, downlink_longer = 16;
constexpr double downlink_piece_seconds = 0.02;
constexpr int downlink_least_cells = 5;  // of DMRS in a row, for noise_estimator

/// Seconds from a frame's start to the prefix of a symbol.
double symbol_start(int spacing_khz, int symbol) {
  const int scale = spacing_khz / 15, half = 7 * scale;
  return (downlink_symbol * symbol / scale + downlink_longer * ((symbol + half - 1) / half)) / downlink_rate;
}
/// Seconds of a symbol without the longer prefix.
double symbol_seconds(int spacing_khz) { return downlink_symbol / downlink_rate * 15 / spacing_khz; }

/// The product of finite numbers: that of std::complex checks for NaN.
std::complex<double> product(std::complex<double> a, std::complex<double> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// A slot's values without the phases that a transmitter refers to its carrier (TS 38.211 §5.4).
std::vector<downlink_sample> carrier_removed(const std::vector<downlink_sample>& values, int spacing_khz,
                                             int subframe_slot, double carrier_hz) {
  std::vector<downlink_sample> rotated;
  const std::size_t subcarriers = values.size() / downlink_slot_symbols;
  for (std::size_t l = 0; l < downlink_slot_symbols; l++) {
    // The end of the symbol's prefix.
    const double seconds =
        symbol_start(spacing_khz, subframe_slot * downlink_slot_symbols + static_cast<int>(l) + 1) -
        1e-3 / spacing_khz;
    const auto phase = std::polar(1., 2 * std::numbers::pi * std::fmod(carrier_hz * seconds, 1.));
    for (std::size_t k = 0; k < subcarriers; k++)
      rotated.emplace_back(product(values[l * subcarriers + k], phase));
  }
  return rotated;
}

/// N0 of a resource element by a decoded PDCCH in a slot's values.
double pdcch_noise(const std::vector<downlink_sample>& values, const pdcch_config& c, int first_cce,
                   double snr_db) {
  double power = 0;
  const std::vector<int> groups = pdcch_groups(c, first_cce);
  for (const int g : groups)
    for (int k = 0; k < 12; k++)
      power += std::norm(std::complex<double>(
          values[as_size(12 * (c.blocks * (c.first_symbol + g % c.symbols) + g / c.symbols) + k)]));
  const double mean = power / (12 * static_cast<double>(groups.size()));
  return std::clamp(mean / (1 + std::pow(10., snr_db / 10)), 1e-37, 1e37);
}

/// `count` samples from sample `first` on, `hz` shifted to 0. Those that are not there or not usable are 0.
std::vector<downlink_sample> shifted(std::span<const downlink_sample> samples, double first,
                                     std::size_t count, double hz, double rate_hz) {
  std::vector<downlink_sample> piece(count);
  // Indices of the piece whose samples are there. `first` is whole.
  const auto begin = static_cast<std::size_t>(std::clamp(-first, 0., static_cast<double>(count))),
             end = static_cast<std::size_t>(
                 std::clamp(static_cast<double>(samples.size()) - first, 0., static_cast<double>(count)));
  const double advance = -2 * std::numbers::pi * hz / rate_hz;
  // Phases of a group of samples are those of the first group, turned by the phase of the group's first one.
  constexpr std::size_t group = 256;
  std::array<downlink_sample, group> phases;
  for (std::size_t i = 0; i < group; i++)
    phases[i] = downlink_sample(std::polar(1.0, advance * static_cast<double>(i)));
  for (std::size_t from = begin; from < end; from += group) {
    const auto base = downlink_sample(std::polar(1.0, advance * static_cast<double>(from)));
    const downlink_sample* x = samples.data() + static_cast<std::size_t>(first + static_cast<double>(from));
    downlink_sample* y = piece.data() + from;
    for (std::size_t i = 0; i < std::min(group, end - from); i++) {
      const float re = base.real() * phases[i].real() - base.imag() * phases[i].imag(),
                  im = base.real() * phases[i].imag() + base.imag() * phases[i].real();
      if (nr_is_usable(x[i]))
        y[i] = {x[i].real() * re - x[i].imag() * im, x[i].real() * im + x[i].imag() * re};
    }
  }
  return piece;
}

/// Of a block alone: subcarrier 120 is at 0 Hz, and no symbol has a longer prefix.
ofdm_numerology block_numerology(double rate_hz, int spacing_khz) {
  ofdm_numerology n;
  n.spacing_hz = 1e3 * spacing_khz;
  n.fft_size = static_cast<int>(std::lround(rate_hz / n.spacing_hz));
  n.subcarriers = ssb_subcarriers, n.free_carrier = false;
  n.cyclic_prefix = n.first_cyclic_prefix = n.fft_size * 9 / 128;
  n.symbols_per_slot = ssb_symbols;
  return n;
}

void check_downlink(const nr_downlink_config& c) {
  check_settings(nr_downlink_settings(), c);
  const bool high = c.spacing_khz > 30;
  const std::string with_spacing = " with spacing_khz = " + std::to_string(c.spacing_khz);
  if (!nr_downlink_takes_rate(c.sample_rate_hz, c.spacing_khz))
    throw argument_error(
        "sample_rate_hz", decimal(c.sample_rate_hz),
        "2 to 32 times 128 subcarrier spacings, without prime factors above 5," + with_spacing);
  const double room = (c.sample_rate_hz - 1e3 * ssb_subcarriers * c.spacing_khz) / 2;
  if (std::fabs(c.offset_hz) > room)
    throw argument_error(
        "offset_hz", decimal(c.offset_hz),
        "-" + decimal(room) + " to " + decimal(room) + " with sample_rate_hz = " + decimal(c.sample_rate_hz));
  if (c.l_max && (*c.l_max == 64) != high)
    throw argument_error("l_max", std::to_string(*c.l_max), (high ? "64" : "4 or 8") + with_spacing);
  if (c.wide && c.spacing_khz != 30) throw argument_error("wide", "true", "false" + with_spacing);
}

cell_search_config search_of(const nr_downlink_config& c) {
  check_downlink(c);
  return {.sample_rate_hz = c.sample_rate_hz,
          .spacing_khz = c.spacing_khz,
          .offset_hz = c.offset_hz,
          .max_cfo_hz = c.max_cfo_hz,
          .carrier_hz = c.carrier_hz,
          .false_alarm = c.false_alarm,
          .candidates = c.spacing_khz > 30 ? 512 : 128};  // blocks of several cells in a piece, every 5 ms
}

}  // namespace

std::optional<nr_reserved> nr_ssb_reserved(const nr_carrier& carrier, int ssb_spacing_khz, double lowest_hz,
                                           double seconds) {
  const int first_in_subframe = carrier.slot % (carrier.spacing_khz / 15) * downlink_slot_symbols;
  const double ssb_end = seconds + ssb_symbols * symbol_seconds(ssb_spacing_khz),
               tolerance = symbol_seconds(carrier.spacing_khz) / 8, block_hz = 12e3 * carrier.spacing_khz;
  const auto start = [&](int symbol) {
    return symbol_start(carrier.spacing_khz, first_in_subframe + symbol) -
           symbol_start(carrier.spacing_khz, first_in_subframe);
  };
  nr_reserved r{.symbols = 0};
  for (int l = 0; l < downlink_slot_symbols; l++)
    if (start(l + 1) > seconds + tolerance && start(l) < ssb_end - tolerance)
      r.first_symbol = r.symbols == 0 ? l : r.first_symbol, r.symbols++;
  r.first_block = std::max(static_cast<int>(std::floor(lowest_hz / block_hz)), 0);
  const double highest_hz = lowest_hz + 1e3 * ssb_subcarriers * ssb_spacing_khz;
  r.blocks =
      std::min(static_cast<int>(std::ceil(highest_hz / block_hz)), carrier.resource_blocks) - r.first_block;
  if (r.symbols == 0 || r.blocks <= 0) return std::nullopt;
  return r;
}

/// Searches for PDCCH by cell, blocks, symbols and first symbol. Demodulators by spacing, blocks, first
/// symbol of the subframe and symbols.
struct nr_downlink::kept_objects {
  std::mutex mutex;
  std::map<std::array<int, 4>, std::shared_ptr<const pdcch_search>> searches;
  std::map<std::array<int, 4>, std::shared_ptr<const ofdm_demodulator>> demodulators;
};

/// A slot in which CORESET 0 may have a DCI.
struct nr_downlink::occasion {
  const nr_downlink_block* block;  // the cell's nearest one
  nr_coreset0 coreset;
  int ssb_index;     // of the block whose occasion it is
  int rank;          // of occasions at one time, the lowest is kept
  int first_symbol;  // of the CORESET
  int sfn, slot;
  double first;  // sample at which the slot's first prefix begins
};

/// Occasions of cells, each once.
class nr_downlink::occasion_list {
 public:
  occasion_list(std::size_t samples, std::size_t end)
      : samples_(static_cast<double>(samples)), end_(static_cast<double>(end)) {}
  double end() const { return end_; }
  /// Adds an occasion if its slot of `length` samples is among the samples.
  void add(const occasion& o, double length) {
    const double whole = std::floor(o.first + 0.5), same = length / 100;
    if (whole < 0 || whole >= end_ || whole + length > samples_) return;
    auto& of_kind = found_[{o.block->found.cell_id, o.first_symbol, o.slot}];
    const auto known = of_kind.lower_bound(o.first - same);
    if (known == of_kind.end() || known->first > o.first + same)
      of_kind.emplace(o.first, o);
    else if (o.rank < known->second.rank)
      known->second.ssb_index = o.ssb_index, known->second.rank = o.rank;
  }
  /// In order of time.
  std::vector<occasion> sorted() const {
    std::vector<occasion> in_order;
    for (const auto& [kind, occasions] : found_)
      for (const auto& [first, o] : occasions) in_order.push_back(o);
    std::stable_sort(in_order.begin(), in_order.end(),
                     [](const occasion& a, const occasion& b) { return a.first < b.first; });
    return in_order;
  }

 private:
  double samples_, end_;
  std::map<std::array<int, 3>, std::map<double, occasion>> found_;  // cell, first symbol, slot; first sample
};

const std::vector<setting_of<nr_downlink_config>>& nr_downlink_settings() {
  using c = nr_downlink_config;
  static const std::vector<setting_of<c>> settings{
      number("sample_rate_hz", &c::sample_rate_hz, 1e6, 2e9, "Of the samples.", false,
             "2 to 32 times 128 subcarrier spacings, without prime factors above 5"),
      one_of("spacing_khz", &c::spacing_khz, {15, 30, 120, 240},
             "Subcarrier spacing of SS/PBCH blocks in kHz."),
      number("offset_hz", &c::offset_hz, -1e9, 1e9,
             "Frequency of a block's subcarrier 120, counted from the centre of the samples."),
      number("max_cfo_hz", &c::max_cfo_hz, 0, 1e6,
             "The search covers carrier frequency offsets from -max_cfo_hz to max_cfo_hz.", false,
             "0 to four subcarrier spacings"),
      number(
          "carrier_hz", &c::carrier_hz, -1e12, 1e12,
          "Radio frequency of the centre of the samples, to which the transmitter refers the phase of each "
          "symbol (3GPP TS 38.211 section 5.4). 0: it does not. Left out: unknown."),
      number("false_alarm", &c::false_alarm, 1e-12, 0.1,
             "Bound of the probability that white noise alone gives a block, for each piece of 20 ms."),
      one_of("l_max", &c::l_max, {4, 8, 64},
             "Candidate SS/PBCH blocks of a half frame. Left out: 8 and 4, from 120 kHz on 64."),
      boolean(
          "wide", &c::wide,
          "The band's least channel bandwidth is 40 MHz, which selects the table of CORESET 0 at 30 kHz.")};
  return settings;
}

bool nr_downlink_takes_rate(double sample_rate_hz, int spacing_khz) noexcept {
  const double ratio = sample_rate_hz / (128e3 * spacing_khz);
  if (!(ratio >= 2 && ratio <= 32 && ratio == std::floor(ratio))) return false;
  int rest = static_cast<int>(ratio);  // the FFT takes products of 2, 3 and 5
  for (const int factor : {2, 3, 5})
    while (rest % factor == 0) rest /= factor;
  return rest == 1;
}

namespace {

/// Checks arguments of nr_si_decode, and returns the channel.
const nr_channel_config& checked_si(const nr_channel_config& channel, int mcs,
                                    std::optional<double> noise_var) {
  if (channel.direction != nr_direction::downlink) throw argument_error("channel", "pusch", "pdsch");
  check_range("layers", channel.layers, 1, 1);
  if (noise_var) check_number("noise_var", *noise_var, 1e-37, 1e37);
  check_range("mcs", mcs, 0, 28);
  return channel;
}

/// Decodes the PDSCH of a DCI from versions of its slot, by one estimator and decoder.
class si_decoder {
 public:
  si_decoder(executor& exec, const nr_channel_config& channel, int mcs, std::optional<double> noise_var)
      : exec_(exec),
        pdsch_(checked_si(channel, mcs, noise_var)),
        transport_(pdsch_.transport(1, mcs)),
        pilots_(pilots_of(pdsch_)),
        noise_(exec.make<float>(1, 1)) {
    if (!pilots_.silent.empty() || pilots_.cells() >= downlink_least_cells) {
      noise_estimator_.emplace(pilots_);
    } else {
      if (!noise_var)
        throw argument_error("noise_var", "none", "N0 of an element: one block's DMRS do not give it");
      const float given = static_cast<float>(*noise_var);
      exec.upload(noise_.data(), &given, sizeof(float));
      exec.sync();  // before `given` ends
    }
    const std::size_t symbols = pdsch_.data_elements();
    const auto order = as_size(transport_.modulation_order);
    channel_estimator_.emplace(pilots_, estimator_config{}, pdsch_.data_places());
    demapper_.emplace(1 << transport_.modulation_order);
    decoder_.emplace(transport_);
    error_var_ = exec.make<float>(symbols, 1);
    h_ = exec.make<std::complex<float>>(symbols, 1), y_ = exec.make<std::complex<float>>(symbols, 1);
    llr_ = exec.make<float>(symbols, order);
    decided_ = exec.make<std::uint8_t>(1, as_size(transport_.transport_bits));
    ok_ = exec.make<std::uint8_t>(1, 1);
  }
  std::size_t elements() const noexcept { return pdsch_.elements(); }
  nr_si_block run(view<const std::complex<float>> grid, int rv) {
    const view<const std::complex<float>> received{grid.data, 1, elements(), 1, grid.element_stride};
    if (noise_estimator_) noise_estimator_->run(exec_, received, {.noise_var = noise_});
    channel_estimator_->run(exec_, received, noise_, {.channel = h_, .noise_var = error_var_});
    pdsch_.extract(exec_, received, y_);
    demapper_->run(exec_, {.channel = h_, .received = y_, .noise_var = error_var_}, llr_);
    decoder_->reset();
    decoder_->combine(exec_, make_view(std::as_const(llr_).data(), 1, as_size(transport_.coded_bits)), rv);
    decoder_->decode(exec_, {.bits = decided_, .ok = ok_});
    nr_si_block block;
    block.bits = exec_.to_host(decided_);
    block.ok = exec_.to_host(ok_)[0] != 0;
    if (!block.ok) block.bits.assign(block.bits.size(), 0);
    return block;
  }

 private:
  executor& exec_;
  nr_shared_channel pdsch_;
  nr_transport_config transport_;
  pilot_pattern pilots_;
  std::optional<noise_estimator> noise_estimator_;  // none: N0 is given
  std::optional<channel_estimator> channel_estimator_;
  std::optional<demapper> demapper_;
  std::optional<nr_transport_decoder> decoder_;
  array<float> noise_, error_var_, llr_;
  array<std::complex<float>> h_, y_;
  array<std::uint8_t> decided_, ok_;
};

}  // namespace

nr_si_block nr_si_decode(executor& exec, view<const std::complex<float>> grid,
                         const nr_channel_config& channel, int mcs, int rv, std::optional<double> noise_var) {
  check_range("rv", rv, 0, 3);
  si_decoder decoder(exec, channel, mcs, noise_var);
  check_shape("grid", grid, 1, decoder.elements());
  return decoder.run(grid, rv);
}

nr_downlink::nr_downlink(const nr_downlink_config& config)
    : config_(config),
      search_(search_of(config)),
      demodulator_(block_numerology(config.sample_rate_hz, config.spacing_khz), {.symbols = ssb_symbols}),
      kept_(std::make_shared<kept_objects>()) {
  std::vector<int> counts;
  // A block that both decode says the same: half frame 0 and i_SSB below 4.
  if (config.l_max)
    counts = {*config.l_max};
  else if (config.spacing_khz > 30)
    counts = {64};
  else
    counts = {8, 4};
  for (const int l_max : counts)
    decoders_.emplace_back(pbch_decoder_config{.l_max = l_max, .list_size = 8, .hypotheses = 2});
}

std::size_t nr_downlink::slot_samples() const noexcept {
  return static_cast<std::size_t>(std::ceil(1e-3 * config_.sample_rate_hz));
}

std::vector<nr_downlink_block> nr_downlink::blocks(executor& exec,
                                                   std::span<const std::complex<float>> samples,
                                                   view<const std::complex<float>> on_device,
                                                   std::size_t end) const {
  check_shape("on_device", on_device, 1, samples.size());
  // A block near the edge of a piece may be found in both.
  constexpr double margin = 2;
  const auto step = static_cast<std::size_t>(std::lround(downlink_piece_seconds * config_.sample_rate_hz));
  std::vector<nr_downlink_block> blocks;
  std::set<std::pair<int, double>> seen;  // cell and first sample
  for (std::size_t from = 0; from < std::min(end, samples.size()); from += step) {
    const std::size_t count = std::min(step + block_samples() + 2, samples.size() - from);
    const view<const std::complex<float>> piece{.data = on_device.data + from * on_device.element_stride,
                                                .elements = count,
                                                .items = 1,
                                                .element_stride = on_device.element_stride};
    for (nr_found_block found : search_.run(exec, piece).blocks) {
      if (found.first_sample >= static_cast<double>(step) + margin) continue;
      found.first_sample += static_cast<double>(from);
      const double first = std::floor(found.first_sample + 0.5);
      if (first >= static_cast<double>(end) ||
          first + static_cast<double>(demodulator_.samples()) > static_cast<double>(samples.size()))
        continue;
      const auto same = seen.lower_bound({found.cell_id, found.first_sample - 2 * margin});
      if (same != seen.end() && same->first == found.cell_id &&
          same->second <= found.first_sample + 2 * margin)
        continue;
      seen.insert({found.cell_id, found.first_sample});
      blocks.push_back({found, {}});
      decode(exec, samples, first, blocks.back());
    }
  }
  std::sort(blocks.begin(), blocks.end(), [](const nr_downlink_block& a, const nr_downlink_block& b) {
    return a.found.first_sample < b.found.first_sample;
  });
  return blocks;
}

array<std::complex<float>> nr_downlink::grid_of(executor& exec, std::span<const std::complex<float>> samples,
                                                double first, double cfo_hz) const {
  const std::size_t n = demodulator_.samples();
  const auto piece = shifted(samples, first - static_cast<double>(early()), n, config_.offset_hz + cfo_hz,
                             config_.sample_rate_hz);
  auto from = exec.make<std::complex<float>>(1, n);
  exec.upload(from.data(), piece.data(), n * sizeof(std::complex<float>));
  auto grid = exec.make<std::complex<float>>(1, demodulator_.values());
  demodulator_.run(exec, from, grid);
  exec.sync();  // before `piece` and `from` end
  return grid;
}

nr_block_picture nr_downlink::picture(executor& exec, std::span<const std::complex<float>> samples,
                                      const nr_downlink_block& b) const {
  using exact = std::complex<double>;
  if (!b.pbch.content) throw argument_error("block", "not decoded", "a decoded block");
  check_known(b);
  const double first = std::floor(b.found.first_sample + 0.5), cfo_hz = b.found.cfo_hz;
  const std::vector<downlink_sample> y = exec.to_host(grid_of(exec, samples, first, cfo_hz));
  const ofdm_numerology& numerology = demodulator_.numerology();
  const std::size_t size = as_size(numerology.fft_size);
  // Values without the phases of the residual offset and of the early window.
  std::vector<exact> received;
  for (std::size_t i = 0; i < y.size(); i++) {
    const double symbol = static_cast<double>(i / ssb_subcarriers) - 2,
                 k = static_cast<double>(i % ssb_subcarriers) - ssb_subcarriers / 2.,
                 turns = static_cast<double>(early()) * k / static_cast<double>(size) -
                         b.pbch.cfo_spacings * (1 + 9. / 128) * symbol;
    received.push_back(product(y[i], std::polar(1., 2 * std::numbers::pi * turns)));
  }
  // The block that was sent: DMRS differ with the number of candidate blocks.
  auto grid = exec.make<std::complex<float>>(1, demodulator_.values());
  std::vector<downlink_sample> sent;
  double best = -1;
  for (const pbch_decoder& decoder : decoders_) {
    const int l_max = decoder.config().l_max;
    if (b.pbch.content->ssb_index >= l_max) continue;
    pbch_encoder({.l_max = l_max}).run(exec, {*b.pbch.content}, {b.found.cell_id}, grid);
    const std::vector<downlink_sample> x = exec.to_host(grid);
    double power = 0;
    for (std::size_t from = 0; from < x.size(); from += ssb_subcarriers / 4) {
      exact sum = 0;
      for (std::size_t i = from; i < from + ssb_subcarriers / 4; i++)
        sum += product(received[i], std::conj(exact(x[i])));
      power += std::norm(sum);
    }
    if (power > best) best = power, sent = x;
  }
  nr_block_picture picture;
  for (int k = 0; k < ssb_subcarriers; k++) {
    exact sum = 0;
    double energy = 0;
    for (int j = std::max(k - 4, 0); j <= std::min(k + 4, ssb_subcarriers - 1); j++)
      for (int l = 0; l < ssb_symbols; l++) {
        const auto i = as_size(l * ssb_subcarriers + j);
        sum += product(received[i], std::conj(exact(sent[i])));
        energy += std::norm(exact(sent[i]));
      }
    picture.channel.emplace_back(sum / energy);
  }
  for (int l = 1; l < ssb_symbols; l++)
    for (int k = 0; k < ssb_subcarriers; k++) {
      if (l == 2 && k >= 48 && k < 192) continue;  // SSS, and what surrounds it
      const exact h = picture.channel[as_size(k)];
      if (std::norm(h) > 0) picture.points.emplace_back(received[as_size(l * ssb_subcarriers + k)] / h);
    }
  // The PSS in time is symbol 0 of the block alone.
  const ofdm_modulator modulator(numerology, {.symbols = 1});
  auto wave = exec.make<std::complex<float>>(1, modulator.samples());
  const std::span<const downlink_sample> symbol = std::span(sent).first(ssb_subcarriers);
  auto pss_values = exec.make<std::complex<float>>(1, ssb_subcarriers);
  exec.upload(pss_values.data(), symbol.data(), symbol.size_bytes());
  modulator.run(exec, pss_values, wave);
  std::vector<downlink_sample> x = exec.to_host(wave);
  x.erase(x.begin(), x.begin() + numerology.cyclic_prefix);
  const std::size_t aside = size / 8;
  const auto around = shifted(samples, first + numerology.cyclic_prefix - static_cast<double>(aside),
                              size + 2 * aside, config_.offset_hz + cfo_hz, config_.sample_rate_hz);
  double pss_energy = 0;
  for (const downlink_sample& v : x) pss_energy += std::norm(exact(v));
  for (std::size_t t = 0; t <= 2 * aside; t++) {
    exact sum = 0;
    double energy = 0;
    for (std::size_t i = 0; i < size; i++) {
      sum += product(around[t + i], std::conj(exact(x[i])));
      energy += std::norm(exact(around[t + i]));
    }
    picture.pss.push_back(energy > 0 ? static_cast<float>(std::norm(sum) / (energy * pss_energy)) : 0.f);
  }
  return picture;
}

void nr_downlink::decode(executor& exec, std::span<const std::complex<float>> samples, double first,
                         nr_downlink_block& block) const {
  const auto grid = grid_of(exec, samples, first, block.found.cfo_hz);
  for (const pbch_decoder& decoder : decoders_) {
    block.pbch = decoder.run(exec, grid, {block.found.cell_id})[0];
    if (block.pbch.ok) return;
  }
}

void nr_downlink::check_known(const nr_downlink_block& b) const {
  check(*b.pbch.content, config_.l_max.value_or(config_.spacing_khz > 30 ? 64 : 8));
  check_range("cell_id", b.found.cell_id, 0, nr_cell_ids - 1);
  check_number("first_sample", b.found.first_sample, -1e15, 1e15);
  check_number("cfo_hz", b.found.cfo_hz, -1e9, 1e9);
  check_number("cfo_spacings", b.pbch.cfo_spacings, -0.5, 0.5);
}

/// Occasions of the block's cell that begin from sample `from` to `to`.
void nr_downlink::add_occasions(const nr_downlink_block& b, double from, double to,
                                occasion_list& list) const {
  const nr_ssb_content& mib = *b.pbch.content;
  const double rate = config_.sample_rate_hz, frame = rate / 100;
  const int spacing = mib.common_spacing_khz, slots = 10 * spacing / 15;
  const auto coreset = nr_coreset0_of(config_.spacing_khz, spacing, mib.coreset0, config_.wide);
  if (!coreset) return;
  const double length = rate * symbol_start(spacing, downlink_slot_symbols * slots) / slots;
  std::vector<ssb_case> patterns{ssb_case::a};
  if (config_.spacing_khz == 30) patterns = {ssb_case::c, ssb_case::b};
  for (const ssb_case pattern : patterns) {
    const int symbol = nr_ssb_first_symbols(pattern, 8)[as_size(mib.ssb_index)];
    const double start = b.found.first_sample - 0.5 * frame * mib.half_frame -
                         rate * symbol_start(config_.spacing_khz, symbol);
    const auto last = static_cast<std::int64_t>(std::ceil((to - start) / frame));
    // An occasion's slots may be in the frame behind.
    for (auto m = static_cast<std::int64_t>(std::floor((from - start) / frame)) - 1; m <= last; m++)
      for (int index = 0; index < config_.l_max.value_or(8); index++) {
        const nr_type0_occasion when =
            *nr_type0_occasion_of(mib.search_space0, index, spacing, coreset->symbols);
        if (((mib.sfn + m - when.sfn_parity) & 1) != 0) continue;
        for (const int later : {0, 1}) {
          const std::int64_t frames = m + (when.slot + later) / slots;
          const int slot = (when.slot + later) % slots;
          const double first = start + static_cast<double>(frames) * frame +
                               rate * symbol_start(spacing, downlink_slot_symbols * slot);
          if (first < from || first > to) continue;
          const auto sfn = static_cast<int>(((mib.sfn + frames) % 1024 + 1024) % 1024);
          const int rank = 2 * (index != mib.ssb_index) + later;
          list.add({&b, *coreset, index, rank, when.first_symbol, sfn, slot, first}, length);
        }
      }
  }
}

std::vector<nr_downlink_message> nr_downlink::messages(executor& exec,
                                                       std::span<const std::complex<float>> samples,
                                                       std::size_t end,
                                                       const std::vector<nr_downlink_block>& known) const {
  std::map<int, std::vector<const nr_downlink_block*>> cells;
  for (const nr_downlink_block& b : known) {
    if (!b.pbch.content) continue;
    check_known(b);
    if (b.pbch.content->k_ssb <= 23)
      cells[b.found.cell_id].push_back(&b);  // else no CORESET 0 (TS 38.213 §4.1)
  }
  std::vector<nr_downlink_message> found;
  if (config_.spacing_khz > 30) return found;
  occasion_list list(samples.size(), end);
  for (auto& [cell, blocks] : cells) {
    std::stable_sort(blocks.begin(), blocks.end(),
                     [](const nr_downlink_block* a, const nr_downlink_block* b) {
                       return a->found.first_sample < b->found.first_sample;
                     });
    // A block is the nearest one up to the middles between it and its neighbours. Intervals overlap, as
    // blocks differ in timing.
    const double overlap = 1e-3 * static_cast<double>(slot_samples());
    for (std::size_t i = 0; i < blocks.size(); i++) {
      const double first = blocks[i]->found.first_sample;
      double from = -1, to = list.end();
      if (i > 0) from = std::max(from, (blocks[i - 1]->found.first_sample + first) / 2 - overlap);
      if (i + 1 < blocks.size()) to = std::min(to, (first + blocks[i + 1]->found.first_sample) / 2 + overlap);
      if (from <= to) add_occasions(*blocks[i], from, to, list);
    }
  }
  for (const occasion& o : list.sorted())
    add_messages(exec, samples, o, cells[o.block->found.cell_id], found);
  return found;
}

void nr_downlink::add_messages(executor& exec, std::span<const std::complex<float>> samples,
                               const occasion& o, const std::vector<const nr_downlink_block*>& ssbs,
                               std::vector<nr_downlink_message>& messages) const {
  const nr_ssb_content& mib = *o.block->pbch.content;
  const double rate = config_.sample_rate_hz;
  const int spacing = mib.common_spacing_khz, blocks = o.coreset.blocks, cell = o.block->found.cell_id,
            subframe_slot = o.slot % (spacing / 15);
  const double size = rate / (1e3 * spacing);
  const int fft_size = static_cast<int>(std::lround(size));
  // From the block's subcarrier 120, and from the centre of the samples, to the middle of the CORESET.
  const double half = 6e3 * blocks * spacing,
               block_to_coreset_hz =
                   nr_coreset0_first_hz(o.coreset, config_.spacing_khz, spacing, mib.k_ssb) + half,
               centre = config_.offset_hz + block_to_coreset_hz;
  if (size != fft_size || fft_size % 128 != 0 || fft_size > downlink_most_fft ||
      std::fabs(centre) + half > rate / 2)
    return;
  const nr_carrier carrier{
      .spacing_khz = spacing, .resource_blocks = blocks, .cell_id = cell, .slot = o.slot};
  const double early = std::floor(static_cast<double>(fft_size) / 64);
  const auto demodulated = [&](int first_symbol, int symbols) {
    const int in_subframe = subframe_slot * downlink_slot_symbols;
    std::shared_ptr<const ofdm_demodulator> demodulator;
    {
      const std::lock_guard lock(kept_->mutex);
      auto& kept = kept_->demodulators[{spacing, blocks, in_subframe + first_symbol, symbols}];
      if (kept == nullptr)
        kept = std::make_shared<const ofdm_demodulator>(
            nr_numerology(carrier, fft_size),
            ofdm_span{.first_symbol = in_subframe + first_symbol, .symbols = symbols});
      demodulator = kept;
    }
    const std::size_t n = demodulator->samples();
    const double skipped = std::round(
        rate * (symbol_start(spacing, in_subframe + first_symbol) - symbol_start(spacing, in_subframe)));
    const auto piece = shifted(samples, std::floor(o.first + 0.5) + skipped - early, n,
                               centre + o.block->found.cfo_hz, rate);
    auto from = exec.make<std::complex<float>>(1, n);
    exec.upload(from.data(), piece.data(), n * sizeof(std::complex<float>));
    auto grid = exec.make<std::complex<float>>(1, demodulator->values());
    demodulator->run(exec, from, grid);
    exec.sync();  // before `piece` and `from` end
    return grid;
  };

  // The rest of a slot without a DCI is not needed.
  const auto control_grid = demodulated(o.first_symbol, o.coreset.symbols);
  std::shared_ptr<const pdcch_search> search;
  {
    const std::lock_guard lock(kept_->mutex);
    auto& kept = kept_->searches[{cell, blocks, o.coreset.symbols, o.first_symbol}];
    if (kept == nullptr)
      kept = std::make_shared<const pdcch_search>(
          pdcch_search_config{.decoder = {.channel = {.blocks = blocks,
                                                      .symbols = o.coreset.symbols,
                                                      .first_symbol = o.first_symbol,
                                                      .shift = cell,
                                                      .dmrs_id = cell,
                                                      .scrambling_id = cell,
                                                      .rnti = nr_si_rnti}},
                              .sizes = {nr_si_dci_bits(blocks)}});
    search = kept;
  }
  pdcch_config control = search->config().decoder.channel;
  const std::size_t before = messages.size();
  std::vector<double> noise_vars;  // of the messages from `before` on
  array<std::complex<float>> grid;
  std::vector<downlink_sample> values;
  for (const nr_pdcch_found& f : search->run(exec, control_grid, {o.slot})) {
    const auto dci = nr_si_dci_decode(f.result.bits, blocks);
    const auto is_same = [&](const nr_downlink_message& m) {
      return m.cell_id == cell && m.sfn == o.sfn && m.slot == o.slot && m.bits == f.result.bits;
    };
    if (!dci || std::any_of(messages.begin(), messages.end(), is_same)) continue;
    control.level = f.level;
    if (values.empty()) {
      grid = demodulated(0, downlink_slot_symbols);
      values = exec.to_host(grid);
    }
    noise_vars.push_back(pdcch_noise(values, control, f.first_cce, f.result.snr_db));
    messages.push_back({.cell_id = cell,
                        .ssb_index = o.ssb_index,
                        .sfn = o.sfn,
                        .slot = o.slot,
                        .first_sample = o.first,
                        .coreset_blocks = blocks,
                        .level = f.level,
                        .first_cce = f.first_cce,
                        .snr_db = f.result.snr_db,
                        .metric = f.result.metric,
                        .bits = f.result.bits,
                        .dci = *dci});
  }
  if (messages.size() == before) return;

  // Carriers of the CORESET's middle. The block's phase advance gives one, but for multiples of the symbol
  // rate. They differ in the phase that longer prefixes add: at 15 kHz within the slot.
  std::vector<double> carriers;
  if (config_.carrier_hz) carriers.push_back(*config_.carrier_hz + centre);
  const double advance = block_to_coreset_hz - o.block->pbch.cfo_spacings * 1e3 * config_.spacing_khz,
               step = 1 / symbol_seconds(15);
  const int tries = spacing == 15 ? 12 : config_.spacing_khz == 15 ? 2 : 1, width = spacing == 15 ? 12 : 1;
  for (int i = 0; i < tries; i++) carriers.push_back(advance + i * width * step);
  const double ssb_lowest_hz = half - block_to_coreset_hz - 1e3 * ssb_subcarriers / 2 * config_.spacing_khz;
  for (std::size_t i = before; i < messages.size(); i++) {
    nr_downlink_message& m = messages[i];
    if (m.dci.mcs > 28) continue;  // reserved
    control.level = m.level;
    nr_channel_config pdsch = nr_si_channel(m.dci, carrier, mib.dmrs_first_symbol, control);
    pdsch.reserved = nr_pdcch_reserved(control, m.first_cce);
    if (m.dci.other_information)  // SIB1 is not sent beside SS/PBCH blocks (TS 38.214 §5.1.4)
      for (const nr_downlink_block* b : ssbs) {
        const double seconds = (b->found.first_sample - std::floor(o.first + 0.5)) / rate;
        if (const auto r = nr_ssb_reserved(carrier, config_.spacing_khz, ssb_lowest_hz, seconds))
          pdsch.reserved.push_back(*r);
      }
    if (!nr_can_be_mapped(pdsch)) continue;
    si_decoder decoder(exec, pdsch, m.dci.mcs, noise_vars[i - before]);
    for (std::size_t c = 0; c < carriers.size() && !m.block.ok; c++) {
      const auto rotated = carrier_removed(values, spacing, subframe_slot, carriers[c]);
      exec.upload(grid.data(), rotated.data(), rotated.size() * sizeof(downlink_sample));
      m.block = decoder.run(grid, m.dci.rv);
    }
  }
}

}  // namespace wb
