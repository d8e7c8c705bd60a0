#include <oracle/stbc.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>

#include <oracle/as_size.hpp>
#include <oracle/modem.hpp>

namespace oracle {
namespace {

using complex = std::complex<double>;
using vector = std::vector<double>;  // real and imaginary parts of what is received
constexpr double infinity = std::numeric_limits<double>::infinity();

int bits_of(int points) {
  int m = 0;
  while ((1 << m) < points) ++m;
  return m;
}

/// H S, in the order of Y.
std::vector<complex> transmitted(const stbc_use& use, const std::vector<complex>& symbols) {
  const auto s = space_time_matrix(use.code, symbols);
  std::vector<complex> y;
  for (std::size_t slot = 0; slot < 2; ++slot)
    for (std::size_t r = 0; r < as_size(use.rx()); ++r)
      y.push_back(use.h[2 * r] * s[slot] + use.h[2 * r + 1] * s[2 + slot]);
  return y;
}
vector parts(const std::vector<complex>& z) {
  vector p;
  for (const complex& x : z) {
    p.push_back(x.real());
    p.push_back(x.imag());
  }
  return p;
}
/// What one symbol alone makes arrive.
std::vector<complex> alone(const stbc_use& use, int symbol, complex x) {
  std::vector<complex> symbols(as_size(use.code.symbols()));
  symbols[as_size(symbol)] = x;
  return transmitted(use, symbols);
}
double product(const vector& a, const vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// n0 times -ln P of a symbol's bits, but for a constant: of all its points.
vector costs_of(const stbc_use& use, int symbol) {
  vector costs(as_size(use.points));
  const int m = bits_of(use.points);
  for (int x = 0; x < use.points && !use.prior.empty(); ++x)
    for (int b = 0; b < m; ++b)
      if ((x >> (m - 1 - b)) & 1) costs[as_size(x)] += use.n0 * use.prior[as_size(symbol * m + b)];
  return costs;
}

/// LLRs from the least metric of each value of each symbol's bits.
std::vector<double> llrs_of(const std::vector<vector>& least, int points, double n0) {
  std::vector<double> llr;
  const int m = bits_of(points);
  for (const vector& of_symbol : least)
    for (int b = 0; b < m; ++b) {
      double best[2] = {infinity, infinity};
      for (int x = 0; x < points; ++x) {
        double& kept = best[(x >> (m - 1 - b)) & 1];
        kept = std::min(kept, of_symbol[as_size(x)]);
      }
      llr.push_back((best[1] - best[0]) / n0);
    }
  return llr;
}

void check(const stbc_use& use) {
  const std::size_t bits = as_size(bits_of(use.points) * use.code.symbols());
  if (use.h.empty() || use.h.size() != use.y.size() || !(use.n0 > 0) ||
      (!use.prior.empty() && use.prior.size() != bits))
    throw std::invalid_argument("oracle: a codeword with shapes or noise that cannot be");
}

}  // namespace

std::array<complex, 4> silver_matrix() {
  const double r = 1 / std::sqrt(7.0);
  return {complex(1, -1) * r, complex(1, -2) * r, complex(1, 2) * r, complex(-1, -1) * r};
}

std::vector<complex> space_time_matrix(const space_time_block& code, const std::vector<complex>& x) {
  if (x.size() != as_size(code.symbols())) throw std::invalid_argument("oracle: symbols of a codeword");
  const auto block = [](complex p, complex q) {
    return std::vector<complex>{p, -std::conj(q), q, std::conj(p)};
  };
  if (code.kind == space_time::alamouti) return block(x[0], x[1]);
  if (code.over_subcarriers()) {
    // y = M [Re x; Im x], with M as it is printed in 36.211: row after row, of each subcarrier the antennas.
    const std::size_t n = as_size(code.antennas()), symbols = x.size();
    std::vector<complex> s(n * n);
    const auto send = [&](std::size_t antenna, std::size_t subcarrier, std::size_t symbol, double re,
                          double im) {
      const double scale = std::sqrt(static_cast<double>(n) / 2);
      s[n * antenna + subcarrier] = scale * complex(re * x[symbol].real(), im * x[symbol].imag());
    };
    for (std::size_t pair = 0; pair < symbols / 2; ++pair) {
      const std::size_t other = pair + symbols / 2;
      send(pair, 2 * pair, 2 * pair, 1, 1);
      send(other, 2 * pair, 2 * pair + 1, -1, 1);
      send(pair, 2 * pair + 1, 2 * pair + 1, 1, 1);
      send(other, 2 * pair + 1, 2 * pair, 1, -1);
    }
    return s;
  }
  if (code.kind == space_time::pair) {
    const auto a = block(x[0], x[1]), b = block(x[2], x[3]);
    const auto& v = code.v;
    const double half = 1 / std::sqrt(2.0);
    return {half * (a[0] + v[0] * b[0] + v[1] * b[2]), half * (a[1] + v[0] * b[1] + v[1] * b[3]),
            half * (a[2] + v[2] * b[0] + v[3] * b[2]), half * (a[3] + v[2] * b[1] + v[3] * b[3])};
  }
  const double theta = (1 + std::sqrt(5.0)) / 2, other = 1 - theta, r = 1 / std::sqrt(5.0);
  const complex i(0, 1), alpha = 1.0 + i - i * theta, beta = 1.0 + i - i * other;
  return {r * alpha * (x[0] + theta * x[1]), r * alpha * (x[2] + theta * x[3]),
          r * i * beta * (x[2] + other * x[3]), r * beta * (x[0] + other * x[1])};
}

double stbc_metric(const stbc_use& use, const std::vector<int>& symbols) {
  const auto points = constellation(use.points);
  std::vector<complex> x;
  for (const int s : symbols) x.push_back(points[as_size(s)]);
  const auto hs = transmitted(use, x);
  double sum = 0;
  for (std::size_t i = 0; i < hs.size(); ++i) sum += std::norm(use.y[i] - hs[i]);
  for (int k = 0; k < use.code.symbols(); ++k) sum += costs_of(use, k)[as_size(symbols[as_size(k)])];
  return sum;
}

stbc_answer stbc_exhaustive(const stbc_use& use) {
  check(use);
  const auto points = constellation(use.points);
  const int m = use.points, symbols = use.code.symbols();
  if (bits_of(m) * symbols > 24) throw std::invalid_argument("oracle: more than 2^24 hypotheses");
  const auto sum_of = [&](int first, int i, int j) {
    auto a = alone(use, first, points[as_size(i)]);
    const auto b = alone(use, first + 1, points[as_size(j)]);
    for (std::size_t e = 0; e < a.size(); ++e) a[e] += b[e];
    return parts(a);
  };
  const std::size_t pairs = as_size(m * m), second_pairs = symbols == 4 ? pairs : 1;
  const std::size_t dimensions = 2 * use.y.size();
  const auto pair_costs = [&](int symbol) {
    const vector one = costs_of(use, symbol), two = costs_of(use, symbol + 1);
    vector sums;
    for (const double a : one)
      for (const double b : two) sums.push_back(a + b);
    return sums;
  };
  const vector first_costs = pair_costs(0), second_costs = symbols == 4 ? pair_costs(2) : vector{0};
  vector first;  // of all pairs, one after the other
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j) {
      const vector sum = sum_of(0, i, j);
      first.insert(first.end(), sum.begin(), sum.end());
    }
  const vector y = parts(use.y);
  vector least_first(pairs, infinity), least_second(second_pairs, infinity);
  stbc_answer answer;
  answer.metric = infinity;
  std::size_t best_first = 0, best_second = 0;
  for (std::size_t q = 0; q < second_pairs; ++q) {
    vector rest = y;
    if (symbols == 4) {
      const vector sum = sum_of(2, static_cast<int>(q) / m, static_cast<int>(q) % m);
      for (std::size_t e = 0; e < dimensions; ++e) rest[e] -= sum[e];
    }
    double least = infinity;
    for (std::size_t p = 0; p < pairs; ++p) {
      double metric = first_costs[p] + second_costs[q];
      for (std::size_t e = 0; e < dimensions; ++e) {
        const double d = rest[e] - first[p * dimensions + e];
        metric += d * d;
      }
      least = std::min(least, metric);
      least_first[p] = std::min(least_first[p], metric);
      if (metric < answer.metric) {
        answer.metric = metric;
        best_first = p;
        best_second = q;
      }
    }
    least_second[q] = least;
  }
  std::vector<vector> least(as_size(symbols), vector(as_size(m), infinity));
  const auto spread = [&](const vector& of_pairs, std::size_t symbol) {
    for (std::size_t p = 0; p < of_pairs.size(); ++p) {
      double &one = least[symbol][p / as_size(m)], &two = least[symbol + 1][p % as_size(m)];
      one = std::min(one, of_pairs[p]);
      two = std::min(two, of_pairs[p]);
    }
  };
  spread(least_first, 0);
  answer.symbols = {static_cast<int>(best_first) / m, static_cast<int>(best_first) % m};
  if (symbols == 4) {
    spread(least_second, 2);
    answer.symbols.push_back(static_cast<int>(best_second) / m);
    answer.symbols.push_back(static_cast<int>(best_second) % m);
  }
  answer.llr = llrs_of(least, m, use.n0);
  return answer;
}

stbc_answer stbc_conditional(const stbc_use& use) {
  check(use);
  const auto points = constellation(use.points);
  const int m = use.points, symbols = use.code.symbols(), half = bits_of(m) / 2, levels = 1 << half;
  // Level `index` of one dimension, and the point with two of them: their bits in turns, the real part's
  // first.
  const auto joined = [&](int re, int im) {
    int point = 0;
    for (int b = 0; b < half; ++b) point |= ((re >> b) & 1) << (2 * b + 1) | ((im >> b) & 1) << (2 * b);
    return point;
  };
  vector amplitude;
  for (int l = 0; l < levels; ++l) amplitude.push_back(points[as_size(joined(l, 0))].real());

  const vector y = parts(use.y);
  const vector column[2][2] = {{parts(alone(use, 0, {1, 0})), parts(alone(use, 1, {1, 0}))},
                               {parts(alone(use, 0, {0, 1})), parts(alone(use, 1, {0, 1}))}};
  double energy = 0;
  for (const complex& h : use.h) energy += std::norm(h);
  for (std::size_t a = 0; a < 2; ++a)
    for (std::size_t b = 0; b < 2; ++b)
      if (std::abs(product(column[0][a], column[1][b])) > 1e-9 * energy)
        throw std::logic_error("oracle: real and imaginary parts do not separate");
  double gram[2][3];
  for (std::size_t q = 0; q < 2; ++q) {
    gram[q][0] = product(column[q][0], column[q][0]);
    gram[q][1] = product(column[q][0], column[q][1]);
    gram[q][2] = product(column[q][1], column[q][1]);
  }
  std::vector<vector> least(as_size(symbols), vector(as_size(m), infinity));
  // Of the first two symbols the least metric of each level of each dimension, spread over the points at the
  // end.
  std::vector<vector> of_level(4, vector(as_size(levels), infinity));
  stbc_answer answer;
  answer.metric = infinity;
  const int outer = symbols == 4 ? m * m : 1;
  std::vector<vector> third, fourth;  // what each of their points makes arrive
  for (int x = 0; symbols == 4 && x < m; ++x) {
    third.push_back(parts(alone(use, 2, points[as_size(x)])));
    fourth.push_back(parts(alone(use, 3, points[as_size(x)])));
  }
  std::vector<vector> least_of(4, vector(as_size(levels)));  // 2 * symbol + part
  // A point's cost is the sum of those of its parts.
  std::vector<vector> level_costs(4, vector(as_size(levels)));
  for (int k = 0; k < 2; ++k)
    for (int l = 0; l < levels; ++l) {
      level_costs[as_size(2 * k)][as_size(l)] = costs_of(use, k)[as_size(joined(l, 0))];
      level_costs[as_size(2 * k + 1)][as_size(l)] = costs_of(use, k)[as_size(joined(0, l))];
    }
  const vector third_costs = symbols == 4 ? costs_of(use, 2) : vector{},
               fourth_costs = symbols == 4 ? costs_of(use, 3) : vector{};
  vector rest;
  for (int s = 0; s < outer; ++s) {
    rest = y;
    if (symbols == 4) {
      const vector &a = third[as_size(s / m)], &b = fourth[as_size(s % m)];
      for (std::size_t e = 0; e < rest.size(); ++e) rest[e] -= a[e] + b[e];
    }
    double base = product(rest, rest);
    if (symbols == 4) base += third_costs[as_size(s / m)] + fourth_costs[as_size(s % m)];
    double best[2] = {infinity, infinity};
    int chosen[2][2] = {};
    for (vector& of_dimension : least_of) std::fill(of_dimension.begin(), of_dimension.end(), infinity);
    for (std::size_t q = 0; q < 2; ++q) {
      const double z0 = product(column[q][0], rest), z1 = product(column[q][1], rest);
      for (int i = 0; i < levels; ++i)
        for (int j = 0; j < levels; ++j) {
          const double a = amplitude[as_size(i)], b = amplitude[as_size(j)];
          const double metric = a * a * gram[q][0] + 2 * a * b * gram[q][1] + b * b * gram[q][2] -
                                2 * (a * z0 + b * z1) + level_costs[q][as_size(i)] +
                                level_costs[2 + q][as_size(j)];
          double &one = least_of[q][as_size(i)], &two = least_of[2 + q][as_size(j)];
          one = std::min(one, metric);
          two = std::min(two, metric);
          if (metric < best[q]) {
            best[q] = metric;
            chosen[q][0] = i;
            chosen[q][1] = j;
          }
        }
    }
    for (std::size_t d = 0; d < 4; ++d)
      for (std::size_t l = 0; l < as_size(levels); ++l)
        of_level[d][l] = std::min(of_level[d][l], base + best[1 - d % 2] + least_of[d][l]);
    const double metric = base + best[0] + best[1];
    if (symbols == 4) {
      double &one = least[2][as_size(s / m)], &two = least[3][as_size(s % m)];
      one = std::min(one, metric);
      two = std::min(two, metric);
    }
    if (metric < answer.metric) {
      answer.metric = metric;
      answer.symbols = {joined(chosen[0][0], chosen[1][0]), joined(chosen[0][1], chosen[1][1])};
      if (symbols == 4) {
        answer.symbols.push_back(s / m);
        answer.symbols.push_back(s % m);
      }
    }
  }
  // A bit of one dimension has the same least metric whatever the other dimension is: LLRs level by level.
  std::vector<double> llr;
  for (std::size_t k = 0; k < 2; ++k)
    for (int b = 0; b < 2 * half; ++b) {
      double found[2] = {infinity, infinity};
      for (int l = 0; l < levels; ++l) {
        double& kept = found[(l >> (half - 1 - b / 2)) & 1];
        kept = std::min(kept, of_level[2 * k + as_size(b % 2)][as_size(l)]);
      }
      llr.push_back((found[1] - found[0]) / use.n0);
    }
  if (symbols == 4) {
    const std::vector<double> others = llrs_of({least[2], least[3]}, m, use.n0);
    llr.insert(llr.end(), others.begin(), others.end());
  }
  answer.llr = llr;
  return answer;
}

stbc_answer stbc_combining(const stbc_use& use, int rx) {
  const std::size_t n = as_size(use.code.antennas()), antennas = as_size(rx);
  if (!use.code.over_subcarriers() || use.h.size() != n * n * antennas || use.y.size() != n * antennas)
    throw std::invalid_argument("oracle: combining of another code, or of other shapes");
  const auto points = constellation(use.points);
  const double amplitude = std::sqrt(static_cast<double>(n) / 2);
  std::vector<vector> least(as_size(use.code.symbols()), vector(as_size(use.points), infinity));
  stbc_answer answer;
  for (std::size_t pair = 0; pair < n / 2; ++pair) {
    const auto gain = [&](std::size_t subcarrier, std::size_t r, std::size_t antenna) {
      return amplitude * use.h[((2 * pair + subcarrier) * antennas + r) * n + pair + antenna * n / 2];
    };
    std::vector<std::array<complex, 2>> g;
    std::vector<complex> y;
    for (std::size_t r = 0; r < antennas; ++r) {
      g.push_back({gain(0, r, 0), -gain(0, r, 1)});
      y.push_back(use.y[2 * pair * antennas + r]);
      g.push_back({std::conj(gain(1, r, 1)), std::conj(gain(1, r, 0))});
      y.push_back(std::conj(use.y[(2 * pair + 1) * antennas + r]));
    }
    complex matched[2] = {}, gram[2][2] = {};
    for (std::size_t i = 0; i < y.size(); ++i)
      for (std::size_t k = 0; k < 2; ++k) {
        matched[k] += std::conj(g[i][k]) * y[i];
        for (std::size_t l = 0; l < 2; ++l) gram[k][l] += std::conj(g[i][k]) * g[i][l];
      }
    for (std::size_t k = 0; k < 2; ++k) {
      const double power = gram[k][k].real(), noise = use.n0 + std::norm(gram[k][1 - k]) / power;
      const std::size_t symbol = 2 * pair + k;
      const vector costs = costs_of(use, static_cast<int>(symbol));
      int best = 0;
      for (int x = 0; x < use.points; ++x) {
        const complex sent = k == 0 ? points[as_size(x)] : std::conj(points[as_size(x)]);
        // As LLRs are divided by N0.
        least[symbol][as_size(x)] =
            std::norm(matched[k] / power - sent) * power / noise * use.n0 + costs[as_size(x)];
        if (least[symbol][as_size(x)] < least[symbol][as_size(best)]) best = x;
      }
      answer.symbols.push_back(best);
    }
  }
  answer.llr = llrs_of(least, use.points, use.n0);
  return answer;
}

std::vector<int> stbc_literal(const stbc_use& use) {
  check(use);
  if (use.code.kind != space_time::pair)
    throw std::invalid_argument("oracle: the literal search takes pair codes");
  const auto points = constellation(use.points);
  const int m = use.points;
  const std::size_t rx = as_size(use.rx());
  const double half = 1 / std::sqrt(2.0);
  // Eq. 9, with the second slot conjugated; h and its turn by V.
  std::vector<std::array<complex, 2>> p, q;
  std::vector<complex> r;
  double norm = 0;
  const auto& v = use.code.v;
  for (std::size_t a = 0; a < rx; ++a) {
    const complex h1 = half * use.h[2 * a], h2 = half * use.h[2 * a + 1];
    const complex f1 = h1 * v[0] + h2 * v[2], f2 = h1 * v[1] + h2 * v[3];
    p.push_back({h1, h2});
    p.push_back({std::conj(h2), -std::conj(h1)});
    q.push_back({f1, f2});
    q.push_back({std::conj(f2), -std::conj(f1)});
    r.push_back(use.y[a]);
    r.push_back(std::conj(use.y[rx + a]));
    norm += std::norm(h1) + std::norm(h2);
  }
  double least = infinity;
  std::vector<int> best;
  for (int x3 = 0; x3 < m; ++x3)
    for (int x4 = 0; x4 < m; ++x4) {
      std::array<complex, 2> c = {};
      for (std::size_t i = 0; i < r.size(); ++i) {
        const complex rest = r[i] - q[i][0] * points[as_size(x3)] - q[i][1] * points[as_size(x4)];
        c[0] += std::conj(p[i][0]) * rest / norm;
        c[1] += std::conj(p[i][1]) * rest / norm;
      }
      std::vector<int> symbols;
      for (const complex& entry : c) {
        int nearest = 0;
        for (int x = 1; x < m; ++x)
          if (std::norm(entry - points[as_size(x)]) < std::norm(entry - points[as_size(nearest)]))
            nearest = x;
        symbols.push_back(nearest);
      }
      symbols.push_back(x3);
      symbols.push_back(x4);
      const double metric = stbc_metric(use, symbols);
      if (metric < least) {
        least = metric;
        best = symbols;
      }
    }
  return best;
}

}  // namespace oracle
