#include "effective_sinr.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "as_size.hpp"
#include "modem.hpp"

namespace oracle {
namespace {

/// Levels of the real part, and for each bit that it depends on the levels with this bit set.
struct dimension {
  std::vector<double> levels;
  std::vector<std::vector<double>> with_bit[2];
};

dimension real_part(int points) {
  dimension d;
  if (points == 2) {
    d.levels = {-1, 1};
    d.with_bit[0] = {{1}};
    d.with_bit[1] = {{-1}};
    return d;
  }
  const auto s = constellation(points);
  std::map<long, unsigned> labels;  // of a level in steps of 1e-9
  for (unsigned p = 0; p < s.size(); p++) labels.emplace(std::lround(s[p].real() * 1e9), p);
  int bits = 0;
  while (1 << bits < points) bits++;
  for (const auto& [level, label] : labels) d.levels.push_back(static_cast<double>(level) / 1e9);
  for (int b = 0; b < bits; b += 2)  // b(0), b(2), ... are the real part's
    for (unsigned value = 0; value < 2; value++) {
      std::vector<double> set;
      for (const auto& [level, label] : labels)
        if ((label >> (bits - 1 - b) & 1U) == value) set.push_back(static_cast<double>(level) / 1e9);
      d.with_bit[value].push_back(set);
    }
  return d;
}

/// Entropy in bits of a level of the set, each as likely, in normal noise of this deviation.
double entropy(const std::vector<double>& levels, double deviation) {
  double widest = deviation;  // of levels closer than this the sum is smooth
  for (std::size_t i = 1; i < levels.size(); i++) widest = std::max(widest, levels[i] - levels[i - 1]);
  const double step = deviation * std::min(1.0 / 8, deviation / widest / 2);
  double sum = 0;
  double end = -1e300;  // what is integrated already
  for (std::size_t i = 0; i < levels.size(); i++) {
    double y = std::max(end, levels[i] - 10 * deviation);
    for (; y < levels[i] + 10 * deviation; y += step) {
      double p = 0;
      for (const double x : levels) {
        const double z = (y - x) / deviation;
        if (std::fabs(z) < 30) p += std::exp(-z * z / 2);
      }
      p /= std::sqrt(2 * std::numbers::pi) * deviation * static_cast<double>(levels.size());
      if (p > 0) sum -= step * p * std::log2(p);
    }
    end = y;
  }
  return sum;
}

}  // namespace

double mutual_information(int points, double snr, bool single) {
  const dimension d = real_part(points);
  const double deviation = std::sqrt(1 / (2 * snr)), whole = entropy(d.levels, deviation);
  double bits = 0;
  if (single) {
    for (std::size_t b = 0; b < d.with_bit[0].size(); b++)
      bits += whole - (entropy(d.with_bit[0][b], deviation) + entropy(d.with_bit[1][b], deviation)) / 2;
  } else {
    bits = whole - std::log2(2 * std::numbers::pi * std::numbers::e * deviation * deviation) / 2;
  }
  return points == 2 ? bits : 2 * bits;
}

double exponential_sinr(const std::vector<double>& sinr, const std::vector<double>& weight, double beta) {
  long double sum = 0, total = 0;
  for (std::size_t e = 0; e < sinr.size(); e++) {
    sum += static_cast<long double>(weight[e]) * std::expm1(-static_cast<long double>(sinr[e]) / beta);
    total += weight[e];
  }
  return static_cast<double>(-beta * std::log1p(sum / total));
}

double information_sinr(const std::vector<double>& sinr, const std::vector<double>& weight,
                        const std::vector<int>& constellations, int points, double beta, bool single) {
  double sum = 0, bits = 0;
  for (std::size_t e = 0; e < sinr.size(); e++) {
    sum += weight[e] * mutual_information(constellations[e], sinr[e] / beta, single);
    bits += weight[e] * std::log2(constellations[e]);
  }
  const double wanted = sum / bits * std::log2(points);
  double low = -60, high = 60;
  while (high - low > 1e-7) {
    const double middle = (low + high) / 2;
    (mutual_information(points, std::pow(10, middle / 10), single) < wanted ? low : high) = middle;
  }
  return beta * std::pow(10, low / 10);
}

}  // namespace oracle
