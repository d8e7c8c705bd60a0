// Front-end impairments: against sums in double, theory, and limit cases.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

#include <oracle/impairments.hpp>
#include <tests/on_backends.hpp>
#include <tests/symbols.hpp>
#include <warpband/channel/impairments/impairments.hpp>

namespace wb {
namespace impairments_test {

using testing::blamed;
using testing::on_device;
using testing::random_symbols;
using testing::same_bits;
using testing::symbols;
using exact = std::complex<double>;
constexpr double pi = std::numbers::pi;

symbols impaired(executor& exec, const impairments_config& c, const symbols& x, random_range range = {},
                 std::size_t captures = 1, std::vector<std::int32_t>* erased = nullptr) {
  const auto in = on_device(exec, x, captures, x.size() / captures);
  auto out = exec.make<std::complex<float>>(captures, x.size() / captures);
  auto counts = exec.make<std::int32_t>(captures, 1);
  impairments(c).run(exec, in, out, range,
                     erased != nullptr ? view<std::int32_t>(counts) : view<std::int32_t>());
  if (erased != nullptr) *erased = exec.to_host(counts);
  return exec.to_host(out);
}
symbols tone(std::size_t n, double turns, double from = 0) {
  symbols x(n);
  for (std::size_t i = 0; i < n; i++)
    x[i] = std::complex<float>(std::polar(1., 2 * pi * turns * (static_cast<double>(i) - from)));
  return x;
}
/// Signal over mean squared error in dB, of samples [skipped, n - skipped).
double accuracy_db(const symbols& got, const symbols& expected, std::size_t skipped) {
  double signal = 0, error = 0;
  for (std::size_t i = skipped; i + skipped < got.size(); i++)
    signal += std::norm(exact(expected[i])), error += std::norm(exact(got[i]) - exact(expected[i]));
  return 10 * std::log10(signal / error);
}

/// One of each, and all at once.
std::vector<impairments_config> configs() {
  std::vector<impairments_config> list{{.sample_rate_hz = 1e6, .cfo_hz = -123456.7},
                                       {.delay_samples = 3.37},
                                       {.delay_samples = -20.5},
                                       {.clock_offset_ppm = 900},
                                       {.clock_offset_ppm = -1000},
                                       {.sample_rate_hz = 1e6, .linewidth_hz = 2e3},
                                       {.noise_var = 0.3},
                                       {.iq_gain_db = 1.5, .iq_phase_deg = -7},
                                       {.dc_i = 0.25, .dc_q = -3},
                                       {.converter_bits = 5, .full_scale = 0.7}};
  list.push_back({.sample_rate_hz = 1e6,
                  .cfo_hz = 1234,
                  .delay_samples = 0.21,
                  .clock_offset_ppm = 40,
                  .linewidth_hz = 100,
                  .noise_var = 0.01,
                  .iq_gain_db = -0.5,
                  .iq_phase_deg = 2,
                  .dc_i = 0.01});
  list.push_back({.sample_rate_hz = 1e6, .linewidth_hz = 1e6});  // the largest: steps of 2^-19 turns
  return list;
}

class front_end : public testing::on_backend {};
WB_ON_ALL_BACKENDS(front_end);

TEST_P(front_end, equals_sums_in_double) {
  const std::size_t captures = 2, n = 700;
  const symbols x = random_symbols(captures * n);
  const random_range range{.seed = 0xfedcba9876543210, .first = 5, .point = 9};
  const std::vector<impairments_config> list = configs();
  for (std::size_t l = 0; l < list.size(); l++) {
    const impairments_config& c = list[l];
    const double tolerance = c.linewidth_hz == c.sample_rate_hz ? 2e-3 : 2e-5;
    const symbols got = impaired(exec(), c, x, range, captures);
    for (std::size_t capture = 0; capture < captures; capture++) {
      const auto begin = x.begin() + static_cast<std::ptrdiff_t>(capture * n);
      const auto expected = oracle::impaired({begin, begin + static_cast<std::ptrdiff_t>(n)},
                                             {.sample_rate = c.sample_rate_hz,
                                              .cfo = c.cfo_hz,
                                              .delay = c.delay_samples,
                                              .clock = 1e-6 * c.clock_offset_ppm,
                                              .linewidth = c.linewidth_hz,
                                              .noise_var = c.noise_var,
                                              .iq_gain_db = c.iq_gain_db,
                                              .iq_phase = pi / 180 * c.iq_phase_deg,
                                              .dc = {c.dc_i, c.dc_q},
                                              .bits = c.converter_bits,
                                              .full_scale = c.full_scale,
                                              .seed = range.seed,
                                              .capture = static_cast<std::uint32_t>(5 + capture),
                                              .point = range.point});
      for (std::size_t i = 0; i < n; i++)
        ASSERT_LT(std::abs(exact(got[capture * n + i]) - expected[i]), tolerance)
            << l << ": capture " << capture << ", sample " << i;
    }
  }
}

TEST_P(front_end, without_impairments_samples_stay_as_they_are) {
  for (const std::size_t n : {1, 15, 255, 256, 257, 1000}) {
    const symbols x = random_symbols(n);
    EXPECT_TRUE(same_bits(impaired(exec(), {}, x), x)) << n;
  }
  EXPECT_TRUE(impaired(exec(), {}, {}).empty());
  EXPECT_TRUE(same_bits(impaired(exec(), {}, {{-0.f, 0.f}, {2.f, -0.f}}), {{0.f, 0.f}, {2.f, 0.f}}));
}

TEST_P(front_end, a_carrier_frequency_offset_is_a_product) {
  const std::size_t n = 100000;
  const symbols x(n, {0.6f, -0.8f});
  const double turns = 12345.678 / 7.68e6;
  const symbols got = impaired(exec(), {.cfo_hz = 12345.678}, x);
  for (std::size_t i = 0; i < n; i++)
    ASSERT_LT(std::abs(exact(got[i]) - exact(x[i]) * std::polar(1., 2 * pi * turns * static_cast<double>(i))),
              5e-7)
        << i;
}

TEST_P(front_end, whole_delays_are_exact) {
  const std::size_t n = 600;
  const symbols x = random_symbols(n);
  for (const int delay : {1, -1, 300, -300, 599, 600, -5000}) {
    const symbols got = impaired(exec(), {.delay_samples = static_cast<double>(delay)}, x);
    symbols expected(n);
    for (int i = 0; i < static_cast<int>(n); i++)
      if (i - delay >= 0 && i - delay < static_cast<int>(n))
        expected[static_cast<std::size_t>(i)] = x[static_cast<std::size_t>(i - delay)];
    EXPECT_TRUE(same_bits(got, expected)) << delay;
  }
}

TEST_P(front_end, fractional_delays_are_accurate_up_to_0_4_of_the_sample_rate) {
  for (const double delay : {0.5, 0.123, -7.75})
    for (const double turns : {0.01, -0.25, 0.4, -0.4}) {
      const symbols got = impaired(exec(), {.delay_samples = delay}, tone(2000, turns));
      EXPECT_GT(accuracy_db(got, tone(2000, turns, delay), 40), 70) << delay << " " << turns;
    }
}

TEST_P(front_end, a_fast_clock_makes_frequencies_lower) {
  const double ppm = 25, turns = 0.3;
  const std::size_t n = 50000;  // 1.25 samples of drift
  const symbols got = impaired(exec(), {.clock_offset_ppm = ppm}, tone(n, turns));
  EXPECT_GT(accuracy_db(got, tone(n, turns / (1 + 1e-6 * ppm)), 40), 70);
}

TEST_P(front_end, phase_noise_is_a_wiener_process) {
  // Mean squares of phase differences, within 5 standard deviations. Each capture has a sequence of its own.
  const std::size_t captures = 4, n = testing::small_scale() ? 10000 : 50000;
  const double rate = 1e6, linewidth = 300;
  const symbols x(captures * n, 1.f);
  const symbols got =
      impaired(exec(), {.sample_rate_hz = rate, .linewidth_hz = linewidth}, x, {.seed = 3}, captures);
  for (const std::size_t lag : {1, 7, 100}) {
    double sum = 0, count = 0;
    for (std::size_t c = 0; c < captures; c++)
      for (std::size_t i = lag; i < n; i += lag) {
        const double d = std::arg(exact(got[c * n + i]) * std::conj(exact(got[c * n + i - lag])));
        sum += d * d, count++;
      }
    const double expected = 2 * pi * linewidth / rate * static_cast<double>(lag);
    EXPECT_NEAR(sum / count, expected, expected * 5 * std::sqrt(2 / count)) << lag;
  }
  EXPECT_FALSE(same_bits(symbols(got.begin(), got.begin() + 100),
                         symbols(got.begin() + static_cast<std::ptrdiff_t>(n),
                                 got.begin() + static_cast<std::ptrdiff_t>(n + 100))));
}

TEST_P(front_end, noise_has_its_variance) {
  const std::size_t n = 100000;
  const symbols got = impaired(exec(), {.noise_var = 0.02}, symbols(n), {.seed = 1});
  double power = 0;
  for (const auto& y : got) power += std::norm(exact(y));
  EXPECT_NEAR(power / static_cast<double>(n), 0.02, 0.02 * 5 / std::sqrt(static_cast<double>(n)));
}

TEST_P(front_end, imbalance_gives_the_image_of_theory) {
  const double gain_db = 0.8, phase_deg = 3, g = std::pow(10, gain_db / 40), half = pi / 360 * phase_deg;
  const std::size_t n = 1024;
  const symbols got = impaired(exec(), {.iq_gain_db = gain_db, .iq_phase_deg = phase_deg}, tone(n, 0.125));
  exact signal = 0, image = 0;
  for (std::size_t i = 0; i < n; i++) {
    const exact w = std::polar(1. / static_cast<double>(n), -2 * pi * 0.125 * static_cast<double>(i));
    signal += exact(got[i]) * w, image += exact(got[i]) * std::conj(w);
  }
  const double a = std::pow(g + 1 / g, 2) * std::pow(std::cos(half), 2) +
                   std::pow(g - 1 / g, 2) * std::pow(std::sin(half), 2),
               b = std::pow(g - 1 / g, 2) * std::pow(std::cos(half), 2) +
                   std::pow(g + 1 / g, 2) * std::pow(std::sin(half), 2);
  EXPECT_NEAR(std::norm(signal) / std::norm(image), a / b, 1e-3 * a / b);
}

TEST_P(front_end, the_converter_rounds_and_clips) {
  const auto part = [&](int bits, float full_scale, float x) {
    const symbols y = impaired(exec(), {.converter_bits = bits, .full_scale = full_scale}, {{x, -x}});
    return y[0];
  };
  EXPECT_EQ(part(2, 1, 0.3f), std::complex<float>(0.5f, -0.5f));
  EXPECT_EQ(part(2, 1, 0.25f), std::complex<float>(0, 0));  // ties to even
  EXPECT_EQ(part(2, 1, 9), std::complex<float>(0.5f, -1));
  EXPECT_EQ(part(8, 4, 100), std::complex<float>(4 - 1.f / 32, -4));
  EXPECT_EQ(part(24, 1, 3), std::complex<float>(1 - std::ldexp(1.f, -23), -1));
  symbols x = random_symbols(5000);
  for (auto& value : x) value *= 0.99f;
  for (const int bits : {12, 23, 24}) {
    const symbols got = impaired(exec(), {.converter_bits = bits}, x);
    for (std::size_t i = 0; i < x.size(); i++) {
      ASSERT_LE(std::abs(got[i].real() - x[i].real()), std::ldexp(1., -bits)) << bits;
      ASSERT_EQ(std::ldexp(got[i].imag(), bits - 1), std::round(std::ldexp(got[i].imag(), bits - 1)));
    }
  }
}

TEST_P(front_end, bad_samples_are_zeros_and_counted) {
  const std::size_t n = 600;
  symbols x = random_symbols(2 * n), zeros = x;
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const std::complex<float> bad[]{{nan, 0}, {0, inf}, {2e15f, 0}};
  for (std::size_t i = 0; i < 3; i++) x[n + 250 + 5 * i] = bad[i], zeros[n + 250 + 5 * i] = 0;
  const impairments_config c{.cfo_hz = 1e5, .delay_samples = 0.4, .linewidth_hz = 10, .noise_var = 0.1};
  std::vector<std::int32_t> erased;
  EXPECT_TRUE(
      same_bits(impaired(exec(), c, x, {.seed = 2}, 2, &erased), impaired(exec(), c, zeros, {.seed = 2}, 2)));
  EXPECT_EQ(erased, (std::vector<std::int32_t>{0, 3}));
}

TEST(front_end_settings, bad_ones_are_named) {
  const auto blames = [](const impairments_config& c) { return blamed([&] { impairments{c}; }); };
  EXPECT_EQ(blames({}), "");
  EXPECT_EQ(blames({.sample_rate_hz = 0}), "sample_rate_hz");
  EXPECT_EQ(blames({.sample_rate_hz = 1e-300, .cfo_hz = 1e12}), "sample_rate_hz");
  EXPECT_EQ(blames({.cfo_hz = std::nan("")}), "cfo_hz");
  EXPECT_EQ(blames({.sample_rate_hz = 1e6, .cfo_hz = -1.1e6}), "cfo_hz");
  EXPECT_EQ(blames({.sample_rate_hz = 1e6, .cfo_hz = 1e6}), "");
  EXPECT_EQ(blames({.delay_samples = 2e6}), "delay_samples");
  EXPECT_EQ(blames({.clock_offset_ppm = -1001}), "clock_offset_ppm");
  EXPECT_EQ(blames({.sample_rate_hz = 1e6, .linewidth_hz = 1.1e6}), "linewidth_hz");
  EXPECT_EQ(blames({.noise_var = -1}), "noise_var");
  EXPECT_EQ(blames({.iq_gain_db = 21}), "iq_gain_db");
  EXPECT_EQ(blames({.iq_phase_deg = 91}), "iq_phase_deg");
  EXPECT_EQ(blames({.dc_q = INFINITY}), "dc_q");
  EXPECT_EQ(blames({.converter_bits = 1}), "converter_bits");
  EXPECT_EQ(blames({.converter_bits = 25}), "converter_bits");
  EXPECT_EQ(blames({.full_scale = 0}), "full_scale");
  const auto exec = testing::open_scalar();
  auto x = exec->make_zeros<std::complex<float>>(2, 8), few = exec->make<std::complex<float>>(2, 7);
  EXPECT_EQ(blamed([&] { impairments({}).run(*exec, x, few); }), "out");
  EXPECT_EQ(blamed([&] { impairments({}).run(*exec, x, x); }), "out");
  auto out = exec->make<std::complex<float>>(2, 8);
  EXPECT_EQ(blamed([&] { impairments({}).run(*exec, x, out, {.first = 0xffffffff}); }), "first");
  impairments({}).run(*exec, x, out, {.first = 0xfffffffe});
  const auto in_samples = make_view(reinterpret_cast<std::int32_t*>(x.data()), 2, 1);
  EXPECT_EQ(blamed([&] { impairments({}).run(*exec, x, out, {}, in_samples); }), "erased");
  const std::size_t too_many = std::size_t{1} << 31;
  const auto long_in = make_view<const std::complex<float>>(x.data(), 1, too_many);
  EXPECT_EQ(blamed([&] { impairments({}).run(*exec, long_in, make_view(out.data(), 1, too_many)); }),
            "samples");
}

}  // namespace impairments_test
}  // namespace wb
