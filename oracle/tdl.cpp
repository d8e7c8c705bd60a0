#include <oracle/philox.hpp>
#include <oracle/tdl.hpp>

#include <cmath>
#include <numbers>

namespace oracle {

namespace {
constexpr double word = 4294967296.0;
constexpr double turn = 2 * std::numbers::pi;
}  // namespace

tdl_path draw_tdl_path(std::uint64_t seed, std::uint64_t index, std::uint32_t point, int rx, int stream,
                       int tap, int sinusoids) {
  tdl_path path;
  for (int n = 0; n < sinusoids; ++n) {
    const int number = 5 * 16777216 + ((rx * 8 + stream) * 64 + tap) * 256 + n;
    const auto w = philox4x32_10(
        {static_cast<std::uint32_t>(index % (1ULL << 32)), static_cast<std::uint32_t>(index / (1ULL << 32)),
         static_cast<std::uint32_t>(number), point},
        {static_cast<std::uint32_t>(seed % (1ULL << 32)), static_cast<std::uint32_t>(seed / (1ULL << 32))});
    const double uniform = (w[0] + 0.5) / word;
    const double angle_of_arrival = turn * (n + w[2] / word) / sinusoids;
    path.sinusoids.push_back(
        {std::polar(std::sqrt(-std::log(uniform)), turn * w[1] / word), std::cos(angle_of_arrival)});
    if (n == 0) path.phase = turn * w[3] / word;
  }
  return path;
}

std::complex<double> tdl_response(const std::vector<tdl_tap>& taps, const std::vector<tdl_path>& paths,
                                  double doppler_hz, double time_s, double frequency_hz) {
  std::complex<double> response = 0;
  for (std::size_t l = 0; l < taps.size(); ++l) {
    std::complex<double> fading = 0;
    for (const tdl_sinusoid& s : paths[l].sinusoids)
      fading += s.weight * std::polar(1.0, turn * doppler_hz * s.cosine * time_s);
    fading /= std::sqrt(static_cast<double>(paths[l].sinusoids.size()));
    const double k = taps[l].rician_k;
    const std::complex<double> fixed = std::polar(1.0, paths[l].phase + turn * 0.7 * doppler_hz * time_s);
    response += std::sqrt(taps[l].power) *
                (std::sqrt(1 / (k + 1)) * fading + std::sqrt(k / (k + 1)) * fixed) *
                std::polar(1.0, -turn * frequency_hz * taps[l].delay_s);
  }
  return response;
}

std::complex<double> tdl_frequency_correlation(const std::vector<tdl_tap>& taps, double df_hz) {
  std::complex<double> sum = 0;
  for (const tdl_tap& t : taps) sum += t.power * std::polar(1.0, -turn * df_hz * t.delay_s);
  return sum;
}

double bessel_j0(double x) {
  // The trapezoidal rule converges exponentially for a periodic integrand.
  const int steps = 200 + static_cast<int>(2 * std::fabs(x));
  double sum = 0;
  for (int i = 0; i < steps; ++i) sum += std::cos(x * std::sin(turn * i / steps));
  return sum / steps;
}

double rician_power_cdf(double k, double power) {
  // |z|^2 (1 + k) is a gamma variable of shape 1 + j, where j is Poisson with mean k.
  const double x = power * (1 + k);
  double cdf = 0, poisson = std::exp(-k), below = 0, term = std::exp(-x);
  for (int j = 0; j < 400; ++j) {
    below += term;  // P(gamma of shape 1 + j > x)
    cdf += poisson * (1 - below);
    poisson *= k / (j + 1);
    term *= x / (j + 1);
  }
  return cdf;
}

}  // namespace oracle
