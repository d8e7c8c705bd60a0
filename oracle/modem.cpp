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
  return demap(y, n0, h, stored_constellation(points), rule);
}

std::vector<double> demap(std::complex<double> y, double n0, std::complex<double> h,
                          const std::vector<std::complex<double>>& symbols, demapper rule) {
  const int points = static_cast<int>(symbols.size());
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

std::vector<std::complex<double>> dvb_s2_constellation(const std::string& name,
                                                       const std::vector<double>& ring_ratios) {
  struct ring {
    double radius, first_angle;    // the angle in units of pi
    std::vector<unsigned> labels;  // counter-clockwise, equally spaced
  };
  std::vector<ring> rings;
  if (name == "8psk") {
    rings = {{1, 0, {0b001, 0b000, 0b100, 0b110, 0b010, 0b011, 0b111, 0b101}}};
  } else if (name == "16apsk") {
    rings = {
        {1, 1. / 4, {0b1100, 0b1110, 0b1111, 0b1101}},
        {ring_ratios.at(0),
         1. / 12,
         {0b0100, 0b0000, 0b1000, 0b1010, 0b0010, 0b0110, 0b0111, 0b0011, 0b1011, 0b1001, 0b0001, 0b0101}}};
  } else if (name == "32apsk") {
    rings = {{1, 1. / 4, {0b10001, 0b10101, 0b10111, 0b10011}},
             {ring_ratios.at(0),
              1. / 12,
              {0b10000, 0b00000, 0b00001, 0b00101, 0b00100, 0b10100, 0b10110, 0b00110, 0b00111, 0b00011,
               0b00010, 0b10010}},
             {ring_ratios.at(1),
              0,
              {0b11000, 0b01000, 0b11001, 0b01001, 0b01101, 0b11101, 0b01100, 0b11100, 0b11110, 0b01110,
               0b11111, 0b01111, 0b01011, 0b11011, 0b01010, 0b11010}}};
  } else {
    throw std::invalid_argument("oracle: DVB-S2 has 8psk, 16apsk and 32apsk");
  }
  double energy = 0, count = 0;
  for (const ring& r : rings) {
    energy += r.radius * r.radius * static_cast<double>(r.labels.size());
    count += static_cast<double>(r.labels.size());
  }
  const double pi = std::acos(-1.0);
  std::vector<std::complex<double>> points(static_cast<std::size_t>(count));
  for (const ring& r : rings)
    for (std::size_t i = 0; i < r.labels.size(); i++) {
      const double angle =
          pi * (r.first_angle + 2 * static_cast<double>(i) / static_cast<double>(r.labels.size()));
      points[r.labels[i]] =
          r.radius / std::sqrt(energy / count) * std::complex<double>(std::cos(angle), std::sin(angle));
    }
  return points;
}

double psk_symbol_error_rate(int points, double esn0) {
  const double pi = std::acos(-1.0), end = pi - pi / points, s = std::sin(pi / points);
  constexpr int steps = 20000;  // midpoint rule
  double sum = 0;
  for (int i = 0; i < steps; i++) {
    const double t = std::sin(end * (i + 0.5) / steps);
    sum += std::exp(-esn0 * s * s / (t * t));
  }
  return sum * end / steps / pi;
}

double bicm_information(const std::vector<std::complex<double>>& points, double n0) {
  // Equidistant points of each dimension of the noise: such a sum is exact for smooth functions that vanish
  // towards the ends.
  constexpr int steps = 40;
  const double reach = 6, width = 2 * reach / steps, deviation = std::sqrt(n0 / 2);
  std::vector<double> noise, weight;
  double total = 0;
  for (int i = 0; i <= steps; i++) {
    const double x = -reach + i * width;
    noise.push_back(x * deviation);
    weight.push_back(std::exp(-x * x / 2));
    total += weight.back();
  }
  int bits = 0;
  while ((std::size_t{1} << bits) < points.size()) bits++;
  double lost = 0;
  for (std::size_t sent = 0; sent < points.size(); sent++)
    for (std::size_t i = 0; i < noise.size(); i++)
      for (std::size_t j = 0; j < noise.size(); j++) {
        const auto y = points[sent] + std::complex<double>(noise[i], noise[j]);
        const std::vector<double> llr = demap(y, n0, 1, points, demapper::exact);
        for (int b = 0; b < bits; b++) {
          const double sign = (sent >> (bits - 1 - b)) & 1 ? -1 : 1;
          const double x = -sign * llr[static_cast<std::size_t>(b)];
          lost += weight[i] * weight[j] * (x > 30 ? x : std::log1p(std::exp(x))) / std::log(2.0);
        }
      }
  return bits - lost / (total * total * static_cast<double>(points.size()));
}

}  // namespace oracle
