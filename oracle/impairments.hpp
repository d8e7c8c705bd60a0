#pragma once

#include <complex>
#include <cstdint>
#include <vector>

/// Impairments of a receiver's front end in double precision.
namespace oracle {

struct front_end {
  double sample_rate = 1, cfo = 0;  // Hz
  double delay = 0;                 // samples
  double clock = 0;                 // relative offset of the converter's clock
  double linewidth = 0;             // Hz
  double noise_var = 0;
  double iq_gain_db = 0, iq_phase = 0;  // phase in radians
  std::complex<double> dc = 0;
  int bits = 0;
  double full_scale = 1;
  std::uint64_t seed = 0;
  std::uint32_t capture = 0, point = 0;
};

/// What the front end makes of samples: band-limited interpolation with a Kaiser-windowed sinc of 32 samples,
/// rotation, noise, imbalance, offset and converter, in this order.
std::vector<std::complex<double>> impaired(const std::vector<std::complex<double>>& samples,
                                           const front_end& f);

}  // namespace oracle
