#pragma once

#include <complex>
#include <vector>

/// Modulation mapping of 3GPP TS 38.211 §5.1 and its soft demapper by exhaustive sums, for checking the
/// library.
namespace oracle {

/// The points of BPSK (2; §5.1.2), QPSK (4; §5.1.3), 16QAM (16; §5.1.4), 64QAM (64; §5.1.5) or 256QAM (256;
/// §5.1.6), mean energy 1, indexed by the bits of a symbol with b(0) as the most significant. Throws
/// std::invalid_argument for another number of points.
std::vector<std::complex<double>> constellation(int points);

enum class demapper {
  exact,    ///< ln of the sum over the points with bit 0, minus the same with bit 1
  max_log,  ///< the largest term of each sum
};

/// LLRs ln P(b = 0 | y) - ln P(b = 1 | y) of the bits b(0), b(1), ... for y = h s + n, n ~ CN(0, n0), equally
/// likely s. n0 is the variance of the complex noise.
std::vector<double> demap(std::complex<double> y, double n0, std::complex<double> h, int points,
                          demapper rule);

}  // namespace oracle
