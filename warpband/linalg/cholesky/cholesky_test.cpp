// Solutions of Hermitian systems against Gaussian elimination in double precision, and ugly input.
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

using wb::layout;
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
  std::vector<complex> x;
  std::vector<std::uint8_t> status;
};
bool same_bits(const result& a, const result& b) {
  return a.x.size() == b.x.size() && a.status == b.status &&
         std::memcmp(a.x.data(), b.x.data(), a.x.size() * sizeof(complex)) == 0;
}
std::vector<complex> transposed(const std::vector<complex>& values, std::size_t elements) {
  const std::size_t items = values.size() / elements;
  std::vector<complex> t(values.size());
  for (std::size_t i = 0; i < items; i++)
    for (std::size_t e = 0; e < elements; e++) t[e * items + i] = values[i * elements + e];
  return t;
}

result solve(wb::executor& exec, const batch& p, layout order = layout::row_major) {
  const bool swapped = order == layout::batch_fastest;
  const auto a = on_device(exec, swapped ? transposed(p.a, p.n * p.n) : p.a, p.n * p.n, p.items, order),
             b = on_device(exec, swapped ? transposed(p.b, p.n) : p.b, p.n, p.items, order);
  auto x = exec.make<complex>(p.n, p.items, order);
  auto status = exec.make<std::uint8_t>(1, p.items);
  wb::cholesky_solver(static_cast<int>(p.n)).run(exec, {a, b}, x, status);
  const auto got = exec.to_host(x);
  return {swapped ? transposed(got, p.items) : got, exec.to_host(status)};
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

TEST_P(cholesky_on, equals_scalar_in_every_bit_at_any_batch) {
  const auto scalar = wb::testing::open_scalar();
  std::mt19937 random(2);
  for (int n = 1; n <= 8; n++)
    for (const std::size_t items : {1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33}) {
      const batch p = random_batch(n, 30, items, random);
      const result expected = solve(*scalar, p);
      EXPECT_TRUE(same_bits(solve(exec(), p), expected)) << n << ", " << items << " items";
      EXPECT_TRUE(same_bits(solve(exec(), p, layout::batch_fastest), expected)) << n << ", " << items;
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

TEST_P(cholesky_on, bad_items_are_erased_and_flagged_and_harm_no_neighbour) {
  struct fault {
    const char* name;
    void (*apply)(complex* a, complex* b, std::size_t n);
  };
  const std::vector<fault> faults{
      {"NaN in A", [](complex* a, complex*, std::size_t n) { a[n * n - 1] = not_a_number; }},
      {"inf in A", [](complex* a, complex*, std::size_t n) { a[n - 1] = infinity; }},
      {"NaN in b", [](complex*, complex* b, std::size_t n) { b[n - 1].imag(not_a_number); }},
      {"inf in b", [](complex*, complex* b, std::size_t) { b[0] = -infinity; }},
      {"A zero", [](complex* a, complex*, std::size_t n) { std::fill(a, a + n * n, complex(0)); }},
      {"A negative",
       [](complex* a, complex*, std::size_t n) {
         for (std::size_t i = 0; i < n * n; i++) a[i] = -a[i];
       }},
      {"A too large", [](complex* a, complex*, std::size_t n) { std::fill(a, a + n * n, complex(2e15f)); }},
      {"A far too large",
       [](complex* a, complex*, std::size_t n) { std::fill(a, a + n * n, complex(3e38f)); }},
      {"A too small", [](complex* a, complex*, std::size_t n) { std::fill(a, a + n * n, complex(1e-32f)); }},
      {"b too large", [](complex*, complex* b, std::size_t) { b[0] = 3e38f; }},
      {"A of a zero pivot",
       [](complex* a, complex*, std::size_t n) {
         for (std::size_t r = 0; r < n; r++) a[r * n + n - 1] = 0;
       }},
      {"A of ones",
       [](complex* a, complex*, std::size_t n) { std::fill(a, a + n * n, complex(n > 1 ? 1.f : 0.f)); }},
      {"A indefinite",
       [](complex* a, complex*, std::size_t n) {
         for (std::size_t r = 0; r + 1 < n; r++) a[r * n + n - 1] = 1e14f;
         if (n == 1) a[0] = -1;
       }},
  };
  const auto scalar = wb::testing::open_scalar();
  std::mt19937 random(4);
  for (int n = 1; n <= 8; n++) {
    const batch good = random_batch(n, 10, 16 * faults.size() + 5, random);
    batch bad = good;
    std::vector<const char*> broken(good.items, nullptr);
    const auto apply = [&](const fault& f, std::size_t i) {
      f.apply(bad.a.data() + i * bad.n * bad.n, bad.b.data() + i * bad.n, bad.n);
      broken[i] = f.name;
    };
    for (std::size_t f = 0; f < faults.size(); f++) apply(faults[f], 16 * f + f % 16);
    apply(faults[0], good.items - 1);
    const result before = solve(exec(), good), after = solve(exec(), bad);
    for (std::size_t i = 0; i < good.items; i++) {
      EXPECT_EQ(after.status[i], broken[i] ? wb::status_erased : 0)
          << (broken[i] ? broken[i] : "a neighbour") << n;
      const std::vector<complex> zeros(good.n);
      const complex* expected = broken[i] ? zeros.data() : before.x.data() + i * good.n;
      EXPECT_EQ(std::memcmp(after.x.data() + i * good.n, expected, good.n * sizeof(complex)), 0)
          << (broken[i] ? broken[i] : "a neighbour") << ", item " << i;
    }
    EXPECT_TRUE(same_bits(after, solve(*scalar, bad)));
  }
}

TEST(cholesky_arguments, bad_ones_are_named) {
  EXPECT_EQ(blamed([] { wb::cholesky_solver{0}; }), "size");
  EXPECT_EQ(blamed([] { wb::cholesky_solver{9}; }), "size");
  const auto exec = wb::testing::open_scalar();
  const wb::cholesky_solver solver(2);
  auto a = exec->make<complex>(4, 5), b = exec->make<complex>(2, 5), x = exec->make<complex>(2, 5),
       few = exec->make<complex>(2, 4);
  auto status_few = exec->make<std::uint8_t>(1, 4);
  std::fill_n(a.data(), a.size(), complex(1));
  std::fill_n(b.data(), b.size(), complex(1));
  EXPECT_NO_THROW(solver.run(*exec, {a, b}, x));
  EXPECT_EQ(blamed([&] { solver.run(*exec, {b, b}, x); }), "a");
  EXPECT_EQ(blamed([&] { solver.run(*exec, {a, few}, x); }), "b");
  EXPECT_EQ(blamed([&] { solver.run(*exec, {a, b}, few); }), "x");
  EXPECT_EQ(blamed([&] { solver.run(*exec, {a, b}, x, status_few); }), "status");
}

}  // namespace cholesky_test
