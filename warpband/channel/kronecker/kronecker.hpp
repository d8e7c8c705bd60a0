#pragma once
// Flat Rayleigh fading between antennas that are correlated on either side (Kronecker's model): y = H s with
//
//   H = A G B^H,   A A^H = R_rx,   B B^H = R_tx
//
// the entries of G independent and CN(0, 1). Then E H H^H = streams R_rx, E H^H H = rx_antennas R_tx, and, as
// the diagonals are ones, mean |h|^2 = 1 for every entry. A and B are Cholesky factors: any square root, the
// Hermitian one too, gives H the same distribution.
#include <complex>
#include <cstddef>
#include <vector>

#include <warpband/channel/kronecker/kronecker_args.hpp>
#include <warpband/channel/random.hpp>
#include <warpband/core/setting.hpp>
#include <warpband/exec/executor.hpp>

namespace wb {

/// A matrix of n rows, row after row; without elements the identity.
using correlation_matrix = std::vector<std::complex<double>>;

/// r^|i - j| above the diagonal and its conjugate below, as neighbours along a line are: |r| <= 1. Throws
/// argument_error ("antennas": 1..512, "correlation").
correlation_matrix exponential_correlation(int antennas, std::complex<double> r);
/// Throws argument_error that blames `argument` unless it has n * n elements, is Hermitian with ones on its
/// diagonal (within 1e-6), and positive semidefinite: no pivot below -1e-9 n.
void check_correlation(const char* argument, const correlation_matrix& r, int n);
/// The lower triangle L with L L^H = R, row after row, as pairs of floats. A column whose pivot is negligible
/// (1e-9 n) is zero. Throws as check_correlation does.
std::vector<float> correlation_factor(const char* argument, const correlation_matrix& r, int n);

struct kronecker_config {
  int streams = 1, rx_antennas = 1;        // 1..64, 1..512
  correlation_matrix rx_correlation = {};  // R_rx: [rx_antennas, rx_antennas]
  correlation_matrix tx_correlation = {};  // R_tx: [streams, streams]
  bool operator==(const kronecker_config&) const = default;
};

/// Its settings: names, what is allowed, what they mean. Matrices are lists of rows, flat.
const std::vector<setting_of<kronecker_config>>& kronecker_settings();

/// Safe to use from several threads. G is the H of apply_mimo_rayleigh, bit by bit: without correlation both
/// are the same channel.
class kronecker_channel {
 public:
  /// Throws argument_error for what is not allowed.
  explicit kronecker_channel(const kronecker_config& config);

  /// Queues: an H for each item of `channel` [channels, rx_antennas * streams], element r * streams + s the
  /// gain from stream s to antenna r. `range.first` is the index of the first. Throws shape_error.
  void response(executor& exec, view<std::complex<float>> channel, random_range range) const;
  /// The same, and sends [channels * uses_per_channel, streams] to [.., rx_antennas]: out = H in for
  /// `uses_per_channel` consecutive uses, 1..2^24. `in` and `out` must not overlap.
  void apply(executor& exec, view<const std::complex<float>> in, view<std::complex<float>> out,
             view<std::complex<float>> channel, std::size_t uses_per_channel, random_range range) const;

  const kronecker_config& config() const noexcept { return config_; }

 private:
  kronecker_args arguments(executor& exec, view<std::complex<float>> channel, random_range range) const;

  kronecker_config config_;
  resident<float> rx_factor_, tx_factor_;  // lower triangles, row after row, complex
};

}  // namespace wb
