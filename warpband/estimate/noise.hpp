#pragma once
// Noise and interference of slots, estimated from pilots, and their whitening (MMSE-IRC).
//
//   R = (1 / n)  sum over samples x of  x x^H,   x with a value for each receive antenna
//
// Samples are what is received in the pattern's silent resource elements; without any, d sqrt(g) with
//   d = c(i) - (4 c(i - 1) + 4 c(i + 1) - c(i - 2) - c(i + 2)) / 6
// of neighbouring cells i of every port and row, and g such that E |d|^2 g = N0: what no cubic through the
// neighbours explains. A tap of delay tau then adds about its power times (2 pi D tau)^4 / 6 squared, with D
// the spacing of the cells; silent elements have no such error.
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
  /// Throws argument_error: without silent elements a row needs 5 cells.
  explicit noise_estimator(const pilot_pattern& pilots);
  /// Queues: received [slots * elements, rx_antennas], 1..64 antennas. Throws shape_error, argument_error.
  void run(executor& exec, view<const std::complex<float>> received, const noise_output& out) const;
  /// Samples of a slot.
  std::size_t samples() const noexcept { return samples_; }

 private:
  cell_tables tables_;
  estimate_sizes of_;
  std::size_t samples_ = 0;
  resident<std::int32_t> silent_;
  resident<float> scale_;
  kept_workspace workspace_;
};

/// Whitens uses of slots, as many of each. A covariance that is not positive definite makes the uses of its
/// slot NaN, which detectors erase.
/// Threads: any number may call one object at once, each with an executor of its own.
class whitener {
 public:
  /// Queues: y and H of [slots * uses] into out_y and out_h, which may be the same memory. covariance:
  /// [slots, rx * rx]; channel [.., rx * streams]. `added`, not below 0, is added to its diagonal: error
  /// variances of H. Throws shape_error, argument_error.
  void run(executor& exec, view<const std::complex<float>> covariance, float added,
           view<const std::complex<float>> received, view<const std::complex<float>> channel,
           view<std::complex<float>> out_received, view<std::complex<float>> out_channel) const;

 private:
  kept_workspace workspace_;
};

}  // namespace wb
