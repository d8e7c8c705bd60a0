// Links in slots of 5G NR: limit cases, scenarios, and curves of another program.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <tests/link.hpp>
#include <tests/nr.hpp>
#include <tests/scenario.hpp>
#include <warpband/link/chain.hpp>
#include <warpband/link/interval.hpp>
#include <warpband/link/point.hpp>
#include <warpband/link/result.hpp>
#include <warpband/nr/frc.hpp>

namespace wb {
namespace nr_link_test {

using namespace testing;

link_config slot_link(int blocks, int layers, int mcs, csi_type csi, int rx, const char* profile,
                      double doppler_hz) {
  link_config c;
  c.axis = snr_axis::snr_db;
  c.code = code_config("nr-dlsch");
  testing::sent_in(c.code).transmissions = 1;
  c.antennas = nr_link_config{.channel = {.carrier = {.resource_blocks = blocks, .cell_id = 1},
                                          .layers = layers,
                                          .dmrs = {.additional_positions = 1}},
                              .mcs = mcs,
                              .csi = csi,
                              .detector = {.rx_antennas = rx, .llr_clip = {}}};
  if (*profile != 0)
    c.channel = tdl_config{.profile = tdl_profile_named(profile), .grid = {}, .doppler_hz = doppler_hz};
  return c;
}

TEST(nr_link, follows_from_the_slot) {
  const link_config c = completed(slot_link(25, 1, 13, csi_type::ls, 1, "", 0));
  EXPECT_EQ(testing::k_in(c.code), 6912);
  EXPECT_EQ(sizes_of(c.code).n, 14400u);
  EXPECT_EQ(c.qam, 16);
  EXPECT_EQ(harq_of(c.code).code_blocks, 1);
  EXPECT_EQ(resource_elements(c), 3600u);
  const link_config two = completed(slot_link(16, 2, 4, csi_type::lmmse, 4, "tdlb100", 400));
  EXPECT_EQ(streams_of(two), 2);
  EXPECT_EQ(rx_antennas_of(two), 4);
  EXPECT_TRUE(erases_uses(two));
  EXPECT_NEAR(noise_level_at(two, 3).esn0_db, 3 - 10 * std::log10(2), 1e-9);
}

TEST(nr_link, reference_channels_have_the_payloads_of_the_standard) {
  const auto payload = [](const char* name) {
    const nr_reference_channel r = nr_reference_channel_named(name);
    return nr_shared_channel(r.channel()).transport(1, r.mcs).transport_bits;
  };
  EXPECT_EQ(nr_reference_channels().size(), 93u);
  EXPECT_EQ(payload("G-FR1-A1-1"), 2152);
  EXPECT_EQ(payload("g-fr1-a1-9"), 528);
  EXPECT_EQ(payload("G-FR1-A2-4"), 38936);
  EXPECT_EQ(payload("G-FR1-A3-8"), 1352);
  EXPECT_EQ(payload("G-FR1-A3-21"), 32304);
  EXPECT_EQ(payload("G-FR1-A3-31"), 1352);
  EXPECT_EQ(payload("G-FR1-A3-32"), 1320);
  EXPECT_TRUE(nr_reference_channel_named("G-FR1-A3-32").channel().transform_precoding);
  EXPECT_EQ(payload("G-FR1-A4-14"), 100392);
  EXPECT_EQ(payload("G-FR1-A4-28"), 200808);
  EXPECT_EQ(payload("G-FR1-A5-11"), 11528);
  EXPECT_EQ(nr_reference_channel_named("G-FR1-A7-4").layers, 4);
  EXPECT_EQ(blamed([] { nr_reference_channel_named("G-FR1-A9-1"); }), "frc");
}

class nr_link_on : public on_backend {};
WB_ON_ALL_BACKENDS(nr_link_on);

/// Less noise never costs blocks: the error of straight lines, which no SNR takes away, is in N0.
TEST_P(nr_link_on, less_noise_costs_no_blocks) {
  for (const auto& [csi, positions] : {std::pair{csi_type::ls, 0}, {csi_type::ls, 1}, {csi_type::lmmse, 1}}) {
    link_config link = slot_link(6, 1, 26, csi, 2, "tdlc300", 100);
    link.antennas.edit<nr_link_config>().channel.dmrs.additional_positions = positions;
    link_chain chain(link, exec());
    const auto errors = [&](double snr_db) {
      return run_point(chain, snr_db, {.frame_errors = 0, .max_frames = 60}).counts.frame_errors;
    };
    const auto at_40 = errors(40);
    EXPECT_LE(errors(70), at_40 + 3) << positions;
    EXPECT_LE(errors(100), at_40 + 3) << positions;
  }
}

/// With a precoder of the codebook.
link_config precoded(link_config c, int ports, int tpmi) {
  auto& nr = c.antennas.edit<nr_link_config>();
  nr.precoder = nr_precoding::codebook, nr.ports = ports, nr.tpmi = tpmi;
  return c;
}
/// With transform precoding.
link_config spread(link_config c) {
  c.antennas.edit<nr_link_config>().channel.transform_precoding = true;
  return c;
}
/// In a clustered delay line, a user for each antenna port.
link_config clustered(link_config c, double speed_kmh) {
  c.channel = cdl_config{.profile = cdl_profile_named("cdl-a", 50), .speed_kmh = speed_kmh};
  return c;
}

void expect_every_block(const link_config& link, executor& exec) {
  link_chain chain(link, exec);
  const point_result p = run_point(chain, 60, {.frame_errors = 0, .max_frames = 8});
  EXPECT_EQ(p.counts.frame_errors, 0u);
  EXPECT_EQ(p.counts.bit_errors, 0u);
  EXPECT_EQ(p.relative_throughput(), 1);
}

TEST_P(nr_link_on, without_noise_brings_every_block) {
  const auto perfect = csi_type::perfect, ls = csi_type::ls, lmmse = csi_type::lmmse;
  const link_config links[] = {slot_link(4, 1, 13, ls, 1, "", 0),
                               slot_link(4, 1, 20, perfect, 1, "", 0),
                               slot_link(4, 2, 16, perfect, 2, "tdla30", 10),
                               slot_link(6, 2, 4, ls, 4, "tdla30", 10),
                               slot_link(6, 2, 4, lmmse, 4, "tdlb100", 100),
                               precoded(slot_link(4, 1, 20, perfect, 1, "tdla30", 10), 2, 2),
                               precoded(slot_link(4, 2, 16, perfect, 4, "tdla30", 10), 4, 14),
                               precoded(slot_link(4, 4, 16, perfect, 8, "tdla30", 10), 4, 3),
                               precoded(slot_link(6, 2, 4, ls, 4, "tdla30", 10), 2, 1),
                               precoded(slot_link(6, 3, 4, lmmse, 8, "tdlb100", 100), 4, 1),
                               clustered(slot_link(4, 1, 16, perfect, 2, "", 0), 30),
                               clustered(slot_link(6, 2, 4, lmmse, 8, "", 0), 0),
                               precoded(clustered(slot_link(4, 1, 4, ls, 4, "", 0), 3), 4, 12)};
  for (const link_config& link : links) expect_every_block(link, exec());
}

TEST_P(nr_link_on, transform_precoding_without_noise_brings_every_block) {
  NR_SKIP_WITHOUT_FFT();
  const auto perfect = csi_type::perfect, ls = csi_type::ls, lmmse = csi_type::lmmse;
  for (const link_config& link :
       {spread(slot_link(5, 1, 14, ls, 1, "", 0)), spread(slot_link(4, 1, 27, perfect, 4, "tdla30", 10)),
        spread(slot_link(6, 1, 1, lmmse, 2, "tdlb100", 100)),
        spread(precoded(slot_link(6, 1, 5, ls, 3, "tdla30", 10), 4, 19))})
    expect_every_block(link, exec());
}

/// Without fading the DFT is a rotation: the waveforms lose the same blocks but for chance.
TEST_P(nr_link_on, transform_precoding_costs_nothing_without_fading) {
  NR_SKIP_WITHOUT_FFT();
  const stop_rule stop{.frame_errors = 0, .max_frames = 400};
  const link_config plain = slot_link(4, 1, 2, csi_type::perfect, 1, "", 0);
  link_chain without(plain, exec()), with(spread(plain), exec());
  const double a = static_cast<double>(run_point(without, -3.3, stop).counts.frame_errors),
               b = static_cast<double>(run_point(with, -3.3, stop).counts.frame_errors);
  EXPECT_GT(a, 40);
  EXPECT_LT(a, 360);
  EXPECT_NEAR(a, b, 4 * std::sqrt(2 * a * (1 - a / 400)));
}

/// Four layers through W = 1/2 are four layers without a codebook.
TEST_P(nr_link_on, a_codebook_that_only_scales_changes_nothing) {
  const stop_rule stop{.frame_errors = 0, .max_frames = 6};
  for (const csi_type csi : {csi_type::perfect, csi_type::ls, csi_type::lmmse}) {
    const link_config plain = slot_link(4, 4, 4, csi, 4, "tdlb100", 100);
    link_chain without(plain, exec()), with(precoded(plain, 4, 0), exec());
    const point_result a = run_point(without, -2, stop), b = run_point(with, -2, stop);
    EXPECT_GT(a.counts.bit_errors, 0u);
    EXPECT_EQ(b.counts.frame_errors, a.counts.frame_errors);
    EXPECT_NEAR(static_cast<double>(b.counts.bit_errors), static_cast<double>(a.counts.bit_errors),
                0.02 * static_cast<double>(a.counts.bit_errors));
  }
}

TEST_P(nr_link_on, correlated_antennas_lose_blocks_and_low_ones_none) {
  const stop_rule stop{.frame_errors = 0, .max_frames = 24};
  link_config link = slot_link(4, 2, 10, csi_type::perfect, 2, "tdlb100", 100);
  link_chain none(link, exec());
  const point_result expected = run_point(none, 14, stop);
  const auto with = [&](antenna_correlation level) {
    link.channel.edit<tdl_config>([&](tdl_config& line) { line.spatial.correlation = level; });
    link_chain chain(link, exec());
    return run_point(chain, 14, stop);
  };
  expect_same(with(antenna_correlation::low).counts, expected.counts);
  EXPECT_GT(with(antenna_correlation::high).counts.frame_errors, expected.counts.frame_errors + 5);
}

/// With a detector and decoder in a loop.
link_config looped(link_config c, const std::string& type, int outer) {
  c.antennas.edit<nr_link_config>().detector.type = type;
  c.receiver = receiver_config{.outer = outer};
  return c;
}

TEST_P(nr_link_on, outer_iterations_save_blocks) {
  const auto reference = open_reference();
  const stop_rule stop{.frame_errors = 0, .max_frames = 32};
  link_config link = looped(slot_link(4, 2, 13, csi_type::perfect, 2, "tdlb100", 100), "pic", 3);
  testing::sent_in(link.code).transmissions = 2;
  link_chain chain(link, exec()), pieces(link, *reference, 5);
  const point_result p = run_point(chain, 13, stop);
  expect_same(run_point(pieces, 13, stop).counts, p.counts);
  link_config open = link;
  open.receiver.reset();
  link_chain once(open, exec());
  const point_result without = run_point(once, 13, stop);
  EXPECT_LT(p.counts.block_errors[0], without.counts.block_errors[0]);
  EXPECT_EQ(p.counts.outer_frame_errors[2], p.counts.frame_errors);
}

TEST(nr_link, bad_settings_are_named) {
  const auto error = [](auto change) {
    link_config c = slot_link(4, 1, 4, csi_type::ls, 1, "", 0);
    change(c, c.antennas.edit<nr_link_config>());
    return blamed([&] { completed(c); });
  };
  EXPECT_EQ(error([](auto&, auto&) {}), "");
  EXPECT_EQ(error([](auto& c, auto&) { c.code = code_config("lte-transport"); }), "code.type");
  EXPECT_EQ(error([](auto& c, auto&) { c.channel = rayleigh_config{}; }), "channel.type");
  EXPECT_EQ(error([](auto&, auto& nr) { nr.detector.rx_antennas = 2; }), "channel.type");
  EXPECT_EQ(error([](auto&, auto& nr) { nr.channel.layers = 2; }), "rx_antennas");
  EXPECT_EQ(error([](auto&, auto& nr) { nr.channel.layers = 5; }), "layers");
  EXPECT_EQ(error([](auto&, auto& nr) { nr.frc = "G-FR1-A4-99"; }), "frc");
  EXPECT_EQ(error([](auto&, auto& nr) { nr.mcs = 28, nr.mcs_table = 2; }), "mcs");
  EXPECT_EQ(error([](auto&, auto& nr) { nr.channel.blocks = 5; }), "blocks");
  EXPECT_EQ(error([](auto&, auto& nr) { nr.channel.tpmi = 0; }), "tpmi");
  EXPECT_EQ(error([](auto& c, auto&) { c.channel = cdl_config{}; }), "profile");
  const auto of_codebook = [](int ports, int layers, int tpmi, nr_direction direction) {
    link_config c = precoded(slot_link(4, layers, 4, csi_type::ls, 4, "tdla30", 0), ports, tpmi);
    c.antennas.edit<nr_link_config>().channel.direction = direction;
    return blamed([&] { completed(completed(c)); });
  };
  const auto of_loop = [](const link_config& c) { return blamed([&] { completed(c); }); };
  const link_config two = slot_link(4, 2, 4, csi_type::ls, 2, "tdla30", 0);
  EXPECT_EQ(of_loop(looped(two, "pic", 2)), "");
  EXPECT_EQ(of_loop(looped(two, "mmse", 1)), "");
  EXPECT_EQ(of_loop(looped(two, "mmse", 2)), "outer");
  link_config mixed = looped(two, "pic", 2);
  mixed.receiver->interleaver = receiver_interleaver::random;
  EXPECT_EQ(of_loop(mixed), "interleaver");
  const auto up = nr_direction::uplink;
  EXPECT_EQ(of_codebook(4, 3, 6, up), "");
  EXPECT_EQ(of_codebook(2, 3, 0, up), "layers");
  EXPECT_EQ(of_codebook(3, 1, 0, up), "ports");
  EXPECT_EQ(of_codebook(2, 1, 6, up), "tpmi");
  EXPECT_EQ(of_codebook(4, 4, 5, up), "tpmi");
  EXPECT_EQ(of_codebook(2, 2, 0, nr_direction::downlink), "precoder");
  EXPECT_EQ(error([](auto& c, auto&) { testing::sent_in(c.code).transmissions = 9; }), "transmissions");
}

const std::string pusch = "nr.channel = \"pusch\"\nsweep.snr_db = [10.0]\n";

TEST(nr_scenario, says_a_slot) {
  const curve_config c =
      only_curve(pusch +
                 "nr.frc = \"G-FR1-A4-26\"\nnr.csi = \"lmmse\"\nnr.taps = 8\nmimo.rx_antennas = 4\n"
                 "channel = { type = \"tdl\", profile = \"tdlc300\", doppler_hz = 100.0 }\n"
                 "code.transmissions = 2\ndetector.type = \"kbest\"\ndecoder.iterations = 7\n");
  const auto& nr = c.link.antennas.get<nr_link_config>();
  EXPECT_EQ(nr.csi, csi_type::lmmse);
  EXPECT_EQ(nr.taps, 8);
  EXPECT_EQ(nr.channel.layers, 2);
  EXPECT_EQ(nr.channel.carrier.resource_blocks, 51);
  EXPECT_EQ(nr.detector.type, "kbest");
  EXPECT_EQ(nr.detector.rx_antennas, 4);
  EXPECT_EQ(testing::k_in(c.link.code), 37896);
  EXPECT_EQ(testing::sent_in(c.link.code).transmissions, 2);
  EXPECT_EQ(testing::ldpc_decoder_in(c.link.code).iterations, 7);
  const auto& line = c.link.channel.get<tdl_config>();
  EXPECT_EQ(line.grid.subcarriers, 612);
  EXPECT_GE(line.grid.cyclic_prefix_us, 2.595);
}

TEST(nr_scenario, says_precoder_and_channel) {
  const curve_config c = only_curve(
      pusch +
      "nr.layers = 2\nnr.precoder = \"codebook\"\nnr.ports = 4\nnr.tpmi = 1\nnr.resource_blocks = 4\n"
      "mimo.rx_antennas = 8\n"
      "channel = { type = \"tdl\", correlation = \"Medium_A\", doppler_hz = 5.0 }\n");
  const auto& nr = c.link.antennas.get<nr_link_config>();
  EXPECT_EQ(nr.channel.antenna_ports, 4);
  EXPECT_EQ(nr.channel.tpmi, 1);
  EXPECT_EQ(nr.detector.streams, 2);
  const auto& line = c.link.channel.get<tdl_config>();
  EXPECT_EQ(line.streams, 4);
  EXPECT_EQ(line.spatial.correlation, antenna_correlation::medium_a);
  const double power = sent_power(nr);
  EXPECT_NEAR(noise_level_at(c.link, 3).esn0_db, 3 - 10 * std::log10(power), 1e-9);
  EXPECT_NEAR(power, 0.5, 1e-6);  // two of four ports send
  const curve_config clusters =
      only_curve(pusch +
                 "mimo.rx_antennas = 4\nnr.resource_blocks = 4\n"
                 "channel = { type = \"cdl\", profile = \"cdl-c\", speed_kmh = 30.0, sector_deg = 30.0 }\n");
  const auto& cdl = clusters.link.channel.get<cdl_config>();
  EXPECT_EQ(cdl.users, 1);
  EXPECT_EQ(cdl.antennas, 4);
  EXPECT_EQ(cdl.grid.symbols, 14);
  EXPECT_EQ(cdl.speed_kmh, 30);
}

/// One point of each curve of error_rates/nr_pusch, few frames: what another program finds 0.4 dB to either
/// side encloses it. docs/pusch.md has the comparison with many.
TEST(nr_curve, lies_where_another_program_finds_it) {
  const std::filesystem::path folder = std::string(WARPBAND_REFDATA) + "/error_rates/nr_pusch";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no refdata in '" << folder.string() << "'";
  const auto exec = open_executor("cpu");
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() != ".json") continue;
    std::ifstream settings(file.path()), csv(std::filesystem::path(file.path()).replace_extension(".csv"));
    const auto s = parse_json(settings).at("settings");
    if (s.at("layers").get<int>() * s.at("n_prb").get<int>() > 30) continue;  // quick
    std::vector<double> snr;
    std::vector<double> bler[2];  // ls, perfect
    std::string line;
    std::getline(csv, line);
    while (std::getline(csv, line)) {
      std::replace(line.begin(), line.end(), ',', ' ');
      std::istringstream in(line);
      double x[10];
      for (double& v : x) in >> v;
      snr.push_back(x[0]), bler[0].push_back(x[4]), bler[1].push_back(x[8]);
    }
    for (const bool perfect : {false, true}) {
      const std::vector<double>& y = bler[perfect];
      std::size_t i = 0;  // the last point above 0.3
      while (i + 1 < y.size() && y[i + 1] > 0.3) i++;
      if (i + 1 == y.size() || y[i + 1] == 0) continue;
      const auto bler_at = [&](double db) {
        std::size_t n = 0;
        while (n + 2 < snr.size() && snr[n + 1] < db) n++;
        const double a = std::log(std::max(y[n], 1e-6)), b = std::log(std::max(y[n + 1], 1e-6));
        return std::exp(a + (b - a) * (db - snr[n]) / (snr[n + 1] - snr[n]));
      };
      std::string profile = s.at("delay_profile").get<std::string>();
      for (char& c : profile) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      link_config link =
          slot_link(s.at("n_prb"), s.at("layers"), s.at("mcs"), perfect ? csi_type::perfect : csi_type::ls,
                    s.at("n_rx"), profile == "awgn" ? "" : ("tdl" + profile).c_str(), s.at("doppler_hz"));
      if (profile != "awgn") link.channel.edit<tdl_config>([](tdl_config& c) { c.sinusoids = 20; });
      testing::ldpc_decoder_in(link.code) = {
          .algorithm = ldpc_algorithm::sum_product, .iterations = 20, .schedule = ldpc_schedule::flooding};
      link_chain chain(link, *exec);
      const point_result p = run_point(chain, snr[i], {.frame_errors = 0, .max_frames = 48});
      const interval ours = clopper_pearson(p.counts.frame_errors, p.counts.frames, 0.999);
      EXPECT_LT(ours.low, bler_at(snr[i] - 0.4)) << file.path().filename() << (perfect ? " perfect" : " ls");
      EXPECT_GT(ours.high, bler_at(snr[i] + 0.4)) << file.path().filename() << (perfect ? " perfect" : " ls");
    }
  }
}

}  // namespace nr_link_test
}  // namespace wb
