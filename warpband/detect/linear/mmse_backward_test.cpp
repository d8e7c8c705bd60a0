// Gradients of the MMSE detector: the body in double precision against differences of the oracle's LLRs, and
// kernels against that body.
#define WB_ISA doubled
#define WB_WIDTH 1
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include <oracle/gradient.hpp>
#include <oracle/mimo.hpp>
#include <tests/double_lane.hpp>
#include <tests/mimo.hpp>
#include <warpband/detect/detect_sizes.hpp>
#include <warpband/detect/linear/linear.hpp>
#include <warpband/detect/linear/mmse_backward.hpp>
#include <warpband/detect/linear/mmse_backward_body.hpp>

namespace mmse_backward_test {

using namespace wb::testing;
using complex = std::complex<float>;
using double_lane = wb::double_lane;

struct sizes {
  int streams, rx, qam;
};
constexpr sizes all_sizes[]{{1, 1, 16}, {2, 2, 4},  {2, 3, 256}, {4, 4, 64},
                            {3, 5, 16}, {8, 8, 16}, {5, 16, 4}};

wb::detector_config config_of(sizes s) {
  wb::detector_config c;
  c.type = "mmse";
  c.streams = s.streams, c.rx_antennas = s.rx, c.qam = s.qam;
  return c;
}
struct batch {
  mimo_batch uses;
  std::vector<float> llr_gradient;  // [uses, bits]
};
batch draw(sizes s, std::size_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  batch b{draw_mimo(config_of(s), n, {.least_n0 = 0.02, .most_n0 = 3}, random), {}};
  std::normal_distribution<float> normal;
  for (std::size_t i = 0; i < n * b.uses.bits(); i++) b.llr_gradient.push_back(normal(random));
  return b;
}

/// H, y and N0 as numbers, real part before imaginary part.
using numbers = std::vector<double>;
numbers of_use(const batch& b, std::size_t i) {
  numbers x;
  const auto add = [&](complex z) { x.insert(x.end(), {z.real(), z.imag()}); };
  const auto rx = static_cast<std::size_t>(b.uses.rx);
  for (std::size_t e = 0; e < b.uses.gains(); e++) add(b.uses.channel_of(i)[e]);
  for (std::size_t r = 0; r < rx; r++) add(b.uses.y[i * rx + r]);
  x.push_back(b.uses.noise_of(i));
  return x;
}
numbers by_differences(const batch& b, std::size_t i, double clip, double step) {
  const std::size_t bits = b.uses.bits();
  const auto f = [&](const numbers& x) {
    oracle::mimo_use use = oracle_use(b.uses, i);
    std::size_t next = 0;
    const auto take = [&](std::complex<double>& z) {
      z = {x[next], x[next + 1]};
      next += 2;
    };
    for (auto& z : use.h) take(z);
    for (auto& z : use.y) take(z);
    use.n0 = x[next];
    const auto llr = oracle::detect_linear(use, oracle::linear::mmse, clip);
    double sum = 0;
    for (std::size_t e = 0; e < bits; e++) sum += b.llr_gradient[i * bits + e] * llr[e];
    return sum;
  };
  return oracle::gradient(f, of_use(b, i), step);
}
numbers in_double(const batch& b, std::size_t i, float clip = 3e38f) {
  wb::detect_call call;
  call.streams = b.uses.streams, call.rx_antennas = b.uses.rx;
  const int bits = static_cast<int>(b.uses.bits()) / b.uses.streams;
  call.pam_bits = bits / 2;
  const wb::any_sizes s(call);
  wb::mmse_use<wb::any_sizes, double_lane> use{}, out{};
  const complex* h = b.uses.channel_of(i);
  for (int r = 0; r < b.uses.rx; r++) {
    const complex y = b.uses.y[i * static_cast<std::size_t>(b.uses.rx) + static_cast<std::size_t>(r)];
    use.y[r] = {y.real(), y.imag()};
    for (int k = 0; k < b.uses.streams; k++) {
      const complex z = h[r * b.uses.streams + k];
      use.h[k][r] = {z.real(), z.imag()};
    }
  }
  use.n0 = static_cast<double>(b.uses.noise_of(i));
  const auto given = [&](int k, int e) {
    return double_lane(b.llr_gradient[i * b.uses.bits() + static_cast<std::size_t>(k * bits + e)]);
  };
  EXPECT_TRUE(wb::mmse_gradient(s, use, double_lane(1e-30), clip, given, out));
  numbers x;
  const auto add = [&](wb::cx<double_lane> z) { x.insert(x.end(), {z.re.x, z.im.x}); };
  for (int r = 0; r < b.uses.rx; r++)
    for (int k = 0; k < b.uses.streams; k++) add(out.h[k][r]);
  for (int r = 0; r < b.uses.rx; r++) add(out.y[r]);
  x.push_back(out.n0.x);
  return x;
}
/// The largest difference of H, y or N0, each in parts of its own largest gradient.
double apart(sizes s, const numbers& a, const numbers& b) {
  double worst = 0;
  const auto entries = static_cast<std::size_t>(2 * s.rx),
             gains = entries * static_cast<std::size_t>(s.streams);
  const std::size_t starts[]{0, gains, gains + entries, gains + entries + 1};
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

void expect_derivatives(sizes s, std::size_t n, float clip) {
  const batch b = draw(s, n, 2);
  std::size_t kinks = 0;
  for (std::size_t i = 0; i < n; i++) {
    const numbers fine = by_differences(b, i, clip, 1e-5);
    if (apart(s, fine, by_differences(b, i, clip, 5e-5)) > 1e-5) {  // over a kink
      kinks++;
      continue;
    }
    EXPECT_LE(apart(s, in_double(b, i, clip), fine), 1e-5) << s.streams << "x" << s.rx << ", use " << i;
  }
  EXPECT_EQ(kinks, s.streams == 4 ? 1U : 0U) << s.streams << "x" << s.rx << ", " << s.qam << " points";
}
TEST(mmse_backward, is_the_derivative_of_the_oracle) {
  for (const sizes s : {sizes{1, 1, 16}, {2, 2, 4}, {2, 3, 64}, {4, 4, 16}}) expect_derivatives(s, 20, 1e30f);
  expect_derivatives({2, 2, 16}, 20, 2.f);
}

struct result {
  std::vector<complex> h, y;
  std::vector<float> n0;
  std::vector<std::uint8_t> status;
};
result backward(wb::executor& exec, const wb::detector_config& c, const batch& b) {
  const wb::mmse_backward d(c);
  const std::size_t n = b.uses.uses(), rx = static_cast<std::size_t>(b.uses.rx);
  const auto y = on_device(exec, b.uses.y, n, rx);
  const auto h = on_device(exec, b.uses.h, b.uses.h.size() / b.uses.gains(), b.uses.gains());
  const auto n0 = on_device(exec, b.uses.n0, n, 1);
  const auto given = on_device(exec, b.llr_gradient, n, b.uses.bits());
  auto of_h = exec.make<complex>(n, b.uses.gains()), of_y = exec.make<complex>(n, rx);
  auto of_n0 = exec.make<float>(n, 1);
  auto status = exec.make<std::uint8_t>(n, 1);
  d.run(exec, {h, b.uses.uses_per_channel, y, n0}, given, {of_h, of_y, of_n0, status});
  return {exec.to_host(of_h), exec.to_host(of_y), exec.to_host(of_n0), exec.to_host(status)};
}
numbers gradients_of(const result& r, std::size_t i) {
  const std::size_t gains = r.h.size() / r.n0.size(), rx = r.y.size() / r.n0.size();
  numbers x;
  const auto add = [&](complex z) { x.insert(x.end(), {z.real(), z.imag()}); };
  for (std::size_t e = 0; e < gains; e++) add(r.h[i * gains + e]);
  for (std::size_t e = 0; e < rx; e++) add(r.y[i * rx + e]);
  x.push_back(r.n0[i]);
  return x;
}
template <class V>
bool same(const V& a, const V& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(a[0])) == 0;
}

class mmse_backward_on : public on_backend {};
WB_ON_ALL_BACKENDS(mmse_backward_on);

TEST_P(mmse_backward_on, agrees_with_double_precision) {
  for (const sizes s : all_sizes) {
    const batch b = draw(s, 101, 3);
    const result got = backward(exec(), config_of(s), b);
    // Float32 and double may choose different points next to a tie.
    std::size_t ties = 0;
    for (std::size_t i = 0; i < 101; i++) {
      EXPECT_EQ(got.status[i], 0);
      if (apart(s, gradients_of(got, i), in_double(b, i)) > 1e-4) ties++;
    }
    EXPECT_LE(ties, 1U) << s.streams << "x" << s.rx << ", " << s.qam << " points";
    const auto alone = open_scalar();
    const result scalar = backward(*alone, config_of(s), b);
    EXPECT_TRUE(same(got.h, scalar.h) && same(got.y, scalar.y) && same(got.n0, scalar.n0));
  }
}

/// Nothing cancels where 1 - e is small: gradients of N0 included.
TEST_P(mmse_backward_on, agrees_with_double_precision_in_much_noise) {
  const sizes s{2, 3, 4};
  batch b = draw(s, 60, 7);
  for (std::size_t i = 0; i < 60; i++) b.uses.n0[i] = 1e4f;
  const result got = backward(exec(), config_of(s), b);
  for (std::size_t i = 0; i < 60; i++) {
    EXPECT_EQ(got.status[i], 0);
    EXPECT_LE(apart(s, gradients_of(got, i), in_double(b, i)), 5e-5) << i;
  }
}

TEST_P(mmse_backward_on, one_gradient_that_overflows_leaves_the_others) {
  const sizes s{2, 2, 4};
  batch b = draw(s, 12, 8);
  b.uses.n0[3] = 1e-25f;
  const result got = backward(exec(), config_of(s), b);
  for (std::size_t i = 0; i < 12; i++) EXPECT_EQ(got.status[i], i == 3 ? wb::status_erased : 0) << i;
  EXPECT_EQ(got.n0[3], 0);
  EXPECT_GT(std::abs(got.y[6]), 1e20f);
  EXPECT_GT(std::abs(got.h[12]), 1e20f);
  // An output that is not wanted erases nothing.
  const auto y = on_device(exec(), b.uses.y, 12, 2), h = on_device(exec(), b.uses.h, 12, 4);
  const auto n0 = on_device(exec(), b.uses.n0, 12, 1), given = on_device(exec(), b.llr_gradient, 12, 4);
  auto of_y = exec().make<complex>(12, 2);
  auto status = exec().make<std::uint8_t>(12, 1);
  wb::mmse_backward(config_of(s)).run(exec(), {h, 1, y, n0}, given, {.received = of_y, .status = status});
  EXPECT_TRUE(same(exec().to_host(of_y), got.y));
  EXPECT_TRUE(same(exec().to_host(status), std::vector<std::uint8_t>(12)));
}

TEST_P(mmse_backward_on, a_shared_channel_gives_a_gradient_for_each_use) {
  batch b = draw({2, 3, 16}, 24, 4);
  batch shared = b;
  shared.uses.uses_per_channel = 8;
  shared.uses.h.resize(3 * b.uses.gains());
  for (std::size_t i = 0; i < 24; i++)
    for (std::size_t e = 0; e < b.uses.gains(); e++)
      b.uses.h[i * b.uses.gains() + e] = shared.uses.h[i / 8 * b.uses.gains() + e];
  const result one = backward(exec(), config_of({2, 3, 16}), b),
               other = backward(exec(), config_of({2, 3, 16}), shared);
  EXPECT_TRUE(same(one.h, other.h) && same(one.y, other.y) && same(one.n0, other.n0));
}

TEST_P(mmse_backward_on, llrs_beyond_the_clip_have_no_gradient) {
  auto c = config_of({2, 2, 4});
  c.llr_clip = 1e-6f;
  const result got = backward(exec(), c, draw({2, 2, 4}, 20, 5));
  EXPECT_TRUE(same(got.n0, std::vector<float>(20, 0.f)) && same(got.h, std::vector<complex>(80)));
}

TEST_P(mmse_backward_on, erases_what_the_detector_erases) {
  const sizes s{2, 2, 16};
  const batch clean = draw(s, 12, 6);
  batch b = clean;
  b.uses.h[1 * 4 + 0] = b.uses.h[1 * 4 + 1], b.uses.h[1 * 4 + 2] = b.uses.h[1 * 4 + 3];  // singular
  b.uses.n0[2] = 0;
  b.uses.y[3 * 2 + 1] = {0, NAN};
  b.llr_gradient[4 * 8 + 7] = NAN;
  const result got = backward(exec(), config_of(s), b), wanted = backward(exec(), config_of(s), clean);
  for (std::size_t i = 0; i < 12; i++) {
    const bool bad = i >= 1 && i <= 4;
    EXPECT_EQ(got.status[i], bad ? wb::status_erased : 0) << i;
    EXPECT_EQ(gradients_of(got, i), bad ? numbers(13, 0.0) : gradients_of(wanted, i)) << i;
  }
}

TEST(mmse_backward, names_what_is_wrong) {
  const auto c = config_of({2, 2, 4});
  auto other = c;
  other.type = "zf";
  EXPECT_EQ(blamed([&] { wb::mmse_backward d(other); }), "type");
  other = c;
  other.edit<wb::mmse_settings>().words.word_length = 12;
  EXPECT_EQ(blamed([&] { wb::mmse_backward d(other); }), "word_length");
  other = c;
  other.streams = 9;
  EXPECT_EQ(blamed([&] { wb::mmse_backward d(other); }), "streams");
  const auto exec = open_scalar();
  const wb::mmse_backward d(c);
  auto y = exec->make_zeros<complex>(3, 2), h = exec->make_zeros<complex>(3, 4);
  auto n0 = exec->make_zeros<float>(3, 1), given = exec->make_zeros<float>(3, 4);
  const auto run = [&](wb::detector_input in, wb::view<const float> g, const wb::mmse_gradients& out) {
    return blamed([&] { d.run(*exec, in, g, out); });
  };
  EXPECT_EQ(run({y, 1, y, n0}, given, {}), "channel");
  EXPECT_EQ(run({h, 1, y, n0}, n0, {}), "llr_gradient");
  EXPECT_EQ(run({h, 1, y, n0, given}, given, {}), "prior");
  EXPECT_EQ(run({h, 1, y, n0}, given, {.received = h}), "received_gradient");
  EXPECT_EQ(run({h, 1, y, n0}, given, {}), "");
}

}  // namespace mmse_backward_test
