// From samples to system information: what cells of all pairs of subcarrier spacings send comes back,
// transport blocks are those of another program, and nothing is found in noise.
#include <warpband/receive/downlink.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <fstream>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <tests/downlink_cell.hpp>
#include <tests/json.hpp>
#include <tests/on_backends.hpp>
#include <warpband/nr/pdcch/coreset.hpp>
#include <warpband/ofdm/fft/fft.hpp>

#ifndef WARPBAND_REFDATA
#define WARPBAND_REFDATA ""
#endif

namespace nr_downlink_test {

using namespace wb::testing::downlink_cell;
using wb::testing::blamed;

class nr_downlink : public wb::testing::on_backend {
 protected:
  void SetUp() override {
    on_backend::SetUp();
    if (!IsSkipped() && !wb::has_cpu_fft())
      GTEST_SKIP() << "this build has no FFT for CPUs (WARPBAND_KISSFFT)";
  }
  std::vector<wb::nr_downlink_message> receive(const sent_cell& c, const std::vector<sample>& samples,
                                               std::optional<double> carrier_hz) {
    const wb::nr_downlink d({.sample_rate_hz = c.rate_hz,
                             .spacing_khz = c.spacing_khz,
                             .offset_hz = c.offset_hz,
                             .carrier_hz = carrier_hz});
    const auto on_device = wb::testing::on_device(exec(), samples, 1, samples.size());
    const auto blocks = d.blocks(exec(), samples, on_device, samples.size());
    EXPECT_GE(blocks.size(), 1u);
    return d.messages(exec(), samples, samples.size(), blocks);
  }
};
WB_ON_ALL_BACKENDS(nr_downlink);

// Blocks at 15 and 30 kHz with SIB1 at 15 and 30 kHz: each pair with its own table of CORESET 0.
const std::vector<sent_cell> sent_cells{
    {.rate_hz = 15.36e6,
     .offset_hz = 60e3,
     .cfo_hz = 700,
     .noise_var = 0.2,
     .spacing_khz = 15,
     .cell_id = 77,
     .pattern = wb::ssb_case::a,
     .mib = {.sfn = 512,
             .ssb_index = 1,
             .k_ssb = 5,
             .common_spacing_khz = 15,
             .coreset0 = 7,
             .search_space0 = 0},
     .dci = {.first_block = 3, .blocks = 22, .time_domain = 1, .interleaved = true, .mcs = 3}},
    {.rate_hz = 15.36e6,
     .f0_hz = 806.4e6,
     .cfo_hz = -300,
     .noise_var = 0.2,
     .spacing_khz = 15,
     .cell_id = 1007,
     .first_cce = 0,
     .slots_later = 1,
     .pattern = wb::ssb_case::a,
     .mib = {.sfn = 7,
             .k_ssb = 11,
             .common_spacing_khz = 30,
             .dmrs_first_symbol = 3,
             .coreset0 = 2,
             .search_space0 = 2},
     .dci = {.first_block = 0, .blocks = 24, .time_domain = 0, .mcs = 1, .rv = 0}},
    {.rate_hz = 15.36e6,
     .offset_hz = -1.5e6,
     .f0_hz = 3.489e9,
     .cfo_hz = 1200,
     .noise_var = 0.1,
     .cell_id = 3,
     .mib = {.sfn = 1022,
             .half_frame = 1,
             .ssb_index = 2,
             .k_ssb = 0,
             .common_spacing_khz = 15,
             .coreset0 = 3,
             .search_space0 = 1},
     .dci = {.first_block = 10, .blocks = 30, .time_domain = 4, .interleaved = true, .mcs = 2, .rv = 0}},
    {.rate_hz = 30.72e6,
     .offset_hz = 3.6e6,
     .f0_hz = 3.6e9,
     .cfo_hz = 2000,
     .noise_var = 0.3,
     .cell_id = 810,
     .level = 8,
     .first_cce = 0,
     .pattern = wb::ssb_case::b,
     .mib = {.sfn = 48,
             .ssb_index = 1,
             .k_ssb = 23,
             .common_spacing_khz = 30,
             .coreset0 = 14,
             .search_space0 = 4},
     .dci = {.first_block = 1,
             .blocks = 40,
             .time_domain = 2,
             .interleaved = false,
             .mcs = 0,
             .rv = 0,
             .other_information = true}},
    // An odd index with a search space of two CORESETs a slot, and mapping type B.
    {.rate_hz = 15.36e6,
     .cfo_hz = 400,
     .noise_var = 0.05,
     .cell_id = 41,
     .mib = {.sfn = 300,
             .ssb_index = 3,
             .k_ssb = 2,
             .common_spacing_khz = 30,
             .coreset0 = 1,
             .search_space0 = 1},
     .dci = {.first_block = 2, .blocks = 20, .time_domain = 6, .mcs = 2}},
    // Two symbols of one resource block: its noise is that of the PDCCH.
    {.rate_hz = 15.36e6,
     .cfo_hz = -200,
     .noise_var = 0.005,
     .cell_id = 42,
     .mib = {.sfn = 300, .ssb_index = 0, .common_spacing_khz = 30, .coreset0 = 1, .search_space0 = 0},
     .dci = {.first_block = 7, .blocks = 1, .time_domain = 10, .mcs = 11}},
    // A PDSCH from the CORESET's symbol on.
    {.rate_hz = 15.36e6,
     .offset_hz = 1.5e6,
     .cfo_hz = 300,
     .noise_var = 0.05,
     .spacing_khz = 15,
     .cell_id = 43,
     .pattern = wb::ssb_case::a,
     .mib = {.sfn = 20, .ssb_index = 1, .common_spacing_khz = 15, .coreset0 = 6, .search_space0 = 10},
     .dci = {.first_block = 1, .blocks = 44, .time_domain = 12, .interleaved = true, .mcs = 6}},
    // Mapping type B that begins in the CORESET: DMRS behind it.
    {.rate_hz = 15.36e6,
     .cfo_hz = 500,
     .noise_var = 0.02,
     .cell_id = 44,
     .mib = {.sfn = 21, .ssb_index = 1, .common_spacing_khz = 30, .coreset0 = 5, .search_space0 = 1},
     .dci = {.first_block = 0, .blocks = 24, .time_domain = 14, .mcs = 3}},
    // Other system information beside the SS/PBCH block.
    {.rate_hz = 15.36e6,
     .offset_hz = 1.5e6,
     .cfo_hz = -400,
     .noise_var = 0.02,
     .spacing_khz = 15,
     .cell_id = 45,
     .pattern = wb::ssb_case::a,
     .mib =
         {.sfn = 22, .ssb_index = 1, .k_ssb = 3, .common_spacing_khz = 15, .coreset0 = 6, .search_space0 = 1},
     .dci = {.first_block = 0, .blocks = 48, .time_domain = 3, .mcs = 5, .other_information = true}}};

// What these cells test: PDSCH and PDCCH, PDSCH and SS/PBCH block share symbols and resource blocks.
TEST(nr_downlink_cells, have_resource_elements_without_data) {
  for (const int cell : {43, 44, 45}) {
    const auto c = std::find_if(sent_cells.begin(), sent_cells.end(),
                                [&](const sent_cell& other) { return other.cell_id == cell; });
    ASSERT_NE(c, sent_cells.end());
    wb::nr_channel_config pdsch = pdsch_of(*c);
    const std::size_t round = wb::nr_shared_channel(pdsch).data_elements();
    if (cell == 45) pdsch.reserved.resize(pdsch.reserved.size() - 1);
    if (cell != 45) pdsch.reserved.clear();
    EXPECT_LT(round, wb::nr_shared_channel(pdsch).data_elements()) << cell;
  }
}

TEST_P(nr_downlink, sib1_of_every_pair_of_spacings_comes_back) {
  const bool slow = wb::testing::small_scale() || GetParam().name == "scalar";
  for (const sent_cell& c : sent_cells) {
    if (slow && &c != &sent_cells[0]) break;
    const auto block = random_bits(block_bits(c), 1);
    const auto samples = samples_of(exec(), c, block);
    for (const std::optional<double>& carrier : {std::optional(c.f0_hz), std::optional<double>()}) {
      if (slow && carrier) continue;
      const auto found = receive(c, samples, carrier);
      ASSERT_EQ(found.size(), 1u) << c.cell_id << (carrier ? " known" : " unknown");
      const wb::nr_downlink_message& m = found[0];
      EXPECT_EQ(m.cell_id, c.cell_id);
      EXPECT_EQ(m.ssb_index, c.mib.ssb_index);
      EXPECT_EQ(m.dci, c.dci);
      EXPECT_EQ(m.level, c.level);
      EXPECT_EQ(m.first_cce, c.first_cce);
      EXPECT_TRUE(m.block.ok) << c.cell_id << (carrier ? " known" : " unknown");
      EXPECT_EQ(m.block.bits, block);
      const auto coreset = *wb::nr_coreset0_of(c.spacing_khz, c.mib.common_spacing_khz, c.mib.coreset0);
      const auto when = *wb::nr_type0_occasion_of(c.mib.search_space0, c.mib.ssb_index,
                                                  c.mib.common_spacing_khz, coreset.symbols);
      const int frames = (c.mib.sfn + when.sfn_parity) % 2;
      EXPECT_EQ(m.sfn, (c.mib.sfn + frames) % 1024);
      EXPECT_EQ(m.slot, when.slot + c.slots_later);
      EXPECT_NEAR(m.first_sample,
                  (0.01 * frames + start_of(c.mib.common_spacing_khz, 14 * m.slot)) * c.rate_hz, 2);
    }
  }
}

// Elements of SS/PBCH blocks in slots, by hand. Symbols of 15 kHz have 2192 samples at 30.72 MHz, those of 30
// kHz 1096; the first of a half subframe has 16 more, at 15 kHz the first of 7.
TEST(nr_ssb_reserved, elements_by_hand) {
  constexpr double sample = 1 / 30.72e6;
  const wb::nr_carrier at_15{.spacing_khz = 15, .resource_blocks = 48},
      at_30{.spacing_khz = 30, .resource_blocks = 24, .slot = 1};
  using part = wb::nr_reserved;
  const double second_symbol = (2 * 2192 + 16) * sample;
  EXPECT_EQ(wb::nr_ssb_reserved(at_15, 15, 4 * 180e3, second_symbol), (part{4, 20, 2, 4}));
  EXPECT_EQ(wb::nr_ssb_reserved(at_15, 15, 4 * 180e3 + 45e3, second_symbol), (part{4, 21, 2, 4}));  // k_SSB 3
  // 30 kHz: 40 blocks of 15 kHz, and symbols 4 to 7 are 2 and 3.
  EXPECT_EQ(wb::nr_ssb_reserved(at_15, 30, 4 * 180e3, (4 * 1096 + 16) * sample), (part{4, 40, 2, 2}));
  // 15 kHz: 10 blocks of 30 kHz. Symbols 8 to 11 are 2 to 9 of the second slot of 30 kHz.
  const double eighth_symbol = (8 * 2192 + 16 + 16 - 15360) * sample;
  EXPECT_EQ(wb::nr_ssb_reserved(at_30, 15, 5 * 360e3, eighth_symbol), (part{5, 10, 2, 8}));
  EXPECT_EQ(wb::nr_ssb_reserved(at_30, 15, 5 * 360e3 + 90e3, eighth_symbol), (part{5, 11, 2, 8}));
  EXPECT_EQ(wb::nr_ssb_reserved(at_30, 30, 0, (8 * 1096 + 16) * sample), (part{0, 20, 8, 4}));
  // Clipped by the slot's blocks, by its symbols, or beside them.
  EXPECT_EQ(wb::nr_ssb_reserved(at_15, 15, -360e3, second_symbol), (part{0, 18, 2, 4}));
  EXPECT_EQ(wb::nr_ssb_reserved(at_15, 15, 40 * 180e3, second_symbol), (part{40, 8, 2, 4}));
  EXPECT_EQ(wb::nr_ssb_reserved(at_15, 15, 0, -2 * 2192 * sample), (part{0, 20, 0, 2}));
  EXPECT_FALSE(wb::nr_ssb_reserved(at_15, 15, 48 * 180e3, second_symbol));
  EXPECT_FALSE(wb::nr_ssb_reserved(at_15, 15, -20 * 180e3, second_symbol));
  EXPECT_FALSE(wb::nr_ssb_reserved(at_15, 15, 0, 1e-3 + second_symbol));
  EXPECT_FALSE(wb::nr_ssb_reserved(at_15, 15, 0, -1e-3 + second_symbol));
}

// Transport blocks, coded bits and places are those of other programs, and blocks come back.
TEST_P(nr_downlink, transport_blocks_are_those_of_other_programs) {
  std::ifstream file(WARPBAND_REFDATA "/nr_time/vectors/pdsch_sib1.json");
  if (!file) GTEST_SKIP() << "no refdata: pdsch_sib1.json";
  const auto content = wb::testing::parse_json(file);
  int rows = 0, decoded = 0;
  for (const auto& row : content.at("vectors")) {
    const auto number = [&](const char* key) { return row.at(key).get<int>(); };
    SCOPED_TRACE(number("id"));
    rows++;
    const wb::nr_si_dci dci{.first_block = number("vrb_start"),
                            .blocks = number("vrb_count"),
                            .interleaved = row.at("interleaved").get<bool>(),
                            .mcs = number("mcs"),
                            .rv = number("rv")};
    const int late = number("dmrs_type_a_position");
    const wb::nr_carrier carrier{.spacing_khz = 30,
                                 .resource_blocks = number("coreset0_n_rb"),
                                 .cell_id = number("n_cell_id"),
                                 .slot = number("slot")};
    wb::nr_channel_config channel = wb::nr_si_channel(dci, carrier, late);
    channel.first_symbol = number("first_symbol"), channel.symbols = number("n_symbols");
    std::vector<int> blocks = channel.physical_blocks;
    for (int& b : blocks) b += number("coreset0_first_prb");
    EXPECT_EQ(blocks, row.at("prbs").get<std::vector<int>>());
    EXPECT_EQ(wb::nr_shared_channel(channel).dmrs_symbols(), row.at("dmrs_symbols").get<std::vector<int>>());
    EXPECT_EQ(wb::nr_shared_channel(channel).transport(1, dci.mcs).transport_bits, number("tbs"));
    std::vector<std::uint8_t> block;
    for (const char b : row.at("tb").get<std::string>()) block.push_back(static_cast<std::uint8_t>(b - '0'));
    std::string scrambled;
    auto grid = pdsch_grid(exec(), channel, dci.mcs, dci.rv, block, &scrambled);
    EXPECT_EQ(scrambled, row.at("scrambled").get<std::string>());
    std::mt19937_64 random(3);
    std::normal_distribution<float> normal(0, 0.02f);
    for (sample& x : grid) x += sample(normal(random), normal(random));
    const auto in = wb::testing::on_device(exec(), grid, 1, grid.size());
    const wb::nr_si_block found = wb::nr_si_decode(exec(), in, channel, dci.mcs, dci.rv);
    EXPECT_TRUE(found.ok || dci.rv == 1 || dci.rv == 2);  // which may not be decoded alone
    decoded += found.ok;
    if (found.ok) {
      EXPECT_EQ(found.bits, block);
    }
  }
  EXPECT_EQ(rows, 16);
  EXPECT_GE(decoded, 8);
}

// A decoded block of an earlier or a later piece gives the occasions of this one.
TEST_P(nr_downlink, messages_at_the_edges_of_pieces_come_once) {
  sent_cell c = sent_cells[0];
  c.noise_var = 0.02;
  const auto block = random_bits(block_bits(c), 1);
  const auto samples = samples_of(exec(), c, block);
  const wb::nr_downlink d({.sample_rate_hz = c.rate_hz, .offset_hz = c.offset_hz, .carrier_hz = c.f0_hz});
  const auto on_device = wb::testing::on_device(exec(), samples, 1, samples.size());
  const auto known = d.blocks(exec(), samples, on_device, samples.size());
  ASSERT_EQ(known.size(), 1u);
  const auto messages = [&](std::size_t from, std::size_t end, double later, int frames) {
    std::vector<wb::nr_downlink_block> moved = known;
    moved[0].found.first_sample += later - static_cast<double>(from) + frames * c.rate_hz / 100;
    moved[0].pbch.content->sfn = ((c.mib.sfn + frames) % 1024 + 1024) % 1024;
    const std::size_t last = std::min(samples.size(), end + d.slot_samples());
    return d.messages(exec(), std::span(samples).subspan(from, last - from), end - from, moved);
  };
  const auto whole = messages(0, samples.size(), 0, 0);
  ASSERT_EQ(whole.size(), 1u);
  const double first = std::floor(whole[0].first_sample + 0.5);
  for (const double fraction : {0., -0.3, 0.3}) {
    const double later = first + fraction - whole[0].first_sample;
    for (const std::size_t edge : {static_cast<std::size_t>(first), static_cast<std::size_t>(first) + 1}) {
      const bool in_first = edge > static_cast<std::size_t>(first);
      const auto before = messages(0, edge, later, 0), behind = messages(edge, samples.size(), later, 0);
      EXPECT_EQ(before.size(), in_first ? 1u : 0u) << fraction;
      EXPECT_EQ(behind.size(), in_first ? 0u : 1u) << fraction;
    }
  }
  for (const int frames : {-4, 6, -3000, 2000}) {
    const auto found = messages(0, samples.size(), 0, frames);
    ASSERT_EQ(found.size(), 1u) << frames;
    EXPECT_EQ(found[0].sfn, whole[0].sfn) << frames;
    EXPECT_TRUE(found[0].block.ok) << frames;
    EXPECT_EQ(found[0].block.bits, block) << frames;
  }
}

// Blocks at, before and behind the edge of two pieces of 20 ms.
TEST_P(nr_downlink, blocks_of_long_arrays_come_once) {
  const sent_cell c{.rate_hz = 3.84e6, .spacing_khz = 15, .pattern = wb::ssb_case::a};
  const auto sent = ssb_of(exec(), c);
  const wb::nr_downlink d({.sample_rate_hz = c.rate_hz, .carrier_hz = c.f0_hz});
  const std::size_t first = static_cast<std::size_t>(std::llround(start_of(15, 2) * c.rate_hz));
  for (const std::size_t before : {first + 1, first, first - 1, first + 700}) {
    std::vector<sample> samples(sent.size() - before);
    samples.insert(samples.end(), sent.begin(), sent.end());
    const auto on_device = wb::testing::on_device(exec(), samples, 1, samples.size());
    const auto found = d.blocks(exec(), samples, on_device, samples.size());
    ASSERT_EQ(found.size(), 1u) << before;
    EXPECT_TRUE(found[0].pbch.ok);
    EXPECT_NEAR(found[0].found.first_sample, static_cast<double>(sent.size() + first - before), 1);
  }
}

TEST_P(nr_downlink, noise_and_silence_give_nothing) {
  const wb::nr_downlink d({.sample_rate_hz = 7.68e6, .spacing_khz = 30});
  std::mt19937_64 random(7);
  std::normal_distribution<float> normal;
  std::vector<sample> samples(153600);
  for (int kind = 0; kind < 2; kind++) {
    if (kind == 1)
      for (sample& x : samples) x = {normal(random), normal(random)};
    const auto on_device = wb::testing::on_device(exec(), samples, 1, samples.size());
    EXPECT_TRUE(d.blocks(exec(), samples, on_device, samples.size()).empty());
    wb::nr_downlink_block b;
    b.pbch.ok = true, b.pbch.content = wb::nr_ssb_content{.common_spacing_khz = 30};
    b.found.first_sample = 1000;
    EXPECT_TRUE(d.messages(exec(), samples, samples.size(), {b}).empty());
    b.pbch.content->k_ssb = 31;
    EXPECT_TRUE(d.messages(exec(), samples, samples.size(), {b}).empty());
  }
}

// CORESET 0 of 48 blocks at 30 kHz is wider than the samples.
TEST_P(nr_downlink, a_coreset_outside_the_band_gives_no_messages) {
  const sent_cell c{.mib = {.common_spacing_khz = 30, .coreset0 = 10}};
  const auto samples = ssb_of(exec(), c);
  const wb::nr_downlink d({.sample_rate_hz = c.rate_hz, .spacing_khz = 30, .carrier_hz = c.f0_hz});
  const auto on_device = wb::testing::on_device(exec(), samples, 1, samples.size());
  const auto known = d.blocks(exec(), samples, on_device, samples.size());
  ASSERT_EQ(known.size(), 1u);
  EXPECT_EQ(known[0].pbch.content, c.mib);
  EXPECT_TRUE(d.messages(exec(), samples, samples.size(), known).empty());
}

// Two symbols of one resource block have too few DMRS for an estimate of noise.
TEST_P(nr_downlink, one_block_of_two_symbols_needs_the_noise) {
  const wb::nr_si_dci dci{.first_block = 3, .blocks = 1, .time_domain = 8, .mcs = 11};
  const wb::nr_carrier carrier{.spacing_khz = 30, .resource_blocks = 24, .cell_id = 5};
  const wb::nr_channel_config channel = wb::nr_si_channel(dci, carrier, 2);
  const auto bits = static_cast<std::size_t>(wb::nr_shared_channel(channel).transport(1, 11).transport_bits);
  const auto block = random_bits(bits, 4);
  const auto grid = pdsch_grid(exec(), channel, dci.mcs, 0, block);
  const auto in = wb::testing::on_device(exec(), grid, 1, grid.size());
  const auto found = wb::nr_si_decode(exec(), in, channel, dci.mcs, 0, 1e-3);
  EXPECT_TRUE(found.ok);
  EXPECT_EQ(found.bits, block);
  const auto blames = [&](wb::nr_channel_config c, std::optional<double> noise_var) {
    return blamed([&] { wb::nr_si_decode(exec(), in, c, 11, 0, noise_var); });
  };
  EXPECT_EQ(blames(channel, {}), "noise_var");
  EXPECT_EQ(blames(channel, 0.), "noise_var");
  wb::nr_channel_config other = channel;
  other.layers = 2, other.antenna_ports = 2, other.dmrs.ports = {};
  EXPECT_EQ(blames(other, {}), "layers");
  other = channel;
  other.direction = wb::nr_direction::uplink;
  EXPECT_EQ(blames(other, {}), "channel");
}

TEST_P(nr_downlink, a_picture_shows_the_channel_of_a_block) {
  sent_cell c = sent_cells[0];
  c.noise_var = 1e-3;
  const auto samples = samples_of(exec(), c, random_bits(block_bits(c), 1));
  const wb::nr_downlink d({.sample_rate_hz = c.rate_hz,
                           .spacing_khz = c.spacing_khz,
                           .offset_hz = c.offset_hz,
                           .carrier_hz = c.f0_hz});
  const auto on_device_samples = wb::testing::on_device(exec(), samples, 1, samples.size());
  const auto blocks = d.blocks(exec(), samples, on_device_samples, samples.size());
  ASSERT_FALSE(blocks.empty());
  const wb::nr_block_picture seen = d.picture(exec(), samples, blocks[0]);
  ASSERT_EQ(seen.channel.size(), 240u);
  for (const sample& h : seen.channel) EXPECT_NEAR(std::abs(h), 1, 0.1);
  ASSERT_EQ(seen.points.size(), 2 * 240u + 96u);
  for (const sample& x : seen.points) {
    EXPECT_NEAR(std::abs(x.real()), std::sqrt(0.5), 0.3);
    EXPECT_NEAR(std::abs(x.imag()), std::sqrt(0.5), 0.3);
  }
  const auto best = std::max_element(seen.pss.begin(), seen.pss.end());
  EXPECT_NEAR(static_cast<double>(best - seen.pss.begin()), static_cast<double>(seen.pss.size() / 2), 1);
  EXPECT_GT(*best, 0.5);
  EXPECT_LE(*best, 1.001);
  wb::nr_downlink_block unknown = blocks[0];
  unknown.pbch.content.reset();
  EXPECT_EQ(blamed([&] { d.picture(exec(), samples, unknown); }), "block");
}

TEST_P(nr_downlink, names_what_is_wrong_with_a_known_block) {
  const wb::nr_downlink d({});
  const auto blames = [&](auto change) {
    wb::nr_downlink_block b;
    b.pbch.ok = true, b.pbch.content = wb::nr_ssb_content{};
    change(b);
    return blamed([&] { d.messages(exec(), std::vector<sample>(8000), 8000, {b}); });
  };
  EXPECT_EQ(blames([](auto&) {}), "");
  EXPECT_EQ(blames([](auto& b) { b.pbch.content->ssb_index = 8; }), "ssb_index");
  EXPECT_EQ(blames([](auto& b) { b.found.cell_id = 1008; }), "cell_id");
  EXPECT_EQ(blames([](auto& b) { b.found.first_sample = std::nan(""); }), "first_sample");
  EXPECT_EQ(blames([](auto& b) { b.found.cfo_hz = std::nan(""); }), "cfo_hz");
}

TEST(nr_downlink_settings, bad_ones_are_named) {
  const auto blames = [](wb::nr_downlink_config c) { return blamed([&] { wb::nr_downlink{c}; }); };
  EXPECT_EQ(blames({}), "");
  EXPECT_EQ(blames({.sample_rate_hz = 7e6}), "sample_rate_hz");
  EXPECT_EQ(blames({.spacing_khz = 60}), "spacing_khz");
  EXPECT_EQ(blames({.sample_rate_hz = 1.92e6}), "sample_rate_hz");   // fewer than 240 subcarriers
  EXPECT_EQ(blames({.sample_rate_hz = 13.44e6}), "sample_rate_hz");  // 7 times
  EXPECT_EQ(blames({.sample_rate_hz = 122.88e6}), "sample_rate_hz");
  EXPECT_EQ(blames({.sample_rate_hz = 122.88e6, .spacing_khz = 30}), "");
  EXPECT_EQ(blames({.offset_hz = 2.04e6}), "");
  EXPECT_EQ(blames({.offset_hz = -2.05e6}), "offset_hz");  // subcarriers of PBCH alias
  EXPECT_EQ(blames({.l_max = 5}), "l_max");
  EXPECT_EQ(blames({.l_max = 64}), "l_max");
  EXPECT_EQ(blames({.sample_rate_hz = 61.44e6, .spacing_khz = 120, .l_max = 8}), "l_max");
  EXPECT_EQ(blames({.sample_rate_hz = 61.44e6, .spacing_khz = 120, .l_max = 64}), "");
  EXPECT_EQ(blames({.wide = true}), "wide");
  EXPECT_EQ(blames({.spacing_khz = 30, .wide = true}), "");
}

}  // namespace nr_downlink_test
