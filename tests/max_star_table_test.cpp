// max* from a table: against its definition and against ln(e^a + e^b).
#define WB_ISA max_star_table_test
#define WB_WIDTH 1
#include <gtest/gtest.h>

#include <cmath>

#include <warpband/fec/trellis/max_star_table.hpp>

namespace wb {
namespace {

TEST(max_star_table, has_the_value_of_the_nearest_difference) {
  for (int i = -200; i <= 200; i++) {
    const float b = static_cast<float>(i) / 16 + 0.01f;
    const double d = std::fabs(static_cast<double>(b)), nearest = std::floor(2 * d + 0.5) / 2;
    const double exact = std::log(1 + std::exp(static_cast<double>(b)));
    const double entry = d < 3.75 ? std::log1p(std::exp(-nearest)) : 0;
    const double got = static_cast<double>(max_star_table::plus(0.f, b));
    EXPECT_NEAR(got, std::max(0., static_cast<double>(b)) + entry, 1e-6) << b;
    EXPECT_NEAR(got, exact, 0.12) << b;
    EXPECT_EQ(max_star_table::plus(0.f, b), max_star_table::plus(b, 0.f));
    EXPECT_EQ(max_star_table::accumulate(0.f, 0.f, b), max_star_table::plus(0.f, b));
  }
  EXPECT_EQ(max_star_table::plus(-1e36f, 5.f), 5.f);
  EXPECT_EQ(max_star_table::plus(3.f, -1e36f), 3.f);
}

}  // namespace
}  // namespace wb
