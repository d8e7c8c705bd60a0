#include <oracle/polar.hpp>

#include <algorithm>
#include <cmath>

namespace oracle {
namespace {

double box_plus(double a, double b, bool exact) {
  const double least = std::min(std::abs(a), std::abs(b)), sign = (a < 0) == (b < 0) ? 1 : -1;
  if (!exact) return sign * least;
  return sign * least + std::log1p(std::exp(-std::abs(a + b))) - std::log1p(std::exp(-std::abs(a - b)));
}

/// A path with the LLRs of the nodes above its current bit: llrs[s] has those of 2^s coded bits.
struct open_path {
  double metric = 0;
  std::vector<std::uint8_t> u;
  std::vector<std::vector<double>> llrs;
};

/// The LLR of u[index] given the bits before it.
double leaf_llr(open_path& p, std::size_t index, bool exact) {
  std::size_t stage = p.llrs.size() - 1;
  if (index > 0) {  // the lowest node that has bits before this one ends there
    stage = 0;
    while ((index >> stage) % 2 == 0) stage++;
    const std::size_t half = std::size_t{1} << stage;
    const auto end = p.u.begin() + static_cast<std::ptrdiff_t>(index);
    const auto sums = polar_transform({end - static_cast<std::ptrdiff_t>(half), end});
    const std::vector<double>& above = p.llrs[stage + 1];
    for (std::size_t i = 0; i < half; i++)
      p.llrs[stage][i] = above[i + half] + (sums[i] ? -above[i] : above[i]);
  }
  while (stage > 0) {
    stage--;
    const std::size_t half = std::size_t{1} << stage;
    for (std::size_t i = 0; i < half; i++)
      p.llrs[stage][i] = box_plus(p.llrs[stage + 1][i], p.llrs[stage + 1][i + half], exact);
  }
  return p.llrs[0][0];
}

}  // namespace

std::vector<std::uint8_t> polar_transform(const std::vector<std::uint8_t>& u) {
  std::vector<std::uint8_t> d(u.size());
  for (std::size_t row = 0; row < u.size(); row++)
    for (std::size_t column = 0; u[row] && column < u.size(); column++)
      d[column] ^= static_cast<std::uint8_t>((row & column) == column);
  return d;
}

std::vector<polar_path> polar_list(const std::vector<polar_bit>& bits, const std::vector<double>& llr,
                                   int list_size, bool exact) {
  struct candidate {
    double metric;
    std::size_t parent;
    std::uint8_t bit;
  };
  std::vector<open_path> paths(1);
  paths[0].u.resize(bits.size());
  for (std::size_t size = 1; size < llr.size(); size *= 2) paths[0].llrs.emplace_back(size);
  paths[0].llrs.push_back(llr);
  for (std::size_t index = 0; index < bits.size(); index++) {
    std::vector<candidate> next;
    for (std::size_t i = 0; i < paths.size(); i++) {
      const double l = leaf_llr(paths[i], index, exact);
      std::uint8_t check = 0;
      for (std::size_t back = 5; back <= index; back += 5)
        if (bits[index - back] == polar_bit::information) check ^= paths[i].u[index - back];
      for (std::uint8_t bit = 0; bit < 2; bit++) {
        if (bits[index] == polar_bit::frozen && bit != 0) continue;
        if (bits[index] == polar_bit::check && bit != check) continue;
        const double against = bit ? l : -l;
        next.push_back({paths[i].metric + (exact ? std::max(against, 0.0) + std::log1p(std::exp(-std::abs(l)))
                                                 : std::max(against, 0.0)),
                        i, bit});
      }
    }
    std::stable_sort(next.begin(), next.end(),
                     [](const candidate& a, const candidate& b) { return a.metric < b.metric; });
    if (next.size() > static_cast<std::size_t>(list_size)) next.resize(static_cast<std::size_t>(list_size));
    std::vector<int> children(paths.size());
    for (const candidate& c : next) children[c.parent]++;
    std::vector<open_path> survivors;
    for (const candidate& c : next) {
      survivors.push_back(--children[c.parent] == 0 ? std::move(paths[c.parent]) : paths[c.parent]);
      survivors.back().metric = c.metric;
      survivors.back().u[index] = c.bit;
    }
    paths = std::move(survivors);
  }
  std::vector<polar_path> result;
  for (open_path& p : paths) result.push_back({p.metric, std::move(p.u)});
  return result;
}

double polar_phi(double mean) {
  // E[1 - tanh(L / 2)] of L = mean + sqrt(2 mean) z, by the trapezoidal rule over z.
  const double deviation = std::sqrt(2 * mean), step = 0.005;
  double sum = 0;
  for (double z = -60; z <= 60; z += step)
    sum += 2 / (1 + std::exp(mean + deviation * z)) * std::exp(-z * z / 2);
  return sum * step / std::sqrt(2 * std::acos(-1.0));
}

}  // namespace oracle
