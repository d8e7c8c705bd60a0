#pragma once
// From estimates at pilots to those at all resource elements of a slot, first in frequency, then in time:
//
//   H(l, k) = sum over rows t  of  w_t(l)  sum over cells n of  f_tk(n) c_t(n)
//
// ls       linear interpolation between neighbouring pilots, and beyond the last two of them. A cell stands
//          for every pilot that it is made of. Its error variance is what interpolation makes of the noise,
//          gain N0, and what it makes of a channel that is no straight line. The latter is measured in the
//          pilots of each slot, as sums of terms of which a term is a weight of the resource element times
//          one of
//            F1 F2 F3   mean |first, second, third difference of neighbouring cells|^2, without their noise,
//            T1 T2      mean |first, second divided difference of rows|^2, without their noise,
//            Y1 Y2      F1 T1 / P and F2 T1 / P, with P the mean power of a cell without its noise.
//          Antennas and ports are averaged. The weights make the sum right for a channel of any one delay,
//          up to 0.8 of half the inverse of the cells' distance in Hz, and Clarke's spectrum of any width.
//          Pilots at two times have no T2. There it is T1^2 / P, as Clarke's spectrum has it, times
//          (N - 0.9) / (N + 1.2), as the mean square of a mean of N squares is larger than the square of the
//          mean. N is the number of independent cells, those of an exponential delay profile with the
//          correlation of neighbours, times 1 + mean |difference of the rows|^2 / P. Pilots at one time say
//          nothing of how the channel changes: then it changes by doppler_hz, and the error of a moving
//          channel is left out where that is 0. Rows of one cell say nothing of its change in frequency,
//          which is left out too. The sum is not below 0. Its mean over slots is right; with pilots at two
//          times, few antennas and a flat channel it is up to twice too high. In one slot it is as uncertain
//          as a mean of N squares.
// lmmse    the Wiener filters of a channel with
//            E h(l, k) h*(l', k') = J0(2 pi fD (l - l') T)  sum over taps of  P exp(-2 pi i (k - k') F tau),
//          sum of P = 1, over the `taps` cells around a subcarrier and then over all rows. What another port
//          leaks into a cell, where the channel changes within it, counts as noise. Its error variance is
//          the mean square error of these filters in that channel at any N0, also not the one they are made
//          for, bias + gain N0. In another channel it is not: a wrong profile, Doppler frequency or power
//          makes it wrong. As in P. Hoeher, S. Kaiser, P. Robertson, "Two-dimensional pilot-symbol-aided
//          channel estimation by Wiener filtering", ICASSP 1997.
#include <array>
#include <optional>

#include <warpband/core/setting.hpp>
#include <warpband/estimate/estimate_args.hpp>
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
  double doppler_hz = 0;     // fD: 0..1e6; of ls only where pilots are at one time
  // Absent: what the pilots have. Another value than theirs is refused.
  std::optional<double> spacing_hz = {};  // F of subcarriers: 1..1e7
  /// T, from a symbol to the next: 1e-3..1e6, within 10 % of the pilots'.
  std::optional<double> period_us = {};
  delay_profile profile = {};
};
/// Its settings: names, what is allowed, what they mean.
const std::vector<setting_of<estimator_config>>& estimator_settings();
/// Throws argument_error for what is not allowed.
void check(const estimator_config& config);
/// With the pilots' spacing and period where its own are 0. Throws argument_error for a contradiction, and
/// where the method needs what neither has.
estimator_config completed(const estimator_config& config, const pilot_pattern& pilots);

/// What ls measures in each slot.
struct spread_measure {
  spread_times known = spread_times::one;  // rows of the same subcarriers
  std::vector<std::int32_t> next;          // [rows, 2]: rows behind it with the same subcarriers, or -1
  std::vector<float> divided;  // [rows, 4]: 1 / distance of next; a second divided difference's weights
  std::array<float, spread_sums> noise = {};  // of the sums, for N0 = 1
  float most_slope = 0;                       // of T1 / P: where Clarke's first difference is largest
  std::vector<float> weight;                  // [elements, terms]: of all ports together
};

/// The filters as tables, rows in the order of their indices.
struct estimate_filters {
  int taps = 1;                                // of frequency
  std::vector<std::int32_t> start;             // [ports, rows, subcarriers]: first cell
  std::vector<std::complex<float>> frequency;  // [ports, rows, subcarriers, taps]
  std::vector<float> time;                     // [symbols, rows]
  std::vector<float> bias, gain;               // [ports, elements]: error variances; bias of lmmse alone
  spread_measure spread;                       // of ls
};
/// Made on the host, in double precision. Throws argument_error.
estimate_filters make_filters(const pilot_pattern& pilots, const estimator_config& config);

}  // namespace wb
