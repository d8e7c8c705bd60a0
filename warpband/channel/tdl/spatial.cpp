#include <warpband/channel/tdl/spatial.hpp>

#include <cmath>
#include <string>

#include <warpband/core/error.hpp>

namespace wb {
namespace {

/// a of the base station and of the terminal, and c.
struct parameters {
  double base, terminal, polarisations;
};

parameters parameters_of(const spatial_config& c) {
  const bool cross = c.array == antenna_array::cross_polarised;
  switch (c.correlation) {
    case antenna_correlation::low:
      break;
    case antenna_correlation::medium:
      if (cross) return {0.3, 0.6, 0.2};
      return c.downlink ? parameters{0.3, 0.9, 0} : parameters{0.9, 0.3, 0};
    case antenna_correlation::medium_a:
      return {0.3, 0.3874, 0};
    case antenna_correlation::high:
      return {0.9, 0.9, cross ? 0.3 : 0};
  }
  return {0, 0, 0};
}

/// Between antennas i and j of a linear array of n.
double along(int i, int j, int n, double a) {
  if (i == j) return 1;
  const double distance = static_cast<double>(i - j) / (n - 1);
  return a == 0 ? 0 : std::pow(a, distance * distance);
}

void check_antennas(const char* argument, int n, bool base, bool cross) {
  const bool power_of_two = n == 1 || n == 2 || n == 4 || n == 8;
  if (power_of_two && (!cross || (base ? n >= 2 : n <= 4))) return;
  throw argument_error(argument, std::to_string(n),
                       !cross ? "1, 2, 4 or 8 correlated antennas"
                       : base ? "2, 4 or 8 cross-polarised antennas of a base station"
                              : "1, 2 or 4 cross-polarised antennas of a terminal");
}

}  // namespace

const std::vector<setting_of<spatial_config>>& spatial_settings() {
  using c = spatial_config;
  static const std::vector<setting_of<c>> settings{
      words("correlation", &c::correlation,
            {{"low", antenna_correlation::low},
             {"medium", antenna_correlation::medium},
             {"medium-a", antenna_correlation::medium_a},
             {"high", antenna_correlation::high}},
            "Correlation between antennas, TS 38.104 annex G.2.3 (docs/tdl.md); low: none.")
          .left_out_by_default(),
      words("array", &c::array,
            {{"linear", antenna_array::linear}, {"cross-polarised", antenna_array::cross_polarised}},
            "Uniform linear arrays on both sides, or cross-polarised ones, whose first half of the antennas "
            "has one polarisation and whose second half the other.")
          .only_with("correlation", {"medium", "medium-a", "high"})
          .left_out_by_default()};
  return settings;
}

std::vector<std::complex<double>> spatial_correlation(const spatial_config& c, int streams, int rx) {
  const bool cross = c.array == antenna_array::cross_polarised;
  const int bases = c.downlink ? streams : rx, terminals = c.downlink ? rx : streams;
  check_antennas(c.downlink ? "streams" : "rx_antennas", bases, true, cross);
  check_antennas(c.downlink ? "rx_antennas" : "streams", terminals, false, cross);
  if (cross && c.correlation == antenna_correlation::medium_a)
    throw argument_error("correlation", "\"medium-a\"",
                         "\"low\", \"medium\" or \"high\" of cross-polarised arrays");
  const parameters p = parameters_of(c);
  const int base_half = cross ? bases / 2 : bases,
            terminal_half = cross && terminals > 1 ? terminals / 2 : terminals;
  const auto correlated = [&](int b, int t, int b2, int t2) {
    const int side = t / terminal_half, other = t2 / terminal_half;
    if (side != other) return 0.0;
    const double polarised = b / base_half == b2 / base_half ? 1
                             : side == 0                     ? -p.polarisations
                                                             : p.polarisations;
    return polarised * along(b % base_half, b2 % base_half, base_half, p.base) *
           along(t % terminal_half, t2 % terminal_half, terminal_half, p.terminal);
  };
  std::vector<std::complex<double>> r;
  const int n = rx * streams;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      const int r1 = i / streams, s1 = i % streams, r2 = j / streams, s2 = j % streams;
      r.emplace_back(c.downlink ? correlated(s1, r1, s2, r2) : correlated(r1, s1, r2, s2));
    }
  return r;
}

}  // namespace wb
