#include <oracle/nr_pdcch.hpp>

#include <cmath>
#include <cstdint>
#include <set>

#include <oracle/nr_pbch.hpp>

namespace oracle {
namespace {

/// Elements of the candidate without DMRS: frequency first, then time, as section 7.3.2.5 maps symbols.
std::vector<std::size_t> pdcch_elements(const nr_pdcch& c, int first_cce) {
  const std::vector<int> groups = nr_pdcch_groups(c, first_cce);
  const std::set<int> used(groups.begin(), groups.end());
  std::vector<std::size_t> found;
  for (int l = 0; l < c.symbols; l++)
    for (int k = 0; k < 12 * c.blocks; k++)
      if (used.count(k / 12 * c.symbols + l) != 0 && k % 4 != 1)
        found.push_back(static_cast<std::size_t>(12 * c.blocks * l + k));
  return found;
}
std::vector<int> pdcch_scrambling(const nr_pdcch& c) {
  const std::int64_t init = (std::int64_t{c.scrambling_rnti} * 65536 + c.scrambling_id) % 2147483648;
  return nr_gold(init, 108 * c.level);
}
std::complex<double> pdcch_qpsk(int b0, int b1) {
  return std::complex<double>(1 - 2 * b0, 1 - 2 * b1) / std::sqrt(2.);
}

}  // namespace

std::vector<int> nr_pdcch_groups(const nr_pdcch& c, int first_cce) {
  const int size = c.interleaved ? c.reg_bundle : 6, bundles = c.blocks * c.symbols / size;
  std::vector<int> groups;
  for (int cce = first_cce; cce < first_cce + c.level; cce++)
    for (int i = 0; i < 6 / size; i++) {
      const int x = 6 * cce / size + i;
      int bundle = x;
      if (c.interleaved) {
        const int columns = bundles / c.rows, column = x / c.rows, row = x % c.rows;
        bundle = (row * columns + column + c.shift) % bundles;
      }
      for (int g = 0; g < size; g++) groups.push_back(size * bundle + g);
    }
  return groups;
}

std::vector<std::complex<double>> nr_pdcch_grid(const nr_pdcch& c, const std::vector<int>& coded, int slot,
                                                int first_cce) {
  std::vector<std::complex<double>> grid(static_cast<std::size_t>(12 * c.blocks * c.symbols));
  for (const int group : nr_pdcch_groups(c, first_cce)) {
    const int block = group / c.symbols, l = group % c.symbols;
    const std::int64_t number = 14 * slot + c.first_symbol + l + 1, id = c.dmrs_id;
    const std::int64_t init = (131072 * number * (2 * id + 1) + 2 * id) % 2147483648;
    const int n = c.dmrs_first_block + block;
    const std::vector<int> r = nr_gold(init, 2 * (3 * n + 3));
    for (std::size_t i = 0; i < 3; i++) {
      const std::size_t m = static_cast<std::size_t>(3 * n) + i;
      grid[static_cast<std::size_t>(12 * c.blocks * l + 12 * block) + 4 * i + 1] =
          pdcch_qpsk(r[2 * m], r[2 * m + 1]);
    }
  }
  const std::vector<int> s = pdcch_scrambling(c);
  std::size_t n = 0;
  for (const std::size_t e : pdcch_elements(c, first_cce)) {
    grid[e] = pdcch_qpsk((coded[n] + s[n]) % 2, (coded[n + 1] + s[n + 1]) % 2);
    n += 2;
  }
  return grid;
}

std::vector<double> nr_pdcch_llrs(const nr_pdcch& c, const std::vector<std::complex<double>>& y,
                                  const std::vector<std::complex<double>>& h, double noise_var,
                                  int first_cce) {
  const std::vector<int> s = pdcch_scrambling(c);
  std::vector<double> llr;
  for (const std::size_t e : pdcch_elements(c, first_cce)) {
    const std::complex<double> x = 2 * std::sqrt(2.) / noise_var * std::conj(h[e]) * y[e];
    for (const double part : {x.real(), x.imag()}) llr.push_back(s[llr.size()] != 0 ? -part : part);
  }
  return llr;
}

}  // namespace oracle
