#include <oracle/mimo.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <utility>

#include <oracle/as_size.hpp>
#include <oracle/modem.hpp>

namespace oracle {
namespace {

using complex = std::complex<double>;
using symbols = std::vector<int>;  // an index into the constellation for each stream

int bits_of(int points) {
  int m = 0;
  while ((1 << m) < points) ++m;
  return m;
}

void check(const mimo_use& use) {
  if (use.points == 2) throw std::invalid_argument("oracle: MIMO detectors take square constellations");
  const auto known = constellation(use.points);  // throws for another
  const int n = use.streams();
  if (n < 1 || use.h.size() != use.y.size() * as_size(n) || use.y.size() < as_size(n) || !(use.n0 > 0) ||
      (!use.prior.empty() && use.prior.size() != as_size(use.bits())))
    throw std::invalid_argument("oracle: a MIMO use with shapes or noise that cannot be");
}

/// Amplitudes of one real dimension, indexed by its bits: the real parts of the points whose other bits are
/// 0.
std::vector<double> amplitudes(int points) {
  const int m = bits_of(points);
  const auto alphabet = constellation(points);
  std::vector<double> a;
  for (int index = 0; index < 1 << m / 2; ++index) {
    int symbol = 0;
    for (int b = 0; b < m / 2; ++b) symbol |= ((index >> b) & 1) << (2 * b + 1);
    a.push_back(alphabet[as_size(symbol)].real());
  }
  return a;
}
/// The symbol whose bits are those of two amplitudes, in turns.
int joined(int real_index, int imaginary_index, int points) {
  int symbol = 0;
  for (int b = 0; b < bits_of(points) / 2; ++b)
    symbol |= ((real_index >> b) & 1) << (2 * b + 1) | ((imaginary_index >> b) & 1) << (2 * b);
  return symbol;
}

/// -ln of the a-priori probability of one bit, up to a constant.
double bit_cost(const mimo_use& use, int bit, int value) {
  return !use.prior.empty() && value != 0 ? use.prior[as_size(bit)] : 0.0;
}
double symbol_cost(const mimo_use& use, int stream, int symbol) {
  const int m = bits_of(use.points);
  double cost = 0;
  for (int b = 0; b < m; ++b) cost += bit_cost(use, stream * m + b, (symbol >> (m - 1 - b)) & 1);
  return cost;
}

/// -ln P(y, s), up to a constant.
double metric(const mimo_use& use, const std::vector<complex>& points, const symbols& s) {
  const int n = use.streams();
  double sum = 0;
  for (int r = 0; as_size(r) < use.y.size(); ++r) {
    complex rest = use.y[as_size(r)];
    for (int k = 0; k < n; ++k) rest -= use.h[as_size(r * n + k)] * points[as_size(s[as_size(k)])];
    sum += std::norm(rest) / use.n0;
  }
  for (int k = 0; k < n; ++k) sum += symbol_cost(use, k, s[as_size(k)]);
  return sum;
}

/// The least metric of each hypothesis.
class hypotheses {
 public:
  explicit hypotheses(const mimo_use& use)
      : m_(bits_of(use.points)), least_(as_size(2 * use.bits()), static_cast<double>(INFINITY)) {}
  void add_stream(int stream, int symbol, double value) {
    for (int b = 0; b < m_; ++b) {
      double& least = least_[as_size(2 * (stream * m_ + b) + ((symbol >> (m_ - 1 - b)) & 1))];
      least = std::min(least, value);
    }
  }
  void add(const symbols& s, double value) {
    for (int k = 0; as_size(k) < s.size(); ++k) add_stream(k, s[as_size(k)], value);
  }
  std::vector<double> llrs(double clip) const {
    std::vector<double> out;
    for (std::size_t b = 0; 2 * b < least_.size(); ++b) {
      const double zero = least_[2 * b], one = least_[2 * b + 1];
      out.push_back(std::isinf(one) ? clip : std::isinf(zero) ? -clip : std::clamp(one - zero, -clip, clip));
    }
    return out;
  }

 private:
  int m_;
  std::vector<double> least_;
};

/// R and Q^H y of the matrix with the given columns of H, by Gram-Schmidt.
struct triangle {
  std::vector<std::vector<complex>> r;
  std::vector<complex> z;
};
triangle triangular(const mimo_use& use, const std::vector<int>& order) {
  const std::size_t n = order.size(), rows = use.y.size();
  std::vector<std::vector<complex>> columns(n + 1, use.y);
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t r = 0; r < rows; ++r) columns[k][r] = use.h[r * n + as_size(order[k])];
  triangle t{std::vector<std::vector<complex>>(n, std::vector<complex>(n)), std::vector<complex>(n)};
  for (std::size_t k = 0; k < n; ++k) {
    double length = 0;
    for (const complex& x : columns[k]) length += std::norm(x);
    length = std::sqrt(length);
    for (complex& x : columns[k]) x /= length;
    t.r[k][k] = length;
    for (std::size_t j = k + 1; j <= n; ++j) {
      complex along = 0;
      for (std::size_t r = 0; r < rows; ++r) along += std::conj(columns[k][r]) * columns[j][r];
      for (std::size_t r = 0; r < rows; ++r) columns[j][r] -= along * columns[k][r];
      (j < n ? t.r[k][j] : t.z[k]) = along;
    }
  }
  return t;
}
std::vector<int> natural_order(const mimo_use& use) {
  std::vector<int> order;
  for (int k = 0; k < use.streams(); ++k) order.push_back(k);
  return order;
}

/// A path through the levels; symbols of levels not yet reached are not read.
struct path {
  symbols s;
  double cost = 0;
};
/// z_k minus what the levels above give.
complex left_over(const triangle& t, const symbols& s, int level, const std::vector<complex>& points) {
  complex rest = t.z[as_size(level)];
  for (int j = level + 1; as_size(j) < t.z.size(); ++j)
    rest -= t.r[as_size(level)][as_size(j)] * points[as_size(s[as_size(j)])];
  return rest;
}
/// Paths in natural order.
class tree {
 public:
  explicit tree(const mimo_use& use)
      : points(constellation(use.points)), use_(use), t_(triangular(use, natural_order(use))) {}
  path root() const { return {symbols(t_.z.size()), 0}; }
  /// The cost of a path with one more symbol.
  double cost(const path& p, int stream, int symbol) const {
    const complex off =
        left_over(t_, p.s, stream, points) - t_.r[as_size(stream)][as_size(stream)] * points[as_size(symbol)];
    return p.cost + std::norm(off) / use_.n0 + symbol_cost(use_, stream, symbol);
  }
  path grown(path p, int stream, int symbol) const {
    p.cost = cost(p, stream, symbol);
    p.s[as_size(stream)] = symbol;
    return p;
  }
  const std::vector<complex> points;

 private:
  const mimo_use& use_;
  triangle t_;
};
bool cheaper(const path& a, const path& b) { return a.cost < b.cost; }

/// H as a real matrix with the parts of a stream side by side, columns in the given order, and y: columns of
/// twice the rows, y the last.
std::vector<std::vector<double>> real_columns(const mimo_use& use, const std::vector<int>& order) {
  const std::size_t n = order.size();
  std::vector<std::vector<double>> columns(2 * n + 1);
  for (std::size_t r = 0; r < use.y.size(); ++r) {
    for (std::size_t k = 0; k < n; ++k) {
      const complex h = use.h[r * n + as_size(order[k])];
      columns[2 * k].insert(columns[2 * k].end(), {h.real(), h.imag()});
      columns[2 * k + 1].insert(columns[2 * k + 1].end(), {-h.imag(), h.real()});
    }
    columns[2 * n].insert(columns[2 * n].end(), {use.y[r].real(), use.y[r].imag()});
  }
  return columns;
}
/// Rows of [R | Q^T y], by Gram-Schmidt.
std::vector<std::vector<double>> real_triangular(std::vector<std::vector<double>> columns) {
  const std::size_t n = columns.size() - 1;
  std::vector<std::vector<double>> e(n, std::vector<double>(n + 1));
  for (std::size_t k = 0; k < n; ++k) {
    double length = 0;
    for (double x : columns[k]) length += x * x;
    length = std::sqrt(length);
    e[k][k] = length;
    for (std::size_t j = k + 1; j <= n; ++j) {
      for (std::size_t r = 0; r < columns[k].size(); ++r) e[k][j] += columns[k][r] * columns[j][r] / length;
      for (std::size_t r = 0; r < columns[k].size(); ++r) columns[j][r] -= e[k][j] * columns[k][r] / length;
    }
  }
  return e;
}

std::vector<double> kbest_of_streams(const mimo_use& use, int survivors, double clip) {
  const tree t(use);
  std::vector<path> paths{t.root()};
  for (int k = use.streams() - 1; k >= 0; --k) {
    std::vector<path> next;
    for (const path& p : paths)
      for (int q = 0; q < use.points; ++q) next.push_back(t.grown(p, k, q));
    std::stable_sort(next.begin(), next.end(), cheaper);
    if (next.size() > as_size(survivors)) next.resize(as_size(survivors));
    paths = next;
  }
  hypotheses found(use);
  for (const path& p : paths) found.add(p.s, metric(use, t.points, p.s));
  return found.llrs(clip);
}

std::vector<double> kbest_of_dimensions(const mimo_use& use, int survivors, double clip) {
  const int n = use.streams(), m = bits_of(use.points);
  const auto e = real_triangular(real_columns(use, natural_order(use)));
  const auto points = constellation(use.points);
  const auto levels = amplitudes(use.points);
  std::vector<path> paths{{symbols(as_size(2 * n)), 0}};  // an amplitude for each dimension
  for (int d = 2 * n - 1; d >= 0; --d) {
    std::vector<path> next;
    for (const path& p : paths)
      for (int a = 0; as_size(a) < levels.size(); ++a) {
        path child = p;
        child.s[as_size(d)] = a;
        double rest = e[as_size(d)][as_size(2 * n)];
        for (int j = d; j < 2 * n; ++j)
          rest -= e[as_size(d)][as_size(j)] * levels[as_size(child.s[as_size(j)])];
        child.cost += rest * rest / use.n0;
        for (int b = 0; b < m / 2; ++b)
          child.cost += bit_cost(use, d / 2 * m + 2 * b + d % 2, (a >> (m / 2 - 1 - b)) & 1);
        next.push_back(child);
      }
    std::stable_sort(next.begin(), next.end(), cheaper);
    if (next.size() > as_size(survivors)) next.resize(as_size(survivors));
    paths = next;
  }
  hypotheses found(use);
  for (const path& p : paths) {
    symbols s;
    for (int k = 0; k < n; ++k) s.push_back(joined(p.s[as_size(2 * k)], p.s[as_size(2 * k + 1)], use.points));
    found.add(s, metric(use, points, s));
  }
  return found.llrs(clip);
}

/// Single tree search. `least_` has for each bit and value the best candidate that has it.
class single_tree {
 public:
  single_tree(const mimo_use& use, const sphere& how, double clip)
      : use_(use),
        how_(how),
        clip_(clip),
        n_(use.streams()),
        m_(bits_of(use.points)),
        points_(constellation(use.points)),
        levels_(amplitudes(use.points)),
        t_(triangular(use, natural_order(use))),
        radius_(how.radius > 0 ? how.radius : static_cast<double>(INFINITY)),
        path_(as_size(n_)),
        best_(as_size(n_)),
        least_(as_size(2 * use.bits()), static_cast<double>(INFINITY)) {}

  sphere_result run() {
    extend(n_ - 1, 0);
    if (least_of_all_ >= radius_) {
      radius_ = INFINITY;
      extend(n_ - 1, 0);
    }
    sphere_result result{{}, visited_};
    for (int b = 0; b < use_.bits(); ++b) {
      const auto inside = [&](int value) {
        const double cost = least_[as_size(2 * b + value)];
        return cost < radius_ ? cost : static_cast<double>(INFINITY);
      };
      const double zero = inside(0), one = inside(1);
      if (how_.hard)
        result.llrs.push_back(bit(best_, b) != 0 ? -clip_ : clip_);
      else
        result.llrs.push_back(std::isinf(one)    ? clip_
                              : std::isinf(zero) ? -clip_
                                                 : std::clamp(one - zero, -clip_, clip_));
    }
    return result;
  }

 private:
  int bit(const symbols& s, int b) const { return (s[as_size(b / m_)] >> (m_ - 1 - b % m_)) & 1; }
  bool spent() const {
    return how_.node_limit > 0 && visited_ >= how_.node_limit &&
           !(std::isinf(least_of_all_) && std::isinf(radius_));
  }

  /// Beyond this cost nothing below a node of stream k counts, for some or for the path's symbol.
  double bound(int k, bool any_symbol) const {
    if (how_.hard) return std::min(least_of_all_, radius_);
    double farthest = 0;
    for (int b = 0; b < use_.bits(); ++b) {
      const int stream = b / m_;
      const bool open = stream < k || (stream == k && any_symbol);
      if (open)
        farthest = std::max({farthest, least_[as_size(2 * b)], least_[as_size(2 * b + 1)]});
      else if (bit(path_, b) != bit(best_, b))
        farthest = std::max(farthest, least_[as_size(2 * b + bit(path_, b))]);
    }
    if (std::isinf(least_of_all_)) farthest = INFINITY;
    return std::min({farthest, least_of_all_ + clip_, radius_});
  }
  /// Costs of the amplitudes of a dimension.
  std::vector<double> costs(int k, double rest, int dimension) const {
    std::vector<double> result;
    const double gain = t_.r[as_size(k)][as_size(k)].real();
    for (int a = 0; as_size(a) < levels_.size(); ++a) {
      const double off = rest - gain * levels_[as_size(a)];
      double cost = off * off / use_.n0;
      for (int b = 0; b < m_ / 2 && !use_.prior.empty(); ++b) {
        const double prior = use_.prior[as_size(k * m_ + 2 * b + dimension)];
        cost += std::max(((a >> (m_ / 2 - 1 - b)) & 1) != 0 ? prior : -prior, 0.0);
      }
      result.push_back(cost);
    }
    return result;
  }
  static std::vector<int> by_cost(const std::vector<double>& costs) {
    std::vector<int> order(costs.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return costs[as_size(a)] < costs[as_size(b)]; });
    return order;
  }

  void extend(int k, double above) {
    if (spent()) return;
    const complex rest = left_over(t_, path_, k, points_);
    const std::vector<double> re = costs(k, rest.real(), 0), im = costs(k, rest.imag(), 1);
    if (k == 0) {
      ++visited_;
      for (int a = 0; as_size(a) < levels_.size(); ++a)
        for (int b = 0; as_size(b) < levels_.size(); ++b) {
          path_[0] = joined(a, b, use_.points);
          add(above + re[as_size(a)] + im[as_size(b)]);
        }
      return;
    }
    for (const int a : by_cost(re)) {
      bool some = false;
      for (const int b : by_cost(im)) {
        if (spent()) return;
        const double cost = above + re[as_size(a)] + im[as_size(b)];
        if (cost >= bound(k, true)) break;
        some = true;
        path_[as_size(k)] = joined(a, b, use_.points);
        if (cost >= bound(k, false)) continue;
        ++visited_;
        extend(k - 1, cost);
      }
      if (!some) return;
    }
  }
  void add(double cost) {
    for (int b = 0; b < use_.bits(); ++b) {
      double& least = least_[as_size(2 * b + bit(path_, b))];
      least = std::min(least, cost);
    }
    if (cost >= least_of_all_) return;
    least_of_all_ = cost;
    best_ = path_;
  }

  const mimo_use& use_;
  sphere how_;
  double clip_;
  int n_, m_, visited_ = 0;
  std::vector<complex> points_;
  std::vector<double> levels_;
  triangle t_;
  double radius_, least_of_all_ = INFINITY;
  symbols path_, best_;
  std::vector<double> least_;
};

/// The inverse, by elimination with row pivots.
std::vector<std::vector<complex>> inverse(std::vector<std::vector<complex>> a) {
  const std::size_t n = a.size();
  for (std::size_t k = 0; k < n; ++k) {
    a[k].resize(2 * n);
    a[k][n + k] = 1;
  }
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i)
      if (std::abs(a[i][k]) > std::abs(a[pivot][k])) pivot = i;
    std::swap(a[k], a[pivot]);
    const complex factor = 1.0 / a[k][k];
    for (complex& x : a[k]) x *= factor;
    for (std::size_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const complex times = a[i][k];
      for (std::size_t j = 0; j < 2 * n; ++j) a[i][j] -= times * a[k][j];
    }
  }
  for (auto& row : a) row.erase(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(n));
  return a;
}

}  // namespace

int mimo_use::streams() const { return y.empty() ? 0 : static_cast<int>(h.size() / y.size()); }
int mimo_use::bits() const { return streams() * bits_of(points); }

std::vector<int> sorted_streams(const mimo_use& use, sorting rule) {
  const int n = use.streams();
  const auto columns = static_cast<std::size_t>(n), rows = use.y.size();
  std::vector<std::vector<std::complex<double>>> left(columns);  // of each column, outside the span
  for (std::size_t k = 0; k < columns; k++)
    for (std::size_t r = 0; r < rows; r++) left[k].push_back(use.h[r * columns + k]);
  const auto energy = [&](int k) {
    double sum = 0;
    for (const auto& x : left[static_cast<std::size_t>(k)]) sum += std::norm(x);
    return sum;
  };
  std::vector<int> order(columns);
  std::iota(order.begin(), order.end(), 0);
  if (rule != sorting::by_qr) {
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      return rule == sorting::falling_norm ? energy(a) > energy(b) : energy(a) < energy(b);
    });
    return order;
  }
  std::vector<int> taken;
  while (!order.empty()) {
    const auto next =
        std::min_element(order.begin(), order.end(), [&](int a, int b) { return energy(a) < energy(b); });
    auto unit = left[static_cast<std::size_t>(*next)];
    const double length = std::sqrt(energy(*next));
    for (auto& x : unit) x /= length;
    taken.push_back(*next);
    order.erase(next);
    for (const int k : order) {
      auto& v = left[static_cast<std::size_t>(k)];
      std::complex<double> along = 0;
      for (std::size_t r = 0; r < rows; r++) along += std::conj(unit[r]) * v[r];
      for (std::size_t r = 0; r < rows; r++) v[r] -= along * unit[r];
    }
  }
  return taken;
}

std::vector<int> fsd_order(const mimo_use& use, const std::vector<bool>& full) {
  const std::size_t n = as_size(use.streams()), rows = use.y.size();
  std::vector<std::size_t> left{0}, from_top;
  for (std::size_t k = n - 1; k > 0; k--) left.push_back(k);
  while (!left.empty()) {
    const std::size_t size = left.size();
    std::vector<std::vector<complex>> gram(size, std::vector<complex>(size));
    for (std::size_t i = 0; i < size; i++)
      for (std::size_t j = 0; j < size; j++)
        for (std::size_t r = 0; r < rows; r++)
          gram[i][j] += std::conj(use.h[r * n + left[i]]) * use.h[r * n + left[j]];
    const auto solved = inverse(gram);  // with the squared norms of the pseudo-inverse's rows on its diagonal
    std::size_t next = 0;
    for (std::size_t i = 1; i < size; i++) {
      const double norm = solved[i][i].real(), best = solved[next][next].real();
      if (full[size - 1] ? norm > best : norm < best) next = i;
    }
    from_top.push_back(left[next]);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(next));
  }
  std::vector<int> order;
  for (std::size_t k = 0; k < n; k++) order.push_back(static_cast<int>(from_top[(n - k) % n]));
  return order;
}

std::vector<double> detect_ml(const mimo_use& use, double clip) {
  check(use);
  const int n = use.streams();
  if (n * bits_of(use.points) > 20) throw std::invalid_argument("oracle: more than 2^20 candidates");
  const auto points = constellation(use.points);
  hypotheses found(use);
  // What is left of y when the symbols of streams 0 .. k - 1 are taken off.
  symbols s(as_size(n));
  const std::function<void(int, const std::vector<complex>&, double)> visit =
      [&](int k, const std::vector<complex>& rest, double cost) {
        if (k == n) {
          for (const complex& x : rest) cost += std::norm(x) / use.n0;
          found.add(s, cost);
          return;
        }
        std::vector<complex> next(rest.size());
        for (int q = 0; q < use.points; ++q) {
          s[as_size(k)] = q;
          for (std::size_t r = 0; r < rest.size(); ++r)
            next[r] = rest[r] - use.h[r * as_size(n) + as_size(k)] * points[as_size(q)];
          visit(k + 1, next, cost + symbol_cost(use, k, q));
        }
      };
  visit(0, use.y, 0);
  return found.llrs(clip);
}

std::vector<double> detect_kbest(const mimo_use& use, int survivors, bool real_valued, double clip) {
  check(use);
  if (survivors < 1) throw std::invalid_argument("oracle: K-best with no survivors");
  return real_valued ? kbest_of_dimensions(use, survivors, clip) : kbest_of_streams(use, survivors, clip);
}

std::vector<double> detect_trellis(const mimo_use& use, trellis rule, double clip) {
  check(use);
  const tree t(use);
  const int n = use.streams(), last = n - 1;
  std::vector<path> reduced;  // one ends in each vertex
  hypotheses found(use);
  for (int stage = 0; stage < n; ++stage) {
    std::vector<path> next;
    for (int q = 0; q < use.points; ++q) {
      const auto cheaper_here = [&](const path& a, const path& b) {
        return t.cost(a, last - stage, q) < t.cost(b, last - stage, q);
      };
      const path incoming =
          stage == 0 ? t.root() : *std::min_element(reduced.begin(), reduced.end(), cheaper_here);
      next.push_back(t.grown(incoming, last - stage, q));
    }
    reduced = next;
    if (rule == trellis::one_pass && stage != last) continue;
    std::vector<path> list = reduced;
    for (int later = last - stage - 1; later >= 0; --later)
      for (path& p : list) {
        int best = 0;
        for (int q = 1; q < use.points; ++q)
          if (t.cost(p, later, q) < t.cost(p, later, best)) best = q;
        p = t.grown(p, later, best);
      }
    for (const path& p : list) {
      const double value = metric(use, t.points, p.s);
      if (rule == trellis::one_pass)
        found.add(p.s, value);
      else
        found.add_stream(last - stage, p.s[as_size(last - stage)], value);
    }
  }
  return found.llrs(clip);
}

std::vector<double> detect_nway(const mimo_use& use, int ways, double clip, const std::vector<int>& spread) {
  check(use);
  const int n = use.streams();
  if (ways < 1 || ways > n) throw std::invalid_argument("oracle: as many ways as streams at most");
  if (!spread.empty() && spread.size() != as_size(n))
    throw std::invalid_argument("oracle: a spread has a number for each stream");
  const auto points = constellation(use.points);
  hypotheses found(use);
  for (int pass = 0; pass < ways; ++pass) {
    std::vector<int> order;
    for (int k = 0; k < n; ++k) order.push_back((pass + 1 + k) % n);
    const triangle t = triangular(use, order);
    std::vector<symbols> paths{symbols(as_size(n))};  // in the order of the levels
    for (int k = n - 1; k >= 0; --k) {
      const int kept = !spread.empty() ? spread[as_size(k)] : k == n - 1 ? use.points : 1;
      std::vector<symbols> longer;
      for (symbols s : paths) {
        const complex rest = left_over(t, s, k, points);
        std::vector<std::pair<double, int>> children;  // cost and symbol
        for (int q = 0; q < use.points; ++q)
          children.emplace_back(std::norm(rest - t.r[as_size(k)][as_size(k)] * points[as_size(q)]) / use.n0 +
                                    symbol_cost(use, order[as_size(k)], q),
                                q);
        std::partial_sort(children.begin(), children.begin() + kept, children.end());
        for (int i = 0; i < kept; ++i) {
          s[as_size(k)] = children[as_size(i)].second;
          longer.push_back(s);
        }
      }
      paths = longer;
    }
    for (const symbols& s : paths) {
      symbols of_streams(as_size(n));
      for (int k = 0; k < n; ++k) of_streams[as_size(order[as_size(k)])] = s[as_size(k)];
      found.add(of_streams, metric(use, points, of_streams));
    }
  }
  return found.llrs(clip);
}

sphere_result detect_sphere(const mimo_use& use, const sphere& how, double clip) {
  check(use);
  return single_tree(use, how, clip).run();
}

std::vector<double> detect_ssfe(const mimo_use& use, int top, double clip) {
  check(use);
  if (!use.prior.empty()) throw std::invalid_argument("oracle: SSFE takes no priors");
  const int n = use.streams();
  std::vector<int> order;
  for (int k = 1; k <= n; ++k) order.push_back((top + k) % n);
  const auto e = real_triangular(real_columns(use, order));
  const auto points = constellation(use.points);
  const double root = std::sqrt(use.points);
  const double half_distance = std::sqrt(1.5 / (use.points - 1));  // amplitudes are odd multiples
  hypotheses found(use);
  for (const complex& candidate : points) {
    std::vector<double> x(as_size(2 * n));
    x[as_size(2 * n - 2)] = candidate.real() / half_distance;
    x[as_size(2 * n - 1)] = candidate.imag() / half_distance;
    for (int d = 2 * n - 3; d >= 0; --d) {
      double rest = e[as_size(d)][as_size(2 * n)] / half_distance;
      for (int j = d + 1; j < 2 * n; ++j) rest -= e[as_size(d)][as_size(j)] * x[as_size(j)];
      const double rounded = std::round((rest / e[as_size(d)][as_size(d)] + root - 1) / 2) * 2 - root + 1;
      x[as_size(d)] = std::clamp(rounded, 1 - root, root - 1);
    }
    symbols s(as_size(n));
    for (int k = 0; k < n; ++k) {
      const complex point = half_distance * complex(x[as_size(2 * k)], x[as_size(2 * k + 1)]);
      const auto closer = [&](const complex& a, const complex& b) {
        return std::norm(a - point) < std::norm(b - point);
      };
      s[as_size(order[as_size(k)])] =
          static_cast<int>(std::min_element(points.begin(), points.end(), closer) - points.begin());
    }
    found.add(s, metric(use, points, s));
  }
  return found.llrs(clip);
}

filtered filter(const mimo_use& use, linear rule) {
  check(use);
  const std::size_t n = as_size(use.streams()), rows = use.y.size();
  std::vector<std::vector<complex>> w(n, std::vector<complex>(rows));  // H^H, then the filter
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t r = 0; r < rows; ++r) w[k][r] = std::conj(use.h[r * n + k]);
  if (rule != linear::mf) {
    std::vector<std::vector<complex>> gram(n, std::vector<complex>(n));
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t j = 0; j < n; ++j)
        for (std::size_t r = 0; r < rows; ++r) gram[k][j] += w[k][r] * use.h[r * n + j];
      if (rule == linear::mmse) gram[k][k] += use.n0;
    }
    const auto solved = inverse(gram);
    const auto matched = w;
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t r = 0; r < rows; ++r) {
        w[k][r] = 0;
        for (std::size_t j = 0; j < n; ++j) w[k][r] += solved[k][j] * matched[j][r];
      }
  }
  filtered out;
  for (std::size_t k = 0; k < n; ++k) {
    complex value = 0;
    double noise = 0, others = 0, signal_gain = 0;
    for (std::size_t r = 0; r < rows; ++r) {
      value += w[k][r] * use.y[r];
      noise += std::norm(w[k][r]) * use.n0;
    }
    for (std::size_t j = 0; j < n; ++j) {
      complex gain = 0;
      for (std::size_t r = 0; r < rows; ++r) gain += w[k][r] * use.h[r * n + j];
      if (j == k)
        signal_gain = gain.real();
      else
        others += std::norm(gain);
    }
    out.value.push_back(value / signal_gain);
    out.variance.push_back((noise + others) / (signal_gain * signal_gain));
  }
  return out;
}

namespace {

/// ln of the sum of e^-cost, or its largest term.
double joined_cost(const std::vector<double>& costs, demapper rule) {
  const double least = *std::min_element(costs.begin(), costs.end());
  double sum = 0;
  for (const double c : costs) sum += std::exp(least - c);
  return rule == demapper::exact ? least - std::log(sum) : least;
}
/// A-posteriori LLRs of a stream from the cost of each of its symbols.
void add_llrs(const std::vector<double>& costs, demapper rule, double clip, std::vector<double>& out) {
  const int points = static_cast<int>(costs.size());
  for (int mask = points / 2; mask > 0; mask /= 2) {
    std::vector<double> of_value[2];
    for (int q = 0; q < points; ++q) of_value[(q & mask) != 0].push_back(costs[as_size(q)]);
    out.push_back(std::clamp(joined_cost(of_value[1], rule) - joined_cost(of_value[0], rule), -clip, clip));
  }
}

}  // namespace

std::vector<double> detect_pic(const mimo_use& use, demapper rule, double clip) {
  check(use);
  const std::size_t n = as_size(use.streams()), rows = use.y.size();
  const auto points = constellation(use.points);
  std::vector<complex> mean(n);
  std::vector<double> variance(n);
  for (std::size_t k = 0; k < n; ++k) {
    double sum = 0, energy = 0;
    for (int q = 0; q < use.points; ++q) {
      const double p = std::exp(-symbol_cost(use, static_cast<int>(k), q));
      sum += p;
      mean[k] += p * points[as_size(q)];
      energy += p * std::norm(points[as_size(q)]);
    }
    mean[k] /= sum;
    variance[k] = energy / sum - std::norm(mean[k]);
  }
  std::vector<double> out;
  for (std::size_t k = 0; k < n; ++k) {
    std::vector<std::vector<complex>> covariance(rows, std::vector<complex>(rows));
    std::vector<complex> rest = use.y;
    for (std::size_t r = 0; r < rows; ++r) {
      covariance[r][r] += use.n0;
      for (std::size_t j = 0; j < n; ++j) {
        if (j == k) continue;
        rest[r] -= use.h[r * n + j] * mean[j];
        for (std::size_t c = 0; c < rows; ++c)
          covariance[r][c] += variance[j] * use.h[r * n + j] * std::conj(use.h[c * n + j]);
      }
    }
    const auto solved = inverse(covariance);
    complex pull = 0, weight = 0;
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < rows; ++c) {
        const complex w = std::conj(use.h[r * n + k]) * solved[r][c];
        pull += w * rest[c];
        weight += w * use.h[c * n + k];
      }
    std::vector<double> costs;
    for (int q = 0; q < use.points; ++q)
      costs.push_back(weight.real() * std::norm(pull / weight.real() - points[as_size(q)]) +
                      symbol_cost(use, static_cast<int>(k), q));
    add_llrs(costs, rule, clip, out);
  }
  return out;
}

std::vector<double> detect_ep(const mimo_use& use, const expectation_propagation& how, demapper rule,
                              double clip) {
  check(use);
  const auto h = real_columns(use, natural_order(use));
  const auto levels = amplitudes(use.points);
  const std::size_t dimensions = h.size() - 1;
  const int m = bits_of(use.points);
  const auto prior_cost = [&](std::size_t d, std::size_t a) {
    double cost = 0;
    for (int b = 0; b < m / 2; ++b)
      cost += bit_cost(use, static_cast<int>(d) / 2 * m + 2 * b + static_cast<int>(d) % 2,
                       static_cast<int>(a) >> (m / 2 - 1 - b) & 1);
    return cost;
  };
  /// Mean and variance of an amplitude from costs.
  const auto moments = [&](const std::vector<double>& costs) {
    const double least = *std::min_element(costs.begin(), costs.end());
    double sum = 0, mean = 0, variance = 0;
    for (std::size_t a = 0; a < levels.size(); ++a) {
      sum += std::exp(least - costs[a]);
      mean += std::exp(least - costs[a]) * levels[a];
    }
    mean /= sum;
    for (std::size_t a = 0; a < levels.size(); ++a)
      variance += std::exp(least - costs[a]) / sum * (levels[a] - mean) * (levels[a] - mean);
    return std::pair{mean, variance};
  };
  std::vector<double> lambda(dimensions), gamma(dimensions), x(dimensions), v(dimensions);
  for (std::size_t d = 0; d < dimensions; ++d) {
    std::vector<double> costs;
    for (std::size_t a = 0; a < levels.size(); ++a) costs.push_back(prior_cost(d, a));
    const auto [mean, variance] = moments(costs);
    lambda[d] = 1 / std::max(variance * how.start_variance, how.least_variance);
    gamma[d] = mean * lambda[d];
  }
  for (int iteration = 1;; ++iteration) {
    std::vector<std::vector<complex>> precision(dimensions, std::vector<complex>(dimensions));
    for (std::size_t i = 0; i < dimensions; ++i) {
      for (std::size_t j = 0; j < dimensions; ++j)
        for (std::size_t r = 0; r < h[i].size(); ++r) precision[i][j] += 2 / use.n0 * h[i][r] * h[j][r];
      precision[i][i] += lambda[i];
    }
    const auto covariance = inverse(precision);
    for (std::size_t i = 0; i < dimensions; ++i) {
      double mean = 0;
      for (std::size_t j = 0; j < dimensions; ++j) {
        double right = gamma[j];
        for (std::size_t r = 0; r < h[j].size(); ++r) right += 2 / use.n0 * h[j][r] * h[dimensions][r];
        mean += covariance[i][j].real() * right;
      }
      v[i] = 1 / (1 / covariance[i][i].real() - lambda[i]);
      x[i] = v[i] * (mean / covariance[i][i].real() - gamma[i]);
    }
    if (iteration == how.iterations) break;
    for (std::size_t d = 0; d < dimensions; ++d) {
      std::vector<double> costs;
      for (std::size_t a = 0; a < levels.size(); ++a)
        costs.push_back((levels[a] - x[d]) * (levels[a] - x[d]) / (2 * v[d]) + prior_cost(d, a));
      auto [mean, variance] = moments(costs);
      variance = std::max(variance, how.least_variance);
      const double new_lambda = 1 / variance - 1 / v[d], new_gamma = mean / variance - x[d] / v[d];
      if (new_lambda <= 1e-4 / v[d]) continue;
      lambda[d] = (1 - how.damping) * new_lambda + how.damping * lambda[d];
      gamma[d] = (1 - how.damping) * new_gamma + how.damping * gamma[d];
    }
  }
  std::vector<double> out;
  for (int k = 0; k < use.streams(); ++k) {
    std::vector<double> costs(as_size(use.points));
    for (int re = 0; as_size(re) < levels.size(); ++re)
      for (int im = 0; as_size(im) < levels.size(); ++im) {
        const auto off = [&](int part, int level) {
          const std::size_t d = as_size(2 * k + part);
          return (levels[as_size(level)] - x[d]) * (levels[as_size(level)] - x[d]) / (2 * v[d]) +
                 prior_cost(d, as_size(level));
        };
        costs[as_size(joined(re, im, use.points))] = off(0, re) + off(1, im);
      }
    add_llrs(costs, rule, clip, out);
  }
  return out;
}

std::vector<double> detect_linear(const mimo_use& use, linear rule, double clip) {
  const filtered streams = filter(use, rule);
  std::vector<double> out;
  for (std::size_t k = 0; k < streams.value.size(); ++k)
    for (double llr : demap(streams.value[k], streams.variance[k], 1, use.points, demapper::max_log))
      out.push_back(std::clamp(llr, -clip, clip));
  return out;
}

}  // namespace oracle
