#pragma once
// The share of energy that white Gaussian noise has in some of its dimensions. In k of k + rest complex
// dimensions it has the beta distribution of k and rest, whole numbers, whatever its level. Detectors take
// thresholds from its tail.
#include <algorithm>
#include <cmath>
#include <numbers>

namespace wb {

/// std::lgamma writes a global variable, and detectors may be made in several threads.
inline double log_gamma(double x) {
  int sign = 1;
  return ::lgamma_r(x, &sign);
}

struct beta_law {
  int k;
  double n;  // k + rest - 1
  beta_law(int dimensions, double rest) : k(dimensions), n(dimensions + rest - 1) {}
  /// ln of the j-th term of the binomial sum that the tail is.
  double term(int j, double x) const {
    return log_gamma(n + 1) - log_gamma(j + 1.) - log_gamma(n - j + 1) + j * std::log(x) +
           (n - j) * std::log1p(-x);
  }
  /// ln of the probability that the share exceeds x, 0 < x < 1.
  double log_tail(double x) const {
    const double top = term(k - 1, x);
    double sum = 0;
    for (int j = 0; j < k; j++) sum += std::exp(term(j, x) - top);
    return top + std::log(sum);
  }
  double log_density(double x) const { return term(k - 1, x) + std::log(n - k + 1) - std::log1p(-x); }
  /// The share that noise exceeds with this probability, 0 < probability < 1.
  double share_exceeded_by(double probability) const {
    double least = 0, greatest = 1;
    for (int i = 0; i < 100; i++) {
      const double middle = 0.5 * (least + greatest);
      (log_tail(middle) > std::log(probability) ? least : greatest) = middle;
    }
    return greatest;
  }
};

/// Of a direction in `dimensions` real ones that noise has, 3 or more: ln of the probability that the cosine
/// of its angle to a given direction exceeds x, 0 < x < 1.
inline double log_cosine_tail(double x, double dimensions) {
  // Integral of (1 - y^2)^power by Simpson's rule, relative to its value at x, over what counts of x..1.
  const double power = 0.5 * (dimensions - 3), base = std::log1p(-x * x);
  const double range = std::min(1 - x, 60 / (1 + 2 * power * x / (1 - x * x)));
  constexpr int steps = 2000;
  double sum = 0;
  for (int i = 0; i <= steps; i++) {
    const double y = std::min(x + range * i / steps, 1 - 1e-16);
    sum += (i == 0 || i == steps ? 1 : i % 2 == 1 ? 4 : 2) * std::exp(power * (std::log1p(-y * y) - base));
  }
  return log_gamma(0.5 * dimensions) - log_gamma(0.5 * (dimensions - 1)) - 0.5 * std::log(std::numbers::pi) +
         power * base + std::log(sum * range / (3 * steps));
}
/// The cosine that noise exceeds with a probability, given as its logarithm below ln(1/2).
inline double cosine_exceeded_by(double log_probability, double dimensions) {
  double least = 0, greatest = 1;
  for (int i = 0; i < 60; i++) {
    const double middle = 0.5 * (least + greatest);
    (log_cosine_tail(middle, dimensions) > log_probability ? least : greatest) = middle;
  }
  return greatest;
}

}  // namespace wb
