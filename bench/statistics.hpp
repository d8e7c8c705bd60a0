#pragma once
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace wb::bench {

/// Seconds on a clock that never goes back.
inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Linear interpolation between the order statistics.
inline double quantile(std::vector<double> x, double q) {
  std::sort(x.begin(), x.end());
  const double position = q * static_cast<double>(x.size() - 1);
  const auto i = static_cast<std::size_t>(position);
  const double below = x[i], above = x[std::min(i + 1, x.size() - 1)];
  return below + (position - static_cast<double>(i)) * (above - below);
}

/// The figure of several repetitions and its spread.
///
/// The spread says where the median of another run falls: it reaches from the least to the greatest
/// repetition, and a quarter of that range further to either side. Repetitions are distributed over the whole
/// run. The spread is at least `least_spread`: two processes differ in ways that the repetitions of one
/// cannot show (memory addresses, temperature of the machine). On a virtual machine whose two cores were
/// shared with compilers it held for all 58 medians of a second run.
struct spread {
  double median = 0, low = 0, high = 0, interquartile_range = 0;
};
inline constexpr double least_spread = 0.01, spread_margin = 0.25;
inline spread spread_of(const std::vector<double>& samples) {
  const double least = quantile(samples, 0), greatest = quantile(samples, 1),
               further = spread_margin * (greatest - least);
  spread s;
  s.median = quantile(samples, 0.5);
  s.low = std::min(std::max(least - further, least / 2), s.median * (1 - least_spread));
  s.high = std::max(greatest + further, s.median * (1 + least_spread));
  s.interquartile_range = quantile(samples, 0.75) - quantile(samples, 0.25);
  return s;
}

}  // namespace wb::bench
