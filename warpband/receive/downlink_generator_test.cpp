// A generated cell: its samples are those of a transmitter written for tests and of other programs, and
// receivers find what was sent.
#include <warpband/receive/downlink_generator.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <tests/downlink_cell.hpp>
#include <tests/json.hpp>
#include <tests/on_backends.hpp>
#include <warpband/io/npy.hpp>
#include <warpband/ofdm/fft/fft.hpp>
#include <warpband/receive/downlink.hpp>

namespace downlink_generator_test {

using namespace wb::testing::downlink_cell;
using wb::testing::blamed;
using config = wb::nr_downlink_generator_config;

class downlink_generator : public wb::testing::on_backend {
 protected:
  void SetUp() override {
    on_backend::SetUp();
    if (!IsSkipped() && !wb::has_cpu_fft())
      GTEST_SKIP() << "this build has no FFT for CPUs (WARPBAND_KISSFFT)";
  }
};
WB_ON_ALL_BACKENDS(downlink_generator);

/// Both pairs of equal spacings, and both mixed ones.
std::vector<config> configs() {
  std::vector<config> list(4);
  list[0].spacing_khz = list[0].common_spacing_khz = 15;
  list[0].offset_hz = 60e3, list[0].cell_id = 77, list[0].ssb_indices = {1}, list[0].k_ssb = 5;
  list[0].coreset0 = 7, list[0].sfn = 512, list[0].time_domain = 1, list[0].interleaved = true;
  list[0].first_block = 3, list[0].blocks = 22, list[0].mcs = 3, list[0].carrier_hz = 3.2e9;
  list[1].offset_hz = 300e3, list[1].cell_id = 810, list[1].ssb_indices = {2}, list[1].half_frame = 1;
  list[1].search_space0 = 0, list[1].k_ssb = 7, list[1].carrier_hz = 3.6e9, list[1].sfn = 1022;
  list[1].wide = false, list[1].cell_barred = true, list[1].rv = 0, list[1].mcs = 9;
  list[2].spacing_khz = 15, list[2].coreset0 = 2, list[2].k_ssb = 11, list[2].dmrs_first_symbol = 3;
  list[2].cell_id = 1007, list[2].sfn = 6;
  list[3].common_spacing_khz = 15, list[3].coreset0 = 3, list[3].pattern = wb::ssb_case::b;
  list[3].cell_id = 3, list[3].carrier_hz = 3.489e9, list[3].level = 8, list[3].offset_hz = -1.5e6;
  return list;
}

TEST_P(downlink_generator, samples_are_those_of_another_transmitter) {
  for (const config& c : configs()) {
    const wb::nr_downlink_generator generator(c);
    ASSERT_EQ(generator.sent_blocks().size(), 1u);
    ASSERT_EQ(generator.sent_messages().size(), 1u);
    const auto block = random_bits(generator.transport_bits(), 3);
    const auto got = generator.run(exec(), block);
    const sent_cell cell{.rate_hz = c.sample_rate_hz,
                         .offset_hz = c.offset_hz,
                         .f0_hz = c.carrier_hz,
                         .spacing_khz = c.spacing_khz,
                         .cell_id = c.cell_id,
                         .level = c.level,
                         .first_cce = 0,
                         .pattern = *generator.config().pattern,
                         .mib = generator.sent_blocks()[0].content,
                         .dci = generator.dci()};
    const auto expected = samples_of(exec(), cell, block);
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); i++)
      ASSERT_LT(std::abs(got[i] - expected[i]), 1e-5f) << "cell " << c.cell_id << ", sample " << i;
  }
}

TEST_P(downlink_generator, a_receiver_finds_all_blocks_and_messages) {
  config c;
  c.ssb_indices = {3, 0, 1}, c.frames = 4, c.sfn = 1022, c.cell_id = 333, c.search_space0 = 4;
  const wb::nr_downlink_generator generator(c);
  ASSERT_EQ(generator.sent_blocks().size(), 6u);
  ASSERT_EQ(generator.sent_messages().size(), 6u);
  const auto block = random_bits(generator.transport_bits(), 3);
  const auto samples = generator.run(exec(), block);
  const wb::nr_downlink receiver(
      {.sample_rate_hz = c.sample_rate_hz, .spacing_khz = c.spacing_khz, .carrier_hz = 0.});
  const auto on_device = wb::testing::on_device(exec(), samples, 1, samples.size());
  const auto blocks = receiver.blocks(exec(), samples, on_device, samples.size());
  ASSERT_EQ(blocks.size(), 6u);
  for (std::size_t i = 0; i < 6; i++) {
    EXPECT_EQ(blocks[i].found.cell_id, 333);
    ASSERT_TRUE(blocks[i].pbch.content);
    EXPECT_EQ(*blocks[i].pbch.content, generator.sent_blocks()[i].content);
    EXPECT_NEAR(blocks[i].found.first_sample, static_cast<double>(generator.sent_blocks()[i].first_sample),
                1);
  }
  EXPECT_EQ(blocks[3].pbch.content->sfn, 0);
  const auto messages = receiver.messages(exec(), samples, samples.size(), blocks);
  ASSERT_EQ(messages.size(), 6u);
  for (std::size_t i = 0; i < 6; i++) {
    const auto& sent = generator.sent_messages()[i];
    EXPECT_EQ(messages[i].sfn, sent.sfn);
    EXPECT_EQ(messages[i].slot, sent.slot);
    EXPECT_EQ(messages[i].ssb_index, sent.ssb_index);
    EXPECT_EQ(messages[i].dci, generator.dci());
    EXPECT_TRUE(messages[i].block.ok);
    EXPECT_EQ(messages[i].block.bits, block);
  }
}

// A recording of other programs has more: random elements beside the cell's. They are orthogonal to them.
TEST_P(downlink_generator, symbols_are_those_in_a_recording_of_other_programs) {
  const std::string folder = WARPBAND_REFDATA "/nr_time/samples/";
  std::ifstream truth(folder + "downlink.json");
  if (!truth) GTEST_SKIP() << "no refdata: cannot open '" << folder << "downlink.json'";
  nlohmann::json cell;
  const auto content = wb::testing::parse_json(truth);
  for (const auto& f : content.at("files"))
    if (f.at("name") == "cell_c_clean") cell = f;
  ASSERT_FALSE(cell.is_null());
  const auto bits_of = [](const nlohmann::json& text) {
    std::vector<std::uint8_t> bits;
    for (const char b : text.get<std::string>()) bits.push_back(static_cast<std::uint8_t>(b - '0'));
    return bits;
  };
  const auto number = [&](const char* key) { return cell.at(key).get<int>(); };
  const int blocks = cell.at("coreset0").at("n_rb").get<int>();
  const auto dci = wb::nr_si_dci_decode(bits_of(cell.at("pdcch").at(0).at("dci")), blocks);
  ASSERT_TRUE(dci);
  config c;
  c.sample_rate_hz = cell.at("sample_rate_hz").get<double>(), c.carrier_hz = cell.at("f0_hz").get<double>();
  c.offset_hz = 30e3 * (number("ssb_first_subcarrier_from_centre") + 120), c.cell_id = number("n_id");
  c.ssb_indices = {0, 2}, c.frames = 1, c.sfn = number("sfn_of_frame_start"), c.k_ssb = number("k_ssb");
  c.coreset0 = number("coreset0_index"), c.search_space0 = number("search_space0_index");
  c.first_block = dci->first_block, c.blocks = dci->blocks, c.time_domain = dci->time_domain;
  c.interleaved = dci->interleaved, c.mcs = dci->mcs, c.rv = dci->rv;
  const wb::nr_downlink_generator generator(c);
  EXPECT_EQ(generator.dci(), *dci);
  ASSERT_EQ(generator.sent_blocks().size(), cell.at("ssb").size());
  ASSERT_EQ(generator.sent_messages().size(), cell.at("pdcch").size());
  const auto sent = generator.run(exec(), bits_of(cell.at("pdsch").at(0).at("tb")));
  wb::npy_reader file(folder + "cell_c_clean.npy");
  std::vector<std::complex<float>> recorded(file.shape().at(0));
  file.read(0, recorded.size(), recorded.data());
  ASSERT_EQ(sent.size(), recorded.size());

  const auto n = wb::nr_numerology({.spacing_khz = 30, .resource_blocks = number("n_prb")}, number("n_fft"));
  const auto slot_samples = static_cast<std::size_t>(n.samples_per_slot());
  int symbols = 0;
  for (std::size_t slot = 0; slot < 20; slot++)
    for (int l = 0; l < n.symbols_per_slot; l++) {
      const std::size_t first = slot * slot_samples + static_cast<std::size_t>(n.first_sample_of(l));
      std::complex<double> product = 0;
      double power = 0;
      for (std::size_t i = first; i < first + static_cast<std::size_t>(n.fft_size); i++) {
        const std::complex<double> x = sent[i];
        product += std::conj(x) * std::complex<double>(recorded[i]), power += std::norm(x);
      }
      if (power < 1e-3) continue;
      symbols++;
      // The recording's DMRS has an amplitude of 10^(3/20), and not sqrt(2).
      EXPECT_LT(std::abs(product / power - 1.), 1.3e-3) << "slot " << slot << ", symbol " << l;
    }
  EXPECT_EQ(symbols, 2 * 4 + 2 * (1 + 12));  // blocks; CORESET 0 and PDSCH
}

TEST(downlink_generator_settings, bad_ones_are_named) {
  const auto blames = [](auto change) {
    config c;
    change(c);
    return blamed([&] { wb::nr_downlink_generator{c}; });
  };
  EXPECT_EQ(blames([](config&) {}), "");
  EXPECT_EQ(blames([](config& c) { c.sample_rate_hz = 7e6; }), "sample_rate_hz");
  EXPECT_EQ(blames([](config& c) { c.sample_rate_hz = 7.68e6; }), "coreset0");  // 24 blocks at 30 kHz
  EXPECT_EQ(blames([](config& c) { c.offset_hz = 7e6; }), "offset_hz");
  EXPECT_EQ(blames([](config& c) { c.pattern = wb::ssb_case::a; }), "pattern");
  EXPECT_EQ(blames([](config& c) { c.cell_id = 1008; }), "cell_id");
  EXPECT_EQ(blames([](config& c) { c.ssb_indices = {}; }), "ssb_indices");
  EXPECT_EQ(blames([](config& c) { c.ssb_indices = {1, 1}; }), "ssb_indices");
  EXPECT_EQ(blames([](config& c) { c.ssb_indices = {4}, c.l_max = 4; }), "ssb_indices");
  EXPECT_EQ(blames([](config& c) { c.spacing_khz = 15, c.wide = true; }), "wide");
  EXPECT_EQ(blames([](config& c) { c.coreset0 = 15, c.spacing_khz = 15; }), "coreset0");
  EXPECT_EQ(blames([](config& c) { c.search_space0 = 0; }), "search_space0");  // on the blocks
  EXPECT_EQ(blames([](config& c) { c.search_space0 = 0, c.half_frame = 1; }), "");
  EXPECT_EQ(blames([](config& c) { c.time_domain = 11; }), "time_domain");  // on the CORESET
  EXPECT_EQ(blames([](config& c) { c.blocks = 25; }), "blocks");
  EXPECT_EQ(blames([](config& c) { c.level = 16; }), "level");
  EXPECT_EQ(blames([](config& c) { c.first_cce = 2; }), "first_cce");
  EXPECT_EQ(blames([](config& c) { c.mcs = 10; }), "mcs");  // no QPSK
  EXPECT_EQ(blames([](config& c) { c.mcs = 9; }), "");
  // 3240 bits with all blocks; and 24 bits with a CRC of 16 in 36 bits.
  EXPECT_EQ(blames([](config& c) { c.sample_rate_hz = 30.72e6, c.coreset0 = 10, c.mcs = 9, c.blocks = 48; }),
            "blocks");
  EXPECT_EQ(blames([](config& c) {
              c.sample_rate_hz = 30.72e6, c.coreset0 = 15, c.mcs = 0, c.blocks = 1, c.time_domain = 8;
            }),
            "blocks");
  EXPECT_EQ(blames([](config& c) { c.carrier_hz = -1; }), "carrier_hz");
  EXPECT_EQ(blames([](config& c) { c.sfn = 1, c.frames = 1; }), "frames");
  EXPECT_EQ(blames([](config& c) { c.sfn = 1, c.frames = 1, c.period_frames = 1; }), "");
  // Blocks 0 and 1 have occasions in one slot, at different symbols.
  const auto two_occasions = [](config& c) { c.search_space0 = 1, c.half_frame = 1, c.ssb_indices = {0, 1}; };
  EXPECT_EQ(blames(two_occasions), "search_space0");
  // Four candidate blocks at low carrier frequencies.
  const auto l_max = [](double carrier_hz, wb::ssb_case pattern) {
    config c;
    c.carrier_hz = carrier_hz, c.pattern = pattern;
    return *wb::nr_downlink_generator(c).config().l_max;
  };
  EXPECT_EQ(l_max(0, wb::ssb_case::c), 8);
  EXPECT_EQ(l_max(1.88e9, wb::ssb_case::c), 4);
  EXPECT_EQ(l_max(2e9, wb::ssb_case::c), 8);
  EXPECT_EQ(l_max(2e9, wb::ssb_case::b), 4);
  EXPECT_EQ(l_max(3.1e9, wb::ssb_case::b), 8);
  EXPECT_EQ(blames([](config& c) { c.carrier_hz = 8e8, c.ssb_indices = {4}; }), "ssb_indices");
  // All blocks that 2976 bits allow.
  config wide;
  wide.sample_rate_hz = 30.72e6, wide.coreset0 = 10, wide.mcs = 9;
  const wb::nr_downlink_generator chosen(wide);
  EXPECT_LT(*chosen.config().blocks, 48);
  EXPECT_LE(chosen.transport_bits(), 2976u);
  EXPECT_GT(chosen.transport_bits(), 2800u);
  // Without CORESET 0 there are no messages.
  config none;
  none.k_ssb = 31;
  const wb::nr_downlink_generator generator(none);
  EXPECT_EQ(generator.transport_bits(), 0u);
  EXPECT_TRUE(generator.sent_messages().empty());
  const auto exec = wb::testing::open_scalar();
  EXPECT_EQ(blamed([&] { wb::nr_downlink_generator({}).run(*exec, {}); }), "block");
}

}  // namespace downlink_generator_test
