#pragma once
// PRACH of 5G NR, the preambles of random access: generation and detection. 3GPP TS 38.211 sections 6.3.3
// and 5.3.2, unrestricted set, formats 0 to 3 (L = 839) and A1 to C2 (L = 139).
//
//   x_u(n) = exp(-pi i u n (n + 1) / L)         Zadoff-Chu sequence of root u
//   x_uv(n) = x_u((n + C_v) mod L)              C_v = v N_CS; preambles 0..63 use the shifts of a root, then
//                                               the next logical root
//   y_uv(k) = DFT of x_uv                       y_u(k) = y_u(0) conj(x_u(k / u mod L)): no transform needed
//
// Resource elements have amplitude 1 here: y_uv(k) / sqrt(L), which is y_u(k) from here on. A delay of d
// samples of x shifts the peak of the correlation with the root to d - C_v.
//
// Detection, of an occasion of A antennas and R repetitions:
// 1. Groups of g repetitions are added, as long as max_cfo_hz turns a group by at most a quarter turn. Of A R
//    repetitions K = A R / g sums Y_i(k) remain. E_i is their mean energy on an antenna.
// 2. z_i(m) = sum over k of Y_i(k) conj(y_u(k)) exp(2 pi i k m / M), M = 2048 or 512, zero padded.
// 3. metric T(m) = sum over i of |z_i(m)|^2 / E_i. A preamble has a window of N_CS, at most the prefix.
//    It begins and ends 1 to 2 points early, as noise may move the peak of delay 0. Its metric is the largest
//    value there.
// 4. In white Gaussian noise of any level T / (K L) has the beta distribution of K and K (L - 1) on one
//    antenna. On several, each has its own energy, and the same law is a close approximation. The
//    threshold bounds the probability that any of the 64 windows exceeds it. The bound is the sum over the
//    values looked at, or that of Rice's rate of crossings where it is less.
// 5. A preamble is not detected where a stronger one explains its peak: its sidelobes, its images at
//    multiples of 1 / u mod L under a frequency offset up to max_cfo_hz, its correlation with other roots.
// 6. The delay is the peak of a parabola through the fourth roots of three values.
//
// Papers: D. Chu, "Polyphase codes with good periodic correlation properties", IEEE Trans. Inf. Theory 18,
// 1972; S. Rice, "Mathematical analysis of random noise", Bell Syst. Tech. J. 24, 1945.
#include <complex>
#include <cstdint>
#include <optional>
#include <vector>

#include <warpband/core/setting.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/ofdm/fft/fft.hpp>

namespace wb {

inline constexpr int prach_preambles = 64;  // of an occasion

/// TS 38.211 tables 6.3.3.1-1 and 6.3.3.1-2.
enum class prach_format { f0, f1, f2, f3, a1, a2, a3, b1, b2, b3, b4, c0, c2 };

struct prach_config {
  prach_format format = prach_format::f0;
  int spacing_khz = 15;           // of A1 to C2: 15, 30, 60, 120. Formats 0 to 3 have their own
  int root_sequence = 0;          // logical index: 0..837, or 0..137 with A1 to C2
  int zero_correlation_zone = 1;  // zeroCorrelationZoneConfig: 0..15
  // Samples. Absent: the least rate, 1536 or 256 samples a sequence; a preamble in the middle of the band.
  std::optional<double> sample_rate_hz = std::nullopt;
  std::optional<int> first_subcarrier = std::nullopt;  // of y(0), from the samples' centre
  int start_symbol = 0;  // of A1 to C2: OFDM symbol of its subframe, 0..14 spacing / 15 - 1
  // Detection
  int antennas = 1;           // 1..64
  double max_cfo_hz = 400;    // 0 to half the spacing
  double false_alarm = 5e-4;  // bound of the probability that noise gives a preamble: 1e-12..0.1
  int ta_spacing_khz = 15;    // of the uplink that a timing advance is for: 15, 30, 60, 120
};
/// Settings of a detector, and of a generator: all but those of detection.
const std::vector<setting_of<prach_config>>& prach_settings();
const std::vector<setting_of<prach_config>>& prach_generator_settings();
/// Throws argument_error for what is not allowed.
void check(const prach_config& config);

/// What a configuration stands for.
struct prach_shape {
  int length = 839;     // L
  int repetitions = 1;  // R
  double spacing_hz = 1250;
  int sequence_samples = 0, prefix_samples = 0;  // a sequence, and what lies before the first
  int first_subcarrier = 0;
  double sample_rate_hz = 0;
  int n_cs = 0;
  std::vector<int> root, shift;  // u and C_v of each preamble
  std::size_t samples() const noexcept {
    return static_cast<std::size_t>(prefix_samples) +
           static_cast<std::size_t>(repetitions) * static_cast<std::size_t>(sequence_samples);
  }
  std::size_t values() const noexcept {
    return static_cast<std::size_t>(repetitions) * static_cast<std::size_t>(length);
  }
};
/// Throws argument_error.
prach_shape shape_of(const prach_config& config);
/// Subcarrier of y(0), from the middle of a carrier of `resource_blocks`: K k1 + kbar of section 5.3.2, for
/// an occasion whose lowest resource block is `first_block`. `uplink_khz` is the spacing of PUSCH. Throws
/// argument_error for spacings that table 6.3.3.2-1 does not have, and for blocks outside of the carrier.
int prach_first_subcarrier(const prach_config& config, int uplink_khz, int resource_blocks, int first_block);

/// Where both read and write samples: parts of an FFT of sequence_samples.
struct prach_parts {
  int size = 0, count = 1;  // `count` FFTs of `size`
  resident<cx_pair> twiddles;
};

/// Preambles as resource elements and as samples.
///   wb::prach_generator generator({.format = wb::prach_format::b4, .spacing_khz = 30});
///   generator.run(exec, {0, 17}, samples);   // [2, samples()]
/// Threads: any number may call one object at once, each with an executor of its own.
class prach_generator {
 public:
  /// Throws argument_error.
  explicit prach_generator(const prach_config& config);
  const prach_config& config() const noexcept { return config_; }
  const prach_shape& shape() const noexcept { return shape_; }
  /// Of an item: prefix and repetitions.
  std::size_t samples() const noexcept { return shape_.samples(); }
  /// y_uv(k) / sqrt(L) of a preamble, one repetition. Throws argument_error ("preamble").
  std::vector<std::complex<float>> values(int preamble) const;
  /// Samples [preambles, samples()], (1 / sqrt N) sum over k of y_k exp(2 pi i k n / N) as of an OFDM
  /// modulator: white noise of variance N0 in each has N0 on each subcarrier. Waits for the executor before
  /// it queues. Throws argument_error ("preamble") and shape_error.
  void run(executor& exec, const std::vector<int>& preambles, view<std::complex<float>> samples) const;

 private:
  prach_config config_;
  prach_shape shape_;
  prach_parts parts_;
  fft fft_;
  resident<cx_pair> values_;  // [64, L]
  kept_workspace workspace_;
};

/// Outputs without data are not written.
struct prach_output {
  view<std::uint8_t> detected = {};  // [occasions, 64]
  // [occasions, 64] from the nominal start, at least -2.5 points of the correlation; 0 where not detected
  view<float> delay_us = {};
  view<std::int32_t> timing_advance =
      {};                          // [occasions, 64] the delay in units of 16 * 64 T_c * 15 kHz / spacing
  view<float> snr_db = {};         // [occasions, 64] of a resource element; 0 where not detected
  view<float> metric = {};         // [occasions, 64] step 3
  view<std::uint8_t> status = {};  // [occasions, 1] status_erased
};

/// Detects the 64 preambles of occasions.
///   wb::prach_detector detector({.root_sequence = 22, .antennas = 2});
///   detector.run(exec, values, {.detected = detected, .delay_us = delay});
/// Magnitudes of about 1e-15 to 1e15. An occasion with a value that is not finite or larger is erased:
/// nothing is detected, all outputs are 0. Silence detects nothing. The SNR counts other preambles as noise,
/// and of several paths the strongest. It takes antennas as equal: if one of two receives nothing, it is 0 dB
/// at most.
///
/// CPUs give the same bits for every instruction set, batch and number of threads. A CUDA device's differ in
/// rounding, as it has another FFT.
/// Threads: any number may call one object at once, each with an executor of its own.
class prach_detector {
 public:
  /// Throws argument_error.
  explicit prach_detector(const prach_config& config);
  const prach_config& config() const noexcept { return config_; }
  const prach_shape& shape() const noexcept { return shape_; }
  /// Of an occasion: antennas, each with its prefix and repetitions.
  std::size_t samples() const noexcept { return as_count(config_.antennas) * shape_.samples(); }
  /// Of an occasion: [antennas, repetitions, L].
  std::size_t values() const noexcept { return as_count(config_.antennas) * shape_.values(); }
  /// Of the metric.
  double threshold() const noexcept { return threshold_; }
  /// Repetitions that are added before detection.
  int coherent_repetitions() const noexcept { return coherent_; }
  /// Queues: samples [occasions, samples()] from the nominal start of the prefix on, to resource elements
  /// [occasions, values()]. Throws shape_error.
  void demodulate(executor& exec, view<const std::complex<float>> samples,
                  view<std::complex<float>> values) const;
  /// Queues: resource elements [occasions, values()]. Throws shape_error.
  void run(executor& exec, view<const std::complex<float>> values, const prach_output& out) const;

 private:
  static std::size_t as_count(int n) noexcept { return static_cast<std::size_t>(n); }

  prach_config config_;
  prach_shape shape_;
  prach_parts parts_;
  fft forward_, inverse_;
  int coherent_ = 1, roots_ = 1;
  double threshold_ = 0;
  resident<cx_pair> replicas_;      // [roots, L]
  resident<std::int32_t> windows_;  // prach_window, of each preamble; u and 1 / u of each root
  kept_workspace samples_, workspace_;
};

}  // namespace wb
