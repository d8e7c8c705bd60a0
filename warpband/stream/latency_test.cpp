// The histogram of latencies against sorted times.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <warpband/stream/latency.hpp>

namespace latency_test {

using std::chrono::nanoseconds;

TEST(stream_latency, nothing_counted) {
  const wb::latency_histogram h;
  EXPECT_EQ(h.count(), 0U);
  EXPECT_EQ(h.percentile_us(50), 0);
  EXPECT_EQ(h.max_us(), 0);
  EXPECT_EQ(h.mean_us(), 0);
}

TEST(stream_latency, short_times_are_exact) {
  wb::latency_histogram h;
  for (int ns = 0; ns < 256; ns++) h.add(nanoseconds(ns));
  for (int p = 1; p <= 256; p++) EXPECT_NEAR(h.percentile_us(100. * p / 256) * 1e3, p - 1, 1e-9) << p;
}

TEST(stream_latency, percentiles_are_those_of_the_sorted_times) {
  std::mt19937_64 rng(5);
  std::uniform_real_distribution<double> log_ns(0, std::log(1e12));
  std::vector<std::int64_t> times;
  wb::latency_histogram h, first, second;
  for (int i = 0; i < 20000; i++) {
    times.push_back(static_cast<std::int64_t>(std::exp(log_ns(rng))));
    h.add(nanoseconds(times.back()));
    (i % 3 == 0 ? first : second).add(nanoseconds(times.back()));
  }
  first.add(second);
  std::sort(times.begin(), times.end());
  double sum = 0;
  for (const auto ns : times) sum += static_cast<double>(ns);
  EXPECT_NEAR(h.mean_us() / (sum / 20000 * 1e-3), 1, 1e-9);
  EXPECT_EQ(h.max_us(), static_cast<double>(times.back()) * 1e-3);
  for (const double p : {0.01, 1., 25., 50., 90., 99., 99.9, 99.99, 100.}) {
    const auto rank = static_cast<std::size_t>(std::ceil(p * 20000 / 100));
    const double exact = static_cast<double>(times[std::max<std::size_t>(rank, 1) - 1]) * 1e-3,
                 got = h.percentile_us(p);
    EXPECT_GE(got, exact * (1 - 1e-12)) << p;
    EXPECT_LE(got, exact * (1 + 1. / 128) + 1e-3) << p;
    EXPECT_EQ(got, first.percentile_us(p)) << p;
  }
}

TEST(stream_latency, of_a_thousand_frames_one_may_be_later_than_99_9_percent) {
  wb::latency_histogram h;
  for (int i = 0; i < 999; i++) h.add(nanoseconds(100));
  h.add(nanoseconds(1000000));
  EXPECT_NEAR(h.percentile_us(99.9), 0.1, 0.001);
  EXPECT_NEAR(h.percentile_us(100), 1000, 1e-9);
}

TEST(stream_latency, ends_of_the_range) {
  wb::latency_histogram h;
  h.add(nanoseconds(-5));
  h.add(nanoseconds(INT64_MAX));
  EXPECT_EQ(h.percentile_us(50), 0);
  EXPECT_NEAR(h.percentile_us(100), std::pow(2, 42) * 1e-3, 1e-6);
}

}  // namespace latency_test
