// SRS: what is sent against the definition, frequency hopping as a walk over all parts, channels of several
// ports and terminals from their estimator, bad input.
#include <warpband/nr/srs/srs.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <random>
#include <set>
#include <vector>

#include <oracle/nr_srs.hpp>
#include <tests/on_backends.hpp>
#include <warpband/estimate/estimator.hpp>
#include <warpband/estimate/srs_pilots.hpp>
#include <warpband/nr/pucch/pucch_sequences.hpp>

namespace wb {
namespace srs_test {

using namespace testing;
using sample = std::complex<float>;
using exact = std::complex<double>;

class srs_on : public on_backend {};
WB_ON_ALL_BACKENDS(srs_on);

std::vector<exact> defined(const srs_config& c) {
  const nr_srs srs(c);
  oracle::nr_srs s{.slot = c.carrier.slot,
                   .symbols_per_slot = c.carrier.symbols_per_slot(),
                   .subcarriers = c.carrier.subcarriers(),
                   .ports = c.ports,
                   .symbols = c.symbols,
                   .first_symbol = c.first_symbol,
                   .comb = c.comb,
                   .comb_offset = c.comb_offset,
                   .cyclic_shift = c.cyclic_shift,
                   .c_srs = c.bandwidth_config,
                   .b_srs = c.bandwidth,
                   .b_hop = c.hopping_bandwidth,
                   .n_rrc = c.frequency_position,
                   .n_shift = c.frequency_shift,
                   .repetition = c.repetition,
                   .n_srs = c.count,
                   .id = *srs.config().sequence_id,
                   .hopping = static_cast<int>(c.hopping)};
  s.base = nr_low_papr_sequence;
  return oracle::nr_srs_values(s);
}

TEST_P(srs_on, what_is_sent_follows_the_definition) {
  const nr_carrier wide{.spacing_khz = 30, .resource_blocks = 273, .cell_id = 500, .slot = 7};
  const std::vector<srs_config> kinds{
      {},
      {.carrier = wide,
       .ports = 4,
       .symbols = 4,
       .first_symbol = 8,
       .cyclic_shift = 3,
       .bandwidth_config = 63},
      {.carrier = wide,
       .ports = 4,
       .comb = 4,
       .comb_offset = 3,
       .cyclic_shift = 7,
       .bandwidth_config = 13,
       .bandwidth = 2},
      {.carrier = wide,
       .ports = 2,
       .symbols = 2,
       .first_symbol = 4,
       .comb = 4,
       .comb_offset = 2,
       .cyclic_shift = 11,
       .bandwidth_config = 55,
       .bandwidth = 3,
       .hopping_bandwidth = 0,
       .frequency_position = 41,
       .frequency_shift = 9,
       .count = 12345,
       .hopping = nr_dmrs_hopping::group},
      {.carrier = wide,
       .symbols = 4,
       .first_symbol = 10,
       .comb_offset = 1,
       .cyclic_shift = 5,
       .bandwidth_config = 54,
       .bandwidth = 2,
       .hopping_bandwidth = 1,
       .frequency_position = 20,
       .repetition = 2,
       .count = 3,
       .sequence_id = 1023,
       .hopping = nr_dmrs_hopping::sequence},
      {.carrier = {.spacing_khz = 60, .resource_blocks = 20, .extended_prefix = true, .slot = 39},
       .ports = 2,
       .symbols = 4,
       .first_symbol = 8,
       .bandwidth_config = 5,
       .bandwidth = 1,
       .repetition = 4,
       .sequence_id = 30,
       .hopping = nr_dmrs_hopping::group}};
  for (const srs_config& c : kinds) {
    const nr_srs srs(c);
    const std::vector<exact> expected = defined(c);
    auto grid = exec().make<sample>(2 * srs.elements(), srs.ports());
    srs.map(exec(), grid);
    const auto found = exec().to_host(grid);
    for (std::size_t slot = 0; slot < 2; slot++)
      for (std::size_t e = 0; e < srs.elements(); e++)
        for (std::size_t p = 0; p < srs.ports(); p++)
          ASSERT_LT(std::abs(exact(found[(slot * srs.elements() + e) * srs.ports() + p]) -
                             expected[p * srs.elements() + e]),
                    1e-6)
              << c.bandwidth_config << " " << p << " " << e;
  }
}

TEST(srs, bandwidths_are_those_of_the_table) {
  for (int row = 0; row < 64; row++)
    for (int depth = 0; depth < 4; depth++) {
      const srs_bandwidth b = nr_srs_bandwidth(row, depth);
      EXPECT_EQ(b.blocks, oracle::nr_srs_blocks(row, depth)) << row;
      if (depth > 0) {
        EXPECT_EQ(b.blocks * b.parts, nr_srs_bandwidth(row, depth - 1).blocks) << row;
      }
    }
}

// In a cycle every part is sounded once, for all rows and depths.
TEST(srs, hopping_visits_every_part_once) {
  for (int row = 0; row < 64; row += 3)
    for (int depth = 1; depth < 4; depth++)
      for (int hop = 0; hop < depth; hop++) {
        int parts = 1;
        for (int b = hop + 1; b <= depth; b++) parts *= nr_srs_bandwidth(row, b).parts;
        std::set<int> found;
        for (int n = 0; n < parts; n++)
          found.insert(nr_srs({.carrier = {.resource_blocks = 273},
                               .bandwidth_config = row,
                               .bandwidth = depth,
                               .hopping_bandwidth = hop,
                               .frequency_position = 5,
                               .count = 7 * parts + n})
                           .first_subcarrier(0));
        EXPECT_EQ(found.size(), static_cast<std::size_t>(parts)) << row << " " << depth << " " << hop;
      }
}

TEST(srs, a_carrier_within_the_common_blocks_counts_from_block_0) {
  const auto first = [](int carrier, int shift) {
    return nr_srs({.carrier = {.resource_blocks = 60, .first_resource_block = carrier},
                   .bandwidth_config = 1,
                   .frequency_shift = shift})
        .first_subcarrier(0);
  };
  EXPECT_EQ(first(10, 12), 24);
  EXPECT_EQ(first(10, 10), 0);
  EXPECT_EQ(first(10, 9), 108);
}

// A flat channel of every port and terminal comes back exactly without noise, from one comb.
TEST_P(srs_on, ports_and_terminals_are_told_apart) {
  struct kind {
    srs_config config;
    int shifts;
    std::vector<int> cyclic_shifts;  // of the terminals
  };
  const nr_carrier carrier{.resource_blocks = 24, .slot = 3};
  const kind kinds[] = {
      {{.carrier = carrier, .ports = 4, .bandwidth_config = 6}, 0, {1}},
      {{.carrier = carrier,
        .ports = 4,
        .comb = 4,
        .bandwidth_config = 7,
        .bandwidth = 1,
        .frequency_position = 3},
       0,
       {8}},
      {{.carrier = carrier, .ports = 2, .symbols = 2, .first_symbol = 10, .bandwidth_config = 6}, 4, {0, 2}},
      {{.carrier = carrier, .ports = 1, .comb = 4, .comb_offset = 1, .bandwidth_config = 6},
       4,
       {0, 3, 6, 9}}};
  constexpr std::size_t antennas = 3;
  for (const kind& k : kinds) {
    std::mt19937 random(4);
    std::normal_distribution<float> normal;
    std::vector<nr_srs> terminals;
    std::vector<std::vector<sample>> channels;
    std::vector<sample> received;
    for (const int shift : k.cyclic_shifts) {
      srs_config c = k.config;
      c.cyclic_shift = shift;
      const nr_srs& srs = terminals.emplace_back(c);
      received.resize(srs.elements() * antennas);
      auto& h = channels.emplace_back();
      for (std::size_t i = 0; i < antennas * srs.ports(); i++) h.emplace_back(normal(random), normal(random));
      for (int p = 0; p < c.ports; p++) {
        const auto sent = srs.values(p);
        for (std::size_t e = 0; e < sent.size(); e++)
          for (std::size_t r = 0; r < antennas; r++)
            received[e * antennas + r] += h[r * srs.ports() + static_cast<std::size_t>(p)] * sent[e];
      }
    }
    for (std::size_t t = 0; t < terminals.size(); t++) {
      const nr_srs& srs = terminals[t];
      const channel_estimator estimator(pilots_of(srs, 0, k.shifts), {}, srs.places());
      const std::size_t values = antennas * srs.ports();
      auto h = exec().make<sample>(estimator.places(), values);
      auto n0 = exec().make<float>(1, 1);
      estimator.run(exec(), on_device(exec(), received, srs.elements(), antennas), n0, {.channel = h});
      const auto found = exec().to_host(h);
      for (std::size_t i = 0; i < found.size(); i++)
        ASSERT_LT(std::abs(found[i] - channels[t][i % values]), 1e-4) << t << " " << i;
    }
  }
}

TEST(srs, bad_settings_are_named) {
  const auto blame = [](const srs_config& c) { return blamed([&] { nr_srs{c}; }); };
  EXPECT_EQ(blame({}), "");
  EXPECT_EQ(blame({.ports = 3}), "ports");
  EXPECT_EQ(blame({.symbols = 3}), "symbols");
  EXPECT_EQ(blame({.symbols = 2, .first_symbol = 13}), "first_symbol");
  EXPECT_EQ(blame({.carrier = {.spacing_khz = 60, .extended_prefix = true}, .first_symbol = 12}),
            "first_symbol");
  EXPECT_EQ(blame({.comb = 3}), "comb");
  EXPECT_EQ(blame({.comb_offset = 2}), "comb_offset");
  EXPECT_EQ(blame({.cyclic_shift = 8}), "cyclic_shift");
  EXPECT_EQ(blame({.comb = 4, .cyclic_shift = 11}), "");
  EXPECT_EQ(blame({.bandwidth_config = 64}), "bandwidth_config");
  EXPECT_EQ(blame({.bandwidth = 4}), "bandwidth");
  EXPECT_EQ(blame({.bandwidth_config = 8}), "frequency_shift");  // 28 blocks in a carrier of 25
  EXPECT_EQ(blame({.frequency_shift = 22}), "frequency_shift");
  EXPECT_EQ(blame({.repetition = 2}), "repetition");
  EXPECT_EQ(blame({.sequence_id = 1024}), "sequence_id");
  EXPECT_EQ(blame({.count = -1}), "count");
  const nr_srs srs({.ports = 4, .bandwidth_config = 1});
  EXPECT_EQ(blamed([&] { pilots_of(srs, 0, 2); }), "shifts");
  EXPECT_EQ(blamed([&] { pilots_of(srs, 1); }), "band");
  EXPECT_EQ(blamed([&] { srs.values(4); }), "port");
  const auto exec = open_scalar();
  auto grid = exec->make<sample>(srs.elements(), 3);
  EXPECT_THROW(srs.map(*exec, grid), shape_error);
  auto part = exec->make<sample>(srs.elements() - 1, 4);
  EXPECT_THROW(srs.map(*exec, part), shape_error);
}

}  // namespace srs_test
}  // namespace wb
