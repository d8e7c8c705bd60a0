#include <warpband/receive/downlink.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <numbers>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include <warpband/core/as_size.hpp>
#include <warpband/core/check.hpp>
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
constexpr int downlink_levels[] = {4, 8, 16};

/// Whether cell_search takes a sample as it is.
bool is_usable_sample(const downlink_sample& x) {
  return std::fabs(x.real()) <= 1e15f && std::fabs(x.imag()) <= 1e15f;
}

/// Seconds from a frame's start to the prefix of a symbol.
double symbol_start(int spacing_khz, int symbol) {
  const int scale = spacing_khz / 15, half = 7 * scale;
  return (downlink_symbol * symbol / scale + downlink_longer * ((symbol + half - 1) / half)) / downlink_rate;
}
/// Seconds of a symbol without the longer prefix.
double symbol_seconds(int spacing_khz) { return downlink_symbol / downlink_rate * 15 / spacing_khz; }

/// `count` samples from sample `first` on, `hz` shifted to 0. Those that are not there or not usable are 0.
std::vector<downlink_sample> shifted(std::span<const downlink_sample> samples, double first,
                                     std::size_t count, double hz, double rate_hz) {
  std::vector<downlink_sample> piece(count);
  const double turn = -2 * std::numbers::pi * hz / rate_hz;
  for (std::size_t i = 0; i < count; i++) {
    const double index = first + static_cast<double>(i);
    if (index < 0 || index >= static_cast<double>(samples.size())) continue;
    const std::complex<double> x = samples[static_cast<std::size_t>(index)];
    if (is_usable_sample(downlink_sample(x)))
      piece[i] = downlink_sample(x * std::polar(1.0, turn * static_cast<double>(i)));
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

cell_search_config search_of(const nr_downlink_config& c) {
  check_settings(nr_downlink_settings(), c);
  return {.sample_rate_hz = c.sample_rate_hz,
          .spacing_khz = c.spacing_khz,
          .offset_hz = c.offset_hz,
          .max_cfo_hz = c.max_cfo_hz,
          .carrier_hz = c.carrier_hz,
          .false_alarm = c.false_alarm,
          .candidates = c.spacing_khz > 30 ? 512 : 128};  // blocks of several cells in a piece, every 5 ms
}

}  // namespace

/// PDCCH decoders by cell, blocks, symbols, first symbol and level.
struct nr_downlink::control_decoders {
  std::mutex mutex;
  std::map<std::tuple<int, int, int, int, int>, std::shared_ptr<const pdcch_decoder>> made;
};

/// A slot in which CORESET 0 may have a DCI.
struct nr_downlink::occasion {
  const nr_downlink_block* block;
  nr_coreset0 coreset;
  int ssb_index;     // of the block whose occasion it is
  int first_symbol;  // of the CORESET
  int sfn, slot;
  double first;  // sample at which the slot's first prefix begins
};

const std::vector<setting_of<nr_downlink_config>>& nr_downlink_settings() {
  using c = nr_downlink_config;
  static const std::vector<setting_of<c>> settings{
      number("sample_rate_hz", &c::sample_rate_hz, 1e6, 2e9, "Of the samples.", false,
             "a multiple, 1 to 64, of 128 subcarrier spacings"),
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
             "Bound of the probability that white noise alone gives a block in a call."),
      one_of("l_max", &c::l_max, {4, 8, 64},
             "Candidate SS/PBCH blocks of a half frame. Left out: 8 and 4, from 120 kHz on 64."),
      boolean(
          "wide", &c::wide,
          "The band's least channel bandwidth is 40 MHz, which selects the table of CORESET 0 at 30 kHz.")};
  return settings;
}

nr_si_block nr_si_decode(executor& exec, view<const std::complex<float>> grid,
                         const nr_channel_config& channel, int mcs, int rv) {
  check_range("mcs", mcs, 0, 28);
  check_range("rv", rv, 0, 3);
  const nr_shared_channel pdsch(channel);
  check_shape("grid", grid, 1, pdsch.elements());
  const nr_transport_config transport = pdsch.transport(1, mcs);
  const view<const std::complex<float>> received{grid.data, 1, pdsch.elements(), 1, grid.element_stride};
  const pilot_pattern pilots = pilots_of(pdsch);
  const std::size_t symbols = pdsch.data_elements(), bits = as_size(transport.transport_bits),
                    order = as_size(transport.modulation_order);
  auto noise = exec.make<float>(1, 1), noise_var = exec.make<float>(symbols, 1);
  auto h = exec.make<std::complex<float>>(symbols, 1), y = exec.make<std::complex<float>>(symbols, 1);
  auto llr = exec.make<float>(symbols, order);
  noise_estimator(pilots).run(exec, received, {.noise_var = noise});
  channel_estimator(pilots, {}, pdsch.data_places())
      .run(exec, received, noise, {.channel = h, .noise_var = noise_var});
  pdsch.extract(exec, received, y);
  demapper(1 << transport.modulation_order)
      .run(exec, {.channel = h, .received = y, .noise_var = noise_var}, llr);
  nr_transport_decoder decoder(transport);
  decoder.combine(exec, make_view(std::as_const(llr).data(), 1, symbols * order), rv);
  auto decided = exec.make<std::uint8_t>(1, bits), ok = exec.make<std::uint8_t>(1, 1);
  decoder.decode(exec, {.bits = decided, .ok = ok});
  nr_si_block block;
  block.bits = exec.to_host(decided);
  block.ok = exec.to_host(ok)[0] != 0;
  if (!block.ok) block.bits.assign(bits, 0);
  return block;
}

nr_downlink::nr_downlink(const nr_downlink_config& config)
    : config_(config),
      search_(search_of(config)),
      demodulator_(block_numerology(config.sample_rate_hz, config.spacing_khz), {.symbols = ssb_symbols}),
      control_(std::make_shared<control_decoders>()) {
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
  std::vector<nr_downlink_block> blocks;
  for (const nr_found_block& found : search_.run(exec, on_device).blocks) {
    const double first = std::floor(found.first_sample + 0.5);
    if (first >= static_cast<double>(end) ||
        first + static_cast<double>(demodulator_.samples()) > static_cast<double>(samples.size()))
      continue;
    blocks.push_back({found, {}});
    decode(exec, samples, first, blocks.back());
  }
  std::sort(blocks.begin(), blocks.end(), [](const nr_downlink_block& a, const nr_downlink_block& b) {
    return a.found.first_sample < b.found.first_sample;
  });
  return blocks;
}

void nr_downlink::decode(executor& exec, std::span<const std::complex<float>> samples, double first,
                         nr_downlink_block& block) const {
  const std::size_t n = demodulator_.samples();
  const auto piece = shifted(samples, first - static_cast<double>(early()), n,
                             config_.offset_hz + block.found.cfo_hz, config_.sample_rate_hz);
  auto from = exec.make<std::complex<float>>(1, n);
  exec.upload(from.data(), piece.data(), n * sizeof(std::complex<float>));
  auto grid = exec.make<std::complex<float>>(1, demodulator_.values());
  demodulator_.run(exec, from, grid);
  for (const pbch_decoder& decoder : decoders_) {
    block.pbch = decoder.run(exec, grid, {block.found.cell_id})[0];
    if (block.pbch.ok) return;
  }
}

std::vector<nr_downlink::occasion> nr_downlink::occasions(std::size_t samples, std::size_t end,
                                                          const std::vector<nr_downlink_block>& known) const {
  std::vector<occasion> found;
  std::vector<ssb_case> patterns{ssb_case::a};
  if (config_.spacing_khz == 30) patterns = {ssb_case::c, ssb_case::b};
  const int indices = config_.l_max.value_or(8);
  // A slot may be an occasion of several indices. It goes to one whose block is known, else to one that has
  // it as its first slot.
  for (const auto& [is_of_block, later] :
       {std::pair(true, 0), std::pair(true, 1), std::pair(false, 0), std::pair(false, 1)})
    for (const nr_downlink_block& b : known) {
      if (!b.pbch.content || b.pbch.content->k_ssb > 23) continue;  // no CORESET 0 (TS 38.213 §4.1)
      for (int index = 0; index < indices; index++)
        if ((index == b.pbch.content->ssb_index) == is_of_block)
          for (const ssb_case pattern : patterns)
            add_occasions(b, pattern, index, later, samples, end, known, found);
    }
  return found;
}

void nr_downlink::add_occasions(const nr_downlink_block& b, ssb_case pattern, int index, int later,
                                std::size_t samples, std::size_t end,
                                const std::vector<nr_downlink_block>& known,
                                std::vector<occasion>& found) const {
  const nr_ssb_content& mib = *b.pbch.content;
  const double rate = config_.sample_rate_hz, frame = rate / 100;
  const int spacing = mib.common_spacing_khz, slots = 10 * spacing / 15;
  const auto coreset = nr_coreset0_of(config_.spacing_khz, spacing, mib.coreset0, config_.wide);
  if (!coreset) return;
  const nr_type0_occasion when = nr_type0_occasion_of(mib.search_space0, index, spacing, coreset->symbols);
  const double length = rate * symbol_start(spacing, downlink_slot_symbols * slots) / slots;
  const int symbol = nr_ssb_first_symbols(pattern, 8)[as_size(mib.ssb_index)];
  const double start =
      b.found.first_sample - 0.5 * frame * mib.half_frame - rate * symbol_start(config_.spacing_khz, symbol);
  const int from = static_cast<int>(std::floor(-start / frame)) - 2,
            to = static_cast<int>(std::ceil((static_cast<double>(samples) - start) / frame)) + 1;
  for (int m = from; m <= to; m++) {
    if (((mib.sfn + m - when.sfn_parity) & 1) != 0) continue;
    const int frames = m + (when.slot + later) / slots, slot = (when.slot + later) % slots;
    const double first = start + frames * frame + rate * symbol_start(spacing, downlink_slot_symbols * slot);
    if (first < -0.5 || first >= static_cast<double>(end) ||
        first + length + 2 > static_cast<double>(samples))
      continue;
    const auto is_nearer = [&](const nr_downlink_block& other) {
      return other.pbch.content && other.found.cell_id == b.found.cell_id &&
             (index != mib.ssb_index || other.pbch.content->ssb_index == index) &&
             std::fabs(other.found.first_sample - first) < std::fabs(b.found.first_sample - first);
    };
    const auto is_same = [&](const occasion& o) {
      return o.block->found.cell_id == b.found.cell_id && o.first_symbol == when.first_symbol &&
             o.slot == slot && std::fabs(o.first - first) < length / 100;
    };
    if (std::any_of(known.begin(), known.end(), is_nearer) ||
        std::any_of(found.begin(), found.end(), is_same))
      continue;
    found.push_back({&b, *coreset, index, when.first_symbol, (mib.sfn + frames + 1024) % 1024, slot, first});
  }
}

std::vector<nr_downlink_message> nr_downlink::messages(executor& exec,
                                                       std::span<const std::complex<float>> samples,
                                                       std::size_t end,
                                                       const std::vector<nr_downlink_block>& known) const {
  std::vector<nr_downlink_message> found;
  if (config_.spacing_khz > 30) return found;
  for (const occasion& o : occasions(samples.size(), end, known)) add_messages(exec, samples, o, found);
  std::stable_sort(found.begin(), found.end(),
                   [](const nr_downlink_message& a, const nr_downlink_message& b) {
                     return a.first_sample < b.first_sample;
                   });
  return found;
}

void nr_downlink::add_messages(executor& exec, std::span<const std::complex<float>> samples,
                               const occasion& o, std::vector<nr_downlink_message>& messages) const {
  const nr_ssb_content& mib = *o.block->pbch.content;
  const double rate = config_.sample_rate_hz;
  const int spacing = mib.common_spacing_khz, blocks = o.coreset.blocks, cell = o.block->found.cell_id,
            subframe_slots = spacing / 15;
  const double size = rate / (1e3 * spacing);
  const int fft_size = static_cast<int>(std::lround(size));
  // From the centre of the samples to the middle of the CORESET.
  const double half = 6e3 * blocks * spacing,
               aside = nr_coreset0_first_hz(o.coreset, config_.spacing_khz, spacing, mib.k_ssb) + half,
               centre = config_.offset_hz + aside;
  if (size != fft_size || fft_size % 128 != 0 || fft_size > downlink_most_fft ||
      std::fabs(centre) + half > rate / 2)
    return;
  const nr_carrier carrier{
      .spacing_khz = spacing, .resource_blocks = blocks, .cell_id = cell, .slot = o.slot};
  const ofdm_numerology numerology = nr_numerology(carrier, fft_size);
  const auto demodulator_for = [&](double carrier_hz) {
    return ofdm_demodulator(numerology, {.first_symbol = o.slot % subframe_slots * downlink_slot_symbols,
                                         .symbols = downlink_slot_symbols,
                                         .carrier_hz = carrier_hz});
  };
  // Carriers of the CORESET's middle. The block's phase advance gives one, but for multiples of the symbol
  // rate. They differ in the phase that longer prefixes add: at 15 kHz within the slot.
  std::vector<double> carriers;
  if (config_.carrier_hz) carriers.push_back(*config_.carrier_hz + centre);
  const double advance = aside - o.block->pbch.cfo_spacings * 1e3 * config_.spacing_khz,
               step = 1 / symbol_seconds(15);
  const int tries = spacing == 15 ? 12 : config_.spacing_khz == 15 ? 2 : 1, width = spacing == 15 ? 12 : 1;
  for (int i = 0; i < tries; i++) carriers.push_back(advance + i * width * step);

  const ofdm_demodulator first_demodulator = demodulator_for(carriers[0]);
  const std::size_t n = first_demodulator.samples();
  const double early = std::floor(static_cast<double>(fft_size) / 64);
  const auto piece =
      shifted(samples, std::floor(o.first + 0.5) - early, n, centre + o.block->found.cfo_hz, rate);
  auto from = exec.make<std::complex<float>>(1, n);
  exec.upload(from.data(), piece.data(), n * sizeof(std::complex<float>));
  auto grid = exec.make<std::complex<float>>(1, first_demodulator.values());
  first_demodulator.run(exec, from, grid);

  const std::size_t symbol = as_size(12 * blocks);
  const auto coreset = make_view(std::as_const(grid).data() + as_size(o.first_symbol) * symbol, 1,
                                 as_size(o.coreset.symbols) * symbol);
  const std::size_t before = messages.size();
  for (const int level : downlink_levels) {
    const int cces = blocks * o.coreset.symbols / 6;
    if (level > cces) continue;
    std::shared_ptr<const pdcch_decoder> decoder;
    {
      const std::lock_guard lock(control_->mutex);
      auto& made = control_->made[{cell, blocks, o.coreset.symbols, o.first_symbol, level}];
      if (made == nullptr)
        made = std::make_shared<const pdcch_decoder>(
            pdcch_decoder_config{.channel = {.blocks = blocks,
                                             .symbols = o.coreset.symbols,
                                             .first_symbol = o.first_symbol,
                                             .shift = cell,
                                             .dmrs_id = cell,
                                             .scrambling_id = cell,
                                             .level = level,
                                             .dci_bits = nr_si_dci_bits(blocks),
                                             .rnti = nr_si_rnti}});
      decoder = made;
    }
    std::vector<nr_pdcch_candidate> candidates;
    std::set<int> seen;
    for (const int first : nr_pdcch_candidates(cces, level, nr_type0_candidates(level)))
      if (seen.insert(first).second) candidates.push_back({0, o.slot, first});
    const auto results = decoder->run(exec, coreset, candidates);
    for (std::size_t i = 0; i < results.size(); i++) {
      const nr_pdcch_result& r = results[i];
      if (!r.ok) continue;
      const auto dci = nr_si_dci_decode(r.bits, blocks);
      const auto is_same = [&](const nr_downlink_message& m) {
        return m.cell_id == cell && m.sfn == o.sfn && m.slot == o.slot && m.bits == r.bits;
      };
      if (!dci || std::any_of(messages.begin(), messages.end(), is_same)) continue;
      messages.push_back({.cell_id = cell,
                          .ssb_index = o.ssb_index,
                          .sfn = o.sfn,
                          .slot = o.slot,
                          .first_sample = o.first,
                          .coreset_blocks = blocks,
                          .level = level,
                          .first_cce = candidates[i].first_cce,
                          .snr_db = r.snr_db,
                          .metric = r.metric,
                          .bits = r.bits,
                          .dci = *dci});
    }
  }
  for (std::size_t i = before; i < messages.size(); i++) {
    nr_downlink_message& m = messages[i];
    try {
      const nr_channel_config pdsch = nr_si_channel(m.dci, carrier, mib.dmrs_first_symbol);
      for (std::size_t c = 0; c < carriers.size() && !m.block.ok; c++) {
        if (c > 0) demodulator_for(carriers[c]).run(exec, from, grid);
        m.block = nr_si_decode(exec, grid, pdsch, m.dci.mcs, m.dci.rv);
      }
    } catch (const argument_error&) {  // a reserved MCS, or symbols that have no DMRS
    }
    if (!m.block.ok && carriers.size() > 1) first_demodulator.run(exec, from, grid);
  }
}

}  // namespace wb
