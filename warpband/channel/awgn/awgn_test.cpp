// Noise: its distribution, and that it depends on seed, point and index alone.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>

#include <tests/on_backends.hpp>
#include <tests/symbols.hpp>
#include <warpband/channel/awgn/awgn.hpp>

namespace awgn_test {

using wb::testing::blamed;
using wb::testing::on_device;
using wb::testing::random_symbols;
using wb::testing::same_bits;
using wb::testing::symbols;

symbols add_noise(wb::executor& exec, const symbols& x, float noise_var, wb::random_range range) {
  const auto in = on_device(exec, x, x.size(), 1);
  auto out = exec.make<std::complex<float>>(x.size(), 1);
  wb::add_awgn(exec, in, out, noise_var, range);
  return exec.to_host(out);
}

class awgn : public wb::testing::on_backend {};
WB_ON_ALL_BACKENDS(awgn);

TEST_P(awgn, has_the_variance_asked_for_and_is_white) {
  // All within 5 standard deviations of their estimators.
  const std::size_t n = wb::testing::small_scale() ? 20000 : 500000;
  const double samples = static_cast<double>(n), near = 5 / std::sqrt(samples);
  for (const float noise_var : {1.f, 0.01f, 3e4f}) {
    const symbols noise = add_noise(exec(), symbols(n), noise_var, {.seed = 11, .first = 0, .point = 3});
    std::complex<double> mean = 0, pseudo = 0, neighbour = 0, after_sixteen = 0;
    double power = 0, re = 0, im = 0, fourth = 0;
    const auto sample = [&](std::size_t i) {
      return std::complex<double>(noise[i]) / std::sqrt(double{noise_var});
    };
    for (std::size_t i = 0; i < n; i++) {
      const auto x = sample(i);
      mean += x;
      power += std::norm(x);
      re += x.real() * x.real();
      im += x.imag() * x.imag();
      fourth += std::norm(x) * std::norm(x);
      pseudo += x * x;  // 0 where the parts are uncorrelated and of equal variance
      if (i >= 1) neighbour += x * std::conj(sample(i - 1));
      if (i >= 16) after_sixteen += x * std::conj(sample(i - 16));
    }
    EXPECT_LT(std::abs(mean) / samples, near);
    EXPECT_NEAR(power / samples, 1, near);  // |x|^2 is exponential: variance 1
    EXPECT_NEAR(re / samples, 0.5, near * std::sqrt(0.5));
    EXPECT_NEAR(im / samples, 0.5, near * std::sqrt(0.5));
    EXPECT_NEAR(fourth / samples, 2, near * std::sqrt(20.0));
    EXPECT_LT(std::abs(pseudo) / samples, near * std::sqrt(2.0));
    EXPECT_LT(std::abs(neighbour) / samples, near);
    EXPECT_LT(std::abs(after_sixteen) / samples, near);
  }
}

TEST_P(awgn, in_place_equals_out_of_place) {
  const symbols x = random_symbols(173);
  const wb::random_range range{.seed = 0x123456789abcdef0, .first = 7, .point = 2};
  auto a = on_device(exec(), x, x.size(), 1);
  wb::add_awgn(exec(), a, a, 0.5f, range);
  EXPECT_TRUE(same_bits(exec().to_host(a), add_noise(exec(), x, 0.5f, range)));
}

TEST_P(awgn, without_variance_nothing_is_added) {
  const symbols x = random_symbols(100);
  EXPECT_TRUE(same_bits(add_noise(exec(), x, 0.f, {.seed = 1}), x));
}

TEST_P(awgn, symbols_have_an_n0_each) {
  const std::size_t n = 173;
  const symbols x = random_symbols(n);
  const float values[]{0.5f, 0.f, 3.f};
  std::vector<float> noise_var(n);
  for (std::size_t i = 0; i < n; i++) noise_var[i] = values[i % 3];
  const wb::random_range range{.seed = 5, .first = 9, .point = 1};
  const auto in = on_device(exec(), x, n, 1);
  auto out = exec().make<std::complex<float>>(n, 1);
  const auto n0 = exec().make_from(noise_var);
  wb::add_awgn(exec(), in, out, {n0.data(), 1, n, 1, 1}, range);
  const symbols y = exec().to_host(out);
  for (std::size_t value = 0; value < 3; value++) {
    const symbols of_all = add_noise(exec(), x, values[value], range);
    for (std::size_t i = value; i < n; i += 3) EXPECT_EQ(y[i], of_all[i]) << i;
  }
  // One for all by a step of 0; what is no power adds nothing.
  wb::add_awgn(exec(), in, out, {n0.data(), 1, n, 1, 0}, range);
  EXPECT_TRUE(same_bits(exec().to_host(out), add_noise(exec(), x, 0.5f, range)));
  for (const float bad :
       {-1.f, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    const auto wrong = exec().make_from(std::vector<float>(n, bad));
    wb::add_awgn(exec(), in, out, {wrong.data(), 1, n, 1, 1}, range);
    EXPECT_TRUE(same_bits(exec().to_host(out), x)) << bad;
  }
}

TEST_P(awgn, seeds_points_and_indices_give_other_noise) {
  const symbols zero(64);
  const wb::random_range ranges[]{{1, 0, 0}, {2, 0, 0},  {std::uint64_t{1} << 32 | 1, 0, 0},
                                  {1, 0, 1}, {1, 64, 0}, {1, std::uint64_t{1} << 32, 0}};
  std::vector<symbols> drawn;
  for (const auto& r : ranges) drawn.push_back(add_noise(exec(), zero, 1.f, r));
  EXPECT_TRUE(same_bits(add_noise(exec(), zero, 1.f, ranges[0]), drawn[0]));
  for (std::size_t a = 0; a < drawn.size(); a++)
    for (std::size_t b = 0; b < a; b++) {
      int equal = 0;
      for (std::size_t i = 0; i < zero.size(); i++) equal += drawn[a][i] == drawn[b][i];
      EXPECT_EQ(equal, 0) << a << " and " << b;
    }
}

TEST(awgn_arguments, bad_ones_are_named) {
  const auto exec = wb::testing::open_scalar();
  auto x = exec->make<std::complex<float>>(4, 1), few = exec->make<std::complex<float>>(3, 1),
       wide = exec->make<std::complex<float>>(4, 2);
  std::fill_n(x.data(), 4, 0.f);
  for (const float bad : {-1e-9f, -1.f, std::numeric_limits<float>::quiet_NaN(),
                          std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()})
    EXPECT_EQ(blamed([&] { wb::add_awgn(*exec, x, x, bad, {}); }), "noise_var") << bad;
  EXPECT_EQ(blamed([&] { wb::add_awgn(*exec, wide, x, 1.f, {}); }), "in");
  EXPECT_EQ(blamed([&] { wb::add_awgn(*exec, x, few, 1.f, {}); }), "out");
  EXPECT_EQ(blamed([&] { wb::add_awgn(*exec, x, wide, 1.f, {}); }), "out");
  EXPECT_EQ(blamed([&] { wb::add_awgn(*exec, x, {nullptr, 1, 4, 1, 1}, 1.f, {}); }), "out");
  const auto n0 = exec->make<float>(3, 1);
  EXPECT_EQ(blamed([&] { wb::add_awgn(*exec, x, x, wb::view<const float>(n0), {}); }), "noise_var");
}

}  // namespace awgn_test
