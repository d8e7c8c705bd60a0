#include <oracle/nr_pucch.hpp>

#include <cmath>
#include <numbers>
#include <utility>

#include <oracle/as_size.hpp>
#include <oracle/nr_transport.hpp>

namespace oracle {
namespace {

using exact = std::complex<double>;
constexpr double pucch_turn = 2 * std::numbers::pi;

exact unit(double turns) { return std::polar(1., pucch_turn * turns); }

/// Group and sequence number, section 6.3.2.2.1.
std::pair<int, int> group_of(const nr_pucch& p, int hop) {
  const auto group = static_cast<std::uint32_t>(p.hopping_id / 30);
  int u = p.hopping_id % 30, v = 0;
  if (p.group_hopping == 1) {
    const auto c = nr_gold_sequence(group, 8 * (2 * p.slot + hop) + 8);
    int f = 0;
    for (int m = 0; m < 8; m++) f += (1 << m) * c[as_size(8 * (2 * p.slot + hop) + m)];
    u = (f % 30 + p.hopping_id % 30) % 30;
  }
  if (p.group_hopping == 2)
    v = nr_gold_sequence((group << 5) + static_cast<std::uint32_t>(p.hopping_id % 30),
                         2 * p.slot + hop + 1)[as_size(2 * p.slot + hop)];
  return {u, v};
}

/// alpha / (2 pi), section 6.3.2.2.2.
double shift_of(const nr_pucch& p, int m0, int l) {
  const int first = 14 * 8 * p.slot + 8 * (l + p.first_symbol);
  const auto c = nr_gold_sequence(static_cast<std::uint32_t>(p.hopping_id), first + 8);
  int n_cs = 0;
  for (int m = 0; m < 8; m++) n_cs += (1 << m) * c[as_size(first + m)];
  return (m0 + p.m_cs + n_cs) % 12 / 12.;
}

/// Table 6.3.2.4.1-2.
double code_of(int length, int index, int m) {
  if (length == 4) {
    constexpr int phi[4][4] = {{0, 0, 0, 0}, {0, 2, 0, 2}, {0, 0, 2, 2}, {0, 2, 2, 0}};
    return phi[index][m] / 4.;
  }
  return static_cast<double>(index * m % length) / length;
}

exact pucch_qpsk(int first, int second) { return exact(1 - 2 * first, 1 - 2 * second) / std::sqrt(2.); }

}  // namespace

std::vector<exact> nr_zadoff_chu_base(int length, int u, int v) {
  std::vector<exact> r;
  if (length == 30) {
    for (int n = 0; n < 30; n++) r.push_back(unit(-0.5 * (u + 1) * (n + 1) * (n + 2) / 31));
    return r;
  }
  int prime = length - 1;
  const auto divides = [&] {
    for (int d = 2; d < prime; d++)
      if (prime % d == 0) return true;
    return false;
  };
  while (divides()) prime--;
  const double middle = prime * (u + 1) / 31.;
  const int q = static_cast<int>(std::floor(middle + 0.5)) +
                v * (static_cast<int>(std::floor(2 * middle)) % 2 == 0 ? 1 : -1);
  for (int n = 0; n < length; n++) {
    const int m = n % prime;
    r.push_back(unit(-0.5 * std::fmod(1. * q * m * (m + 1), 2. * prime) / prime));
  }
  return r;
}

std::vector<exact> nr_pucch_values(const nr_pucch& p) {
  const int subcarriers = 12 * p.prbs, change = p.hopping ? p.symbols / 2 : p.symbols;
  std::vector<exact> out;
  std::vector<exact> d;  // modulated symbols of formats 2 to 4
  if (p.format >= 2) {
    const auto c = nr_gold_sequence(
        static_cast<std::uint32_t>(p.rnti) * 32768u + static_cast<std::uint32_t>(p.scrambling_id),
        static_cast<int>(p.bits.size()));
    std::vector<int> b;
    for (std::size_t i = 0; i < p.bits.size(); i++) b.push_back(p.bits[i] ^ c[i]);
    if (p.pi2_bpsk)
      for (std::size_t i = 0; i < b.size(); i++)
        d.push_back(pucch_qpsk(b[i], b[i]) * unit(0.25 * static_cast<double>(i % 2)));
    else
      for (std::size_t i = 0; i < b.size(); i += 2) d.push_back(pucch_qpsk(b[i], b[i + 1]));
  }
  std::size_t used = 0;
  for (int l = 0; l < p.symbols; l++) {
    const int hop = l >= change ? 1 : 0, first = hop == 0 ? 0 : change, last = hop == 0 ? change : p.symbols;
    const auto [u, v] = group_of(p, hop);
    bool pilots = false;
    for (const int s : p.dmrs_symbols) pilots = pilots || s == l;
    if (p.format <= 1 || pilots) {
      constexpr int of_code[4] = {0, 6, 3, 9};
      const int m0 = p.format <= 1 ? p.initial_cyclic_shift : p.format == 4 ? of_code[p.occ] : 0;
      const auto r = p.base(subcarriers, u, v);
      const double alpha = shift_of(p, m0, l);
      exact factor = 1;
      if (p.format == 1) {
        int length = 0, m = 0;
        for (int i = first; i < last; i++)
          if (i % 2 == l % 2) m += i < l, length++;
        factor = unit(code_of(length, p.occ, m));
        if (l % 2 == 1)
          factor *= p.bits.size() == 2 ? pucch_qpsk(p.bits[0], p.bits[1]) : pucch_qpsk(p.bits[0], p.bits[0]);
      }
      for (int k = 0; k < subcarriers; k++) out.push_back(factor * r[as_size(k)] * unit(alpha * k));
      continue;
    }
    if (p.format == 2) {
      const std::uint64_t id = static_cast<std::uint64_t>(p.dmrs_id);
      const std::uint64_t init =
          (131072u * static_cast<std::uint64_t>(14 * p.slot + p.first_symbol + l + 1) * (2 * id + 1) +
           2 * id) %
          2147483648u;
      const int prb = hop == 0 ? p.first_prb : p.second_hop_prb;
      const auto c = nr_gold_sequence(static_cast<std::uint32_t>(init), 8 * (prb + p.prbs));
      for (int k = 12 * prb; k < 12 * (prb + p.prbs); k++) {
        const std::size_t m = as_size(k / 3);
        out.push_back(k % 3 == 1 ? pucch_qpsk(c[2 * m], c[2 * m + 1]) : d[used++]);
      }
      continue;
    }
    std::vector<exact> y;
    const int parts = p.format == 4 ? p.spreading : 1, length = subcarriers / parts;
    for (int n = 0; n < subcarriers; n++)  // w_occ(n) = exp(-2 pi i occ part / parts)
      y.push_back(d[used + as_size(n % length)] *
                  (p.format == 4 ? unit(-static_cast<double>(p.occ * (n / length)) / parts) : exact(1)));
    used += as_size(length);
    for (int k = 0; k < subcarriers; k++) {
      exact sum = 0;
      for (int n = 0; n < subcarriers; n++)
        sum += y[as_size(n)] * unit(-static_cast<double>(k * n) / subcarriers);
      out.push_back(sum / std::sqrt(static_cast<double>(subcarriers)));
    }
  }
  return out;
}

int nr_pucch_first_bits(int coded_bits, int bits, int hundredths, int modulation_order) {
  const int with_crc = bits >= 20 ? bits + 11 : bits >= 12 ? bits + 6 : bits;
  int g = 0;
  while (g * hundredths < 100 * with_crc && g < coded_bits) g += modulation_order;
  return g;
}

std::vector<int> nr_pucch_multiplex(const std::vector<int>& first, const std::vector<int>& second,
                                    int symbols, const std::vector<int>& dmrs, int elements,
                                    int modulation_order) {
  // Table 6.3.1.6-1: symbols, DMRS, sets of UCI symbols.
  struct row {
    int symbols;
    std::vector<int> dmrs;
    std::vector<std::vector<int>> sets;
  };
  static const std::vector<row> table{{4, {1}, {{0, 2}, {3}}},
                                      {4, {0, 2}, {{1, 3}}},
                                      {5, {0, 3}, {{1, 2, 4}}},
                                      {6, {1, 4}, {{0, 2, 3, 5}}},
                                      {7, {1, 4}, {{0, 2, 3, 5}, {6}}},
                                      {8, {1, 5}, {{0, 2, 4, 6}, {3, 7}}},
                                      {9, {1, 6}, {{0, 2, 5, 7}, {3, 4, 8}}},
                                      {10, {2, 7}, {{1, 3, 6, 8}, {0, 4, 5, 9}}},
                                      {10, {1, 3, 6, 8}, {{0, 2, 4, 5, 7, 9}}},
                                      {11, {2, 7}, {{1, 3, 6, 8}, {0, 4, 5, 9}, {10}}},
                                      {11, {1, 3, 6, 9}, {{0, 2, 4, 5, 7, 8, 10}}},
                                      {12, {2, 8}, {{1, 3, 7, 9}, {0, 4, 6, 10}, {5, 11}}},
                                      {12, {1, 4, 7, 10}, {{0, 2, 3, 5, 6, 8, 9, 11}}},
                                      {13, {2, 9}, {{1, 3, 8, 10}, {0, 4, 7, 11}, {5, 6, 12}}},
                                      {13, {1, 4, 7, 11}, {{0, 2, 3, 5, 6, 8, 10, 12}, {9}}},
                                      {14, {3, 10}, {{2, 4, 9, 11}, {1, 5, 8, 12}, {0, 6, 7, 13}}},
                                      {14, {1, 5, 8, 12}, {{0, 2, 4, 6, 7, 9, 11, 13}, {3, 10}}}};
  for (const row& r : table) {
    if (r.symbols != symbols || r.dmrs != dmrs) continue;
    const int in_symbol = elements * modulation_order, g1 = static_cast<int>(first.size());
    std::size_t j = 0;  // the set in which part 1 ends
    int before = 0, here = static_cast<int>(r.sets[0].size());
    while ((before + here) * in_symbol < g1) before += here, here = static_cast<int>(r.sets.at(++j).size());
    const int left = (g1 - before * in_symbol) / modulation_order;
    const int share = left / here;
    int longer = left % here;
    std::vector<int> out;
    std::size_t n1 = 0, n2 = 0;
    for (int l = 0; l < symbols; l++) {
      std::size_t set = r.sets.size();
      for (std::size_t i = 0; i < r.sets.size(); i++)
        for (const int s : r.sets[i])
          if (s == l) set = i;
      if (set == r.sets.size()) continue;
      int count = set < j ? elements : 0;
      if (set == j) count = share + (longer-- > 0 ? 1 : 0);
      for (int n = 0; n < in_symbol; n++)
        out.push_back(n < count * modulation_order ? first.at(n1++) : second.at(n2++));
    }
    return out;
  }
  return {};
}

double nr_energy_share(const std::vector<exact>& values, int antennas, const std::vector<int>& lengths,
                       const std::vector<exact>& signal) {
  double explained = 0, energy = 0;
  for (std::size_t a = 0; a < as_size(antennas); a++) {
    std::size_t i = 0;
    for (const int length : lengths) {
      exact sum = 0;
      double norm = 0;
      for (const std::size_t end = i + as_size(length); i < end; i++) {
        const exact y = values[a * signal.size() + i];
        sum += std::conj(signal[i]) * y;
        norm += std::norm(signal[i]);
        energy += std::norm(y);
      }
      explained += std::norm(sum) / norm;
    }
  }
  return explained / energy;
}

std::vector<exact> nr_lmmse(const std::vector<double>& x, const std::vector<double>& z,
                            const std::vector<exact>& pilots, double middle, double width, double signal,
                            double noise) {
  const auto correlation = [&](double d) {
    const double w = std::numbers::pi * width * d;
    return signal * (std::abs(w) < 1e-12 ? 1 : std::sin(w) / w) * unit(-middle * d);
  };
  // Gaussian elimination of (R + N0 I) c = y.
  const std::size_t n = x.size();
  std::vector<std::vector<exact>> a(n, std::vector<exact>(n + 1));
  for (std::size_t i = 0; i < n; i++) {
    for (std::size_t j = 0; j < n; j++) a[i][j] = correlation(x[i] - x[j]) + (i == j ? noise : 0);
    a[i][n] = pilots[i];
  }
  for (std::size_t i = 0; i < n; i++)
    for (std::size_t j = 0; j < n; j++) {
      if (i == j) continue;
      const exact factor = a[j][i] / a[i][i];
      for (std::size_t k = i; k <= n; k++) a[j][k] -= factor * a[i][k];
    }
  std::vector<exact> h;
  for (const double position : z) {
    exact sum = 0;
    for (std::size_t i = 0; i < n; i++) sum += correlation(position - x[i]) * a[i][n] / a[i][i];
    h.push_back(sum);
  }
  return h;
}

}  // namespace oracle
