// Correlated antennas: matrices against the products that the standard defines them by, channels against
// independent ones and against their matrix.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include <tests/on_backends.hpp>
#include <tests/symbols.hpp>
#include <warpband/channel/tdl/tdl.hpp>
#include <warpband/core/as_size.hpp>

namespace spatial_test {

using wb::antenna_array;
using wb::antenna_correlation;
using wb::as_size;
using wb::spatial_config;
using wb::spatial_correlation;
using wb::tdl_config;
using wb::testing::blamed;
using wb::testing::same_bits;
using complex = std::complex<double>;
using matrix = std::vector<std::vector<double>>;

matrix product(const matrix& a, const matrix& b) {  // Kronecker's
  matrix c(a.size() * b.size(), std::vector<double>(a.size() * b.size()));
  for (std::size_t i = 0; i < c.size(); i++)
    for (std::size_t j = 0; j < c.size(); j++)
      c[i][j] = a[i / b.size()][j / b.size()] * b[i % b.size()][j % b.size()];
  return c;
}
/// Tables G.2.3.1.1-1 and -2, with their exponents.
matrix array_of(int n, double a) {
  const std::vector<std::vector<double>> exponents{
      {},
      {0},
      {0, 1},
      {},
      {0, 1. / 9, 4. / 9, 1},
      {},
      {},
      {},
      {0, 1. / 49, 4. / 49, 9. / 49, 16. / 49, 25. / 49, 36. / 49, 1}};
  matrix r(as_size(n), std::vector<double>(as_size(n)));
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      r[as_size(i)][as_size(j)] = i == j ? 1 : std::pow(a, exponents[as_size(n)][as_size(std::abs(i - j))]);
  return r;
}
/// P (R_UE x Gamma x R_gNB) P^T of clause G.2.3.2.1, rows and columns in the order of vec(H).
matrix cross_polarised(int terminals, int bases, double a, double b, double c) {
  const matrix gamma = terminals == 1 ? matrix{{1, -c}, {-c, 1}}
                                      : matrix{{1, -c, 0, 0}, {-c, 1, 0, 0}, {0, 0, 1, c}, {0, 0, c, 1}};
  const matrix inner =
      product(product(array_of(terminals == 1 ? 1 : terminals / 2, b), gamma), array_of(bases / 2, a));
  const int n = terminals * bases;
  std::vector<int> from(as_size(n));  // P has a one in each row
  for (int i = 1; i <= bases; i++)
    for (int j = 1; j <= terminals; j++) {
      const bool first = terminals == 1 || j <= terminals / 2;
      from[as_size((j - 1) * bases + i - 1)] =
          (first ? 2 * (j - 1) * bases + i : 2 * (j - terminals / 2) * bases - bases + i) - 1;
    }
  matrix r(as_size(n), std::vector<double>(as_size(n)));
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      r[as_size(i)][as_size(j)] = inner[as_size(from[as_size(i)])][as_size(from[as_size(j)])];
  return r;
}
/// E h h^H in the order of vec(H), a terminal's antenna after the other, from that of an uplink's H.
matrix in_columns(const std::vector<complex>& r, int streams, int rx) {
  const int n = streams * rx;
  matrix out(as_size(n), std::vector<double>(as_size(n)));
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      out[as_size(i)][as_size(j)] =
          r[as_size(((i % rx) * streams + i / rx) * n + (j % rx) * streams + j / rx)].real();
  return out;
}
void expect_near(const matrix& a, const matrix& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); i++)
    for (std::size_t j = 0; j < a.size(); j++) ASSERT_NEAR(a[i][j], b[i][j], tolerance) << i << ", " << j;
}

TEST(tdl_spatial, matrices_are_the_products_of_the_standard) {
  for (const int terminals : {1, 2, 4})
    for (const int bases : {1, 2, 4, 8}) {
      const auto correlation = [&](antenna_correlation level, antenna_array array) {
        return in_columns(spatial_correlation({level, array, false}, terminals, bases), terminals, bases);
      };
      using enum antenna_correlation;
      const auto linear = antenna_array::linear, cross = antenna_array::cross_polarised;
      expect_near(correlation(medium, linear), product(array_of(terminals, 0.3), array_of(bases, 0.9)),
                  1e-14);
      expect_near(correlation(medium_a, linear), product(array_of(terminals, 0.3874), array_of(bases, 0.3)),
                  1e-14);
      expect_near(correlation(high, linear), product(array_of(terminals, 0.9), array_of(bases, 0.9)), 1e-14);
      if (bases == 1) continue;
      expect_near(correlation(medium, cross), cross_polarised(terminals, bases, 0.3, 0.6, 0.2), 1e-14);
      expect_near(correlation(high, cross), cross_polarised(terminals, bases, 0.9, 0.9, 0.3), 1e-14);
    }
  // TS 38.104 table G.2.3.1.2-3, 2 x 4: the first row, to four digits.
  const matrix r = in_columns(spatial_correlation({.correlation = antenna_correlation::medium}, 2, 4), 2, 4);
  const double row[]{1, 0.9883, 0.9542, 0.9, 0.3, 0.2965, 0.2863, 0.27};
  for (std::size_t i = 0; i < 8; i++) EXPECT_NEAR(r[0][i], row[i], 2e-4) << i;
}

TEST(tdl_spatial, downlink_is_the_uplink_the_other_way) {
  for (const antenna_array array : {antenna_array::linear, antenna_array::cross_polarised}) {
    const auto up = spatial_correlation({antenna_correlation::high, array, false}, 2, 4),
               down = spatial_correlation({antenna_correlation::high, array, true}, 4, 2);
    for (std::size_t i = 0; i < 8; i++)
      for (std::size_t j = 0; j < 8; j++) {
        const auto turned = [](std::size_t e) { return e % 4 * 2 + e / 4; };  // [2, 4] to [4, 2]
        EXPECT_EQ(down[i * 8 + j], up[turned(i) * 8 + turned(j)]);
      }
  }
  const auto medium = spatial_correlation({antenna_correlation::medium, antenna_array::linear, true}, 2, 2);
  EXPECT_NEAR(medium[1].real(), 0.3, 1e-14);  // of the base station's antennas
  EXPECT_NEAR(medium[2].real(), 0.9, 1e-14);
}

tdl_config line(int streams, int rx, const spatial_config& spatial) {
  return {.profile = wb::tdl_profile_named("tdlb100"),
          .grid = {.subcarriers = 11, .symbols = 4},
          .doppler_hz = 100,
          .streams = streams,
          .rx_antennas = rx,
          .spatial = spatial};
}
std::vector<std::complex<float>> respond(wb::executor& exec, const tdl_config& c, std::size_t blocks) {
  auto h = exec.make<std::complex<float>>(blocks * c.grid.elements(), as_size(c.streams * c.rx_antennas));
  wb::tdl_channel(c).response(exec, h, {.seed = 3, .first = 5});
  return exec.to_host(h);
}

class tdl_spatial_on : public wb::testing::on_backend {};
WB_ON_ALL_BACKENDS(tdl_spatial_on);

TEST_P(tdl_spatial_on, low_is_no_correlation_bit_for_bit) {
  const auto none = respond(exec(), line(2, 4, {}), 3);
  EXPECT_TRUE(same_bits(none, respond(exec(), line(2, 4, {.array = antenna_array::cross_polarised}), 3)));
  EXPECT_FALSE(same_bits(none, respond(exec(), line(2, 4, {.correlation = antenna_correlation::medium}), 3)));
}

/// All taps have the same L: correlated channels are L times independent ones, at every resource element.
TEST_P(tdl_spatial_on, channels_are_independent_ones_times_a_factor) {
  for (const antenna_array array : {antenna_array::linear, antenna_array::cross_polarised}) {
    const spatial_config spatial{antenna_correlation::high, array, false};
    const int streams = 2, rx = 4;
    const std::size_t n = as_size(streams * rx);
    const auto r = spatial_correlation(spatial, streams, rx);
    std::vector<complex> l(n * n);
    for (std::size_t j = 0; j < n; j++)
      for (std::size_t i = j; i < n; i++) {
        complex rest = r[i * n + j];
        for (std::size_t k = 0; k < j; k++) rest -= l[i * n + k] * std::conj(l[j * n + k]);
        l[i * n + j] = i == j ? std::sqrt(std::max(rest.real(), 0.)) : rest / l[j * n + j];
      }
    const auto independent = respond(exec(), line(streams, rx, {}), 3),
               correlated = respond(exec(), line(streams, rx, spatial), 3);
    for (std::size_t use = 0; use < independent.size() / n; use++)
      for (std::size_t i = 0; i < n; i++) {
        complex expected = 0;
        for (std::size_t j = 0; j <= i; j++) expected += l[i * n + j] * complex(independent[use * n + j]);
        ASSERT_LT(std::abs(complex(correlated[use * n + i]) - expected), 2e-5) << use << ", " << i;
      }
  }
}

TEST_P(tdl_spatial_on, measured_correlation_is_its_definition) {
  tdl_config c = line(2, 4, {antenna_correlation::high, antenna_array::cross_polarised, false});
  c.grid = {.subcarriers = 1, .symbols = 1};
  const std::size_t blocks = wb::testing::small_scale() ? 1000 : 4000, n = 8;
  const auto h = respond(exec(), c, blocks);
  const auto expected = spatial_correlation(c.spatial, 2, 4);
  for (std::size_t i = 0; i < n; i++)
    for (std::size_t j = 0; j < n; j++) {
      complex mean = 0;
      for (std::size_t b = 0; b < blocks; b++)
        mean += complex(h[b * n + i]) * std::conj(complex(h[b * n + j])) / static_cast<double>(blocks);
      EXPECT_LT(std::abs(mean - expected[i * n + j]), 5 / std::sqrt(static_cast<double>(blocks)))
          << i << ", " << j;
    }
}

TEST(tdl_spatial, bad_settings_are_named) {
  const auto error = [](const tdl_config& c) {
    return blamed([&] { check(c); }, [&] { wb::tdl_channel{c}; });
  };
  using enum antenna_correlation;
  const auto cross = antenna_array::cross_polarised;
  EXPECT_EQ(error(line(3, 5, {})), "");
  EXPECT_EQ(error(line(2, 8, {high})), "");
  EXPECT_EQ(error(line(3, 4, {high})), "streams");
  EXPECT_EQ(error(line(2, 5, {high})), "rx_antennas");
  EXPECT_EQ(error(line(2, 1, {high, cross})), "rx_antennas");
  EXPECT_EQ(error(line(8, 8, {high, cross})), "streams");
  EXPECT_EQ(error(line(2, 2, {medium_a, cross})), "correlation");
  tdl_config rician = line(2, 2, {medium});
  rician.profile = wb::tdl_profile_named("tdl-d", 30);
  EXPECT_EQ(error(rician), "correlation");
}

}  // namespace spatial_test
