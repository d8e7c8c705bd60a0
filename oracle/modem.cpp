#include <oracle/modem.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <stdexcept>

namespace oracle {
namespace {

int bits_per_symbol(int points) {
  switch (points) {
    case 2:
      return 1;
    case 4:
      return 2;
    case 16:
      return 4;
    case 64:
      return 6;
    case 256:
      return 8;
    case 1024:
      return 10;
    case 4096:
      return 12;
    default:
      throw std::invalid_argument("oracle: a constellation has 2, 4, 16, 64, 256, 1024 or 4096 points");
  }
}

std::complex<double> map_symbol(int points, int index) {
  const int m = bits_per_symbol(points);
  // s(i) is the factor 1 - 2 b(i) of the standard's formulae.
  const auto s = [&](int i) { return 1.0 - 2.0 * ((index >> (m - 1 - i)) & 1); };
  switch (points) {
    case 2:
      return std::complex<double>(s(0), s(0)) / std::sqrt(2.0);
    case 4:
      return std::complex<double>(s(0), s(1)) / std::sqrt(2.0);
    case 16:
      return std::complex<double>(s(0) * (2 - s(2)), s(1) * (2 - s(3))) / std::sqrt(10.0);
    case 64:
      return std::complex<double>(s(0) * (4 - s(2) * (2 - s(4))), s(1) * (4 - s(3) * (2 - s(5)))) /
             std::sqrt(42.0);
    case 256:
      return std::complex<double>(s(0) * (8 - s(2) * (4 - s(4) * (2 - s(6)))),
                                  s(1) * (8 - s(3) * (4 - s(5) * (2 - s(7))))) /
             std::sqrt(170.0);
    case 1024:
      return std::complex<double>(s(0) * (16 - s(2) * (8 - s(4) * (4 - s(6) * (2 - s(8))))),
                                  s(1) * (16 - s(3) * (8 - s(5) * (4 - s(7) * (2 - s(9)))))) /
             std::sqrt(682.0);
    default:
      return std::complex<double>(s(0) * (32 - s(2) * (16 - s(4) * (8 - s(6) * (4 - s(8) * (2 - s(10)))))),
                                  s(1) * (32 - s(3) * (16 - s(5) * (8 - s(7) * (4 - s(9) * (2 - s(11))))))) /
             std::sqrt(2730.0);
  }
}

/// Built once per size: a link run demaps millions of symbols.
const std::vector<std::complex<double>>& stored_constellation(int points) {
  static const std::map<int, std::vector<std::complex<double>>> constellations = [] {
    std::map<int, std::vector<std::complex<double>>> built;
    for (int size : {2, 4, 16, 64, 256, 1024, 4096}) {
      for (int index = 0; index < size; ++index) built[size].push_back(map_symbol(size, index));
    }
    return built;
  }();
  const auto found = constellations.find(points);
  if (found == constellations.end())
    throw std::invalid_argument("oracle: a constellation has 2, 4, 16, 64, 256, 1024 or 4096 points");
  return found->second;
}

}  // namespace

std::vector<std::complex<double>> constellation(int points) { return stored_constellation(points); }

std::vector<double> demap(std::complex<double> y, double n0, std::complex<double> h, int points,
                          demapper rule) {
  const auto& symbols = stored_constellation(points);
  std::vector<double> exponents;  // ln p(y | s) up to a constant
  for (const auto& s : symbols) exponents.push_back(-std::norm(y - h * s) / n0);

  std::vector<double> llr;
  for (int mask = points / 2; mask > 0; mask /= 2) {  // b(0) first
    double largest[2] = {-INFINITY, -INFINITY};
    for (int index = 0; index < points; ++index) {
      double& side = largest[(index & mask) != 0 ? 1 : 0];
      side = std::max(side, exponents[static_cast<std::size_t>(index)]);
    }
    double value = largest[0] - largest[1];
    if (rule == demapper::exact) {
      // Each sum relative to its own largest term, so that neither over- nor underflows.
      double sum[2] = {0.0, 0.0};
      for (int index = 0; index < points; ++index) {
        const int bit = (index & mask) != 0 ? 1 : 0;
        sum[bit] += std::exp(exponents[static_cast<std::size_t>(index)] - largest[bit]);
      }
      value += std::log(sum[0]) - std::log(sum[1]);
    }
    llr.push_back(value);
  }
  return llr;
}

}  // namespace oracle
