// Linear interpolation between pilots, and the weights by which its error is measured: those of a channel of
// one delay and of one width of Clarke's spectrum, fitted over all delays and widths.
#include <cmath>
#include <numbers>

#include <warpband/estimate/design.hpp>

namespace wb {
namespace {

/// Two neighbours, and the second one's weight.
struct between {
  std::size_t first = 0;
  double weight = 0;
};
between interpolated(const std::vector<extent>& known, double x) {
  const std::size_t n = known.size();
  if (n == 1) return {0, 0};
  std::size_t i = 0;
  while (i + 2 < n && x >= known[i + 1].lo) i++;
  const extent a = known[i], b = known[i + 1];
  if (x <= a.hi)
    return {i, a.lo < a.hi ? 0 : (x - a.hi) / (b.lo - a.hi)};  // beyond the first one, or within it
  if (x >= b.lo) return {i, b.lo < b.hi ? 1 : (x - a.hi) / (b.lo - a.hi)};
  return {i, (x - a.hi) / (b.lo - a.hi)};
}

using numbers = std::vector<double>;

/// Weights of the bases (each over all points) whose sum is nearest to `wanted`, in relative error.
numbers fitted(const std::vector<numbers>& bases, const numbers& wanted) {
  const std::size_t n = bases.size();
  constexpr double negligible = 1e-13;
  std::vector<numbers> a(n, numbers(n));
  numbers x(n);
  numbers scale(n);
  const auto weighted = [&](std::size_t i, std::size_t p) {
    return bases[i][p] / std::max(std::abs(wanted[p]), negligible);
  };
  for (std::size_t i = 0; i < n; i++) {
    for (std::size_t p = 0; p < wanted.size(); p++) scale[i] += weighted(i, p) * weighted(i, p);
    scale[i] = std::sqrt(std::max(scale[i], 1e-300));
  }
  for (std::size_t p = 0; p < wanted.size(); p++)
    for (std::size_t i = 0; i < n; i++) {
      const double w = weighted(i, p) / scale[i];
      for (std::size_t j = 0; j < n; j++) a[i][j] += w * weighted(j, p) / scale[j];
      x[i] += w * wanted[p] / std::max(std::abs(wanted[p]), negligible);
    }
  for (std::size_t i = 0; i < n; i++) a[i][i] += 1e-12;
  for (std::size_t i = 0; i < n; i++)  // Gauss: positive definite
    for (std::size_t r = i + 1; r < n; r++) {
      const double f = a[r][i] / a[i][i];
      for (std::size_t j = i; j < n; j++) a[r][j] -= f * a[i][j];
      x[r] -= f * x[i];
    }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t j = i + 1; j < n; j++) x[i] -= a[i][j] * x[j];
    x[i] /= a[i][i];
  }
  for (std::size_t i = 0; i < n; i++) x[i] /= scale[i];
  return x;
}

class linear_design {
 public:
  linear_design(const pilot_pattern& p, const estimator_config& c) : p_(p), config_(c), senders_(p) {
    make_frequency();
    make_time();
    make_rows();
    make_noise();
    make_phases();
    make_turns();
    make_error();
  }
  estimate_filters take() { return std::move(out_); }

 private:
  static constexpr std::size_t points = 48;

  void make_frequency() {
    out_.taps = p_.cells() > 1 ? 2 : 1;
    for (const auto& port : p_.ports)
      for (const pilot_row& row : port) {
        std::vector<extent> cells;
        for (const pilot_cell& c : row) cells.push_back(subcarriers_of(c, p_.subcarriers));
        for (int k = 0; k < p_.subcarriers; k++) {
          const between b = interpolated(cells, k);
          out_.start.push_back(static_cast<std::int32_t>(b.first));
          out_.frequency.push_back(static_cast<float>(1 - b.weight));
          if (out_.taps == 2) out_.frequency.push_back(static_cast<float>(b.weight));
          const double v = out_.taps == 2 ? b.weight : 0;
          row_noise_.push_back((1 - v) * (1 - v) * noise_of(row[b.first]) +
                               v * v * (out_.taps == 2 ? noise_of(row[b.first + 1]) : 0));
        }
      }
  }
  void make_time() {
    std::vector<extent> extents;
    for (const pilot_row& row : p_.ports[0]) extents.push_back(symbols_of(row[0], p_.subcarriers));
    for (int l = 0; l < p_.symbols; l++) {
      const between b = interpolated(extents, l);
      for (std::size_t t = 0; t < rows(); t++)
        out_.time.push_back(static_cast<float>(t == b.first       ? 1 - b.weight
                                               : t == b.first + 1 ? b.weight
                                                                  : 0));
    }
  }

  /// Rows with the same subcarriers, by which changes in time are told from those in frequency.
  void make_rows() {
    std::vector<double> times;
    for (const pilot_row& row : p_.ports[0]) times.push_back(middle_of(row, p_.subcarriers));
    spread_measure& s = out_.spread;
    const std::vector<std::int32_t> behind = rows_behind(p_);
    double distance = 0;
    for (std::size_t t = 0; t < rows(); t++) {
      const int b = behind[t], c = b < 0 ? -1 : behind[as_size(b)];
      s.next.push_back(b);
      s.next.push_back(c);
      std::array<float, 4> w = {};
      if (b >= 0) {
        const double d = times[as_size(b)] - times[t];
        w[0] = static_cast<float>(1 / d);
        pairs_.push_back(d);
        distance = std::max(distance, d);
        if (c >= 0) {
          const double e = times[as_size(c)] - times[as_size(b)];
          triples_.push_back({1 / (d * (d + e)), -1 / (d * e), 1 / (e * (d + e)), d, e});
          for (std::size_t i = 0; i < 3; i++) w[i + 1] = static_cast<float>(triples_.back()[i]);
        }
      }
      s.divided.insert(s.divided.end(), w.begin(), w.end());
    }
    s.known = !triples_.empty() ? spread_times::more
              : !pairs_.empty() ? spread_times::two
                                : spread_times::one;
    if (distance > 0) s.most_slope = static_cast<float>(clarke_step / (distance * distance));
  }
  void make_noise() {
    double mean = 0;
    for (const auto& port : p_.ports)
      for (const pilot_row& row : port)
        for (const pilot_cell& c : row) mean += noise_of(c);
    mean /= static_cast<double>(p_.ports.size() * rows() * p_.cells());
    double first = 0, second = 0;
    for (const double d : pairs_) first += 2 / (d * d) / static_cast<double>(pairs_.size());
    for (const auto& w : triples_)
      second += (w[0] * w[0] + w[1] * w[1] + w[2] * w[2]) / static_cast<double>(triples_.size());
    const double factors[] = {1, 2, 6, 20, first, second, 0, 0};
    for (std::size_t i = 0; i < as_size(spread_sums); i++)
      out_.spread.noise[i] = static_cast<float>(mean * factors[i]);
  }

  // ---- frequency: phases theta from a subcarrier to the next

  void make_phases() {
    double distance = 0;
    if (p_.cells() > 1) {
      const extent a = subcarriers_of(p_.ports[0][0][0], p_.subcarriers),
                   b = subcarriers_of(p_.ports[0][0][1], p_.subcarriers);
      distance = (b.lo + b.hi - a.lo - a.hi) / 2;
    }
    measured_ = std::min<std::size_t>(3, p_.cells() - 1);
    difference_.assign(measured_, numbers(points));
    for (std::size_t i = 0; i < points; i++) {
      // One difference alone fits what it is the square of at a medium delay.
      const double u = (static_cast<double>(i) + 1) / points,
                   x = measured_ == 1 ? 0.25 + 0.75 * u : std::pow(u, 1.5);
      theta_.push_back(0.8 * std::numbers::pi * x / std::max(distance, 1.0));
    }
    for (std::size_t i = 0; i < points && measured_ > 0; i++) {
      const auto& row = p_.ports[0][0];
      const double cell = power_of(senders_.parts_of(0, row[0]), theta_[i]),
                   step = 2 - 2 * std::cos(distance * theta_[i]);
      for (std::size_t j = 0; j < measured_; j++)
        difference_[j][i] = cell * std::pow(step, static_cast<double>(j) + 1);
    }
  }
  /// Of a cell, with what other ports leak into it.
  static double power_of(const std::vector<part>& parts, double theta) {
    std::map<int, cplx> sums;
    for (const part& x : parts) sums[x.port] += x.factor * std::polar(1.0, -theta * x.subcarrier);
    double sum = 0;
    for (const auto& [q, z] : sums) sum += std::norm(z);
    return sum;
  }
  /// Of an element's filter in frequency, by the differences: mean |error|^2, and the mean of the error's
  /// part along the channel.
  struct in_frequency {
    numbers square, along, square_two;
  };
  const in_frequency& frequency_error(int port, int l, int k, const in_frequency*& of_all) {
    std::vector<std::vector<part>> rows_parts;
    std::vector<std::vector<int>> keys;
    for (std::size_t t = 0; t < rows(); t++) {
      std::vector<part> parts;
      const std::size_t row = (as_size(port) * rows() + t) * as_size(p_.subcarriers) + as_size(k);
      for (int n = 0; n < out_.taps; n++) {
        const cplx w = out_.frequency[row * as_size(out_.taps) + as_size(n)];
        if (w == 0.0) continue;
        for (part x :
             senders_.parts_of(as_size(port), p_.ports[as_size(port)][t][as_size(out_.start[row] + n)])) {
          x.factor *= w;
          parts.push_back(x);
        }
      }
      std::vector<int> key;
      for (const part& x : parts) {
        key.push_back(x.port - port);
        key.push_back(x.subcarrier - k);
        key.push_back(static_cast<int>(std::lround(4096 * x.factor.real())));
        key.push_back(static_cast<int>(std::lround(4096 * x.factor.imag())));
      }
      keys.push_back(std::move(key));
      rows_parts.push_back(std::move(parts));
    }
    bool alike = true;
    for (const auto& key : keys) alike = alike && key == keys[0];
    std::vector<int> key = alike ? keys[0] : std::vector<int>{};
    if (!alike) {
      key.push_back(-l - 1);  // rows differ: their weights count
      for (const auto& other : keys) key.insert(key.end(), other.begin(), other.end());
    }
    const auto kept = [&](const in_frequency& x) -> const in_frequency& {
      if (alike) of_all = &x;
      return x;
    };
    const auto found = made_.find(key);
    if (found != made_.end()) return kept(found->second);
    numbers square(points), along(points);
    for (std::size_t i = 0; i < points; i++) {
      std::map<int, cplx> sums;  // by port
      sums[port] = -std::polar(1.0, -theta_[i] * k);
      for (std::size_t t = 0; t < rows(); t++) {
        const double w = alike ? (t == 0 ? 1 : 0) : out_.time[as_size(l) * rows() + t];
        for (const part& x : rows_parts[t])
          sums[x.port] += w * x.factor * std::polar(1.0, -theta_[i] * x.subcarrier);
      }
      for (const auto& [q, sum] : sums) square[i] += std::norm(sum);
      along[i] = -(sums[port] * std::polar(1.0, theta_[i] * k)).real();
    }
    in_frequency error;
    if (measured_ > 0) {
      const std::vector<numbers> two(
          difference_.begin(),
          difference_.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(2, measured_)));
      error.square = fitted(difference_, square);
      error.square_two = fitted(two, square);
      error.along = fitted_slopes(two, along);
    }
    return kept(made_.emplace(std::move(key), std::move(error)).first->second);
  }
  /// What may change its sign has no relative error: that of its ratio to the first basis is least.
  static numbers fitted_slopes(const std::vector<numbers>& bases, const numbers& wanted) {
    double a = 0, b = 0, c = 0, x = 0, y = 0;
    for (std::size_t i = 0; i < wanted.size(); i++) {
      const double v = bases.size() > 1 ? bases[1][i] / bases[0][i] : 0, z = wanted[i] / bases[0][i];
      a += 1, b += v, c += v * v, x += z, y += v * z;
    }
    if (bases.size() == 1) return {x / a};
    const double det = a * c - b * b;
    return {(x * c - y * b) / det, (a * y - b * x) / det};
  }

  // ---- time: phases phi = 2 pi fD T, of Clarke's spectrum

  void make_turns() {
    double distance = 0;
    for (const double d : pairs_) distance = std::max(distance, d);
    if (out_.spread.known == spread_times::one) {
      turn_ = {2 * std::numbers::pi * config_.doppler_hz * config_.period_us.value_or(0) * 1e-6};
    } else {
      for (std::size_t i = 0; i < points; i++)
        turn_.push_back(2.2 * std::pow((static_cast<double>(i) + 1) / points, 1.5) / distance);
    }
    // J0 by lags of half symbols.
    const std::size_t lags = 2 * as_size(p_.symbols);
    for (const double phi : turn_) {
      numbers j(lags);
      for (std::size_t lag = 0; lag < lags; lag++)
        j[lag] = std::cyl_bessel_j(0.0, phi * static_cast<double>(lag) / 2);
      bessel_.push_back(std::move(j));
    }
    numbers first(turn_.size()), second(turn_.size());
    for (std::size_t i = 0; i < turn_.size(); i++) {
      for (const double d : pairs_)
        first[i] += (2 - 2 * clarke(i, d)) / (d * d) / static_cast<double>(pairs_.size());
      for (const auto& w : triples_)
        second[i] += (w[0] * w[0] + w[1] * w[1] + w[2] * w[2] + 2 * w[0] * w[1] * clarke(i, w[3]) +
                      2 * w[1] * w[2] * clarke(i, w[4]) + 2 * w[0] * w[2] * clarke(i, w[3] + w[4])) /
                     static_cast<double>(triples_.size());
    }
    if (out_.spread.known == spread_times::one)
      change_ = {numbers(1, 1)};
    else if (out_.spread.known == spread_times::more)
      change_ = {first, second};
    else {
      for (std::size_t i = 0; i < turn_.size(); i++) second[i] = first[i] * first[i];
      change_ = {first, second};
    }
  }
  double clarke(std::size_t i, double lag) const {
    return bessel_[i][static_cast<std::size_t>(std::lround(2 * std::abs(lag)))];
  }
  /// Weights of T1 and T2 of a symbol.
  numbers time_error(int port, int l) const {
    // What another port leaks through a code in time, and the port itself: weights of symbols.
    std::map<int, std::map<int, cplx>> sums;
    sums[port][l] -= 1;
    for (std::size_t t = 0; t < rows(); t++)
      for (const part& x : senders_.parts_of(as_size(port), p_.ports[as_size(port)][t][0]))
        sums[x.port][x.symbol] += static_cast<double>(out_.time[as_size(l) * rows() + t]) * x.factor;
    numbers square(turn_.size());
    for (std::size_t i = 0; i < turn_.size(); i++) {
      double sum = 0;
      for (const auto& [q, weights] : sums)
        for (const auto& [a, u] : weights)
          for (const auto& [b, v] : weights) sum += (u * std::conj(v)).real() * clarke(i, a - b);
      square[i] = std::max(sum, 0.0);
    }
    numbers w = out_.spread.known == spread_times::one ? numbers{square[0], 0} : fitted(change_, square);
    w.resize(2);
    return w;
  }

  void make_error() {
    const std::size_t elements = p_.elements(), terms = as_size(spread_terms);
    numbers weight(elements * terms);
    for (int port = 0; port < static_cast<int>(p_.ports.size()); port++) {
      std::vector<const in_frequency*> of_all(as_size(p_.subcarriers));  // of all symbols
      for (int l = 0; l < p_.symbols; l++) {
        const numbers in_time = time_error(port, l);
        // Of slopes in time with T1: mean error along the channel, and what rows lose in likeness.
        double along = 0, apart = 0;
        for (std::size_t t = 0; t < rows(); t++) {
          const double w = out_.time[as_size(l) * rows() + t],
                       time = middle_of(p_.ports[0][t], p_.subcarriers);
          along += w * (time - l) * (time - l) / 2;
          for (std::size_t s = 0; s < t; s++) {
            const double d = time - middle_of(p_.ports[0][s], p_.subcarriers);
            apart += w * out_.time[as_size(l) * rows() + s] * d * d;
          }
        }
        const bool assumed = out_.spread.known == spread_times::one;
        if (assumed) {  // slopes are known
          const double slope = turn_[0] * turn_[0] / 2;
          along *= slope, apart *= slope;
        }
        for (int k = 0; k < p_.subcarriers; k++) {
          double noise = 0;
          for (std::size_t t = 0; t < rows(); t++) {
            const double w = out_.time[as_size(l) * rows() + t];
            noise += w * w * row_noise_[(as_size(port) * rows() + t) * as_size(p_.subcarriers) + as_size(k)];
          }
          out_.gain.push_back(static_cast<float>(noise));
          out_.bias.push_back(0);
          const in_frequency* known = of_all[as_size(k)];
          const in_frequency& f = known != nullptr ? *known : frequency_error(port, l, k, of_all[as_size(k)]);
          double* w = &weight[(as_size(l) * as_size(p_.subcarriers) + as_size(k)) * terms];
          for (std::size_t j = 0; j < f.square.size(); j++) w[j] += f.square[j];
          w[3] += in_time[0];
          w[4] += in_time[1];
          for (std::size_t j = 0; j < f.along.size(); j++)
            w[assumed ? j : 5 + j] += 2 * along * f.along[j] - apart * f.square_two[j];
        }
      }
    }
    out_.spread.weight.assign(weight.begin(), weight.end());
  }

  std::size_t rows() const { return p_.rows(); }

  const pilot_pattern& p_;
  const estimator_config& config_;
  pilot_senders senders_;
  estimate_filters out_;
  numbers row_noise_;                           // [ports, rows, subcarriers]
  numbers pairs_;                               // distances
  std::vector<std::array<double, 5>> triples_;  // weights, distances
  std::size_t measured_ = 0;                    // differences
  numbers theta_, turn_;
  std::vector<numbers> difference_, change_, bessel_;
  std::map<std::vector<int>, in_frequency> made_;
};

}  // namespace

std::vector<std::int32_t> rows_behind(const pilot_pattern& p) {
  const auto alike = [&](std::size_t t, std::size_t s) {
    for (const auto& port : p.ports)
      for (std::size_t n = 0; n < p.cells(); n++) {
        const pilot_cell &a = port[t][n], &b = port[s][n];
        if (a.elements != b.elements) return false;
        for (int i = 0; i < a.elements; i++)
          if (a.element[as_size(i)] % p.subcarriers != b.element[as_size(i)] % p.subcarriers) return false;
      }
    return true;
  };
  std::vector<std::int32_t> behind;
  for (std::size_t t = 0; t < p.rows(); t++) {
    std::int32_t found = -1;
    for (std::size_t s = t + 1; s < p.rows() && found < 0; s++)
      if (alike(t, s)) found = static_cast<std::int32_t>(s);
    behind.push_back(found);
  }
  return behind;
}

estimate_filters make_linear(const pilot_pattern& pilots, const estimator_config& config) {
  return linear_design(pilots, config).take();
}

}  // namespace wb
