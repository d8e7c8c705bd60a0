#include <oracle/prach.hpp>

#include <cmath>
#include <numbers>

namespace oracle {
namespace {

using exact = std::complex<double>;
constexpr double turn = 2 * std::numbers::pi;

/// exp(2 pi i k / n).
std::vector<exact> circle_of(int n) {
  std::vector<exact> w;
  for (int k = 0; k < n; k++) w.push_back(std::polar(1., turn * k / n));
  return w;
}

}  // namespace

std::vector<exact> prach_spectrum(int length, int u, int shift) {
  const auto w = circle_of(length);
  std::vector<exact> x, y;
  for (int i = 0; i < length; i++) {
    const int n = (i + shift) % length;
    x.push_back(
        std::polar(1., -turn / 2 * std::fmod(static_cast<double>(u) * n * (n + 1), 2. * length) / length));
  }
  for (int k = 0; k < length; k++) {
    exact sum = 0;
    for (int n = 0; n < length; n++)
      sum += x[static_cast<std::size_t>(n)] * std::conj(w[static_cast<std::size_t>(n * k % length)]);
    y.push_back(sum / std::sqrt(static_cast<double>(length)));
  }
  return y;
}

exact prach_sample(const std::vector<exact>& values, int first, int period, double n) {
  exact sum = 0;
  double k = first;
  for (const exact& y : values) sum += y * std::polar(1., turn * std::fmod(k++ * n, period) / period);
  return sum / std::sqrt(static_cast<double>(period));
}

std::vector<double> prach_metric(const std::vector<exact>& rows, int antennas, int sums,
                                 const std::vector<exact>& spectrum, int points) {
  const auto w = circle_of(points);
  const std::size_t length = spectrum.size();
  std::vector<double> metric(static_cast<std::size_t>(points));
  for (int antenna = 0; antenna < antennas; antenna++) {
    const exact* from = rows.data() + static_cast<std::size_t>(antenna * sums) * length;
    double energy = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(sums) * length; i++) energy += std::norm(from[i]);
    for (int i = 0; i < sums; i++)
      for (int m = 0; m < points; m++) {
        exact z = 0;
        for (std::size_t k = 0; k < length; k++)
          z += from[static_cast<std::size_t>(i) * length + k] * std::conj(spectrum[k]) *
               w[k * static_cast<std::size_t>(m) % static_cast<std::size_t>(points)];
        metric[static_cast<std::size_t>(m)] += std::norm(z) / (energy / sums);
      }
  }
  return metric;
}

}  // namespace oracle
