// From samples to system information: what cells of all pairs of subcarrier spacings send comes back,
// transport blocks are those of another program, and nothing is found in noise.
#include <warpband/receive/downlink.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <fstream>
#include <random>
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

namespace downlink_test {

using namespace wb::testing::downlink_cell;
using wb::testing::blamed;

class downlink : public wb::testing::on_backend {
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
WB_ON_ALL_BACKENDS(downlink);

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
             .other_information = true}}};

TEST_P(downlink, sib1_of_every_pair_of_spacings_comes_back) {
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
      const auto when = wb::nr_type0_occasion_of(c.mib.search_space0, c.mib.ssb_index,
                                                 c.mib.common_spacing_khz, coreset.symbols);
      const int frames = (c.mib.sfn + when.sfn_parity) % 2;
      EXPECT_EQ(m.sfn, (c.mib.sfn + frames) % 1024);
      EXPECT_EQ(m.slot, when.slot + c.slots_later);
      EXPECT_NEAR(m.first_sample,
                  (0.01 * frames + start_of(c.mib.common_spacing_khz, 14 * m.slot)) * c.rate_hz, 2);
    }
  }
}

// Transport blocks, coded bits and places are those of other programs, and blocks come back.
TEST_P(downlink, transport_blocks_are_those_of_other_programs) {
  std::ifstream file(WARPBAND_REFDATA "/nr_time/vectors/pdsch_sib1.json");
  if (!file) GTEST_SKIP() << "no refdata: pdsch_sib1.json";
  const auto content = wb::testing::parse_json(file);
  for (const auto& row : content.at("vectors")) {
    const auto number = [&](const char* key) { return row.at(key).get<int>(); };
    SCOPED_TRACE(number("id"));
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
    if (found.ok) {
      EXPECT_EQ(found.bits, block);
    }
  }
}

TEST_P(downlink, noise_and_silence_give_nothing) {
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
    b.pbch.content->k_ssb = 0, b.pbch.content->coreset0 = 6;  // 48 blocks: wider than the samples
    b.pbch.content->coreset0 = 15;
    EXPECT_TRUE(d.messages(exec(), samples, samples.size(), {b}).empty());
  }
  const auto blames = [](wb::nr_downlink_config c) { return blamed([&] { wb::nr_downlink{c}; }); };
  EXPECT_EQ(blames({}), "");
  EXPECT_EQ(blames({.sample_rate_hz = 7e6}), "sample_rate_hz");
  EXPECT_EQ(blames({.spacing_khz = 60}), "spacing_khz");
  EXPECT_EQ(blames({.offset_hz = 5e6}), "offset_hz");
  EXPECT_EQ(blames({.l_max = 5}), "l_max");
}

}  // namespace downlink_test
