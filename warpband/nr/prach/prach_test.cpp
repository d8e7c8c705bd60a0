// PRACH: sequences and samples against their definition, the metric against sums in double. All preambles
// are found without noise. Also false alarms, equal results on every backend and in every batch, bad input.
#include <warpband/nr/prach/prach.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <fstream>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include <oracle/prach.hpp>
#include <tests/json.hpp>
#include <tests/on_backends.hpp>

#ifndef WARPBAND_REFDATA
#define WARPBAND_REFDATA ""
#endif

namespace prach_test {

using wb::prach_config;
using wb::prach_format;
using wb::testing::blamed;
using wb::testing::on_device;
using sample = std::complex<float>;
using exact = std::complex<double>;

struct outcome {
  std::vector<std::uint8_t> detected, status;
  std::vector<float> delay_us, snr_db, metric;
  std::vector<std::int32_t> advance;
  std::vector<int> preambles(std::size_t occasion = 0) const {
    std::vector<int> found;
    for (int p = 0; p < 64; p++)
      if (detected[occasion * 64 + static_cast<std::size_t>(p)] != 0) found.push_back(p);
    return found;
  }
};

outcome detect_on(wb::executor& e, const prach_config& c, const std::vector<sample>& values,
                  wb::layout order = wb::layout::row_major) {
  const wb::prach_detector d(c);
  const std::size_t items = values.size() / d.values();
  const auto in = on_device(e, values, items, d.values(), order);
  auto detected = e.make<std::uint8_t>(items, 64), status = e.make<std::uint8_t>(items, 1);
  auto delay = e.make<float>(items, 64), snr = e.make<float>(items, 64), metric = e.make<float>(items, 64);
  auto advance = e.make<std::int32_t>(items, 64);
  d.run(e, in,
        {.detected = detected,
         .delay_us = delay,
         .timing_advance = advance,
         .snr_db = snr,
         .metric = metric,
         .status = status});
  return {e.to_host(detected), e.to_host(status), e.to_host(delay),
          e.to_host(snr),      e.to_host(metric), e.to_host(advance)};
}

class prach : public wb::testing::on_backend {
 protected:
  void SetUp() override {
    on_backend::SetUp();
    if (!IsSkipped() && !GetParam().name.starts_with("cuda") && !wb::has_cpu_fft())
      GTEST_SKIP() << "this build has no FFT for CPUs (WARPBAND_KISSFFT)";
  }
  outcome detect(const prach_config& c, const std::vector<sample>& values,
                 wb::layout order = wb::layout::row_major) {
    return detect_on(exec(), c, values, order);
  }
};
WB_ON_ALL_BACKENDS(prach);

struct sent {
  int preamble;
  double delay_us = 0, gain = 1, cfo_hz = 0;
};

/// Resource elements of an occasion by the definition: [antennas, repetitions, L]. A frequency offset acts on
/// L samples of a sequence, as it does on more.
std::vector<sample> occasion(const prach_config& c, const std::vector<sent>& preambles, double noise_var = 0,
                             unsigned seed = 1) {
  const wb::prach_shape s = wb::shape_of(c);
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, std::sqrt(0.5));
  std::vector<exact> values(static_cast<std::size_t>(c.antennas) * s.values());
  const int length = s.length;
  for (const sent& p : preambles) {
    auto y = oracle::prach_spectrum(length, s.root[static_cast<std::size_t>(p.preamble)],
                                    s.shift[static_cast<std::size_t>(p.preamble)]);
    for (int k = 0; k < length; k++)
      y[static_cast<std::size_t>(k)] *=
          std::polar(p.gain, -2 * std::numbers::pi * k * s.spacing_hz * 1e-6 * p.delay_us);
    if (p.cfo_hz != 0) {  // to time and back
      std::vector<exact> x, back;
      for (int n = 0; n < length; n++)
        x.push_back(oracle::prach_sample(y, 0, length, n) *
                    std::polar(1., 2 * std::numbers::pi * p.cfo_hz / s.spacing_hz * n / length));
      for (int k = 0; k < length; k++)
        back.push_back(std::conj(oracle::prach_sample(
            [&] {
              std::vector<exact> conjugated;
              for (const exact& z : x) conjugated.push_back(std::conj(z));
              return conjugated;
            }(),
            0, length, k)));
      y = back;
    }
    for (int a = 0; a < c.antennas; a++)
      for (int r = 0; r < s.repetitions; r++) {
        const exact h = std::polar(1., 0.7 * a + 2 * std::numbers::pi * r * p.cfo_hz / s.spacing_hz);
        for (int k = 0; k < length; k++)
          values[static_cast<std::size_t>((a * s.repetitions + r) * length + k)] +=
              h * y[static_cast<std::size_t>(k)];
      }
  }
  if (noise_var > 0)
    for (exact& z : values) z += std::sqrt(noise_var) * exact(normal(random), normal(random));
  return {values.begin(), values.end()};
}

TEST(prach_shape, preambles_are_those_of_other_programs) {
  const std::string path = WARPBAND_REFDATA "/nr_time/vectors/prach_preamble_lists.json";
  std::ifstream file(path);
  if (!file) GTEST_SKIP() << "no refdata: cannot open '" << path << "'";
  int rows = 0;
  const auto content = wb::testing::parse_json(file);
  for (const auto& row : content.at("vectors")) {
    if (row.at("restricted_set").get<std::string>() != "none") continue;
    const bool is_long = row.at("l_ra").get<int>() == 839;
    const auto s = wb::shape_of({.format = is_long ? prach_format::f0 : prach_format::a1,
                                 .root_sequence = row.at("root_sequence_index").get<int>(),
                                 .zero_correlation_zone = row.at("zero_correlation_zone_config").get<int>()});
    EXPECT_EQ(s.n_cs, row.at("n_cs").get<int>());
    EXPECT_EQ(s.root, row.at("u").get<std::vector<int>>());
    EXPECT_EQ(s.shift, row.at("c_v").get<std::vector<int>>());
    rows++;
  }
  EXPECT_GE(rows, 5);
}

TEST(prach_shape, roots_are_a_permutation) {
  for (const bool is_long : {true, false}) {
    std::vector<int> seen(is_long ? 839 : 139);
    const int roots = static_cast<int>(seen.size()) - 1;
    for (int first = 0; first < roots; first++)
      seen[static_cast<std::size_t>(wb::shape_of({.format = is_long ? prach_format::f3 : prach_format::b4,
                                                  .root_sequence = first,
                                                  .zero_correlation_zone = 0})
                                        .root[0])]++;
    EXPECT_EQ(seen[0], 0);
    EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), roots);
  }
}

TEST(prach_shape, prefixes_are_longer_at_0_and_at_half_a_millisecond) {
  const auto prefix = [](prach_format f, int khz, int symbol, double rate) {
    return wb::shape_of({.format = f, .spacing_khz = khz, .sample_rate_hz = rate, .start_symbol = symbol})
        .prefix_samples;
  };
  EXPECT_EQ(prefix(prach_format::a2, 15, 4, 7.68e6), 148);
  EXPECT_EQ(prefix(prach_format::a3, 15, 6, 7.68e6), 220);
  EXPECT_EQ(prefix(prach_format::b4, 15, 0, 7.68e6), 242);  // touches both
  EXPECT_EQ(prefix(prach_format::c0, 15, 0, 7.68e6), 314);
  EXPECT_EQ(prefix(prach_format::a1, 30, 0, 15.36e6), 80);
  EXPECT_EQ(prefix(prach_format::a2, 30, 14, 15.36e6), 152);
  EXPECT_EQ(prefix(prach_format::a1, 15, 2, 7.68e6), 72);  // none
}

TEST(prach_shape, places_in_a_carrier) {
  const prach_config f0{}, f3{.format = prach_format::f3}, a2{.format = prach_format::a2},
      b4{.format = prach_format::b4, .spacing_khz = 30};
  EXPECT_EQ(wb::prach_first_subcarrier(f0, 15, 6, 0), -425);
  EXPECT_EQ(wb::prach_first_subcarrier(f0, 15, 25, 3), -1361);
  EXPECT_EQ(wb::prach_first_subcarrier(f0, 30, 11, 2), -1007);
  EXPECT_EQ(wb::prach_first_subcarrier(f3, 15, 25, 1), -402);
  EXPECT_EQ(wb::prach_first_subcarrier(f3, 30, 12, 0), -422);
  EXPECT_EQ(wb::prach_first_subcarrier(a2, 15, 25, 0), -148);
  EXPECT_EQ(wb::prach_first_subcarrier(b4, 30, 15, 1), -76);
  EXPECT_EQ(blamed([&] { wb::prach_first_subcarrier(b4, 15 + 105, 15, 1); }), "uplink_khz");
  EXPECT_EQ(blamed([&] { wb::prach_first_subcarrier(f0, 15, 6, 1); }), "first_block");
}

TEST(prach_shape, bad_settings_are_named) {
  const auto blames = [](auto change) {
    prach_config c;
    change(c);
    return wb::testing::blamed([&] { wb::prach_detector{c}; });
  };
  EXPECT_EQ(blames([](prach_config&) {}), "");
  EXPECT_EQ(blames([](prach_config& c) { c.root_sequence = 838; }), "root_sequence");
  EXPECT_EQ(blames([](prach_config& c) { c.format = prach_format::a1, c.root_sequence = 138; }),
            "root_sequence");
  EXPECT_EQ(blames([](prach_config& c) { c.spacing_khz = 45; }), "spacing_khz");
  EXPECT_EQ(blames([](prach_config& c) { c.zero_correlation_zone = 16; }), "zero_correlation_zone");
  EXPECT_EQ(blames([](prach_config& c) { c.sample_rate_hz = 1e6; }), "sample_rate_hz");
  EXPECT_EQ(blames([](prach_config& c) { c.first_subcarrier = -769; }), "first_subcarrier");
  EXPECT_EQ(blames([](prach_config& c) { c.format = prach_format::c0, c.start_symbol = 14; }),
            "start_symbol");
  EXPECT_EQ(blames([](prach_config& c) { c.antennas = 65; }), "antennas");
  EXPECT_EQ(blames([](prach_config& c) { c.max_cfo_hz = 626; }), "max_cfo_hz");
  EXPECT_EQ(blames([](prach_config& c) { c.false_alarm = 0; }), "false_alarm");
  EXPECT_EQ(blames([](prach_config& c) { c.ta_spacing_khz = 240; }), "ta_spacing_khz");
}

TEST(prach_values, are_the_transform_of_the_shifted_sequence) {
  for (const prach_config& c :
       {prach_config{.root_sequence = 22},
        prach_config{.format = prach_format::a3, .root_sequence = 90, .zero_correlation_zone = 11}}) {
    const wb::prach_generator g(c);
    for (const int p : {0, 1, 17, 63}) {
      const auto y = g.values(p);
      const auto expected =
          oracle::prach_spectrum(g.shape().length, g.shape().root[static_cast<std::size_t>(p)],
                                 g.shape().shift[static_cast<std::size_t>(p)]);
      ASSERT_EQ(y.size(), expected.size());
      for (std::size_t k = 0; k < y.size(); k++)
        EXPECT_LT(std::abs(exact(y[k]) - expected[k]), 2e-7) << p << " " << k;
    }
  }
  EXPECT_EQ(blamed([] { wb::prach_generator({}).values(64); }), "preamble");
}

// One FFT and several, prefixes longer and shorter than a sequence, off the centre.
TEST_P(prach, samples_follow_the_formula_and_come_back) {
  for (const prach_config& c :
       {prach_config{.format = prach_format::f0, .first_subcarrier = -425},
        prach_config{.format = prach_format::f1, .sample_rate_hz = 30.72e6, .first_subcarrier = 5000},
        prach_config{.format = prach_format::f2, .sample_rate_hz = 7.68e6, .first_subcarrier = -3072},
        prach_config{.format = prach_format::f3, .sample_rate_hz = 7.68e6},
        prach_config{.format = prach_format::b4, .spacing_khz = 30, .start_symbol = 14},
        prach_config{.format = prach_format::c2, .sample_rate_hz = 122.88e6, .first_subcarrier = 3957},
        prach_config{.format = prach_format::a1, .spacing_khz = 120, .sample_rate_hz = 61.44e6}}) {
    const wb::prach_generator g(c);
    const wb::prach_detector d(c);
    const wb::prach_shape& s = g.shape();
    auto samples = exec().make<sample>(2, g.samples());
    g.run(exec(), {5, 40}, samples);
    const auto x = exec().to_host(samples);
    for (int i = 0; i < 2; i++) {
      const std::vector<sample> values = g.values(i == 0 ? 5 : 40);
      const std::vector<exact> y(values.begin(), values.end());
      for (std::size_t n = 0; n < g.samples(); n += g.samples() / 37 + 1)
        EXPECT_LT(std::abs(exact(x[static_cast<std::size_t>(i) * g.samples() + n]) -
                           oracle::prach_sample(y, s.first_subcarrier, s.sequence_samples,
                                                static_cast<double>(n) - s.prefix_samples)),
                  3e-6)
            << n;
    }
    auto back = exec().make<sample>(2, d.values());
    d.demodulate(exec(), samples, back);
    const auto z = exec().to_host(back);
    for (std::size_t i = 0; i < z.size(); i++) {
      const auto values = g.values(i < d.values() ? 5 : 40);
      if (i % 97 == 0) {
        EXPECT_LT(std::abs(z[i] - values[i % static_cast<std::size_t>(s.length)]), 3e-6f) << i;
      }
    }
  }
}

// Also layouts: samples of neighbouring occasions side by side.
TEST_P(prach, samples_of_any_layout_give_the_same) {
  const prach_config c{.format = prach_format::b1, .antennas = 2};
  const wb::prach_detector d(c);
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  std::vector<sample> x(3 * d.samples()), turned(x.size());
  for (std::size_t i = 0; i < x.size(); i++) {
    x[i] = {normal(random), normal(random)};
    turned[i % d.samples() * 3 + i / d.samples()] = x[i];
  }
  auto a = exec().make<sample>(3, d.values()), b = exec().make<sample>(3, d.values());
  d.demodulate(exec(), on_device(exec(), x, 3, d.samples()), a);
  d.demodulate(exec(), on_device(exec(), turned, 3, d.samples(), wb::layout::batch_fastest), b);
  const auto first = exec().to_host(a), second = exec().to_host(b);
  for (std::size_t i = 0; i < first.size(); i++) EXPECT_LT(std::abs(first[i] - second[i]), 1e-5f);
}

TEST_P(prach, the_metric_is_that_of_sums_in_double) {
  for (const prach_config& c :
       {prach_config{.format = prach_format::a2, .zero_correlation_zone = 11, .antennas = 2},
        prach_config{.format = prach_format::b4, .zero_correlation_zone = 13, .antennas = 1}}) {
    const wb::prach_detector d(c);
    const wb::prach_shape& s = d.shape();
    const auto values = occasion(c, {{3, 1.5, 0.3}, {20, 4, 0.2}}, 1, 9);
    const outcome found = detect(c, values);
    const int g = d.coherent_repetitions(), sums = s.repetitions / g, points = 512;
    std::vector<exact> rows(static_cast<std::size_t>(c.antennas * sums * s.length));
    for (std::size_t i = 0; i < values.size(); i++) {
      const std::size_t length = static_cast<std::size_t>(s.length),
                        row = i / length / static_cast<std::size_t>(g);
      rows[row * length + i % length] += exact(values[i]);
    }
    const double width = std::min<double>(s.n_cs, 1. * s.prefix_samples / s.sequence_samples * s.length);
    for (std::size_t p = 0; p < 64; p++) {
      const auto t = oracle::prach_metric(rows, c.antennas, sums,
                                          oracle::prach_spectrum(s.length, s.root[p], 0), points);
      const double begin = (s.length - s.shift[p]) % s.length;
      double largest = 0;
      for (int m = static_cast<int>(begin * points / s.length) - 1;
           m < std::floor((begin + width) * points / s.length) - 1; m++)
        largest = std::max(largest, t[static_cast<std::size_t>((m + points) % points)]);
      EXPECT_NEAR(found.metric[p], largest, 2e-4 * largest) << p;
    }
  }
}

// Every preamble, delays from one end of the window to the other, and nothing beside it.
TEST_P(prach, without_noise_exactly_what_was_sent_is_found) {
  for (const prach_config& c :
       {prach_config{
            .format = prach_format::f0, .root_sequence = 22, .zero_correlation_zone = 1, .antennas = 2},
        prach_config{.format = prach_format::f3, .root_sequence = 500, .zero_correlation_zone = 8},
        prach_config{.format = prach_format::a1, .zero_correlation_zone = 11, .antennas = 4},
        prach_config{.format = prach_format::b4, .spacing_khz = 30, .zero_correlation_zone = 14},
        prach_config{.format = prach_format::c0, .spacing_khz = 120, .zero_correlation_zone = 0}}) {
    const wb::prach_shape s = wb::shape_of(c);
    const double unit = 1e6 / (s.length * s.spacing_hz),
                 width = unit * std::min(s.n_cs == 0 ? 1. * s.length : s.n_cs,
                                         1. * s.prefix_samples / s.sequence_samples * s.length);
    std::vector<sample> values;
    std::vector<double> delays;
    const int step = wb::testing::small_scale() ? 7 : 1;
    for (int p = 0; p < 64; p += step) {
      const double share = (p * 37 % 64) / 63.;
      delays.push_back(share * std::max(0., width - 1.2 * unit));
      const auto one = occasion(c, {{p, delays.back(), 0.01}});
      values.insert(values.end(), one.begin(), one.end());
    }
    const outcome found = detect(c, values);
    for (std::size_t i = 0; i < delays.size(); i++) {
      const int p = static_cast<int>(i) * step;
      ASSERT_EQ(found.preambles(i), std::vector<int>{p}) << delays[i];
      const std::size_t place = i * 64 + static_cast<std::size_t>(p);
      EXPECT_NEAR(found.delay_us[place], delays[i], 0.01 * unit) << p;
      EXPECT_EQ(found.advance[place],
                std::max(0, static_cast<int>(std::floor(found.delay_us[place] * 30.72 / 16 + 0.5))));
      EXPECT_GT(found.snr_db[place], 25);
      EXPECT_EQ(found.status[i], 0);
    }
  }
}

TEST_P(prach, frequency_offsets_and_other_roots_give_no_further_preamble) {
  for (const double cfo : {-400., 250., 400.}) {
    const prach_config c{.root_sequence = 300, .zero_correlation_zone = 8};
    EXPECT_EQ(detect(c, occasion(c, {{21, 20, 1, cfo}})).preambles(), std::vector<int>{21}) << cfo;
  }
  const prach_config c{
      .format = prach_format::b4, .spacing_khz = 30, .zero_correlation_zone = 14, .antennas = 4};
  EXPECT_EQ(detect(c, occasion(c, {{2, 1, 1, 400}})).preambles(), std::vector<int>{2});
  // Several at once, with noise: 0, -6 and -10 dB.
  const outcome found = detect(c, occasion(c, {{2, 1, 1}, {17, 2, 0.5}, {50, 0.5, 0.316}}, 1));
  EXPECT_EQ(found.preambles(), (std::vector<int>{2, 17, 50}));
}

TEST_P(prach, the_snr_is_that_of_a_resource_element) {
  for (const double snr_db : {-10., 0., 6.}) {
    const prach_config c{.format = prach_format::a3, .zero_correlation_zone = 11, .antennas = 8};
    const outcome found = detect(c, occasion(c, {{9, 2.2, std::pow(10, snr_db / 20)}}, 1, 4));
    ASSERT_EQ(found.preambles(), std::vector<int>{9});
    EXPECT_NEAR(found.snr_db[9], snr_db, 1);
    EXPECT_NEAR(found.delay_us[9], 2.2, 0.2);
  }
}

// The bound is on the number of values tried, of which neighbours are correlated: the rate is below it.
TEST_P(prach, noise_alone_rarely_gives_a_preamble) {
  if (GetParam().name == "scalar") GTEST_SKIP() << "scalar code has the results of the others";
  const prach_config c{
      .format = prach_format::a1, .zero_correlation_zone = 11, .antennas = 2, .false_alarm = 0.05};
  const std::size_t occasions = wb::testing::small_scale() ? 100 : 1000;
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  std::vector<sample> values(occasions * wb::prach_detector(c).values());
  for (sample& z : values) z = {normal(random), normal(random)};
  const outcome found = detect(c, values);
  std::size_t alarms = 0;
  for (std::size_t i = 0; i < occasions; i++) alarms += !found.preambles(i).empty();
  const double bound = 0.05 * static_cast<double>(occasions);
  EXPECT_LE(static_cast<double>(alarms), bound + 3 * std::sqrt(bound));
  EXPECT_GE(static_cast<double>(alarms), bound / 5);
  prach_config strict = c;
  strict.false_alarm = 1e-9;
  const outcome none = detect(strict, values);
  EXPECT_EQ(std::count(none.detected.begin(), none.detected.end(), 1), 0);
}

TEST_P(prach, results_are_those_of_scalar_code_and_of_any_batch) {
  const auto scalar = wb::testing::open_scalar();
  for (const prach_config& c :
       {prach_config{.root_sequence = 22, .antennas = 2},
        prach_config{.format = prach_format::b4, .zero_correlation_zone = 11, .antennas = 3}}) {
    std::vector<sample> values;
    constexpr std::size_t items = 5;
    for (unsigned i = 0; i < items; i++) {
      const auto one = occasion(c, {{static_cast<int>(11 * i), 1.3 * i, 0.5}}, 1, i + 1);
      values.insert(values.end(), one.begin(), one.end());
    }
    const outcome batch = detect(c, values), expected = detect_on(*scalar, c, values);
    const std::size_t n = wb::prach_detector(c).values();
    EXPECT_EQ(batch.detected, expected.detected);
    if (!exec().is_device()) {
      EXPECT_EQ(batch.metric, expected.metric);
      EXPECT_EQ(batch.delay_us, expected.delay_us);
      EXPECT_EQ(batch.snr_db, expected.snr_db);
      EXPECT_EQ(batch.advance, expected.advance);
    }
    for (std::size_t i = 0; i < batch.metric.size(); i++) {
      EXPECT_NEAR(batch.metric[i], expected.metric[i], 1e-3f * expected.metric[i]);
      EXPECT_NEAR(batch.delay_us[i], expected.delay_us[i], 1e-2f);
    }
    for (std::size_t i = 0; i < items; i++) {
      const outcome alone = detect(c, wb::testing::row_of(values, i, n));
      EXPECT_EQ(alone.preambles(), batch.preambles(i));
      if (exec().is_device()) continue;  // its FFT may depend on the batch
      EXPECT_EQ(alone.metric, wb::testing::row_of(batch.metric, i, 64));
      EXPECT_EQ(alone.delay_us, wb::testing::row_of(batch.delay_us, i, 64));
    }
    if (exec().is_device()) continue;
    std::vector<sample> turned(values.size());
    for (std::size_t i = 0; i < values.size(); i++) turned[i % n * items + i / n] = values[i];
    EXPECT_EQ(detect(c, turned, wb::layout::batch_fastest).metric, batch.metric);
  }
}

TEST_P(prach, bad_values_erase_their_occasion_and_silence_is_nothing) {
  const prach_config c{.format = prach_format::a2, .zero_correlation_zone = 11, .antennas = 2};
  const std::size_t n = wb::prach_detector(c).values();
  const auto good = occasion(c, {{4, 1}});
  std::vector<sample> values;
  for (int i = 0; i < 6; i++) values.insert(values.end(), good.begin(), good.end());
  values[1 * n + 7] = {std::numeric_limits<float>::quiet_NaN(), 0};
  values[2 * n + n - 1] = {0, std::numeric_limits<float>::infinity()};
  values[3 * n + n / 2] = {-2e15f, 0};
  for (std::size_t i = 4 * n; i < 5 * n; i++) values[i] = 0;
  for (std::size_t i = 5 * n; i < 6 * n; i++) values[i] *= 1e14f;
  const outcome found = detect(c, values);
  EXPECT_EQ(found.status, (std::vector<std::uint8_t>{0, 1, 1, 1, 0, 0}));
  for (const std::size_t i : {0, 5}) EXPECT_EQ(found.preambles(i), std::vector<int>{4});
  for (std::size_t i = 1; i < 5; i++) {
    EXPECT_TRUE(found.preambles(i).empty()) << i;
    for (std::size_t p = 0; p < 64; p++) EXPECT_EQ(found.metric[i * 64 + p], 0) << i;
  }
}

TEST_P(prach, wrong_shapes_are_refused) {
  const wb::prach_detector d({});
  auto in = exec().make<sample>(1, d.values()), odd = exec().make<sample>(1, 10);
  auto out = exec().make<std::uint8_t>(1, 63);
  EXPECT_THROW(d.run(exec(), odd, {}), wb::shape_error);
  EXPECT_THROW(d.run(exec(), in, {.detected = out}), wb::shape_error);
  auto both = exec().make<float>(1, 64);
  EXPECT_THROW(d.run(exec(), in, {.delay_us = both, .snr_db = both}), wb::shape_error);
  EXPECT_THROW(d.demodulate(exec(), odd, in), wb::shape_error);
  const wb::prach_generator g({});
  EXPECT_THROW(g.run(exec(), {1}, odd), wb::shape_error);
  EXPECT_EQ(blamed([&] { g.run(exec(), {64}, odd); }), "preamble");
  g.run(exec(), {}, exec().make<sample>(0, g.samples()));
  d.run(exec(), exec().make<sample>(0, d.values()), {});
}

}  // namespace prach_test
