#pragma once
// FCH and DL-MAP of WiMAX frames: what they say, how their bits are protected, and how many symbols they
// take.
//
// The frame control header (FCH) is the DL frame prefix of IEEE 802.16e, 24 bits, and a header check sequence
// of 8 bits. Its polynomial is that of MAC headers, x^8 + x^2 + x + 1. The FCH says how long the DL-MAP is
// and how often it is repeated. The DL-MAP is a byte for its type, 2, a byte for the number of bursts, 9
// bytes for each of them and a CRC-32 (IEEE 802.3). A burst's entry has the fields of a DL-MAP_IE, with tones
// for subchannels:
//
//   DIUC 4 (0 QPSK, 1 16-QAM, 2 64-QAM), CID 16 (its number from 1 on), symbol offset 12, tone offset 12,
//   symbols 12, tones 12, reserved 4
//
// Both have the tail-biting convolutional code of rate 1/2 (generators 171 and 133), are repeated, and are
// sent as one burst of QPSK by the Alamouti code. It has all tones of the symbols behind the preamble. Copies
// follow each other, so that they are on different tones. The FCH has QPSK and 4 copies. The DL-MAP has BPSK
// and 2 copies (Bollapalli et al., section V.A), or QPSK or other numbers of copies. BPSK sends a bit as both
// bits of a QPSK symbol: two points, a diagonal of the constellation.
#include <cstddef>
#include <cstdint>
#include <vector>

#include <warpband/code/code_kind.hpp>
#include <warpband/ofdm/wimax.hpp>

namespace wb {

enum class wimax_map_modulation { bpsk, qpsk };

struct wimax_map_config {
  wimax_map_modulation modulation = wimax_map_modulation::bpsk;
  int repetition = 2;  // copies of the DL-MAP: 1, 2, 4 or 6
  bool operator==(const wimax_map_config&) const = default;
};

inline constexpr std::size_t wimax_header_bits = 32;  // of the FCH, with its check
inline constexpr std::size_t wimax_header_copies = 4;
/// Bits of a DL-MAP with its CRC.
constexpr std::size_t wimax_map_bits(std::size_t bursts) { return 16 + 72 * bursts + 32; }

/// A message that is sent again and again.
struct wimax_message {
  std::size_t k = 0;  // bits, with the check
  std::size_t copies = 1, halves = 1;
  std::size_t n() const noexcept { return 2 * k; }  // coded bits
  std::size_t sent() const noexcept { return n() * copies * halves; }
};
wimax_message wimax_header_message();
wimax_message wimax_map_message(const wimax_map_config& config, std::size_t bursts);
/// Its code.
code_config wimax_message_code(std::size_t k);

/// OFDM symbols that both take on so many tones, a multiple of 2. Throws argument_error ("bursts") for more
/// than 27, whose DL-MAP the FCH cannot announce; map_repetition.
std::size_t wimax_map_symbols(const wimax_map_config& config, std::size_t bursts, int tones);

/// Bits 0 or 1, with their checks.
std::vector<std::uint8_t> wimax_header(const wimax_map_config& config, std::size_t bursts);
std::vector<std::uint8_t> wimax_map(const std::vector<wimax_burst>& bursts);
int wimax_diuc(int qam);

/// Remainders of a check for each of n bits, and what those of the set bits of a right message add up to.
struct wimax_check {
  std::vector<std::int32_t> weights;
  std::int32_t residue = 0;
};
wimax_check wimax_header_check();
wimax_check wimax_map_check(std::size_t bursts);

}  // namespace wb
