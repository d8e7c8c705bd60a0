// Checks of the oracle's linear algebra: against matrices worked out by hand and against each other.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <random>
#include <stdexcept>

#include <oracle/linalg.hpp>

namespace linalg_test {

using oracle::matrix;

TEST(oracle_linalg, qr_of_a_matrix_worked_out_by_hand) {
  matrix h(3, 2);  // columns (3i, 0, 4) and (1, 2, 0)
  h(0, 0) = {0, 3}, h(2, 0) = 4;
  h(0, 1) = 1, h(1, 1) = 2;
  const auto [q, r] = oracle::qr(h);
  EXPECT_NEAR(std::abs(r(0, 0) - 5.0), 0, 1e-15);
  EXPECT_NEAR(std::abs(r(0, 1) - std::complex<double>(0, -0.6)), 0, 1e-15);
  EXPECT_EQ(r(1, 0), 0.0);
  EXPECT_NEAR(std::abs(r(1, 1) - std::sqrt(4.64)), 0, 1e-15);
  EXPECT_NEAR(oracle::norm(q * r - h), 0, 1e-15);
}

TEST(oracle_linalg, factors_and_solutions_check_out) {
  std::mt19937 random(1);
  for (const bool real : {false, true})
    for (const int n : {1, 2, 5, 8})
      for (const double condition : {1., 1e3, 1e6}) {
        const matrix h = oracle::with_condition(n + 3, n, condition, real, random);
        const auto [q, r] = oracle::qr(h);
        EXPECT_LT(oracle::norm(q * r - h), 1e-14);
        EXPECT_LT(oracle::norm(oracle::adjoint(q) * q - oracle::identity(n)), 1e-14);
        for (int i = 0; i < n; i++) {
          EXPECT_EQ(r(i, i).imag(), 0);
          EXPECT_GT(r(i, i).real(), 0);
          for (int j = 0; j < i; j++) EXPECT_EQ(r(i, j), 0.0);
          for (int j = 0; j < n; j++) EXPECT_TRUE(!real || r(i, j).imag() == 0);
        }
        const matrix a = oracle::with_condition(n, n, condition, real, random);
        const matrix x = oracle::with_condition(n, 1, 1, real, random);
        EXPECT_LT(oracle::norm(oracle::solve(a, a * x) - x), 1e-14 * condition);
      }
  EXPECT_THROW(oracle::solve(matrix(2, 2), matrix(2, 1)), std::domain_error);
}

TEST(oracle_linalg, condition_is_what_was_asked_for) {
  std::mt19937 random(2);
  for (const int n : {2, 8}) {
    // Power iterations on A^H A and on its inverse.
    const matrix h = oracle::with_condition(10, n, 100, false, random), g = oracle::adjoint(h) * h;
    matrix large = oracle::with_condition(n, 1, 1, false, random), small = large;
    double largest = 0, least = 0;
    for (int i = 0; i < 500; i++) {
      large = g * large;
      small = oracle::solve(g, small);
      largest = oracle::norm(large), least = oracle::norm(small);
      for (auto& x : large.entries) x /= largest;
      for (auto& x : small.entries) x /= least;
    }
    EXPECT_NEAR(largest, 1, 1e-9);
    EXPECT_NEAR(std::sqrt(largest * least), 100, 1e-6);
  }
}

TEST(oracle_linalg, real_decomposition_multiplies_as_the_complex_matrices) {
  std::mt19937 random(3);
  const matrix a = oracle::with_condition(4, 3, 2, false, random),
               b = oracle::with_condition(3, 2, 2, false, random);
  EXPECT_LT(
      oracle::norm(oracle::real_decomposed(a) * oracle::real_decomposed(b) - oracle::real_decomposed(a * b)),
      1e-15);
  EXPECT_LT(
      oracle::norm(oracle::adjoint(oracle::real_decomposed(a)) - oracle::real_decomposed(oracle::adjoint(a))),
      1e-15);
}

}  // namespace linalg_test
