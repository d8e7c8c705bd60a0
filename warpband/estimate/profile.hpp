#pragma once
// The delay profile of a channel, estimated from pilots: Bartlett's spectrum of the estimates at pilots,
//
//   P(tau) = sum over |m| < M  of  (1 - |m| / M) r(m) exp(2 pi i m D F tau),   r(m) = mean of c(n + m) c*(n)
//
// over all slots, antennas, ports and rows, without the noise's part of r(0); D F is the distance of cells in
// Hz. It is never negative; peaks are 1 / (M D F) wide. M. S. Bartlett, "Periodogram analysis and continuous
// spectra", Biometrika 37, 1950.
#include <complex>
#include <optional>

#include <warpband/estimate/filters.hpp>
#include <warpband/exec/executor.hpp>

namespace wb {

struct profile_config {
  /// F of subcarriers, 1..1e7; absent: the pilots'. Another one than theirs is refused.
  std::optional<double> spacing_hz = {};
  int lags = 64;  // M: 2..512; at most the cells of a row
  /// Taps below this share of the strongest one are left out: 0..1.
  double least_power = 0.002;
};

/// For lmmse's `profile`: delays from 0 up to 3/4 of 1 / (D F), in steps of 1 / (2 M D F). Cells of a row
/// must be equally far apart. received: [slots * elements, rx_antennas]; noise_var: mean N0, which is taken
/// off. Runs on the executor up to the cells, then on the host; waits. A slot with a NaN or infinity is left
/// out. Throws argument_error ("pilots", "lags", ...; "received" where nothing but noise is found),
/// shape_error.
///   estimator_config c{.method = estimate_method::lmmse, .noise_var = n0};
///   c.profile = estimate_profile(exec, pilots, received, n0);
delay_profile estimate_profile(executor& exec, const pilot_pattern& pilots,
                               view<const std::complex<float>> received, double noise_var,
                               const profile_config& config = {});

}  // namespace wb
