// Scenarios that programs write: they read back as what they were made of.
#include <gtest/gtest.h>

#include <tests/codes.hpp>
#include <tests/detectors.hpp>
#include <tests/on_backends.hpp>
#include <warpband/link/antenna_kind.hpp>
#include <warpband/link/scenario_write.hpp>

namespace wb {
namespace scenario_write_test {

using testing::blamed;

constexpr const char* two_curves = R"(title = "A \"title\" with a \\ and\ta tab"
seed = 7
channel = { type = "rayleigh", fading = "block" }
mimo = { streams = 2, rx_antennas = 3 }
modem.modulation = "64qam"
sweep.snr_db = { from = 1, to = 3, step = 1 }
stop.frame_errors = 50
[[curve]]
label = "turbo"
code = { type = "lte-turbo", k = 40, interleaver = { f1 = 3, f2 = 10 } }
decoder = { iterations = 4, early_stop = "sign-agreement" }
detector = { type = "kbest", survivors = 5, order = [1, 0] }
[[curve]]
label = "one antenna"
code = { type = "wifi-ldpc", n = 648, rate = "2/3" }
mimo = { streams = 1, rx_antennas = 1 }
channel = { type = "tdl", profile = "tdl-a", delay_spread_ns = 100 }
sweep.ebn0_db = [0.1, 0.2]
)";

TEST(scenario_write, reads_back) {
  const scenario s = parse_scenario(two_curves, "two.toml");
  for (std::size_t i = 0; i < s.curves.size(); i++) {
    curve_config curve = s.curves[i];
    curve.label = "a \"new\" label";
    curve.sweep_db = {4.25, 4.5};
    curve.stop.max_frames = 99;
    curve.link.seed = 8;
    if (auto* d = curve.link.antennas.find<detector_config>())
      *d = {.type = "nway",
            .streams = 2,
            .rx_antennas = 3,
            .llr_clip = 4.f,
            .settings = box(nway_settings{.ways = 1})};
    else
      curve.link.antennas.edit<single_antenna>().demapper = demap_algorithm::exact;
    if (curve.link.code.type == "lte-turbo") {
      testing::turbo_decoder_in(curve.link.code).precision = turbo_precision::float32;
      testing::turbo_decoder_in(curve.link.code).iterations = 3;
    } else {
      testing::ldpc_decoder_in(curve.link.code).precision = ldpc_precision::int8;
    }
    const std::string text = scenario_of_curve(s, i, curve);
    const scenario back = parse_scenario(text, "back.toml");
    ASSERT_EQ(back.curves.size(), 1U) << text;
    const curve_config& b = back.curves[0];
    EXPECT_EQ(b.label, curve.label) << text;
    EXPECT_EQ(b.sweep_db, curve.sweep_db);
    EXPECT_EQ(b.stop, curve.stop);
    EXPECT_EQ(b.link.seed, 8U);
    EXPECT_EQ(b.link.axis, curve.link.axis);
    EXPECT_EQ(b.link.qam, 64);
    EXPECT_EQ(b.link.channel.type, curve.link.channel.type);
    EXPECT_EQ(b.link.code.type, curve.link.code.type);
    EXPECT_EQ(sizes_of(completed(b.link.code)).n, sizes_of(completed(curve.link.code)).n);
    ASSERT_EQ(b.link.antennas.kind().name, curve.link.antennas.kind().name);
    if (const auto* d = b.link.antennas.find<detector_config>()) {
      EXPECT_EQ(d->type, "nway");
      EXPECT_EQ(d->get<nway_settings>().ways, 1);
      EXPECT_EQ(d->llr_clip, 4.f);
      EXPECT_TRUE(d->get<nway_settings>().search.order.empty());
      EXPECT_EQ(testing::turbo_decoder_in(b.link.code).iterations, 3);
      ASSERT_TRUE(testing::turbo_in(b.link.code).interleaver);
      EXPECT_EQ(testing::turbo_in(b.link.code).interleaver->f2, 10);
    } else {
      EXPECT_EQ(b.link.antennas.get<single_antenna>().demapper, demap_algorithm::exact);
      EXPECT_EQ(testing::ldpc_decoder_in(b.link.code).precision, ldpc_precision::int8);
    }
  }
}

TEST(scenario_write, refuses_what_a_scenario_cannot_say) {
  const scenario s = parse_scenario(two_curves, "two.toml");
  EXPECT_EQ(blamed([&] { (void)scenario_of_curve(s, 2, s.curves[0]); }), "index");
  // The constellation is not among what is written anew.
  curve_config other = s.curves[0];
  other.link.qam = 16;
  try {
    (void)scenario_of_curve(s, 0, other);
    FAIL() << "not refused";
  } catch (const error& e) {
    EXPECT_NE(std::string(e.what()).find("modem.modulation"), std::string::npos) << e.what();
  }
}

}  // namespace scenario_write_test
}  // namespace wb
