// The soft demapper against exhaustive sums in double precision, its limit cases and ugly input.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <optional>
#include <random>

#include <oracle/modem.hpp>
#include <tests/on_backends.hpp>
#include <warpband/modem/demap/demap.hpp>
#include <warpband/modem/qam/qam.hpp>

namespace demap_test {

using wb::demap_algorithm;
using wb::testing::blamed;
using wb::testing::on_device;
using complex = std::complex<float>;

constexpr int all_points[]{2, 4, 16, 64, 256, 1024, 4096};
constexpr demap_algorithm both[]{demap_algorithm::max_log, demap_algorithm::exact};

struct batch {
  std::vector<complex> y, h;  // h empty: 1
  std::vector<float> n0;      // one: shared
};
struct result {
  std::vector<float> llr;  // [symbols, m]
  std::vector<std::uint8_t> status;
};

result demap(wb::executor& exec, int points, demap_algorithm algorithm, const batch& b) {
  const wb::demapper demapper(points, algorithm);
  const std::size_t n = b.y.size(), m = static_cast<std::size_t>(demapper.bits());
  const auto y = on_device(exec, b.y, n, 1);
  const auto n0 = exec.make_from(b.n0);
  std::optional<wb::array<complex>> h;
  if (!b.h.empty()) h = on_device(exec, b.h, n, 1);
  wb::demap_input in{{}, y, {n0.data(), 1, n, 1, b.n0.size() == 1 ? 0U : 1U}};
  if (h) in.channel = *h;
  auto llr = exec.make<float>(n, m);
  auto status = exec.make<std::uint8_t>(n, 1);
  demapper.run(exec, in, llr, status);
  return {exec.to_host(llr), exec.to_host(status)};
}
bool same_bits(const result& a, const result& b) {
  return a.llr.size() == b.llr.size() && a.status == b.status &&
         std::memcmp(a.llr.data(), b.llr.data(), a.llr.size() * sizeof(float)) == 0;
}

/// Noisy symbols over fading channels, noise from strong to weak.
batch noisy_batch(int points, std::size_t n, std::mt19937& random) {
  const auto s = oracle::constellation(points);
  std::normal_distribution<double> normal(0, std::sqrt(0.5));
  std::uniform_real_distribution<double> decades(-3, 1);
  batch b;
  for (std::size_t i = 0; i < n; i++) {
    const double n0 = std::pow(10.0, decades(random));
    const std::complex<double> h(normal(random), normal(random));
    const std::complex<double> noise(normal(random), normal(random));
    b.y.push_back(complex(h * s[random() % s.size()] + std::sqrt(n0) * noise));
    b.h.push_back(complex(h));
    b.n0.push_back(static_cast<float>(n0));
  }
  return b;
}

class demap_on : public wb::testing::on_backend {};
WB_ON_ALL_BACKENDS(demap_on);

TEST_P(demap_on, equals_oracle) {
  // Max-log: the tolerance for two algorithms of equal result. Exact: the same for the distances, and a
  // relative 1e-6 for exponentials and logarithms.
  std::mt19937 random(1);
  for (const int points : all_points)
    for (const demap_algorithm algorithm : both) {
      const std::size_t n = wb::testing::small_scale() ? 100
                            : points > 256             ? 150
                                                       : 1500;  // the oracle's time
      const batch b = noisy_batch(points, n, random);
      const result got = demap(exec(), points, algorithm, b);
      const bool exact = algorithm == demap_algorithm::exact;
      const std::size_t m = got.llr.size() / b.y.size();
      double worst = 0;
      for (std::size_t i = 0; i < b.y.size(); i++) {
        const auto expected =
            oracle::demap(std::complex<double>(b.y[i]), b.n0[i], std::complex<double>(b.h[i]), points,
                          exact ? oracle::demapper::exact : oracle::demapper::max_log);
        ASSERT_EQ(expected.size(), m);
        const double equal = 4e-6 * (std::norm(b.y[i]) + std::norm(b.h[i])) / b.n0[i] + 1e-5;
        for (std::size_t e = 0; e < m; e++) {
          const double allowed = equal + (exact ? 1e-6 * std::fabs(expected[e]) : 0);
          worst = std::max(worst, std::fabs(got.llr[i * m + e] - expected[e]) / allowed);
        }
        EXPECT_EQ(got.status[i], 0);
      }
      EXPECT_LE(worst, 1) << points << " points, " << (exact ? "exact" : "max-log");
    }
}

TEST_P(demap_on, exact_equals_max_log_with_one_point_a_side) {
  std::mt19937 random(4);
  for (const int points : {2, 4}) {
    const batch b = noisy_batch(points, 200, random);
    EXPECT_TRUE(same_bits(demap(exec(), points, demap_algorithm::exact, b),
                          demap(exec(), points, demap_algorithm::max_log, b)));
  }
  const batch b = noisy_batch(16, 200, random);
  EXPECT_FALSE(same_bits(demap(exec(), 16, demap_algorithm::exact, b),
                         demap(exec(), 16, demap_algorithm::max_log, b)));
}

TEST_P(demap_on, shared_noise_and_missing_channel_are_the_same_as_written_out) {
  std::mt19937 random(5);
  for (const int points : all_points)
    for (const demap_algorithm algorithm : both) {
      batch b = noisy_batch(points, 53, random);
      b.n0.assign(53, 0.25f);
      batch shared = b;
      shared.n0.resize(1);
      EXPECT_TRUE(same_bits(demap(exec(), points, algorithm, b), demap(exec(), points, algorithm, shared)));
      b.h.assign(53, 1.f);
      batch none = b;
      none.h.clear();
      EXPECT_TRUE(same_bits(demap(exec(), points, algorithm, b), demap(exec(), points, algorithm, none)));
    }
}

TEST_P(demap_on, without_noise_the_signs_are_the_bits) {
  for (const int points : all_points)
    for (const demap_algorithm algorithm : both) {
      const auto s = oracle::constellation(points);
      const auto m = static_cast<std::size_t>(wb::bits_per_symbol(points));
      for (const complex h : {complex(1, 0), complex(-0.6f, 1.1f), complex(0, -2e-3f), complex(300, 400)})
        for (const float relative_n0 : {1e-3f, 1e-6f, 1e-12f, 1e-30f}) {
          batch b;
          b.n0 = {relative_n0 * std::norm(h)};
          for (const auto& point : s) {
            b.y.push_back(complex(std::complex<double>(h) * point));
            b.h.push_back(h);
          }
          const result got = demap(exec(), points, algorithm, b);
          for (std::size_t p = 0; p < s.size(); p++)
            for (std::size_t e = 0; e < m; e++) {
              const float llr = got.llr[p * m + e];
              ASSERT_TRUE(std::isfinite(llr));
              ASSERT_NE(llr, 0.f);
              ASSERT_EQ(llr < 0.f, ((p >> (m - 1 - e)) & 1U) == 1U)
                  << points << " points, point " << p << ", bit " << e << ", h " << h << ", N0 " << b.n0[0];
            }
        }
    }
}

TEST_P(demap_on, extreme_but_finite_input_gives_finite_llrs) {
  const auto scalar = wb::testing::open_scalar();
  const std::vector<float> sizes{1e-45f, 1e-38f, 1e-20f, 1.f, 1e15f, 1e20f, 3e38f};
  batch b;
  for (const float y : sizes)
    for (const float h : sizes)
      for (const float n0 : sizes)
        for (const float sign : {-1.f, 1.f}) {
          b.y.emplace_back(sign * y, 0.3f * y);
          b.h.emplace_back(0.7f * h, -h);
          b.n0.push_back(n0);
        }
  for (const int points : all_points)
    for (const demap_algorithm algorithm : both) {
      const result got = demap(exec(), points, algorithm, b);
      for (const float llr : got.llr) ASSERT_LE(std::fabs(llr), 3e38f) << points;
      for (const std::uint8_t s : got.status) EXPECT_EQ(s, 0);
      EXPECT_TRUE(same_bits(got, demap(*scalar, points, algorithm, b))) << points;
    }
}

TEST_P(demap_on, a_common_scale_changes_no_bit) {
  std::mt19937 random(8);
  for (const int points : all_points)
    for (const demap_algorithm algorithm : both) {
      const batch b = noisy_batch(points, 67, random);
      const result expected = demap(exec(), points, algorithm, b);
      for (const int exponent : {-55, -50, -40, 40, 50, 60}) {
        batch other = b;
        for (std::size_t i = 0; i < b.y.size(); i++) {
          other.y[i] *= std::ldexp(1.f, exponent);
          other.h[i] *= std::ldexp(1.f, exponent);
          other.n0[i] = std::ldexp(b.n0[i], 2 * exponent);
        }
        EXPECT_TRUE(same_bits(demap(exec(), points, algorithm, other), expected))
            << points << " points, 2^" << exponent;
      }
    }
}

TEST_P(demap_on, tiny_and_huge_inputs_give_the_oracles_llrs) {
  struct sizes {
    double y, h, n0;  // y is this times a symbol
  };
  const std::vector<sizes> cases{{1e-14, 1e-14, 1e-30}, {1e-15, 1e-15, 1e-32}, {1e-17, 1e-17, 1e-36},
                                 {1e-20, 1e-20, 1e-40}, {3e19, 3e19, 1e37},    {1e30, 1e30, 1},
                                 {1, 1, 1e-39},         {1, 1, 1e-44},         {1e5, 1, 1e-30},
                                 {1e4, 1, 1},           {1e6, 1, 1},           {1e-10, 1e-16, 1e-30},
                                 {1e20, 1e15, 1e38},    {1e-10, 1, 1}};
  std::mt19937 random(9);
  for (const int points : all_points)
    for (const demap_algorithm algorithm : both)
      for (const sizes& size : cases) {
        std::vector<std::complex<double>> s;  // of large ones a few points: the oracle takes its time
        for (const auto& point : oracle::constellation(points))
          if (points <= 256 || random() % 40 == 0) s.push_back(point);
        batch b;
        b.n0 = {static_cast<float>(size.n0)};
        for (const auto& point : s) {
          b.y.push_back(complex(size.y * point));
          b.h.push_back(static_cast<float>(size.h));
        }
        const result got = demap(exec(), points, algorithm, b);
        const std::size_t m = got.llr.size() / s.size();
        for (std::size_t p = 0; p < s.size(); p++) {
          EXPECT_EQ(got.status[p], 0);
          const auto expected = oracle::demap(
              std::complex<double>(b.y[p]), b.n0[0], std::complex<double>(b.h[p]), points,
              algorithm == demap_algorithm::exact ? oracle::demapper::exact : oracle::demapper::max_log);
          // Of logarithms of sums. With many points also of distances, which are up to 100.
          const double rounded = algorithm != demap_algorithm::exact ? 0 : points <= 256 ? 1e-6 : 2e-5;
          double largest = 0;
          for (const double llr : expected) largest = std::max(largest, std::min(std::fabs(llr), 3e38));
          for (std::size_t e = 0; e < m; e++) {
            const double limited = std::clamp(expected[e], -3e38, 3e38);
            ASSERT_NEAR(got.llr[p * m + e], limited, 2e-3 * std::fabs(limited) + 1e-5 * largest + rounded)
                << points << " points, point " << p << ", bit " << e << ", y " << size.y << ", h " << size.h
                << ", N0 " << size.n0;
          }
        }
      }
}

TEST_P(demap_on, far_from_all_points_llrs_grow_with_the_distance) {
  for (const int points : all_points)
    for (const demap_algorithm algorithm : both) {
      batch near, far;
      for (const auto& point : oracle::constellation(points)) {
        near.y.push_back(complex(1e6 * point));
        far.y.push_back(complex(1e16 * point));
      }
      near.n0 = far.n0 = {1.f};
      const result expected = demap(exec(), points, algorithm, near),
                   got = demap(exec(), points, algorithm, far);
      for (std::size_t i = 0; i < got.llr.size(); i++) {
        ASSERT_NE(got.llr[i], 0.f);
        ASSERT_NEAR(got.llr[i] / expected.llr[i], 1e10, 2e7) << points << " points";
      }
    }
}

TEST(demap_arguments, bad_ones_are_named) {
  for (const int points : {0, 1, 8, 32, 512, 8192})
    EXPECT_EQ(blamed([&] { wb::demapper{points}; }), "qam") << points;
  EXPECT_EQ(blamed([] { wb::demapper(4, static_cast<demap_algorithm>(7)); }), "algorithm");
  EXPECT_EQ(wb::demapper(64).bits(), 6);

  const auto exec = wb::testing::open_scalar();
  auto y = exec->make<complex>(5, 1);
  auto llr = exec->make<float>(5, 4);
  EXPECT_EQ(blamed([&] { wb::demapper(16).run(*exec, {{}, y, {}}, llr); }), "noise_var");
}

}  // namespace demap_test
