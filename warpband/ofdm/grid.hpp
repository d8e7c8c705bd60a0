#pragma once
// OFDM as a receiver sees it behind its FFT: a grid of resource elements, OFDM symbols by subcarriers. Each
// of these is one use of the channel, y = H s + n with an H of its own. That holds as long as the cyclic
// prefix covers all delays of the channel and H hardly changes within a symbol: neighbouring symbols do not
// leak into each other and subcarriers stay orthogonal (the one-tap model), and no FFT need be
// computed. numerology.hpp says where one has its samples, modem/ computes it.
#include <cstddef>
#include <optional>
#include <vector>

#include <warpband/core/setting.hpp>

namespace wb {

/// A grid of `symbols` x `subcarriers` resource elements.
struct ofdm_grid {
  int subcarriers = 300;             // 1..65536, neighbours, the lowest frequency first
  int symbols = 14;                  // 1..65536; at most 2^24 resource elements
  double spacing_hz = 15000;         // of subcarriers, 1..1e7
  double cyclic_prefix_us = 4.6875;  // 0..1e6. LTE's normal one: 144 samples at 30.72 MHz (TS 36.211 §6.12)
  /// From a symbol to the next. Absent: 1 / spacing_hz and the cyclic prefix.
  std::optional<double> symbol_period_us = {};

  std::size_t elements() const noexcept {
    return static_cast<std::size_t>(subcarriers) * static_cast<std::size_t>(symbols);
  }
  /// From the beginning of a symbol to that of the next, in microseconds.
  double period_us() const noexcept { return symbol_period_us.value_or(1e6 / spacing_hz + cyclic_prefix_us); }
  bool operator==(const ofdm_grid&) const = default;
};

/// Throws argument_error for a value that is not allowed, also for a symbol_period_us that is shorter than
/// the symbol and its prefix.
void check(const ofdm_grid& grid);
/// Throws argument_error for "cyclic_prefix_us" where a delay of the channel is longer than the cyclic
/// prefix.
void check_delay(const ofdm_grid& grid, double longest_delay_ns);

/// Its settings: names, what is allowed, what they mean.
const std::vector<setting_of<ofdm_grid>>& grid_settings();

/// A place in a grid.
struct resource_element {
  int symbol = 0, subcarrier = 0;
  bool operator==(const resource_element&) const = default;
};
/// Symbols of a frame are laid over the grid frequency first: its i-th use of the channel is on subcarrier
/// i mod subcarriers of OFDM symbol i / subcarriers. i < elements().
resource_element element_of(const ofdm_grid& grid, std::size_t use) noexcept;
/// The same back.
std::size_t use_of(const ofdm_grid& grid, resource_element element) noexcept;
/// OFDM symbols that so many uses take; the last may have free places.
std::size_t symbols_for(const ofdm_grid& grid, std::size_t uses) noexcept;

}  // namespace wb
