#pragma once
// What the tests of links share: links with one setting or two, and their counts.
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include <tests/codes.hpp>
#include <tests/detectors.hpp>
#include <warpband/link/scenario.hpp>
#include <warpband/link/sweep.hpp>

namespace wb::testing {

inline link_config turbo_link(int k) {
  link_config c;
  k_in(c.code) = k;
  return c;
}

inline link_config uncoded_link(int k) {
  link_config c;
  c.code = code_config("none");
  k_in(c.code) = k;
  return c;
}

inline link_config ldpc_link(const std::string& type, std::optional<int> n, const std::string& rate) {
  link_config c;
  c.code = code_config(type);
  if (n) n_in(c.code) = *n;
  ldpc_in(c.code).rate = rate;
  return c;
}

inline link_config conv_link(int k, const std::string& rate, conv_ending termination,
                             conv_algorithm algorithm) {
  link_config c;
  c.code = code_config("conv");
  k_in(c.code) = k;
  conv_in(c.code).rate = rate;
  conv_in(c.code).termination = termination;
  conv_in(c.code).algorithm = algorithm;
  return c;
}

inline link_config mimo_link(int streams, int rx_antennas, const std::string& type, int qam = 16) {
  link_config c = turbo_link(104);
  c.qam = qam;
  c.channel = rayleigh_config{};
  c.antennas = detector_config{.type = type, .streams = streams, .rx_antennas = rx_antennas};
  return c;
}

inline link_config space_time_link(const space_time_code& code, int qam, int rx_antennas) {
  link_config c = uncoded_link(101);  // fills no whole codewords
  c.qam = qam;
  c.channel = rayleigh_config{};
  c.antennas = stbc_config{.code = code, .rx_antennas = rx_antennas};
  return c;
}

/// Links of every kind, each curve at a point where some of its frames fail.
inline const scenario& every_link() {
  static const scenario s = load_scenario(std::string(WARPBAND_SOURCE_DIR) + "/tests/links.toml");
  return s;
}

inline std::int64_t total(const std::vector<std::int32_t>& v) {
  return std::accumulate(v.begin(), v.end(), std::int64_t{0});
}

inline detector_config& detector_of(link_config& c) { return c.antennas.edit<detector_config>(); }
inline stbc_config& space_time_of(link_config& c) { return c.antennas.edit<stbc_config>(); }

/// The counts of a point, whatever it took to get them.
inline void expect_same(point_counts a, point_counts b) {
  a.frames_run = b.frames_run = 0, a.seconds = b.seconds = 0;
  EXPECT_EQ(a, b);
}

}  // namespace wb::testing
