#pragma once
// What the tests of scenarios share: texts, and what is said about those that are refused.
#include <gtest/gtest.h>

#include <string>

#include <warpband/link/scenario.hpp>

namespace wb::testing {

inline curve_config only_curve(const std::string& text) {
  const scenario s = parse_scenario(text, "s.toml");
  EXPECT_EQ(s.curves.size(), 1u);
  return s.curves.at(0);
}
/// The message a scenario is refused with: it names the file and is one line.
inline std::string refusal(const std::string& text) {
  try {
    parse_scenario(text, "s.toml");
  } catch (const file_error& e) {
    EXPECT_EQ(e.path(), "s.toml");
    const std::string message = e.what();
    EXPECT_TRUE(message.starts_with("s.toml: ")) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return message.substr(8);
  }
  ADD_FAILURE() << "not refused: " << text;
  return "";
}

inline const std::string sweep = "sweep.ebn0_db = 1\n";
inline const std::string antennas = sweep +
                                    "channel.type = \"rayleigh\"\nmodem.modulation = \"qpsk\"\n"
                                    "mimo = { streams = 2, rx_antennas = 2 }\n";

}  // namespace wb::testing

#define EXPECT_REFUSED(text, part) \
  EXPECT_NE(::wb::testing::refusal(text).find(part), std::string::npos) << ::wb::testing::refusal(text)
