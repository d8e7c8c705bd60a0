#include <warpband/nr/carrier.hpp>

#include <warpband/core/check.hpp>

namespace wb {
namespace {

constexpr int least_fft = 128;     // of which all cyclic prefixes are whole samples
constexpr int prefix_unit = 2048;  // the standard gives prefixes in samples of this FFT at 15 kHz

}  // namespace

ofdm_grid nr_carrier::grid() const noexcept {
  const double symbol_us = 1e3 / spacing_khz;
  return {.subcarriers = subcarriers(),
          .symbols = symbols_per_slot(),
          .spacing_hz = 1e3 * spacing_khz,
          .cyclic_prefix_us = symbol_us * (extended_prefix ? 512 : 144) / prefix_unit,
          .symbol_period_us = 15e3 / spacing_khz / symbols_per_slot()};
}

const std::vector<setting_of<nr_carrier>>& nr_carrier_settings() {
  using c = nr_carrier;
  static const std::vector<setting_of<c>> settings{
      one_of("spacing_khz", &c::spacing_khz, {15, 30, 60, 120}, "Spacing of the subcarriers in kHz."),
      integer("resource_blocks", &c::resource_blocks, 1, nr_most_blocks,
              "Resource blocks of the carrier, 12 subcarriers each."),
      integer("first_resource_block", &c::first_resource_block, 0, 2199,
              "The carrier's first resource block, counted from common resource block 0. Sequences of DMRS "
              "begin there."),
      boolean("extended_prefix", &c::extended_prefix,
              "The extended cyclic prefix: 12 symbols in a slot, at 60 kHz alone."),
      integer("cell_id", &c::cell_id, 0, 1007, "Physical cell identity."),
      integer("slot", &c::slot, 0, 79, "Number of the slot in its frame.",
              "an integer from 0 to 9, 19, 39 or 79 at 15, 30, 60 or 120 kHz")};
  return settings;
}

void check(const nr_carrier& carrier) {
  check_settings(nr_carrier_settings(), carrier);
  if (carrier.extended_prefix && carrier.spacing_khz != 60)
    throw argument_error("extended_prefix", "true",
                         "false with spacing_khz = " + std::to_string(carrier.spacing_khz));
  check_range("slot", carrier.slot, 0, carrier.slots_per_frame() - 1);
  check_range("first_resource_block", carrier.first_resource_block, 0, 2199 - carrier.resource_blocks + 1);
}

ofdm_numerology nr_numerology(const nr_carrier& carrier, int fft_size) {
  check(carrier);
  if (fft_size == 0)
    for (fft_size = least_fft; fft_size < carrier.subcarriers();) fft_size *= 2;
  if (fft_size % least_fft != 0 || fft_size < carrier.subcarriers() || fft_size > 65536)
    throw argument_error("fft_size", std::to_string(fft_size),
                         "a multiple of 128 from " + std::to_string(carrier.subcarriers()) + " to 65536");
  const int half_subframe = carrier.symbols_per_slot() / 2 * carrier.spacing_khz / 15;
  const int prefix = (carrier.extended_prefix ? 512 : 144) * fft_size / prefix_unit;
  const int longer = carrier.extended_prefix ? 0 : 16 * fft_size / prefix_unit * carrier.spacing_khz / 15;
  return {.spacing_hz = 1e3 * carrier.spacing_khz,
          .fft_size = fft_size,
          .subcarriers = carrier.subcarriers(),
          .free_carrier = false,
          .cyclic_prefix = prefix,
          .first_cyclic_prefix = prefix + longer,
          .symbols_per_slot = half_subframe};
}

}  // namespace wb
