#include <oracle/nr_pbch.hpp>

#include <cmath>

#include <oracle/nr_sync.hpp>

namespace oracle {
namespace {

struct element {
  int symbol, subcarrier;
};

/// Resource elements of PBCH in the order of §7.3.3.3: first k, then l.
std::vector<element> pbch_elements(int cell_id, bool dmrs) {
  std::vector<element> found;
  for (int l = 1; l <= 3; l++)
    for (int k = 0; k < 240; k++) {
      if (l == 2 && k >= 48 && k <= 191) continue;
      if ((k % 4 == cell_id % 4) == dmrs) found.push_back({l, k});
    }
  return found;
}
std::vector<int> pbch_scrambling(int cell_id, int l_max, int i_ssb) {
  const int v = l_max == 4 ? i_ssb % 4 : i_ssb % 8;
  const std::vector<int> c = nr_gold(cell_id, 864 * (v + 1));
  return {c.begin() + 864 * v, c.end()};
}
std::complex<double> qpsk(int b0, int b1) {
  return std::complex<double>(1 - 2 * b0, 1 - 2 * b1) / std::sqrt(2.);
}

}  // namespace

std::vector<int> nr_gold(std::int64_t c_init, int count) {
  std::vector<int> x1(static_cast<std::size_t>(count + 1600 + 31)), x2(x1.size()), c;
  x1[0] = 1;
  for (std::size_t i = 0; i < 31; i++) x2[i] = static_cast<int>(c_init >> i & 1);
  for (std::size_t n = 0; n + 31 < x1.size(); n++) {
    x1[n + 31] = (x1[n + 3] + x1[n]) % 2;
    x2[n + 31] = (x2[n + 3] + x2[n + 2] + x2[n + 1] + x2[n]) % 2;
  }
  for (std::size_t n = 0; n < static_cast<std::size_t>(count); n++)
    c.push_back((x1[n + 1600] + x2[n + 1600]) % 2);
  return c;
}

std::vector<int> nr_pbch_scrambled(const std::vector<int>& a, int cell_id, int l_max) {
  const std::vector<std::size_t> g{16, 23, 18, 17, 8,  30, 10, 6,  24, 7,  0,  5,  3,  2,  1,  4,
                                   9,  11, 12, 13, 14, 15, 19, 20, 21, 22, 25, 26, 27, 28, 29, 31};
  // The four counters of section 7.1.1.
  std::size_t j_sfn = 0, j_half_frame = 10, j_ssb = 11, j_other = 14;
  std::vector<int> b(32);
  std::vector<bool> clear(32);
  std::size_t third = 0, second = 0;
  for (std::size_t i = 0; i < 32; i++) {
    const bool sfn = (i >= 1 && i <= 6) || (i >= 24 && i <= 27);
    const std::size_t place = g[sfn ? j_sfn++ : i == 28 ? j_half_frame++ : i >= 29 ? j_ssb++ : j_other++];
    b[place] = a[i];
    if (i == 25) third = place;
    if (i == 26) second = place;
    clear[place] = i == 25 || i == 26 || i == 28 || (l_max == 64 && i >= 29);
  }
  const int m = l_max == 64 ? 26 : 29, v = 2 * b[third] + b[second];
  const std::vector<int> c = nr_gold(cell_id, m * (v + 1));
  std::size_t j = static_cast<std::size_t>(m * v);
  for (std::size_t i = 0; i < 32; i++)
    if (!clear[i]) b[i] = (b[i] + c[j++]) % 2;
  return b;
}

std::vector<std::complex<double>> nr_ssb_grid(const std::vector<int>& coded, int cell_id, int l_max,
                                              int i_ssb, int half_frame) {
  std::vector<std::complex<double>> grid(960);
  const auto value_of = [&](const element& e) -> std::complex<double>& {
    return grid[static_cast<std::size_t>(240 * e.symbol + e.subcarrier)];
  };
  const std::vector<int> pss = nr_pss(cell_id % 3), sss = nr_sss(cell_id);
  for (int n = 0; n < 127; n++) {
    value_of({0, 56 + n}) = pss[static_cast<std::size_t>(n)];
    value_of({2, 56 + n}) = sss[static_cast<std::size_t>(n)];
  }
  const std::int64_t i_bar = l_max == 4 ? i_ssb + 4 * half_frame : i_ssb % 8;
  const std::vector<int> r =
      nr_gold(2048 * (i_bar + 1) * (cell_id / 4 + 1) + 64 * (i_bar + 1) + cell_id % 4, 288);
  const std::vector<int> c = pbch_scrambling(cell_id, l_max, i_ssb);
  std::size_t n = 0;
  for (const element& e : pbch_elements(cell_id, true)) value_of(e) = qpsk(r[n], r[n + 1]), n += 2;
  n = 0;
  for (const element& e : pbch_elements(cell_id, false))
    value_of(e) = qpsk((coded[n] + c[n]) % 2, (coded[n + 1] + c[n + 1]) % 2), n += 2;
  return grid;
}

std::vector<double> nr_pbch_llrs(const std::vector<std::complex<double>>& y,
                                 const std::vector<std::complex<double>>& h, double noise_var, int cell_id,
                                 int l_max, int i_ssb) {
  const std::vector<int> c = pbch_scrambling(cell_id, l_max, i_ssb);
  std::vector<double> llr;
  for (const element& e : pbch_elements(cell_id, false)) {
    const std::size_t i = static_cast<std::size_t>(240 * e.symbol + e.subcarrier);
    const std::complex<double> x = 2 * std::sqrt(2.) / noise_var * std::conj(h[i]) * y[i];
    for (const double part : {x.real(), x.imag()}) llr.push_back(c[llr.size()] != 0 ? -part : part);
  }
  return llr;
}

}  // namespace oracle
