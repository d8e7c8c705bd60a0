// Antennas and channels of scenarios: delay lines, detectors, space-time codes.
#include <filesystem>
#include <tests/codes.hpp>
#include <tests/detectors.hpp>
#include <tests/scenario.hpp>

namespace wb {
namespace scenario_antennas_test {

using namespace testing;

TEST(scenario, delay_lines) {
  const scenario s = parse_scenario(R"(
sweep.ebn0_db = 2
channel = { type = "tdl", profile = "tdl-d", delay_spread_ns = 30, doppler_hz = 70, sinusoids = 16 }
[[curve]]
channel = { subcarriers = 600, symbols = 14, spacing_hz = 30e3, cyclic_prefix_us = 2.4, symbol_period_us = 40 }
[[curve]]
channel = { delays_ns = [0, 310.5, 1090], powers_db = [0, -1, -10], rician_k_db = 6 }
[[curve]]
channel = { profile = "eva" }
mimo = { streams = 2, rx_antennas = 2 }
modem.modulation = "qpsk"
[[curve]]
channel.type = "rayleigh"
)",
                                    "s.toml");
  ASSERT_EQ(s.curves.size(), 4u);
  const auto line = [&](std::size_t i) -> const tdl_config& {
    return s.curves[i].link.channel.get<tdl_config>();
  };
  EXPECT_EQ(line(0).profile, tdl_profile_named("tdl-d", 30));
  EXPECT_EQ(line(0).doppler_hz, 70);
  EXPECT_EQ(line(0).sinusoids, 16);
  EXPECT_EQ(line(0).grid.subcarriers, 600);
  EXPECT_EQ(line(0).grid.symbols, 14);
  EXPECT_EQ(line(0).grid.spacing_hz, 30e3);
  EXPECT_EQ(line(0).grid.cyclic_prefix_us, 2.4);
  EXPECT_EQ(line(0).grid.symbol_period_us, 40);
  EXPECT_EQ(line(1).profile, (tdl_profile{{{0, 0}, {310.5, -1}, {1090, -10}}, 6.}));
  EXPECT_EQ(line(1).grid.symbols, 0);
  EXPECT_EQ(line(2).profile, tdl_profile_named("eva"));
  EXPECT_EQ(s.curves[2].link.antennas.get<detector_config>().type, "mmse");
  EXPECT_EQ(s.curves[3].link.channel.type, "rayleigh");

  const std::string tdl = sweep + "channel.type = \"tdl\"\n";
  EXPECT_REFUSED(sweep + "channel.doppler_hz = 5",
                 "line 2: channel.doppler_hz has no meaning with channel.type = \"awgn\"");
  EXPECT_REFUSED(tdl + "channel.fading = \"block\"",
                 "line 3: channel.fading has no meaning with channel.type = \"tdl\"");
  EXPECT_REFUSED(tdl + "channel.profile = \"epb\"",
                 "line 3: channel.profile = \"epb\" is not allowed: expected");
  EXPECT_REFUSED(tdl + "channel.delay_spread_ns = 30",
                 "line 3: channel.delay_spread_ns has no meaning with channel.profile = \"epa\"");
  EXPECT_REFUSED(tdl + "channel.profile = \"etu\"",
                 "line 3: channel.cyclic_prefix_us = 4.6875 is not allowed: "
                 "expected at least the longest delay of the channel, 5");
  EXPECT_REFUSED(tdl + "channel.rician_k_db = 5",
                 "line 3: channel.rician_k_db has no meaning without channel.delays_ns");
  EXPECT_REFUSED(tdl + "channel.delays_ns = [0, 1]",
                 "line 3: channel.powers_db has 0 numbers for the 2 taps of channel.delays_ns");
  EXPECT_REFUSED(tdl + "channel.profile = \"eva\"\nchannel.delays_ns = 0\nchannel.powers_db = 0",
                 "line 3: channel.profile has no meaning with channel.delays_ns");
  EXPECT_REFUSED(tdl + "channel.delays_ns = [0, -1]", "line 3: channel.delays_ns = -1 is not allowed");
  EXPECT_REFUSED(tdl + "channel.powers_db = [nan]", "line 3: channel.powers_db = nan is not allowed");
  EXPECT_REFUSED(tdl + "channel.symbol_period_us = 5", "line 3: channel.symbol_period_us = 5 is not allowed");
  EXPECT_REFUSED(tdl + "channel.doppler_hz = 1e6\nchannel.symbols = 65536",
                 "channel.symbols = 65536 is not allowed: expected at most 2^24 resource elements");
}

#if WARPBAND_HDF5
TEST(scenario, a_key_of_the_channel_is_blamed_under_its_table) {
  const std::string file = std::string(WARPBAND_SOURCE_DIR) + "/tests/golden/channel.hdf5";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "no golden set here";
  EXPECT_REFUSED(sweep + "channel = { type = \"file\", file = \"" + file + "\", spacing_khz = 60 }",
                 "line 2: channel.spacing_khz = 60 is not allowed");
}
#endif

TEST(scenario, space_time_codes) {
  const scenario s = parse_scenario(R"(
sweep.snr_db = 8
modem.modulation = "qpsk"
channel = { type = "rayleigh", fading = "block" }
code = { type = "none", k = 8 }
mimo.rx_antennas = 2
[[curve]]
stbc.type = "silver"
[[curve]]
stbc = { type = "golden", search = "slicing" }
[[curve]]
stbc.type = "alamouti"
modem.modulation = "16qam"
mimo = { streams = 2, rx_antennas = 1 }
[[curve]]
stbc.type = "none"
mimo.streams = 2
detector.type = "ml"
[[curve]]
stbc = { type = "pair", v = [[0.6, 0], [0, 0.8], [0, 0.8], [0.6, 0]] }
)",
                                    "s.toml");
  ASSERT_EQ(s.curves.size(), 5u);
  const auto link = [&](std::size_t i) -> const link_config& { return s.curves[i].link; };
  for (std::size_t i = 0; i < 4; i++) {
    EXPECT_EQ(streams_of(link(i)), 2);
    EXPECT_EQ(rx_antennas_of(link(i)), i == 2 ? 1 : 2);
    EXPECT_EQ(link(i).antennas.find<stbc_config>() != nullptr, i != 3);
    EXPECT_EQ(link(i).antennas.find<detector_config>() != nullptr, i == 3);
  }
  const auto space_time = [&](std::size_t i) { return link(i).antennas.get<stbc_config>(); };
  EXPECT_STREQ(name_of(space_time(0).code), "silver");
  EXPECT_EQ(space_time(0).search, golden_search::exact);
  EXPECT_STREQ(name_of(space_time(1).code), "golden");
  EXPECT_EQ(space_time(1).search, golden_search::slicing);
  EXPECT_STREQ(name_of(space_time(2).code), "alamouti");
  EXPECT_STREQ(name_of(space_time_code::pair({1, 0, 0, 1})), "pair");
  using z = std::complex<double>;
  EXPECT_STREQ(name_of(space_time(4).code), "pair");
  EXPECT_EQ(space_time(4).code.v(), (space_time_code::matrix{0.6, z(0, 0.8), z(0, 0.8), 0.6}));
}

TEST(scenario, refuses_what_space_time_codes_do_not_allow) {
  const std::string code = sweep +
                           "channel.type = \"rayleigh\"\nmodem.modulation = \"qpsk\"\n"
                           "stbc.type = \"silver\"\n";
  only_curve(code);
  EXPECT_EQ(only_curve(code + "mimo.rx_antennas = 4").link.antennas.get<stbc_config>().rx_antennas, 4);
  EXPECT_REFUSED(sweep + "stbc.type = \"sliver\"",
                 "line 2: stbc.type = \"sliver\" is not allowed: expected \"none\", \"alamouti\"");
  EXPECT_REFUSED(code + "stbc.search = \"slicing\"",
                 "line 5: stbc.search has no meaning with stbc.type = \"silver\"");
  const std::string pair = sweep +
                           "channel.type = \"rayleigh\"\nmodem.modulation = \"qpsk\"\n"
                           "stbc.type = \"pair\"\n";
  only_curve(pair + "stbc.v = [[1, 0], [0, 0], [0, 0], [0, 1.0]]");
  // A curve's own type leaves the base's V aside; its own V stands in the base's place.
  const scenario curves = parse_scenario(pair +
                                             "stbc.v = [[1, 0], [0, 0], [0, 0], [1, 0]]\n"
                                             "[[curve]]\nstbc.type = \"golden\"\n"
                                             "[[curve]]\nstbc.v = [[0, 0], [1, 0], [1, 0], [0, 0]]\n",
                                         "s.toml");
  EXPECT_STREQ(name_of(curves.curves[0].link.antennas.get<stbc_config>().code), "golden");
  EXPECT_EQ(curves.curves[1].link.antennas.get<stbc_config>().code.v(),
            (space_time_code::matrix{0, 1, 1, 0}));
  EXPECT_REFUSED(pair, "line 4: stbc.v is missing with stbc.type = \"pair\"");
  EXPECT_REFUSED(code + "stbc.v = [[1, 0], [0, 0], [0, 0], [1, 0]]",
                 "line 5: stbc.v has no meaning with stbc.type = \"silver\"");
  EXPECT_REFUSED(pair + "stbc.v = [[1, 0], [0, 0], [0, 0], [2, 0]]",
                 "line 5: stbc.v = with 4 + 0i as entry (1, 1) of V^H V is not allowed: expected a unitary");
  EXPECT_REFUSED(
      pair + "stbc.v = [[1, 0], [0, 0], [1, 0]]",
      "line 5: stbc.v = a list of 3 is not allowed: expected the four entries of a unitary matrix");
  EXPECT_REFUSED(pair + "stbc.v = [[1, 0], [0, 0], [0], [1, 0]]", "stbc.v = a list with one of 1 is not");
  EXPECT_REFUSED(pair + "stbc.v = [1, 0, 0, 1]", "line 5: stbc.v = [1, 0, 0, 1] is not allowed");
  EXPECT_REFUSED(pair + "stbc.v = [[1, 0], [0, 0], [0, 0], [1, \"0\"]]", "stbc.v = \"0\" is not allowed");
  EXPECT_REFUSED(pair + "stbc.v = [[1, 0], [0, 0], [0, 0], [nan, 0]]", "stbc.v = nan is not allowed");
  EXPECT_REFUSED(pair + "stbc.v = 1", "stbc.v = 1 is not allowed");
  EXPECT_REFUSED(sweep + "stbc.search = \"exact\"", "line 2: stbc.search has no meaning without stbc.type");
  EXPECT_REFUSED(code + "detector.type = \"ml\"",
                 "line 5: detector.type has no meaning with stbc.type = \"silver\"");
  EXPECT_REFUSED(code + "modem.demapper = \"exact\"",
                 "line 5: modem.demapper has no meaning with stbc.type = \"silver\"");
  EXPECT_REFUSED(code + "mimo.streams = 1",
                 "line 5: mimo.streams = 1 is not allowed: expected 2 with stbc.type = \"silver\"");
  EXPECT_REFUSED(code + "mimo.rx_antennas = 5",
                 "line 5: mimo.rx_antennas = 5 is not allowed: expected 1 to 4");
  EXPECT_REFUSED(sweep + "stbc.type = \"golden\"\nmodem.modulation = \"qpsk\"",
                 "line 2: channel.type = \"awgn\" is not allowed: expected \"rayleigh\", \"kronecker\" or "
                 "\"file\" with a space-time code");
  EXPECT_REFUSED(sweep + "stbc.type = \"golden\"\nchannel.type = \"rayleigh\"\nmodem.modulation = \"256qam\"",
                 "line 4: modem.modulation = \"256qam\" is not allowed: expected \"qpsk\"");
  EXPECT_REFUSED(
      code + "code = { type = \"lte-transport\", resource_elements = 9000 }",
      "line 5: code.type = \"lte-transport\" is not allowed: expected another one with a space-time code");
}

TEST(scenario, antennas_and_detectors) {
  const scenario s = parse_scenario(R"(
sweep.snr_db = [8, 12]
modem.modulation = "16qam"
channel.type = "rayleigh"
code.rate = "1/2"
mimo = { streams = 4, rx_antennas = 5 }
detector = { ways = 3, survivors = 16, llr_clip = 4, order = [2, 0, 1, 3] }
[[curve]]
label = "mmse, clipped"
detector.type = "mmse"
[[curve]]
detector.type = "nway"
sweep.ebn0_db = { from = 1, to = 3, step = 1 }
[[curve]]
detector = { type = "kbest", real_valued = true, llr_clip = 2.5, order = [3, 2, 1, 0] }
sweep.snr_db = 7
[[curve]]
detector = { type = "ml", llr_clip = "none" }
[[curve]]
mimo = { streams = 1, rx_antennas = 1 }
modem.demapper = "exact"
)",
                                    "s.toml");
  ASSERT_EQ(s.curves.size(), 5u);
  for (const curve_config& c : s.curves) {
    EXPECT_EQ(testing::turbo_in(c.link.code).rate, turbo_rate::half);
    const bool several = streams_of(c.link) == 4 && rx_antennas_of(c.link) == 5;
    EXPECT_EQ(several, c.label != "curve 5");
    EXPECT_EQ(c.link.antennas.find<detector_config>() != nullptr, several);
  }
  const auto detector = [&](std::size_t i) { return s.curves[i].link.antennas.get<detector_config>(); };
  EXPECT_EQ(detector(0).type, "mmse");
  EXPECT_EQ(detector(0).llr_clip, 4);
  EXPECT_EQ(detector(0).settings, box());  // what the base says is for others
  EXPECT_EQ(s.curves[0].link.axis, snr_axis::snr_db);
  EXPECT_EQ(s.curves[0].sweep_db, (std::vector<double>{8, 12}));
  EXPECT_EQ(detector(1).type, "nway");
  EXPECT_EQ(detector(1).get<nway_settings>().ways, 3);
  EXPECT_EQ(detector(1).get<nway_settings>().search.order, (std::vector<int>{2, 0, 1, 3}));
  EXPECT_EQ(s.curves[1].link.axis, snr_axis::ebn0_db);  // the curve's in place of the base's
  EXPECT_EQ(s.curves[1].sweep_db, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(detector(2).type, "kbest");
  EXPECT_EQ(detector(2).get<kbest_settings>().survivors, 16);
  EXPECT_TRUE(detector(2).get<kbest_settings>().real_valued);
  EXPECT_EQ(detector(2).llr_clip, 2.5f);
  EXPECT_EQ(detector(2).get<kbest_settings>().search.order, (std::vector<int>{3, 2, 1, 0}));
  EXPECT_EQ(s.curves[2].sweep_db, (std::vector<double>{7}));
  EXPECT_EQ(detector(3).llr_clip, no_clip);
  EXPECT_EQ(s.curves[4].link.antennas.get<single_antenna>().demapper, demap_algorithm::exact);
  for (const std::string& name : detectors().names())
    EXPECT_EQ(
        only_curve(antennas + "detector.type = \"" + name + "\"").link.antennas.get<detector_config>().type,
        name);
}

TEST(scenario, refuses_what_detectors_do_not_allow) {
  const auto with = [](const std::string& text) { return antennas + text; };
  EXPECT_REFUSED(with("detector.typ = \"ml\""), "unknown key detector.typ: did you mean detector.type?");
  EXPECT_REFUSED(with("detector.survivers = 4"), "did you mean detector.survivors?");
  EXPECT_REFUSED(with("[[curve]]\nmimo.rx_antenas = 4"), "did you mean mimo.rx_antennas?");
  EXPECT_REFUSED(with("detector.type = \"lmmse\""),
                 "detector.type = \"lmmse\" is not allowed: expected \"ml\", ");
  EXPECT_REFUSED(with("detector.ways = 2"), "detector.ways has no meaning with detector.type = \"mmse\"");
  EXPECT_REFUSED(with("detector.type = \"ml\"\ndetector.survivors = 2"),
                 "line 6: detector.survivors has no meaning with detector.type = \"ml\"");
  EXPECT_REFUSED(with("detector.type = \"nway\"\ndetector.ways = 3"), "detector.ways = 3 is not allowed");
  EXPECT_REFUSED(with("detector.llr_clip = 0"),
                 "detector.llr_clip = 0 is not allowed: expected a number from 1e-6 to 1e6");
  EXPECT_REFUSED(with("detector.type = \"ot\"\ndetector.llr_clip = \"none\""), "line 6: detector.llr_clip");
  EXPECT_REFUSED(with("detector.type = \"kbest\"\ndetector.real_valued = 1"),
                 "detector.real_valued = 1 is not allowed: expected true or false");
  EXPECT_REFUSED(with("detector.order = [1, 0]"),
                 "detector.order has no meaning with detector.type = \"mmse\"");
  const auto order = [&](const std::string& list) {
    return with("detector.type = \"ot\"\ndetector.order = " + list);
  };
  const std::string expected = " is not allowed: expected a list with each of 0 to streams - 1 once";
  EXPECT_REFUSED(order("1"), "line 6: detector.order = 1" + expected);
  EXPECT_REFUSED(order("[]"), "line 6: detector.order = an empty list" + expected);
  EXPECT_REFUSED(order("[1, 0.0]"), "line 6: detector.order = [1.0, 0.0]" + expected);
  EXPECT_REFUSED(order("[1, -1]"), "line 6: detector.order = -1" + expected);
  EXPECT_REFUSED(order("[0, 8]"), "line 6: detector.order = 8" + expected);
  EXPECT_REFUSED(order("[1, 1]"),
                 "line 6: detector.order = 1,1 is not allowed: expected each of 0 to 1 once");
  EXPECT_REFUSED(order("[1, 0, 2]"),
                 "line 6: detector.order = 1,0,2 is not allowed: expected each of 0 to 1");
}

TEST(scenario, refuses_what_antennas_do_not_allow) {
  const auto with = [](const std::string& text) { return antennas + text; };
  EXPECT_REFUSED(with("modem.demapper = \"exact\""), "line 5: modem.demapper has no meaning with a detector");
  EXPECT_REFUSED(with("[[curve]]\nlabel = \"a\"\n[[curve]]\nlabel = \"b\"\nmimo.streams = 3"),
                 "line 4: mimo.rx_antennas = 2 is not allowed: expected 3 to 16, in curve \"b\"");
  EXPECT_REFUSED(with("[[curve]]\nmodem.modulation = \"bpsk\""),
                 "line 6: modem.modulation = \"bpsk\" is not allowed: expected \"qpsk\" to \"256qam\"");
  EXPECT_REFUSED(with("[[curve]]\nchannel.type = \"awgn\""),
                 "line 6: channel.type = \"awgn\" is not allowed: expected \"rayleigh\"");
  EXPECT_REFUSED(with("mimo.streams = 9"), "not TOML");  // twice
  EXPECT_REFUSED(sweep + "mimo.streams = 17",
                 "mimo.streams = 17 is not allowed: expected an integer from 1 to 8, with pic and ep to 16");
  const std::string many =
      "channel.type = \"rayleigh\"\nmodem.modulation = \"16qam\"\nmimo = { streams = 16, rx_antennas = 16 "
      "}\n";
  EXPECT_REFUSED(sweep + many + "detector.type = \"mmse\"",
                 "line 4: mimo.streams = 16 is not allowed: expected 1 to 8 with mmse; pic and ep take 16");
  EXPECT_EQ(streams_of(only_curve(sweep + many + "detector.type = \"pic\"").link), 16);
  EXPECT_REFUSED(sweep + "detector.llr_clip = 3",
                 "detector.llr_clip has no meaning without detector.type or several antennas");
  EXPECT_REFUSED(sweep + "detector.type = \"ml\"", "line 2: channel.type = \"awgn\" is not allowed");
  EXPECT_REFUSED(sweep + "mimo.streams = 4", "line 2: mimo.rx_antennas = 1 is not allowed: expected 4 to 16");
  EXPECT_REFUSED(sweep +
                     "channel.type = \"rayleigh\"\nmodem.modulation = \"256qam\"\n"
                     "mimo = { streams = 4, rx_antennas = 4 }\ndetector.type = \"ml\"",
                 "line 3: modem.modulation = 256 is not allowed: expected 64 or less with 4 streams");
  EXPECT_REFUSED(sweep + "code.rate = \"2/3\"", "code.rate = \"2/3\" is not allowed: expected \"1/3\" or");
  EXPECT_REFUSED(sweep + "code.type = \"none\"\ncode.rate = \"1/2\"",
                 "line 3: code.rate has no meaning with code.type = \"none\"");
  EXPECT_REFUSED(sweep + "sweep.snr_db = 3",
                 "line 2: sweep has both ebn0_db and snr_db: expected one of them");
  EXPECT_REFUSED("sweep.snr_db = [3, 2]", "line 1: sweep.snr_db has 2 after 3");
  EXPECT_REFUSED("sweep.snr_db.from = 3", "line 1: sweep.snr_db needs from, to and step");
}

}  // namespace scenario_antennas_test
}  // namespace wb
