#pragma once
// Correlation between the antennas of a base station and of a terminal: 3GPP TS 38.104 annex G.2.3. Linear
// arrays of n antennas have
//
//   r(i, j) = a^(((i - j) / (n - 1))^2),    E h(b, t) h*(b', t') = r_base(b, b') r_terminal(t, t')
//
// from antenna t of the terminal to antenna b of the base station. Cross-polarised arrays have n / 2 pairs of
// antennas: the first half of one polarisation, the second half of the other, each half correlated as a
// linear array is. A terminal with one antenna has one polarisation. Antennas of the base station of
// different polarisations have a factor of -c for the terminal's first polarisation and +c for its second
// one. The terminal's two polarisations are uncorrelated (table G.2.3.2.1-1).
//
//   level       base station, terminal, c
//   "low"       0, 0, 0
//   "medium"    linear 0.9, 0.3 (downlink 0.3, 0.9); cross-polarised 0.3, 0.6, 0.2
//   "medium-a"  linear 0.3, 0.3874
//   "high"      linear 0.9, 0.9; cross-polarised 0.9, 0.9, 0.3
//
// Linear: table G.2.3.1.2-1, downlink and "medium-a" TS 38.101-4 table B.2.3.1.2-1. Cross-polarised: TS
// 38.104 has "low" alone, the others are TS 36.101 table B.2.3A.3-1. Matrices are those formulas, without the
// rounding to four digits that the standards' tables have.
#include <complex>
#include <vector>

#include <warpband/core/setting.hpp>

namespace wb {

enum class antenna_correlation { low, medium, medium_a, high };
enum class antenna_array { linear, cross_polarised };

struct spatial_config {
  antenna_correlation correlation = antenna_correlation::low;
  antenna_array array = antenna_array::linear;
  bool downlink = false;  // the base station sends
  bool operator==(const spatial_config&) const = default;
};
/// Its settings but for the direction, which is a link's: names, what is allowed, what they mean.
const std::vector<setting_of<spatial_config>>& spatial_settings();

/// E h h^H for h with element r * streams + s the gain from stream s to antenna r: a matrix of rx_antennas *
/// streams rows, row after row. Antennas on either side: 1, 2, 4, 8; cross-polarised the base station's from
/// 2 on, the terminal's up to 4. Throws argument_error ("streams", "rx_antennas"; "correlation" for
/// "medium-a" of cross-polarised arrays).
///   spatial_correlation({.correlation = antenna_correlation::high}, 1, 2);  // 1, 0.9, 0.9, 1
std::vector<std::complex<double>> spatial_correlation(const spatial_config& config, int streams,
                                                      int rx_antennas);

}  // namespace wb
