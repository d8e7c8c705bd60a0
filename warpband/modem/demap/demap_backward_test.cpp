// Gradients of the soft demapper: the body in double precision against differences of the oracle's LLRs, and
// kernels against that body.
#define WB_ISA doubled
#define WB_WIDTH 1
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include <oracle/gradient.hpp>
#include <oracle/modem.hpp>
#include <tests/double_lane.hpp>
#include <tests/on_backends.hpp>
#include <warpband/modem/demap/demap_backward.hpp>
#include <warpband/modem/demap/demap_backward_body.hpp>

namespace demap_backward_test {

using wb::demap_algorithm;
using wb::testing::blamed;
using wb::testing::on_device;
using complex = std::complex<float>;
using double_lane = wb::double_lane;

constexpr int all_points[]{2, 4, 16, 64, 256, 1024, 4096};
constexpr demap_algorithm both[]{demap_algorithm::max_log, demap_algorithm::exact};

struct batch {
  std::vector<complex> y, h;
  std::vector<float> n0, llr_gradient;  // [symbols], [symbols, bits]
};
batch draw(int points, std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, std::sqrt(0.5));
  std::uniform_real_distribution<double> decades(-2, 1);
  const auto s = oracle::constellation(points);
  const auto entry = [&] {
    const double re = normal(random);
    return std::complex<double>(re, normal(random));
  };
  batch b;
  for (std::size_t i = 0; i < n; i++) {
    const double n0 = std::pow(10.0, decades(random));
    std::complex<double> h = entry();
    h += 0.1 * h / std::abs(h);
    const auto noise = entry();
    b.y.emplace_back(h * s[random() % s.size()] + std::sqrt(n0) * noise);
    b.h.emplace_back(h);
    b.n0.push_back(static_cast<float>(n0));
    for (int m = points; m > 1; m /= 2) b.llr_gradient.push_back(static_cast<float>(normal(random)));
  }
  return b;
}

/// y, h and N0 as five numbers, and their gradients.
using five = std::vector<double>;

five by_differences(int points, demap_algorithm algorithm, const batch& b, std::size_t i, double step) {
  const auto rule = algorithm == demap_algorithm::exact ? oracle::demapper::exact : oracle::demapper::max_log;
  const std::size_t bits = b.llr_gradient.size() / b.y.size();
  const auto f = [&](const five& x) {
    const auto llr = oracle::demap({x[0], x[1]}, x[4], {x[2], x[3]}, points, rule);
    double sum = 0;
    for (std::size_t e = 0; e < bits; e++) sum += b.llr_gradient[i * bits + e] * llr[e];
    return sum;
  };
  return oracle::gradient(f, {b.y[i].real(), b.y[i].imag(), b.h[i].real(), b.h[i].imag(), b.n0[i]}, step);
}
five in_double(demap_algorithm algorithm, const batch& b, std::size_t i) {
  const std::size_t bits = b.llr_gradient.size() / b.y.size();
  using cx = wb::cx<double_lane>;
  const auto given = [&](int e) {
    return double_lane(b.llr_gradient[i * bits + static_cast<std::size_t>(e)]);
  };
  const auto g = wb::demap_backward(static_cast<int>(bits), algorithm == demap_algorithm::exact,
                                    cx{b.y[i].real(), b.y[i].imag()}, cx{b.h[i].real(), b.h[i].imag()},
                                    double_lane(b.n0[i]), given);
  return {g.y.re.x, g.y.im.x, g.h.re.x, g.h.im.x, g.n0.x};
}
/// The largest difference of y, h or N0, each in parts of its own larger gradient.
double apart(const five& a, const five& b) {
  double worst = 0;
  const std::size_t starts[]{0, 2, 4, 5};
  for (std::size_t part = 0; part < 3; part++) {
    double difference = 0, size = 1e-9;
    for (std::size_t e = starts[part]; e < starts[part + 1]; e++) {
      difference = std::max(difference, std::fabs(a[e] - b[e]));
      size = std::max({size, std::fabs(a[e]), std::fabs(b[e])});
    }
    worst = std::max(worst, difference / size);
  }
  return worst;
}

TEST(demap_backward, is_the_derivative_of_the_oracle) {
  // Differences over a kink of max-log are wrong: there two steps disagree. The body has the scale of a
  // constellation in float32, 6e-8 from the oracle's.
  for (const int points : {2, 4, 16, 64})
    for (const demap_algorithm algorithm : both) {
      const std::size_t n = 60;
      const batch b = draw(points, n, 3);
      std::size_t kinks = 0;
      for (std::size_t i = 0; i < n; i++) {
        const five fine = by_differences(points, algorithm, b, i, 2e-5);
        if (apart(fine, by_differences(points, algorithm, b, i, 1e-4)) > 1e-6) {
          kinks++;
          continue;
        }
        EXPECT_LE(apart(in_double(algorithm, b, i), fine), 4e-6) << points << " points, symbol " << i;
      }
      EXPECT_EQ(kinks, 0U) << points << " points";
    }
}

class demap_backward_on : public wb::testing::on_backend {};
WB_ON_ALL_BACKENDS(demap_backward_on);

TEST(demap_backward, of_bpsk_also_where_the_channel_is_0) {
  batch b = draw(2, 5, 8);
  for (complex& h : b.h) h = 0;
  for (std::size_t i = 0; i < 5; i++) {
    const five fine = by_differences(2, demap_algorithm::exact, b, i, 1e-4);
    EXPECT_GT(std::hypot(fine[2], fine[3]), 0.01);
    EXPECT_LE(apart(in_double(demap_algorithm::exact, b, i), fine), 2e-6) << i;
  }
}

struct result {
  std::vector<complex> y, h;
  std::vector<float> n0;
  std::vector<std::uint8_t> status;
};
result backward(wb::executor& exec, int points, demap_algorithm algorithm, const batch& b,
                bool has_channel = true) {
  const wb::demapper_backward d({points, algorithm});
  const std::size_t n = b.y.size();
  const auto y = on_device(exec, b.y, n, 1), h = on_device(exec, b.h, n, 1);
  const auto n0 = on_device(exec, b.n0, n, 1);
  const auto given = on_device(exec, b.llr_gradient, n, static_cast<std::size_t>(d.bits()));
  auto of_y = exec.make<complex>(n, 1), of_h = exec.make<complex>(n, 1);
  auto of_n0 = exec.make<float>(n, 1);
  auto status = exec.make<std::uint8_t>(n, 1);
  wb::demap_input in{{}, y, n0};
  if (has_channel) in.channel = h;
  d.run(exec, in, given, {of_y, of_h, of_n0, status});
  return {exec.to_host(of_y), exec.to_host(of_h), exec.to_host(of_n0), exec.to_host(status)};
}
five gradients_of(const result& r, std::size_t i) {
  return {r.y[i].real(), r.y[i].imag(), r.h[i].real(), r.h[i].imag(), r.n0[i]};
}
template <class V>
bool same(const V& a, const V& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(a[0])) == 0;
}

TEST_P(demap_backward_on, agrees_with_double_precision) {
  for (const int points : all_points)
    for (const demap_algorithm algorithm : both) {
      const std::size_t n = 101;
      const batch b = draw(points, n, 4);
      const result got = backward(exec(), points, algorithm, b);
      // In one item of 256 points terms cancel.
      std::size_t ties = 0;
      for (std::size_t i = 0; i < n; i++) {
        EXPECT_EQ(got.status[i], 0);
        if (apart(gradients_of(got, i), in_double(algorithm, b, i)) > 1e-4) ties++;
      }
      EXPECT_LE(ties, algorithm == demap_algorithm::exact && points == 256 ? 1 : 0) << points;
      const auto alone = wb::testing::open_scalar();
      const result scalar = backward(*alone, points, algorithm, b);
      EXPECT_TRUE(same(got.y, scalar.y) && same(got.h, scalar.h) && same(got.n0, scalar.n0)) << points;
    }
}

TEST_P(demap_backward_on, no_channel_is_a_channel_of_one) {
  batch b = draw(16, 50, 5);
  std::fill(b.h.begin(), b.h.end(), complex(1));
  const result with = backward(exec(), 16, demap_algorithm::exact, b);
  const result without = backward(exec(), 16, demap_algorithm::exact, b, false);
  EXPECT_TRUE(same(with.y, without.y) && same(with.h, without.h) && same(with.n0, without.n0));
}

TEST_P(demap_backward_on, is_linear_in_the_gradient_of_llrs) {
  batch b = draw(64, 50, 6);
  const result once = backward(exec(), 64, demap_algorithm::exact, b);
  for (float& g : b.llr_gradient) g *= -2;
  const result twice = backward(exec(), 64, demap_algorithm::exact, b);
  for (std::size_t i = 0; i < b.y.size(); i++) EXPECT_EQ(twice.y[i], -2.f * once.y[i]);
  std::fill(b.llr_gradient.begin(), b.llr_gradient.end(), 0.f);
  const result none = backward(exec(), 64, demap_algorithm::exact, b);
  EXPECT_TRUE(same(none.n0, std::vector<float>(b.y.size(), 0.f)));
}

TEST_P(demap_backward_on, a_bpsk_channel_of_0_has_a_gradient) {
  batch b = draw(2, 20, 8);
  for (complex& h : b.h) h = 0;
  const result got = backward(exec(), 2, demap_algorithm::max_log, b);
  for (std::size_t i = 0; i < 20; i++) {
    EXPECT_EQ(got.status[i], 0) << i;
    EXPECT_LE(apart(gradients_of(got, i), in_double(demap_algorithm::max_log, b, i)), 1e-6) << i;
  }
}

TEST_P(demap_backward_on, one_gradient_that_overflows_leaves_the_others) {
  batch b = draw(4, 20, 9);
  b.n0[3] = 1e-20f;
  b.h[3] = {0.5f, 0.25f}, b.y[3] = {0.5f, 0.5f};
  const result got = backward(exec(), 4, demap_algorithm::max_log, b);
  for (std::size_t i = 0; i < 20; i++) EXPECT_EQ(got.status[i], i == 3 ? wb::status_erased : 0) << i;
  EXPECT_EQ(got.n0[3], 0);
  EXPECT_GT(std::abs(got.y[3]), 1e19f);
  EXPECT_GT(std::abs(got.h[3]), 1e19f);
  // An output that is not wanted erases nothing.
  const auto y = on_device(exec(), b.y, 20, 1), h = on_device(exec(), b.h, 20, 1);
  const auto n0 = on_device(exec(), b.n0, 20, 1), given = on_device(exec(), b.llr_gradient, 20, 2);
  auto of_y = exec().make<complex>(20, 1);
  auto status = exec().make<std::uint8_t>(20, 1);
  wb::demapper_backward({4, demap_algorithm::max_log})
      .run(exec(), {h, y, n0}, given, {.received = of_y, .status = status});
  EXPECT_TRUE(same(exec().to_host(of_y), got.y));
  EXPECT_TRUE(same(exec().to_host(status), std::vector<std::uint8_t>(20)));
}

TEST_P(demap_backward_on, erases_what_it_cannot_work_with) {
  const std::vector<std::pair<std::size_t, void (*)(batch&, std::size_t)>> faults{
      {1, [](batch& b, std::size_t i) { b.h[i] = 0; }},
      {2, [](batch& b, std::size_t i) { b.n0[i] = -1; }},
      {3, [](batch& b, std::size_t i) { b.y[i] = {NAN, 0}; }},
      {4, [](batch& b, std::size_t i) { b.llr_gradient[4 * i + 3] = INFINITY; }},
      {5, [](batch& b, std::size_t i) { b.y[i] = {1e16f, 0}; }},
      {6, [](batch& b, std::size_t i) { b.n0[i] = 1e-25f; }}};
  const batch clean = draw(16, 20, 7);
  batch b = clean;
  for (const auto& [i, spoil] : faults) spoil(b, i);
  const result got = backward(exec(), 16, demap_algorithm::exact, b),
               wanted = backward(exec(), 16, demap_algorithm::exact, clean);
  for (std::size_t i = 0; i < 20; i++) {
    const bool bad = i >= 1 && i <= faults.size();
    EXPECT_EQ(got.status[i], bad ? wb::status_erased : 0) << i;
    EXPECT_EQ(gradients_of(got, i), bad ? five(5, 0.0) : gradients_of(wanted, i)) << i;
  }
}

TEST(demap_backward, names_what_is_wrong) {
  EXPECT_EQ(blamed([] { wb::demapper_backward({5, demap_algorithm::exact}); }), "qam");
  const auto exec = wb::testing::open_scalar();
  const wb::demapper_backward d({16, demap_algorithm::max_log});
  auto y = exec->make_zeros<complex>(3, 1);
  auto n0 = exec->make_zeros<float>(3, 1), given = exec->make_zeros<float>(3, 4);
  const auto run = [&](const wb::demap_input& in, wb::view<const float> g, const wb::demap_gradients& out) {
    return blamed([&] { d.run(*exec, in, g, out); });
  };
  auto short_n0 = exec->make_zeros<float>(2, 1);
  EXPECT_EQ(run({{}, y, short_n0}, given, {}), "noise_var");
  EXPECT_EQ(run({{}, y, n0}, n0, {}), "llr_gradient");
  EXPECT_EQ(run({{}, y, n0}, given, {.noise_var = short_n0}), "noise_var_gradient");
  EXPECT_EQ(run({{}, y, n0}, given, {}), "");
}

}  // namespace demap_backward_test
