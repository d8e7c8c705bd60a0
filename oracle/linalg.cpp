#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <utility>

#include <oracle/linalg.hpp>

namespace oracle {

matrix::matrix(int r, int c)
    : rows(r), columns(c), entries(static_cast<std::size_t>(r) * static_cast<std::size_t>(c)) {}
std::complex<double>& matrix::operator()(int r, int c) {
  return entries.at(static_cast<std::size_t>(r * columns + c));
}
const std::complex<double>& matrix::operator()(int r, int c) const {
  return entries.at(static_cast<std::size_t>(r * columns + c));
}

matrix identity(int n) {
  matrix m(n, n);
  for (int i = 0; i < n; i++) m(i, i) = 1;
  return m;
}

matrix operator*(const matrix& a, const matrix& b) {
  if (a.columns != b.rows) throw std::invalid_argument("product of matrices that do not match");
  matrix m(a.rows, b.columns);
  for (int i = 0; i < a.rows; i++)
    for (int j = 0; j < b.columns; j++)
      for (int k = 0; k < a.columns; k++) m(i, j) += a(i, k) * b(k, j);
  return m;
}

matrix operator-(const matrix& a, const matrix& b) {
  if (a.rows != b.rows || a.columns != b.columns)
    throw std::invalid_argument("difference of matrices that do not match");
  matrix m = a;
  for (std::size_t i = 0; i < m.entries.size(); i++) m.entries[i] -= b.entries[i];
  return m;
}

matrix adjoint(const matrix& a) {
  matrix m(a.columns, a.rows);
  for (int i = 0; i < a.rows; i++)
    for (int j = 0; j < a.columns; j++) m(j, i) = std::conj(a(i, j));
  return m;
}

double norm(const matrix& a) {
  double sum = 0;
  for (const auto& x : a.entries) sum += std::norm(x);
  return std::sqrt(sum);
}

qr_factors qr(const matrix& h) {
  qr_factors f{h, matrix(h.columns, h.columns)};
  for (int j = 0; j < h.columns; j++) {
    for (int pass = 0; pass < 2; pass++)
      for (int i = 0; i < j; i++) {
        std::complex<double> s = 0;
        for (int k = 0; k < h.rows; k++) s += std::conj(f.q(k, i)) * f.q(k, j);
        for (int k = 0; k < h.rows; k++) f.q(k, j) -= s * f.q(k, i);
        f.r(i, j) += s;
      }
    double square = 0;
    for (int k = 0; k < h.rows; k++) square += std::norm(f.q(k, j));
    f.r(j, j) = std::sqrt(square);
    for (int k = 0; k < h.rows; k++) f.q(k, j) /= std::sqrt(square);
  }
  return f;
}

matrix solve(matrix a, matrix b) {
  const int n = a.rows;
  if (a.columns != n || b.rows != n) throw std::invalid_argument("no square system");
  for (int c = 0; c < n; c++) {
    int pivot = c;
    for (int r = c + 1; r < n; r++)
      if (std::abs(a(r, c)) > std::abs(a(pivot, c))) pivot = r;
    if (a(pivot, c) == 0.0) throw std::domain_error("singular");
    for (int k = 0; k < n; k++) std::swap(a(c, k), a(pivot, k));
    for (int k = 0; k < b.columns; k++) std::swap(b(c, k), b(pivot, k));
    for (int r = c + 1; r < n; r++) {
      const std::complex<double> factor = a(r, c) / a(c, c);
      for (int k = c; k < n; k++) a(r, k) -= factor * a(c, k);
      for (int k = 0; k < b.columns; k++) b(r, k) -= factor * b(c, k);
    }
  }
  for (int k = 0; k < b.columns; k++)
    for (int r = n - 1; r >= 0; r--) {
      for (int c = r + 1; c < n; c++) b(r, k) -= a(r, c) * b(c, k);
      b(r, k) /= a(r, r);
    }
  return b;
}

matrix with_condition(int rows, int columns, double condition, bool real, std::mt19937& random) {
  std::normal_distribution<double> normal;
  const auto orthonormal = [&](int r, int c) {
    matrix m(r, c);
    for (auto& x : m.entries) {
      const double re = normal(random);
      x = {re, real ? 0 : normal(random)};
    }
    return qr(m).q;
  };
  matrix u = orthonormal(rows, columns);
  const matrix v = orthonormal(columns, columns);
  for (int c = 0; c < columns; c++)
    for (int r = 0; r < rows; r++) u(r, c) *= std::pow(condition, columns > 1 ? -c / (columns - 1.0) : 0.0);
  return u * adjoint(v);
}

matrix real_decomposed(const matrix& h) {
  matrix m(2 * h.rows, 2 * h.columns);
  for (int r = 0; r < h.rows; r++)
    for (int c = 0; c < h.columns; c++) {
      m(2 * r, 2 * c) = m(2 * r + 1, 2 * c + 1) = h(r, c).real();
      m(2 * r + 1, 2 * c) = h(r, c).imag();
      m(2 * r, 2 * c + 1) = -h(r, c).imag();
    }
  return m;
}

}  // namespace oracle
