#include <warpband/ofdm/numerology.hpp>

#include <algorithm>

#include <warpband/core/check.hpp>
#include <warpband/core/decimal.hpp>

namespace wb {

ofdm_grid ofdm_numerology::grid(int symbols) const noexcept {
  ofdm_grid g;
  g.subcarriers = subcarriers;
  g.symbols = symbols;
  g.spacing_hz = spacing_hz;
  g.cyclic_prefix_us = 1e6 * std::min(cyclic_prefix, first_cyclic_prefix) / sample_rate_hz();
  g.symbol_period_us = slot_us() / symbols_per_slot;
  return g;
}

const std::vector<setting_of<ofdm_numerology>>& numerology_settings() {
  using c = ofdm_numerology;
  static const std::vector<setting_of<c>> settings{
      number("spacing_hz", &c::spacing_hz, 1, 1e7, "Distance of the subcarriers."),
      integer("fft_size", &c::fft_size, 8, 65536,
              "N, samples of a symbol without its prefix. Modulators take products of 2, 3 and 5 up to 4096.",
              "an even integer from 8 to 65536"),
      integer("subcarriers", &c::subcarriers, 1, 65536,
              "That are used, around the carrier, the lowest frequency first.",
              "an integer from 1 to fft_size, less one with a free carrier"),
      boolean("free_carrier", &c::free_carrier,
              "Nothing is sent on the carrier itself (LTE downlink, 3GPP TS 36.211 section 6.12)."),
      integer("cyclic_prefix", &c::cyclic_prefix, 0, 65536, "Samples.", "an integer from 0 to fft_size"),
      integer("first_cyclic_prefix", &c::first_cyclic_prefix, 0, 65536,
              "The same of the first symbol of a slot.", "an integer from 0 to fft_size"),
      integer("symbols_per_slot", &c::symbols_per_slot, 1, 64, "OFDM symbols of a slot.")};
  return settings;
}

void check(const ofdm_numerology& n) {
  check_number("spacing_hz", n.spacing_hz, 1, 1e7);
  check_range("fft_size", n.fft_size, 8, 65536);
  if (n.fft_size % 2 != 0) throw argument_error("fft_size", std::to_string(n.fft_size), "an even number");
  check_range("subcarriers", n.subcarriers, 1, n.free_carrier ? n.fft_size - 1 : n.fft_size);
  check_range("cyclic_prefix", n.cyclic_prefix, 0, n.fft_size);
  check_range("first_cyclic_prefix", n.first_cyclic_prefix, 0, n.fft_size);
  check_range("symbols_per_slot", n.symbols_per_slot, 1, 64);
}

ofdm_numerology lte_numerology(double bandwidth_mhz, lte_prefix prefix) {
  struct row {
    double mhz;
    int blocks, fft_size;
  };
  static constexpr row rows[]{{1.4, 6, 128},  {3, 15, 256},   {5, 25, 512},
                              {10, 50, 1024}, {15, 75, 1536}, {20, 100, 2048}};
  for (const row& r : rows) {
    if (bandwidth_mhz != r.mhz) continue;
    ofdm_numerology n;
    n.fft_size = r.fft_size;
    n.subcarriers = 12 * r.blocks;
    const bool normal = prefix == lte_prefix::normal;
    // Of 2048 samples: 160 for the first symbol of a slot and 144 for the others, or 512 for all.
    n.cyclic_prefix = (normal ? 144 : 512) * r.fft_size / 2048;
    n.first_cyclic_prefix = (normal ? 160 : 512) * r.fft_size / 2048;
    n.symbols_per_slot = normal ? 7 : 6;
    return n;
  }
  throw argument_error("bandwidth_mhz", decimal(bandwidth_mhz), "1.4, 3, 5, 10, 15 or 20");
}

}  // namespace wb
