#include <oracle/nr_transport.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace oracle {

namespace {

/// §5.1: parity bits of a by long division; g: exponents of the generator below its degree.
std::vector<int> crc_of(const std::vector<int>& a, int degree, const std::vector<int>& g) {
  std::vector<int> rest = a;
  rest.insert(rest.end(), static_cast<std::size_t>(degree), 0);
  for (std::size_t i = 0; i < a.size(); i++) {
    if (rest[i] == 0) continue;
    rest[i] = 0;
    for (const int e : g) rest[i + static_cast<std::size_t>(degree - e)] ^= 1;
  }
  return {rest.end() - degree, rest.end()};
}
std::vector<int> with_crc(std::vector<int> a, int degree, const std::vector<int>& g) {
  const std::vector<int> p = crc_of(a, degree, g);
  a.insert(a.end(), p.begin(), p.end());
  return a;
}
const std::vector<int> crc24a{23, 18, 17, 14, 11, 10, 7, 6, 5, 4, 3, 1, 0}, crc24b{23, 6, 5, 1, 0},
    crc16{12, 5, 0};

}  // namespace

std::vector<int> nr_gold_sequence(std::uint32_t c_init, int n) {
  const int offset = 1600, length = n + offset + 31;
  std::vector<int> x1(static_cast<std::size_t>(length)), x2 = x1;
  x1[0] = 1;
  for (std::size_t i = 0; i < 31; i++) x2[i] = static_cast<int>(c_init >> i & 1);
  for (std::size_t i = 0; i + 31 < x1.size(); i++) {
    x1[i + 31] = (x1[i + 3] + x1[i]) % 2;
    x2[i + 31] = (x2[i + 3] + x2[i + 2] + x2[i + 1] + x2[i]) % 2;
  }
  std::vector<int> c;
  for (int i = 0; i < n; i++) {
    const auto index = static_cast<std::size_t>(i + offset);
    c.push_back((x1[index] + x2[index]) % 2);
  }
  return c;
}

int nr_tbs(int n_re, double rate, int qm, int layers, const std::vector<int>& sizes) {
  const double info = n_re * rate * qm * layers;
  if (info <= 3824) {
    const double step = std::pow(2, std::max(3., std::floor(std::log2(info)) - 6));
    const double wanted = std::max(24., step * std::floor(info / step));
    for (const int size : sizes)
      if (size >= wanted) return size;
    throw std::invalid_argument("sizes end before it");
  }
  const double step = std::pow(2, std::floor(std::log2(info - 24)) - 5);
  const double wanted = std::max(3840., step * std::floor((info - 24) / step + 0.5));
  double blocks = 1;
  if (rate <= 0.25)
    blocks = std::ceil((wanted + 24) / 3816);
  else if (wanted > 8424)
    blocks = std::ceil((wanted + 24) / 8424);
  return static_cast<int>(8 * blocks * std::ceil((wanted + 24) / (8 * blocks)) - 24);
}

nr_segments nr_segment(int B, int base_graph, const std::vector<int>& lifting) {
  nr_segments s;
  const int K_cb = base_graph == 1 ? 8448 : 3840;
  s.L = B <= K_cb ? 0 : 24;
  s.C = B <= K_cb ? 1 : static_cast<int>(std::ceil(static_cast<double>(B) / (K_cb - s.L)));
  s.Kp = (B + s.C * s.L) / s.C;
  s.Kb = base_graph == 1 ? 22 : B > 640 ? 10 : B > 560 ? 9 : B > 192 ? 8 : 6;
  for (const int z : lifting)
    if (s.Kb * z >= s.Kp) {
      s.Z = z;
      break;
    }
  s.K = (base_graph == 1 ? 22 : 10) * s.Z;
  return s;
}

std::vector<int> nr_select(const nr_symbols& d, int base_graph, int z, int N_ref, int rv, int E) {
  const int N = static_cast<int>(d.size()), N_cb = N_ref == 0 ? N : std::min(N, N_ref);
  const double numerators[2][4] = {{0, 17, 33, 56}, {0, 13, 25, 43}};
  const double parts = base_graph == 1 ? 66 : 50;
  const int k0 = static_cast<int>(std::floor(numerators[base_graph - 1][rv] * N_cb / (parts * z))) * z;
  std::vector<int> e;
  for (int j = 0; static_cast<int>(e.size()) < E; j++) {
    const int bit = d[static_cast<std::size_t>((k0 + j) % N_cb)];
    if (bit != nr_null) e.push_back(bit);
  }
  return e;
}

std::vector<int> nr_interleave(const std::vector<int>& e, int Q_m) {
  const std::size_t q = static_cast<std::size_t>(Q_m), columns = e.size() / q;
  std::vector<int> f(e.size());
  for (std::size_t j = 0; j < columns; j++)
    for (std::size_t i = 0; i < q; i++) f[i + j * q] = e[i * columns + j];
  return f;
}

int nr_sent_bits(int G, int N_L, int Q_m, int C, int r) {
  const int symbol = N_L * Q_m;
  if (r <= C - (G / symbol) % C - 1) return symbol * (G / (symbol * C));
  return symbol * ((G + symbol * C - 1) / (symbol * C));
}

std::vector<std::uint8_t> nr_transport_encode(
    const std::vector<std::uint8_t>& a, const nr_channel& channel, int rv, const std::vector<int>& lifting,
    const std::function<std::vector<int>(const std::vector<int>& bits, int z)>& encode) {
  const std::vector<int> plain(a.begin(), a.end());
  const std::vector<int> b = a.size() > 3824 ? with_crc(plain, 24, crc24a) : with_crc(plain, 16, crc16);
  const nr_segments s = nr_segment(static_cast<int>(b.size()), channel.base_graph, lifting);
  std::vector<int> sent;
  for (int r = 0; r < s.C; r++) {
    const auto first = b.begin() + r * (s.Kp - s.L);
    std::vector<int> c(first, first + (s.Kp - s.L));
    if (s.C > 1) c = with_crc(c, 24, crc24b);
    c.resize(static_cast<std::size_t>(s.K), 0);
    std::vector<int> d = encode(c, s.Z);
    for (int k = s.Kp; k < s.K; k++) d[static_cast<std::size_t>(k)] = nr_null;
    d.erase(d.begin(), d.begin() + 2 * s.Z);
    const int E = nr_sent_bits(channel.G, channel.N_L, channel.Q_m, s.C, r);
    const auto f = nr_interleave(nr_select(d, channel.base_graph, s.Z, channel.N_ref, rv, E), channel.Q_m);
    sent.insert(sent.end(), f.begin(), f.end());
  }
  std::vector<std::uint8_t> out;
  const std::vector<int> scrambling =
      channel.c_init < 0 ? std::vector<int>(sent.size())
                         : nr_gold_sequence(static_cast<std::uint32_t>(channel.c_init), channel.G);
  for (std::size_t i = 0; i < sent.size(); i++)
    out.push_back(static_cast<std::uint8_t>((sent[i] + scrambling[i]) % 2));
  return out;
}

}  // namespace oracle
