#pragma once
// Numerologies, slots and carriers of 5G NR, 3GPP TS 38.211 §4: subcarriers 15, 30, 60 or 120 kHz apart,
// slots of 14 OFDM symbols, or of 12 with the extended cyclic prefix, 10 to 80 of them in a frame of 10 ms.
#include <warpband/core/setting.hpp>
#include <warpband/ofdm/numerology.hpp>

namespace wb {

inline constexpr int nr_block_subcarriers = 12;
inline constexpr int nr_most_blocks = 275;

/// A carrier and the slot that is looked at.
struct nr_carrier {
  int spacing_khz = 30;          // 15, 30, 60, 120
  int resource_blocks = 25;      // 1..275
  int first_resource_block = 0;  // of the carrier, counted from common resource block 0: 0..2199
  bool extended_prefix = false;  // 60 kHz alone
  int cell_id = 0;               // 0..1007
  int slot = 0;                  // in its frame, 0..slots_per_frame() - 1

  int subcarriers() const noexcept { return nr_block_subcarriers * resource_blocks; }
  int symbols_per_slot() const noexcept { return extended_prefix ? 12 : 14; }
  int slots_per_frame() const noexcept { return 10 * spacing_khz / 15; }
  /// Of a slot.
  std::size_t elements() const noexcept {
    return static_cast<std::size_t>(subcarriers()) * static_cast<std::size_t>(symbols_per_slot());
  }
  /// The slot as channels take it: with the shorter of the cyclic prefixes, and the mean period of a symbol.
  ofdm_grid grid() const noexcept;
};

/// Its settings: names, what is allowed, what they mean.
const std::vector<setting_of<nr_carrier>>& nr_carrier_settings();
/// Throws argument_error for what is not allowed: a setting, an extended prefix at another spacing than 60
/// kHz, a slot that its frame does not have.
void check(const nr_carrier& carrier);

/// How a carrier is modulated, §5.3.1. The longer cyclic prefix comes every half subframe, which is what the
/// numerology calls a slot: symbols_per_slot is 7, 14, 28 or 56. fft_size: a multiple of 128 that has room
/// for the subcarriers, up to 65536; 0: the least power of two of at least 128 that does. Throws
/// argument_error.
///   ofdm_numerology n = nr_numerology({.spacing_khz = 30, .resource_blocks = 273});  // fft_size = 4096
ofdm_numerology nr_numerology(const nr_carrier& carrier, int fft_size = 0);

}  // namespace wb
