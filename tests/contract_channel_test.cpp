// Channels in the list of contracts. What an item gets follows from its index in the whole batch.
#include <tests/contract.hpp>
#include <tests/symbols.hpp>
#include <warpband/channel/awgn/awgn.hpp>
#include <warpband/channel/binary/binary.hpp>
#include <warpband/channel/cdl/cdl.hpp>
#include <warpband/channel/impairments/impairments.hpp>
#include <warpband/channel/kronecker/kronecker.hpp>
#include <warpband/channel/mimo/mimo.hpp>
#include <warpband/channel/rayleigh/rayleigh.hpp>
#include <warpband/channel/tdl/tdl.hpp>

namespace wb {
namespace contract_channel_test {

using namespace testing;
using algorithms = std::vector<algorithm>;
using complex = std::complex<float>;

/// The index carries into the upper half within the batch.
random_range range_of(const call& c) { return {0x9876543210, (std::uint64_t{1} << 32) - 9 + c.first, 8}; }

/// Blocks of symbols that share a gain.
algorithms flat_fading() {
  algorithms list;
  for (const auto& [block, rice] : {std::pair{std::size_t{1}, rician_amplitudes{}},
                                    {std::size_t{6}, rician_amplitudes{}},
                                    {std::size_t{200}, rician_amplitudes{}},
                                    {std::size_t{1}, rician_of_db(3)},
                                    {std::size_t{6}, rician_of_db(3)}}) {
    algorithm a{.text = "block " + std::to_string(block), .items = 37, .alone = false};
    a.outputs = {output<complex>("out", 1, block), output<complex>("gain", 1, block)};
    a.draw = [block = block](std::size_t items) {
      return operands{input("in", 1, random_symbols(items * block), block)};
    };
    a.run = [block = block, rice = rice](executor& e, const call& c) {
      apply_rayleigh(e, c["in"], c["out"], c["gain"], static_cast<int>(block), range_of(c), rice);
    };
    a.side_by_side = block > 1;
    list.push_back(a);
  }
  return list;
}
algorithms noise() {
  algorithm a{.text = "noise", .items = 1003, .outputs = {output<complex>("out", 1)}};
  a.draw = [](std::size_t items) { return operands{input("in", 1, random_symbols(items))}; };
  a.run = [](executor& e, const call& c) { add_awgn(e, c["in"], c["out"], 0.3f, range_of(c)); };
  algorithm with_each = a;
  with_each.text = "noise, an N0 for each symbol";
  with_each.draw = [](std::size_t items) {
    std::vector<float> noise_var(items);
    for (std::size_t i = 0; i < items; i++) noise_var[i] = 0.1f * static_cast<float>(i % 7);
    return operands{input("in", 1, random_symbols(items)), input("noise_var", 1, noise_var)};
  };
  with_each.run = [](executor& e, const call& c) {
    add_awgn(e, c["in"], c["out"], view<const float>(c["noise_var"]), range_of(c));
  };
  return {a, with_each};
}

/// Captures of a tile, less and more, with constant and with drifting positions.
algorithms front_end() {
  algorithms list;
  const impairments_config drifting{.cfo_hz = 1e4,
                                    .delay_samples = 1.3,
                                    .clock_offset_ppm = 50,
                                    .linewidth_hz = 100,
                                    .noise_var = 0.1,
                                    .iq_gain_db = 1,
                                    .iq_phase_deg = 2,
                                    .dc_i = 0.1,
                                    .converter_bits = 8,
                                    .full_scale = 2};
  impairments_config constant = drifting;
  constant.clock_offset_ppm = 0, constant.converter_bits = 0;
  for (const auto& [config, n] : {std::pair{drifting, std::size_t{600}},
                                  {constant, std::size_t{600}},
                                  {constant, std::size_t{256}},
                                  {drifting, std::size_t{5}}}) {
    algorithm a{.text = std::to_string(n) + " samples", .items = 9, .alone = false};
    a.outputs = {output<complex>("out", n), output<std::int32_t>("erased", 1)};
    a.draw = [n = n](std::size_t items) { return operands{input("samples", n, random_symbols(items * n))}; };
    a.run = [made = impairments(config)](executor& e, const call& c) {
      made.run(e, c["samples"], c["out"], {.seed = 7, .first = 40 + c.first, .point = 1}, c["erased"]);
    };
    a.free_widths = {"samples"};
    list.push_back(a);
  }
  return list;
}

/// Channels of bits, and the LLRs of what they give.
algorithms bits() {
  algorithms list;
  for (const binary_channel& channel :
       {binary_symmetric_channel(0.3), binary_erasure_channel(0.5), z_channel(0.2)}) {
    algorithm a{.text = "bits", .items = 1003, .outputs = {output<std::uint8_t>("received", 1)}};
    a.draw = [](std::size_t items) {
      std::vector<std::uint8_t> bits(items);
      for (std::size_t i = 0; i < items; i++) bits[i] = i % 3 == 0;
      return operands{input("bits", 1, bits)};
    };
    a.run = [=](executor& e, const call& c) { send_bits(e, channel, c["bits"], c["received"], range_of(c)); };
    list.push_back(a);
    algorithm llrs{.text = "LLRs of bits", .items = 1003, .outputs = {output<float>("llr", 1)}};
    llrs.draw = [](std::size_t items) {
      std::vector<std::uint8_t> received(items);
      for (std::size_t i = 0; i < items; i++) received[i] = static_cast<std::uint8_t>(i % 3);
      return operands{input("received", 1, received)};
    };
    llrs.run = [=](executor& e, const call& c) { llrs_of_bits(e, channel.llr, c["received"], c["llr"]); };
    list.push_back(llrs);
  }
  return list;
}

/// Channels over uses of several antennas.
template <class Apply>
algorithm faded(const std::string& text, std::size_t streams, std::size_t rx, std::size_t uses,
                std::size_t channels, std::size_t items, Apply apply, bool free_antennas = false) {
  algorithm a{.text = text, .items = items, .alone = false};
  a.outputs = {output<complex>("out", rx, uses), output<complex>("channel", rx * streams, channels)};
  a.draw = [=](std::size_t count) {
    return operands{input("in", streams, random_symbols(count * uses * streams), uses)};
  };
  a.run = apply;
  a.free_rows = {"channel"};
  if (free_antennas) a.free_widths = {"in", "out"};
  return a;
}
template <class Channel>
algorithm response(const std::string& text, const Channel& channel, std::size_t entries, std::size_t rows,
                   std::size_t items) {
  algorithm a{.text = text,
              .items = items,
              .outputs = {output<complex>("channel", entries, rows)},
              .free_rows = {"channel"}};
  a.run = [=](executor& e, const call& c) { channel.response(e, c["channel"], range_of(c)); };
  return a;
}

algorithms mimo_fading() {
  algorithms list;
  for (const auto& [streams, rx] : {std::pair{1, 1}, {1, 2}, {2, 2}, {3, 5}, {4, 4}, {8, 16}, {12, 20}})
    for (const std::size_t shared : {1, 3, 40}) {
      const auto s = static_cast<std::size_t>(streams), r = static_cast<std::size_t>(rx);
      const rician_amplitudes rice = shared == 40 || rx == 4 ? rician_of_db(7) : rician_amplitudes{};
      list.push_back(faded(
          std::to_string(s) + "x" + std::to_string(r), s, r, shared, 1, 37,
          [=](executor& e, const call& c) {
            apply_mimo_rayleigh(e, c["in"], c["out"], c["channel"], shared, range_of(c), rice);
          },
          true));
    }
  return list;
}

kronecker_config correlated(int streams, int rx, bool at_rx, bool at_tx) {
  kronecker_config c{streams, rx, {}, {}};
  if (at_rx) c.rx_correlation = exponential_correlation(rx, std::polar(0.6, 0.7));
  if (at_tx) c.tx_correlation = exponential_correlation(streams, std::polar(0.8, 0.5));
  return c;
}
/// One and both sides, both mappings to a GPU, tails of four streams, and a singular matrix.
algorithms kronecker() {
  algorithms list;
  for (const kronecker_config& config :
       {correlated(1, 1, true, true), correlated(2, 3, true, true), correlated(4, 4, true, false),
        correlated(7, 5, false, true), correlated(9, 20, true, true), correlated(2, 2, false, false),
        kronecker_config{3, 4, exponential_correlation(4, 1.), {}}}) {
    const kronecker_channel channel(config);
    const auto s = static_cast<std::size_t>(config.streams), r = static_cast<std::size_t>(config.rx_antennas);
    const std::string text = std::to_string(s) + "x" + std::to_string(r);
    list.push_back(response(text, channel, s * r, 1, 35));
    for (const std::size_t shared : {1, 5})
      list.push_back(faded(text, s, r, shared, 1, 17, [=](executor& e, const call& c) {
        channel.apply(e, c["in"], c["out"], c["channel"], shared, range_of(c));
      }));
  }
  return list;
}

tdl_config delays(const char* profile, int subcarriers, int ofdm_symbols, double doppler_hz, int streams = 1,
                  int rx = 1) {
  tdl_config c;
  c.profile = tdl_profile_named(profile);
  c.grid = {.subcarriers = subcarriers, .symbols = ofdm_symbols, .cyclic_prefix_us = 512 / 30.72};
  c.doppler_hz = doppler_hz;
  c.streams = streams;
  c.rx_antennas = rx;
  return c;
}
/// Whole vectors and tails of paths and subcarriers. 1, 2, 3, 4 and more entries of a row of H. With a fixed
/// part and without, moving and static. Correlated antennas.
algorithms tdl() {
  std::vector<tdl_config> configs{
      delays("epa", 12, 14, 5),          delays("eva", 16, 3, 70, 2, 2), delays("etu", 17, 2, 300, 3, 4),
      delays("tdl-a", 33, 1, 0, 4, 4),   delays("tdl-d", 15, 5, 120),    delays("tdl-e", 1, 40, 0, 1, 2),
      delays("tdl-c", 72, 2, 900, 8, 8), delays("eva", 17, 3, 70, 2, 4), delays("etu", 5, 2, 0, 4, 8)};
  configs[1].sinusoids = 16;
  configs[2].sinusoids = 9;  // no power of two
  configs[6].sinusoids = 8;
  configs[6].grid.symbol_period_us = 100;
  configs[7].spatial = {antenna_correlation::medium, antenna_array::linear, false};
  configs[8].spatial = {antenna_correlation::high, antenna_array::cross_polarised, false};
  tdl_config flat;  // one tap, little but a fixed part
  flat.profile = {{{0, 3}}, 10};
  flat.grid = {.subcarriers = 5, .symbols = 31};
  flat.doppler_hz = 10;
  configs.push_back(flat);
  algorithms list;
  for (const tdl_config& config : configs) {
    const tdl_channel channel(config);
    const auto s = static_cast<std::size_t>(config.streams), r = static_cast<std::size_t>(config.rx_antennas),
               uses = config.grid.elements();
    const std::string text =
        std::to_string(config.profile.taps.size()) + " taps, " + std::to_string(s) + "x" + std::to_string(r);
    list.push_back(response(text, channel, s * r, uses, 17));
    list.push_back(faded(text, s, r, uses, uses, 5, [=](executor& e, const call& c) {
      channel.apply(e, c["in"], c["out"], c["channel"], range_of(c));
    }));
  }
  return list;
}

cdl_config cluster(const char* profile, int subcarriers, int ofdm_symbols, int antennas, int users) {
  cdl_config c;
  c.profile = cdl_profile_named(profile);
  c.grid.subcarriers = subcarriers;
  c.grid.symbols = ofdm_symbols;
  c.antennas = antennas;
  c.users = users;
  return c;
}
/// Whole vectors and tails of antennas, entries, rays and subcarriers. One user and 64, still, moving and
/// tilted. Several drops in a call of the kernel.
algorithms cdl() {
  std::vector<cdl_config> configs{cluster("c2-nlos", 8, 1, 32, 2), cluster("b1-los", 5, 3, 17, 3),
                                  cluster("cdl-a", 4, 2, 16, 1),   cluster("cdl-d", 7, 2, 5, 4),
                                  cluster("a1-los", 1, 2, 1, 1),   cluster("cdl-e", 3, 1, 3, 64)};
  configs[1].speed_kmh = 120;
  configs[1].heading_deg = -75;
  configs[2].speed_kmh = 30;
  configs[2].grid.symbol_period_us = 1000;
  configs[3].spacing_wavelengths = 0.5;
  configs[3].directions_deg = {-30, 0, 12.5, 180};
  configs[3].shadowing_db = 8;
  configs[4].speed_kmh = 3;
  configs[5].sector_deg = 180;
  configs[5].power_control = true;
  cdl_config one;  // one cluster, in the horizon
  one.profile = {{{40, 3, 20, -20}}, 5, 50, 0, 0};
  one.grid = {.subcarriers = 9, .symbols = 4};
  one.antennas = 2;
  one.users = 5;
  one.speed_kmh = 500;
  one.carrier_hz = 28e9;
  one.spacing_wavelengths = 2;
  one.power_control = true;
  configs.push_back(one);
  algorithms list;
  for (const cdl_config& config : configs)
    list.push_back(response(std::to_string(config.profile.clusters.size()) + " clusters", cdl_channel(config),
                            static_cast<std::size_t>(config.antennas * config.users), config.grid.elements(),
                            4));
  return list;
}

const std::vector<contract_case> channels{{"rayleigh", flat_fading},
                                          {"awgn", noise},
                                          {"impairments", front_end},
                                          {"binary", bits},
                                          {"mimo_rayleigh", mimo_fading},
                                          {"kronecker", kronecker},
                                          {"tdl", tdl},
                                          {"cdl", cdl}};
WB_CONTRACTS_WITHOUT_ERASURES(channel, channels);

}  // namespace contract_channel_test
}  // namespace wb
