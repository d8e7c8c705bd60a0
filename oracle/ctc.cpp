#include <oracle/ctc.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <utility>

namespace oracle {
namespace {

using metrics = std::array<double, 8>;
constexpr double impossible = -std::numeric_limits<double>::infinity();

/// A register of three delay elements. A enters in front of the first, B in front of each.
struct encoder {
  int d1 = 0, d2 = 0, d3 = 0;
  struct parities {
    int y, w;
  };
  parities clock(int a, int b) {
    const int sum = a + b + d1 + d3;  // 1 + D + D^3
    const parities out{(sum + d2 + d3) % 2, (sum + d3) % 2};
    const int first = sum % 2, second = (d1 + b) % 2, third = (d2 + b) % 2;
    d1 = first, d2 = second, d3 = third;
    return out;
  }
  int state() const { return 4 * d1 + 2 * d2 + d3; }
  void set(int state) { d1 = state / 4, d2 = state / 2 % 2, d3 = state % 2; }
};

/// Circulation states, by N mod 7 = 1..6 and the last state from 0 (802.16-2009 table 504).
constexpr int circulation[6][8] = {{0, 6, 4, 2, 7, 1, 3, 5}, {0, 3, 7, 4, 5, 6, 2, 1},
                                   {0, 5, 3, 6, 2, 7, 1, 4}, {0, 4, 1, 5, 6, 2, 7, 3},
                                   {0, 2, 5, 7, 1, 3, 4, 6}, {0, 7, 6, 1, 3, 4, 5, 2}};

using couples = std::vector<std::pair<int, int>>;

/// y, then w.
std::pair<std::vector<int>, std::vector<int>> constituent(const couples& in) {
  encoder e;
  for (const auto& [a, b] : in) e.clock(a, b);
  const int start = circulation[in.size() % 7 - 1][e.state()];
  e.set(start);
  std::pair<std::vector<int>, std::vector<int>> out;
  for (const auto& [a, b] : in) {
    const auto [y, w] = e.clock(a, b);
    out.first.push_back(y);
    out.second.push_back(w);
  }
  if (e.state() != start) throw std::logic_error("oracle::ctc_encode: the trellis is no circle");
  return out;
}

/// Step 2 of the interleaver: the couple at j of the interleaved sequence.
int address(const ctc_parameters& p, int j) {
  const long long base = static_cast<long long>(p.p0) * j + 1;
  switch (j % 4) {
    case 0:
      return static_cast<int>(base % p.couples);
    case 1:
      return static_cast<int>((base + p.couples / 2 + p.p1) % p.couples);
    case 2:
      return static_cast<int>((base + p.p2) % p.couples);
    default:
      return static_cast<int>((base + p.couples / 2 + p.p3) % p.couples);
  }
}
/// Both steps: couples of odd index are turned round, then moved.
template <class T>
std::vector<std::pair<T, T>> interleaved(std::vector<std::pair<T, T>> u, const ctc_parameters& p) {
  for (std::size_t i = 1; i < u.size(); i += 2) std::swap(u[i].first, u[i].second);
  std::vector<std::pair<T, T>> out;
  for (int j = 0; j < p.couples; ++j) out.push_back(u[static_cast<std::size_t>(address(p, j))]);
  return out;
}

double max_star(double a, double b, bool exact) {
  const double larger = std::max(a, b);
  if (!exact || std::isinf(a) || std::isinf(b)) return larger;
  return larger + std::log1p(std::exp(-std::fabs(a - b)));
}

struct branch {
  std::size_t from, to;
  int symbol, y, w;
};
const std::vector<branch>& branches() {
  static const std::vector<branch> list = [] {
    std::vector<branch> found;
    for (int s = 0; s < 8; ++s)
      for (int u = 0; u < 4; ++u) {
        encoder e;
        e.set(s);
        const auto [y, w] = e.clock(u / 2, u % 2);
        found.push_back({static_cast<std::size_t>(s), static_cast<std::size_t>(e.state()), u, y, w});
      }
    return found;
  }();
  return list;
}

/// What a constituent decoder gets at each step: ln of the symbols' probabilities, up to a constant, and LLRs
/// of the two parity bits.
struct step {
  std::array<double, 4> symbol;
  double y, w;
  double gamma(const branch& b) const { return symbol[static_cast<std::size_t>(b.symbol)] + code(b); }
  double code(const branch& b) const { return (0.5 - b.y) * y + (0.5 - b.w) * w; }
};

metrics forward(const metrics& a, const step& s, bool exact) {
  metrics n;
  n.fill(impossible);
  for (const branch& b : branches()) n[b.to] = max_star(n[b.to], a[b.from] + s.gamma(b), exact);
  const double largest = *std::max_element(n.begin(), n.end());
  for (double& x : n) x -= largest;
  return n;
}
metrics backward(const metrics& after, const step& s, bool exact) {
  metrics n;
  n.fill(impossible);
  for (const branch& b : branches()) n[b.from] = max_star(n[b.from], after[b.to] + s.gamma(b), exact);
  const double largest = *std::max_element(n.begin(), n.end());
  for (double& x : n) x -= largest;
  return n;
}

/// Metrics that a constituent decoder keeps from one iteration to the next.
struct kept {
  metrics alpha{}, beta{};
};

/// Extrinsic values of all symbols, relative to symbol 0.
std::vector<std::array<double, 4>> extrinsics(const std::vector<step>& steps, kept& k, std::size_t overlap,
                                              bool exact) {
  const std::size_t n = steps.size();
  metrics a = k.alpha, b = k.beta;
  for (std::size_t i = n - overlap; i < n; ++i) a = forward(a, steps[i], exact);
  for (std::size_t i = overlap; i-- > 0;) b = backward(b, steps[i], exact);
  std::vector<metrics> alpha(n + 1), beta(n + 1);
  alpha[0] = a;
  for (std::size_t i = 0; i < n; ++i) alpha[i + 1] = forward(alpha[i], steps[i], exact);
  beta[n] = b;
  for (std::size_t i = n; i-- > 0;) beta[i] = backward(beta[i + 1], steps[i], exact);
  k = {alpha[n - overlap], beta[overlap]};
  std::vector<std::array<double, 4>> out(n);
  for (std::size_t i = 0; i < n; ++i) {
    std::array<double, 4> e;
    e.fill(impossible);
    for (const branch& x : branches()) {
      double& sum = e[static_cast<std::size_t>(x.symbol)];
      sum = max_star(sum, alpha[i][x.from] + steps[i].code(x) + beta[i + 1][x.to], exact);
    }
    for (std::size_t u = 0; u < 4; ++u) out[i][u] = e[u] - e[0];
  }
  return out;
}

/// A-posteriori LLRs of the parity bits y and w of all steps. The recursions begin as those of `extrinsics`.
std::vector<std::array<double, 2>> parities(const std::vector<step>& steps, const kept& k,
                                            std::size_t overlap, bool exact) {
  const std::size_t n = steps.size();
  std::vector<metrics> alpha(n + 1), beta(n + 1);
  alpha[0] = k.alpha;
  for (std::size_t i = n - overlap; i < n; ++i) alpha[0] = forward(alpha[0], steps[i], exact);
  beta[n] = k.beta;
  for (std::size_t i = overlap; i-- > 0;) beta[n] = backward(beta[n], steps[i], exact);
  for (std::size_t i = 0; i < n; ++i) alpha[i + 1] = forward(alpha[i], steps[i], exact);
  for (std::size_t i = n; i-- > 0;) beta[i] = backward(beta[i + 1], steps[i], exact);
  std::vector<std::array<double, 2>> out;
  for (std::size_t i = 0; i < n; ++i) {
    double y[2] = {impossible, impossible}, w[2] = {impossible, impossible};
    for (const branch& x : branches()) {
      const double path = alpha[i][x.from] + steps[i].gamma(x) + beta[i + 1][x.to];
      y[x.y] = max_star(y[x.y], path, exact);
      w[x.w] = max_star(w[x.w], path, exact);
    }
    out.push_back({y[0] - y[1], w[0] - w[1]});
  }
  return out;
}

/// The LLR of bit A (half 2) or B (half 1) of four values.
double bit_llr(const std::array<double, 4>& v, int half, bool exact) {
  double sums[2] = {impossible, impossible};
  for (int u = 0; u < 4; ++u) {
    double& sum = sums[u / half % 2];
    sum = max_star(sum, v[static_cast<std::size_t>(u)], exact);
  }
  return sums[0] - sums[1];
}

}  // namespace

ctc_parameters ctc_table(bool wimax, int couples) {
  static const std::vector<ctc_parameters> wimax_rows{
      {24, 5, 0, 0, 0},     {36, 11, 18, 0, 18},     {48, 13, 24, 0, 24},       {72, 11, 6, 0, 6},
      {96, 7, 48, 24, 72},  {108, 11, 54, 56, 2},    {120, 13, 60, 0, 60},      {144, 17, 74, 72, 2},
      {180, 11, 90, 0, 90}, {192, 11, 96, 48, 144},  {216, 13, 108, 0, 108},    {240, 13, 120, 60, 180},
      {480, 53, 62, 12, 2}, {960, 43, 64, 300, 824}, {1440, 43, 720, 360, 540}, {1920, 31, 8, 24, 16},
      {2400, 53, 66, 24, 2}};
  static const std::vector<ctc_parameters> rcs_rows{
      {48, 11, 24, 0, 24},     {64, 7, 34, 32, 2},       {212, 13, 106, 108, 2}, {220, 23, 112, 4, 116},
      {228, 17, 116, 72, 188}, {424, 11, 6, 8, 2},       {432, 13, 0, 4, 8},     {440, 13, 10, 4, 2},
      {848, 19, 2, 16, 6},     {856, 19, 428, 224, 652}, {864, 19, 2, 16, 6},    {752, 19, 376, 224, 600}};
  for (const ctc_parameters& row : wimax ? wimax_rows : rcs_rows)
    if (row.couples == couples) return row;
  throw std::invalid_argument("oracle::ctc_table: no such number of couples");
}

std::vector<int> ctc_addresses(const ctc_parameters& p) {
  std::vector<int> list;
  for (int j = 0; j < p.couples; ++j) list.push_back(address(p, j));
  return list;
}

std::vector<std::uint8_t> ctc_encode(const std::vector<std::uint8_t>& bits, const ctc_parameters& p) {
  const auto n = static_cast<std::size_t>(p.couples);
  if (bits.size() != 2 * n || n % 7 == 0)
    throw std::invalid_argument("oracle::ctc_encode: 2 N bits, N mod 7 not 0");
  couples in;
  for (std::size_t i = 0; i < n; ++i) in.emplace_back(bits[2 * i], bits[2 * i + 1]);
  const auto [y1, w1] = constituent(in);
  const auto [y2, w2] = constituent(interleaved(in, p));
  std::vector<std::uint8_t> out;
  for (const auto& [a, b] : in) out.push_back(static_cast<std::uint8_t>(a));
  for (const auto& [a, b] : in) out.push_back(static_cast<std::uint8_t>(b));
  for (const auto* stream : {&y1, &y2, &w1, &w2})
    for (const int x : *stream) out.push_back(static_cast<std::uint8_t>(x));
  return out;
}

ctc_result ctc_decode(const std::vector<double>& llr, const ctc_parameters& p, const ctc_options& options) {
  const auto n = static_cast<std::size_t>(p.couples), overlap = static_cast<std::size_t>(options.overlap);
  if (llr.size() != 6 * n) throw std::invalid_argument("oracle::ctc_decode: 6 N LLRs");
  const bool exact = options.algorithm == algorithm::log_map;
  std::vector<std::array<double, 4>> channel(n), first(n), second(n);
  for (std::size_t i = 0; i < n; ++i) {
    first[i].fill(0);
    second[i].fill(0);
    for (int u = 0; u < 4; ++u)
      channel[i][static_cast<std::size_t>(u)] = (0.5 - u / 2) * llr[i] + (0.5 - u % 2) * llr[n + i];
  }
  kept one, two;
  std::vector<step> steps(n);
  const auto of_first = [&] {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t u = 0; u < 4; ++u) steps[i].symbol[u] = channel[i][u] + second[i][u];
      steps[i].y = llr[2 * n + i];
      steps[i].w = llr[4 * n + i];
    }
  };
  const auto of_second = [&] {
    for (int j = 0; j < p.couples; ++j) {
      const auto i = static_cast<std::size_t>(address(p, j)), here = static_cast<std::size_t>(j);
      for (int u = 0; u < 4; ++u) {
        // Symbol u of the second decoder is (A, B) or, of a couple turned round, (B, A).
        const auto v = static_cast<std::size_t>(i % 2 == 1 ? u % 2 * 2 + u / 2 : u);
        steps[here].symbol[static_cast<std::size_t>(u)] = channel[i][v] + first[i][v];
      }
      steps[here].y = llr[3 * n + here];
      steps[here].w = llr[5 * n + here];
    }
  };
  for (int iteration = 0; iteration < options.iterations; ++iteration) {
    const double scale = iteration + 1 < options.iterations ? options.scale : 1.0;
    of_first();
    first = extrinsics(steps, one, overlap, exact);
    for (auto& e : first)
      for (double& x : e) x *= scale;
    of_second();
    const auto out = extrinsics(steps, two, overlap, exact);
    for (int j = 0; j < p.couples; ++j) {
      const auto i = static_cast<std::size_t>(address(p, j));
      for (int u = 0; u < 4; ++u) {
        const auto v = static_cast<std::size_t>(i % 2 == 1 ? u % 2 * 2 + u / 2 : u);
        second[i][v] = scale * out[static_cast<std::size_t>(j)][static_cast<std::size_t>(u)];
      }
    }
  }
  ctc_result r;
  r.extrinsic.assign(6 * n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    std::array<double, 4> v;
    for (std::size_t u = 0; u < 4; ++u) v[u] = channel[i][u] + first[i][u] + second[i][u];
    r.a_posteriori.push_back(bit_llr(v, 2, exact));
    r.a_posteriori.push_back(bit_llr(v, 1, exact));
    r.extrinsic[i] = r.a_posteriori[2 * i] - llr[i];
    r.extrinsic[n + i] = r.a_posteriori[2 * i + 1] - llr[n + i];
  }
  for (const std::size_t decoder : {0, 1}) {
    decoder == 0 ? of_first() : of_second();
    const auto posterior = parities(steps, decoder == 0 ? one : two, overlap, exact);
    for (std::size_t i = 0; i < n; ++i)
      for (const std::size_t bit : {0, 1}) {
        const std::size_t place = (2 + 2 * bit + decoder) * n + i;
        r.extrinsic[place] = posterior[i][bit] - llr[place];
      }
  }
  return r;
}

std::vector<double> ctc_exact_constituent(const std::vector<double>& llr, int couples) {
  const auto n = static_cast<std::size_t>(couples);
  if (llr.size() != 4 * n) throw std::invalid_argument("oracle::ctc_exact_constituent: 4 N LLRs");
  std::vector<std::array<double, 4>> sums(n);
  for (auto& s : sums) s.fill(impossible);
  for (std::size_t start = 0; start < 8; ++start) {
    std::vector<metrics> alpha(n + 1), beta(n + 1);
    alpha[0].fill(impossible);
    alpha[0][start] = 0;
    beta[n] = alpha[0];
    std::vector<step> steps(n);
    for (std::size_t i = 0; i < n; ++i) {
      for (int u = 0; u < 4; ++u)
        steps[i].symbol[static_cast<std::size_t>(u)] = (0.5 - u / 2) * llr[i] + (0.5 - u % 2) * llr[n + i];
      steps[i].y = llr[2 * n + i];
      steps[i].w = llr[3 * n + i];
    }
    // Not brought back to 0: paths of all starts are compared.
    const auto raise = [&](std::size_t i, bool ahead) {
      metrics next;
      next.fill(impossible);
      for (const branch& b : branches()) {
        double& x = next[ahead ? b.to : b.from];
        x = max_star(x, (ahead ? alpha[i][b.from] : beta[i + 1][b.to]) + steps[i].gamma(b), true);
      }
      (ahead ? alpha[i + 1] : beta[i]) = next;
    };
    for (std::size_t i = 0; i < n; ++i) raise(i, true);
    for (std::size_t i = n; i-- > 0;) raise(i, false);
    for (std::size_t i = 0; i < n; ++i)
      for (const branch& b : branches()) {
        double& sum = sums[i][static_cast<std::size_t>(b.symbol)];
        sum = max_star(sum, alpha[i][b.from] + steps[i].gamma(b) + beta[i + 1][b.to], true);
      }
  }
  std::vector<double> posterior;
  for (const auto& v : sums) {
    posterior.push_back(bit_llr(v, 2, true));
    posterior.push_back(bit_llr(v, 1, true));
  }
  return posterior;
}

}  // namespace oracle
