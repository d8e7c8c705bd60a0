#pragma once
// Frames of WiMAX (IEEE 802.16, time division duplex) for codewords of two OFDM symbols: the profiles of the
// WiMAX forum as Bollapalli et al. list them ("Highly parallel decoding of space-time codes on graphics
// processing units", 2009, table I). Also how many symbols a frame has, how they are split between downlink
// and uplink, and how many codewords of each modulation its bursts hold. Data subcarriers only: pilots and
// guard bands carry no codewords.
#include <cstddef>
#include <span>
#include <vector>

namespace wb {

/// A profile. Every symbol has a guard time of an eighth of its useful time.
struct wimax_profile {
  const char* name;  // "fixed_256", "mobile_128", ...
  int fft_size, data_subcarriers, pilot_subcarriers;
  double bandwidth_mhz;
  double spacing_hz;  // 15625 (fixed), 10937.5 (mobile)

  bool fixed() const noexcept { return fft_size == 256; }
  /// 72 (fixed) or 102.86.
  double symbol_us() const noexcept { return 1e6 / spacing_hz * 9 / 8; }
};

/// Fixed WiMAX with an FFT of 256, mobile with 128, 512, 1024 and 2048.
std::span<const wimax_profile> wimax_profiles() noexcept;
/// The one with this FFT size. Throws argument_error for another.
const wimax_profile& wimax_profile_of(int fft_size);

/// Whole OFDM symbols in a frame of 2, 2.5, 4, 5, 8, 10, 12.5 or 20 ms, the lengths of IEEE 802.16. In 4, 5,
/// 10 or 20 ms they are 38, 48, 97 or 194 of a mobile profile; 55, 69, 138 or 277 of the fixed one. Throws
/// argument_error for another length.
int wimax_symbols(const wimax_profile& profile, double frame_ms);

enum class wimax_direction { downlink, uplink };

/// A rectangle of tones and symbols with one modulation.
struct wimax_burst {
  wimax_direction direction = wimax_direction::downlink;
  int tones = 1, symbols = 2, qam = 4;
  int first_tone = 0;    // of the data subcarriers
  int first_symbol = 0;  // of its direction
  /// A codeword takes a tone of two consecutive symbols; of an odd number the last symbol stays empty.
  std::size_t codewords() const noexcept {
    return static_cast<std::size_t>(tones) * static_cast<std::size_t>(symbols / 2);
  }
};

/// A frame: its symbols in either direction, the downlink first, and the bursts in them.
struct wimax_frame {
  wimax_profile profile;
  int downlink_symbols = 0, uplink_symbols = 0;
  std::vector<wimax_burst> bursts;

  int symbols_of(wimax_direction direction) const noexcept {
    return direction == wimax_direction::downlink ? downlink_symbols : uplink_symbols;
  }
  /// The first symbol of a direction in the frame.
  int first_symbol_of(wimax_direction direction) const noexcept {
    return direction == wimax_direction::downlink ? 0 : downlink_symbols;
  }
  int symbols() const noexcept { return downlink_symbols + uplink_symbols; }
  /// Codewords of one modulation in one direction.
  std::size_t codewords(wimax_direction direction, int qam) const noexcept;
};

/// A frame of so many symbols (wimax_symbols, or what somebody else counts), of which the first go downlink,
/// without bursts. Throws argument_error: symbols 1..4096, downlink_symbols 0..symbols.
wimax_frame make_wimax_frame(const wimax_profile& profile, int symbols, int downlink_symbols);
/// Throws argument_error if the profile has other than 1..65536 data subcarriers or a direction has less than
/// 0 or more than 4096 symbols. Also if a burst has another modulation than 4, 16 or 64, no tone, or less
/// than the two symbols of a codeword. Also if its direction has no symbols, it is not completely within its
/// direction, or it has a tone and symbol of an earlier burst.
void check(const wimax_frame& frame);

}  // namespace wb
