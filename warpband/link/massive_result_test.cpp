// Massive MIMO in scenario and result files: keys, the way there and back, and refusals; and the intervals of
// what fails together.
#include <cmath>
#include <random>

#include <tests/codes.hpp>
#include <tests/result.hpp>
#include <tests/scenario.hpp>

namespace wb {
namespace massive_result_test {

using namespace testing;

const char* const text = R"(
code = { type = "conv", rate = "5/6", k = 45 }
modem.modulation = "qpsk"
channel.type = "rayleigh"
massive = { antennas = 10, users = 3, subcarriers = 32, symbols = 2 }
sweep.snr_db = [-4, 0, 30]
stop = { frame_errors = 20, max_frames = 50, below_bler = 0.01 }
[[curve]]
label = "exact"
massive.solver = "cholesky"
[[curve]]
label = "two iterations"
massive.solver = "cg"
massive.iterations = 2
[[curve]]
label = "precoded"
massive.solver = "zf"
massive.direction = "downlink"
channel = { type = "tdl", profile = "epa", spacing_hz = 60000 }
)";

TEST(massive_scenario, keys_become_settings) {
  const scenario s = parse_scenario(text, "s.toml");
  ASSERT_EQ(s.curves.size(), 3u);
  const auto of_curve = [&](std::size_t i) { return s.curves[i].link.antennas.get<massive_link_config>(); };
  const massive_link_config exact = of_curve(0), two = of_curve(1), down = of_curve(2);
  EXPECT_EQ(exact.antennas, 10);
  EXPECT_EQ(exact.users, 3);
  EXPECT_EQ(exact.subcarriers, 32);
  EXPECT_EQ(exact.symbols, 2);
  EXPECT_EQ(exact.solver, massive_mode::cholesky);
  EXPECT_EQ(exact.direction, massive_direction::uplink);
  EXPECT_EQ(two.solver, massive_mode::cg);
  EXPECT_EQ(two.iterations, 2);
  EXPECT_EQ(down.direction, massive_direction::downlink);
  EXPECT_EQ(s.curves[2].link.channel.type, "tdl");
  EXPECT_EQ(s.curves[0].stop.below_bler, 0.01);
  const scenario clusters = parse_scenario(
      "code.type = \"none\"\nmodem.modulation = \"qpsk\"\nmassive.solver = \"mf\"\nsweep.snr_db = 1\n"
      "channel = { type = \"cdl\", profile = \"b1-los\", sector_deg = 45, antenna_spacing_wavelengths = 0.5 "
      "}",
      "s.toml");
  const cdl_config& c = clusters.curves[0].link.channel.get<cdl_config>();
  EXPECT_EQ(c.profile, cdl_profile_named("b1-los"));
  EXPECT_EQ(c.sector_deg, 45);
  EXPECT_EQ(c.spacing_wavelengths, 0.5);
  EXPECT_EQ(c.grid.spacing_hz, 156250);
  EXPECT_TRUE(c.power_control);
  const scenario uncoded = parse_scenario(
      "code.type = \"none\"\nmodem.modulation = \"64qam\"\nchannel.type = \"rayleigh\"\n"
      "massive.solver = \"mf\"\nsweep.snr_db = 1",
      "s.toml");
  EXPECT_EQ(testing::k_in(uncoded.curves[0].link.code), 128 * 6);
}

TEST(massive_scenario, clusters_of_ones_own) {
  const std::string base =
      "code.type = \"none\"\nmodem.modulation = \"qpsk\"\nmassive.solver = \"mf\"\nsweep.snr_db = 1\n";
  const std::string cdl = base + "channel.type = \"cdl\"\n";
  const scenario s = parse_scenario(
      base +
          "channel = { type = \"cdl\", delays_ns = [0, 300], powers_db = [0, -3], aod_deg = [-40, 10], "
          "zoa_deg = [80, 100], split = [1, 0], asd_deg = 5, rician_k_db = 6 }\n",
      "s.toml");
  cdl_profile wanted;
  wanted.clusters = {{.delay_ns = 0, .power_db = 0, .aod_deg = -40, .zoa_deg = 80, .split = true},
                     {.delay_ns = 300, .power_db = -3, .aod_deg = 10, .zoa_deg = 100}};
  wanted.asd_deg = 5;
  wanted.rician_k_db = 6;
  EXPECT_EQ(s.curves[0].link.channel.get<cdl_config>().profile, wanted);
  EXPECT_REFUSED(cdl + "channel.aod_deg = [0]",
                 "line 6: channel.aod_deg has no meaning without channel.delays_ns");
  EXPECT_REFUSED(cdl + "channel.profile = \"a1-los\"\nchannel.delays_ns = 0\nchannel.powers_db = 0",
                 "line 6: channel.profile has no meaning with channel.delays_ns");
  EXPECT_REFUSED(
      cdl + "channel.delays_ns = [0, 1]\nchannel.powers_db = [0, 0]\nchannel.zod_deg = [1]",
      "line 8: channel.zod_deg = 1 values is not allowed: expected 2, as many as delays_ns has, or none");
  EXPECT_REFUSED(cdl + "channel.split = [2]", "line 6: channel.split = 2 is not allowed");
}

TEST(massive_scenario, what_has_no_meaning_is_refused) {
  const std::string sweep =
      "code.type = \"none\"\nmodem.modulation = \"16qam\"\nchannel.type = \"rayleigh\"\nsweep.snr_db = 1\n";
  EXPECT_REFUSED(sweep + "massive.users = 4", "line 5: massive.users has no meaning without massive.solver");
  EXPECT_REFUSED(sweep + "stop.below_bler = 0.1", "stop.below_bler has no meaning without massive.solver");
  EXPECT_REFUSED(sweep + "massive.solver = \"lu\"", "massive.solver = \"lu\" is not allowed");
  EXPECT_REFUSED(sweep + "massive.solver = \"cg\"", "line 5: massive.iterations is missing");
  const std::string on = sweep + "massive.solver = \"zf\"\n";
  EXPECT_NO_THROW(parse_scenario(on, "s.toml"));
  EXPECT_REFUSED(on + "massive.iterations = 2",
                 "massive.iterations has no meaning with massive.solver = \"zf\"");
  EXPECT_REFUSED(on + "mimo.streams = 2", "mimo.streams has no meaning with massive.solver = \"zf\"");
  EXPECT_REFUSED(on + "detector.type = \"ml\"", "detector.type has no meaning");
  EXPECT_REFUSED(on + "stbc.type = \"golden\"", "stbc.type has no meaning");
  EXPECT_REFUSED(on + "modem.demapper = \"exact\"", "modem.demapper has no meaning");
  EXPECT_REFUSED(on + "massive.direction = \"downlink\"\nmassive.sinr = \"exact\"",
                 "massive.sinr has no meaning");
  EXPECT_REFUSED(on + "massive.antennas = 8", "massive.antennas = 8 is not allowed: expected 16 to 512");
  EXPECT_REFUSED(on + "massive.users = 65", "massive.users = 65 is not allowed");
  EXPECT_REFUSED(on + "channel.sector_deg = 3",
                 "channel.sector_deg has no meaning with channel.type = \"rayleigh\"");
  const std::string cdl =
      "code.type = \"none\"\nmodem.modulation = \"16qam\"\nchannel.type = \"cdl\"\nsweep.snr_db = 1\n";
  EXPECT_REFUSED(cdl, "channel.type = \"cdl\" is not allowed");
  EXPECT_REFUSED(cdl + "massive.solver = \"zf\"\nchannel.profile = \"eva\"",
                 "channel.profile = \"eva\" is not allowed: expected \"a1-los\"");
  EXPECT_REFUSED(cdl + "massive.solver = \"zf\"\nchannel.doppler_hz = 5",
                 "channel.doppler_hz has no meaning");
  EXPECT_REFUSED(cdl + "massive.solver = \"zf\"\nchannel.antenna_spacing_m = 1000",
                 "channel.antenna_spacing_m = ");
  EXPECT_REFUSED(
      cdl + "massive.solver = \"zf\"\nchannel.antenna_spacing_m = 1\nchannel.antenna_spacing_wavelengths = 1",
      "channel.antenna_spacing_wavelengths has no meaning with channel.antenna_spacing_m");
  EXPECT_NO_THROW(parse_scenario(on + "massive.direction = \"downlink\"\nmassive.subcarriers = 1", "s.toml"));
  EXPECT_REFUSED(on + "code.k = 600", "massive.subcarriers = 128 is not allowed: expected at least 150");
}

TEST(massive_scenario, a_curve_of_another_channel_takes_nothing_of_the_inherited_one) {
  const std::string sweep =
      "code.type = \"none\"\nmodem.modulation = \"16qam\"\nsweep.snr_db = 1\nmassive.solver = \"zf\"\n";
  const scenario clusters = parse_scenario(sweep +
                                               "channel = { type = \"tdl\", profile = \"tdl-a\", "
                                               "delay_spread_ns = 300 }\n[[curve]]\nchannel.type = \"cdl\"\n"
                                               "[[curve]]\nlabel = \"b\"\n",
                                           "s.toml");
  EXPECT_EQ(clusters.curves[0].link.channel.get<cdl_config>().profile, cdl_profile_named("c2-nlos"));
  EXPECT_EQ(clusters.curves[1].link.channel.get<tdl_config>().profile, tdl_profile_named("tdl-a", 300));
  const scenario line = parse_scenario(
      sweep +
          "channel = { type = \"cdl\", profile = \"cdl-a\", delay_spread_ns = 300, "
          "antenna_spacing_wavelengths = 2 }\n"
          "[[curve]]\nchannel.type = \"tdl\"\n[[curve]]\nlabel = \"b\"\nchannel.antenna_spacing_m = 0.1\n",
      "s.toml");
  EXPECT_EQ(line.curves[0].link.channel.get<tdl_config>().profile, tdl_profile_named("epa", 0));
  EXPECT_EQ(line.curves[1].link.channel.get<cdl_config>().spacing_wavelengths, 0);
  EXPECT_EQ(line.curves[1].link.channel.get<cdl_config>().spacing_m, 0.1);
}

using massive_result = result_folder;

TEST_F(massive_result, is_read_back_and_goes_on_to_the_counts_of_one_run) {
  const auto exec = open_scalar();
  run_result whole;
  whole.source = parse_scenario(text, "s.toml");
  run_result killed = whole;
  for (const curve_config& c : whole.source.curves) {
    whole.curves.push_back(run_curve(c, *exec));
    int batches = 0;  // stops where some points are finished and one is not
    const auto few = [&](const curve_result&, std::size_t, const point_counts&) { return ++batches < 5; };
    killed.curves.push_back(run_curve(c, *exec, {few, {}}));
  }
  EXPECT_EQ(whole.curves[0].points.size(), 3u);
  EXPECT_GT(whole.curves[0].points[0].counts.codeword_errors, 20u);  // 20 frames, with more codewords
  write_file(path("killed.json"), result_json(killed));
  run_result back = load_result(path("killed.json"));
  EXPECT_EQ(result_json(back), result_json(killed));
  for (std::size_t i = 0; i < back.curves.size(); i++) {
    run_curve(back.curves[i], *exec);
    ASSERT_EQ(back.curves[i].points.size(), whole.curves[i].points.size());
    for (std::size_t p = 0; p < back.curves[i].points.size(); p++) {
      expect_same(back.curves[i].points[p].counts, whole.curves[i].points[p].counts);
    }
  }
}

TEST_F(massive_result, contradictions_are_refused) {
  const auto exec = open_scalar();
  run_result r;
  r.source = parse_scenario(text, "s.toml");
  r.curves.push_back(run_curve(r.source.curves[0], *exec));
  const std::string good = result_json(r);
  const auto refused = [&](const std::string& key, const std::string& value) {
    std::string bad = good;
    const std::size_t at = bad.find("\"" + key + "\": ", bad.find("\"codewords\": {") + 13) + key.size() + 4;
    bad.replace(at, bad.find_first_of(",\n", at) - at, value);
    write_file(path("bad.json"), bad);
    try {
      load_result(path("bad.json"));
    } catch (const file_error& error) {
      return std::string(error.what()).find("codewords." + key) != std::string::npos;
    }
    return false;
  };
  write_file(path("good.json"), good);
  EXPECT_NO_THROW(load_result(path("good.json")));
  EXPECT_TRUE(refused("errors", "100000"));
  EXPECT_TRUE(refused("errors", "0"));
  EXPECT_TRUE(refused("errors_squared", "1"));
  EXPECT_TRUE(refused("bit_errors_squared", "1"));
}

TEST(clustered, intervals_cover_what_fails_together) {
  // Each cluster draws its own probability from a beta distribution, and most of its trials follow it.
  std::mt19937_64 random(1);
  const std::uint64_t clusters = 60, size = 16;
  const double p = 0.1, a = 0.4, b = a * (1 - p) / p;
  int clustered = 0, independent = 0;
  const int runs = 2000;
  for (int r = 0; r < runs; r++) {
    std::gamma_distribution<double> x(a), y(b);
    std::uint64_t errors = 0, squares = 0;
    for (std::uint64_t c = 0; c < clusters; c++) {
      const double u = x(random), v = y(random);
      const auto e = std::binomial_distribution<std::uint64_t>(size, u / (u + v))(random);
      errors += e, squares += e * e;
    }
    const interval i = clustered_interval(errors, squares, clusters, size),
                   j = clopper_pearson(errors, clusters * size);
    clustered += i.low <= p && p <= i.high;
    independent += j.low <= p && p <= j.high;
  }
  EXPECT_GT(clustered, 0.93 * runs);    // within what the estimated variance of 60 clusters allows
  EXPECT_LT(independent, 0.85 * runs);  // which is why
}

TEST(clustered, limits_are_exact_ones) {
  // Errors of their own: nearly the exact interval of all trials, never narrower.
  const interval all = clopper_pearson(100, 10000), i = clustered_interval(100, 100, 10000, 1);
  EXPECT_NEAR(i.low, all.low, 1e-6);
  EXPECT_NEAR(i.high, all.high, 1e-6);
  // Whole clusters: that of the clusters.
  const interval whole = clustered_interval(10 * 20, 10 * 20 * 20, 200, 20), of = clopper_pearson(10, 200);
  EXPECT_NEAR(whole.low, of.low, 1e-3);
  EXPECT_NEAR(whole.high, of.high, 2e-3);
  EXPECT_EQ(clustered_interval(0, 0, 50, 8).low, 0);
  EXPECT_EQ(clustered_interval(0, 0, 50, 8).high, clopper_pearson(0, 50).high);
  EXPECT_EQ(clustered_interval(400, 3200, 50, 8).high, 1);
  EXPECT_EQ(clustered_interval(3, 9, 1, 8).low, 0);
  EXPECT_EQ(clustered_interval(3, 9, 1, 8).high, 1);
  EXPECT_EQ(blamed([] { clustered_interval(17, 17, 2, 8); }), "errors");
  EXPECT_EQ(blamed([] { clustered_interval(7, 6, 2, 8); }), "squares");
  EXPECT_EQ(blamed([] { clustered_interval(0, 0, 2, 0); }), "size");
}

}  // namespace massive_result_test
}  // namespace wb
