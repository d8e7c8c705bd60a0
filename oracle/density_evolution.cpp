#include <cmath>
#include <cstddef>
#include <numeric>
#include <oracle/density_evolution.hpp>
#include <vector>

namespace oracle {
namespace {

constexpr int steps_of_channel = 20, most_steps = 220;  // LLRs of -most_steps to most_steps steps
using density = std::vector<double>;

double& value_at(density& d, int step) { return d[static_cast<std::size_t>(step + most_steps)]; }
double value_at(const density& d, int step) { return d[static_cast<std::size_t>(step + most_steps)]; }
int limited(int step) { return step < -most_steps ? -most_steps : step > most_steps ? most_steps : step; }

/// The magnitude of the sum of two bits with LLRs of these magnitudes, in steps.
std::vector<int> sums_of_bits(double step) {
  std::vector<int> table;
  for (int a = 0; a <= most_steps; a++)
    for (int b = 0; b <= most_steps; b++)
      table.push_back(static_cast<int>(std::lround(
          (std::log1p(std::exp(a * step + b * step)) - std::log(std::exp(a * step) + std::exp(b * step))) /
          step)));
  return table;
}

density of_check(const density& a, const density& b, const std::vector<int>& table) {
  density sum(a.size());
  for (int x = 0; x <= most_steps; x++)
    for (int y = 0; y <= most_steps; y++) {
      const int m = limited(table[static_cast<std::size_t>(x * (most_steps + 1) + y)]);
      const double a0 = x == 0 ? value_at(a, 0) / 2 : value_at(a, x),
                   a1 = x == 0 ? value_at(a, 0) / 2 : value_at(a, -x);
      const double b0 = y == 0 ? value_at(b, 0) / 2 : value_at(b, y),
                   b1 = y == 0 ? value_at(b, 0) / 2 : value_at(b, -y);
      value_at(sum, m) += a0 * b0 + a1 * b1;
      value_at(sum, -m) += a0 * b1 + a1 * b0;
    }
  return sum;
}

density of_bit(const density& a, const density& b) {
  density sum(a.size());
  for (int x = -most_steps; x <= most_steps; x++) {
    if (value_at(a, x) == 0) continue;
    for (int y = -most_steps; y <= most_steps; y++)
      value_at(sum, limited(x + y)) += value_at(a, x) * value_at(b, y);
  }
  return sum;
}

}  // namespace

double erasure_threshold(int bit_weight, int check_weight) {
  double low = 0, high = 1;
  for (int i = 0; i < 50; i++) {
    const double p = (low + high) / 2;
    double x = p;
    for (int n = 0; n < 100'000 && x > 1e-12; n++)
      x = p * std::pow(1 - std::pow(1 - x, check_weight - 1), bit_weight - 1);
    (x > 1e-12 ? high : low) = p;
  }
  return low;
}

bool corrects_flips(int bit_weight, int check_weight, double probability, int iterations) {
  density channel(2 * most_steps + 1);
  value_at(channel, steps_of_channel) = 1 - probability;
  value_at(channel, -steps_of_channel) = probability;
  const std::vector<int> table = sums_of_bits(std::log((1 - probability) / probability) / steps_of_channel);
  density message = channel;
  for (int i = 0; i < iterations; i++) {
    density check = message;
    for (int n = 2; n < check_weight; n++) check = of_check(check, message, table);
    message = channel;
    for (int n = 1; n < bit_weight; n++) message = of_bit(message, check);
    const double mass = std::accumulate(message.begin(), message.end(), 0.0);
    for (double& x : message) x /= mass;  // rounding errors of it would grow tenfold in an iteration
    double wrong = value_at(message, 0) / 2;
    for (int step = -most_steps; step < 0; step++) wrong += value_at(message, step);
    if (wrong < 1e-6) return true;
  }
  return false;
}

}  // namespace oracle
