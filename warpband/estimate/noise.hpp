#pragma once
// Noise and interference of slots, estimated from pilots, and their whitening (MMSE-IRC).
//
//   R = (1 / n)  sum over samples x of  x x^H,   x with a value for each receive antenna
//
// Samples are what is received in the pattern's silent resource elements. Without any they are
//   x = s  sum over n of  g(n) c(i + n)
// of neighbouring cells of every port and row, with s such that E |x|^2 = N0. The filters g are orthonormal,
// and the best of their length to reject a channel with delays from -0.15 to 1.5 cyclic prefixes, but at most
// 0.7 of the inverse of the cells' distance in Hz: eigenvectors with the smallest eigenvalues of the matrix
//   sin(pi W (m - n)) / (pi (m - n)) exp(2 pi i C (m - n)),   W and C width and middle of these delays
// (D. Slepian, "Prolate spheroidal wave functions V", Bell Syst. Tech. J. 57, 1978). A filter takes at most
// 32 cells. Of them those are taken that let through less than 1e-6 of the power of a channel whose delays
// are uniform there, and always the best. leak() is that share. Rows of few cells cannot do it: with DMRS of
// type 1 and the normal prefix a row of 5 cells has 0.003, of type 2 0.09. Where leak() is above 1e-6 and the
// row behind has the same subcarriers, the two rows' difference is filtered, which takes off the channel of a
// slot that does not change in time.
//
// Whitening: R = L L^H; L^-1 y and L^-1 H have noise of variance 1 for any detector. With mmse that is the
// interference rejection combiner (3GPP TR 36.829 clause 5).
#include <complex>

#include <warpband/estimate/cells.hpp>

namespace wb {

/// Outputs without data are not computed.
struct noise_output {
  view<std::complex<float>> covariance = {};  // R, row after row: [slots, rx_antennas * rx_antennas]
  view<float> noise_var = {};                 // mean of its diagonal: [slots, 1]
};

/// Safe to use from several threads. Working memory is kept on each executor. CPU and CUDA, any instruction
/// set, batch size and number of threads give the same bits.
class noise_estimator {
 public:
  /// Throws argument_error: without silent elements a row needs 5 cells. Cyclic prefixes are those of the
  /// pilots' spacing and period, or 1/14 of a symbol where they do not say.
  explicit noise_estimator(const pilot_pattern& pilots);
  /// Queues: received [slots * elements, rx_antennas], 1..64 antennas. Throws shape_error, argument_error.
  void run(executor& exec, view<const std::complex<float>> received, const noise_output& out) const;
  /// What share of the channel's power, at delays up to 1.5 cyclic prefixes, counts as noise in the mean: an
  /// estimate at an SNR above 1 / leak() is too high. 0 with silent elements.
  double leak() const noexcept { return leak_; }
  /// Samples of a slot.
  std::size_t samples() const noexcept { return samples_; }

 private:
  cell_tables tables_;
  estimate_sizes sizes_;
  std::size_t samples_ = 0;
  double leak_ = 0;
  resident<std::int32_t> silent_;
  // Without silent elements: filters of `taps_` cells from `starts_` on, in rows or between rows and their
  // next.
  int taps_ = 0;
  resident<std::complex<float>> filter_;  // [filters, taps]
  resident<std::int32_t> starts_, rows_;  // [starts]; [rows, 2], the second -1 where it is one row
  resident<float> scale_;                 // of rows_
  kept_workspace workspace_;
};

/// Whitens uses of slots, as many of each. A use is erased, with zeros and status_erased, if the covariance
/// of its slot is not positive definite. It is also erased if an entry of L^-1 y or L^-1 H is not finite. R
/// is not positive definite if it has NaN or Inf in its lower triangle. The same holds if a squared pivot of
/// L is at most rx 2^-23 of its diagonal entry: float32 does not tell such a pivot from 0. Detectors erase a
/// use with H = 0.
/// Threads: any number may call one object at once, each with an executor of its own.
class whitener {
 public:
  /// Queues: H and y of [slots * uses] into out_channel and out_received, which may be the same memory.
  /// covariance: [slots, rx * rx]; channel [.., rx * streams]. `added`, not below 0, is added to its
  /// diagonal: error variances of H. status [slots * uses], if wanted. Throws shape_error, argument_error.
  void run(executor& exec, view<const std::complex<float>> covariance, float added,
           view<const std::complex<float>> channel, view<const std::complex<float>> received,
           view<std::complex<float>> out_channel, view<std::complex<float>> out_received,
           view<std::uint8_t> status = {}) const;

 private:
  kept_workspace workspace_;
};

}  // namespace wb
