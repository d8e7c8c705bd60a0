#include <gtest/gtest.h>

#include <cmath>

#include <tests/on_backends.hpp>
#include <warpband/link/interval.hpp>

namespace wb {
namespace interval_test {

TEST(clopper_pearson, known_values) {
  const auto expect = [](std::uint64_t errors, std::uint64_t trials, double low, double high) {
    const interval i = clopper_pearson(errors, trials);
    EXPECT_NEAR(i.low, low, 5e-5) << errors << "/" << trials;
    EXPECT_NEAR(i.high, high, 5e-5) << errors << "/" << trials;
  };
  expect(0, 10, 0, 0.3085);
  expect(10, 10, 0.6915, 1);
  expect(5, 100, 0.0164, 0.1128);
  expect(1, 2, 0.0126, 0.9874);
  const interval none = clopper_pearson(0, 0);
  EXPECT_EQ(none.low, 0);
  EXPECT_EQ(none.high, 1);
}

TEST(clopper_pearson, no_errors_and_all_errors_are_exact) {
  const interval none = clopper_pearson(0, 1000), every = clopper_pearson(1000, 1000);
  EXPECT_EQ(none.low, 0);
  EXPECT_NEAR(none.high, 1 - std::pow(0.025, 1e-3), 1e-12);
  EXPECT_NEAR(every.low, std::pow(0.025, 1e-3), 1e-12);
  EXPECT_EQ(every.high, 1);
}

TEST(clopper_pearson, is_what_it_says) {
  // The ends are where the tails of the binomial hold 2.5%: summed here term by term.
  const interval i = clopper_pearson(3, 20);
  const auto tail = [](double p, int from, int to) {
    double sum = 0;
    for (int k = from; k <= to; k++)
      sum += std::exp(std::lgamma(21) - std::lgamma(k + 1) - std::lgamma(21 - k) + k * std::log(p) +
                      (20 - k) * std::log1p(-p));
    return sum;
  };
  EXPECT_NEAR(tail(i.low, 3, 20), 0.025, 1e-9);
  EXPECT_NEAR(tail(i.high, 0, 3), 0.025, 1e-9);
}

TEST(clopper_pearson, large_counts_and_other_confidences) {
  const interval i = clopper_pearson(1'000'000, 10'000'000'000);
  EXPECT_NEAR(i.low, 1e-4 - 1.96e-7, 2e-10);
  EXPECT_NEAR(i.high, 1e-4 + 1.96e-7, 2e-10);
  const interval narrow = clopper_pearson(5, 100, 0.5), wide = clopper_pearson(5, 100, 0.999);
  EXPECT_LT(wide.low, narrow.low);
  EXPECT_GT(wide.high, narrow.high);
}

TEST(clopper_pearson, refuses) {
  EXPECT_EQ(testing::blamed([] { clopper_pearson(2, 1); }), "errors");
  EXPECT_EQ(testing::blamed([] { clopper_pearson(1, 2, 1.0); }), "confidence");
  EXPECT_EQ(testing::blamed([] { clopper_pearson(1, 2, NAN); }), "confidence");
}

}  // namespace interval_test
}  // namespace wb
