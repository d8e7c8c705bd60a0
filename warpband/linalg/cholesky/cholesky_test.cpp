// Decompositions and solutions of Hermitian systems against an oracle in double precision, and ugly input.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>

#include <oracle/linalg.hpp>
#include <tests/on_backends.hpp>
#include <warpband/linalg/cholesky/cholesky.hpp>

namespace cholesky_test {

using wb::testing::blamed;
using wb::testing::on_device;
using complex = std::complex<float>;

constexpr double unit = 1.0 / (1 << 24);
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

struct batch {
  std::size_t n, items;
  std::vector<complex> a, b;
};
struct result {
  std::vector<complex> r, x;
  std::vector<std::uint8_t> status;
};
bool same_bits(const std::vector<complex>& a, const std::vector<complex>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(complex)) == 0;
}
bool same_bits(const result& a, const result& b) {
  return same_bits(a.r, b.r) && same_bits(a.x, b.x) && a.status == b.status;
}
result solve(wb::executor& exec, const batch& p) {
  const auto a = on_device(exec, p.a, p.items, p.n * p.n), b = on_device(exec, p.b, p.items, p.n);
  auto r = exec.make<complex>(p.items, p.n * p.n), x = exec.make<complex>(p.items, p.n);
  auto status = exec.make<std::uint8_t>(p.items, 1);
  wb::cholesky_solver(static_cast<int>(p.n)).run(exec, {a, b}, {r, x, status});
  return {exec.to_host(r), exec.to_host(x), exec.to_host(status)};
}

/// H^H H of condition `condition`, some power of ten, and right sides.
batch random_batch(int n, double condition, std::size_t items, std::mt19937& random) {
  std::uniform_real_distribution<double> decades(-4, 4);
  batch p{static_cast<std::size_t>(n), items, {}, {}};
  for (std::size_t i = 0; i < items; i++) {
    const double scale = std::pow(10, decades(random)), other = std::pow(10, decades(random));
    const auto h = oracle::with_condition(n + 2, n, std::sqrt(condition), false, random);
    for (const auto& x : (oracle::adjoint(h) * h).entries) p.a.push_back(complex(scale * x));
    for (const auto& x : oracle::with_condition(n, 1, 1, false, random).entries)
      p.b.push_back(complex(other * x));
  }
  return p;
}
oracle::matrix item_of(const std::vector<complex>& values, std::size_t i, std::size_t rows,
                       std::size_t columns) {
  oracle::matrix m(static_cast<int>(rows), static_cast<int>(columns));
  for (std::size_t e = 0; e < m.entries.size(); e++) m.entries[e] = values[i * m.entries.size() + e];
  return m;
}

class cholesky_on : public wb::testing::on_backend {};
WB_ON_ALL_BACKENDS(cholesky_on);

TEST_P(cholesky_on, equals_gaussian_elimination) {
  std::mt19937 random(1);
  for (int n = 1; n <= 8; n++)
    for (const double condition : {1., 10., 1e3, 1e5}) {
      const batch p = random_batch(n, condition, wb::testing::small_scale() ? 10 : 80, random);
      const result got = solve(exec(), p);
      double worst = 0, residual = 0;
      for (std::size_t i = 0; i < p.items; i++) {
        ASSERT_EQ(got.status[i], 0);
        const auto a = item_of(p.a, i, p.n, p.n), b = item_of(p.b, i, p.n, 1), x = item_of(got.x, i, p.n, 1);
        const auto expected = oracle::solve(a, b);
        worst = std::max(worst, norm(x - expected) / norm(expected));
        residual = std::max(residual, norm(a * x - b) / (norm(a) * norm(x)));
      }
      EXPECT_LE(worst, 4 * condition * unit) << n << ", condition " << condition;
      EXPECT_LE(residual, 8 * unit) << n << ", condition " << condition;
    }
}

TEST_P(cholesky_on, r_is_that_of_a_qr_decomposition) {
  std::mt19937 random(2);
  for (int n = 1; n <= 8; n++)
    for (const double condition : {1., 10., 1e3, 1e5}) {
      batch p{static_cast<std::size_t>(n), 20, {}, std::vector<complex>(20 * static_cast<std::size_t>(n))};
      std::vector<oracle::matrix> expected;
      for (std::size_t i = 0; i < p.items; i++) {
        const auto h = oracle::with_condition(n + 2, n, std::sqrt(condition), false, random);
        expected.push_back(oracle::qr(h).r);
        for (const auto& x : (oracle::adjoint(h) * h).entries) p.a.push_back(complex(x));
      }
      const result got = solve(exec(), p);
      double worst = 0, residual = 0;
      for (std::size_t i = 0; i < p.items; i++) {
        ASSERT_EQ(got.status[i], 0);
        const auto r = item_of(got.r, i, p.n, p.n), a = item_of(p.a, i, p.n, p.n);
        for (int row = 0; row < n; row++) {
          EXPECT_EQ(r(row, row).imag(), 0);
          for (int c = 0; c < row; c++) EXPECT_EQ(r(row, c), 0.0);
        }
        worst = std::max(worst, norm(r - expected[i]) / norm(expected[i]));
        residual = std::max(residual, norm(adjoint(r) * r - a) / norm(a));
      }
      EXPECT_LE(worst, 4 * condition * unit) << n << ", condition " << condition;
      EXPECT_LE(residual, 8 * unit) << n << ", condition " << condition;
    }
}

TEST_P(cholesky_on, what_is_not_wanted_changes_nothing) {
  std::mt19937 random(4);
  for (int n = 1; n <= 8; n++) {
    const batch p = random_batch(n, 30, 21, random);
    const result expected = solve(exec(), p);
    const auto a = on_device(exec(), p.a, p.items, p.n * p.n), b = on_device(exec(), p.b, p.items, p.n);
    auto r = exec().make<complex>(p.items, p.n * p.n), x = exec().make<complex>(p.items, p.n);
    const wb::cholesky_solver solver(n);
    solver.run(exec(), {.a = a}, {.r = r});
    solver.run(exec(), {.a = a, .b = b}, {.x = x});
    EXPECT_TRUE(same_bits(exec().to_host(r), expected.r) && same_bits(exec().to_host(x), expected.x));
  }
}

TEST_P(cholesky_on, reads_the_upper_triangle_only) {
  std::mt19937 random(3);
  for (int n = 1; n <= 8; n++) {
    batch p = random_batch(n, 30, 20, random);
    const result expected = solve(exec(), p);
    for (std::size_t i = 0; i < p.items; i++)
      for (std::size_t r = 0; r < p.n; r++) {
        p.a[(i * p.n + r) * p.n + r].imag(not_a_number);
        for (std::size_t c = 0; c < r; c++) p.a[(i * p.n + r) * p.n + c] = infinity;
      }
    EXPECT_TRUE(same_bits(solve(exec(), p), expected));
  }
}

TEST(cholesky_arguments, bad_ones_are_named) {
  EXPECT_EQ(blamed([] { wb::cholesky_solver{0}; }), "size");
  EXPECT_EQ(blamed([] { wb::cholesky_solver{9}; }), "size");
  const auto exec = wb::testing::open_scalar();
  auto a = exec->make_zeros<complex>(5, 4), b = exec->make_zeros<complex>(5, 2),
       r = exec->make<complex>(5, 4), x = exec->make<complex>(5, 2);
  const wb::cholesky_solver solver(2);
  EXPECT_NO_THROW(solver.run(*exec, {a, b}, {r, x}));
  EXPECT_EQ(blamed([&] { solver.run(*exec, {a}, {r, x}); }), "x");
  EXPECT_EQ(blamed([&] { solver.run(*exec, {a, b}, {x, x}); }), "r");
  EXPECT_EQ(blamed([&] { solver.run(*exec, {b, b}, {r, x}); }), "a");
}

}  // namespace cholesky_test
