#include <oracle/bch.hpp>

#include <cstddef>

namespace oracle {
namespace {

using polynomial = std::vector<std::uint8_t>;  // over GF(2), from x^0 on

/// GF(2^m) by discrete logarithms.
class field {
 public:
  field(int m, unsigned p) : power_((std::size_t{1} << m) - 1), logarithm_(std::size_t{1} << m) {
    unsigned x = 1;
    for (std::size_t e = 0; e < power_.size(); e++) {
      power_[e] = x;
      logarithm_[x] = e;
      x *= 2;
      if (x > power_.size()) x ^= p;
    }
  }
  std::size_t order() const { return power_.size(); }
  unsigned power(std::size_t e) const { return power_[e % order()]; }
  unsigned times(unsigned a, unsigned b) const {
    return a == 0 || b == 0 ? 0 : power(logarithm_[a] + logarithm_[b]);
  }
  unsigned inverse(unsigned a) const { return power(order() - logarithm_[a]); }

 private:
  std::vector<unsigned> power_;
  std::vector<std::size_t> logarithm_;
};

/// The polynomial of least degree of which b is a root: 1, b, b^2, ... up to the first that depends on
/// others.
polynomial minimal_polynomial(const field& f, unsigned b) {
  struct row {
    unsigned value;
    polynomial sum;  // of which powers
  };
  std::vector<row> rows;
  unsigned x = 1;
  for (std::size_t degree = 0;; degree++, x = f.times(x, b)) {
    row r{x, polynomial(degree + 1)};
    r.sum[degree] = 1;
    for (const row& other : rows)
      if ((r.value ^ other.value) < r.value) {
        r.value ^= other.value;
        for (std::size_t i = 0; i < other.sum.size(); i++) r.sum[i] ^= other.sum[i];
      }
    if (r.value == 0) return r.sum;
    rows.push_back(r);
  }
}

polynomial product(const polynomial& a, const polynomial& b) {
  polynomial p(a.size() + b.size() - 1);
  for (std::size_t i = 0; i < a.size(); i++)
    for (std::size_t j = 0; j < b.size(); j++) p[i + j] ^= static_cast<std::uint8_t>(a[i] & b[j]);
  return p;
}
unsigned value_of(const field& f, const polynomial& p, unsigned x) {
  unsigned sum = 0;
  for (std::size_t i = p.size(); i-- > 0;) sum = f.times(sum, x) ^ p[i];
  return sum;
}

/// The solution of a x = b, or nothing if a is singular.
std::optional<std::vector<unsigned>> solved(const field& f, std::vector<std::vector<unsigned>> a,
                                            std::vector<unsigned> b) {
  const std::size_t n = b.size();
  for (std::size_t c = 0; c < n; c++) {
    std::size_t r = c;
    while (r < n && a[r][c] == 0) r++;
    if (r == n) return std::nullopt;
    std::swap(a[r], a[c]);
    std::swap(b[r], b[c]);
    const unsigned inverse = f.inverse(a[c][c]);
    for (auto& x : a[c]) x = f.times(x, inverse);
    b[c] = f.times(b[c], inverse);
    for (r = 0; r < n; r++) {
      const unsigned factor = a[r][c];
      if (r == c || factor == 0) continue;
      for (std::size_t j = 0; j < n; j++) a[r][j] ^= f.times(factor, a[c][j]);
      b[r] ^= f.times(factor, b[c]);
    }
  }
  return b;
}

}  // namespace

std::vector<std::uint8_t> bch_generator(const bch& code) {
  const field f(code.m, code.polynomial);
  polynomial g{1};
  for (int i = 1; i < 2 * code.t; i += 2) {
    const unsigned root = f.power(static_cast<std::size_t>(i));
    if (value_of(f, g, root) != 0) g = product(g, minimal_polynomial(f, root));
  }
  return g;
}

std::vector<std::uint8_t> bch_encode(const bch& code, const std::vector<std::uint8_t>& bits) {
  const polynomial g = bch_generator(code);
  polynomial word = bits;
  word.resize(static_cast<std::size_t>(code.n));
  const polynomial shifted = word;
  for (std::size_t i = 0; i + g.size() <= word.size(); i++)
    if (word[i] != 0)
      for (std::size_t j = 0; j < g.size(); j++) word[i + j] ^= g[g.size() - 1 - j];
  for (std::size_t i = 0; i < word.size(); i++) word[i] ^= shifted[i];
  return word;
}

std::optional<std::vector<std::uint8_t>> bch_decode(const bch& code, const std::vector<std::uint8_t>& word) {
  const field f(code.m, code.polynomial);
  const std::size_t n = word.size(), t = static_cast<std::size_t>(code.t);
  const auto syndromes_of = [&](const std::vector<std::uint8_t>& w) {
    std::vector<unsigned> s(2 * t + 1);
    for (std::size_t j = 1; j <= 2 * t; j++)
      for (std::size_t i = 0; i < n; i++)
        if (w[i] != 0) s[j] ^= f.power(j * (n - 1 - i));
    return s;
  };
  const std::vector<unsigned> s = syndromes_of(word), zero(2 * t + 1);
  if (s == zero) return word;
  for (std::size_t errors = 1; errors <= t; errors++) {
    std::vector<std::vector<unsigned>> a(errors, std::vector<unsigned>(errors));
    std::vector<unsigned> b(errors);
    for (std::size_t i = 0; i < errors; i++) {
      for (std::size_t j = 0; j < errors; j++) a[i][j] = s[i + errors - j];
      b[i] = s[i + errors + 1];
    }
    const auto locator = solved(f, a, b);  // coefficients of x, x^2, ...
    if (!locator) continue;
    std::vector<std::uint8_t> corrected = word;
    std::size_t roots = 0;
    for (std::size_t i = 0; i < n; i++) {
      const std::size_t inverse = f.order() - (n - 1 - i);
      unsigned value = 1;
      for (std::size_t j = 1; j <= errors; j++) value ^= f.times((*locator)[j - 1], f.power(j * inverse));
      if (value == 0) {
        corrected[i] ^= 1;
        roots++;
      }
    }
    if (roots == errors && syndromes_of(corrected) == zero) return corrected;
  }
  return std::nullopt;
}

}  // namespace oracle
