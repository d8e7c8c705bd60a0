#pragma once
// Channel estimation from pilots, on the executor: cells to estimates, filters in frequency, filters in time.
// estimate/filters.hpp has the formulas; pilots are those of 5G NR (pilots_of) or any others.
#include <complex>
#include <vector>

#include <warpband/estimate/cells.hpp>
#include <warpband/estimate/filters.hpp>
#include <warpband/exec/executor.hpp>

namespace wb {

/// Outputs without data are not computed. `places` are the estimator's, in their order.
struct estimate_output {
  /// H as detectors take it: element r * ports + p. [slots * places, rx_antennas * ports]
  view<std::complex<float>> channel = {};
  /// N0 + the error variances of all ports, interpolation included: what a detector that trusts H should take
  /// for N0, where symbols have unit energy. ls measures them in each slot. [slots * places, 1]
  view<float> noise_var = {};
};

/// Estimates the channel at chosen resource elements of slots. A NaN or infinite y spreads to the estimates
/// that are filtered of it, which detectors then erase. Working memory is kept on each executor. Safe to use
/// from several threads. CPU and CUDA, any instruction set, batch size and number of threads give the same
/// bits.
///
///   nr_shared_channel pusch({.carrier = {.resource_blocks = 51}, .layers = 2});
///   channel_estimator estimator(pilots_of(pusch), {}, pusch.data_places());
///   estimator.run(exec, received, noise_var, {.channel = h, .noise_var = n0});
class channel_estimator {
 public:
  /// places: resource elements of a slot, symbol * subcarriers + subcarrier; empty for all of them. Throws
  /// argument_error.
  channel_estimator(const pilot_pattern& pilots, const estimator_config& config,
                    std::vector<std::int32_t> places = {});

  /// Queues: received [slots * elements, rx_antennas], 1..64 antennas; noise_var N0 [slots, 1], item_stride 0
  /// to share one, looked at for out.noise_var alone. Throws shape_error, argument_error. What is not finite
  /// is left out where ls measures its error.
  void run(executor& exec, view<const std::complex<float>> received, view<const float> noise_var,
           const estimate_output& out) const;

  /// Completed with the pilots' spacing and period.
  const estimator_config& config() const noexcept { return config_; }
  std::size_t elements() const noexcept { return static_cast<std::size_t>(sizes_.elements); }
  std::size_t places() const noexcept { return places_.host().size(); }
  std::size_t ports() const noexcept { return static_cast<std::size_t>(sizes_.ports); }
  std::size_t working_bytes(std::size_t slots, std::size_t rx_antennas) const noexcept;
  /// Mean error variance of a port at the places, at some N0. lmmse: that of the channel which its filters
  /// are made for. ls: the noise's part; run() measures the channel's.
  double error_variance(std::size_t port, double noise_var) const;

 private:
  std::size_t terms() const noexcept;
  std::size_t parts(std::size_t rx_antennas) const noexcept;
  /// Queues what ls measures of slots; gives terms.
  const float* measure(executor& exec, const estimate_sizes& sizes, const cx_pair* cells, spread_sum* work,
                       std::size_t slots, view<const float> noise_var) const;

  estimator_config config_;
  cell_tables tables_;
  estimate_sizes sizes_;
  int taps_ = 1;
  resident<std::int32_t> places_, start_;
  resident<std::complex<float>> frequency_;
  resident<float> time_, weight_, all_gain_;  // the latter two over all ports: [places, terms], [places]
  std::vector<float> bias_, gain_;            // [ports, places]
  // ls:
  spread_measure spread_;
  resident<std::int32_t> next_;
  resident<float> divided_;
  kept_workspace workspace_;
};

}  // namespace wb
