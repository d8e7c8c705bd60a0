// A channel of the program: a function that draws H.
#include <warpband/air/function.hpp>

#include <gtest/gtest.h>

#include <limits>

#include <tests/on_backends.hpp>
#include <warpband/channel/mimo/mimo.hpp>
#include <warpband/link/chain.hpp>
#include <warpband/link/point.hpp>
#include <warpband/link/scenario.hpp>

namespace wb {
namespace function_test {

/// What Rayleigh fading with several antennas draws.
air_kind same_as_rayleigh() {
  return function_air("mine", [](executor& exec, const channel_frames& c, view<std::complex<float>> h) {
    random_range range = c.random;
    range.first *= c.matrices;
    draw_mimo_rayleigh(exec, h, c.antennas.tx, range);
  });
}
std::string scenario_of(const std::string& channel, const std::string& link) {
  return "code = { type = \"none\", k = 64 }\nmodem.modulation = \"qpsk\"\nsweep.snr_db = 10\n" + link +
         "channel = { type = " + channel + " }\n";
}

class function_air_on : public testing::on_backend {
 protected:
  point_counts counts_of(const std::string& text) {
    const scenario s = parse_scenario(text, "s.toml");
    link_chain chain(s.curves[0].link, exec());
    return run_point(chain, 10, {.frame_errors = 0, .max_frames = 50}).counts;
  }
};
WB_ON_ALL_BACKENDS(function_air_on);

TEST_P(function_air_on, is_a_channel_of_every_antenna_system) {
  const kind_scope<air_kind> scope(airs(), {same_as_rayleigh()});
  for (const char* link :
       {"mimo = { streams = 2, rx_antennas = 2 }\n", "stbc.type = \"alamouti\"\n",
        "massive = { solver = \"zf\", antennas = 8, users = 4, subcarriers = 32, symbols = 2 }\n"})
    for (const char* fading : {"fast", "block"}) {
      const std::string rest = std::string(", fading = \"") + fading + "\"";
      const point_counts got = counts_of(scenario_of("\"mine\"" + rest, link)),
                         expected = counts_of(scenario_of("\"rayleigh\"" + rest, link));
      EXPECT_GT(expected.bit_errors, 0u) << link;
      EXPECT_EQ(got.bit_errors, expected.bit_errors) << link << fading;
      EXPECT_EQ(got.frame_errors, expected.frame_errors) << link << fading;
    }
  for (const char* fading : {"fast", "block"}) {  // one antenna has other random numbers
    const auto counts = counts_of(scenario_of("\"mine\", fading = \"" + std::string(fading) + "\"", ""));
    EXPECT_NEAR(static_cast<double>(counts.bit_errors) / (50 * 64), 0.0436, 0.025) << fading;
  }
}

TEST_P(function_air_on, nan_erases_what_is_sent_through_it) {
  const auto hole = [](executor& exec, const channel_frames& c, view<std::complex<float>> h) {
    random_range range = c.random;
    range.first *= c.matrices;
    draw_mimo_rayleigh(exec, h, c.antennas.tx, range);
    const std::complex<float> nan(std::numeric_limits<float>::quiet_NaN(), 0);
    exec.upload(h.data + 3 * h.item_stride, &nan, sizeof nan);  // the fourth use
    exec.sync();
  };
  const kind_scope<air_kind> scope(airs(), {function_air("mine", hole)});
  const scenario s =
      parse_scenario(scenario_of("\"mine\"", "mimo = { streams = 2, rx_antennas = 2 }\n"), "s.toml");
  link_chain chain(s.curves[0].link, exec());
  const frame_counts& counts = chain.run(0, 5, 10);
  EXPECT_EQ(counts.erased_uses, (std::vector<std::int32_t>{1, 0, 0, 0, 0}));
}

TEST(function_air_in, scenarios_of_its_scope_alone) {
  const std::string text = scenario_of("\"mine\"", "");
  const auto refusal = [&](const std::string& scenario) -> std::string {
    try {
      parse_scenario(scenario, "s.toml");
    } catch (const file_error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(refusal(text).find("channel.type = \"mine\" is not allowed: expected \"awgn\""),
            std::string::npos)
      << refusal(text);
  {
    const kind_scope<air_kind> scope(airs(), {same_as_rayleigh()});
    EXPECT_EQ(refusal(text), "");
    EXPECT_NE(refusal(scenario_of("\"mine\", profile = \"epa\"", "")).find("channel.profile has no meaning"),
              std::string::npos);
    const std::string slots =
        "nr = { channel = \"pusch\" }\nsweep.snr_db = 10\nchannel = { type = \"mine\" }\n";
    EXPECT_NE(refusal(slots).find("expected \"block\" in slots of 5G NR"), std::string::npos)
        << refusal(slots);
  }
  EXPECT_NE(refusal(text), "");
}

}  // namespace function_test
}  // namespace wb
