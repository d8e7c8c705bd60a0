#include <oracle/nr_slot.hpp>

#include <algorithm>
#include <cmath>
#include <set>

#include <oracle/nr_pbch.hpp>

namespace oracle {
namespace {

/// CDM group of a subcarrier counted from common resource block 0.
int slot_group(int type, int k) { return type == 1 ? k % 2 : (k % 6) / 2; }

bool slot_is_reserved(const nr_slot& s, int l, int k) {
  for (const nr_part& p : s.reserved)
    if (p.first_symbol <= l && l < p.first_symbol + p.symbols && 12 * p.first_block <= k &&
        k < 12 * (p.first_block + p.blocks))
      return true;
  return false;
}

/// Symbols of PTRS by the steps of §7.4.1.2.2, counted from the allocation's first.
std::set<int> slot_ptrs_symbols(const nr_slot& s) {
  std::set<int> dmrs, found;
  for (const int l : s.dmrs_symbols) dmrs.insert(l - s.first_symbol);
  const int step = s.time_density;
  int i = 0, reference = 0;
  while (reference + i * step < s.symbols) {
    int overlap = -1;
    for (int l = std::max(reference + (i - 1) * step + 1, reference); l <= reference + i * step; l++)
      if (dmrs.count(l) != 0) {
        overlap = l;
        break;
      }
    if (overlap < 0) {
      found.insert(reference + i * step);
      i++;
      continue;
    }
    reference = overlap;
    if (s.dmrs_length == 2) reference++;
    i = 1;
  }
  return found;
}

}  // namespace

std::vector<int> nr_ptrs_elements(const nr_slot& s) {
  std::vector<int> found;
  if (s.time_density == 0) return found;
  const std::set<int> sorted(s.blocks.begin(), s.blocks.end());
  const std::vector<int> blocks(sorted.begin(), sorted.end());
  const int n = static_cast<int>(blocks.size()), k_density = s.frequency_density;
  const int k_rb = n % k_density == 0 ? s.rnti % k_density : s.rnti % (n % k_density);
  // A port has the subcarriers of its CDM group; the table's columns count among those of the group.
  std::vector<int> group;
  for (int k = 0; k < 12; k++)
    if (slot_group(s.dmrs_type, k) == s.port / 2) group.push_back(k);
  std::size_t column;
  if (s.dmrs_type == 1) {
    const std::size_t columns[4] = {0, 1, 3, 4};
    column = columns[s.offset] + static_cast<std::size_t>(s.port % 2);
  } else {
    column = static_cast<std::size_t>(s.offset + s.port % 2) % 4;
  }
  for (const int l : slot_ptrs_symbols(s))
    for (int i = 0; i * k_density + k_rb < n; i++) {
      const int k = 12 * blocks[static_cast<std::size_t>(i * k_density + k_rb)] + group[column];
      if (!slot_is_reserved(s, s.first_symbol + l, k))
        found.push_back((s.first_symbol + l) * 12 * s.carrier_blocks + k);
    }
  return found;
}

std::vector<std::complex<double>> nr_ptrs_values(const nr_slot& s, std::int64_t c_init, double beta) {
  const std::vector<int> c = nr_gold(c_init, 2 * 12 * (s.first_common_block + s.carrier_blocks));
  std::vector<std::complex<double>> values;
  for (const int e : nr_ptrs_elements(s)) {
    const int k = 12 * s.first_common_block + e % (12 * s.carrier_blocks);
    std::size_t n = 0;  // subcarriers of the CDM group before this one
    for (int other = 0; other < k; other++) n += slot_group(s.dmrs_type, other) == s.port / 2;
    values.push_back(beta * std::complex<double>(1 - 2 * c[2 * n], 1 - 2 * c[2 * n + 1]) / std::sqrt(2.));
  }
  return values;
}

std::vector<int> nr_data_elements(const nr_slot& s) {
  const std::vector<int> ptrs = nr_ptrs_elements(s);
  const std::set<int> tracking(ptrs.begin(), ptrs.end()), dmrs(s.dmrs_symbols.begin(), s.dmrs_symbols.end());
  std::vector<int> found;
  for (int l = s.first_symbol; l < s.first_symbol + s.symbols; l++)
    for (const int block : s.blocks)
      for (int k = 12 * block; k < 12 * block + 12; k++) {
        const int element = l * 12 * s.carrier_blocks + k;
        const bool silent =
            dmrs.count(l) != 0 && slot_group(s.dmrs_type, 12 * s.first_common_block + k) < s.cdm_groups;
        if (!silent && !slot_is_reserved(s, l, k) && tracking.count(element) == 0) found.push_back(element);
      }
  return found;
}

std::vector<int> nr_interleaved(int first_common_block, int blocks, int bundle) {
  // Bundle 0 has L - (N mod L) blocks, those behind it L, the last one what is left.
  std::vector<std::vector<int>> bundles(1);
  for (int b = 0; b < blocks; b++) {
    if ((first_common_block + b) % bundle == 0 && b > 0) bundles.emplace_back();
    bundles.back().push_back(b);
  }
  const std::size_t n = bundles.size(), columns = n / 2;
  std::vector<std::size_t> f(n);
  f[n - 1] = n - 1;
  for (std::size_t c = 0; c < columns; c++)
    for (std::size_t r = 0; r < 2; r++)
      if (c * 2 + r < n - 1) f[c * 2 + r] = r * columns + c;
  std::vector<int> physical;
  for (std::size_t j = 0; j < n; j++)
    physical.insert(physical.end(), bundles[f[j]].begin(), bundles[f[j]].end());
  return physical;
}

}  // namespace oracle
