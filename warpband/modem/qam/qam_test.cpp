// The mapper against the tables of TS 38.211, by way of the oracle.
#include <gtest/gtest.h>

#include <complex>

#include <oracle/modem.hpp>
#include <tests/on_backends.hpp>
#include <warpband/modem/qam/qam.hpp>

namespace qam_test {

using wb::testing::blamed;
using wb::testing::on_device;
using bits = std::vector<std::uint8_t>;
using symbols = std::vector<std::complex<float>>;

constexpr int all_points[]{2, 4, 16, 64, 256, 1024, 4096};

symbols map(wb::executor& exec, int points, const bits& values) {
  const wb::qam_mapper mapper(points);
  const auto m = static_cast<std::size_t>(mapper.bits());
  const std::size_t n = values.size() / m;
  auto s = exec.make<std::complex<float>>(n, 1);
  mapper.run(exec, on_device(exec, values, n, m), s);
  return exec.to_host(s);
}
/// The bits of every point, b0 the most significant of its index.
bits every_point(int points) {
  bits labels;
  const int m = wb::bits_per_symbol(points);
  for (int p = 0; p < points; p++)
    for (int i = m - 1; i >= 0; i--) labels.push_back(static_cast<std::uint8_t>(p >> i & 1));
  return labels;
}

class qam : public wb::testing::on_backend {};
WB_ON_ALL_BACKENDS(qam);

TEST_P(qam, every_point_equals_the_standard) {
  for (const int points : all_points) {
    const auto expected = oracle::constellation(points);
    const symbols got = map(exec(), points, every_point(points));
    ASSERT_EQ(got.size(), expected.size());
    double energy = 0;
    for (std::size_t p = 0; p < got.size(); p++) {
      EXPECT_NEAR(got[p].real(), expected[p].real(), 1.2e-7) << points << " points, " << p;
      EXPECT_NEAR(got[p].imag(), expected[p].imag(), 1.2e-7) << points << " points, " << p;
      energy += std::norm(std::complex<double>(got[p]));
    }
    EXPECT_NEAR(energy / points, 1, 2e-7) << points;
  }
}

TEST(qam_arguments, sizes_of_the_standard_only) {
  const std::pair<int, int> good[]{{2, 1}, {4, 2}, {16, 4}, {64, 6}, {256, 8}, {1024, 10}, {4096, 12}};
  for (const auto& [points, m] : good) {
    EXPECT_EQ(wb::bits_per_symbol(points), m);
    EXPECT_EQ(wb::qam_mapper(points).bits(), m);
  }
  for (const int bad : {-4, 0, 1, 3, 5, 8, 32, 128, 255, 512, 2048, 16384}) {
    EXPECT_EQ(blamed([&] { wb::bits_per_symbol(bad); }), "qam") << bad;
    EXPECT_EQ(blamed([&] { wb::qam_mapper{bad}; }), "qam") << bad;
  }
}

}  // namespace qam_test
