#include <oracle/fixed_point.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include <oracle/as_size.hpp>
#include <oracle/modem.hpp>

namespace oracle {
namespace {

using integer = std::int64_t;
struct gaussian {
  integer re = 0, im = 0;
};
using column = std::vector<gaussian>;

/// Words are integers m; their scale is implied.
class word_arithmetic {
 public:
  explicit word_arithmetic(words format)
      : one(integer{1} << format.fraction), greatest_((integer{1} << (format.length - 1)) - 1) {
    if (format.length < 2 || format.length > 16 || format.fraction < 0 || format.fraction >= format.length)
      throw std::invalid_argument("oracle: no format of words");
  }
  integer one;  // 2^fraction: the word of 1

  integer saturated(integer m) const { return std::clamp(m, -greatest_, greatest_); }
  /// The word nearest to a / b.
  integer quotient(integer a, integer b) const {
    const integer floor = a >= 0 ? a / b : -((-a + b - 1) / b), rest = a - floor * b;
    const bool up = 2 * rest > b || (2 * rest == b && floor % 2 != 0);
    return saturated(floor + (up ? 1 : 0));
  }
  gaussian quotient(gaussian a, integer b) const { return {quotient(a.re, b), quotient(a.im, b)}; }
  /// Of a product of two words, or of a sum of products.
  template <class X>
  X word(X product) const {
    return quotient(product, one);
  }
  /// The square root of a sum of squares; it is never halfway between two words.
  integer root(integer square) const {
    auto m = static_cast<integer>(std::sqrt(static_cast<double>(square)));
    while (m * m > square) --m;
    while ((m + 1) * (m + 1) <= square) ++m;
    return saturated(square > m * m + m ? m + 1 : m);
  }
  integer word_of(double x) const {
    const double bound = static_cast<double>(greatest_);
    return static_cast<integer>(std::nearbyint(std::clamp(x * static_cast<double>(one), -bound, bound)));
  }

 private:
  integer greatest_;
};

gaussian product(gaussian a, gaussian b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
gaussian plus(gaussian a, gaussian b, integer sign = 1) { return {a.re + sign * b.re, a.im + sign * b.im}; }
integer square(gaussian a) { return a.re * a.re + a.im * a.im; }

/// What a detector works on, in words.
struct word_use {
  std::vector<column> h;
  column y;
  integer n0 = 1;
};
word_use in_words(const mimo_use& use, const word_arithmetic& w) {
  word_use r;
  const double spacing = (use.points - 1) / 6.0;
  const auto root = static_cast<float>(std::sqrt(spacing));
  const int n = use.streams();
  for (const auto& y : use.y)
    r.y.push_back(
        {w.word_of(root * static_cast<float>(y.real())), w.word_of(root * static_cast<float>(y.imag()))});
  for (int k = 0; k < n; ++k) {
    column c;
    for (std::size_t i = 0; i < use.y.size(); ++i) {
      const auto h = use.h[i * as_size(n) + as_size(k)];
      c.push_back({w.word_of(h.real()), w.word_of(h.imag())});
    }
    r.h.push_back(c);
  }
  r.n0 = std::max<integer>(w.word_of(static_cast<float>(spacing) * static_cast<float>(use.n0)), 1);
  return r;
}

/// Modified Gram-Schmidt. `h` become the columns of Q.
struct word_triangle {
  bool regular = true;
  std::vector<column> r;  // r[i][j], j > i
  std::vector<integer> diagonal;
  column z;
};
word_triangle triangular(std::vector<column>& h, column y, const word_arithmetic& w) {
  const std::size_t n = h.size();
  word_triangle t;
  t.r.assign(n, column(n));
  const auto project = [&](const column& q, column& v) {
    gaussian s;
    for (std::size_t r = 0; r < v.size(); ++r) s = plus(s, product({q[r].re, -q[r].im}, v[r]));
    s = w.word(s);
    for (std::size_t r = 0; r < v.size(); ++r)
      v[r] = w.word(plus({v[r].re * w.one, v[r].im * w.one}, product(s, q[r]), -1));
    return s;
  };
  for (std::size_t i = 0; i < n; ++i) {
    integer norm = 0;
    for (const gaussian& e : h[i]) norm += square(e);
    t.regular = t.regular && norm > 0;
    if (!t.regular) return t;
    t.diagonal.push_back(w.root(norm));
    for (gaussian& e : h[i]) e = w.quotient({e.re * w.one, e.im * w.one}, t.diagonal[i]);
    for (std::size_t j = i + 1; j < n; ++j) t.r[i][j] = project(h[i], h[j]);
    t.z.push_back(project(h[i], y));
  }
  return t;
}

/// Amplitudes of a dimension from the largest down, as odd multiples of 1/2, and the symbol of two of them.
struct lattice_points {
  explicit lattice_points(int points) : levels(static_cast<int>(std::lround(std::sqrt(points)))) {
    symbol.assign(as_size(points), -1);
    const auto alphabet = constellation(points);
    const double half = std::sqrt(1.5 / (points - 1));
    const auto step = [&](double x) { return static_cast<int>(std::lround((levels - 1 - x / half) / 2)); };
    for (int q = 0; q < points; ++q) {
      const auto point = alphabet[as_size(q)];
      symbol[as_size(step(point.real()) * levels + step(point.imag()))] = q;
    }
  }
  int levels;
  std::vector<int> symbol;

  integer twice(int step) const { return levels - 1 - 2 * step; }
  int bits() const {
    int m = 0;
    while (1 << m < levels * levels) ++m;
    return m;
  }
};

struct word_hypotheses {
  static constexpr integer none = std::numeric_limits<integer>::max();
  std::vector<integer> least[2];

  explicit word_hypotheses(int bits) { least[0].assign(as_size(bits), none), least[1] = least[0]; }
  void add(int bit, int value, integer metric) {
    integer& l = least[value][as_size(bit)];
    l = std::min(l, metric);
  }
  bool missing(int bit, int value) const { return least[value][as_size(bit)] == none; }
};

double limited(integer m, const word_arithmetic& w, double clip) {
  return std::clamp(static_cast<double>(m) / static_cast<double>(w.one), -clip, clip);
}

}  // namespace

std::vector<double> detect_nway_in_words(const mimo_use& use, int ways, double clip, words format) {
  const word_arithmetic w(format);
  const word_use u = in_words(use, w);
  const lattice_points lattice(use.points);
  const int n = use.streams(), m = lattice.bits(), levels = lattice.levels;
  const integer unit = 4 * w.one;  // of squared errors in half steps: one step
  word_hypotheses found(n * m);
  // Costs of the steps of a dimension: real parts have the even bits.
  const auto cost = [&](int stream, int step, int odd) -> integer {
    if (use.prior.empty()) return 0;
    const int q = lattice.symbol[as_size(odd != 0 ? step : step * levels)];
    double sum = 0;
    for (int b = odd; b < m; b += 2) {
      const double p = use.prior[as_size(stream * m + b)];
      const bool bit = (q >> (m - 1 - b) & 1) != 0;
      if (bit == (p > 0)) sum += std::fabs(p);
    }
    return w.word_of(sum * static_cast<double>(u.n0) / static_cast<double>(w.one));
  };
  for (int pass = 0; pass < ways; ++pass) {
    std::vector<int> order;
    std::vector<column> h;
    for (int k = 0; k < n; ++k) {
      order.push_back((pass + 1 + k) % n);
      h.push_back(u.h[as_size(order.back())]);
    }
    const word_triangle t = triangular(h, u.y, w);
    if (!t.regular) return {};
    for (int first = 0; first < use.points; ++first) {
      std::vector<int> re(as_size(n)), im(as_size(n));
      integer metric = 0;
      for (int k = n - 1; k >= 0; --k) {
        gaussian rest = {2 * t.z[as_size(k)].re, 2 * t.z[as_size(k)].im};
        for (int j = k + 1; j < n; ++j)
          rest = plus(rest,
                      product(t.r[as_size(k)][as_size(j)],
                              {lattice.twice(re[as_size(j)]), lattice.twice(im[as_size(j)])}),
                      -1);
        const int stream = order[as_size(k)];
        const auto part = [&](integer of_rest, int odd, int step) {
          const integer error = of_rest - t.diagonal[as_size(k)] * lattice.twice(step);
          return error * error + unit * cost(stream, step, odd);
        };
        const auto nearest = [&](integer of_rest, int odd) {
          int best = 0;
          for (int step = 1; step < levels; ++step)
            if (part(of_rest, odd, step) < part(of_rest, odd, best)) best = step;
          return best;
        };
        re[as_size(k)] = k == n - 1 ? first / levels : nearest(rest.re, 0);
        im[as_size(k)] = k == n - 1 ? first % levels : nearest(rest.im, 1);
        metric = w.quotient(
            unit * metric + part(rest.re, 0, re[as_size(k)]) + part(rest.im, 1, im[as_size(k)]), unit);
      }
      for (int k = 0; k < n; ++k) {
        const int q = lattice.symbol[as_size(re[as_size(k)] * levels + im[as_size(k)])];
        for (int b = 0; b < m; ++b) found.add(order[as_size(k)] * m + b, q >> (m - 1 - b) & 1, metric);
      }
    }
  }
  std::vector<double> llrs;
  for (int bit = 0; bit < n * m; ++bit) {
    const bool missing = found.missing(bit, 0) || found.missing(bit, 1);
    const integer far = integer{1} << 30;
    const integer apart = !missing ? found.least[1][as_size(bit)] - found.least[0][as_size(bit)]
                          : found.missing(bit, 1) ? far
                                                  : -far;
    llrs.push_back(limited(w.quotient(apart * w.one, u.n0), w, clip));
  }
  return llrs;
}

std::vector<double> detect_mmse_in_words(const mimo_use& use, double clip, words format) {
  const word_arithmetic w(format);
  word_use u = in_words(use, w);
  const lattice_points lattice(use.points);
  const int n = use.streams(), m = lattice.bits();
  const std::size_t rows = u.y.size();
  const integer sigma = w.word_of(std::sqrt(static_cast<float>(use.n0)));
  u.y.resize(rows + as_size(n));
  for (int k = 0; k < n; ++k) {
    u.h[as_size(k)].resize(rows + as_size(n));
    u.h[as_size(k)][rows + as_size(k)] = {sigma, 0};
  }
  const word_triangle t = triangular(u.h, u.y, w);
  if (!t.regular) return {};
  column x(as_size(n));
  for (int k = n - 1; k >= 0; --k) {
    gaussian rest = {t.z[as_size(k)].re * w.one, t.z[as_size(k)].im * w.one};
    for (int j = k + 1; j < n; ++j)
      rest = plus(rest, product(t.r[as_size(k)][as_size(j)], x[as_size(j)]), -1);
    x[as_size(k)] = w.quotient(rest, t.diagonal[as_size(k)]);
  }
  std::vector<double> llrs;
  for (int k = 0; k < n; ++k) {
    integer error = 0;
    for (int j = k; j < n; ++j) error += square(u.h[as_size(j)][rows + as_size(k)]);
    const integer gain = std::max<integer>(w.word(w.one * w.one - error), 1);
    const integer noise = std::max<integer>(w.quotient(error * ((use.points - 1) / 3), 2 * w.one), 1);
    const gaussian& e = x[as_size(k)];
    const gaussian estimate = w.quotient({e.re * w.one, e.im * w.one}, gain);
    word_hypotheses found(m);
    for (int re = 0; re < lattice.levels; ++re)
      for (int im = 0; im < lattice.levels; ++im) {
        const int q = lattice.symbol[as_size(re * lattice.levels + im)];
        const gaussian off = {2 * estimate.re - lattice.twice(re) * w.one,
                              2 * estimate.im - lattice.twice(im) * w.one};
        for (int b = 0; b < m; ++b) found.add(b, q >> (m - 1 - b) & 1, square(off));
      }
    for (int b = 0; b < m; ++b) {
      const integer apart = w.quotient(found.least[1][as_size(b)] - found.least[0][as_size(b)], 4 * w.one);
      llrs.push_back(limited(w.quotient(apart * gain, noise), w, clip));
    }
  }
  return llrs;
}

}  // namespace oracle
