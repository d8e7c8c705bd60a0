#pragma once

#include <complex>
#include <cstdint>
#include <vector>

/// Correlated flat fading, for checking the library.
namespace oracle {

using complex_matrix = std::vector<std::complex<double>>;  ///< row after row

/// The independent entries of use `index`: Philox counters (index, 4 * 2^24 + e / 2, point), of which an even
/// e takes the first two words for its Box-Muller pair, an odd one the others.
complex_matrix draw_mimo(int rx, int streams, std::uint64_t seed, std::uint64_t index, std::uint32_t point);
/// The same with K (linear): each entry has a fixed part of random phase beside the scattered one, mean |h|^2
/// = 1.
complex_matrix draw_rician(int rx, int streams, double k, std::uint64_t seed, std::uint64_t index,
                           std::uint32_t point);
/// A G B^H with the Cholesky factors of two correlation matrices; an empty one is the identity.
complex_matrix kronecker_response(int rx, int streams, const complex_matrix& rx_correlation,
                                  const complex_matrix& tx_correlation, const complex_matrix& g);

}  // namespace oracle
