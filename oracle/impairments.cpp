#include <oracle/impairments.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

#include <oracle/philox.hpp>

namespace oracle {
namespace {

using complex = std::complex<double>;
constexpr double two_pi = 2 * std::numbers::pi;

/// Windowed sinc: support of 32 samples, Kaiser window with beta = 8.
double kernel(double t) {
  const double u = t / 16;
  if (std::abs(u) > 1) return 0;
  if (std::abs(t) < 1e-12) return 1;
  return std::sin(two_pi / 2 * t) / (two_pi / 2 * t) * std::cyl_bessel_i(0, 8 * std::sqrt(1 - u * u)) /
         std::cyl_bessel_i(0, 8.);
}

/// CN(0, 1) by the method of Box and Muller, from two words of 32 bits.
complex gaussian(std::uint32_t a, std::uint32_t b) {
  return std::sqrt(-std::log((a + 0.5) / std::exp2(32))) * std::polar(1., two_pi * b / std::exp2(32));
}

double converted(double x, int bits, double full_scale) {
  const double steps = std::exp2(bits - 1);
  return std::clamp(std::nearbyint(x / full_scale * steps), -steps, steps - 1) * full_scale / steps;
}

}  // namespace

std::vector<complex> impaired(const std::vector<complex>& samples, const front_end& f) {
  const long count = static_cast<long>(samples.size());
  std::vector<complex> out;
  double walk = 0;
  for (long n = 0; n < count; n++) {
    const double t = static_cast<double>(n) / (1 + f.clock) - f.delay;
    complex y = 0;
    for (long m = std::lround(std::floor(t)) - 17; m <= std::lround(std::floor(t)) + 17; m++)
      if (m >= 0 && m < count) y += samples[static_cast<std::size_t>(m)] * kernel(t - static_cast<double>(m));
    const auto words =
        philox4x32_10({static_cast<std::uint32_t>(n), f.capture, 7U << 24, f.point},
                      {static_cast<std::uint32_t>(f.seed), static_cast<std::uint32_t>(f.seed >> 32)});
    // The real part of CN(0, 1) has variance 1/2.
    walk += std::sqrt(2 * two_pi * f.linewidth / f.sample_rate) * gaussian(words[2], words[3]).real();
    y *= std::polar(1., two_pi * std::fmod(f.cfo / f.sample_rate * static_cast<double>(n), 1.) + walk);
    y += std::sqrt(f.noise_var) * gaussian(words[0], words[1]);
    const double gain = std::pow(10, f.iq_gain_db / 40);
    y = gain * std::polar(1., -f.iq_phase / 2) * y.real() +
        complex(0, 1) / gain * std::polar(1., f.iq_phase / 2) * y.imag() + f.dc;
    if (f.bits != 0)
      y = {converted(y.real(), f.bits, f.full_scale), converted(y.imag(), f.bits, f.full_scale)};
    out.push_back(y);
  }
  return out;
}

}  // namespace oracle
