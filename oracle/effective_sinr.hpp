#pragma once

#include <vector>

/// Effective SINRs and mutual information as differences of entropies, for checking the library.
namespace oracle {

/// Bits a symbol of a constellation (2 to 4096 points) in complex white noise at Es/N0 = snr, linear.
/// `single`: the sum over the bits b of I(b; y); else I(x; y). A dimension's entropies h(y), h(y | b) and
/// h(n) are integrals of -p log2 p; absolute error below 1e-10.
double mutual_information(int points, double snr, bool single);

/// -beta ln(sum w exp(-g / beta) / sum w), linear SINRs.
double exponential_sinr(const std::vector<double>& sinr, const std::vector<double>& weight, double beta);

/// The SINR at which the information of `points` is the weighted mean over elements, each with its
/// constellation: I(g / beta) / Q = sum w I_e(g_e / beta) / sum w Q_e. By bisection; linear SINRs.
double information_sinr(const std::vector<double>& sinr, const std::vector<double>& weight,
                        const std::vector<int>& constellations, int points, double beta, bool single);

}  // namespace oracle
