#pragma once

#include <complex>
#include <random>
#include <vector>

/// Small dense matrices in double precision, for checking the library.
namespace oracle {

struct matrix {
  int rows = 0, columns = 0;
  std::vector<std::complex<double>> entries;  ///< row by row
  matrix() = default;
  matrix(int r, int c);  ///< of zeros
  std::complex<double>& operator()(int r, int c);
  const std::complex<double>& operator()(int r, int c) const;
};
matrix identity(int n);
matrix operator*(const matrix& a, const matrix& b);
matrix operator-(const matrix& a, const matrix& b);
matrix adjoint(const matrix& a);
/// Frobenius.
double norm(const matrix& a);

struct qr_factors {
  matrix q, r;
};
/// H = Q R with Q^H Q = I and R upper triangular with real positive diagonal: Gram-Schmidt, every column
/// orthogonalised twice. H must have full column rank.
qr_factors qr(const matrix& h);

/// x of A x = b by Gaussian elimination with partial pivoting. Throws std::domain_error where A is singular.
matrix solve(matrix a, matrix b);

/// U diag(s) V^H with random orthonormal columns U, random unitary V, and s falling from 1 to 1 / condition
/// in equal ratios. `real`: of real entries.
matrix with_condition(int rows, int columns, double condition, bool real, std::mt19937& random);

/// Each entry a + ib as the block [a -b; b a], so that the real and imaginary part of one row or column are
/// neighbours.
matrix real_decomposed(const matrix& h);

}  // namespace oracle
