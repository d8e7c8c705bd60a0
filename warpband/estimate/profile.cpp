#include <warpband/estimate/profile.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include <warpband/core/check.hpp>
#include <warpband/core/decimal.hpp>
#include <warpband/estimate/cells.hpp>
#include <warpband/estimate/design.hpp>

namespace wb {
namespace {

/// Subcarriers from a cell to the next.
int spacing_of(const pilot_pattern& p) {
  if (p.cells() < 2) throw argument_error("pilots", "one cell in a row", "two or more");
  const pilot_row& row = p.ports[0][0];
  const int step = row[1].element[0] - row[0].element[0];
  for (const auto& port : p.ports)
    for (const pilot_row& r : port)
      for (std::size_t n = 1; n < r.size(); n++)
        if (r[n].element[0] - r[n - 1].element[0] != step)
          throw argument_error("pilots", "cells at irregular distances", "cells equally far apart");
  return step;
}
/// Of a cell, for N0 = 1.
double mean_noise(const pilot_pattern& p) {
  double sum = 0, cells = 0;
  for (const auto& port : p.ports)
    for (const pilot_row& row : port)
      for (const pilot_cell& c : row) {
        for (int i = 0; i < c.elements; i++)
          sum += 1 / (std::norm(cplx(c.pilot[static_cast<std::size_t>(i)])) * c.elements * c.elements);
        cells++;
      }
  return sum / cells;
}

/// r(0..lags - 1) of rows of cells.
std::vector<cplx> correlations(const std::vector<std::complex<float>>& cells, std::size_t per_row,
                               std::size_t per_slot, std::size_t lags) {
  std::vector<cplx> r(lags);
  double rows = 0;
  for (std::size_t slot = 0; slot < cells.size(); slot += per_slot) {
    const auto first = cells.begin() + static_cast<std::ptrdiff_t>(slot);
    const bool finite =
        std::all_of(first, first + static_cast<std::ptrdiff_t>(per_slot),
                    [](std::complex<float> z) { return std::isfinite(z.real()) && std::isfinite(z.imag()); });
    if (!finite) continue;
    for (std::size_t row = slot; row < slot + per_slot; row += per_row, rows++)
      for (std::size_t m = 0; m < lags; m++) {
        cplx sum = 0;
        for (std::size_t n = 0; n + m < per_row; n++)
          sum += cplx(cells[row + n + m]) * std::conj(cplx(cells[row + n]));
        r[m] += sum / static_cast<double>(per_row - m);
      }
  }
  for (cplx& x : r) x /= std::max(rows, 1.0);
  return r;
}

}  // namespace

delay_profile estimate_profile(executor& exec, const pilot_pattern& pilots,
                               view<const std::complex<float>> received, double noise_var,
                               const profile_config& config) {
  check(pilots);
  const int step = spacing_of(pilots);
  check_range("lags", config.lags, 2, 512);
  if (config.spacing_hz) check_number("spacing_hz", *config.spacing_hz, 1, 1e7);
  const double spacing_hz = *spacing_hz_of(pilots, config.spacing_hz, true);
  if (!(config.least_power >= 0 && config.least_power <= 1))
    throw argument_error("least_power", decimal(config.least_power), "0 to 1");
  if (!(noise_var >= 0 && std::isfinite(noise_var)))
    throw argument_error("noise_var", decimal(noise_var), "a finite number, not below 0");
  const std::size_t slots = slots_of(received, pilots.elements());
  const estimate_sizes sizes = sizes_of(pilots, received.elements);
  const std::size_t per_row = pilots.cells(),
                    per_slot = static_cast<std::size_t>(sizes.rx * sizes.ports * sizes.rows) * per_row,
                    lags = std::min(static_cast<std::size_t>(config.lags), per_row);
  auto cells = exec.make<std::complex<float>>(slots, per_slot);
  run_cells(exec, tables_of(pilots), sizes, received, slots, reinterpret_cast<cx_pair*>(cells.data()));
  std::vector<cplx> r = correlations(exec.to_host(cells), per_row, per_slot, lags);
  r[0] = std::max(r[0].real() - noise_var * mean_noise(pilots), 0.0);

  const double hz = step * spacing_hz, m = static_cast<double>(lags);
  delay_profile found{{}, {}};
  for (std::size_t i = 0; i < 3 * lags / 2; i++) {
    const double tau = static_cast<double>(i) / (2 * m * hz);
    double power = r[0].real();
    for (std::size_t lag = 1; lag < lags; lag++)
      power += 2 * (1 - static_cast<double>(lag) / m) *
               (r[lag] * std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(lag) * hz * tau)).real();
    found.delays_ns.push_back(1e9 * tau);
    found.powers.push_back(std::max(power, 0.0));
  }
  const double strongest = *std::max_element(found.powers.begin(), found.powers.end());
  if (!(strongest > 0))
    throw argument_error("received", "nothing but noise", "slots with pilots above the noise");
  delay_profile kept{{}, {}};
  for (std::size_t i = 0; i < found.powers.size(); i++)
    if (found.powers[i] >= config.least_power * strongest && found.powers[i] > 0) {
      kept.delays_ns.push_back(found.delays_ns[i]);
      kept.powers.push_back(found.powers[i]);
    }
  return kept;
}

}  // namespace wb
