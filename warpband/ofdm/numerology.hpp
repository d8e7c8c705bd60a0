#pragma once
// The samples of OFDM: FFT size, cyclic prefixes, slots, and in which bin of the FFT a subcarrier lies. The
// modulator and demodulator (modem/) take all they need from here; ofdm_grid (grid.hpp) is what is left of it
// in the one-tap model.
#include <cstddef>
#include <vector>

#include <warpband/core/setting.hpp>
#include <warpband/ofdm/grid.hpp>

namespace wb {

/// One numerology. The initial values are LTE's 5 MHz with the normal cyclic prefix.
struct ofdm_numerology {
  double spacing_hz = 15000;     // of subcarriers, 1..1e7
  int fft_size = 512;            // samples of a symbol without its prefix: even, 8..65536
  int subcarriers = 300;         // that are used, around the carrier: 1..fft_size, less with a free carrier
  bool free_carrier = true;      // nothing is sent on the carrier itself (LTE downlink, TS 36.211 §6.12)
  int cyclic_prefix = 36;        // samples, 0..fft_size
  int first_cyclic_prefix = 40;  // the same of the first symbol of a slot
  int symbols_per_slot = 7;      // 1..64

  double sample_rate_hz() const noexcept { return spacing_hz * fft_size; }
  int prefix_of(int symbol_of_slot) const noexcept {
    return symbol_of_slot == 0 ? first_cyclic_prefix : cyclic_prefix;
  }
  int samples_per_slot() const noexcept {
    return symbols_per_slot * (fft_size + cyclic_prefix) + first_cyclic_prefix - cyclic_prefix;
  }
  double slot_us() const noexcept { return 1e6 * samples_per_slot() / sample_rate_hz(); }
  /// The sample of a slot at which the part of a symbol that the FFT sees begins.
  int first_sample_of(int symbol_of_slot) const noexcept {
    return symbol_of_slot * (fft_size + cyclic_prefix) + first_cyclic_prefix;
  }
  /// The bin of the FFT, 0..fft_size - 1, of subcarrier 0..subcarriers - 1, the lowest frequency first. Bin 0
  /// is the carrier; lower frequencies lie in the upper half.
  int bin_of(int subcarrier) const noexcept {
    const int k = subcarrier - subcarriers / 2;  // 0 would be the carrier
    return k < 0 ? fft_size + k : free_carrier ? k + 1 : k;
  }
  /// The grid of so many symbols: with the shorter of the cyclic prefixes, and the mean period of a symbol.
  ofdm_grid grid(int symbols) const noexcept;
};

/// Throws argument_error for a value that is not allowed.
void check(const ofdm_numerology& numerology);
/// Its settings: names, what is allowed, what they mean.
const std::vector<setting_of<ofdm_numerology>>& numerology_settings();

enum class lte_prefix { normal, extended };
/// The downlink of LTE at a channel bandwidth of 1.4, 3, 5, 10, 15 or 20 MHz: 6, 15, 25, 50, 75 or 100
/// resource blocks of 12 subcarriers (TS 36.101 table 5.6-1) 15 kHz apart. Slots of 0.5 ms have 7 symbols or,
/// with the extended prefix, 6 (TS 36.211 tables 6.2.3-1 and 6.12-1). The FFT sizes are the usual ones, 128
/// to 2048. Throws argument_error for another bandwidth.
ofdm_numerology lte_numerology(double bandwidth_mhz, lte_prefix prefix = lte_prefix::normal);

}  // namespace wb
