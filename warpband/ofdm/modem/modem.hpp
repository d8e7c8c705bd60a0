#pragma once
// OFDM modulation and demodulation with cyclic prefix. Of a symbol with values X_k on its subcarriers, N the
// FFT's size and b(k) = ofdm_numerology::bin_of(k), the samples are
//
//   x_n = 1 / sqrt(N)  sum over k of  X_k exp(2 pi i n b(k) / N),   n = -prefix .. N - 1
//
// and the demodulator gives Y_k = 1 / sqrt(N) sum over n = 0 .. N - 1 of y_n exp(-2 pi i n b(k) / N). Both
// are unitary: the samples behind the prefix have the energy of the values, and noise of variance N0 in each
// sample has variance N0 on each subcarrier. A channel whose delays, in samples, do not exceed the prefix
// gives Y_k = H_k X_k. H_k is the sum over taps of h_l exp(-2 pi i l b(k) / N).
//
// Results are float32: on CPUs the same bits for every instruction set, batch and number of threads. A CUDA
// device's differ in rounding, as it has another FFT (fft.hpp). NaN and Inf spread over their symbol and no
// further.
#include <complex>

#include <warpband/exec/executor.hpp>
#include <warpband/ofdm/fft/fft.hpp>
#include <warpband/ofdm/numerology.hpp>
#include <warpband/ofdm/per_executor.hpp>

namespace wb {

struct ofdm_copy_args;

/// What both have in common.
/// Threads: any number may call one object at once, each with an executor of its own.
class ofdm_modem {
 public:
  const ofdm_numerology& numerology() const noexcept { return numerology_; }
  /// Values of a slot: element symbol * subcarriers + subcarrier, the lowest frequency first.
  std::size_t values() const noexcept {
    return static_cast<std::size_t>(numerology_.symbols_per_slot) *
           static_cast<std::size_t>(numerology_.subcarriers);
  }
  /// Samples of a slot, those of the prefixes among them.
  std::size_t samples() const noexcept { return static_cast<std::size_t>(numerology_.samples_per_slot()); }

 protected:
  ofdm_modem(const ofdm_numerology& numerology, fft_direction direction);
  std::size_t slots_at_once(const executor& exec) const;
  ofdm_copy_args copy_args() const;

  ofdm_numerology numerology_;
  fft fft_;
};

/// Safe to use from several threads, each with an executor of its own. Slots may be those of several
/// antennas; symbols alone are slots of one. Neighbouring values and samples side by side (layout::row_major)
/// is what is fast.
class ofdm_modulator : public ofdm_modem {
 public:
  /// Throws argument_error for a numerology that is not allowed, and for FFT sizes other than products of 2,
  /// 3 and 5 up to 4096.
  explicit ofdm_modulator(const ofdm_numerology& numerology);
  /// Queues: values [slots, values()] to samples [slots, samples()]. They do not overlap. Throws shape_error,
  /// and device_error where the build has no FFT for the executor.
  void run(executor& exec, view<const std::complex<float>> values, view<std::complex<float>> samples) const;
};

/// Threads: any number may call one object at once, each with an executor of its own.
class ofdm_demodulator : public ofdm_modem {
 public:
  /// Throws argument_error, as that of the modulator does.
  explicit ofdm_demodulator(const ofdm_numerology& numerology);
  /// Queues: samples [slots, samples()] to values [slots, values()]. They do not overlap. Prefixes are not
  /// read. Keeps a buffer for each executor, of about 64 MiB on a CUDA device. Throws as the modulator's.
  void run(executor& exec, view<const std::complex<float>> samples, view<std::complex<float>> values) const;

 private:
  per_executor<array<cx_pair>> bins_;
};

}  // namespace wb
