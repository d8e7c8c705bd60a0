// QR decompositions against an oracle in double precision over conditions 1 to 1000, orders of columns, the
// real and the complex form against each other, and ugly input.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <numeric>
#include <random>
#include <type_traits>

#include <oracle/linalg.hpp>
#include <tests/on_backends.hpp>
#include <warpband/linalg/qr/qr.hpp>

namespace qr_test {

using wb::qr_config;
using wb::qr_method;
using wb::testing::blamed;
using wb::testing::on_device;
using complex = std::complex<float>;

constexpr qr_method methods[]{qr_method::gram_schmidt, qr_method::householder, qr_method::cholesky};
constexpr double unit = 1.0 / (1 << 24);  // rounding of a float

/// A batch of matrices and right sides, item by item.
template <class E>
struct batch {
  int rows, columns;
  std::size_t items;
  std::vector<E> h, y;
};
template <class E>
struct result {
  std::vector<E> r, q, z;
  std::vector<std::uint8_t> status;
};
template <class E>
bool same_bits(const std::vector<E>& a, const std::vector<E>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(E)) == 0);
}
template <class E>
bool same_bits(const result<E>& a, const result<E>& b) {
  return same_bits(a.r, b.r) && same_bits(a.q, b.q) && same_bits(a.z, b.z) && a.status == b.status;
}

struct how {
  qr_method method = qr_method::gram_schmidt;
  int first = 0;
  std::vector<int> order = {};
};

template <class E>
result<E> decompose(wb::executor& exec, const batch<E>& b, const how& w) {
  const wb::basic_qr_decomposition<E> qr({.rows = b.rows, .columns = b.columns, .method = w.method});
  const auto m = static_cast<std::size_t>(b.rows), n = static_cast<std::size_t>(b.columns);
  const bool with_q = w.method != qr_method::cholesky, with_y = !b.y.empty();
  const auto h = on_device(exec, b.h, b.items, m * n);
  const auto y = on_device(exec, b.y, with_y ? b.items : 0, m);
  auto r = exec.make<E>(b.items, n * n), q = exec.make<E>(with_q ? b.items : 0, m * n),
       z = exec.make<E>(with_y ? b.items : 0, n);
  auto status = exec.make<std::uint8_t>(b.items, 1);
  wb::qr_input<E> in{.h = h, .first = w.first, .order = w.order};
  wb::qr_output<E> out{.r = r, .status = status};
  if (with_y) in.y = y, out.z = z;
  if (with_q) out.q = q;
  qr.run(exec, in, out);
  return {exec.to_host(r), exec.to_host(q), exec.to_host(z), exec.to_host(status)};
}

template <class E>
E narrowed(std::complex<double> x) {
  if constexpr (std::is_same_v<E, float>)
    return static_cast<float>(x.real());
  else
    return E(x);
}
/// Item i of values [items, rows * columns].
template <class E>
oracle::matrix item_of(const std::vector<E>& values, std::size_t i, int rows, int columns) {
  oracle::matrix m(rows, columns);
  for (std::size_t e = 0; e < m.entries.size(); e++) m.entries[e] = values[i * m.entries.size() + e];
  return m;
}

/// Matrices of a condition, each scaled by some power of ten, and right sides.
template <class E>
batch<E> random_batch(int rows, int columns, double condition, std::size_t items, std::mt19937& random) {
  std::uniform_real_distribution<double> decades(-4, 4);
  constexpr bool real = std::is_same_v<E, float>;
  batch<E> b{rows, columns, items, {}, {}};
  for (std::size_t i = 0; i < items; i++) {
    const double scale = std::pow(10, decades(random)), other = std::pow(10, decades(random));
    for (const auto& x : oracle::with_condition(rows, columns, condition, real, random).entries)
      b.h.push_back(narrowed<E>(scale * x));
    for (const auto& x : oracle::with_condition(rows, 1, 1, real, random).entries)
      b.y.push_back(narrowed<E>(other * x));
  }
  return b;
}

template <class E>
std::vector<std::array<int, 2>> shapes() {
  std::vector<std::array<int, 2>> shapes{{1, 1}, {2, 2}, {3, 2}, {4, 4}, {5, 5}, {8, 8}, {16, 8}, {16, 1}};
  if (std::is_same_v<E, float>) shapes.insert(shapes.end(), {{16, 16}, {11, 9}});
  return shapes;
}

/// Holds a batch's results against the oracle.
template <class E>
void expect_decomposed(const batch<E>& b, const result<E>& got, double condition, const how& w) {
  const int m = b.rows, n = b.columns;
  const bool has_q = w.method != qr_method::cholesky;
  double residual = 0, orthogonality = 0, triangle = 0, right = 0;
  for (std::size_t i = 0; i < b.items; i++) {
    ASSERT_EQ(got.status[i], 0);
    const oracle::matrix given = item_of(b.h, i, m, n), y = item_of(b.y, i, m, 1);
    oracle::matrix h(m, n);
    for (int r = 0; r < m; r++)
      for (int k = 0; k < n; k++)
        h(r, k) = given(r, w.order.empty() ? (w.first + k) % n : w.order[static_cast<std::size_t>(k)]);
    const oracle::matrix r = item_of(got.r, i, n, n), z = item_of(got.z, i, n, 1);
    const auto expected = oracle::qr(h);
    for (int c = 0; c < n; c++) {
      EXPECT_EQ(r(c, c).imag(), 0);
      EXPECT_GT(r(c, c).real(), 0);
      for (int k = 0; k < c; k++) EXPECT_EQ(r(c, k), 0.0);
    }
    triangle = std::max(triangle, norm(r - expected.r) / norm(expected.r));
    right = std::max(right, norm(z - adjoint(expected.q) * y) / norm(y));
    if (has_q) {
      const oracle::matrix q = item_of(got.q, i, m, n);
      residual = std::max(residual, norm(q * r - h) / norm(h));
      orthogonality = std::max(orthogonality, norm(adjoint(q) * q - oracle::identity(n)));
    }
  }
  const double growth = has_q ? condition : condition * condition;
  const std::string name = std::to_string(m) + "x" + std::to_string(n) + ", condition " +
                           std::to_string(condition) +
                           (!has_q                               ? ", Cholesky"
                            : w.method == qr_method::householder ? ", Householder"
                                                                 : ", Gram-Schmidt");
  EXPECT_LT(residual, 1e-6) << name;
  EXPECT_LE(orthogonality, (w.method == qr_method::householder ? 32 : 16 * condition) * unit) << name;
  EXPECT_LE(triangle, 4 * growth * unit) << name;
  EXPECT_LE(right, 16 * growth * unit) << name;
}

class qr_on : public wb::testing::on_backend {
 protected:
  template <class E>
  void expect_oracle() {
    std::mt19937 random(1);
    for (const auto& [m, n] : shapes<E>())
      for (const double condition : {1., 10., 100., 1000.}) {
        if (n == 1 && condition > 1) continue;
        const auto b = random_batch<E>(m, n, condition, wb::testing::small_scale() ? 10 : 60, random);
        for (const qr_method method : methods) {
          const how w{.method = method};
          expect_decomposed(b, decompose(exec(), b, w), condition, w);
        }
      }
  }
  template <class E>
  void expect_orders() {
    std::mt19937 random(4);
    for (const auto& [m, n] : shapes<E>()) {
      const auto b = random_batch<E>(m, n, 10, 20, random);
      for (const qr_method method : methods) {
        for (int first = 0; first < n; first++) {
          const how w{.method = method, .first = first};
          const auto got = decompose(exec(), b, w);
          expect_decomposed(b, got, 10, w);
          how written{.method = method};
          for (int k = 0; k < n; k++) written.order.push_back((first + k) % n);
          EXPECT_TRUE(same_bits(decompose(exec(), b, written), got));
        }
        how w{.method = method};
        w.order.resize(static_cast<std::size_t>(n));
        std::iota(w.order.begin(), w.order.end(), 0);
        for (int i = 0; i < 3; i++) {
          std::shuffle(w.order.begin(), w.order.end(), random);
          expect_decomposed(b, decompose(exec(), b, w), 10, w);
        }
      }
    }
  }
};
WB_ON_ALL_BACKENDS(qr_on);

TEST_P(qr_on, equals_oracle) { expect_oracle<complex>(); }
TEST_P(qr_on, equals_oracle_real) { expect_oracle<float>(); }
TEST_P(qr_on, columns_come_in_the_order_asked_for) { expect_orders<complex>(); }
TEST_P(qr_on, columns_come_in_the_order_asked_for_real) { expect_orders<float>(); }

TEST_P(qr_on, a_missing_right_side_changes_nothing) {
  std::mt19937 random(5);
  for (const auto& [m, n] : shapes<complex>()) {
    auto b = random_batch<complex>(m, n, 10, 21, random);
    for (const qr_method method : methods) {
      b.y.resize(b.items * static_cast<std::size_t>(m), complex(1, 2));
      const auto with = decompose(exec(), b, {.method = method});
      b.y.clear();
      const auto without = decompose(exec(), b, {.method = method});
      EXPECT_TRUE(same_bits(with.r, without.r) && same_bits(with.q, without.q));
    }
  }
}

TEST_P(qr_on, complex_equals_the_real_decomposed_in_blocks) {
  std::mt19937 random(6);
  for (const auto& [m, n] : {std::array{1, 1}, std::array{2, 2}, std::array{4, 4}, std::array{8, 8},
                             std::array{7, 3}, std::array{8, 1}})
    for (const double condition : {1., 100.}) {
      if (n == 1 && condition > 1) continue;
      const auto b = random_batch<complex>(m, n, condition, 20, random);
      batch<float> real{2 * m, 2 * n, b.items, {}, {}};
      for (std::size_t i = 0; i < b.items; i++) {
        for (const auto& x : oracle::real_decomposed(item_of(b.h, i, m, n)).entries)
          real.h.push_back(static_cast<float>(x.real()));
        for (int r = 0; r < m; r++) {
          const complex y = b.y[i * static_cast<std::size_t>(m) + static_cast<std::size_t>(r)];
          real.y.insert(real.y.end(), {y.real(), y.imag()});
        }
      }
      for (const qr_method method : methods) {
        const auto expected = decompose(exec(), b, {.method = method});
        const auto got = decompose(exec(), real, {.method = method});
        const bool has_q = method != qr_method::cholesky;
        const double allowed = 32 * unit * (has_q ? condition : condition * condition);
        for (std::size_t i = 0; i < b.items; i++) {
          const auto r = item_of(expected.r, i, n, n), z = item_of(expected.z, i, n, 1);
          EXPECT_LE(norm(item_of(got.r, i, 2 * n, 2 * n) - real_decomposed(r)), allowed * norm(r));
          if (has_q) {
            const auto q = item_of(expected.q, i, m, n);
            EXPECT_LE(norm(item_of(got.q, i, 2 * m, 2 * n) - real_decomposed(q)), allowed);
          }
          double error = 0;
          for (int k = 0; k < n; k++) {
            const std::size_t element = 2 * (i * static_cast<std::size_t>(n) + static_cast<std::size_t>(k));
            error += std::norm(std::complex<double>(got.z[element], got.z[element + 1]) - z(k, 0));
          }
          EXPECT_LE(std::sqrt(error), allowed * norm(item_of(b.y, i, m, 1)));
        }
      }
    }
}

TEST_P(qr_on, a_singular_gram_matrix_gives_finite_values_or_an_erasure) {
  std::mt19937 random(8);
  for (const auto& [m, n] : shapes<complex>()) {
    if (n == 1) continue;
    auto b = random_batch<complex>(m, n, 10, 200, random);
    for (std::size_t i = 0; i < b.items; i++)
      for (int r = 0; r < m; r++) {  // the last column is the sum of two others, or twice the one other
        complex* row = b.h.data() + (i * static_cast<std::size_t>(m) + static_cast<std::size_t>(r)) *
                                        static_cast<std::size_t>(n);
        row[n - 1] = row[0] + row[std::min(1, n - 2)];
      }
    const auto exact = decompose(exec(), b, {}),
               reflected = decompose(exec(), b, {.method = qr_method::householder}),
               squared = decompose(exec(), b, {.method = qr_method::cholesky});
    EXPECT_EQ(wb::count_erased(exact.status), b.items) << m << "x" << n;
    EXPECT_EQ(wb::count_erased(reflected.status), b.items) << m << "x" << n;
    EXPECT_GT(wb::count_erased(squared.status), b.items / 2) << m << "x" << n;
    for (const complex& x : squared.r) ASSERT_TRUE(std::isfinite(x.real()) && std::isfinite(x.imag()));
    for (const complex& x : squared.z) ASSERT_TRUE(std::isfinite(x.real()) && std::isfinite(x.imag()));
  }
}

/// Condition 3e5, and |H|^2 from 1e-29 to 1e29: squares of pivots that float32 does not hold are none of Q's.
TEST_P(qr_on, reflections_give_an_orthonormal_q_at_any_scale_and_condition) {
  std::mt19937 random(9);
  for (const auto& [m, n] : shapes<complex>())
    for (const double square : {1e-29, 1e-16, 1e-14, 1., 1e29}) {
      batch<complex> b{m, n, 20, {}, {}};
      for (std::size_t i = 0; i < b.items; i++) {
        const auto h = oracle::with_condition(m, n, n == 1 ? 1 : 3e5, false, random);
        for (const auto& x : h.entries) b.h.push_back(complex(std::sqrt(square) / norm(h) * x));
      }
      const auto got = decompose(exec(), b, {.method = qr_method::householder});
      for (std::size_t i = 0; i < b.items; i++) {
        ASSERT_EQ(got.status[i], 0) << m << "x" << n << ", " << square;
        const auto h = item_of(b.h, i, m, n), q = item_of(got.q, i, m, n), r = item_of(got.r, i, n, n);
        EXPECT_LE(norm(adjoint(q) * q - oracle::identity(n)), 32 * unit) << m << "x" << n << ", " << square;
        EXPECT_LE(norm(q * r - h) / norm(h), 16 * unit) << m << "x" << n << ", " << square;
      }
    }
}

/// The first entry of a column has no direction, or a tiny one, where the reflection begins.
TEST_P(qr_on, reflections_of_columns_that_begin_with_zeros) {
  for (const float first : {0.f, 1e-30f, -1e-22f, 1e-12f}) {
    const batch<complex> b{3, 2, 1, {first, {0, first}, {0, 1}, 2, {first, first}, {0, -3}}, {1, 2, 3}};
    expect_decomposed(b, decompose(exec(), b, {.method = qr_method::householder}), 10,
                      {.method = qr_method::householder});
  }
}

TEST(qr_arguments, bad_ones_are_named) {
  const auto config = [](int rows, int columns, qr_method method = qr_method::gram_schmidt) {
    return qr_config{.rows = rows, .columns = columns, .method = method};
  };
  EXPECT_EQ(blamed([&] { wb::qr_decomposition{config(2, 0)}; }), "columns");
  EXPECT_EQ(blamed([&] { wb::qr_decomposition{config(9, 9)}; }), "columns");
  EXPECT_EQ(blamed([&] { wb::qr_decomposition{config(3, 4)}; }), "rows");
  EXPECT_EQ(blamed([&] { wb::qr_decomposition{config(17, 4)}; }), "rows");
  EXPECT_EQ(blamed([&] { wb::real_qr_decomposition{config(17, 17)}; }), "columns");
  EXPECT_EQ(blamed([&] { wb::real_qr_decomposition{config(15, 16)}; }), "rows");
  EXPECT_EQ(blamed([&] { wb::qr_decomposition{config(4, 4, static_cast<qr_method>(3))}; }), "method");
  try {
    wb::qr_decomposition{config(3, 4)};
  } catch (const wb::argument_error& e) {
    EXPECT_EQ(e.value(), "3");
    EXPECT_EQ(e.allowed(), "4 to 16");
  }

  const auto exec = wb::testing::open_scalar();
  const wb::qr_decomposition qr(config(3, 2)), no_q(config(3, 2, qr_method::cholesky));
  auto h = exec->make<complex>(5, 6), y = exec->make<complex>(5, 3), r = exec->make<complex>(5, 4),
       q = exec->make<complex>(5, 6), z = exec->make<complex>(5, 2);
  auto status = exec->make<std::uint8_t>(5, 1);
  std::fill_n(h.data(), h.size(), complex(1, 1));
  std::fill_n(y.data(), y.size(), complex(1, 1));
  const std::vector<int> swapped{1, 0}, twice{0, 0}, outside{0, 2}, negative{-1, 0}, few{0}, many{0, 1, 2};
  EXPECT_NO_THROW(qr.run(*exec, {h, y}, {r, q, z, status}));
  EXPECT_NO_THROW(qr.run(*exec, {.h = h, .y = y, .order = swapped}, {r, q, z, status}));
  EXPECT_NO_THROW(no_q.run(*exec, {h, y}, {r, {}, z, status}));
  EXPECT_EQ(blamed([&] { no_q.run(*exec, {h, y}, {r, q, z, status}); }), "q");
  EXPECT_EQ(blamed([&] { qr.run(*exec, {h}, {r, q, z, status}); }), "z");
  EXPECT_EQ(blamed([&] { qr.run(*exec, {{}, y}, {r, q, z, status}); }), "h");
  EXPECT_EQ(blamed([&] { qr.run(*exec, {h, y}, {{}, q, z, status}); }), "r");
  EXPECT_EQ(blamed([&] { qr.run(*exec, {h, y, -1}, {r, q, z, status}); }), "first");
  EXPECT_EQ(blamed([&] { qr.run(*exec, {h, y, 2}, {r, q, z, status}); }), "first");
  EXPECT_EQ(blamed([&] { qr.run(*exec, {h, y, 1, swapped}, {r, q, z, status}); }), "first");
  for (const auto* order : {&twice, &outside, &negative, &few, &many})
    EXPECT_EQ(blamed([&] { qr.run(*exec, {h, y, 0, *order}, {r, q, z, status}); }), "order");
}

}  // namespace qr_test
