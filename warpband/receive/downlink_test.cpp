// From samples to system information: what cells of all pairs of subcarrier spacings send comes back,
// transport blocks are those of another program, and nothing is found in noise.
#include <warpband/receive/downlink.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <fstream>
#include <numbers>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <tests/json.hpp>
#include <tests/on_backends.hpp>
#include <warpband/fec/nr/transport.hpp>
#include <warpband/modem/qam/qam.hpp>
#include <warpband/nr/pdcch/coreset.hpp>
#include <warpband/nr/pdcch/pdcch.hpp>
#include <warpband/ofdm/fft/fft.hpp>

#ifndef WARPBAND_REFDATA
#define WARPBAND_REFDATA ""
#endif

namespace downlink_test {

using wb::testing::blamed;
using sample = std::complex<float>;
constexpr double pi = std::numbers::pi;

/// A cell that sends one SS/PBCH block and SIB1 once.
struct sent_cell {
  double rate_hz = 7.68e6, offset_hz = 0, f0_hz = 3.5e9, cfo_hz = 0, noise_var = 0;
  int spacing_khz = 30, cell_id = 500, level = 4, first_cce = 4, slots_later = 0;
  wb::ssb_case pattern = wb::ssb_case::c;
  wb::nr_ssb_content mib = {};
  wb::nr_si_dci dci = {};
};
double start_of(int spacing_khz, int symbol) {  // seconds from the frame's start
  double ts = 0;
  for (int l = 0; l < symbol; l++)
    ts += 2192. * 15 / spacing_khz + (l % (7 * spacing_khz / 15) == 0 ? 16 : 0);
  return ts / 30.72e6;
}
/// Adds OFDM symbols `first_symbol`, ... of a frame, whose middle is at `hz`.
void add_symbols(wb::executor& exec, std::vector<sample>& samples, const sent_cell& c, int spacing_khz,
                 int blocks, int first_symbol, int symbols, double hz, const std::vector<sample>& values) {
  const int in_subframe = 14 * spacing_khz / 15;
  const auto n = wb::nr_numerology({.spacing_khz = spacing_khz, .resource_blocks = blocks},
                                   static_cast<int>(c.rate_hz / 1e3 / spacing_khz));
  const wb::ofdm_modulator modulator(
      n, {.first_symbol = first_symbol % in_subframe, .symbols = symbols, .carrier_hz = c.f0_hz + hz});
  auto in = wb::testing::on_device(exec, values, 1, values.size());
  auto out = exec.make<sample>(1, modulator.samples());
  modulator.run(exec, in, out);
  const auto wave = exec.to_host(out);
  const std::size_t first =
      static_cast<std::size_t>(std::llround(start_of(spacing_khz, first_symbol) * c.rate_hz));
  for (std::size_t i = 0; i < wave.size() && first + i < samples.size(); i++)
    samples[first + i] +=
        sample(std::complex<double>(wave[i]) *
               std::polar(1., 2 * pi * std::fmod(hz / c.rate_hz * static_cast<double>(first + i), 1.)));
}

class downlink : public wb::testing::on_backend {
 protected:
  void SetUp() override {
    on_backend::SetUp();
    if (!IsSkipped() && !wb::has_cpu_fft())
      GTEST_SKIP() << "this build has no FFT for CPUs (WARPBAND_KISSFFT)";
  }
  static std::vector<std::uint8_t> random_bits(std::size_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<std::uint8_t> bits(count);
    for (auto& b : bits) b = static_cast<std::uint8_t>(random() % 2);
    return bits;
  }
  /// The PDSCH of a DCI as a slot's grid.
  std::vector<sample> pdsch_grid(const wb::nr_channel_config& config, int mcs, int rv,
                                 const std::vector<std::uint8_t>& block, std::string* scrambled = nullptr) {
    const wb::nr_shared_channel pdsch(config);
    const wb::nr_transport_config t = pdsch.transport(1, mcs);
    wb::nr_transport_encoder encoder(t);
    const auto in = wb::testing::on_device(exec(), block, 1, block.size());
    const std::size_t coded_bits = static_cast<std::size_t>(t.coded_bits), symbols = pdsch.symbols_of(0);
    auto coded = exec().make<std::uint8_t>(1, coded_bits);
    encoder.run(exec(), in, rv, coded);
    if (scrambled != nullptr)
      for (const auto b : exec().to_host(coded)) *scrambled += static_cast<char>('0' + b);
    auto values = exec().make<sample>(symbols, 1), grid = exec().make<sample>(pdsch.elements(), 1);
    wb::qam_mapper(1 << t.modulation_order)
        .run(exec(), wb::make_view(std::as_const(coded).data(), symbols, coded_bits / symbols), values);
    pdsch.map(exec(), {wb::make_view(std::as_const(values).data(), 1, symbols)}, grid);
    return exec().to_host(grid);
  }
  /// 20 ms with the block, and SIB1 in the occasion's first slot or the one behind it.
  std::vector<sample> samples_of(const sent_cell& c, const std::vector<std::uint8_t>& block) {
    std::vector<sample> samples(static_cast<std::size_t>(0.02 * c.rate_hz));
    auto grid = exec().make<sample>(1, 960);
    wb::pbch_encoder({.l_max = 8}).run(exec(), {c.mib}, {c.cell_id}, grid);
    const int half_frame = 14 * 5 * c.spacing_khz / 15;
    add_symbols(exec(), samples, c, c.spacing_khz, 20,
                half_frame * c.mib.half_frame +
                    wb::nr_ssb_first_symbols(c.pattern, 8)[static_cast<std::size_t>(c.mib.ssb_index)],
                4, c.offset_hz, exec().to_host(grid));
    const int spacing = c.mib.common_spacing_khz;
    const auto coreset = *wb::nr_coreset0_of(c.spacing_khz, spacing, c.mib.coreset0);
    const auto when =
        wb::nr_type0_occasion_of(c.mib.search_space0, c.mib.ssb_index, spacing, coreset.symbols);
    const int slot = when.slot + c.slots_later, frames = (c.mib.sfn + when.sfn_parity) % 2;
    const wb::pdcch_config control{.blocks = coreset.blocks,
                                   .symbols = coreset.symbols,
                                   .first_symbol = when.first_symbol,
                                   .shift = c.cell_id,
                                   .dmrs_id = c.cell_id,
                                   .scrambling_id = c.cell_id,
                                   .level = c.level,
                                   .dci_bits = wb::nr_si_dci_bits(coreset.blocks)};
    const auto bits = wb::nr_si_dci_encode(c.dci, coreset.blocks);
    const auto in = wb::testing::on_device(exec(), bits, 1, bits.size());
    auto pdcch = exec().make<sample>(1, control.elements());
    wb::pdcch_encoder(control).run(exec(), in, {slot}, {c.first_cce}, pdcch);
    const wb::nr_carrier carrier{
        .spacing_khz = spacing, .resource_blocks = coreset.blocks, .cell_id = c.cell_id, .slot = slot};
    std::vector<sample> values =
        pdsch_grid(wb::nr_si_channel(c.dci, carrier, c.mib.dmrs_first_symbol), c.dci.mcs, c.dci.rv, block);
    const auto controls = exec().to_host(pdcch);
    for (std::size_t i = 0; i < controls.size(); i++)
      values[12 * static_cast<std::size_t>(coreset.blocks * when.first_symbol) + i] += controls[i];
    const double middle = c.offset_hz +
                          wb::nr_coreset0_first_hz(coreset, c.spacing_khz, spacing, c.mib.k_ssb) +
                          6e3 * coreset.blocks * spacing;
    add_symbols(exec(), samples, c, spacing, coreset.blocks, 14 * (slot + 10 * spacing / 15 * frames), 14,
                middle, values);
    std::mt19937_64 random(5);
    std::normal_distribution<double> normal(0, std::sqrt(c.noise_var / 2));
    for (std::size_t i = 0; i < samples.size(); i++) {
      std::complex<double> x = std::complex<double>(samples[i]) *
                               std::polar(1., 2 * pi * c.cfo_hz / c.rate_hz * static_cast<double>(i));
      if (c.noise_var > 0) x += std::complex<double>(normal(random), normal(random));
      samples[i] = sample(x);
    }
    return samples;
  }
  static std::size_t block_bits(const sent_cell& c) {
    const auto coreset = *wb::nr_coreset0_of(c.spacing_khz, c.mib.common_spacing_khz, c.mib.coreset0);
    const wb::nr_carrier carrier{.spacing_khz = c.mib.common_spacing_khz, .resource_blocks = coreset.blocks};
    const wb::nr_shared_channel pdsch(wb::nr_si_channel(c.dci, carrier, c.mib.dmrs_first_symbol));
    return static_cast<std::size_t>(pdsch.transport(1, c.dci.mcs).transport_bits);
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
    const auto samples = samples_of(c, block);
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
    auto grid = pdsch_grid(channel, dci.mcs, dci.rv, block, &scrambled);
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
