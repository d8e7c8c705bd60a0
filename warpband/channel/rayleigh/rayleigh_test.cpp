// Fading: its distribution, its blocks, and that it depends on seed, point and index alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>

#include <tests/on_backends.hpp>
#include <tests/symbols.hpp>
#include <warpband/channel/awgn/awgn.hpp>
#include <warpband/channel/rayleigh/rayleigh.hpp>

namespace rayleigh_test {

using wb::testing::blamed;
using wb::testing::on_device;
using wb::testing::random_symbols;
using wb::testing::same_bits;
using wb::testing::symbols;

struct faded {
  symbols y, h;
};
faded fade(wb::executor& exec, const symbols& x, int block, wb::random_range range) {
  const auto in = on_device(exec, x, x.size(), 1);
  auto out = exec.make<std::complex<float>>(x.size(), 1), gain = exec.make<std::complex<float>>(x.size(), 1);
  wb::apply_rayleigh(exec, in, out, gain, block, range);
  return {exec.to_host(out), exec.to_host(gain)};
}
bool same_bits(const faded& a, const faded& b) { return same_bits(a.y, b.y) && same_bits(a.h, b.h); }

class rayleigh : public wb::testing::on_backend {};
WB_ON_ALL_BACKENDS(rayleigh);

TEST_P(rayleigh, gains_are_complex_normal_and_white) {
  const std::size_t n = wb::testing::small_scale() ? 20000 : 500000;
  const double samples = static_cast<double>(n), near = 5 / std::sqrt(samples);
  const symbols h = fade(exec(), symbols(n, {1.f, 0.f}), 1, {.seed = 3, .first = 0, .point = 0}).h;
  std::complex<double> mean = 0, pseudo = 0, neighbour = 0;
  std::vector<double> power;
  for (std::size_t i = 0; i < n; i++) {
    const std::complex<double> x(h[i]);
    mean += x;
    pseudo += x * x;
    if (i >= 1) neighbour += x * std::conj(std::complex<double>(h[i - 1]));
    power.push_back(std::norm(x));
  }
  EXPECT_LT(std::abs(mean) / samples, near);
  EXPECT_LT(std::abs(pseudo) / samples, near * std::sqrt(2.0));
  EXPECT_LT(std::abs(neighbour) / samples, near);
  // |h|^2 is exponential of mean 1: the largest distance from its distribution (Kolmogorov-Smirnov; 2.4 /
  // sqrt(n) has p = 2e-5).
  std::sort(power.begin(), power.end());
  double distance = 0;
  for (std::size_t i = 0; i < n; i++) {
    const double p = -std::expm1(-power[i]);
    distance = std::max({distance, std::fabs(p - static_cast<double>(i) / samples),
                         std::fabs(p - static_cast<double>(i + 1) / samples)});
  }
  EXPECT_LT(distance, 2.4 / std::sqrt(samples));
}

TEST_P(rayleigh, output_is_gain_times_input) {
  const symbols x = random_symbols(96);
  for (const int block : {1, 2, 32, 96}) {
    const faded f = fade(exec(), x, block, {.seed = 4});
    for (std::size_t i = 0; i < x.size(); i++) {
      const auto expected = std::complex<double>(f.h[i]) * std::complex<double>(x[i]);
      ASSERT_NEAR(f.y[i].real(), expected.real(), 1e-6) << i;
      ASSERT_NEAR(f.y[i].imag(), expected.imag(), 1e-6) << i;
    }
  }
}

TEST_P(rayleigh, a_block_shares_one_gain_which_fast_fading_gives_its_symbol) {
  const symbols fast = fade(exec(), symbols(200), 1, {.seed = 5, .first = 10}).h;
  for (std::size_t i = 0; i < fast.size(); i++)
    for (std::size_t j = 0; j < i; j++) ASSERT_NE(fast[i], fast[j]);
  for (const int block : {2, 7, 130, 1000}) {
    const auto size = static_cast<std::size_t>(block);
    const symbols h = fade(exec(), symbols(20 * size), block, {.seed = 5, .first = 10}).h;
    for (std::size_t i = 0; i < h.size(); i++)
      ASSERT_EQ(h[i], fast[i / size])
          << "symbol " << i << ", block of " << block;  // block b has index first + b
  }
}

TEST_P(rayleigh, in_place_equals_out_of_place) {
  for (const int block : {1, 6, 200}) {
    const symbols x = random_symbols(37 * static_cast<std::size_t>(block));
    const wb::random_range range{.seed = 0x9876543210, .first = 7, .point = 1};
    auto a = on_device(exec(), x, x.size(), 1);
    auto gain = exec().make<std::complex<float>>(x.size(), 1);
    wb::apply_rayleigh(exec(), a, a, gain, block, range);
    EXPECT_TRUE(same_bits({exec().to_host(a), exec().to_host(gain)}, fade(exec(), x, block, range))) << block;
  }
}

TEST_P(rayleigh, seeds_points_and_the_noise_are_independent) {
  const symbols ones(64, {1.f, 0.f});
  const wb::random_range ranges[]{
      {1, 0, 0}, {2, 0, 0}, {std::uint64_t{1} << 32 | 1, 0, 0}, {1, 0, 1}, {1, 64, 0}};
  std::vector<symbols> drawn;
  for (const auto& r : ranges) drawn.push_back(fade(exec(), ones, 1, r).h);
  EXPECT_TRUE(same_bits(fade(exec(), ones, 1, ranges[0]).h, drawn[0]));
  auto noise = on_device(exec(), symbols(64), 64, 1);  // of the same seed: another stream
  wb::add_awgn(exec(), noise, noise, 1.f, ranges[0]);
  drawn.push_back(exec().to_host(noise));
  for (std::size_t a = 0; a < drawn.size(); a++)
    for (std::size_t b = 0; b < a; b++) {
      int equal = 0;
      for (std::size_t i = 0; i < ones.size(); i++) equal += drawn[a][i] == drawn[b][i];
      EXPECT_EQ(equal, 0) << a << " and " << b;
    }
}

TEST(rayleigh_arguments, bad_ones_are_named) {
  const auto exec = wb::testing::open_scalar();
  auto x = on_device(*exec, symbols(6), 6, 1), few = exec->make<std::complex<float>>(5, 1),
       wide = exec->make<std::complex<float>>(6, 2), gain = exec->make<std::complex<float>>(6, 1);
  EXPECT_NO_THROW(wb::apply_rayleigh(*exec, x, x, gain, 3, {}));
  for (const int block : {-1, 0, (1 << 24) + 1})
    EXPECT_EQ(blamed([&] { wb::apply_rayleigh(*exec, x, x, gain, block, {}); }), "block") << block;
  EXPECT_EQ(blamed([&] { wb::apply_rayleigh(*exec, wide, x, gain, 1, {}); }), "in");
  EXPECT_EQ(blamed([&] { wb::apply_rayleigh(*exec, x, few, gain, 1, {}); }), "out");
  EXPECT_EQ(blamed([&] { wb::apply_rayleigh(*exec, x, x, few, 1, {}); }), "gain");
  EXPECT_EQ(blamed([&] { wb::apply_rayleigh(*exec, x, x, {}, 1, {}); }), "gain");
  EXPECT_EQ(blamed([&] { wb::apply_rayleigh(*exec, x, x, gain, 4, {}); }), "in");  // 6 is no multiple of 4
  wb::view<std::complex<float>> strided{wide.data(), 1, 6, 1, 2};
  EXPECT_EQ(blamed([&] { wb::apply_rayleigh(*exec, strided, x, gain, 2, {}); }), "in");
}

}  // namespace rayleigh_test
