#pragma once
// From estimates at pilots to those at all resource elements of a slot, first in frequency, then in time:
//
//   H(l, k) = sum over rows t  of  w_t(l)  sum over cells n of  f_tk(n) c_t(n)
//
// ls       linear interpolation between neighbouring pilots, and beyond the last two of them. A cell stands
//          for every pilot that it is made of. Its error variance is what interpolation makes of the
//          noise; that the channel is no straight line does not count.
// lmmse    the Wiener filters of a channel with
//            E h(l, k) h*(l', k') = J0(2 pi fD (l - l') T)  sum over taps of  P exp(-2 pi i (k - k') F tau),
//          sum of P = 1, over the `taps` cells around a subcarrier and then over all rows. What another port
//          leaks into a cell, where the channel changes within it, counts as noise. Its error variance is
//          the mean square error of these filters in that channel at any N0, also not the one they are made
//          for. As in P. Hoeher, S. Kaiser, P. Robertson, "Two-dimensional pilot-symbol-aided channel
//          estimation by Wiener filtering", ICASSP 1997.
//
// Error variances are linear in N0: bias + gain N0.
#include <warpband/core/setting.hpp>
#include <warpband/estimate/pilots.hpp>
#include <warpband/ofdm/grid.hpp>

namespace wb {

/// Taps of a channel, powers relative to each other.
struct delay_profile {
  std::vector<double> delays_ns = {0};  // 1 to 512
  std::vector<double> powers = {1};     // not below 0, of a positive sum
  bool operator==(const delay_profile&) const = default;
};

enum class estimate_method { ls, lmmse };

struct estimator_config {
  estimate_method method = estimate_method::ls;
  // lmmse:
  int taps = 16;             // cells that a subcarrier is filtered of: 1..64
  double noise_var = 0.1;    // N0 that the filters are made for: 1e-6..1e6
  double channel_power = 1;  // E|h|^2 of a port: 1e-6..1e6, and N0 / channel_power too
  double doppler_hz = 0;     // fD: 0..1e6
  double spacing_hz = 30e3;  // F of subcarriers: 1..1e7
  double period_us = 35.7;   // T, from a symbol to the next: 1e-3..1e6
  delay_profile profile = {};
};
/// Its settings: names, what is allowed, what they mean.
const std::vector<setting_of<estimator_config>>& estimator_settings();
/// Throws argument_error for what is not allowed.
void check(const estimator_config& config);

/// The filters as tables, rows in the order of their indices.
struct estimate_filters {
  int taps = 1;                                // of frequency
  std::vector<std::int32_t> start;             // [ports, rows, subcarriers]: first cell
  std::vector<std::complex<float>> frequency;  // [ports, rows, subcarriers, taps]
  std::vector<float> time;                     // [symbols, rows]
  std::vector<float> bias, gain;               // [ports, elements]: error variances
};
/// Made on the host, in double precision. Throws argument_error.
estimate_filters make_filters(const pilot_pattern& pilots, const estimator_config& config);

}  // namespace wb
