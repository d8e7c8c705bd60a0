#pragma once
// What both kinds of filters are designed of. For the files of estimate/ alone.
#include <algorithm>
#include <complex>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <warpband/core/as_size.hpp>
#include <warpband/estimate/filters.hpp>

namespace wb {

using cplx = std::complex<double>;

/// From the first to the last subcarrier, or symbol, of a cell.
struct extent {
  double lo, hi;
};
inline extent subcarriers_of(const pilot_cell& c, int subcarriers) {
  extent e{1e9, -1e9};
  for (int i = 0; i < c.elements; i++) {
    const double k = c.element[as_size(i)] % subcarriers;
    e = {std::min(e.lo, k), std::max(e.hi, k)};
  }
  return e;
}
inline extent symbols_of(const pilot_cell& c, int subcarriers) {
  extent e{1e9, -1e9};
  for (int i = 0; i < c.elements; i++) {
    const double l = c.element[as_size(i)] / subcarriers;
    e = {std::min(e.lo, l), std::max(e.hi, l)};
  }
  return e;
}
inline double middle_of(const pilot_row& row, int subcarriers) {
  const extent e = symbols_of(row[0], subcarriers);
  return (e.lo + e.hi) / 2;
}
/// Variance of a cell for N0 = 1.
inline double noise_of(const pilot_cell& c) {
  double sum = 0;
  for (int i = 0; i < c.elements; i++) sum += 1 / std::norm(cplx(c.pilot[as_size(i)]));
  return sum / (c.elements * c.elements);
}

/// An element of a cell: c = sum of factor * (h of the own port), or of another port.
struct part {
  int port, symbol, subcarrier;
  cplx factor;
};
/// Which ports send in which elements.
/// Threads: any number may read one object.
class pilot_senders {
 public:
  explicit pilot_senders(const pilot_pattern& pilots) : subcarriers_(pilots.subcarriers) {
    for (std::size_t p = 0; p < pilots.ports.size(); p++)
      for (const pilot_row& row : pilots.ports[p])
        for (const pilot_cell& c : row)
          for (int i = 0; i < c.elements; i++)
            pilots_[c.element[as_size(i)]].emplace_back(p, cplx(c.pilot[as_size(i)]));
  }
  /// Moves copy: one that was moved from stays as it was.
  pilot_senders(const pilot_senders&) = default;
  pilot_senders& operator=(const pilot_senders&) = default;
  /// What a cell is made of: its port, and the others that send there.
  std::vector<part> parts_of(std::size_t port, const pilot_cell& c) const {
    std::vector<part> parts;
    for (int i = 0; i < c.elements; i++)
      for (const auto& [p, pilot] : pilots_.at(c.element[as_size(i)]))
        parts.push_back({static_cast<int>(p), c.element[as_size(i)] / subcarriers_,
                         c.element[as_size(i)] % subcarriers_,
                         p == port ? cplx(1.0 / c.elements)
                                   : pilot / cplx(c.pilot[as_size(i)]) / static_cast<double>(c.elements)});
    return parts;
  }

 private:
  int subcarriers_;
  std::map<std::int32_t, std::vector<std::pair<std::size_t, cplx>>> pilots_;
};

/// Of each row the next one with the same subcarriers in all ports, or -1.
std::vector<std::int32_t> rows_behind(const pilot_pattern& pilots);
/// Spacing of subcarriers: that of the pilots, or what is given for pilots without one. Throws argument_error
/// for a contradiction, and where neither has one that is needed.
std::optional<double> spacing_hz_of(const pilot_pattern& pilots, std::optional<double> given, bool needed);

/// Straight lines, and how their error is measured. period_us: of a completed configuration.
estimate_filters make_linear(const pilot_pattern& pilots, const estimator_config& config);

}  // namespace wb
