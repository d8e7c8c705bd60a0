// Antennas of scenarios: detectors and space-time codes.
#include <tests/codes.hpp>
#include <tests/detectors.hpp>
#include <tests/scenario.hpp>

namespace wb {
namespace scenario_antennas_test {

using namespace testing;

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

TEST(scenario, antennas_and_detectors) {
  const scenario s = parse_scenario(R"(
sweep.snr_db = [8, 12]
modem.modulation = "16qam"
channel.type = "rayleigh"
code.rate = "1/2"
mimo = { streams = 4, rx_antennas = 5 }
detector = { ways = 3, survivors = 16, llr_clip = 4, order = [2, 0, 1, 3], spread = [1, 2, 1, 16] }
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
  EXPECT_EQ(detector(1).get<nway_settings>().spread, (std::vector<int>{1, 2, 1, 16}));
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

TEST(scenario, massive_antennas) {
  const auto massive = [](const std::string& text) {
    return only_curve(
               "modem.modulation = \"qpsk\"\nchannel.type = \"rayleigh\"\nsweep.snr_db = 1\n"
               "code = { type = \"conv\", rate = \"5/6\", k = 45 }\n" +
               text)
        .link.antennas.get<massive_link_config>();
  };
  const massive_link_config up = massive(
      "massive = { solver = \"cholesky\", antennas = 12, users = 3, subcarriers = 32, symbols = 2, "
      "sinr = \"approximate\", clusters = 2, cluster_method = \"Local_MMSE\" }");
  EXPECT_EQ(up.direction, massive_direction::uplink);
  EXPECT_EQ(up.antennas, 12);
  EXPECT_EQ(up.users, 3);
  EXPECT_EQ(up.subcarriers, 32);
  EXPECT_EQ(up.symbols, 2);
  EXPECT_EQ(up.solver, massive_solver::cholesky);
  EXPECT_EQ(up.sinr, massive_sinr::approximate);
  EXPECT_EQ(up.clusters, 2);
  EXPECT_EQ(up.cluster_method, massive_cluster_method::local_mmse);
  const massive_link_config down =
      massive("massive = { solver = \"cg\", iterations = 2, direction = \"downlink\" }");
  EXPECT_EQ(down.direction, massive_direction::downlink);
  EXPECT_EQ(down.solver, massive_solver::cg);
  EXPECT_EQ(down.iterations, 2);
  EXPECT_EQ(down.clusters, 1);
}

TEST(scenario, receivers_in_a_loop) {
  const std::string pic = antennas + "code.type = \"wimax-ldpc\"\ndetector.type = \"pic\"\n";
  EXPECT_FALSE(only_curve(pic).link.receiver);
  const receiver_config r = *only_curve(pic +
                                        "receiver = { outer = 4, inner = 3, scaling = 0.5, interleaver = "
                                        "\"random\", interleaver_seed = 9, decoder_state = \"reset\", "
                                        "detector_clip = 20 }")
                                 .link.receiver;
  EXPECT_EQ(r.outer, 4);
  EXPECT_EQ(r.inner, 3);
  EXPECT_EQ(r.scaling, 0.5f);
  EXPECT_EQ(r.interleaver, receiver_interleaver::random);
  EXPECT_EQ(r.interleaver_seed, 9);
  EXPECT_EQ(r.decoder_state, receiver_state::reset);
  EXPECT_EQ(r.detector_clip, 20);
}

}  // namespace scenario_antennas_test
}  // namespace wb
