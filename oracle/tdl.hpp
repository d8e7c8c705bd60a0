#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <vector>

/// Tapped-delay-line channels by their formula, for checking the library.
namespace oracle {

struct tdl_tap {
  double delay_s = 0;
  double power = 0;     ///< mean, of the fading and the fixed part together
  double rician_k = 0;  ///< fixed over fading power; 0: Rayleigh
};

/// One sinusoid: a complex weight and the cosine of its angle of arrival.
struct tdl_sinusoid {
  std::complex<double> weight;
  double cosine = 1;
};
/// A tap of one block and pair of antennas, drawn: E|weight|^2 = 1.
struct tdl_path {
  std::vector<tdl_sinusoid> sinusoids;
  double phase = 0;  ///< of the fixed part, radians
};

/// Which Philox counters belong to a path: (index, 5 * 2^24 + number + n, point) for its n-th sinusoid, with
/// number = ((rx * 8 + stream) * 64 + tap) * 256. The first two words give the weight (Box-Muller: modulus
/// from the first, angle from the second). The third gives the position of the angle of arrival in the n-th
/// of `sinusoids` sectors of the circle. The fourth, with n = 0, gives the phase of the fixed part.
tdl_path draw_tdl_path(std::uint64_t seed, std::uint64_t index, std::uint32_t point, int rx, int stream,
                       int tap, int sinusoids);

/// sum over taps of sqrt(P) g(t) exp(-2 pi i f tau). A fixed part is shifted by 0.7 of the Doppler frequency.
std::complex<double> tdl_response(const std::vector<tdl_tap>& taps, const std::vector<tdl_path>& paths,
                                  double doppler_hz, double time_s, double frequency_hz);

/// E H(t, f + df) H*(t, f): the Fourier transform of the power-delay profile.
std::complex<double> tdl_frequency_correlation(const std::vector<tdl_tap>& taps, double df_hz);
/// J0(x), by the integral of cos(x sin a) over half a turn.
double bessel_j0(double x);
/// The distribution function of |z|^2 for a Rician z of unit mean power, by integration of its density over a
/// Poisson mixture of gamma distributions.
double rician_power_cdf(double k, double power);

}  // namespace oracle
