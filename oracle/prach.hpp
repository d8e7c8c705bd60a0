#pragma once
// PRACH of 5G NR from its definition, 3GPP TS 38.211 sections 6.3.3.1 and 5.3.2, in double: sums in place of
// transforms and closed forms.
#include <complex>
#include <vector>

namespace oracle {

/// DFT of x_u((n + shift) mod length), over sqrt(length).
std::vector<std::complex<double>> prach_spectrum(int length, int u, int shift);
/// Sample n, counted from the end of the prefix, of values on subcarriers first.. of `period` samples.
std::complex<double> prach_sample(const std::vector<std::complex<double>>& values, int first, int period,
                                  double n);
/// The metric at each of `points` points: rows of values [antennas][sums][length], correlated with a
/// spectrum.
std::vector<double> prach_metric(const std::vector<std::complex<double>>& rows, int antennas, int sums,
                                 const std::vector<std::complex<double>>& spectrum, int points);

}  // namespace oracle
