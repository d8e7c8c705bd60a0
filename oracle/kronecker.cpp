#include <oracle/kronecker.hpp>
#include <oracle/philox.hpp>

#include <cmath>
#include <numbers>

namespace oracle {

namespace {
using complex = std::complex<double>;

/// Cholesky's factor by columns, each divided by the root of what is left of the diagonal.
complex_matrix root_of(complex_matrix r, std::size_t n) {
  complex_matrix l(n * n);
  for (std::size_t c = 0; c < n; ++c) {
    const double pivot = r[c * n + c].real();
    if (pivot < 1e-8) continue;
    for (std::size_t i = c; i < n; ++i) l[i * n + c] = r[i * n + c] / std::sqrt(pivot);
    for (std::size_t i = c; i < n; ++i)
      for (std::size_t j = c; j < n; ++j) r[i * n + j] -= l[i * n + c] * std::conj(l[j * n + c]);
  }
  return l;
}
complex_matrix identity(std::size_t n) {
  complex_matrix one(n * n);
  for (std::size_t i = 0; i < n; ++i) one[i * n + i] = 1;
  return one;
}
}  // namespace

complex_matrix draw_mimo(int rx, int streams, std::uint64_t seed, std::uint64_t index, std::uint32_t point) {
  complex_matrix g;
  for (int e = 0; e < rx * streams; ++e) {
    const auto w = philox4x32_10(
        {static_cast<std::uint32_t>(index % (1ULL << 32)), static_cast<std::uint32_t>(index / (1ULL << 32)),
         static_cast<std::uint32_t>(4 * 16777216 + e / 2), point},
        {static_cast<std::uint32_t>(seed % (1ULL << 32)), static_cast<std::uint32_t>(seed / (1ULL << 32))});
    const std::size_t first = e % 2 == 0 ? 0 : 2;
    g.push_back(std::polar(std::sqrt(-std::log((w[first] + 0.5) / 4294967296.0)),
                           2 * std::numbers::pi * w[first + 1] / 4294967296.0));
  }
  return g;
}

complex_matrix draw_rician(int rx, int streams, double k, std::uint64_t seed, std::uint64_t index,
                           std::uint32_t point) {
  complex_matrix h = draw_mimo(rx, streams, seed, index, point);
  for (int e = 0; e < rx * streams; ++e) {
    const auto w = philox4x32_10(
        {static_cast<std::uint32_t>(index % (1ULL << 32)), static_cast<std::uint32_t>(index / (1ULL << 32)),
         static_cast<std::uint32_t>(4 * 16777216 + 8388608 + e / 2), point},
        {static_cast<std::uint32_t>(seed % (1ULL << 32)), static_cast<std::uint32_t>(seed / (1ULL << 32))});
    const double phase = 2 * std::numbers::pi * w[e % 2 == 0 ? 0 : 1] / 4294967296.0;
    auto& gain = h[static_cast<std::size_t>(e)];
    gain = std::sqrt(1 / (k + 1)) * gain + std::polar(std::sqrt(k / (k + 1)), phase);
  }
  return h;
}

complex_matrix kronecker_response(int rx, int streams, const complex_matrix& rx_correlation,
                                  const complex_matrix& tx_correlation, const complex_matrix& g) {
  const std::size_t m = static_cast<std::size_t>(rx), n = static_cast<std::size_t>(streams);
  const complex_matrix a = rx_correlation.empty() ? identity(m) : root_of(rx_correlation, m),
                       b = tx_correlation.empty() ? identity(n) : root_of(tx_correlation, n);
  complex_matrix h(m * n);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t k = 0; k < m; ++k)
        for (std::size_t l = 0; l < n; ++l)
          h[i * n + j] += a[i * m + k] * g[k * n + l] * std::conj(b[j * n + l]);
  return h;
}

}  // namespace oracle
