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
// An item is a slot, or another run of symbols (ofdm_span). 5G NR refers the phase of each symbol to the
// carrier (3GPP TS 38.211 section 5.4): the modulator multiplies symbol l of a subframe by
// exp(-2 pi i f0 t_l), the demodulator by its inverse. f0 is ofdm_span::carrier_hz and t_l the time from the
// start of the subframe to the end of the symbol's prefix.
//
// Results are float32: on CPUs the same bits for every instruction set, batch and number of threads. A CUDA
// device's differ in rounding, as it has another FFT (fft.hpp). NaN and Inf spread over their symbol and no
// further.
#include <complex>
#include <vector>

#include <warpband/exec/executor.hpp>
#include <warpband/ofdm/fft/fft.hpp>
#include <warpband/ofdm/numerology.hpp>
#include <warpband/ofdm/per_executor.hpp>

namespace wb {

struct ofdm_copy_args;

/// The symbols of an item, and their phase. A subframe is two slots of the numerology: 1 ms in LTE and 5G NR.
///   ofdm_span half_frame{.symbols = 5 * 2 * numerology.symbols_per_slot, .carrier_hz = 3.5e9};
struct ofdm_span {
  int first_symbol = 0;   // counted in its subframe: 0..2 symbols_per_slot - 1
  int symbols = 0;        // 1..65536; 0: those of a slot
  double carrier_hz = 0;  // f0, -1e12..1e12; 0: no phase
};

/// What both have in common.
/// Threads: any number may call one object at once, each with an executor of its own.
class ofdm_modem {
 public:
  const ofdm_numerology& numerology() const noexcept { return numerology_; }
  /// The span of an item, with its number of symbols.
  const ofdm_span& span() const noexcept { return span_; }
  /// Values of an item: element symbol * subcarriers + subcarrier, the lowest frequency first.
  std::size_t values() const noexcept {
    return static_cast<std::size_t>(span_.symbols) * static_cast<std::size_t>(numerology_.subcarriers);
  }
  /// Samples of an item, those of the prefixes among them.
  std::size_t samples() const noexcept { return samples_before(span_.symbols); }

 protected:
  struct part;
  ofdm_modem(const ofdm_numerology& numerology, const ofdm_span& span, fft_direction direction);
  std::size_t samples_before(int symbol) const noexcept;
  std::vector<part> parts(std::size_t rows) const;
  std::size_t rows_at_once(const executor& exec, std::size_t samples) const;
  std::size_t samples_of(const part& p) const noexcept;
  ofdm_copy_args copy_args(const part& p) const;
  void set_phases(const part& p, ofdm_copy_args& args) const;

  ofdm_numerology numerology_;
  ofdm_span span_;
  fft fft_;
  std::vector<cx_pair> phases_;  // of a subframe's symbols, as the direction needs them; empty: none
};

/// Safe to use from several threads, each with an executor of its own. Items may be those of several
/// antennas. Neighbouring values and samples side by side (layout::row_major)
/// is what is fast.
class ofdm_modulator : public ofdm_modem {
 public:
  /// Throws argument_error for a numerology or span that is not allowed, and for FFT sizes other than
  /// products of 2, 3 and 5 up to 4096.
  explicit ofdm_modulator(const ofdm_numerology& numerology, const ofdm_span& span = {});
  /// Queues: values [items, values()] to samples [items, samples()]. They do not overlap. Throws shape_error,
  /// and device_error where the build has no FFT for the executor.
  void run(executor& exec, view<const std::complex<float>> values, view<std::complex<float>> samples) const;
};

/// Threads: any number may call one object at once, each with an executor of its own.
class ofdm_demodulator : public ofdm_modem {
 public:
  /// Throws argument_error, as that of the modulator does.
  explicit ofdm_demodulator(const ofdm_numerology& numerology, const ofdm_span& span = {});
  /// Queues: samples [items, samples()] to values [items, values()]. They do not overlap. Prefixes are not
  /// read. Keeps a buffer for each executor, of about 64 MiB on a CUDA device. Throws as the modulator's.
  void run(executor& exec, view<const std::complex<float>> samples, view<std::complex<float>> values) const;

 private:
  per_executor<array<cx_pair>> bins_;
};

}  // namespace wb
