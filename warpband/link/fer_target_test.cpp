// The search for the SNR of a frame error rate: against closed forms, and what it says where there is none.
#include <gtest/gtest.h>

#include <cmath>

#include <oracle/theory.hpp>
#include <tests/codes.hpp>
#include <tests/on_backends.hpp>
#include <warpband/link/chain.hpp>
#include <warpband/link/fer_target.hpp>

namespace wb {
namespace fer_target_test {

using testing::blamed;

constexpr int frame_bits = 100;

link_config bpsk(std::uint64_t seed = 1) {
  link_config c;
  c.seed = seed;
  c.code = code_config("none");
  testing::k_in(c.code) = frame_bits;
  return c;
}

/// FER of a frame of independent bits.
double fer_of(double ber) { return -std::expm1(frame_bits * std::log1p(-ber)); }
double bpsk_fer(double ebn0_db) { return fer_of(oracle::bpsk_awgn_ber(std::pow(10, ebn0_db / 10))); }

/// Where a falling function has this value.
template <class F>
double inverse(const F& f, double value) {
  double low = -60, high = 100;
  for (int i = 0; i < 200; i++) {
    const double middle = (low + high) / 2;
    (f(middle) > value ? low : high) = middle;
  }
  return low;
}

TEST(fer_target, of_bpsk_is_that_of_theory) {
  cpu exec;
  const std::uint64_t seeds = testing::small_scale() ? 2 : 5;
  for (const double fer : {0.9, 0.1, 0.01})
    for (std::uint64_t seed = 1; seed <= seeds; seed++) {
      SCOPED_TRACE(::testing::Message() << fer << ", seed " << seed);
      link_chain chain(bpsk(seed), exec);
      const double width = fer < 0.05 ? 0.5 : 0.25, truth = inverse(bpsk_fer, fer);
      const fer_target_result r = find_fer(chain, {.fer = fer, .width_db = width});
      ASSERT_TRUE(r.reached());
      // With 95% each, by design; the risk is shared between many tests, and is in fact far smaller.
      EXPECT_LT(*r.low_db, truth);
      EXPECT_GT(*r.high_db, truth);
      EXPECT_LE(*r.high_db - *r.low_db, width);
      EXPECT_NEAR(*r.db, truth, 0.4 * width);
      EXPECT_GE(*r.db, *r.low_db);
      EXPECT_LE(*r.db, *r.high_db);
    }
}

TEST(fer_target, is_given_in_the_axis_of_the_link) {
  cpu exec;
  link_config c = bpsk();
  c.qam = 4;  // 3 dB between Eb/N0 and SNR
  c.axis = snr_axis::snr_db;
  link_chain chain(c, exec);
  const fer_target_result r = find_fer(chain, {.fer = 0.1, .width_db = 0.2});
  const double truth = inverse(bpsk_fer, 0.1) + 10 * std::log10(2);
  ASSERT_TRUE(r.reached());
  EXPECT_LT(*r.low_db, truth);
  EXPECT_GT(*r.high_db, truth);
}

TEST(fer_target, does_not_depend_on_where_it_begins) {
  cpu exec;
  link_chain chain(bpsk(), exec);
  const double truth = inverse(bpsk_fer, 0.1);
  for (const double near : {-25.0, 0.0, truth, 13.7, 60.0}) {
    const fer_target_result r = find_fer(chain, {.fer = 0.1, .width_db = 0.25, .near_db = near});
    ASSERT_TRUE(r.reached()) << near;
    EXPECT_LT(*r.low_db, truth) << near;
    EXPECT_GT(*r.high_db, truth) << near;
  }
}

/// All that a result says but for times.
void expect_same(const fer_target_result& a, const fer_target_result& b) {
  EXPECT_EQ(a.outcome, b.outcome);
  EXPECT_EQ(a.db, b.db);
  EXPECT_EQ(a.low_db, b.low_db);
  EXPECT_EQ(a.high_db, b.high_db);
  EXPECT_EQ(a.frames, b.frames);
  ASSERT_EQ(a.points.size(), b.points.size());
  for (std::size_t i = 0; i < a.points.size(); i++) {
    EXPECT_EQ(a.points[i].sweep_db, b.points[i].sweep_db);
    EXPECT_EQ(a.points[i].counts.frames, b.points[i].counts.frames);
    EXPECT_EQ(a.points[i].counts.frame_errors, b.points[i].counts.frame_errors);
    EXPECT_EQ(a.points[i].counts.bit_errors, b.points[i].counts.bit_errors);
  }
}

TEST(fer_target, is_the_same_for_any_threads_and_batches) {
  link_config c;
  testing::k_in(c.code) = 40;
  c.channel = rayleigh_config{};
  c.antennas = detector_config{};
  c.qam = 4;
  cpu one(cpu_options{.threads = 1}), three(cpu_options{.threads = 3});
  link_chain a(c, one), b(c, three), small(c, one, 5);
  const fer_target target{.fer = 0.2, .width_db = 0.5};
  const fer_target_result expected = find_fer(a, target);
  EXPECT_TRUE(expected.reached());
  expect_same(find_fer(b, target), expected);
  expect_same(find_fer(small, target), expected);
}

class fer_target_on : public testing::on_backend {};
WB_ON_ALL_BACKENDS(fer_target_on);

TEST_P(fer_target_on, equals_a_scalar_cpu) {
  const auto reference = testing::open_reference();
  link_chain here(bpsk(3), exec()), other(bpsk(3), *reference);
  const fer_target target{.fer = 0.3, .width_db = 0.5};
  expect_same(find_fer(here, target), find_fer(other, target));
}

TEST(fer_target, says_what_is_out_of_reach) {
  cpu exec;
  link_chain chain(bpsk(), exec);
  const fer_target_result above = find_fer(chain, {.fer = 0.1, .least_db = -10, .most_db = 2});
  EXPECT_EQ(above.outcome, fer_outcome::above);
  EXPECT_EQ(above.low_db, 2.0);
  EXPECT_FALSE(above.high_db);
  EXPECT_FALSE(above.db);
  const fer_target_result below = find_fer(chain, {.fer = 0.1, .least_db = 20, .most_db = 30});
  EXPECT_EQ(below.outcome, fer_outcome::below);
  EXPECT_EQ(below.high_db, 20.0);
  EXPECT_FALSE(below.low_db);
}

// A decade costs 10 dB: frames that are wanted for a narrow interval are more than there may be.
TEST(fer_target, keeps_its_budget_and_the_interval_it_has) {
  cpu exec;
  link_config c = bpsk();
  c.channel = rayleigh_config{fading_type::block};
  link_chain chain(c, exec);
  const fer_target_result r = find_fer(chain, {.fer = 0.1, .width_db = 0.05, .max_frames = 50'000});
  EXPECT_EQ(r.outcome, fer_outcome::budget);
  EXPECT_LE(r.frames, 50'000U);
  std::uint64_t frames = 0;
  for (const point_result& p : r.points) frames += p.counts.frames;
  EXPECT_EQ(r.frames, frames);
  // P(error) of a frame whose gain is exponentially distributed, summed.
  const auto fer = [](double db) {
    double sum = 0;
    const double step = 1e-3;
    for (double g = step / 2; g < 30; g += step)
      sum += step * std::exp(-g) * fer_of(oracle::bpsk_awgn_ber(g * std::pow(10, db / 10)));
    return sum;
  };
  double truth = 8;
  for (double half = 8; half > 1e-3; half /= 2) truth += fer(truth) > 0.1 ? half : -half;
  ASSERT_TRUE(r.low_db && r.high_db && r.db);
  EXPECT_LT(*r.low_db, truth);
  EXPECT_GT(*r.high_db, truth);
  EXPECT_LT(*r.high_db - *r.low_db, 3);
  EXPECT_NEAR(*r.db, truth, 0.5);
}

TEST(fer_target, can_be_cancelled) {
  cpu exec;
  link_chain chain(bpsk(), exec);
  int calls = 0;
  const fer_target_result r = find_fer(chain, {}, [&](const fer_target_result& so_far) {
    EXPECT_GT(so_far.frames, 0U);
    return ++calls < 3;
  });
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(r.outcome, fer_outcome::cancelled);
}

TEST(fer_target, refuses_what_means_nothing) {
  cpu exec;
  link_chain chain(bpsk(), exec);
  const auto with = [&](auto change) {
    fer_target t;
    change(t);
    return blamed([&] { find_fer(chain, t); });
  };
  for (const double fer : {0.0, 1.0, -0.1, std::nan("")})
    EXPECT_EQ(with([&](fer_target& t) { t.fer = fer; }), "fer");
  EXPECT_EQ(with([](fer_target& t) { t.width_db = 0.001; }), "width_db");
  EXPECT_EQ(with([](fer_target& t) { t.confidence = 1; }), "confidence");
  EXPECT_EQ(with([](fer_target& t) { t.least_db = -200; }), "least_db");
  EXPECT_EQ(with([](fer_target& t) { t.most_db = -30; }), "most_db");
  EXPECT_EQ(with([](fer_target& t) { t.near_db = 61; }), "near_db");
  EXPECT_EQ(with([](fer_target& t) { t.max_frames = 0; }), "max_frames");
}

}  // namespace fer_target_test
}  // namespace wb
