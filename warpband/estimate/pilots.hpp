#pragma once
// Where pilots are in a slot, for channel estimation. Pilots of a port are rows of cells: a row is at one
// time, its cells lie side by side in frequency. A cell is what gives one estimate of the channel,
//
//   c = (1 / n)  sum over its n resource elements of  y / p
//
// one resource element, or the two or four over which orthogonal codes tell the ports of 5G NR apart.
#include <array>
#include <complex>
#include <cstdint>
#include <optional>
#include <vector>

#include <warpband/nr/shared_channel.hpp>

namespace wb {

inline constexpr int most_cell_elements = 4;

struct pilot_cell {
  int elements = 1;                                                // n: 1..4
  std::array<std::int32_t, most_cell_elements> element = {};       // symbol * subcarriers + subcarrier
  std::array<std::complex<float>, most_cell_elements> pilot = {};  // p, not 0
};
using pilot_row = std::vector<pilot_cell>;

/// Every port has as many rows, and every row as many cells, at least one. Rows rise in time, cells in
/// frequency.
struct pilot_pattern {
  int subcarriers = 0, symbols = 0;                // of a slot: 1..65536, 1..1024
  std::vector<std::vector<pilot_row>> ports = {};  // 1..8
  /// Resource elements where nothing is sent: what is received there is noise and interference.
  std::vector<std::int32_t> silent = {};
  std::optional<double> spacing_hz = {};  // of subcarriers, 1..1e7; absent: not known
  /// Mean, from an OFDM symbol to the next, 1e-3..1e6; absent: not known.
  std::optional<double> period_us = {};

  std::size_t elements() const noexcept {
    return static_cast<std::size_t>(subcarriers) * static_cast<std::size_t>(symbols);
  }
  std::size_t rows() const noexcept { return ports.empty() ? 0 : ports[0].size(); }
  std::size_t cells() const noexcept { return rows() == 0 ? 0 : ports[0][0].size(); }
};
/// Throws argument_error ("pilots", "subcarriers", "symbols") for what is not allowed.
void check(const pilot_pattern& pilots);

/// DMRS of PUSCH or PDSCH: a port for each layer, before precoding, a row for each position of DMRS. CDM
/// groups without data that no layer has are silent. With the numerology of its carrier.
pilot_pattern pilots_of(const nr_shared_channel& channel);

/// Pilots of one port on a comb, as those of LTE: in each of `rows` (OFDM symbols, rising), subcarriers from
/// `first[row]` on in steps of `step`. values[row] are the pilots of a row. Throws argument_error.
///   comb_pilots(300, 14, {0, 4, 7, 11}, {0, 3, 0, 3}, 6, values)  // an antenna port of LTE
pilot_pattern comb_pilots(int subcarriers, int symbols, const std::vector<int>& rows,
                          const std::vector<int>& first, int step,
                          const std::vector<std::vector<std::complex<float>>>& values);

}  // namespace wb
