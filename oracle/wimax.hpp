#pragma once

#include <complex>
#include <cstdint>
#include <vector>

/// Control symbols of WiMAX frames by their definitions, for checking the library: checks by long division,
/// pilots by the shift register, estimates tone by tone.
namespace oracle {

/// The remainder of bits x^degree by a polynomial (without its leading term), the first bit that of the
/// highest power. With `ones` the first `degree` bits are inverted before, and the remainder after.
std::vector<std::uint8_t> remainder_of(std::vector<std::uint8_t> bits, std::uint64_t polynomial, int degree,
                                       bool ones);

struct wimax_entry {
  int diuc = 0, first_symbol = 0, first_tone = 0, symbols = 0, tones = 0;
};
/// The FCH: 24 bits and the header check sequence. `repetition`: its field of 2 bits.
std::vector<std::uint8_t> wimax_fch(int repetition, int map_bytes);
/// The DL-MAP with its CRC-32.
std::vector<std::uint8_t> wimax_dl_map(const std::vector<wimax_entry>& entries);
/// Coded (tail-biting, 171 and 133), each bit `halves` times side by side, all of it `copies` times.
std::vector<std::uint8_t> wimax_protected(const std::vector<std::uint8_t>& bits, int copies, int halves);

/// What antenna `antenna` sends on the tones of a preamble.
std::vector<double> wimax_preamble(int tones, int antenna);
/// H of an antenna at every tone: y / p at its pilots, straight lines between them and beyond the last.
std::vector<std::complex<double>> wimax_least_squares(const std::vector<std::complex<double>>& y,
                                                      int antenna);

}  // namespace oracle
