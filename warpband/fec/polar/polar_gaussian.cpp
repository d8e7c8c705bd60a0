#include <warpband/fec/polar/polar_gaussian.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

namespace wb {
namespace {

constexpr double infinite_mean = std::numeric_limits<double>::infinity();
/// Where the formulas of ln phi meet: means, and their ln phi.
constexpr double first_join = 0.6357, second_join = 5.81, first_log = -0.2848248605, second_log = -2.0341;

double log_phi_tail(double m) {
  return std::log(std::numbers::pi / m) / 2 - m / 4 -
         std::numbers::pi * std::numbers::pi / 4 / (m + 4.6 - 8.2 / m);
}

/// Mean of the left child's LLR.
double left_mean(double a, double b) {
  if (std::isinf(a) || std::isinf(b)) return std::min(a, b);  // a known bit leaves the other one's LLR
  const double of_a = polar_log_phi(a), of_b = polar_log_phi(b), x = std::max(of_a, of_b),
               y = std::min(of_a, of_b);
  // phi(a) + phi(b) - phi(a) phi(b), without cancellation where a or b is small
  if (x > -0.1) return polar_inverse_log_phi(std::log1p(-std::expm1(x) * std::expm1(y)));
  return polar_inverse_log_phi(x + std::log1p(std::exp(y - x) - std::exp(y)));
}

/// Appends the means of a node's 2^stage bits. One mean stands for all of its coded bits, if they are equal.
void visit_node(std::vector<double> coded, int stage, std::vector<double>& bits) {
  if (std::all_of(coded.begin(), coded.end(), [&](double m) { return m == coded[0]; })) coded.resize(1);
  if (stage == 0) return bits.push_back(coded[0]);
  const std::size_t half = std::max<std::size_t>(coded.size() / 2, 1), second = coded.size() - half;
  std::vector<double> left(half), right(half);
  for (std::size_t i = 0; i < half; i++) {
    left[i] = left_mean(coded[i], coded[i + second]);
    right[i] = coded[i] + coded[i + second];
  }
  visit_node(std::move(left), stage - 1, bits);
  visit_node(std::move(right), stage - 1, bits);
}

}  // namespace

double polar_log_phi(double m) {
  if (m < first_join) return (0.06725 * m - 0.4908) * m;
  if (m < second_join) return 0.0218 - 0.4527 * std::pow(m, 0.86);
  return m < infinite_mean ? log_phi_tail(m) : -infinite_mean;
}

double polar_inverse_log_phi(double y) {
  if (y > first_log) return -2 * y / (0.4908 + std::sqrt(0.4908 * 0.4908 + 4 * 0.06725 * y));
  if (y > second_log) return std::pow((0.0218 - y) / 0.4527, 1 / 0.86);
  if (y == -infinite_mean) return infinite_mean;
  double m = std::max(-4 * y, second_join);
  // Newton's method; the slope leaves out the remainder's.
  for (int step = 0; step < 6; step++)
    m = std::max(m + (log_phi_tail(m) - y) / (0.25 + 0.5 / m), second_join);
  return m;
}

polar_gaussian::polar_gaussian(const std::vector<bool>& unsent, double unsent_mean, double esn0_db) {
  const double sent_mean = 4 * std::pow(10, esn0_db / 10);
  std::vector<double> coded(unsent.size());
  for (std::size_t d = 0; d < coded.size(); d++) coded[d] = unsent[d] ? unsent_mean : sent_mean;
  means_.reserve(coded.size());
  visit_node(std::move(coded), std::countr_zero(unsent.size()), means_);
}

std::vector<int> polar_gaussian::order() const {
  std::vector<int> order(means_.size());
  std::iota(order.begin(), order.end(), 0);
  const auto weight = [](int u) { return std::popcount(static_cast<unsigned>(u)); };
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    const double x = means_[static_cast<std::size_t>(a)], y = means_[static_cast<std::size_t>(b)];
    if (x != y) return x < y;
    return weight(a) != weight(b) ? weight(a) < weight(b) : a < b;
  });
  return order;
}

double polar_gaussian::frame_error_rate(const std::vector<int>& information_set) const {
  double sum = 0;
  for (const int u : information_set)
    sum += std::erfc(std::sqrt(means_[static_cast<std::size_t>(u)]) / 2) / 2;
  return sum;
}

}  // namespace wb
