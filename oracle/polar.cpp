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

/// The LLR of u[index] given the bits before it.
double leaf_llr(const std::vector<double>& llr, const std::vector<std::uint8_t>& u, std::size_t first,
                std::size_t index, bool exact) {
  const std::size_t half = llr.size() / 2;
  if (half == 0) return llr[0];
  std::vector<double> next(half);
  if (index < first + half) {
    for (std::size_t i = 0; i < half; i++) next[i] = box_plus(llr[i], llr[i + half], exact);
    return leaf_llr(next, u, first, index, exact);
  }
  const std::vector<std::uint8_t> left(u.begin() + static_cast<std::ptrdiff_t>(first),
                                       u.begin() + static_cast<std::ptrdiff_t>(first + half));
  const std::vector<std::uint8_t> sums = polar_transform(left);
  for (std::size_t i = 0; i < half; i++) next[i] = llr[i + half] + (sums[i] ? -llr[i] : llr[i]);
  return leaf_llr(next, u, first + half, index, exact);
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
  std::vector<polar_path> paths{{0, std::vector<std::uint8_t>(bits.size())}};
  for (std::size_t index = 0; index < bits.size(); index++) {
    std::vector<polar_path> next;
    for (const polar_path& p : paths) {
      const double l = leaf_llr(llr, p.u, 0, index, exact);
      std::uint8_t check = 0;
      for (std::size_t back = 5; back <= index; back += 5)
        if (bits[index - back] == polar_bit::information) check ^= p.u[index - back];
      for (std::uint8_t bit = 0; bit < 2; bit++) {
        if (bits[index] == polar_bit::frozen && bit != 0) continue;
        if (bits[index] == polar_bit::check && bit != check) continue;
        polar_path q = p;
        q.u[index] = bit;
        const double against = bit ? l : -l;
        q.metric +=
            exact ? std::max(against, 0.0) + std::log1p(std::exp(-std::abs(l))) : std::max(against, 0.0);
        next.push_back(std::move(q));
      }
    }
    std::stable_sort(next.begin(), next.end(),
                     [](const polar_path& a, const polar_path& b) { return a.metric < b.metric; });
    if (next.size() > static_cast<std::size_t>(list_size)) next.resize(static_cast<std::size_t>(list_size));
    paths = std::move(next);
  }
  return paths;
}

}  // namespace oracle
