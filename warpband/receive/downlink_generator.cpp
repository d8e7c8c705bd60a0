#include <warpband/receive/downlink_generator.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numbers>
#include <string>
#include <utility>

#include <warpband/core/as_size.hpp>
#include <warpband/core/check.hpp>
#include <warpband/core/decimal.hpp>
#include <warpband/fec/nr/transport.hpp>
#include <warpband/modem/qam/qam.hpp>
#include <warpband/nr/pbch/pbch.hpp>
#include <warpband/nr/pdcch/coreset.hpp>
#include <warpband/nr/pdcch/pdcch.hpp>
#include <warpband/ofdm/modem/modem.hpp>
#include <warpband/receive/downlink.hpp>

namespace wb {
namespace {

constexpr int generator_slot_symbols = 14, generator_most_fft = 4096, generator_ssb_blocks = 20;
// TS 38.214 §5.1.3: what a receiver of system information need not decode.
constexpr int generator_most_bits = 2976, generator_crc_bits = 16;
constexpr double generator_most_rate = 0.95;

/// Samples from a frame's start to the prefix of a symbol.
std::size_t prefix_sample(const ofdm_numerology& n, int symbol) {
  const int slots = symbol / n.symbols_per_slot, in_slot = symbol % n.symbols_per_slot;
  return as_size(slots) * as_size(n.samples_per_slot()) +
         as_size(in_slot == 0 ? 0 : n.first_sample_of(in_slot) - n.cyclic_prefix);
}

nr_downlink_generator_config completed(nr_downlink_generator_config c) {
  check_settings(nr_downlink_generator_settings(), c);
  const std::string with_spacing = " at " + std::to_string(c.spacing_khz) + " kHz";
  if (!nr_downlink_takes_rate(c.sample_rate_hz, c.spacing_khz))
    throw argument_error(
        "sample_rate_hz", decimal(c.sample_rate_hz),
        "2 to 32 times 128 subcarrier spacings, without prime factors above 5," + with_spacing);
  const double room = (c.sample_rate_hz - 1e3 * ssb_subcarriers * c.spacing_khz) / 2;
  if (std::fabs(c.offset_hz) > room)
    throw argument_error("offset_hz", decimal(c.offset_hz),
                         "-" + decimal(room) + " to " + decimal(room) + " at " + decimal(c.sample_rate_hz) +
                             " samples a second");
  if (!c.pattern) c.pattern = c.spacing_khz == 15 ? ssb_case::a : ssb_case::c;
  if (ssb_spacing_khz(*c.pattern) != c.spacing_khz)
    throw argument_error("pattern", c.spacing_khz == 15 ? "b or c" : "a",
                         (c.spacing_khz == 15 ? "a" : "b or c") + with_spacing);
  const double most_of_four = *c.pattern == ssb_case::c ? 1.88e9 : 3e9;
  if (!c.l_max) c.l_max = c.carrier_hz > 0 && c.carrier_hz <= most_of_four ? 4 : 8;
  std::sort(c.ssb_indices.begin(), c.ssb_indices.end());
  if (c.ssb_indices.empty() || c.ssb_indices.back() >= *c.l_max ||
      std::adjacent_find(c.ssb_indices.begin(), c.ssb_indices.end()) != c.ssb_indices.end())
    throw argument_error("ssb_indices",
                         as_message(std::vector<std::int64_t>(c.ssb_indices.begin(), c.ssb_indices.end())),
                         "different integers from 0 to " + std::to_string(*c.l_max - 1));
  if (c.wide && c.spacing_khz != 30) throw argument_error("wide", "true", "false" + with_spacing);
  return c;
}

}  // namespace

const std::vector<setting_of<nr_downlink_generator_config>>& nr_downlink_generator_settings() {
  using c = nr_downlink_generator_config;
  static const std::vector<setting_of<c>> settings{
      number("sample_rate_hz", &c::sample_rate_hz, 1e6, 2e9, "Sample rate in Hz.", false,
             "2 to 32 times 128 subcarrier spacings, without prime factors above 5"),
      one_of("spacing_khz", &c::spacing_khz, {15, 30}, "Subcarrier spacing of SS/PBCH blocks in kHz."),
      words("pattern", &c::pattern, {{"a", ssb_case::a}, {"b", ssb_case::b}, {"c", ssb_case::c}},
            "Case of TS 38.213 section 4.1. Left out: a at 15 kHz, c at 30 kHz."),
      number("offset_hz", &c::offset_hz, -1e9, 1e9,
             "Frequency of a block's subcarrier 120, counted from the centre of the samples."),
      number(
          "carrier_hz", &c::carrier_hz, 0, 1e11,
          "Radio frequency of the centre of the samples, to which the phase of each symbol is referred (3GPP "
          "TS 38.211 section 5.4)."),
      integer("cell_id", &c::cell_id, 0, nr_cell_ids - 1, "Identity of the cell."),
      one_of("l_max", &c::l_max, {4, 8},
             "Candidate SS/PBCH blocks of a half frame. Left out: 4 up to 3 GHz, or 1.88 GHz with pattern c; "
             "8 above, and without a carrier frequency."),
      integers("ssb_indices", &c::ssb_indices, 0, 7, "Indices of the blocks that are sent.",
               "different integers below the number of candidate blocks"),
      one_of("period_frames", &c::period_frames, {1, 2, 4, 8, 16},
             "Blocks are sent in frames whose system frame number (SFN) is a multiple of this number."),
      integer("frames", &c::frames, 1, 1024, "Frames of 10 ms."),
      integer("sfn", &c::sfn, 0, 1023, "System frame number of the first frame."),
      integer("half_frame", &c::half_frame, 0, 1, "Half of the frame with the blocks."),
      integer("k_ssb", &c::k_ssb, 0, 31,
              "Subcarrier offset of the blocks in units of 15 kHz. From 24 on: no CORESET 0."),
      one_of("common_spacing_khz", &c::common_spacing_khz, {15, 30},
             "Subcarrier spacing of CORESET 0 and SIB1 in kHz."),
      one_of("dmrs_first_symbol", &c::dmrs_first_symbol, {2, 3}, "First symbol with DMRS, mapping type A."),
      integer("coreset0", &c::coreset0, 0, 15, "controlResourceSetZero."),
      integer("search_space0", &c::search_space0, 0, 15, "searchSpaceZero."),
      boolean(
          "wide", &c::wide,
          "The band's least channel bandwidth is 40 MHz, which selects the table of CORESET 0 at 30 kHz."),
      boolean("cell_barred", &c::cell_barred, "The MIB bars the cell."),
      boolean("intra_frequency", &c::intra_frequency, "The MIB allows reselection at the cell's frequency."),
      integer("first_block", &c::first_block, 0, 95, "First virtual resource block of the PDSCH."),
      integer("blocks", &c::blocks, 1, 96,
              "Virtual resource blocks of the PDSCH. Left out: all from the first on, up to 2976 bits."),
      integer("time_domain", &c::time_domain, 0, 15, "Index of the default table A of symbols of the PDSCH."),
      boolean("interleaved", &c::interleaved, "Virtual resource blocks are interleaved."),
      integer("mcs", &c::mcs, 0, 9, "Modulation and coding scheme of table 1, with QPSK."),
      integer("rv", &c::rv, 0, 3, "Redundancy version."),
      one_of("level", &c::level, {4, 8, 16}, "Control channel elements (CCEs) of the DCI."),
      integer("first_cce", &c::first_cce, 0, 47, "First CCE, of a candidate of the search space.")};
  return settings;
}

nr_downlink_generator::nr_downlink_generator(const nr_downlink_generator_config& config)
    : config_(completed(config)) {
  const nr_downlink_generator_config& c = config_;
  nr_ssb_content content{.half_frame = c.half_frame,
                         .k_ssb = c.k_ssb,
                         .common_spacing_khz = c.common_spacing_khz,
                         .dmrs_first_symbol = c.dmrs_first_symbol,
                         .coreset0 = c.coreset0,
                         .search_space0 = c.search_space0,
                         .cell_barred = c.cell_barred,
                         .intra_frequency = c.intra_frequency};
  const ofdm_numerology n = numerology(c.spacing_khz, generator_ssb_blocks);
  const std::vector<int> starts = nr_ssb_first_symbols(*c.pattern, *c.l_max);
  const std::size_t frame = samples() / as_size(c.frames);
  for (int f = 0; f < c.frames; f++) {
    content.sfn = (c.sfn + f) % 1024;
    if (content.sfn % c.period_frames != 0) continue;
    for (const int index : c.ssb_indices) {
      content.ssb_index = index;
      check(content, *c.l_max);
      const int half = generator_slot_symbols * 5 * c.spacing_khz / 15;
      const int symbol = half * c.half_frame + starts[as_size(index)];
      const std::size_t first = prefix_sample(n, symbol);
      sent_blocks_.push_back(
          {content, as_size(f) * frame + first, prefix_sample(n, symbol + ssb_symbols) - first});
    }
  }
  if (sent_blocks_.empty())
    throw argument_error("frames", std::to_string(c.frames),
                         "frames of which one has an SFN that is a multiple of period_frames");
  if (c.k_ssb < 24) set_messages();
}

void nr_downlink_generator::set_messages() {
  nr_downlink_generator_config& c = config_;
  const auto coreset = nr_coreset0_of(c.spacing_khz, c.common_spacing_khz, c.coreset0, c.wide);
  if (!coreset)
    throw argument_error("coreset0", std::to_string(c.coreset0),
                         "an index that is not reserved with these spacings");
  coreset_blocks_ = coreset->blocks, coreset_symbols_ = coreset->symbols;
  const double half = 6e3 * coreset_blocks_ * c.common_spacing_khz;
  coreset_hz_ =
      c.offset_hz + nr_coreset0_first_hz(*coreset, c.spacing_khz, c.common_spacing_khz, c.k_ssb) + half;
  const double size = c.sample_rate_hz / (1e3 * c.common_spacing_khz);
  if (size != std::floor(size) || std::fmod(size, 128) != 0 || size > generator_most_fft)
    throw argument_error("sample_rate_hz", decimal(c.sample_rate_hz),
                         "1 to 32 times 128 subcarrier spacings of " + std::to_string(c.common_spacing_khz) +
                             " kHz, that of CORESET 0");
  if (std::fabs(coreset_hz_) + half > c.sample_rate_hz / 2)
    throw argument_error("coreset0", std::to_string(c.coreset0),
                         "a CORESET within the sampled band: this one ends " +
                             decimal(std::fabs(coreset_hz_) + half) + " Hz from its centre");
  set_transport();
  const int cces = coreset_blocks_ * coreset_symbols_ / 6;
  if (c.level > cces)
    throw argument_error("level", std::to_string(c.level),
                         "4, 8 or 16, up to the " + std::to_string(cces) + " CCEs of CORESET 0");
  const std::vector<int> candidates = nr_pdcch_candidates(
      cces, c.level, pdcch_search_config().candidates[as_size(std::countr_zero(as_size(c.level)))]);
  if (std::find(candidates.begin(), candidates.end(), c.first_cce) == candidates.end())
    throw argument_error("first_cce", std::to_string(c.first_cce),
                         as_message(std::vector<std::int64_t>(candidates.begin(), candidates.end())));
  const ofdm_numerology n = numerology(c.common_spacing_khz, coreset_blocks_);
  const std::size_t frame = samples() / as_size(c.frames);
  for (int f = 0; f < c.frames; f++) {
    const int sfn = (c.sfn + f) % 1024;
    std::map<int, nr_sent_message> by_slot;
    for (const int index : c.ssb_indices) {
      const nr_type0_occasion when =
          *nr_type0_occasion_of(c.search_space0, index, c.common_spacing_khz, coreset_symbols_);
      if (when.sfn_parity != sfn % 2) continue;
      const nr_sent_message message{index,
                                    sfn,
                                    when.slot,
                                    when.first_symbol,
                                    as_size(f) * frame + prefix_sample(n, generator_slot_symbols * when.slot),
                                    as_size(n.samples_per_slot())};
      const auto [found, is_new] = by_slot.try_emplace(when.slot, message);
      if (!is_new && found->second.coreset_symbol != when.first_symbol)
        throw argument_error("search_space0", std::to_string(c.search_space0),
                             "an index whose occasions of blocks " + std::to_string(found->second.ssb_index) +
                                 " and " + std::to_string(index) + " are in different slots");
    }
    for (const auto& [slot, message] : by_slot) sent_messages_.push_back(message);
  }
  check_apart();
}

/// Chooses the PDSCH's resource blocks.
void nr_downlink_generator::set_transport() {
  nr_downlink_generator_config& c = config_;
  const bool is_chosen = c.blocks.has_value();
  if (!is_chosen) c.blocks = std::max(1, coreset_blocks_ - c.first_block);
  for (;; --*c.blocks) {
    dci_ = {.first_block = c.first_block,
            .blocks = *c.blocks,
            .time_domain = c.time_domain,
            .interleaved = c.interleaved,
            .mcs = c.mcs,
            .rv = c.rv};
    nr_si_dci_encode(dci_, coreset_blocks_);
    const nr_transport_config transport = nr_shared_channel(channel(0)).transport(1, c.mcs);
    transport_bits_ = as_size(transport.transport_bits);
    if (!is_chosen && transport.transport_bits > generator_most_bits && *c.blocks > 1) continue;
    const auto refuse = [&](const std::string& problem) {
      throw argument_error("blocks", std::to_string(*c.blocks), problem);
    };
    if (transport.transport_bits > generator_most_bits)
      refuse("resource blocks for a transport block of up to " + std::to_string(generator_most_bits) +
             " bits: this one has " + std::to_string(transport.transport_bits));
    const double rate =
        static_cast<double>(transport.transport_bits + generator_crc_bits) / transport.coded_bits;
    if (rate > generator_most_rate)
      refuse("resource blocks for a code rate of up to " + decimal(generator_most_rate) + ": this is " +
             decimal(rate));
    return;
  }
}

/// Throws argument_error if PDCCH or PDSCH of a message and another signal share resource elements.
void nr_downlink_generator::check_apart() const {
  const nr_downlink_generator_config& c = config_;
  const ofdm_numerology n = numerology(c.common_spacing_khz, coreset_blocks_),
                        ssb = numerology(c.spacing_khz, generator_ssb_blocks);
  const nr_pdsch_time time = nr_pdsch_default_a(c.time_domain, c.dmrs_first_symbol);
  const double spacing = 1e3 * c.common_spacing_khz, block_hz = nr_block_subcarriers * spacing,
               first_hz = coreset_hz_ - block_hz * coreset_blocks_ / 2,
               ssb_half = 1e3 * c.spacing_khz * ssb_subcarriers / 2;
  const std::size_t ssb_samples = as_size(ssb_symbols * (ssb.fft_size + ssb.cyclic_prefix));
  for (const nr_sent_message& m : sent_messages_) {
    if (m.coreset_symbol < time.first_symbol + time.symbols &&
        time.first_symbol < m.coreset_symbol + coreset_symbols_)
      throw argument_error("time_domain", std::to_string(c.time_domain),
                           "a PDSCH in other symbols than CORESET 0, which has symbols " +
                               std::to_string(m.coreset_symbol) + " to " +
                               std::to_string(m.coreset_symbol + coreset_symbols_ - 1));
    const int slot_symbol = generator_slot_symbols * m.slot;
    const auto is_hit = [&](int first_symbol, int symbols, double low, double high) {
      const std::size_t begin = m.first_sample + prefix_sample(n, slot_symbol + first_symbol) -
                                prefix_sample(n, slot_symbol),
                        end = begin + prefix_sample(n, slot_symbol + first_symbol + symbols) -
                              prefix_sample(n, slot_symbol + first_symbol);
      return low < c.offset_hz + ssb_half && c.offset_hz - ssb_half < high &&
             std::any_of(sent_blocks_.begin(), sent_blocks_.end(), [&](const nr_sent_block& b) {
               return b.first_sample < end && begin < b.first_sample + ssb_samples;
             });
    };
    bool hit = is_hit(m.coreset_symbol, coreset_symbols_, first_hz, first_hz + block_hz * coreset_blocks_);
    for (const int block : nr_si_blocks(dci_, coreset_blocks_))
      hit = hit || is_hit(time.first_symbol, time.symbols, first_hz + block_hz * block,
                          first_hz + block_hz * (block + 1));
    if (hit)
      throw argument_error("search_space0", std::to_string(c.search_space0),
                           "an index whose slots leave the SS/PBCH blocks free, as 4 with half_frame = 0");
  }
}

std::size_t nr_downlink_generator::samples() const noexcept {
  return as_size(config_.frames) * static_cast<std::size_t>(std::llround(1e-2 * config_.sample_rate_hz));
}

double nr_downlink_generator::symbol_power() const noexcept {
  const double used = std::max(12e3 * coreset_blocks_ * config_.common_spacing_khz,
                               1e3 * ssb_subcarriers * config_.spacing_khz);
  return used / config_.sample_rate_hz;
}

ofdm_numerology nr_downlink_generator::numerology(int spacing_khz, int blocks) const {
  return nr_numerology({.spacing_khz = spacing_khz, .resource_blocks = blocks},
                       static_cast<int>(std::lround(config_.sample_rate_hz / (1e3 * spacing_khz))));
}

nr_channel_config nr_downlink_generator::channel(int slot) const {
  return nr_si_channel(dci_,
                       {.spacing_khz = config_.common_spacing_khz,
                        .resource_blocks = coreset_blocks_,
                        .cell_id = config_.cell_id,
                        .slot = slot},
                       config_.dmrs_first_symbol);
}

/// Resource elements of a message's slot, in the resource blocks of CORESET 0.
nr_downlink_generator::grid_values nr_downlink_generator::slot_values(
    executor& exec, const nr_sent_message& m, std::span<const std::uint8_t> block) const {
  const nr_downlink_generator_config& c = config_;
  const nr_shared_channel pdsch(channel(m.slot));
  const nr_transport_config transport = pdsch.transport(1, c.mcs);
  const std::size_t symbols = pdsch.symbols_of(0), coded_bits = as_size(transport.coded_bits);
  auto bits = exec.make<std::uint8_t>(1, block.size()), coded = exec.make<std::uint8_t>(1, coded_bits);
  exec.upload(bits.data(), block.data(), block.size());
  nr_transport_encoder encoder(transport);
  encoder.run(exec, bits, c.rv, coded);
  auto values = exec.make<std::complex<float>>(symbols, 1),
       grid = exec.make<std::complex<float>>(pdsch.elements(), 1);
  qam_mapper(1 << transport.modulation_order)
      .run(exec, make_view(std::as_const(coded).data(), symbols, coded_bits / symbols), values);
  pdsch.map(exec, {make_view(std::as_const(values).data(), 1, symbols)}, grid);
  grid_values slot = exec.to_host(grid);

  const pdcch_config control{.blocks = coreset_blocks_,
                             .symbols = coreset_symbols_,
                             .first_symbol = m.coreset_symbol,
                             .shift = c.cell_id,
                             .dmrs_id = c.cell_id,
                             .scrambling_id = c.cell_id,
                             .level = c.level,
                             .dci_bits = nr_si_dci_bits(coreset_blocks_),
                             .rnti = nr_si_rnti};
  const std::vector<std::uint8_t> dci = nr_si_dci_encode(dci_, coreset_blocks_);
  auto dci_bits = exec.make<std::uint8_t>(1, dci.size());
  exec.upload(dci_bits.data(), dci.data(), dci.size());
  auto candidate = exec.make<std::complex<float>>(1, control.elements());
  pdcch_encoder(control).run(exec, dci_bits, {m.slot}, {c.first_cce}, candidate);
  const grid_values controls = exec.to_host(candidate);
  const std::size_t first = as_size(nr_block_subcarriers * coreset_blocks_ * m.coreset_symbol);
  for (std::size_t i = 0; i < controls.size(); i++) slot[first + i] += controls[i];
  return slot;
}

/// Adds neighbouring symbols of a frame, whose middle is at `hz`.
void nr_downlink_generator::add(executor& exec, const grid_values& values, int spacing_khz, int blocks,
                                int first_symbol, double hz, std::size_t first_sample,
                                std::vector<std::complex<float>>& samples) const {
  const ofdm_numerology n = numerology(spacing_khz, blocks);
  const ofdm_modulator modulator(
      n, {.first_symbol = first_symbol % (2 * n.symbols_per_slot),
          .symbols = static_cast<int>(values.size()) / (nr_block_subcarriers * blocks),
          .carrier_hz = config_.carrier_hz + hz});
  auto in = exec.make<std::complex<float>>(1, values.size()),
       out = exec.make<std::complex<float>>(1, modulator.samples());
  exec.upload(in.data(), values.data(), values.size() * sizeof(std::complex<float>));
  modulator.run(exec, in, out);
  const std::vector<std::complex<float>> wave = exec.to_host(out);
  for (std::size_t i = 0; i < wave.size(); i++) {
    const double turns = std::fmod(hz * static_cast<double>(first_sample + i), config_.sample_rate_hz) /
                         config_.sample_rate_hz;
    samples[first_sample + i] +=
        std::complex<float>(std::complex<double>(wave[i]) * std::polar(1., 2 * std::numbers::pi * turns));
  }
}

std::vector<std::complex<float>> nr_downlink_generator::run(executor& exec,
                                                            std::span<const std::uint8_t> block) const {
  const nr_downlink_generator_config& c = config_;
  if (block.size() != transport_bits_)
    throw argument_error("block", std::to_string(block.size()) + " bits",
                         std::to_string(transport_bits_) + " bits, those of the transport block");
  std::vector<std::complex<float>> sent(samples());
  std::vector<nr_ssb_content> contents;
  for (const nr_sent_block& b : sent_blocks_) contents.push_back(b.content);
  constexpr std::size_t ssb_values = ssb_subcarriers * ssb_symbols;
  if (!contents.empty()) {
    auto grids = exec.make<std::complex<float>>(contents.size(), ssb_values);
    pbch_encoder({.l_max = *c.l_max}).run(exec, contents, std::vector(contents.size(), c.cell_id), grids);
    const grid_values values = exec.to_host(grids);
    const std::vector<int> starts = nr_ssb_first_symbols(*c.pattern, *c.l_max);
    for (std::size_t i = 0; i < contents.size(); i++) {
      const auto begin = values.begin() + static_cast<std::ptrdiff_t>(i * ssb_values);
      // The modulator counts symbols of a subframe, of which a half frame has a whole number.
      add(exec, {begin, begin + ssb_values}, c.spacing_khz, generator_ssb_blocks,
          starts[as_size(contents[i].ssb_index)], c.offset_hz, sent_blocks_[i].first_sample, sent);
    }
  }
  std::map<int, grid_values> by_slot;
  for (const nr_sent_message& m : sent_messages_) {
    grid_values& values = by_slot[m.slot];
    if (values.empty()) values = slot_values(exec, m, block);
    add(exec, values, c.common_spacing_khz, coreset_blocks_, generator_slot_symbols * m.slot, coreset_hz_,
        m.first_sample, sent);
  }
  return sent;
}

}  // namespace wb
