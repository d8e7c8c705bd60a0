#include <warpband/nr/pucch/pucch_filters.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace wb {
namespace {

using pucch_rows = std::vector<std::vector<double>>;

double pucch_sinc(double x) {
  return std::abs(x) < 1e-9 ? 1 : std::sin(std::numbers::pi * x) / (std::numbers::pi * x);
}

/// Columns L with R = L L^T, by the largest remaining diagonal: until 1e-9 of the trace is left.
pucch_rows pivoted_cholesky(const std::vector<double>& x, double width) {
  const std::size_t n = x.size();
  std::vector<double> rest(n, 1.);
  pucch_rows columns;
  while (columns.size() < n &&
         std::accumulate(rest.begin(), rest.end(), 0.) > 1e-9 * static_cast<double>(n)) {
    const auto pivot = static_cast<std::size_t>(std::max_element(rest.begin(), rest.end()) - rest.begin());
    const double root = std::sqrt(rest[pivot]);
    std::vector<double> column(n);
    for (std::size_t i = 0; i < n; i++) {
      double r = pucch_sinc((x[i] - x[pivot]) * width);
      for (const auto& before : columns) r -= before[i] * before[pivot];
      column[i] = r / root;
      rest[i] = std::max(rest[i] - column[i] * column[i], 0.);
    }
    rest[pivot] = 0;
    columns.push_back(std::move(column));
  }
  return columns;
}

/// Jacobi's rotations: a becomes diagonal, and the rows of the result are its eigenvectors.
pucch_rows diagonalise(pucch_rows& a) {
  const std::size_t n = a.size();
  pucch_rows v(n, std::vector<double>(n));
  for (std::size_t i = 0; i < n; i++) v[i][i] = 1;
  for (int sweep = 0; sweep < 30; sweep++) {
    double beside = 0;
    for (std::size_t p = 0; p < n; p++)
      for (std::size_t q = p + 1; q < n; q++) {
        beside = std::max(beside, std::abs(a[p][q]));
        if (std::abs(a[p][q]) < 1e-300) continue;
        const double angle = 0.5 * std::atan2(2 * a[p][q], a[p][p] - a[q][q]), c = std::cos(angle),
                     s = std::sin(angle);
        const auto turn = [&](double& x, double& y) {
          const double both = c * x + s * y;
          y = c * y - s * x;
          x = both;
        };
        for (std::size_t i = 0; i < n; i++) turn(a[i][p], a[i][q]);
        for (std::size_t i = 0; i < n; i++) turn(a[p][i], a[q][i]), turn(v[p][i], v[q][i]);
      }
    if (beside < 1e-12) break;
  }
  return v;
}

}  // namespace

pucch_filter make_pucch_filter(const std::vector<double>& pilots, const std::vector<double>& positions,
                               double middle, double width, double share, int most_ranks) {
  const std::size_t n = pilots.size();
  const pucch_rows columns = pivoted_cholesky(pilots, width);
  const std::size_t ranks = columns.size();
  pucch_rows gram(ranks, std::vector<double>(ranks));  // its eigenvalues are those of R
  for (std::size_t i = 0; i < ranks; i++)
    for (std::size_t j = 0; j < ranks; j++)
      gram[i][j] = std::inner_product(columns[i].begin(), columns[i].end(), columns[j].begin(), 0.);
  const pucch_rows vectors = diagonalise(gram);
  std::vector<std::size_t> order(ranks);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t i, std::size_t j) { return gram[i][i] > gram[j][j]; });

  const auto turned = [&](double x) { return std::polar(1., -2 * std::numbers::pi * x * middle); };
  pucch_filter f;
  double power = 0;
  for (const std::size_t i : order) {
    if (static_cast<int>(f.gains.size()) >= most_ranks || power >= share * static_cast<double>(n)) break;
    const double gain = gram[i][i];
    std::vector<double> u(n);
    for (std::size_t p = 0; p < n; p++) {
      for (std::size_t j = 0; j < ranks; j++) u[p] += columns[j][p] * vectors[i][j];
      u[p] /= std::sqrt(gain);
    }
    std::vector<std::complex<double>> analysis, synthesis;
    for (std::size_t p = 0; p < n; p++) analysis.push_back(std::conj(u[p] * turned(pilots[p])));
    for (const double z : positions) {
      double sum = 0;
      for (std::size_t p = 0; p < n; p++) sum += pucch_sinc((z - pilots[p]) * width) * u[p];
      synthesis.push_back(sum * turned(z));
    }
    power += gain;
    f.gains.push_back(gain);
    f.analysis.push_back(std::move(analysis));
    f.synthesis.push_back(std::move(synthesis));
  }
  return f;
}

}  // namespace wb
