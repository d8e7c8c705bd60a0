#include <oracle/lte_transport.hpp>

#include <algorithm>
#include <stdexcept>

#include <oracle/lte.hpp>

namespace oracle {
namespace {

int ceiling(int a, int b) { return (a + b - 1) / b; }

std::vector<std::uint8_t> with_crc(std::vector<std::uint8_t> bits, std::uint32_t polynomial) {
  const auto parity = crc(bits, polynomial, 24);
  bits.insert(bits.end(), parity.begin(), parity.end());
  return bits;
}

/// Table 5.1.4-1.
constexpr int column_permutation[32] = {0, 16, 8, 24, 4, 20, 12, 28, 2, 18, 10, 26, 6, 22, 14, 30,
                                        1, 17, 9, 25, 5, 21, 13, 29, 3, 19, 11, 27, 7, 23, 15, 31};

}  // namespace

lte_segments lte_segment(int B, const std::vector<int>& sizes) {
  const int Z = 6144;
  lte_segments s;
  int B_prime = 0;
  if (B <= Z) {
    s.L = 0;
    s.C = 1;
    B_prime = B;
  } else {
    s.L = 24;
    s.C = ceiling(B, Z - s.L);
    B_prime = B + s.C * s.L;
  }
  for (const int K : sizes)
    if (s.K_plus == 0 && s.C * K >= B_prime) s.K_plus = K;
  if (s.K_plus == 0) throw std::invalid_argument("oracle::lte_segment: sizes end too early");
  if (s.C == 1) {
    s.C_plus = 1;
  } else {
    for (const int K : sizes)
      if (K < s.K_plus) s.K_minus = K;
    const int delta = s.K_plus - s.K_minus;
    s.C_minus = (s.C * s.K_plus - B_prime) / delta;
    s.C_plus = s.C - s.C_minus;
  }
  s.F = s.C_plus * s.K_plus + s.C_minus * s.K_minus - B_prime;
  return s;
}

std::vector<lte_symbols> lte_code_blocks(const std::vector<std::uint8_t>& b, const lte_segments& seg) {
  std::vector<lte_symbols> blocks;
  std::size_t s = 0;
  for (int r = 0; r < seg.C; r++) {
    const int K = r < seg.C_minus ? seg.K_minus : seg.K_plus;
    lte_symbols c;
    if (r == 0) c.assign(static_cast<std::size_t>(seg.F), lte_null);
    while (static_cast<int>(c.size()) < K - seg.L) c.push_back(b.at(s++));
    if (seg.C > 1) {
      std::vector<std::uint8_t> bits;
      for (const int x : c) bits.push_back(x == lte_null ? 0 : static_cast<std::uint8_t>(x));
      for (const std::uint8_t p : crc(bits, 0x1800063, 24)) c.push_back(p);
    }
    blocks.push_back(c);
  }
  if (s != b.size()) throw std::logic_error("oracle::lte_code_blocks: bits are left");
  return blocks;
}

lte_symbols lte_sub_block_interleave(const lte_symbols& d, int stream) {
  const int D = static_cast<int>(d.size()), columns = 32, rows = ceiling(D, columns), K_pi = rows * columns;
  lte_symbols y(static_cast<std::size_t>(K_pi - D), lte_null);
  y.insert(y.end(), d.begin(), d.end());
  lte_symbols v;
  if (stream < 2) {
    // Written row by row, columns permuted, read column by column.
    for (int j = 0; j < columns; j++)
      for (int row = 0; row < rows; row++)
        v.push_back(y[static_cast<std::size_t>(row * columns + column_permutation[j])]);
  } else {
    for (int k = 0; k < K_pi; k++) {
      const int pi = (column_permutation[k / rows] + columns * (k % rows) + 1) % K_pi;
      v.push_back(y[static_cast<std::size_t>(pi)]);
    }
  }
  return v;
}

lte_symbols lte_rate_match(const lte_symbols& d0, const lte_symbols& d1, const lte_symbols& d2, int N_cb,
                           int E, int rv) {
  const lte_symbols v0 = lte_sub_block_interleave(d0, 0), v1 = lte_sub_block_interleave(d1, 1),
                    v2 = lte_sub_block_interleave(d2, 2);
  lte_symbols w = v0;
  for (std::size_t k = 0; k < v1.size(); k++) {
    w.push_back(v1[k]);
    w.push_back(v2[k]);
  }
  const int K_w = static_cast<int>(w.size()), rows = K_w / 96;
  if (N_cb == 0 || N_cb > K_w) N_cb = K_w;
  if (std::all_of(w.begin(), w.begin() + N_cb, [](int x) { return x == lte_null; }))
    throw std::invalid_argument("oracle::lte_rate_match: nothing to send");
  const int k_0 = rows * (2 * ceiling(N_cb, 8 * rows) * rv + 2);
  lte_symbols e;
  for (int j = 0; static_cast<int>(e.size()) < E; j++) {
    const int x = w[static_cast<std::size_t>((k_0 + j) % N_cb)];
    if (x != lte_null) e.push_back(x);
  }
  return e;
}

int lte_sent_bits(int G, int N_L, int Q_m, int C, int r) {
  const int G_prime = G / (N_L * Q_m), gamma = G_prime % C;
  return r <= C - gamma - 1 ? N_L * Q_m * (G_prime / C) : N_L * Q_m * ceiling(G_prime, C);
}

std::vector<std::uint8_t> lte_transport_encode(const std::vector<std::uint8_t>& a, const lte_channel& channel,
                                               int rv, const std::vector<int>& sizes,
                                               const std::function<std::vector<int>(int)>& interleaver) {
  const std::vector<std::uint8_t> b = with_crc(a, 0x1864CFB);
  const lte_segments s = lte_segment(static_cast<int>(b.size()), sizes);
  std::vector<std::uint8_t> f;
  int r = 0;
  for (const lte_symbols& c : lte_code_blocks(b, s)) {
    std::vector<std::uint8_t> bits;
    std::size_t fillers = 0;
    for (const int x : c) {
      fillers += x == lte_null ? 1 : 0;
      bits.push_back(x == lte_null ? 0 : static_cast<std::uint8_t>(x));
    }
    const turbo_streams d = turbo_encode(bits, interleaver(static_cast<int>(c.size())));
    lte_symbols d0(d.d0.begin(), d.d0.end()), d1(d.d1.begin(), d.d1.end()), d2(d.d2.begin(), d.d2.end());
    for (std::size_t k = 0; k < fillers; k++) d0[k] = d1[k] = lte_null;  // §5.1.3.2.1
    const int E = lte_sent_bits(channel.G, channel.N_L, channel.Q_m, s.C, r++);
    for (const int e : lte_rate_match(d0, d1, d2, channel.N_cb, E, rv))
      f.push_back(static_cast<std::uint8_t>(e));
  }
  return f;
}

}  // namespace oracle
