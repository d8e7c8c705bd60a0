#pragma once
// OFDM from its definition: sums over all subcarriers or samples, in double.
#include <complex>
#include <vector>

namespace oracle {

/// An OFDM symbol: FFT size, and for each subcarrier the multiple of the spacing, from the carrier, at which
/// it lies: negative below.
struct ofdm_symbol {
  int size;
  std::vector<int> frequencies;
};
/// `count` of them, from the lowest on. Half of them (less one half of an odd one) are below the carrier.
/// With a free carrier those from the carrier on lie one higher.
ofdm_symbol ofdm_subcarriers(int size, int count, bool free_carrier);

/// Samples -prefix .. size - 1 of a symbol.
std::vector<std::complex<double>> ofdm_modulate(const ofdm_symbol& symbol,
                                                const std::vector<std::complex<double>>& values, int prefix);
/// Values of samples 0 .. size - 1, which begin at `samples`.
std::vector<std::complex<double>> ofdm_demodulate(const ofdm_symbol& symbol,
                                                  const std::complex<double>* samples);

struct delayed_tap {
  int delay;  // samples
  std::complex<double> gain;
};
/// What comes through a channel of such taps, with silence before the first sample.
std::vector<std::complex<double>> delay_line(const std::vector<delayed_tap>& taps,
                                             const std::vector<std::complex<double>>& samples);
/// Its gain at each subcarrier.
std::vector<std::complex<double>> frequency_response(const std::vector<delayed_tap>& taps,
                                                     const ofdm_symbol& symbol);

}  // namespace oracle
