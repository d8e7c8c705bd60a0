// Slots of PUSCH and PDSCH against vectors of other programs, the standard's tables, and themselves on every
// backend.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <numbers>
#include <random>
#include <set>

#include <oracle/nr_slot.hpp>
#include <tests/nr.hpp>
#include <warpband/fec/nr/transport.hpp>
#include <warpband/modem/qam/qam.hpp>
#include <warpband/nr/codebook.hpp>
#include <warpband/nr/pucch/pucch_sequences.hpp>
#include <warpband/nr/shared_channel.hpp>

namespace wb {
namespace shared_channel_test {

using namespace testing;
using complexes = std::vector<std::complex<float>>;

constexpr float close = 2e-6f;  // the vectors have six or seven digits

/// "config" of the vectors.
template <class Json>
nr_channel_config config_of(const Json& v) {
  nr_channel_config c;
  const auto integer = [&](const char* key, int initial) {
    return v.contains(key) ? v.at(key).template get<int>() : initial;
  };
  c.carrier = {.spacing_khz = 30,
               .resource_blocks = v.at("nprb").template get<int>(),
               .cell_id = integer("cell", 0),
               .slot = integer("slot", 0)};
  if (v.contains("map") && v.at("map").template get<std::string>() == "B") c.mapping = nr_mapping::type_b;
  if (v.contains("alloc"))
    c.first_symbol = v.at("alloc").at(0), c.symbols = v.at("alloc").at(1).template get<int>();
  c.layers = integer("layers", 1);
  if (const int tpmi = integer("tpmi", -1); tpmi >= 0) c.tpmi = tpmi, c.antenna_ports = integer("ports", 1);
  c.dmrs = {.type = integer("type", 1),
            .length = integer("length", 1),
            .additional_positions = integer("add", 0),
            .first_symbol = integer("tapos", 2),
            .cdm_groups = integer("cdm", 2),
            .scid = integer("scid", 0)};
  if (v.contains("dports")) c.dmrs.ports = v.at("dports").template get<std::vector<int>>();
  if (v.contains("nid")) c.dmrs.ids = v.at("nid").template get<std::vector<int>>();
  c.rnti = integer("rnti", 1);
  if (const int id = integer("dnid", -1); id >= 0) c.scrambling_id = id;
  return c;
}
template <class Json>
std::complex<float> complex_of(const Json& re, const Json& im) {
  return {re.template get<float>(), im.template get<float>()};
}

TEST(nr_dmrs, equals_other_programs) {
  const auto document = nr_vectors("pusch_dmrs.json");
  NR_SKIP_WITHOUT(document);
  for (const auto& v : document.at("vectors")) {
    const nr_shared_channel channel(config_of(v.at("config")));
    const nr_channel_config& c = channel.config();
    SCOPED_TRACE(v.at("id").dump());
    EXPECT_EQ(channel.dmrs_symbols(), v.at("dmrs_symbols").get<std::vector<int>>());
    EXPECT_EQ(c.dmrs.ports, v.at("dmrs_ports").get<std::vector<int>>());
    std::vector<std::int64_t> init;
    for (const int l : channel.dmrs_symbols()) init.push_back(nr_dmrs_init(c.carrier, l, c.dmrs));
    EXPECT_EQ(init, v.at("c_init").get<std::vector<std::int64_t>>());
    EXPECT_NEAR(c.dmrs.beta(), v.at("beta").get<float>(), close);
    for (int layer = 0; layer < c.layers; layer++) {
      complexes expected(channel.elements());
      for (const auto& e : v.at("dmrs").at(static_cast<std::size_t>(layer)))
        expected[static_cast<std::size_t>(e.at(0).get<int>() * c.carrier.subcarriers() +
                                          e.at(1).get<int>())] = complex_of(e.at(2), e.at(3));
      const complexes ours = channel.dmrs(layer);
      for (std::size_t k = 0; k < ours.size(); k++) EXPECT_LT(std::abs(ours[k] - expected[k]), close) << k;
    }
  }
}

TEST(nr_codebook, equals_other_programs) {
  const auto document = nr_vectors("pusch_codebook.json");
  NR_SKIP_WITHOUT(document);
  int rows = 0;
  for (const auto& v : document.at("vectors")) {
    const int ports = v.at("ports"), layers = v.at("layers");
    const complexes w = nr_precoder(ports, layers, v.at("tpmi"));
    for (int p = 0; p < ports; p++)
      for (int l = 0; l < layers; l++) {
        const auto& e = v.at("w").at(static_cast<std::size_t>(p)).at(static_cast<std::size_t>(l));
        EXPECT_LT(std::abs(w[static_cast<std::size_t>(p * layers + l)] - complex_of(e.at(0), e.at(1))), close)
            << v.dump();
      }
    rows++;
  }
  EXPECT_GT(rows, 0);
}

TEST(nr_codebook, has_the_matrices_of_the_standard) {
  const int counts[4][3] = {{2, 1, 6}, {2, 2, 3}, {4, 1, 28}, {4, 2, 22}};
  for (const auto& c : counts) EXPECT_EQ(nr_precoders(c[0], c[1]), c[2]);
  EXPECT_EQ(nr_precoders(4, 3) + nr_precoders(4, 4) + nr_precoders(1, 1), 7 + 5 + 1);
  EXPECT_EQ(nr_precoders(3, 1) + nr_precoders(2, 3) + nr_precoders(0, 0), 0);
  for (const int ports : {1, 2, 4})
    for (int layers = 1; layers <= ports; layers++) {
      std::set<std::string> seen;
      for (int tpmi = 0; tpmi < nr_precoders(ports, layers); tpmi++) {
        const complexes w = nr_precoder(ports, layers, tpmi);
        std::string text;
        double power = 0;
        for (const auto& x : w)
          power += std::norm(x), text += std::to_string(x.real()) + std::to_string(x.imag());
        EXPECT_LE(power, 1 + 1e-6);
        EXPECT_TRUE(seen.insert(text).second) << "twice: " << tpmi;
        for (int a = 0; a < layers; a++)  // columns are orthogonal
          for (int b = 0; b < a; b++) {
            std::complex<double> product = 0;
            for (int p = 0; p < ports; p++)
              product += std::conj(std::complex<double>(w[static_cast<std::size_t>(p * layers + a)])) *
                         std::complex<double>(w[static_cast<std::size_t>(p * layers + b)]);
            EXPECT_LT(std::abs(product), 1e-6);
          }
      }
    }
}

TEST(nr_dmrs, positions_follow_the_tables) {
  using list = std::vector<int>;
  struct row {
    nr_direction direction;
    nr_mapping mapping;
    int length, first, symbols;
    list positions[4];  // by additional positions; empty: refused
  };
  const auto up = nr_direction::uplink, down = nr_direction::downlink;
  const auto a = nr_mapping::type_a, b = nr_mapping::type_b;
  const row rows[] = {{up, a, 1, 0, 4, {{2}, {2}, {2}, {2}}},
                      {up, a, 1, 0, 7, {{2}, {2}, {2}, {2}}},
                      {up, a, 1, 0, 8, {{2}, {2, 7}, {2, 7}, {2, 7}}},
                      {up, a, 1, 0, 11, {{2}, {2, 9}, {2, 6, 9}, {2, 6, 9}}},
                      {up, a, 1, 0, 12, {{2}, {2, 9}, {2, 6, 9}, {2, 5, 8, 11}}},
                      {down, a, 1, 2, 10, {{2}, {2, 9}, {2, 6, 9}, {2, 5, 8, 11}}},
                      {up, a, 1, 0, 13, {{2}, {2, 11}, {2, 7, 11}, {2, 5, 8, 11}}},
                      {up, b, 1, 3, 1, {{3}, {3}, {3}, {3}}},
                      {up, b, 1, 0, 5, {{0}, {0, 4}, {0, 4}, {0, 4}}},
                      {up, b, 1, 2, 9, {{2}, {2, 8}, {2, 5, 8}, {2, 5, 8}}},
                      {up, b, 1, 0, 11, {{0}, {0, 8}, {0, 4, 8}, {0, 3, 6, 9}}},
                      {up, b, 1, 0, 14, {{0}, {0, 10}, {0, 5, 10}, {0, 3, 6, 9}}},
                      {up, a, 2, 0, 4, {{2, 3}, {2, 3}, {}, {}}},
                      {up, a, 2, 0, 12, {{2, 3}, {2, 3, 8, 9}, {}, {}}},
                      {up, a, 2, 0, 14, {{2, 3}, {2, 3, 10, 11}, {}, {}}},
                      {up, b, 2, 1, 8, {{1, 2}, {1, 2, 6, 7}, {}, {}}},
                      {up, b, 2, 0, 12, {{0, 1}, {0, 1, 9, 10}, {}, {}}},
                      {down, a, 1, 0, 3, {{2}, {2}, {2}, {2}}},
                      {down, a, 1, 0, 14, {{2}, {2, 11}, {2, 7, 11}, {2, 5, 8, 11}}},
                      {down, b, 1, 0, 2, {{0}, {0}, {0}, {0}}},
                      {down, b, 1, 0, 8, {{0}, {0, 6}, {0, 3, 6}, {0, 3, 6}}},
                      {down, b, 1, 0, 9, {{0}, {0, 7}, {0, 4, 7}, {0, 4, 7}}},
                      {down, b, 1, 0, 13, {{0}, {0, 9}, {0, 5, 9}, {0, 3, 6, 9}}},
                      {down, b, 2, 0, 13, {{0, 1}, {0, 1, 8, 9}, {}, {}}}};
  for (const row& r : rows)
    for (int more = 0; more < 4; more++) {
      const nr_dmrs_config d{.length = r.length, .additional_positions = more};
      const auto found = [&] { return nr_dmrs_symbols(r.direction, r.mapping, r.first, r.symbols, d); };
      if (r.positions[more].empty())
        EXPECT_EQ(blamed(found), "dmrs_additional_positions");
      else
        EXPECT_EQ(found(), r.positions[more]) << r.symbols << " symbols, " << more << " more";
    }
}

TEST(nr_carrier, numerologies) {
  const ofdm_numerology n = nr_numerology({.spacing_khz = 30, .resource_blocks = 273});
  EXPECT_EQ(n.fft_size, 4096);
  EXPECT_EQ(n.subcarriers, 3276);
  EXPECT_EQ(n.cyclic_prefix, 288);
  EXPECT_EQ(n.first_cyclic_prefix, 288 + 64);  // 16 samples at 30.72 MHz are 64 at 122.88 MHz
  for (const int khz : {15, 30, 60, 120}) {
    const nr_carrier carrier{.spacing_khz = khz, .resource_blocks = 20};
    const ofdm_numerology m = nr_numerology(carrier);
    check(m);
    EXPECT_DOUBLE_EQ(m.slot_us(), 500);
    EXPECT_EQ(m.symbols_per_slot, 7 * khz / 15);
    EXPECT_EQ(carrier.slots_per_frame(), 10 * khz / 15);
    EXPECT_NEAR(carrier.grid().period_us() * 14 * khz / 15, 1000, 1e-9);
    check(carrier.grid());
  }
  const ofdm_numerology extended =
      nr_numerology({.spacing_khz = 60, .resource_blocks = 20, .extended_prefix = true});
  EXPECT_DOUBLE_EQ(extended.slot_us(), 500);
  EXPECT_EQ(extended.symbols_per_slot, 24);
  EXPECT_EQ(blamed([] { nr_numerology({.resource_blocks = 25}, 256); }), "fft_size");
  EXPECT_EQ(blamed([] { nr_numerology({.resource_blocks = 25}, 1000); }), "fft_size");
  EXPECT_EQ(blamed([] { check(nr_carrier{.spacing_khz = 30, .extended_prefix = true}); }), "extended_prefix");
  EXPECT_EQ(blamed([] { check(nr_carrier{.slot = 20}); }), "slot");
}

TEST(nr_shared_channel, bad_settings_are_named) {
  const auto blamed_setting = [](nr_channel_config c) {
    return blamed([&] { completed(c); }, [&] { nr_shared_channel{c}; });
  };
  EXPECT_EQ(blamed_setting({.carrier = {.resource_blocks = 20}, .first_block = 5, .blocks = 16}), "blocks");
  EXPECT_EQ(blamed_setting({.carrier = {.resource_blocks = 20}, .first_block = 20}), "first_block");
  EXPECT_EQ(blamed_setting({.carrier = {.spacing_khz = 20}}), "spacing_khz");
  EXPECT_EQ(blamed_setting({.layers = 5}), "layers");
  EXPECT_EQ(blamed_setting({.direction = nr_direction::downlink, .layers = 9}), "layers");
  EXPECT_EQ(blamed_setting({.layers = 3, .antenna_ports = 2, .tpmi = 0}), "layers");
  EXPECT_EQ(blamed_setting({.layers = 1, .antenna_ports = 2}), "antenna_ports");
  EXPECT_EQ(blamed_setting({.layers = 1, .antenna_ports = 3, .tpmi = 0}), "antenna_ports");
  EXPECT_EQ(blamed_setting({.layers = 1, .antenna_ports = 2, .tpmi = 6}), "tpmi");
  EXPECT_EQ(blamed_setting({.direction = nr_direction::downlink, .antenna_ports = 2, .tpmi = 0}), "tpmi");
  EXPECT_EQ(blamed_setting({.layers = 2, .dmrs = {.ports = {1, 1}}}), "dmrs_ports");
  EXPECT_EQ(blamed_setting({.layers = 2, .dmrs = {.ports = {1}}}), "dmrs_ports");
  EXPECT_EQ(blamed_setting({.dmrs = {.ports = {4}}}), "dmrs_ports");
  EXPECT_EQ(blamed_setting({.dmrs = {.cdm_groups = 1, .ports = {2}}}), "dmrs_ports");  // collides with data
  EXPECT_EQ(blamed_setting({.dmrs = {.cdm_groups = 3}}), "dmrs_cdm_groups");
  EXPECT_EQ(blamed_setting({.dmrs = {.type = 3}}), "dmrs_type");
  EXPECT_EQ(blamed_setting({.dmrs = {.ids = {5}}}), "dmrs_ids");
  EXPECT_EQ(blamed_setting({.dmrs = {.length = 2, .additional_positions = 2}}), "dmrs_additional_positions");
  EXPECT_EQ(blamed_setting({.dmrs = {.additional_positions = 3, .first_symbol = 3}}),
            "dmrs_additional_positions");
  for (const int first : {1, 2, 3}) {  // with mapping A; TS 38.214 tables 6.1.2.1-1 and 5.1.2.1-1
    const nr_dmrs_config dmrs{.first_symbol = 3};
    EXPECT_EQ(blamed_setting({.first_symbol = first, .dmrs = dmrs}), "first_symbol") << first;
    EXPECT_EQ(blamed_setting(
                  {.direction = nr_direction::downlink, .first_symbol = first, .symbols = 5, .dmrs = dmrs}),
              "");
    EXPECT_EQ(blamed_setting({.mapping = nr_mapping::type_b, .first_symbol = first}), "");
  }
  EXPECT_EQ(blamed_setting({.direction = nr_direction::downlink, .first_symbol = 3}), "first_symbol");
  EXPECT_EQ(blamed_setting({.first_symbol = 0, .symbols = 3}), "symbols");
  EXPECT_EQ(blamed_setting({.mapping = nr_mapping::type_b, .first_symbol = 10, .symbols = 5}), "symbols");
  EXPECT_EQ(blamed_setting({.mapping = nr_mapping::type_b, .first_symbol = 10, .symbols = 1}),
            "symbols");  // no data
  EXPECT_EQ(blamed_setting({.rnti = 65536}), "rnti");
  EXPECT_EQ(blamed_setting({.layers = 2, .transform_precoding = true}), "layers");
  EXPECT_EQ(blamed_setting({.dmrs = {.type = 2}, .transform_precoding = true}), "dmrs_type");
  EXPECT_EQ(blamed_setting({.dmrs = {.cdm_groups = 1}, .transform_precoding = true}), "dmrs_cdm_groups");
  EXPECT_EQ(blamed_setting({.direction = nr_direction::downlink, .transform_precoding = true}),
            "transform_precoding");
  EXPECT_EQ(blamed_setting({.pi2_bpsk = true}), "pi2_bpsk");
  EXPECT_EQ(blamed_setting({.dmrs = {.hopping = nr_dmrs_hopping::group}}), "dmrs_hopping");
  EXPECT_EQ(blamed_setting({.dmrs = {.low_papr_id = 4}}), "dmrs_low_papr_id");
  EXPECT_EQ(blamed_setting({.dmrs = {.low_papr_id = 1008}, .transform_precoding = true}), "dmrs_low_papr_id");
  int allowed = 0;
  for (int blocks = 1; blocks <= 275; blocks++) {
    const std::string blame =
        blamed([&] { completed({.carrier = {.resource_blocks = blocks}, .transform_precoding = true}); });
    allowed += blame.empty();
  }
  EXPECT_EQ(allowed, 53);  // the numbers 2^a 3^b 5^c up to 275
  const nr_shared_channel bpsk({.transform_precoding = true, .pi2_bpsk = true});
  EXPECT_EQ(bpsk.transport(1, 1).modulation_order, 1);
  EXPECT_EQ(bpsk.transport(2, 5).modulation_order, 1);
  EXPECT_EQ(blamed([&] { bpsk.transport(1, 2); }), "mcs");
  EXPECT_EQ(blamed([&] { bpsk.transport(2, 6); }), "mcs");
  EXPECT_EQ(blamed([&] { bpsk.transport(3, 0); }), "table");
  EXPECT_EQ(blamed_setting({.carrier = {.resource_blocks = 20}, .blocks = 2, .physical_blocks = {4, 20}}),
            "physical_blocks");
  EXPECT_EQ(blamed_setting({.carrier = {.resource_blocks = 20}, .blocks = 2, .physical_blocks = {4, 4}}),
            "physical_blocks");
  EXPECT_EQ(blamed_setting({.first_block = 3, .blocks = 2, .physical_blocks = {4, 5}}), "first_block");
  // A completed allocation still follows its first block.
  nr_channel_config moved = completed({.carrier = {.resource_blocks = 20}, .blocks = 2});
  moved.first_block = 5;
  EXPECT_EQ(nr_blocks_of(moved), (std::vector<int>{5, 6}));
  EXPECT_EQ(nr_shared_channel(moved).data_places()[0], 5 * 12);
  const nr_shared_channel pusch({});
  EXPECT_EQ(blamed([&] { pusch.transport(1, 29); }), "rate_x1024");
  EXPECT_EQ(blamed([&] { pusch.transport(5, 0); }), "table");
  EXPECT_EQ(blamed([&] { pusch.transport(1, 0, 1); }), "codeword");
}

/// PDSCH and PUSCH of many kinds, with what they are mapped round.
std::vector<nr_channel_config> drawn_channels(int count) {
  std::mt19937 random(21);
  const auto draw = [&](int least, int greatest) {
    return least + static_cast<int>(random() % static_cast<unsigned>(greatest - least + 1));
  };
  std::vector<nr_channel_config> channels;
  while (static_cast<int>(channels.size()) < count) {
    nr_channel_config c;
    c.direction = draw(0, 3) == 0 ? nr_direction::uplink : nr_direction::downlink;
    c.carrier = {
        .resource_blocks = draw(4, 20), .first_resource_block = draw(0, 9), .cell_id = draw(0, 1007)};
    c.rnti = draw(1, 65535);
    c.mapping = draw(0, 1) == 0 ? nr_mapping::type_a : nr_mapping::type_b;
    c.first_symbol = c.mapping == nr_mapping::type_b         ? draw(0, 6)
                     : c.direction == nr_direction::downlink ? draw(0, 2)
                                                             : 0;
    c.symbols = draw(4, 13 - c.first_symbol);
    c.dmrs = {.type = draw(1, 2), .length = draw(1, 2), .additional_positions = draw(0, 1)};
    c.dmrs.cdm_groups = draw(1, c.dmrs.type + 1);
    c.dmrs.ports = {draw(0, 2 * c.dmrs.cdm_groups - 1)};
    if (draw(0, 1) == 0) {
      const std::vector<int> blocks =
          nr_interleaved_blocks(c.carrier.first_resource_block, c.carrier.resource_blocks, 2 * draw(1, 2));
      const int first = draw(0, c.carrier.resource_blocks - 1);
      c.blocks = draw(1, c.carrier.resource_blocks - first);
      c.physical_blocks.assign(blocks.begin() + first, blocks.begin() + first + *c.blocks);
    } else {
      c.first_block = draw(0, c.carrier.resource_blocks - 1);
    }
    if (draw(0, 1) == 0)
      c.ptrs = {.time_density = 1 << draw(0, 2),
                .frequency_density = 2 * draw(1, 2),
                .offset = draw(0, 3),
                .power_db = draw(-3, 6) * 1.};
    c.carrier.slot = draw(0, 9), c.dmrs.scid = draw(0, 1);
    if (draw(0, 1) == 0) c.dmrs.ids = {draw(0, 65535), draw(0, 65535)};
    for (int parts = c.direction == nr_direction::downlink ? draw(0, 4) : 0; parts > 0; parts--) {
      nr_reserved r{.first_block = draw(0, c.carrier.resource_blocks - 1), .first_symbol = draw(0, 13)};
      r.blocks = draw(1, c.carrier.resource_blocks - r.first_block);
      r.symbols = draw(1, std::min(3, 14 - r.first_symbol));
      c.reserved.push_back(r);
    }
    const std::string blame = blamed([&] { completed(c); });
    if (blame.empty()) channels.push_back(c);
  }
  return channels;
}
oracle::nr_slot as_oracle(const nr_shared_channel& channel) {
  const nr_channel_config& c = channel.config();
  std::vector<int> blocks = c.physical_blocks;
  for (int b = c.first_block; c.physical_blocks.empty() && b < c.carrier.resource_blocks; b++)
    blocks.push_back(b);
  oracle::nr_slot s{c.carrier.resource_blocks,
                    c.carrier.first_resource_block,
                    blocks,
                    c.first_symbol,
                    *c.symbols,
                    channel.dmrs_symbols(),
                    c.dmrs.type,
                    c.dmrs.length,
                    c.dmrs.cdm_groups,
                    {},
                    c.ptrs.time_density.value_or(0),
                    c.ptrs.frequency_density,
                    c.ptrs.offset,
                    c.dmrs.ports[static_cast<std::size_t>(c.ptrs.layer)],
                    c.rnti};
  for (const nr_reserved& r : c.reserved)
    s.reserved.push_back({r.first_block, r.blocks, r.first_symbol, r.symbols});
  return s;
}

// Data are mapped round DMRS, PTRS and reserved parts, which the oracle takes from the clauses.
TEST(nr_shared_channel, mapping_equals_the_oracle) {
  int reserved = 0, tracked = 0;
  for (const nr_channel_config& config : drawn_channels(400)) {
    const nr_shared_channel channel(config);
    const nr_channel_config& c = channel.config();
    const oracle::nr_slot s = as_oracle(channel);
    ASSERT_EQ(std::vector<int>(channel.data_places().begin(), channel.data_places().end()),
              oracle::nr_data_elements(s));
    const auto places = oracle::nr_ptrs_elements(s);
    const std::int64_t number = 14 * c.carrier.slot + channel.dmrs_symbols()[0] + 1, scid = c.dmrs.scid,
                       id = c.dmrs.ids[static_cast<std::size_t>(scid)];
    const std::int64_t init = (131072 * number * (2 * id + 1) + 2 * id + scid) % 2147483648;
    const auto values = oracle::nr_ptrs_values(s, init, std::pow(10, c.ptrs.power_db / 20));
    std::vector<std::complex<double>> expected(channel.elements());
    for (std::size_t i = 0; i < places.size(); i++) expected[static_cast<std::size_t>(places[i])] = values[i];
    const complexes found = channel.ptrs();
    for (std::size_t e = 0; e < expected.size(); e++)
      ASSERT_LT(std::abs(std::complex<double>(found[e]) - expected[e]), close) << e;
    reserved += !c.reserved.empty();
    tracked += !places.empty();
  }
  EXPECT_GT(reserved, 50);
  EXPECT_GT(tracked, 100);
}

// Transport block sizes do not depend on what is reserved, and coded bits do.
TEST(nr_shared_channel, reserved_parts_take_coded_bits_alone) {
  nr_channel_config c{.direction = nr_direction::downlink, .carrier = {.resource_blocks = 24}};
  const nr_transport_config whole = nr_shared_channel(c).transport(1, 5);
  c.reserved = {{2, 20, 6, 4}};
  const nr_transport_config round = nr_shared_channel(c).transport(1, 5);
  EXPECT_EQ(round.transport_bits, whole.transport_bits);
  EXPECT_EQ(round.coded_bits, whole.coded_bits - 2 * 20 * 12 * 4);
  c.reserved.push_back({0, 22, 6, 4});  // overlaps the first
  EXPECT_EQ(nr_shared_channel(c).transport(1, 5).coded_bits, whole.coded_bits - 2 * 22 * 12 * 4);
}

TEST(nr_shared_channel, what_is_reserved_is_named) {
  const auto blamed_for = [](std::vector<nr_reserved> reserved, nr_direction direction) {
    return blamed([&] {
      completed(
          {.direction = direction, .carrier = {.resource_blocks = 10}, .blocks = 6, .reserved = reserved});
    });
  };
  const auto down = nr_direction::downlink;
  EXPECT_EQ(blamed_for({{0, 10, 0, 2}, {0, 10, 3, 10}}, down), "");
  EXPECT_EQ(blamed_for({{0, 10, 0, 2}, {0, 10, 3, 11}}, down), "symbols");  // no data
  EXPECT_EQ(blamed_for({{6, 4, 0, 14}}, down), "");                         // beside the allocation
  EXPECT_EQ(blamed_for({{0, 1, 0, 1}}, nr_direction::uplink), "reserved");
  EXPECT_EQ(blamed_for({{5, 1, 2, 1}}, down), "reserved");  // DMRS
  EXPECT_EQ(blamed_for({{0, 11, 0, 1}}, down), "reserved");
  EXPECT_EQ(blamed_for({{0, 1, 13, 2}}, down), "reserved");
  EXPECT_EQ(blamed_for({{-1, 1, 0, 1}}, down), "reserved");
  EXPECT_EQ(blamed_for({{0, 0, 0, 1}}, down), "reserved");
  const auto blamed_ptrs = [](nr_ptrs_config ptrs, nr_dmrs_config dmrs) {
    return blamed([&] { completed({.carrier = {.resource_blocks = 10}, .dmrs = dmrs, .ptrs = ptrs}); });
  };
  EXPECT_EQ(blamed_ptrs({.time_density = 3}, {}), "ptrs_time_density");
  EXPECT_EQ(blamed_ptrs({.frequency_density = 3}, {}), "ptrs_frequency_density");
  EXPECT_EQ(blamed_ptrs({.time_density = 1, .layer = 1}, {}), "ptrs_layer");
  EXPECT_EQ(blamed_ptrs({.time_density = 1}, {.length = 2, .ports = {4}}), "ptrs_layer");
  EXPECT_EQ(blamed_ptrs({.time_density = 1}, {.type = 2, .cdm_groups = 3, .ports = {4}}), "");
  EXPECT_EQ(blamed([] { completed({.ptrs = {.time_density = 1}, .transform_precoding = true}); }),
            "ptrs_time_density");
  nr_channel_config c = completed({.direction = down, .carrier = {.resource_blocks = 10}, .blocks = 6});
  EXPECT_TRUE(nr_can_be_mapped(c));
  c.reserved = {{5, 1, 2, 1}};
  EXPECT_FALSE(nr_can_be_mapped(c));
  c.reserved = {{0, 10, 0, 2}, {0, 10, 3, 11}};  // DMRS alone are left
  EXPECT_FALSE(nr_can_be_mapped(c));
  for (const nr_reserved& part :
       {nr_reserved{0, 300, 0, 1}, nr_reserved{-1, 1, 0, 1}, nr_reserved{0, 1, 13, 2}}) {
    c.reserved = {part};
    EXPECT_EQ(blamed([&] { nr_can_be_mapped(c); }), "reserved");
  }
  EXPECT_EQ(blamed([] { nr_can_be_mapped({}); }), "symbols");
}

TEST(nr_ptrs, symbols_by_hand) {
  using list = std::vector<int>;
  EXPECT_EQ(nr_ptrs_symbols(0, 14, {2}, 1, 1), (list{0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}));
  EXPECT_EQ(nr_ptrs_symbols(0, 14, {2}, 2, 1), (list{0, 4, 6, 8, 10, 12}));
  EXPECT_EQ(nr_ptrs_symbols(0, 14, {2, 11}, 4, 1), (list{0, 6, 10}));
  EXPECT_EQ(nr_ptrs_symbols(0, 14, {2, 3}, 2, 2), (list{0, 5, 7, 9, 11, 13}));
  EXPECT_EQ(nr_ptrs_symbols(3, 7, {3}, 4, 1), (list{7}));
  const auto blames = [](const list& dmrs_symbols, int density, int length) {
    return blamed([&] { nr_ptrs_symbols(0, 14, dmrs_symbols, density, length); });
  };
  EXPECT_EQ(blames({2}, 0, 1), "time_density");
  EXPECT_EQ(blames({2}, -1, 1), "time_density");
  EXPECT_EQ(blames({2}, 1, 0), "dmrs_length");
  EXPECT_EQ(blames({2}, 1, 2), "dmrs_symbols");
  EXPECT_EQ(blames({11, 2}, 1, 1), "dmrs_symbols");
}

TEST(nr_interleaved_blocks, equal_the_oracle) {
  for (int first = 0; first < 5; first++)
    for (int blocks = 1; blocks <= 40; blocks++)
      for (const int bundle : {2, 4})
        ASSERT_EQ(nr_interleaved_blocks(first, blocks, bundle), oracle::nr_interleaved(first, blocks, bundle))
            << first << ' ' << blocks;
  EXPECT_EQ(nr_interleaved_blocks(1, 8, 2), (std::vector<int>{0, 3, 4, 1, 2, 5, 6, 7}));
  EXPECT_EQ(blamed([] { nr_interleaved_blocks(0, 8, 3); }), "bundle");
  EXPECT_EQ(blamed([] { nr_interleaved_blocks(0, 0, 2); }), "blocks");
  EXPECT_EQ(blamed([] { nr_interleaved_blocks(2200, 8, 2); }), "first_resource_block");
}

// A CORESET in the first symbols moves DMRS of mapping type B behind it.
TEST(nr_dmrs, begin_behind_a_coreset) {
  const auto symbols_of = [](int first, int symbols, nr_dmrs_config d) {
    return nr_dmrs_symbols(nr_direction::downlink, nr_mapping::type_b, first, symbols, d);
  };
  using list = std::vector<int>;
  EXPECT_EQ(symbols_of(4, 4, {.additional_positions = 2, .delay = 2}), (list{6}));
  EXPECT_EQ(symbols_of(5, 2, {.delay = 1}), (list{6}));
  EXPECT_EQ(symbols_of(5, 7, {.additional_positions = 2, .delay = 1}), (list{6, 10}));
  EXPECT_EQ(symbols_of(4, 7, {.additional_positions = 2, .delay = 2}), (list{6}));
  EXPECT_EQ(symbols_of(4, 7, {.additional_positions = 0, .delay = 1}), (list{5}));
  EXPECT_EQ(blamed([&] { symbols_of(5, 2, {.delay = 2}); }), "dmrs_delay");
  EXPECT_EQ(blamed([&] { symbols_of(4, 4, {.delay = 3}); }), "dmrs_delay");
  EXPECT_EQ(blamed([&] { symbols_of(4, 6, {.delay = 1}); }), "dmrs_delay");
  EXPECT_EQ(blamed([&] { nr_dmrs_symbols(nr_direction::downlink, nr_mapping::type_a, 0, 14, {.delay = 1}); }),
            "dmrs_delay");
  EXPECT_EQ(blamed([&] { nr_dmrs_symbols(nr_direction::uplink, nr_mapping::type_b, 4, 4, {.delay = 1}); }),
            "dmrs_delay");
}

class nr_slots : public on_backend {};
WB_ON_ALL_BACKENDS(nr_slots);

complexes noise_of(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> part;
  complexes x(n);
  for (auto& z : x) {
    const float re = part(random);
    z = {re, part(random)};
  }
  return x;
}

/// Transport block to the grid of one slot.
complexes grid_of(executor& exec, const nr_shared_channel& channel, const nr_transport_config& transport,
                  const bits_t& block) {
  auto coded = exec.make<std::uint8_t>(1, static_cast<std::size_t>(transport.coded_bits));
  nr_transport_encoder(transport).run(exec, given(exec, block, 1), 0, coded);
  const qam_mapper mapper(1 << transport.modulation_order);
  auto symbols = exec.make<std::complex<float>>(1, channel.symbols_of(0));
  mapper.run(exec,
             view<const std::uint8_t>(
                 make_view(coded.data(), symbols.size(), static_cast<std::size_t>(mapper.bits()))),
             make_view(symbols.data(), symbols.size()));
  auto grid = exec.make<std::complex<float>>(channel.elements(), channel.ports());
  channel.map(exec, {symbols}, grid);
  return exec.to_host(grid);
}

// PTRS of a layer leave the antenna ports as the codebook weights the layer.
TEST_P(nr_slots, ptrs_are_precoded) {
  const nr_shared_channel channel({.carrier = {.resource_blocks = 4},
                                   .layers = 2,
                                   .antenna_ports = 4,
                                   .tpmi = 9,
                                   .ptrs = {.time_density = 2, .layer = 1}});
  auto symbols = exec().make<std::complex<float>>(1, channel.symbols_of(0));
  exec().upload(symbols.data(), complexes(symbols.size()).data(), symbols.size() * sizeof(symbols.data()[0]));
  auto grid = exec().make<std::complex<float>>(channel.elements(), 4);
  channel.map(exec(), {symbols}, grid);
  const complexes found = exec().to_host(grid), ptrs = channel.ptrs();
  const auto w = nr_precoder(4, 2, 9);
  int tracked = 0;
  for (std::size_t e = 0; e < ptrs.size(); e++) {
    if (ptrs[e] == 0.f) continue;
    tracked++;
    for (std::size_t p = 0; p < 4; p++)
      EXPECT_LT(std::abs(found[4 * e + p] - w[2 * p + 1] * ptrs[e]), close) << e << ' ' << p;
  }
  EXPECT_EQ(tracked, 2 * 6);  // every second block, in symbols 0, 4, 6, ..., 12
}

TEST_P(nr_slots, equal_other_programs) {
  const auto document = nr_vectors("pusch_grid.json");
  NR_SKIP_WITHOUT(document);
  for (const auto& v : document.at("vectors")) {
    SCOPED_TRACE(v.at("id").dump());
    const auto& config = v.at("config");
    const nr_shared_channel channel(config_of(config));
    const nr_channel_config& c = channel.config();
    const nr_transport_config transport =
        channel.transport(config.contains("table") ? config.at("table").get<int>() : 1, config.at("mcs"));
    EXPECT_EQ(transport.transport_bits, v.at("tbs").get<int>());
    EXPECT_EQ(transport.coded_bits, v.at("G").get<int>());
    EXPECT_EQ(transport.scrambling, v.at("c_init_scrambling").get<std::int64_t>());
    EXPECT_EQ(channel.dmrs_symbols(), v.at("dmrs_symbols").get<std::vector<int>>());
    EXPECT_EQ(channel.data_elements(), v.at("data_symbols_per_layer").get<std::size_t>());
    const complexes grid = grid_of(exec(), channel, transport, from_text(v.at("tb")));
    const std::size_t subcarriers = static_cast<std::size_t>(c.carrier.subcarriers());
    float worst = 0;
    for (std::size_t p = 0; p < channel.ports(); p++)
      for (std::size_t l = 0; l < v.at("n_symbols").get<std::size_t>(); l++)
        for (std::size_t k = 0; k < subcarriers; k++) {
          const auto& e = v.at("grid").at(p).at(l).at(k);
          const std::size_t use = (l + static_cast<std::size_t>(c.first_symbol)) * subcarriers + k;
          worst = std::max(worst, std::abs(grid[use * channel.ports() + p] - complex_of(e.at(0), e.at(1))));
        }
    EXPECT_LT(worst, close);
  }
}

/// What is mapped comes back, where the standard says; everything else is DMRS or 0.
TEST_P(nr_slots, come_back) {
  const nr_channel_config configs[] = {
      {.carrier = {.resource_blocks = 6, .first_resource_block = 3},
       .first_block = 2,
       .blocks = 3,
       .layers = 2,
       .dmrs = {.type = 2, .cdm_groups = 1}},
      {.direction = nr_direction::downlink,
       .carrier = {.spacing_khz = 60, .resource_blocks = 2, .extended_prefix = true},
       .layers = 4,
       .dmrs = {.length = 2, .ports = {0, 5, 2, 7}}},
      {.direction = nr_direction::downlink,
       .carrier = {.resource_blocks = 3},
       .mapping = nr_mapping::type_b,
       .first_symbol = 4,
       .symbols = 7,
       .layers = 7,
       .dmrs = {.length = 2, .ports = {0, 1, 2, 3, 4, 5, 6}}},
      {.direction = nr_direction::downlink,
       .carrier = {.resource_blocks = 9, .first_resource_block = 5},
       .blocks = 6,
       .physical_blocks = {7, 8, 1, 2, 5, 6},
       .layers = 2,
       .dmrs = {.type = 2, .additional_positions = 1, .cdm_groups = 3, .ports = {4, 2}},
       .ptrs = {.time_density = 2, .offset = 2, .layer = 1, .power_db = 3},
       .reserved = {{0, 4, 0, 2}, {5, 2, 9, 2}},
       .rnti = 17}};
  constexpr std::size_t slots = 3;
  for (const nr_channel_config& config : configs) {
    const nr_shared_channel channel(config);
    const nr_channel_config& c = channel.config();
    std::vector<complexes> sent;
    std::vector<array<std::complex<float>>> symbols;
    std::vector<view<const std::complex<float>>> views;
    for (int q = 0; q < channel.codewords(); q++) {
      sent.push_back(noise_of(slots * channel.symbols_of(q), static_cast<unsigned>(7 + q)));
      symbols.push_back(on_device(exec(), sent.back(), slots, channel.symbols_of(q)));
    }
    for (const auto& s : symbols) views.push_back(s);
    auto grid =
        exec().make<std::complex<float>>(slots * channel.elements(), channel.ports(), layout::batch_fastest);
    channel.map(exec(), views, grid);
    auto data = exec().make<std::complex<float>>(slots * channel.data_elements(), channel.ports());
    channel.extract(exec(), grid, data);
    const complexes back = exec().to_host(data), whole = exec().to_host(grid);
    const std::size_t n = channel.data_elements();
    for (std::size_t slot = 0; slot < slots; slot++)
      for (std::size_t j = 0; j < n; j++)
        for (int l = 0; l < c.layers; l++) {
          const int q = l < channel.layers_of(0) ? 0 : 1;
          const std::size_t layers = static_cast<std::size_t>(channel.layers_of(q)),
                            layer = static_cast<std::size_t>(l - channel.first_layer_of(q));
          ASSERT_EQ(back[(slot * n + j) * channel.ports() + static_cast<std::size_t>(l)],
                    sent[static_cast<std::size_t>(q)][slot * n * layers + j * layers + layer]);
        }
    const std::set<std::int32_t> places(channel.data_places().begin(), channel.data_places().end());
    EXPECT_EQ(places.size(), n);
    std::size_t others = 0;
    for (std::size_t p = 0; p < channel.ports(); p++) {
      complexes dmrs = channel.dmrs(static_cast<int>(p));
      if (static_cast<int>(p) == c.ptrs.layer) {
        const complexes ptrs = channel.ptrs();
        for (std::size_t k = 0; k < dmrs.size(); k++) {
          EXPECT_TRUE(dmrs[k] == 0.f || ptrs[k] == 0.f) << "PTRS and DMRS collide";
          dmrs[k] += ptrs[k];
        }
      }
      for (std::size_t use = 0; use < slots * channel.elements(); use++) {
        const std::size_t k = use % channel.elements();
        if (places.count(static_cast<std::int32_t>(k))) {
          EXPECT_EQ(dmrs[k], std::complex<float>(0)) << "data and DMRS collide";
          continue;
        }
        EXPECT_EQ(whole[p * slots * channel.elements() + use], dmrs[k]);
        others++;
      }
    }
    EXPECT_GT(others, 0u);
  }
}

TEST_P(nr_slots, same_bits_on_every_backend) {
  const nr_shared_channel channel({.carrier = {.resource_blocks = 4},
                                   .layers = 2,
                                   .antenna_ports = 4,
                                   .tpmi = 17,
                                   .dmrs = {.additional_positions = 2}});
  const complexes sent = noise_of(2 * channel.symbols_of(0), 3);
  const auto grid_on = [&](executor& exec) {
    auto grid = exec.make<std::complex<float>>(2 * channel.elements(), channel.ports());
    channel.map(exec, {on_device(exec, sent, 2, channel.symbols_of(0))}, grid);
    return exec.to_host(grid);
  };
  const complexes ours = grid_on(exec()), scalar = grid_on(*open_scalar());
  ASSERT_EQ(ours.size(), scalar.size());
  EXPECT_EQ(std::memcmp(ours.data(), scalar.data(), ours.size() * sizeof ours[0]), 0);
}

TEST(nr_shared_channel, refuses_other_shapes) {
  const auto exec = open_scalar();
  const nr_shared_channel channel({.carrier = {.resource_blocks = 2}});
  auto symbols = exec->make<std::complex<float>>(1, channel.symbols_of(0));
  auto grid = exec->make<std::complex<float>>(channel.elements(), 1),
       longer = exec->make<std::complex<float>>(400, 1);
  EXPECT_THROW(channel.map(*exec, {symbols}, longer), shape_error);
  EXPECT_THROW(channel.map(*exec, {grid}, grid), shape_error);
  EXPECT_EQ(blamed([&] { channel.map(*exec, {symbols, symbols}, grid); }), "symbols");
  EXPECT_THROW(channel.extract(*exec, longer, symbols), shape_error);
  EXPECT_THROW(channel.extract(*exec, grid, grid), shape_error);
}

using precise = std::complex<double>;

/// Rows of n values as an array with another order in memory.
array<std::complex<float>> batch_fastest_of(executor& exec, const complexes& rows, std::size_t items,
                                            std::size_t n) {
  complexes values(rows.size());
  for (std::size_t i = 0; i < items; i++)
    for (std::size_t e = 0; e < n; e++) values[e * items + i] = rows[i * n + e];
  return on_device(exec, values, items, n, layout::batch_fastest);
}

/// The DFT of transform precoding, as it is written.
std::vector<precise> transform_of(const std::vector<precise>& d, std::size_t m, int sign) {
  std::vector<precise> x(d.size());
  for (std::size_t k = 0; k < d.size(); k++)
    for (std::size_t n = 0; n < m; n++)
      x[k] +=
          d[k / m * m + n] * std::polar(1 / std::sqrt(static_cast<double>(m)),
                                        sign * 2 * std::numbers::pi * static_cast<double>(n * (k % m) % m) /
                                            static_cast<double>(m));
  return x;
}

const std::vector<nr_channel_config>& precoded_channels() {
  static const std::vector<nr_channel_config> list{
      {.carrier = {.resource_blocks = 1, .cell_id = 5}, .transform_precoding = true},
      {.carrier = {.resource_blocks = 20, .first_resource_block = 7, .slot = 3},
       .first_block = 3,
       .blocks = 15,
       .dmrs =
           {.additional_positions = 1, .ports = {3}, .hopping = nr_dmrs_hopping::sequence, .low_papr_id = 99},
       .transform_precoding = true},
      {.carrier = {.spacing_khz = 15, .resource_blocks = 10, .cell_id = 1007, .slot = 9},
       .mapping = nr_mapping::type_b,
       .first_symbol = 3,
       .symbols = 9,
       .antenna_ports = 4,
       .tpmi = 17,
       .dmrs = {.length = 2, .additional_positions = 1, .ports = {6}, .hopping = nr_dmrs_hopping::group},
       .transform_precoding = true,
       .pi2_bpsk = true}};
  return list;
}

/// What is sent with transform precoding is as the standard writes it.
TEST_P(nr_slots, transform_precoding_equals_its_formula) {
  NR_SKIP_WITHOUT_FFT();
  constexpr std::size_t slots = 2;
  for (const nr_channel_config& config : precoded_channels()) {
    const nr_shared_channel channel(config);
    const nr_channel_config& c = channel.config();
    const std::size_t n = channel.data_elements(), m = 12 * static_cast<std::size_t>(*c.blocks);
    const complexes sent = noise_of(slots * n, 5);
    std::vector<precise> d(sent.begin(), sent.end());
    if (c.pi2_bpsk)
      for (std::size_t i = 1; i < d.size(); i += 2) d[i] *= precise(0, 1);
    const std::vector<precise> x = transform_of(d, m, -1);
    auto grid = exec().make<std::complex<float>>(slots * channel.elements(), channel.ports());
    channel.map(exec(), {batch_fastest_of(exec(), sent, slots, n)}, grid);
    auto data = exec().make<std::complex<float>>(slots * n, channel.ports());
    channel.extract(exec(), grid, data);
    const complexes found = exec().to_host(data), w = channel.precoder();
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); i++)
      for (std::size_t p = 0; p < channel.ports(); p++)
        worst = std::max(worst, std::abs(precise(found[i * channel.ports() + p]) - precise(w[p]) * x[i]));
    EXPECT_LT(worst, 5e-6) << *c.blocks;
    for (const std::int32_t place : channel.data_places())  // none in symbols with DMRS
      for (const int l : channel.dmrs_symbols()) EXPECT_NE(place / c.carrier.subcarriers(), l);
  }
}

/// Against the equaliser's formulas in double, and H = 1 without noise.
TEST_P(nr_slots, equaliser_equals_its_formula) {
  constexpr std::size_t slots = 2, rx = 3;
  for (const nr_channel_config& config : precoded_channels()) {
    const nr_shared_channel channel(config);
    const std::size_t n = channel.data_elements(), uses = slots * n,
                      m = 12 * static_cast<std::size_t>(*channel.config().blocks);
    const complexes h = noise_of(uses * rx, 11), y = noise_of(uses * rx, 12);
    std::vector<float> n0(uses);
    for (std::size_t i = 0; i < uses; i++) n0[i] = 0.1f + 0.01f * static_cast<float>(i % 17);
    std::vector<precise> z(uses);
    std::vector<double> rest(uses / m);
    for (std::size_t i = 0; i < uses; i++) {
      double power = n0[i];
      for (std::size_t r = 0; r < rx; r++) {
        power += std::norm(precise(h[i * rx + r]));
        z[i] += std::conj(precise(h[i * rx + r])) * precise(y[i * rx + r]);
      }
      z[i] /= power;
      rest[i / m] += n0[i] / power / static_cast<double>(m);
    }
    const std::vector<precise> d = transform_of(z, m, 1);
    auto symbols = exec().make<std::complex<float>>(uses, 1),
         ones = exec().make<std::complex<float>>(uses, 1);
    auto noise = exec().make<float>(uses, 1);
    channel.equalise(exec(),
                     {.channel = batch_fastest_of(exec(), h, uses, rx),
                      .received = on_device(exec(), y, uses, rx),
                      .noise_var = on_device(exec(), n0, uses, 1)},
                     {.symbols = symbols, .channel = ones, .noise_var = noise});
    const complexes found = exec().to_host(symbols), one = exec().to_host(ones);
    const std::vector<float> level = exec().to_host(noise);
    for (std::size_t i = 0; i < uses; i++) {
      precise expected = d[i] / (1 - rest[i / m]);
      if (config.pi2_bpsk && i % 2 == 1) expected *= precise(0, -1);
      ASSERT_LT(std::abs(precise(found[i]) - expected), 1e-5) << i;
      ASSERT_NEAR(level[i], rest[i / m] / (1 - rest[i / m]), 1e-6);
      ASSERT_EQ(one[i], 1.f);
    }
  }
}

/// A NaN or a negative N0 spoils its OFDM symbol alone.
TEST_P(nr_slots, equaliser_passes_nan_on) {
  NR_SKIP_WITHOUT_FFT();
  const nr_shared_channel channel({.carrier = {.resource_blocks = 2}, .transform_precoding = true});
  const std::size_t n = channel.data_elements(), m = 24;
  complexes y(n, 1.f);
  y[2 * m + 5] = {std::nanf(""), 0};
  std::vector<float> given(n, 0.1f);
  given[4 * m + 1] = -0.1f;
  given[6 * m] = std::nanf("");
  auto symbols = exec().make<std::complex<float>>(n, 1);
  auto noise = exec().make<float>(n, 1);
  channel.equalise(exec(),
                   {.channel = on_device(exec(), complexes(n, 1.f), n, 1),
                    .received = on_device(exec(), y, n, 1),
                    .noise_var = on_device(exec(), given, n, 1)},
                   {.symbols = symbols, .channel = {}, .noise_var = noise});
  const complexes found = exec().to_host(symbols);
  for (std::size_t i = 0; i < n; i++)
    EXPECT_EQ(std::isnan(std::abs(found[i])), i / m == 2 || i / m == 4 || i / m == 6) << i;
}

/// Group and sequence numbers against other programs, and the values of DMRS against their definition.
TEST(nr_dmrs, low_papr_equals_other_programs) {
  const auto document = nr_vectors("pusch_tp_dmrs.json", "nr_time");
  NR_SKIP_WITHOUT(document);
  for (const auto& v : document.at("vectors")) {
    const std::string hopping = v.at("hopping");
    const int blocks = v.at("prbs");
    const nr_carrier carrier{.resource_blocks = blocks, .slot = v.at("slot")};
    const nr_dmrs_config dmrs{.hopping = hopping == "group"      ? nr_dmrs_hopping::group
                                         : hopping == "sequence" ? nr_dmrs_hopping::sequence
                                                                 : nr_dmrs_hopping::none,
                              .low_papr_id = v.at("n_id_rs").template get<int>()};
    const auto g = nr_low_papr_dmrs(carrier, v.at("symbol"), dmrs, 6 * blocks);
    EXPECT_EQ(g.u, v.at("u").template get<int>()) << v.at("id").dump();
    EXPECT_EQ(g.v, v.at("v").template get<int>()) << v.at("id").dump();
  }
}

TEST(nr_dmrs, low_papr_is_where_the_standard_has_it) {
  for (const nr_channel_config& config : precoded_channels()) {
    const nr_shared_channel channel(config);
    const nr_channel_config& c = channel.config();
    const complexes a = channel.dmrs(0);
    const nr_dmrs_port port = nr_dmrs_port_of(1, c.dmrs.ports[0]);
    const int length = c.dmrs.length, half = 6 * *c.blocks, subcarriers = c.carrier.subcarriers();
    complexes expected(channel.elements());
    for (std::size_t i = 0; i < channel.dmrs_symbols().size(); i++) {
      const int l = channel.dmrs_symbols()[i], first = l - static_cast<int>(i) % length;
      const auto g = nr_low_papr_dmrs(c.carrier, first, c.dmrs, half);
      const auto r = nr_low_papr_sequence(half, g.u, g.v);
      for (int m = 0; m < half; m++) {
        const double weight = std::sqrt(2) * (m % 2 == 1 ? port.frequency : 1) * (l > first ? port.time : 1);
        expected[static_cast<std::size_t>(l * subcarriers + 12 * c.first_block + 2 * m + port.first)] =
            std::complex<float>(weight * r[static_cast<std::size_t>(m)]);
      }
    }
    for (std::size_t k = 0; k < a.size(); k++) ASSERT_LT(std::abs(a[k] - expected[k]), close) << k;
  }
}

/// The constellations of nr_qam, which the mapper of modem/ has.
TEST(nr_qam, equals_other_programs) {
  const auto document = nr_vectors("nr_qam.json");
  NR_SKIP_WITHOUT(document);
  const auto exec = open_scalar();
  int known = 0;
  for (const auto& v : document.at("constellations")) {
    const int m = v.at("Qm");
    const std::size_t points = std::size_t{1} << m;
    bits_t bits;
    for (std::size_t i = 0; i < points; i++)
      for (int b = m - 1; b >= 0; b--) bits.push_back(static_cast<std::uint8_t>(i >> b & 1));
    auto symbols = exec->make<std::complex<float>>(points, 1);
    qam_mapper(static_cast<int>(points)).run(*exec, given(*exec, bits, points), symbols);
    const complexes ours = exec->to_host(symbols);
    for (std::size_t i = 0; i < points; i++) {
      const auto& e = v.at("points").at(i);
      EXPECT_LT(std::abs(ours[i] - complex_of(e.at(0), e.at(1))), close);
    }
    known++;
  }
  EXPECT_EQ(known, 5);
}

TEST(nr_layers, equal_other_programs) {
  const auto document = nr_vectors("nr_layer_mapping.json");
  NR_SKIP_WITHOUT(document);
  const auto exec = open_scalar();
  for (const auto& v : document.at("vectors")) {
    const nr_shared_channel channel({.carrier = {.resource_blocks = 1}, .layers = v.at("layers")});
    complexes numbers(channel.symbols_of(0));
    for (std::size_t i = 0; i < numbers.size(); i++) numbers[i] = static_cast<float>(i);
    auto grid = exec->make<std::complex<float>>(channel.elements(), channel.ports()),
         data = exec->make<std::complex<float>>(channel.data_elements(), channel.ports());
    channel.map(*exec, {on_device(*exec, numbers, 1, numbers.size())}, grid);
    channel.extract(*exec, grid, data);
    const complexes back = exec->to_host(data);
    for (std::size_t l = 0; l < channel.ports(); l++) {
      std::size_t j = 0;
      for (const auto& expected : v.at("symbol_index_per_layer").at(l))
        EXPECT_EQ(back[j++ * channel.ports() + l].real(), expected.get<float>());
    }
  }
}

}  // namespace shared_channel_test
}  // namespace wb
