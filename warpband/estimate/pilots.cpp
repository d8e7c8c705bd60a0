#include <warpband/estimate/pilots.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include <warpband/core/check.hpp>
#include <warpband/core/decimal.hpp>

namespace wb {
namespace {

[[noreturn]] void refuse(const std::string& value, const std::string& allowed) {
  throw argument_error("pilots", value, allowed);
}

void check_cell(const pilot_pattern& p, const pilot_cell& c) {
  if (c.elements < 1 || c.elements > most_cell_elements)
    refuse("a cell of " + std::to_string(c.elements) + " elements", "1 to 4");
  for (int i = 0; i < c.elements; i++) {
    const auto index = static_cast<std::size_t>(i);
    if (c.element[index] < 0 || static_cast<std::size_t>(c.element[index]) >= p.elements())
      refuse("element " + std::to_string(c.element[index]), "0 to " + std::to_string(p.elements() - 1));
    const float power = std::norm(c.pilot[index]);
    if (!(power > 1e-12f && power < 1e12f))
      refuse("a pilot of power " + std::to_string(power), "1e-12 to 1e12");
  }
}

/// DMRS of a layer as rows of cells.
std::vector<pilot_row> rows_of(const nr_shared_channel& channel, int layer) {
  const nr_channel_config& c = channel.config();
  const std::vector<std::complex<float>> a = channel.dmrs(layer);
  const std::vector<int>& symbols = channel.dmrs_symbols();
  const int length = c.dmrs.length, subcarriers = c.carrier.subcarriers();
  std::vector<pilot_row> rows;
  for (std::size_t first = 0; first < symbols.size(); first += static_cast<std::size_t>(length)) {
    pilot_row row;
    std::vector<int> pair;  // subcarriers of a cell
    for (int k = 0; k < subcarriers; k++) {
      if (a[static_cast<std::size_t>(symbols[first] * subcarriers + k)] == 0.f) continue;
      pair.push_back(k);
      if (pair.size() < 2) continue;
      pilot_cell cell{.elements = 0};
      for (int l = 0; l < length; l++)
        for (const int q : pair) {
          const int element = (symbols[first] + l) * subcarriers + q;
          cell.element[static_cast<std::size_t>(cell.elements)] = element;
          cell.pilot[static_cast<std::size_t>(cell.elements++)] = a[static_cast<std::size_t>(element)];
        }
      row.push_back(cell);
      pair.clear();
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

void check(const pilot_pattern& p) {
  check_range("subcarriers", p.subcarriers, 1, 65536);
  check_range("symbols", p.symbols, 1, 1024);
  if (p.spacing_hz) check_number("spacing_hz", *p.spacing_hz, 1, 1e7);
  if (p.period_us) check_number("period_us", *p.period_us, 1e-3, 1e6);
  if (p.ports.empty() || p.ports.size() > 8) refuse(std::to_string(p.ports.size()) + " ports", "1 to 8");
  if (p.rows() == 0 || p.cells() == 0) refuse("none", "at least one cell of every port");
  for (const auto& port : p.ports) {
    if (port.size() != p.rows()) refuse(std::to_string(port.size()) + " rows", "as many of every port");
    std::int32_t time = -1;
    for (const pilot_row& row : port) {
      if (row.size() != p.cells()) refuse(std::to_string(row.size()) + " cells", "as many in every row");
      for (const pilot_cell& cell : row) check_cell(p, cell);
      if (row[0].element[0] / p.subcarriers <= time) refuse("rows out of order", "rows that rise in time");
      time = row[0].element[0] / p.subcarriers;
      for (std::size_t n = 1; n < row.size(); n++)
        if (row[n].element[0] % p.subcarriers <= row[n - 1].element[0] % p.subcarriers)
          refuse("cells out of order", "cells that rise in frequency");
    }
  }
  for (const std::int32_t e : p.silent)
    if (e < 0 || static_cast<std::size_t>(e) >= p.elements())
      refuse("silent element " + std::to_string(e), "0 to " + std::to_string(p.elements() - 1));
}

pilot_pattern pilots_of(const nr_shared_channel& channel) {
  const nr_channel_config& c = channel.config();
  const ofdm_grid grid = c.carrier.grid();
  pilot_pattern p{.subcarriers = grid.subcarriers,
                  .symbols = grid.symbols,
                  .ports = {},
                  .spacing_hz = grid.spacing_hz,
                  .period_us = grid.period_us()};
  std::vector<bool> used(3);
  for (int l = 0; l < c.layers; l++) {
    p.ports.push_back(rows_of(channel, l));
    used[static_cast<std::size_t>(
        nr_dmrs_port_of(c.dmrs.type, c.dmrs.ports[static_cast<std::size_t>(l)]).group)] = true;
  }
  const int from_zero = nr_block_subcarriers * c.carrier.first_resource_block;
  std::vector<int> blocks = nr_blocks_of(c);
  std::sort(blocks.begin(), blocks.end());
  for (const int l : channel.dmrs_symbols())
    for (const int block : blocks)
      for (int k = nr_block_subcarriers * block; k < nr_block_subcarriers * (block + 1); k++) {
        const int group = nr_dmrs_group(c.dmrs.type, from_zero + k);
        if (group < c.dmrs.cdm_groups && !used[static_cast<std::size_t>(group)])
          p.silent.push_back(l * p.subcarriers + k);
      }
  return p;
}

pilot_pattern comb_pilots(int subcarriers, int symbols, const std::vector<int>& rows,
                          const std::vector<int>& first, int step,
                          const std::vector<std::vector<std::complex<float>>>& values) {
  check_range("step", step, 1, 65536);
  if (first.size() != rows.size() || values.size() != rows.size())
    throw argument_error("rows", std::to_string(rows.size()), "as many as first and values have");
  pilot_pattern p{.subcarriers = subcarriers, .symbols = symbols, .ports = {{}}};
  for (std::size_t r = 0; r < rows.size(); r++) {
    pilot_row row;
    for (std::size_t n = 0; n < values[r].size(); n++) {
      const long long k = first[r] + static_cast<long long>(n) * step;
      if (k < 0 || k >= subcarriers || rows[r] < 0 || rows[r] >= symbols)
        refuse("at symbol " + std::to_string(rows[r]) + ", subcarrier " + std::to_string(k),
               "places of the slot");
      row.push_back({.elements = 1,
                     .element = {static_cast<std::int32_t>(rows[r] * subcarriers + k)},
                     .pilot = {values[r][n]}});
    }
    p.ports[0].push_back(std::move(row));
  }
  check(p);
  return p;
}

}  // namespace wb
