#include <warpband/ofdm/grid.hpp>

#include <cmath>

#include <warpband/core/check.hpp>
#include <warpband/core/decimal.hpp>

namespace wb {

const std::vector<setting_of<ofdm_grid>>& grid_settings() {
  using c = ofdm_grid;
  static const std::vector<setting_of<c>> settings{
      integer("subcarriers", &c::subcarriers, 1, 65536,
              "Subcarriers of an OFDM symbol that carry the frame."),
      integer("symbols", &c::symbols, 1, 65536,
              "OFDM symbols of a block; the next block has another channel, independent of it."),
      number("spacing_hz", &c::spacing_hz, 1, 1e7, "Distance of the subcarriers."),
      number("cyclic_prefix_us", &c::cyclic_prefix_us, 0, 1e6,
             "The cyclic prefix, which must cover the delays. It costs time, but neither power nor rate. "
             "LTE's normal one is 4.6875, the extended one 16.667.",
             false, "a number from the longest delay to 1e6"),
      number("symbol_period_us", &c::symbol_period_us, 0, 1e8,
             "Time from one OFDM symbol to the next. Absent: the least that is allowed.", false,
             "at least 1e6 / spacing_hz + cyclic_prefix_us")};
  return settings;
}

void check(const ofdm_grid& g) {
  check_range("subcarriers", g.subcarriers, 1, 65536);
  check_range("symbols", g.symbols, 1, 65536);
  if (g.elements() > std::size_t{1} << 24)
    throw argument_error(
        "symbols", std::to_string(g.symbols),
        "at most 2^24 resource elements: up to " +
            std::to_string((std::size_t{1} << 24) / static_cast<std::size_t>(g.subcarriers)) +
            " symbols of " + std::to_string(g.subcarriers) + " subcarriers");
  check_number("spacing_hz", g.spacing_hz, 1, 1e7);
  check_number("cyclic_prefix_us", g.cyclic_prefix_us, 0, 1e6);
  const double shortest = 1e6 / g.spacing_hz + g.cyclic_prefix_us;
  // A hair below is the rounding of whoever computed it.
  if (const auto period = g.symbol_period_us;
      period && !(std::isfinite(*period) && *period >= shortest * (1 - 1e-9)))
    throw argument_error("symbol_period_us", decimal(*period),
                         "at least 1 / spacing_hz and the cyclic prefix, " + decimal(shortest));
}

void check_delay(const ofdm_grid& g, double longest_delay_ns) {
  if (!(longest_delay_ns <= 1000 * g.cyclic_prefix_us * (1 + 1e-9)))
    throw argument_error("cyclic_prefix_us", decimal(g.cyclic_prefix_us),
                         "at least the longest delay of the channel, " + decimal(longest_delay_ns / 1000) +
                             ": beyond it symbols would interfere");
}

resource_element element_of(const ofdm_grid& g, std::size_t use) noexcept {
  const std::size_t n = static_cast<std::size_t>(g.subcarriers);
  return {static_cast<int>(use / n), static_cast<int>(use % n)};
}
std::size_t use_of(const ofdm_grid& g, resource_element e) noexcept {
  return static_cast<std::size_t>(e.symbol) * static_cast<std::size_t>(g.subcarriers) +
         static_cast<std::size_t>(e.subcarrier);
}
std::size_t symbols_for(const ofdm_grid& g, std::size_t uses) noexcept {
  const std::size_t n = static_cast<std::size_t>(g.subcarriers);
  return (uses + n - 1) / n;
}

}  // namespace wb
