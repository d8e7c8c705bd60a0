// Links with constellations that are lists of points, and frames of DVB-S2 in them.
#include <cmath>
#include <numbers>

#include <oracle/modem.hpp>
#include <tests/on_backends.hpp>
#include <tests/scenario.hpp>
#include <warpband/code/dvb_s2.hpp>
#include <warpband/link/result.hpp>
#include <warpband/link/sweep.hpp>

namespace wb {
namespace constellation_link_test {

using namespace testing;

std::vector<point_counts> counts_of(const std::string& text) {
  const cpu_options options{.threads = 1, .instructions = available_isas().back()};
  const auto exec = std::make_unique<cpu>(options);
  curve_result curve;
  curve.config = only_curve(text);
  run_curve(curve, *exec);
  std::vector<point_counts> counts;
  for (const point_result& p : curve.points) counts.push_back(p.counts);
  return counts;
}

TEST(constellation_link, a_list_of_the_points_of_16_qam_counts_as_16_qam) {
  std::string points;
  for (const auto& s : oracle::constellation(16))
    points += "[" + std::to_string(std::round(s.real() * std::sqrt(10))) + ", " +
              std::to_string(std::round(s.imag() * std::sqrt(10))) + "], ";
  const std::string rest =
      "code.type = \"none\"\ncode.k = 4000\nsweep.ebn0_db = [4.0]\n"
      "stop = { frame_errors = 0, max_frames = 40 }\n";
  for (const std::string channel : {"", "channel.type = \"rayleigh\"\n"}) {
    const point_counts as_list =
        counts_of("modem = { modulation = \"points\", points = [" + points + "] }\n" + channel + rest)[0];
    const point_counts as_qam = counts_of("modem.modulation = \"16qam\"\n" + channel + rest)[0];
    EXPECT_GT(as_qam.bit_errors, 1000u);
    EXPECT_NEAR(static_cast<double>(as_list.bit_errors), static_cast<double>(as_qam.bit_errors), 3);
  }
}

TEST(constellation_link, labels_say_which_bits_a_point_has) {
  // Points in the order of their angles, with the labels of the standard.
  const std::string rest =
      "code.type = \"none\"\ncode.k = 6000\nsweep.ebn0_db = [6.0]\n"
      "stop = { frame_errors = 0, max_frames = 20 }\n";
  std::string points;
  for (int i = 0; i < 8; i++)
    points += "[" + std::to_string(std::cos(i * std::numbers::pi / 4)) + ", " +
              std::to_string(std::sin(i * std::numbers::pi / 4)) + "], ";
  const point_counts listed = counts_of("modem = { modulation = \"points\", points = [" + points +
                                        "], labels = [1, 0, 4, 6, 2, 3, 7, 5] }\n" + rest)[0];
  const point_counts named = counts_of("modem.modulation = \"8psk\"\n" + rest)[0];
  EXPECT_GT(named.bit_errors, 500u);
  EXPECT_NEAR(static_cast<double>(listed.bit_errors), static_cast<double>(named.bit_errors), 3);
}

TEST(constellation_link, turbo_coded_frames_are_right_behind_their_threshold) {
  const auto counts = counts_of(
      "code = { type = \"lte-turbo\", k = 1024 }\n"
      "modem = { modulation = \"16apsk\", ring_ratios = 2.57, demapper = \"exact\" }\n"
      "channel.type = \"rician\"\nsweep.ebn0_db = [0.0, 9.0]\nstop = { frame_errors = 0, max_frames = 16 "
      "}\n");
  EXPECT_GT(counts.at(0).frame_errors, 12u);
  EXPECT_EQ(counts.at(1).frame_errors, 0u);
}

TEST(constellation_link, the_bit_interleaver_of_dvb_s2_writes_columns_and_reads_rows) {
  const std::vector<std::int32_t> order = dvb_s2_bit_order({.n = 16200, .rate = "2/3"}, 3);
  ASSERT_EQ(order.size(), 16200u);
  EXPECT_EQ(std::vector<std::int32_t>(order.begin(), order.begin() + 6),
            (std::vector<std::int32_t>{0, 5400, 10800, 1, 5401, 10801}));
  const std::vector<std::int32_t> reversed = dvb_s2_bit_order({.n = 64800, .rate = "3/5"}, 3);
  EXPECT_EQ(std::vector<std::int32_t>(reversed.begin(), reversed.begin() + 3),
            (std::vector<std::int32_t>{43200, 21600, 0}));
  EXPECT_EQ(dvb_s2_bit_order({.n = 64800, .rate = "3/5"}, 4).at(1), 16200);
}

/// EN 302 307-1, table 13: Es/N0 at which normal frames with 50 iterations are quasi error-free (a packet
/// error rate of 1e-7). The fall from 1 to 1e-7 takes some tenths of a dB.
struct mode {
  const char *modulation, *rate;
  double esn0_db;
};
constexpr mode modes[]{{"8psk", "3/5", 5.50},    {"8psk", "2/3", 6.62},    {"8psk", "9/10", 10.98},
                       {"16apsk", "2/3", 8.97},  {"16apsk", "4/5", 11.03}, {"16apsk", "9/10", 13.13},
                       {"32apsk", "3/4", 12.73}, {"32apsk", "5/6", 14.28}, {"32apsk", "9/10", 16.05}};

TEST(constellation_link, dvb_s2_frames_are_right_where_the_standard_says) {
  std::string before;
  for (const mode& m : modes) {
    if (small_scale() && m.modulation == before) continue;
    before = m.modulation;
    const auto counts = counts_of(
        "code = { type = \"dvb-s2\", rate = \"" + std::string(m.rate) + "\" }\n" +
        "decoder = { algorithm = \"sum-product\", iterations = 50 }\n" + "modem = { modulation = \"" +
        m.modulation + "\", demapper = \"exact\" }\nsweep.esn0_db = [" + std::to_string(m.esn0_db - 0.6) +
        ", " + std::to_string(m.esn0_db + 0.05) + "]\nstop = { frame_errors = 0, max_frames = 2 }\n");
    EXPECT_GE(counts.at(0).frame_errors, 1u) << m.modulation << ", " << m.rate;
    EXPECT_EQ(counts.at(1).frame_errors, 0u) << m.modulation << ", " << m.rate;
  }
}

TEST(constellation_link, frames_of_dvb_s2_have_the_bit_order_of_their_constellation) {
  const dvb_s2_settings settings{.n = 16200, .rate = "5/6"};
  link_config c;
  c.code = code_config("dvb-s2", {{"n", std::int64_t{16200}}, {"rate", std::string("5/6")}});
  for (const auto& [type, bits] : {std::pair{"8psk", 3}, {"16apsk", 4}, {"32apsk", 5}, {"32APSK", 5}}) {
    c.constellation = constellation_config{.type = type};
    const link_config whole = completed(c);
    EXPECT_EQ(bits_per_symbol(whole), bits) << type;
    EXPECT_EQ(bit_order_of(whole), dvb_s2_bit_order(settings, bits)) << type;
  }
  c.constellation = constellation_config{.points = {1, -1, 2, -2}};
  EXPECT_TRUE(bit_order_of(completed(c)).empty());
  c.constellation.reset();
  for (const int qam : {4, 16}) {
    c.qam = qam;
    EXPECT_TRUE(bit_order_of(completed(c)).empty()) << qam;
  }
  c.code = {};
  c.constellation = constellation_config{.type = "8psk"};
  EXPECT_TRUE(bit_order_of(completed(c)).empty());
}

TEST(constellation_link, completion_gives_ring_ratios_and_refuses_what_needs_square_qam) {
  link_config c;
  c.code = code_config("dvb-s2", {{"rate", std::string("8/9")}});
  c.constellation = constellation_config{.type = "32apsk"};
  EXPECT_EQ(completed(c).constellation->ring_ratios, (std::vector<double>{2.54, 4.33}));
  c.constellation->ring_ratios = {2, 3};
  EXPECT_EQ(completed(c).constellation->ring_ratios, (std::vector<double>{2, 3}));
  EXPECT_EQ(bits_per_symbol(c), 5);
  c.code = code_config("dvb-s2", {{"rate", std::string("1/2")}});
  EXPECT_EQ(blamed([&] { (void)completed(c); }), "code.rate");
  c.code = {};
  c.constellation->ring_ratios = {};
  EXPECT_EQ(blamed([&] { (void)completed(c); }), "ring_ratios");
  c.constellation = constellation_config{.type = "64apsk"};
  EXPECT_EQ(blamed([&] { (void)completed(c); }), "modulation");
  c.constellation = constellation_config{.points = {1, -1, 2}};
  EXPECT_EQ(blamed([&] { (void)completed(c); }), "points");
  c.constellation = constellation_config{.type = "8psk"};
  (void)completed(c);
  c.antennas = detector_config{.type = "mmse", .streams = 2, .rx_antennas = 2};
  EXPECT_EQ(blamed([&] { (void)completed(c); }), "modulation");
  c.antennas = stbc_config{};
  EXPECT_EQ(blamed([&] { (void)completed(c); }), "modulation");
}

}  // namespace constellation_link_test
}  // namespace wb
