#pragma once
// Impairments of a receiver's front end: from samples x_n of a signal to those y_n that its converter gives.
//
//   r(t_n) = sum over m of x_m h(t_n - m),  t_n = n / (1 + 1e-6 clock_offset_ppm) - delay_samples
//   b_n = r(t_n) exp(j (2 pi n cfo_hz / sample_rate_hz + theta_n)) + w_n
//   c_n = g exp(-j phi / 2) Re b_n + j exp(j phi / 2) Im b_n / g + dc
//   y_n = c_n, each part rounded to a step of the converter and limited to its range
//
// h is a sinc with a Kaiser window, 32 samples long. Up to 0.4 of the sample rate its error is below -70 dB.
// Whole delays are exact. x_m is 0 outside of the capture. theta is a Wiener process: its steps are Gaussian
// with variance 2 pi linewidth_hz / sample_rate_hz, as of an oscillator with a Lorentzian line. w is noise of
// variance noise_var. g is iq_gain_db / 2 as an amplitude, phi is iq_phase_deg. A converter of B bits has
// steps of full_scale / 2^(B - 1), from -2^(B - 1) to 2^(B - 1) - 1 of them.
//
// A setting of 0 leaves its step out. Without any, y equals x in value, and -0 becomes 0. Input samples that
// are not finite or above 1e15 are taken as 0 and counted. Random numbers: Philox by capture and sample, so
// that a result does not depend on batch, threads or backend. Cost: 64 operations a sample for the filter,
// 128 with a clock offset, where lanes load their samples one by one. Noise takes about 45, phase noise 90:
// its steps are made twice.
//
// A. Demir, A. Mehrotra, J. Roychowdhury, "Phase noise in oscillators: a unifying theory and numerical
// methods for characterization", IEEE Trans. Circuits Syst. I 47, 2000; T. Laakso et al., "Splitting the unit
// delay", IEEE Signal Process. Mag. 13, 1996.
#include <complex>
#include <cstdint>
#include <vector>

#include <warpband/channel/random.hpp>
#include <warpband/core/setting.hpp>
#include <warpband/exec/executor.hpp>

namespace wb {

struct impairments_config {
  double sample_rate_hz = 7.68e6;  // 1..1e12
  double cfo_hz = 0;               // up to the sample rate on both sides
  double delay_samples = 0;        // -2^20..2^20
  double clock_offset_ppm = 0;     // -1000..1000
  double linewidth_hz = 0;         // 0 to the sample rate
  double noise_var = 0;            // N0 of a sample, 0..1e30
  double iq_gain_db = 0;           // amplitude of I over that of Q, -20..20
  double iq_phase_deg = 0;         // -90..90
  double dc_i = 0, dc_q = 0;       // -1e15..1e15
  int converter_bits = 0;          // 0: none; else 2..24
  double full_scale = 1;           // 1e-15..1e15
};
/// Its settings: names, what is allowed, what they mean.
const std::vector<setting_of<impairments_config>>& impairments_settings();

/// Threads: any number may call one object at once, each with an executor of its own.
class impairments {
 public:
  /// Throws argument_error.
  explicit impairments(const impairments_config& config);
  const impairments_config& config() const noexcept { return config_; }
  /// Queues: samples [captures, n] to out [captures, n], which do not overlap. n is below 2^31.
  /// `range.first` is the number of the first capture; those of all are below 2^32. erased [captures, 1]
  /// counts samples that were taken as 0, if it has data. Throws argument_error, shape_error.
  void run(executor& exec, view<const std::complex<float>> samples, view<std::complex<float>> out,
           random_range range = {}, view<std::int32_t> erased = {}) const;

 private:
  impairments_config config_;
  resident<float> filters_;
  kept_workspace workspace_;
};

}  // namespace wb
