#pragma once

#include <complex>
#include <string>
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
/// The same of any 2^m points, indexed by the bits of a symbol.
std::vector<double> demap(std::complex<double> y, double n0, std::complex<double> h,
                          const std::vector<std::complex<double>>& points, demapper rule);

/// The points of DVB-S2, ETSI EN 302 307-1 clause 5.4, mean energy 1, indexed by the bits of a symbol:
/// "8psk", "16apsk" or "32apsk", with the radii of the rings behind the innermost, divided by its radius.
/// Throws std::invalid_argument for another name.
std::vector<std::complex<double>> dvb_s2_constellation(const std::string& name,
                                                       const std::vector<double>& ring_ratios);

/// Symbol error rate of M-PSK with maximum-likelihood decisions at Es/N0 = `esn0`, by Craig's integral.
double psk_symbol_error_rate(int points, double esn0);

/// Mutual information in bits of a symbol's equally likely bits and what is received, y = s + n: the sum over
/// its bits (bit-interleaved coded modulation). By a sum over a grid of noise, n ~ CN(0, n0).
double bicm_information(const std::vector<std::complex<double>>& points, double n0);

}  // namespace oracle
