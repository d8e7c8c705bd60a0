// Correlated Rayleigh fading: against the product of its factors in double, and the correlations it is made
// to have.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

#include <oracle/kronecker.hpp>
#include <tests/on_backends.hpp>
#include <tests/symbols.hpp>
#include <warpband/channel/kronecker/kronecker.hpp>
#include <warpband/channel/mimo/mimo.hpp>

namespace kronecker_test {

using wb::kronecker_channel;
using wb::kronecker_config;
using wb::testing::blamed;
using wb::testing::on_device;
using wb::testing::random_symbols;
using wb::testing::same_bits;
using wb::testing::small_scale;
using wb::testing::symbols;
using complex = std::complex<double>;

/// Positive definite with ones on the diagonal and nothing special else: a few random-looking directions.
wb::correlation_matrix some_correlation(int n) {
  const std::size_t size = static_cast<std::size_t>(n);
  wb::correlation_matrix r(size * size);
  for (std::size_t i = 0; i < size; i++)
    for (std::size_t j = 0; j < size; j++) {
      complex sum = i == j ? 0.4 : 0;
      for (int k = 1; k <= 3; k++)
        sum += 0.2 * std::polar(1., 0.7 * k * k * (static_cast<double>(i) - static_cast<double>(j)));
      r[i * size + j] = sum;
    }
  return r;
}
kronecker_config setting(int streams, int rx, bool at_rx, bool at_tx) {
  kronecker_config c{streams, rx, {}, {}};
  if (at_rx) c.rx_correlation = some_correlation(rx);
  if (at_tx) c.tx_correlation = wb::exponential_correlation(streams, std::polar(0.8, 0.5));
  return c;
}
/// One and both sides, both mappings to a GPU, tails of four streams, and a singular matrix.
std::vector<kronecker_config> settings() {
  std::vector<kronecker_config> configs{setting(1, 1, true, true),  setting(2, 3, true, true),
                                        setting(4, 4, true, false), setting(7, 5, false, true),
                                        setting(9, 20, true, true), setting(2, 2, false, false)};
  configs.push_back({3, 4, wb::exponential_correlation(4, 1.), {}});
  return configs;
}
std::size_t entries_of(const kronecker_config& c) {
  return static_cast<std::size_t>(c.streams * c.rx_antennas);
}
symbols respond(wb::executor& exec, const kronecker_config& c, std::size_t channels, wb::random_range range) {
  auto h = exec.make<std::complex<float>>(channels, entries_of(c));
  kronecker_channel(c).response(exec, h, range);
  return exec.to_host(h);
}

class kronecker : public wb::testing::on_backend {};
WB_ON_ALL_BACKENDS(kronecker);

TEST_P(kronecker, equals_the_product_of_its_factors) {
  for (const kronecker_config& c : settings()) {
    const std::uint64_t first = (std::uint64_t{1} << 32) - 2, seed = 0xfedcba9876543210;
    const symbols h = respond(exec(), c, 19, {seed, first, 5});
    double worst = 0;
    for (std::size_t i = 0; i < 19; i++) {
      const auto expected =
          oracle::kronecker_response(c.rx_antennas, c.streams, c.rx_correlation, c.tx_correlation,
                                     oracle::draw_mimo(c.rx_antennas, c.streams, seed, first + i, 5));
      for (std::size_t e = 0; e < entries_of(c); e++)
        worst = std::max(worst, std::abs(complex(h[i * entries_of(c) + e]) - expected[e]));
    }
    EXPECT_LT(worst, 5e-6) << c.streams << " x " << c.rx_antennas;
  }
}

TEST_P(kronecker, without_correlation_it_is_the_channel_of_independent_antennas) {
  for (const auto& [streams, rx] : {std::pair{1, 1}, std::pair{3, 2}, std::pair{8, 16}}) {
    const std::size_t channels = 21, n = static_cast<std::size_t>(streams), m = static_cast<std::size_t>(rx);
    const auto in = on_device(exec(), random_symbols(channels * n), channels, n);
    auto out = exec().make<std::complex<float>>(channels, m);
    auto h = exec().make<std::complex<float>>(channels, n * m);
    wb::apply_mimo_rayleigh(exec(), in, out, h, 1, {.seed = 4, .first = 9});
    const symbols expected = exec().to_host(h);
    EXPECT_TRUE(
        same_bits(respond(exec(), {streams, rx, {}, {}}, channels, {.seed = 4, .first = 9}), expected));
    // An identity that is written out.
    EXPECT_TRUE(same_bits(
        respond(exec(),
                {streams, rx, wb::exponential_correlation(rx, 0), wb::exponential_correlation(streams, 0)},
                channels, {.seed = 4, .first = 9}),
        expected));
  }
}

TEST_P(kronecker, correlations_are_those_that_were_asked_for) {
  const kronecker_config c = setting(3, 4, true, true);
  const std::size_t channels = small_scale() ? 3000 : 20000, n = 3, m = 4;
  const symbols h = respond(exec(), c, channels, {.seed = 12});
  const double count = static_cast<double>(channels);
  const double near = 5 * std::numbers::sqrt2 / std::sqrt(count);
  // E h_rs conj(h_r's') = R_rx(r, r') R_tx(s', s).
  for (std::size_t e = 0; e < n * m; e++)
    for (std::size_t f = 0; f < n * m; f++) {
      complex both = 0, pseudo = 0;
      for (std::size_t i = 0; i < channels; i++) {
        both += complex(h[i * n * m + e]) * std::conj(complex(h[i * n * m + f]));
        pseudo += complex(h[i * n * m + e]) * complex(h[i * n * m + f]);
      }
      const complex expected = c.rx_correlation[e / n * m + f / n] * c.tx_correlation[(f % n) * n + e % n];
      EXPECT_LT(std::abs(both / count - expected), near) << e << " and " << f;
      EXPECT_LT(std::abs(pseudo) / count, near) << e << " and " << f;
    }
}

TEST_P(kronecker, full_correlation_gives_all_antennas_the_same_gain) {
  const symbols h = respond(exec(), {3, 4, wb::exponential_correlation(4, 1.), {}}, 18, {.seed = 1});
  for (std::size_t i = 0; i < h.size(); i++) ASSERT_EQ(h[i], h[i / 12 * 12 + i % 3]);
  EXPECT_NE(h[0], h[1]);
}

TEST_P(kronecker, output_is_channel_times_input) {
  const auto scalar = wb::testing::open_scalar();
  for (const kronecker_config& c : settings())
    for (const std::size_t shared : {1, 5}) {
      const std::size_t n = static_cast<std::size_t>(c.streams), m = static_cast<std::size_t>(c.rx_antennas),
                        channels = 17, uses = channels * shared;
      const symbols s = random_symbols(uses * n);
      const auto apply = [&](wb::executor& e) {
        const auto in = on_device(e, s, uses, n);
        auto out = e.make<std::complex<float>>(uses, m), h = e.make<std::complex<float>>(channels, m * n);
        kronecker_channel(c).apply(e, in, out, h, shared, {.seed = 4, .first = 2});
        return std::pair{e.to_host(out), e.to_host(h)};
      };
      const auto [y, h] = apply(exec());
      EXPECT_TRUE(same_bits(h, respond(exec(), c, channels, {.seed = 4, .first = 2})));
      EXPECT_TRUE(same_bits(y, apply(*scalar).first));
      for (std::size_t u = 0; u < uses; u++)
        for (std::size_t r = 0; r < m; r++) {
          complex sum = 0;
          for (std::size_t t = 0; t < n; t++)
            sum += complex(h[(u / shared * m + r) * n + t]) * complex(s[u * n + t]);
          ASSERT_LT(std::abs(complex(y[u * m + r]) - sum), 2e-6 * static_cast<double>(n)) << u;
        }
    }
}

TEST(kronecker_arguments, bad_ones_are_named) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto blames = [](auto change) {
    return blamed([&] {
      kronecker_config c = setting(3, 4, true, true);
      change(c);
      kronecker_channel channel(c);
    });
  };
  EXPECT_EQ(blames([](kronecker_config&) {}), "");
  for (const int bad : {-1, 0, 65}) EXPECT_EQ(blames([&](auto& c) { c.streams = bad; }), "streams");
  for (const int bad : {-1, 0, 513}) EXPECT_EQ(blames([&](auto& c) { c.rx_antennas = bad; }), "rx_antennas");
  EXPECT_EQ(blames([](auto& c) { c.rx_correlation.pop_back(); }), "rx_correlation");
  EXPECT_EQ(blames([](auto& c) { c.tx_correlation.resize(16); }), "tx_correlation");
  EXPECT_EQ(blames([](auto& c) { c.rx_correlation[5] = 1.01; }), "rx_correlation");       // diagonal
  EXPECT_EQ(blames([](auto& c) { c.rx_correlation[5] = {1, 1e-3}; }), "rx_correlation");  // of real ones
  EXPECT_EQ(blames([&](auto& c) { c.rx_correlation[5] = nan; }), "rx_correlation");
  EXPECT_EQ(blames([&](auto& c) { c.rx_correlation[6] = nan; }), "rx_correlation");
  EXPECT_EQ(blames([](auto& c) { c.rx_correlation[6] += 1e-3; }), "rx_correlation");  // not Hermitian
  EXPECT_EQ(blames([](auto& c) { c.tx_correlation = {1, 0.9, -0.9, 0.9, 1, 0.9, -0.9, 0.9, 1}; }),
            "tx_correlation");  // a negative pivot
  EXPECT_EQ(blames([](auto& c) { c.tx_correlation = {1, 1, 0, 1, 1, 0.5, 0, 0.5, 1}; }),
            "tx_correlation");  // none, but something left
  EXPECT_EQ(blames([](auto& c) { c.tx_correlation = {1, 1, 1, 1, 1, 1, 1, 1, 1}; }), "");
  EXPECT_EQ(blames([](auto& c) {
              c.rx_antennas = 512;
              c.rx_correlation = wb::exponential_correlation(512, 0.999);
            }),
            "");
  EXPECT_EQ(blamed([] { wb::exponential_correlation(0, 0.5); }), "antennas");
  EXPECT_EQ(blamed([] { wb::exponential_correlation(4, {0.8, 0.8}); }), "correlation");
  EXPECT_EQ(blamed([&] { wb::exponential_correlation(4, nan); }), "correlation");
  EXPECT_NO_THROW(wb::check_correlation("r", {}, 4));
  EXPECT_EQ(blamed([] { wb::check_correlation("r", {1, 2, 2, 1}, 2); }), "r");

  const auto exec = wb::testing::open_scalar();
  const auto make = [&](std::size_t items, std::size_t elements) {
    return on_device(*exec, symbols(items * elements), items, elements);
  };
  const kronecker_channel channel(setting(2, 3, true, true));
  auto s = make(12, 2), y = make(12, 3), h = make(12, 6), half = make(6, 6), narrow = make(12, 5);
  EXPECT_NO_THROW(channel.apply(*exec, s, y, h, 1, {}));
  EXPECT_NO_THROW(channel.apply(*exec, s, y, half, 2, {}));
  EXPECT_EQ(blamed([&] { channel.response(*exec, narrow, {}); }), "channel");
  EXPECT_EQ(blamed([&] { channel.response(*exec, {nullptr, 6, 12, 1, 6}, {}); }), "channel");
  EXPECT_EQ(blamed([&] { channel.apply(*exec, s, y, half, 1, {}); }), "in");
  EXPECT_EQ(blamed([&] { channel.apply(*exec, s, s, h, 1, {}); }), "out");
  EXPECT_EQ(blamed([&] { channel.apply(*exec, s, y, h, 0, {}); }), "uses_per_channel");
}

}  // namespace kronecker_test
