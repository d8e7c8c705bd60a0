#include <warpband/estimate/srs_pilots.hpp>

#include <string>
#include <utility>

#include <warpband/core/as_size.hpp>
#include <warpband/core/check.hpp>

namespace wb {

pilot_pattern pilots_of(const nr_srs& srs, int band, int shifts) {
  const srs_config& c = srs.config();
  const ofdm_grid grid = c.carrier.grid();
  // Four ports are on one comb, or two on each of two.
  const int of_ports = c.ports == 4 && srs.comb_offset(1) != srs.comb_offset(0) ? 2 : c.ports;
  if (shifts == 0) shifts = of_ports;
  if ((shifts != 1 && shifts != 2 && shifts != 4) || shifts < of_ports)
    throw argument_error("shifts", std::to_string(shifts),
                         of_ports == 4   ? "4"
                         : of_ports == 2 ? "2 or 4"
                                         : "1, 2 or 4");
  pilot_pattern p{.subcarriers = grid.subcarriers,
                  .symbols = grid.symbols,
                  .ports = {},
                  .spacing_hz = grid.spacing_hz,
                  .period_us = grid.period_us()};
  for (int port = 0; port < c.ports; port++) {
    const std::vector<std::complex<float>> values = srs.values(port);
    std::vector<pilot_row> rows;
    for (const int symbol : srs.band_symbols(band)) {
      pilot_row row;
      int element = symbol * p.subcarriers + srs.first_subcarrier(band) + srs.comb_offset(port);
      for (int cells = srs.length() / shifts; cells > 0; cells--) {
        pilot_cell& cell = row.emplace_back(pilot_cell{.elements = shifts});
        for (int i = 0; i < shifts; i++, element += c.comb) {
          cell.element[as_size(i)] = element;
          cell.pilot[as_size(i)] = values[as_size(element)];
        }
      }
      rows.push_back(std::move(row));
    }
    p.ports.push_back(std::move(rows));
  }
  return p;
}

}  // namespace wb
