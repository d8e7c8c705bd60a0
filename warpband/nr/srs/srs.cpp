#include <warpband/nr/srs/srs.hpp>

#include <cmath>
#include <numbers>
#include <string>

#include <warpband/core/as_size.hpp>
#include <warpband/core/check.hpp>
#include <warpband/core/pairs.hpp>
#include <warpband/fec/nr/scrambling.hpp>
#include <warpband/nr/pucch/pucch_sequences.hpp>
#include <warpband/nr/shared_channel_args.hpp>

namespace wb {

namespace {

/// m_0, and N_1 to N_3: m_b is m_(b-1) / N_b.
constexpr int srs_tree[64][4] = {
    {4, 1, 1, 1},    {8, 2, 1, 1},    {12, 3, 1, 1},   {16, 4, 1, 1},   {16, 2, 2, 1},   {20, 5, 1, 1},
    {24, 6, 1, 1},   {24, 2, 3, 1},   {28, 7, 1, 1},   {32, 2, 2, 2},   {36, 3, 3, 1},   {40, 2, 5, 1},
    {48, 3, 2, 2},   {48, 2, 2, 3},   {52, 13, 1, 1},  {56, 2, 7, 1},   {60, 3, 5, 1},   {64, 2, 2, 4},
    {72, 3, 2, 3},   {72, 2, 3, 3},   {76, 19, 1, 1},  {80, 2, 2, 5},   {88, 2, 11, 1},  {96, 3, 2, 4},
    {96, 2, 2, 6},   {104, 2, 13, 1}, {112, 2, 2, 7},  {120, 2, 3, 5},  {120, 3, 5, 2},  {120, 5, 2, 3},
    {128, 2, 2, 8},  {128, 2, 4, 4},  {128, 8, 2, 2},  {132, 3, 11, 1}, {136, 2, 17, 1}, {144, 2, 2, 9},
    {144, 3, 2, 2},  {144, 3, 3, 4},  {144, 9, 2, 2},  {152, 2, 19, 1}, {160, 2, 2, 10}, {160, 2, 4, 5},
    {160, 5, 2, 4},  {168, 2, 3, 7},  {176, 2, 2, 11}, {184, 2, 23, 1}, {192, 2, 2, 12}, {192, 2, 4, 6},
    {192, 3, 4, 4},  {192, 8, 3, 2},  {208, 2, 2, 13}, {216, 2, 3, 9},  {224, 2, 2, 14}, {240, 2, 2, 15},
    {240, 3, 4, 5},  {240, 5, 3, 2},  {240, 10, 2, 3}, {256, 2, 2, 16}, {256, 2, 4, 8},  {256, 16, 2, 2},
    {264, 2, 3, 11}, {272, 2, 2, 17}, {272, 4, 17, 1}, {272, 17, 2, 2}};

int srs_most_shifts(int comb) { return comb == 2 ? 8 : 12; }

/// Group and sequence number of a symbol of the slot.
pucch_group srs_group(const srs_config& c, int symbol, int length) {
  const int identity = *c.sequence_id, number = c.carrier.slot * c.carrier.symbols_per_slot() + symbol;
  pucch_group g{identity % 30, 0};
  if (c.hopping == nr_dmrs_hopping::group) {
    const auto sequence = nr_scrambling_sequence(identity, as_size(8 * number + 8));
    int sum = 0;
    for (int m = 0; m < 8; m++) sum += sequence[as_size(8 * number + m)] << m;
    g.u = (sum % 30 + identity) % 30;
  }
  if (c.hopping == nr_dmrs_hopping::sequence && length >= 72)
    g.v = nr_scrambling_sequence(identity, as_size(number + 1)).back();
  return g;
}

}  // namespace

const std::vector<setting_of<srs_config>>& srs_settings() {
  using c = srs_config;
  static const std::vector<setting_of<c>> settings = [] {
    std::vector<setting_of<c>> list =
        within<c>([](c& x) -> nr_carrier& { return x.carrier; }, nr_carrier_settings());
    for (auto& s : std::vector<setting_of<c>>{
             one_of("ports", &c::ports, {1, 2, 4}, "Antenna ports of the terminal."),
             one_of("symbols", &c::symbols, {1, 2, 4}, "OFDM symbols."),
             integer("first_symbol", &c::first_symbol, 0, 13, "The first of them in the slot."),
             one_of("comb", &c::comb, {2, 4}, "Distance of sounded subcarriers."),
             integer("comb_offset", &c::comb_offset, 0, 3, "The first of them, less than comb."),
             integer("cyclic_shift", &c::cyclic_shift, 0, 11,
                     "Of port 0, in eighths of a turn a value; with comb = 4 in twelfths."),
             integer("bandwidth_config", &c::bandwidth_config, 0, 63,
                     "C_SRS, a row of TS 38.211 table 6.4.1.4.3-1."),
             integer("bandwidth", &c::bandwidth, 0, 3, "B_SRS, a column of that row."),
             integer("hopping_bandwidth", &c::hopping_bandwidth, 0, 3,
                     "b_hop: frequency hopping where it is less than bandwidth."),
             integer("frequency_position", &c::frequency_position, 0, 67,
                     "n_RRC, in steps of 4 resource blocks."),
             integer(
                 "frequency_shift", &c::frequency_shift, 0, 268,
                 "n_shift, in resource blocks from common resource block 0, or from the carrier's first one "
                 "if that lies above."),
             one_of("repetition", &c::repetition, {1, 2, 4},
                    "R, symbols with the same subcarriers; at most symbols."),
             integer("count", &c::count, 0, 1048575,
                     "n_SRS of the first symbol, which frequency hopping counts."),
             integer("sequence_id", &c::sequence_id, 0, 1023, "n_ID of the sequences. Absent: the cell's."),
             words("hopping", &c::hopping,
                   {{"none", nr_dmrs_hopping::none},
                    {"group", nr_dmrs_hopping::group},
                    {"sequence", nr_dmrs_hopping::sequence}},
                   "Whether the group or, from 72 values on, the sequence changes from symbol to symbol.")})
      list.push_back(std::move(s));
    return list;
  }();
  return settings;
}

srs_bandwidth nr_srs_bandwidth(int bandwidth_config, int depth) {
  check_range("bandwidth_config", bandwidth_config, 0, 63);
  check_range("depth", depth, 0, 3);
  const int* row = srs_tree[bandwidth_config];
  srs_bandwidth b{row[0], 1};
  for (int i = 1; i <= depth; i++) b = {b.blocks / row[i], row[i]};
  return b;
}

nr_srs::nr_srs(const srs_config& config) : config_(config) {
  srs_config& c = config_;
  check_settings(srs_settings(), c);
  check(c.carrier);
  if (!c.sequence_id) c.sequence_id = c.carrier.cell_id;
  check_range("comb_offset", c.comb_offset, 0, c.comb - 1);
  check_range("cyclic_shift", c.cyclic_shift, 0, srs_most_shifts(c.comb) - 1);
  check_range("first_symbol", c.first_symbol, 0, c.carrier.symbols_per_slot() - c.symbols);
  if (c.repetition > c.symbols)
    throw argument_error("repetition", std::to_string(c.repetition),
                         "at most symbols, " + std::to_string(c.symbols));
  const int subcarriers = c.carrier.subcarriers();
  for (int band = 0; band < bands(); band++)
    if (first_subcarrier(band) + band_subcarriers() > subcarriers)
      throw argument_error("frequency_shift", std::to_string(c.frequency_shift),
                           "one with which " + std::to_string(band_subcarriers()) + " subcarriers from " +
                               std::to_string(first_subcarrier(band)) + " on are within the carrier's " +
                               std::to_string(subcarriers));

  std::vector<std::complex<float>> values(as_size(c.ports) * elements());
  const int turns = srs_most_shifts(c.comb);
  const double amplitude = 1 / std::sqrt(static_cast<double>(c.ports));
  for (int band = 0; band < bands(); band++)
    for (const int symbol : band_symbols(band)) {
      const pucch_group g = srs_group(c, symbol, length());
      const auto base = nr_low_papr_sequence(length(), g.u, g.v);
      for (int port = 0; port < c.ports; port++) {
        const int shift = (c.cyclic_shift + turns * port / c.ports) % turns;
        const std::size_t first = as_size(port) * elements() +
                                  as_size(symbol * subcarriers + first_subcarrier(band) + comb_offset(port));
        for (int k = 0; k < length(); k++)
          values[first + as_size(c.comb * k)] = std::complex<float>(
              base[as_size(k)] *
              std::polar(amplitude, 2 * std::numbers::pi * (shift * k % turns) / static_cast<double>(turns)));
      }
    }
  values_ = resident<std::complex<float>>(std::move(values));
  no_data_ = resident<std::int32_t>(std::vector<std::int32_t>(elements(), -1));
}

int nr_srs::length() const noexcept {
  return nr_srs_bandwidth(config_.bandwidth_config, config_.bandwidth).blocks * nr_block_subcarriers /
         config_.comb;
}
int nr_srs::bands() const noexcept {
  return config_.hopping_bandwidth < config_.bandwidth ? config_.symbols / config_.repetition : 1;
}

std::vector<int> nr_srs::band_symbols(int band) const {
  check_range("band", band, 0, bands() - 1);
  const int each_band = config_.symbols / bands();
  std::vector<int> symbols;
  for (int i = 0; i < each_band; i++) symbols.push_back(config_.first_symbol + band * each_band + i);
  return symbols;
}

int nr_srs::part(int band, int depth) const {
  const auto [blocks, parts] = nr_srs_bandwidth(config_.bandwidth_config, depth);
  const int position = 4 * config_.frequency_position / blocks;
  if (config_.hopping_bandwidth >= config_.bandwidth || depth <= config_.hopping_bandwidth)
    return position % parts;
  int before = 1;  // parts of the depths that hop, above this one
  for (int b = config_.hopping_bandwidth + 1; b < depth; b++)
    before *= nr_srs_bandwidth(config_.bandwidth_config, b).parts;
  const int n = config_.count + band;
  const int within_cycle = n % (before * parts);
  const int moved = parts % 2 == 0 ? parts / 2 * (within_cycle / before) + within_cycle / (2 * before)
                                   : parts / 2 * (n / before % parts);
  return (moved + position) % parts;
}

int nr_srs::first_subcarrier(int band) const {
  check_range("band", band, 0, bands() - 1);
  const int from = config_.carrier.first_resource_block;
  int block = config_.frequency_shift - (from <= config_.frequency_shift ? from : 0);
  for (int b = 0; b <= config_.bandwidth; b++)
    block += nr_srs_bandwidth(config_.bandwidth_config, b).blocks * part(band, b);
  return nr_block_subcarriers * block;
}

std::vector<std::int32_t> nr_srs::places(int band) const {
  const int first = band_symbols(band)[0] * config_.carrier.subcarriers() + first_subcarrier(band);
  std::vector<std::int32_t> list;
  for (int k = 0; k < band_subcarriers(); k++) list.push_back(first + k);
  return list;
}

int nr_srs::comb_offset(int port) const {
  check_range("port", port, 0, config_.ports - 1);
  const bool apart =
      config_.ports == 4 && port % 2 == 1 && 2 * config_.cyclic_shift >= srs_most_shifts(config_.comb);
  return (config_.comb_offset + (apart ? config_.comb / 2 : 0)) % config_.comb;
}

std::vector<std::complex<float>> nr_srs::values(int port) const {
  values_.check_held();
  check_range("port", port, 0, config_.ports - 1);
  const auto first = values_.host().begin() + static_cast<std::ptrdiff_t>(as_size(port) * elements());
  return {first, first + static_cast<std::ptrdiff_t>(elements())};
}

void nr_srs::map(executor& exec, view<std::complex<float>> grid) const {
  values_.check_held();
  if (grid.items % elements() != 0)
    throw shape_error("grid", shape_text(grid.items, grid.elements),
                      "whole slots of " + std::to_string(elements()) + " resource elements");
  check_shape("grid", grid, grid.items, ports());
  nr_map_args a;
  a.elements = static_cast<int>(elements());
  a.ports = config_.ports;
  a.number = no_data_.on(exec);
  a.dmrs = reinterpret_cast<const cx_pair*>(values_.on(exec));
  a.grid = as_pairs(grid);
  map_elements(exec, a);
}

}  // namespace wb
