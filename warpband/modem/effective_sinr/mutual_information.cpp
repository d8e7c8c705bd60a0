#include <warpband/modem/effective_sinr/mutual_information.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <mutex>
#include <numbers>
#include <string>

#include <warpband/core/as_size.hpp>
#include <warpband/core/error.hpp>
#include <warpband/modem/qam/qam.hpp>

namespace wb {
namespace {

constexpr double db_to_ln = std::numbers::ln10 / 10;

struct information_pair {
  double information = 0, deficit = 0;  // bits of a PAM dimension
};

/// One dimension of a constellation: levels 0, 1, ... in rising order with their Gray labels.
struct pam {
  explicit pam(int qam)
      : dimensions(qam == 2 ? 1 : 2),
        bits(qam == 2 ? 1 : bits_per_symbol(qam) / 2),
        levels(1 << bits),
        // Half the distance of neighbours where Es = 1.
        half_distance(qam == 2 ? 1.0 : std::sqrt(3.0 / (2.0 * (qam - 1)))) {}
  int label(int level) const { return level ^ (level >> 1); }

  int dimensions, bits, levels;
  double half_distance;
};

/// I and D of a dimension by the trapezoid rule over the noise z in units of its deviation. Its error falls
/// exponentially with pi / (distance step), the distance of the logarithm's singularities from the real line.
information_pair integrated(const pam& p, double snr, information_kind kind) {
  const double distance = 2 * p.half_distance * std::sqrt(2 * snr);  // of neighbours, in deviations
  const double reach = distance / 2 + 9.5, step = std::min(0.25, 0.2 / distance);
  const int points = static_cast<int>(std::ceil(reach / step));
  // Levels farther away add nothing within `reach`.
  const int near = std::min(p.levels - 1, static_cast<int>(std::ceil((2 * reach + 10) / distance)));
  const double weight = step / std::sqrt(2 * std::numbers::pi);
  std::vector<double> likelihood(as_size(p.levels));
  double deficit = 0;
  for (int x = 0; x < p.levels / 2; x++) {  // the others mirror them
    const int low = std::max(0, x - near), high = std::min(p.levels - 1, x + near);
    for (int n = -points; n <= points; n++) {
      const double z = n * step;
      double others = 0, top = 0;
      for (int y = low; y <= high; y++) {  // exponents relative to the sent level
        const double d = (y - x) * distance;
        likelihood[as_size(y)] = d * z - d * d / 2;
        top = std::max(top, likelihood[as_size(y)]);
      }
      for (int y = low; y <= high; y++) {
        likelihood[as_size(y)] = std::exp(likelihood[as_size(y)] - top);
        if (y != x) others += likelihood[as_size(y)];
      }
      double lost = 0;
      if (kind == information_kind::symbol) {
        lost = std::log1p(others / likelihood[as_size(x)]);
        if (!std::isfinite(lost)) lost = top + std::log(others);  // the sent level underflows
      } else {
        for (int b = 0; b < p.bits; b++) {
          double same = 0, different = 0;
          for (int y = low; y <= high; y++)
            ((p.label(y) ^ p.label(x)) >> b & 1 ? different : same) += likelihood[as_size(y)];
          lost += std::log1p(different / std::max(same, 1e-300));
        }
      }
      deficit += weight * std::exp(-z * z / 2) * lost;
    }
  }
  deficit /= std::numbers::ln2 * p.levels / 2;
  return {p.bits - deficit, deficit};
}

/// ln I and ln D at an SNR.
std::array<double, 2> logarithms(const pam& p, double snr, information_kind kind) {
  const information_pair i = integrated(p, snr, kind);
  return {std::log(p.dimensions * i.information), std::log(p.dimensions * i.deficit)};
}

/// Values of the grid from the point before the first to the one behind the last.
std::vector<std::array<double, 2>> grid_of(int qam, information_kind kind) {
  using g = information_grid;
  const pam p(qam);
  const auto snr_at = [](int i) { return std::exp(db_to_ln * (g::first_db + g::step_db * i)); };
  // u = distance^2 / 8 is the exponent of D. Beyond `last` ln D = -u - ln(u) / 2 + a + b / u, which the last
  // two points that are integrated determine.
  constexpr double last = 50;
  const auto exponent = [&](int i) { return p.half_distance * p.half_distance * snr_at(i); };
  std::vector<std::array<double, 2>> grid;
  double a = 0, b = 0;
  for (int i = -1; i <= g::intervals + 1; i++) {
    const double u = exponent(i);
    if (u <= last) {
      grid.push_back(logarithms(p, snr_at(i), kind));
      continue;
    }
    if (exponent(i - 1) <= last) {
      const auto rest = [&](int back) {
        const double v = exponent(i - back);
        return grid[grid.size() - as_size(back)][1] + v + std::log(v) / 2;
      };
      b = (rest(1) - rest(2)) / (1 / exponent(i - 1) - 1 / exponent(i - 2));
      a = rest(1) - b / exponent(i - 1);
    }
    grid.push_back({std::log(double(p.dimensions * p.bits)), -u - std::log(u) / 2 + a + b / u});
  }
  return grid;
}

std::vector<double> coefficients_of(const std::vector<std::array<double, 2>>& grid) {
  using g = information_grid;
  std::vector<double> table;
  for (int i = 0; i < g::intervals; i++)
    for (std::size_t k = 0; k < 2; k++) {  // Lagrange's cubic through four neighbours
      const double before = grid[as_size(i)][k], here = grid[as_size(i + 1)][k],
                   next = grid[as_size(i + 2)][k], behind = grid[as_size(i + 3)][k];
      table.insert(table.end(), {here, next - before / 3 - here / 2 - behind / 6, (before + next) / 2 - here,
                                 (behind - before) / 6 + (here - next) / 2});
    }
  return table;
}

double cubic(const double* c, double t) { return c[0] + t * (c[1] + t * (c[2] + t * c[3])); }

/// ln I (part 0) or ln D (part 1). Below the grid I, and above it ln D, are proportional to the SNR.
double interpolated(const std::vector<double>& table, double db, int part) {
  using g = information_grid;
  const double s = std::clamp((db - g::first_db) / g::step_db, 0.0, double(g::intervals));
  const int i = std::min(static_cast<int>(s), g::intervals - 1);
  const double value = cubic(&table[as_size(i * g::values + 4 * part)], s - i);
  const double beyond = db - (g::first_db + g::step_db * s);
  if (part == 0) return value + (beyond < 0 ? db_to_ln * beyond : 0);
  return beyond > 0 ? value * std::exp(db_to_ln * beyond) : value;
}

}  // namespace

const std::vector<double>& information_table(int qam, information_kind kind) {
  bits_per_symbol(qam);
  static std::mutex mutex;
  static std::map<std::pair<int, information_kind>, std::vector<double>> kept;
  std::lock_guard lock(mutex);
  if (qam <= 4) kind = information_kind::bit;  // one bit a dimension: both are the same
  std::vector<double>& table = kept[{qam, kind}];
  if (table.empty()) table = coefficients_of(grid_of(qam, kind));
  return table;
}

double mutual_information(int qam, double snr_db, information_kind kind) {
  const std::vector<double>& table = information_table(qam, kind);
  if (!(snr_db >= -300 && snr_db <= 300))
    throw argument_error("snr_db", as_message(setting_value(snr_db)), "a number from -300 to 300");
  const double bits = bits_per_symbol(qam), log_information = interpolated(table, snr_db, 0);
  if (log_information < std::log(bits / 2)) return std::exp(log_information);
  return bits - std::exp(interpolated(table, snr_db, 1));
}

double snr_db_of_information(int qam, double bits, information_kind kind) {
  const std::vector<double>& table = information_table(qam, kind);
  const int greatest = bits_per_symbol(qam);
  if (!(bits > 0 && bits < greatest))
    throw argument_error("bits", as_message(setting_value(bits)),
                         "a number above 0 and below " + std::to_string(greatest));
  const bool low = bits < 0.5 * greatest;
  const double wanted = std::log(low ? bits : greatest - bits);
  double from = -1e4, to = 300;
  for (int i = 0; i < 60; i++) {
    const double middle = (from + to) / 2, value = interpolated(table, middle, low ? 0 : 1);
    ((low ? value < wanted : value > wanted) ? from : to) = middle;
  }
  return (from + to) / 2;
}

}  // namespace wb
