// MIMO fading: its distribution, y = H s, its blocks, and that it depends on seed, point and index alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include <oracle/kronecker.hpp>
#include <tests/on_backends.hpp>
#include <tests/symbols.hpp>
#include <warpband/channel/awgn/awgn.hpp>
#include <warpband/channel/mimo/mimo.hpp>
#include <warpband/channel/rayleigh/rayleigh.hpp>

namespace mimo_mimo_test {

using wb::testing::blamed;
using wb::testing::on_device;
using wb::testing::random_symbols;
using wb::testing::same_bits;
using wb::testing::symbols;

struct antennas {
  std::size_t streams, rx;
};
struct faded {
  symbols y, h;
};
faded fade(wb::executor& exec, const symbols& s, antennas n, std::size_t shared, wb::random_range range) {
  const std::size_t uses = s.size() / n.streams;
  const auto in = on_device(exec, s, uses, n.streams);
  auto out = exec.make<std::complex<float>>(uses, n.rx),
       channel = exec.make<std::complex<float>>(uses / shared, n.rx * n.streams);
  wb::apply_mimo_rayleigh(exec, in, out, channel, shared, range);
  return {exec.to_host(out), exec.to_host(channel)};
}
bool same_bits(const faded& a, const faded& b) { return same_bits(a.y, b.y) && same_bits(a.h, b.h); }
const antennas sizes[]{{1, 1}, {1, 2}, {2, 2}, {3, 5}, {4, 4}, {8, 16}, {12, 20}};

class mimo_rayleigh : public wb::testing::on_backend {};
WB_ON_ALL_BACKENDS(mimo_rayleigh);

TEST_P(mimo_rayleigh, entries_are_complex_normal_and_white) {
  // All within 5 standard deviations of their estimators.
  const std::size_t uses = wb::testing::small_scale() ? 5000 : 100000, entries = 6;
  const double n = static_cast<double>(uses), near = 5 / std::sqrt(n);
  const symbols h = fade(exec(), symbols(2 * uses), {2, 3}, 1, {.seed = 3, .first = 0, .point = 0}).h;
  std::vector<double> power;
  for (std::size_t e = 0; e < entries; e++) {
    std::complex<double> mean = 0, pseudo = 0;
    double squares = 0, re = 0;
    for (std::size_t u = 0; u < uses; u++) {
      const std::complex<double> x(h[u * entries + e]);
      mean += x;
      pseudo += x * x;
      squares += std::norm(x);
      re += x.real() * x.real();
      power.push_back(std::norm(x));
    }
    EXPECT_LT(std::abs(mean) / n, near);
    EXPECT_LT(std::abs(pseudo) / n, near * std::sqrt(2.0));
    EXPECT_NEAR(squares / n, 1, near);
    EXPECT_NEAR(re / n, 0.5, near * std::sqrt(0.5));
    // Against every entry of the same and of the next use.
    for (std::size_t other = e + 1; other < 2 * entries; other++) {
      std::complex<double> both = 0;
      for (std::size_t u = 0; u + 1 < uses; u++)
        both += std::complex<double>(h[u * entries + e]) *
                std::conj(std::complex<double>(h[u * entries + other]));
      EXPECT_LT(std::abs(both) / n, near) << e << " and " << other;
    }
  }
  // |h|^2 is exponential of mean 1 (Kolmogorov-Smirnov; 2.4 / sqrt(n) has p = 2e-5).
  std::sort(power.begin(), power.end());
  double distance = 0;
  const double samples = static_cast<double>(power.size());
  for (std::size_t i = 0; i < power.size(); i++) {
    const double p = -std::expm1(-power[i]);
    distance = std::max({distance, std::fabs(p - static_cast<double>(i) / samples),
                         std::fabs(p - static_cast<double>(i + 1) / samples)});
  }
  EXPECT_LT(distance, 2.4 / std::sqrt(samples));
}

TEST_P(mimo_rayleigh, a_k_factor_adds_a_fixed_part_to_each_entry) {
  const std::size_t uses = 19;
  const std::uint64_t seed = 0xfedcba9876543210, first = (std::uint64_t{1} << 32) - 2;
  for (const antennas n : sizes) {
    const std::size_t entries = n.streams * n.rx;
    const auto draw = [&](wb::rician_amplitudes rice) {
      auto h = exec().make<std::complex<float>>(uses, entries);
      wb::draw_mimo_rayleigh(exec(), h, static_cast<int>(n.streams), {seed, first, 5}, rice);
      return exec().to_host(h);
    };
    // A K of 0 is Rayleigh fading, bit by bit.
    EXPECT_TRUE(same_bits(draw(wb::rician_of_db(-std::numeric_limits<double>::infinity())), draw({})));
    for (const double k_db : {-20., 0., 10.}) {
      const symbols h = draw(wb::rician_of_db(k_db));
      double worst = 0;
      for (std::size_t i = 0; i < uses; i++) {
        const auto expected = oracle::draw_rician(static_cast<int>(n.rx), static_cast<int>(n.streams),
                                                  std::pow(10, k_db / 10), seed, first + i, 5);
        for (std::size_t e = 0; e < entries; e++)
          worst = std::max(worst, std::abs(std::complex<double>(h[i * entries + e]) - expected[e]));
      }
      EXPECT_LT(worst, 2e-6) << n.rx << "x" << n.streams << ", K = " << k_db;
    }
  }
}

TEST_P(mimo_rayleigh, moments_are_those_of_the_k_factor) {
  // E |h|^2 = 1 and E |h|^4 = 2 - (K / (K + 1))^2, so K follows from both; all within 5 standard deviations.
  const std::size_t uses = wb::testing::small_scale() ? 5000 : 50000, entries = 4;
  for (const double k : {0.5, 4.}) {
    auto h = exec().make<std::complex<float>>(uses, entries);
    wb::draw_mimo_rayleigh(exec(), h, 2, {.seed = 6}, wb::rician_of_db(10 * std::log10(k)));
    const double n = static_cast<double>(uses * entries), fourth = 2 - k * k / ((k + 1) * (k + 1));
    std::complex<double> mean = 0;
    double second = 0, squares = 0, eighths = 0;
    for (const std::complex<float>& x : exec().to_host(h)) {
      const double power = std::norm(std::complex<double>(x));
      mean += std::complex<double>(x);
      second += power;
      squares += power * power;
      eighths += power * power * power * power;
    }
    EXPECT_LT(std::abs(mean) / n, 5 / std::sqrt(n));
    EXPECT_NEAR(second / n, 1, 5 * std::sqrt((fourth - 1) / n));
    EXPECT_NEAR(squares / n, fourth, 5 * std::sqrt((eighths / n - fourth * fourth) / n));
  }
}

TEST(rician, k_factors_that_are_not_allowed_are_named) {
  for (const double bad : {-100.5, 101., std::numeric_limits<double>::infinity(), std::nan("")})
    EXPECT_EQ(blamed([&] { wb::rician_of_db(bad); }), "rician_k_db") << bad;
  EXPECT_EQ(wb::rician_of_db(0).fixed, wb::rician_of_db(0).scattered);
}

TEST_P(mimo_rayleigh, channels_alone_are_those_of_a_transmission) {
  for (const antennas n : sizes)
    for (const std::size_t uses : {1, 37}) {
      const wb::random_range range{.seed = 4, .first = 9, .point = 2};
      auto h = exec().make<std::complex<float>>(uses, n.rx * n.streams);
      wb::draw_mimo_rayleigh(exec(), h, static_cast<int>(n.streams), range);
      EXPECT_TRUE(same_bits(exec().to_host(h), fade(exec(), random_symbols(uses * n.streams), n, 1, range).h))
          << n.rx << "x" << n.streams;
    }
}

TEST_P(mimo_rayleigh, output_is_channel_times_input) {
  for (const antennas n : sizes)
    for (const std::size_t shared : {1, 2, 30}) {
      const std::size_t uses = 60;
      const symbols s = random_symbols(uses * n.streams);
      const faded f = fade(exec(), s, n, shared, {.seed = 4});
      for (std::size_t u = 0; u < uses; u++)
        for (std::size_t r = 0; r < n.rx; r++) {
          std::complex<double> y = 0;
          for (std::size_t t = 0; t < n.streams; t++)
            y += std::complex<double>(f.h[(u / shared * n.rx + r) * n.streams + t]) *
                 std::complex<double>(s[u * n.streams + t]);
          const std::complex<double> got(f.y[u * n.rx + r]);
          ASSERT_LT(std::abs(got - y), 2e-6 * static_cast<double>(n.streams)) << u << ", antenna " << r;
        }
    }
}

TEST_P(mimo_rayleigh, uses_that_share_a_channel_get_that_of_the_index) {
  for (const antennas n : sizes) {
    const symbols fast = fade(exec(), symbols(20 * n.streams), n, 1, {.seed = 5, .first = 10}).h;
    for (const std::size_t shared : {2, 7, 130}) {
      const symbols h = fade(exec(), symbols(20 * shared * n.streams), n, shared, {.seed = 5, .first = 10}).h;
      EXPECT_TRUE(same_bits(h, fast)) << shared;  // block b has index first + b
    }
  }
}

TEST_P(mimo_rayleigh, seeds_points_noise_and_single_antennas_are_independent) {
  const symbols ones(64, {1.f, 0.f});
  const wb::random_range ranges[]{
      {1, 0, 0}, {2, 0, 0}, {std::uint64_t{1} << 32 | 1, 0, 0}, {1, 0, 1}, {1, 64, 0}};
  std::vector<symbols> drawn;
  for (const auto& r : ranges) drawn.push_back(fade(exec(), ones, {1, 1}, 1, r).h);
  EXPECT_TRUE(same_bits(fade(exec(), ones, {1, 1}, 1, ranges[0]).h, drawn[0]));
  auto noise = on_device(exec(), symbols(64), 64, 1);  // of the same seed: other streams
  wb::add_awgn(exec(), noise, noise, 1.f, ranges[0]);
  drawn.push_back(exec().to_host(noise));
  auto x = on_device(exec(), ones, 64, 1), gain = exec().make<std::complex<float>>(64, 1);
  wb::apply_rayleigh(exec(), x, x, gain, 1, ranges[0]);
  drawn.push_back(exec().to_host(gain));
  for (std::size_t a = 0; a < drawn.size(); a++)
    for (std::size_t b = 0; b < a; b++) {
      int equal = 0;
      for (std::size_t i = 0; i < ones.size(); i++) equal += drawn[a][i] == drawn[b][i];
      EXPECT_EQ(equal, 0) << a << " and " << b;
    }
}

TEST(mimo_rayleigh_arguments, bad_ones_are_named) {
  const auto exec = wb::testing::open_scalar();
  const auto make = [&](std::size_t items, std::size_t elements) {
    return on_device(*exec, symbols(items * elements), items, elements);
  };
  auto s = make(6, 2), y = make(6, 3), h = make(6, 6), half = make(3, 6), few = make(5, 3);
  EXPECT_NO_THROW(wb::apply_mimo_rayleigh(*exec, s, y, h, 1, {}));
  EXPECT_NO_THROW(wb::apply_mimo_rayleigh(*exec, s, y, half, 2, {}));
  EXPECT_EQ(blamed([&] { wb::apply_mimo_rayleigh(*exec, s, y, h, 0, {}); }), "uses_per_channel");
  EXPECT_EQ(blamed([&] { wb::apply_mimo_rayleigh(*exec, s, y, h, (1 << 24) + 1, {}); }), "uses_per_channel");
  EXPECT_EQ(blamed([&] { wb::apply_mimo_rayleigh(*exec, s, y, half, 4, {}); }), "in");
  EXPECT_EQ(blamed([&] { wb::apply_mimo_rayleigh(*exec, s, y, half, 1, {}); }), "channel");
  EXPECT_EQ(blamed([&] { wb::apply_mimo_rayleigh(*exec, s, y, s, 1, {}); }), "channel");
  EXPECT_EQ(blamed([&] { wb::apply_mimo_rayleigh(*exec, s, few, h, 1, {}); }), "out");
  auto many = make(6, 65), more = make(6, 513);
  EXPECT_EQ(blamed([&] { wb::apply_mimo_rayleigh(*exec, many, y, h, 1, {}); }), "in");
  EXPECT_EQ(blamed([&] { wb::apply_mimo_rayleigh(*exec, s, more, h, 1, {}); }), "out");
  EXPECT_NO_THROW(wb::draw_mimo_rayleigh(*exec, h, 2, {}));
  EXPECT_EQ(blamed([&] { wb::draw_mimo_rayleigh(*exec, h, 0, {}); }), "streams");
  EXPECT_EQ(blamed([&] { wb::draw_mimo_rayleigh(*exec, h, 65, {}); }), "streams");
  EXPECT_EQ(blamed([&] { wb::draw_mimo_rayleigh(*exec, h, 5, {}); }), "channel");
}

}  // namespace mimo_mimo_test
