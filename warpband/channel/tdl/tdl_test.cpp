// Tapped delay lines: against their formula in double, against what is known of their statistics, and that
// they depend on seed, point, block, antennas and tap alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <fstream>
#include <limits>
#include <numbers>
#include <sstream>

#include <oracle/tdl.hpp>
#include <tests/on_backends.hpp>
#include <tests/symbols.hpp>
#include <warpband/channel/awgn/awgn.hpp>
#include <warpband/channel/mimo/mimo.hpp>
#include <warpband/channel/tdl/tdl.hpp>
#include <warpband/detect/detector.hpp>

namespace tdl_test {

using wb::tdl_channel;
using wb::tdl_config;
using wb::testing::blamed;
using wb::testing::on_device;
using wb::testing::random_symbols;
using wb::testing::same_bits;
using wb::testing::small_scale;
using wb::testing::symbols;
using complex = std::complex<double>;

tdl_config setting(const std::string& profile, int subcarriers, int ofdm_symbols, double doppler_hz,
                   int streams = 1, int rx = 1) {
  tdl_config c;
  c.profile = wb::tdl_profile_named(profile);
  c.grid = {.subcarriers = subcarriers, .symbols = ofdm_symbols};
  c.grid.cyclic_prefix_us = 512 / 30.72;  // the extended one: long enough for all of them
  c.doppler_hz = doppler_hz;
  c.streams = streams;
  c.rx_antennas = rx;
  return c;
}
/// Settings that reach each way through the code: full vectors and tails of paths and subcarriers, 1, 2, 3, 4
/// and more entries of a row of H, with a fixed part and without, moving and static.
std::vector<tdl_config> settings() {
  std::vector<tdl_config> configs{setting("epa", 12, 14, 5),         setting("eva", 16, 3, 70, 2, 2),
                                  setting("etu", 17, 2, 300, 3, 4),  setting("tdl-a", 33, 1, 0, 4, 4),
                                  setting("tdl-d", 15, 5, 120),      setting("tdl-e", 1, 40, 0, 1, 2),
                                  setting("tdl-c", 72, 2, 900, 8, 8)};
  configs[1].sinusoids = 16;
  configs[2].sinusoids = 9;  // no power of two
  configs[6].sinusoids = 8;
  configs[6].grid.symbol_period_us = 100;
  tdl_config flat;  // one tap, nothing but a fixed part and little else
  flat.profile = {{{0, 3}}, 10};
  flat.grid = {.subcarriers = 5, .symbols = 31};
  flat.doppler_hz = 10;
  configs.push_back(flat);
  return configs;
}

tdl_config correlated(tdl_config c, wb::antenna_correlation level,
                      wb::antenna_array array = wb::antenna_array::linear, bool downlink = false) {
  c.spatial = {level, array, downlink};
  return c;
}
/// The same and correlated antennas.
std::vector<tdl_config> more_settings() {
  std::vector<tdl_config> configs = settings();
  configs.push_back(correlated(setting("eva", 17, 3, 70, 2, 4), wb::antenna_correlation::medium));
  configs.push_back(correlated(setting("etu", 5, 2, 0, 4, 8), wb::antenna_correlation::high,
                               wb::antenna_array::cross_polarised));
  return configs;
}

symbols respond(wb::executor& exec, const tdl_config& c, std::size_t blocks, wb::random_range range) {
  auto h = exec.make<std::complex<float>>(blocks * c.grid.elements(),
                                          static_cast<std::size_t>(c.streams * c.rx_antennas));
  tdl_channel(c).response(exec, h, range);
  return exec.to_host(h);
}

/// The taps as the oracle wants them; powers normalised here on their own.
std::vector<oracle::tdl_tap> oracle_taps(const wb::tdl_profile& p) {
  std::vector<oracle::tdl_tap> taps;
  double sum = 0;
  for (const wb::tdl_tap& t : p.taps) sum += std::pow(10, t.power_db / 10);
  for (const wb::tdl_tap& t : p.taps)
    taps.push_back({t.delay_ns * 1e-9, std::pow(10, t.power_db / 10) / sum, 0});
  if (p.rician_k_db) taps[0].rician_k = std::pow(10, *p.rician_k_db / 10);
  return taps;
}

class tdl : public wb::testing::on_backend {};
WB_ON_ALL_BACKENDS(tdl);

TEST_P(tdl, equals_the_formula) {
  for (const tdl_config& c : settings()) {
    SCOPED_TRACE(c.profile.taps.size());
    const std::uint64_t first = (std::uint64_t{1} << 32) - 1, seed = 0xfedcba9876543210;
    const std::uint32_t point = 77;
    const std::size_t blocks = 2;
    const symbols h = respond(exec(), c, blocks, {seed, first, point});
    const auto taps = oracle_taps(c.profile);
    const std::size_t streams = static_cast<std::size_t>(c.streams),
                      rx = static_cast<std::size_t>(c.rx_antennas);
    double worst = 0;
    for (std::size_t b = 0; b < blocks; b++)
      for (std::size_t e = 0; e < rx * streams; e++) {
        std::vector<oracle::tdl_path> paths;
        for (std::size_t l = 0; l < taps.size(); l++)
          paths.push_back(oracle::draw_tdl_path(seed, first + b, point, static_cast<int>(e / streams),
                                                static_cast<int>(e % streams), static_cast<int>(l),
                                                c.doppler_hz > 0 ? c.sinusoids : 1));
        for (std::size_t u = 0; u < c.grid.elements(); u++) {
          const auto element = wb::element_of(c.grid, u);
          const complex expected =
              oracle::tdl_response(taps, paths, c.doppler_hz, element.symbol * c.grid.period_us() * 1e-6,
                                   element.subcarrier * c.grid.spacing_hz);
          const complex got(h[(b * c.grid.elements() + u) * rx * streams + e]);
          worst = std::max(worst, std::abs(got - expected));
        }
      }
    EXPECT_LT(worst, 3e-6);
    EXPECT_GT(worst, 0);
  }
}

TEST_P(tdl, output_is_channel_times_input) {
  const auto reference = wb::testing::open_reference();
  for (const tdl_config& c : more_settings()) {
    const std::size_t streams = static_cast<std::size_t>(c.streams),
                      rx = static_cast<std::size_t>(c.rx_antennas), uses = 3 * c.grid.elements();
    const symbols s = random_symbols(uses * streams);
    struct result {
      symbols y, h;
    };
    const auto apply = [&](wb::executor& e) {
      const auto in = on_device(e, s, uses, streams);
      auto out = e.make<std::complex<float>>(uses, rx), h = e.make<std::complex<float>>(uses, rx * streams);
      tdl_channel(c).apply(e, in, out, h, {.seed = 4, .first = 2});
      return result{e.to_host(out), e.to_host(h)};
    };
    const result f = apply(exec()), expected = apply(*reference);
    EXPECT_TRUE(same_bits(f.h, respond(exec(), c, 3, {.seed = 4, .first = 2})));
    EXPECT_TRUE(same_bits(f.h, expected.h));
    EXPECT_TRUE(same_bits(f.y, expected.y));
    for (std::size_t u = 0; u < uses; u++)
      for (std::size_t r = 0; r < rx; r++) {
        complex y = 0;
        for (std::size_t t = 0; t < streams; t++)
          y += complex(f.h[(u * rx + r) * streams + t]) * complex(s[u * streams + t]);
        ASSERT_LT(std::abs(complex(f.y[u * rx + r]) - y), 2e-6 * static_cast<double>(streams)) << u;
      }
    if (streams * rx == 1) {  // in place
      auto x = on_device(exec(), s, uses, 1), h = exec().make<std::complex<float>>(uses, 1);
      tdl_channel(c).apply(exec(), x, x, h, {.seed = 4, .first = 2});
      EXPECT_TRUE(same_bits(exec().to_host(x), f.y));
    }
  }
}

TEST_P(tdl, one_tap_without_delay_or_doppler_is_flat_and_static) {
  tdl_config c;
  c.profile = {{{0, -7}}};
  c.grid = {.subcarriers = 20, .symbols = 6, .cyclic_prefix_us = 0};
  const symbols h = respond(exec(), c, 50, {.seed = 1});
  for (std::size_t i = 0; i < h.size(); i++) ASSERT_EQ(h[i], h[i / 120 * 120]);
  for (std::size_t b = 1; b < 50; b++) ASSERT_NE(h[120 * b], h[120 * b - 120]);
}

TEST_P(tdl, without_doppler_all_symbols_of_a_block_are_the_same) {
  for (const char* name : {"eva", "tdl-e"}) {
    const tdl_config c = setting(name, 40, 14, 0, 2, 2);
    const symbols h = respond(exec(), c, 4, {.seed = 1});
    for (std::size_t i = 0; i < h.size(); i++) ASSERT_EQ(h[i], h[i / (14 * 160) * (14 * 160) + i % 160]) << i;
    EXPECT_NE(h[0], h[4]);  // the next subcarrier
  }
}

TEST_P(tdl, more_antennas_leave_the_first_channels_as_they_are) {
  const tdl_config one = setting("tdl-d", 9, 4, 50), many = setting("tdl-d", 9, 4, 50, 3, 5);
  const symbols a = respond(exec(), one, 3, {.seed = 1}), b = respond(exec(), many, 3, {.seed = 1});
  for (std::size_t i = 0; i < a.size(); i++) ASSERT_EQ(a[i], b[15 * i]);
}

TEST_P(tdl, seeds_points_blocks_antennas_and_other_channels_are_different) {
  const tdl_config c = setting("epa", 1, 1, 10, 2, 2);
  const wb::random_range ranges[]{{1, 0, 0}, {2, 0, 0},  {std::uint64_t{1} << 32 | 1, 0, 0},
                                  {1, 0, 1}, {1, 64, 0}, {1, std::uint64_t{1} << 32, 0}};
  symbols gains;
  for (const auto& r : ranges) {
    const symbols h = respond(exec(), c, 64, r);
    gains.insert(gains.end(), h.begin(), h.end());
  }
  std::vector<std::pair<float, float>> values;
  for (const auto& z : gains) values.emplace_back(z.real(), z.imag());
  std::sort(values.begin(), values.end());
  EXPECT_EQ(std::adjacent_find(values.begin(), values.end()), values.end());
}

/// Means over blocks. All tolerances are 5 standard deviations of the estimator.
std::size_t many_blocks(const wb::testing::backend& b) {
  // The slow builds have the bits of the others, as a test above says.
  return small_scale() ? 600 : b.name == "scalar" || b.name == "base" ? 1500 : 6000;
}

TEST_P(tdl, power_is_one_and_correlation_over_frequency_is_that_of_the_profile) {
  for (const char* name : {"epa", "etu", "tdl-b", "tdl-d", "tdl-e"}) {
    SCOPED_TRACE(name);
    tdl_config c = setting(name, 64, 1, 0);
    c.grid.spacing_hz = 60000;
    const std::size_t blocks = many_blocks(GetParam());
    const double n = static_cast<double>(blocks), near = 5 / std::sqrt(n);
    const symbols h = respond(exec(), c, blocks, {.seed = 3});
    const auto taps = oracle_taps(c.profile);
    for (const std::size_t k : {0, 1, 2, 5, 13, 31, 63}) {
      complex mean = 0, pseudo = 0, both = 0;
      for (std::size_t b = 0; b < blocks; b++) {
        const complex x(h[b * 64 + k]), reference(h[b * 64]);
        mean += x;
        pseudo += x * x;
        both += x * std::conj(reference);
      }
      EXPECT_LT(std::abs(mean) / n, near);
      EXPECT_LT(std::abs(pseudo) / n, near * std::sqrt(2.0));
      // |R| too: a wrong sign of the phase would be seen here, a wrong delay there
      const complex expected = oracle::tdl_frequency_correlation(taps, 60000. * static_cast<double>(k));
      EXPECT_LT(std::abs(both / n - expected), near * std::sqrt(2.0)) << k;
      EXPECT_NEAR(std::abs(both / n), std::abs(expected), near * std::sqrt(2.0)) << k;
    }
  }
}

TEST_P(tdl, every_tap_has_its_power) {
  // Delays on whole samples of a grid: its inverse DFT parts the taps.
  tdl_config c;
  c.profile = {
      {{0, 0}, {2 * 1e9 / (16 * 15000.), -3}, {3 * 1e9 / (16 * 15000.), -10}, {9 * 1e9 / (16 * 15000.), -1}},
      3};
  c.grid = {.subcarriers = 16, .symbols = 3, .cyclic_prefix_us = 50};
  c.doppler_hz = 200;
  const std::size_t blocks = many_blocks(GetParam());
  const double n = static_cast<double>(blocks), near = 5 / std::sqrt(n);
  const symbols h = respond(exec(), c, blocks, {.seed = 8});
  const double powers[]{1, std::pow(10, -0.3), 0.1, std::pow(10, -0.1)};
  const std::size_t places[]{0, 2, 3, 9};
  const double sum = powers[0] + powers[1] + powers[2] + powers[3];
  for (std::size_t symbol = 0; symbol < 3; symbol++) {
    double measured[16] = {}, first_fourth = 0;
    for (std::size_t b = 0; b < blocks; b++)
      for (std::size_t tau = 0; tau < 16; tau++) {
        complex g = 0;
        for (std::size_t k = 0; k < 16; k++)
          g += complex(h[(b * 3 + symbol) * 16 + k]) *
               std::polar(1.0 / 16, 2 * std::numbers::pi * static_cast<double>(k * tau) / 16);
        measured[tau] += std::norm(g) / n;
        if (tau == 0) first_fourth += std::norm(g) * std::norm(g) / n;
      }
    for (std::size_t tau = 0; tau < 16; tau++) {
      const auto* delay = std::find(std::begin(places), std::end(places), tau);
      const double expected = delay == std::end(places) ? 0 : powers[delay - places] / sum;
      EXPECT_NEAR(measured[tau], expected, near * expected + 1e-9) << tau;
    }
    // E|g|^4 / (E|g|^2)^2 = 2 - (K / (K + 1))^2 of a Rician variable.
    const double k = std::pow(10, 0.3), p = powers[0] / sum;
    EXPECT_NEAR(first_fourth / (p * p), 2 - k * k / ((k + 1) * (k + 1)), near * std::sqrt(20.0));
  }
}

TEST_P(tdl, correlation_over_time_is_bessel) {
  for (const int sinusoids : {8, 32}) {
    tdl_config c;
    c.profile = {{{0, 0}}};
    c.grid = {.subcarriers = 1, .symbols = 41};
    c.doppler_hz = 1000;  // 0.0714 turns a symbol: three zeros of J0
    c.sinusoids = sinusoids;
    const std::size_t blocks = many_blocks(GetParam());
    const double n = static_cast<double>(blocks), near = 5 / std::sqrt(n);
    const symbols h = respond(exec(), c, blocks, {.seed = 9});
    for (const std::size_t from : {0, 20})
      for (std::size_t lag = 0; from + lag < 41; lag++) {
        complex both = 0;
        for (std::size_t b = 0; b < blocks; b++)
          both += complex(h[b * 41 + from + lag]) * std::conj(complex(h[b * 41 + from]));
        const double x = 2 * std::numbers::pi * 1000 * c.grid.period_us() * 1e-6 * static_cast<double>(lag);
        EXPECT_LT(std::abs(both / n - oracle::bessel_j0(x)), near) << "from " << from << " by " << lag;
      }
  }
  // The fixed part turns at 0.7 of the Doppler frequency.
  tdl_config c;
  c.profile = {{{0, 0}}, 100};
  c.grid = {.subcarriers = 1, .symbols = 9};
  c.doppler_hz = 800;
  const symbols h = respond(exec(), c, 3, {.seed = 9});
  for (std::size_t i = 0; i < 27; i++) {
    const complex turned = complex(h[i]) * std::conj(complex(h[i / 9 * 9]));
    const double angle =
        2 * std::numbers::pi * 0.7 * 800 * c.grid.period_us() * 1e-6 * static_cast<double>(i % 9);
    EXPECT_LT(std::abs(turned - std::polar(1.0, angle)), 1e-4);
  }
}

TEST_P(tdl, envelopes_are_rayleigh_and_rician) {
  struct row {
    double k_db, doppler_hz;
    int sinusoids;
  };
  for (const row& r : {row{-100, 0, 32}, row{-100, 300, 8}, row{3, 0, 32}, row{10, 300, 16}}) {
    tdl_config c;
    c.profile = {{{0, 0}}, r.k_db};
    c.grid = {.subcarriers = 1, .symbols = 12};
    c.doppler_hz = r.doppler_hz;
    c.sinusoids = r.sinusoids;
    const std::size_t blocks = many_blocks(GetParam());
    const symbols h = respond(exec(), c, blocks, {.seed = 10});
    std::vector<double> power;
    for (std::size_t b = 0; b < blocks; b++) power.push_back(std::norm(complex(h[12 * b + 11])));
    std::sort(power.begin(), power.end());
    // Kolmogorov-Smirnov; 2.4 / sqrt(n) has p = 2e-5.
    const double n = static_cast<double>(blocks), k = std::pow(10, r.k_db / 10);
    double distance = 0;
    for (std::size_t i = 0; i < blocks; i++) {
      const double p = oracle::rician_power_cdf(k, power[i]);
      distance = std::max({distance, std::fabs(p - static_cast<double>(i) / n),
                           std::fabs(p - static_cast<double>(i + 1) / n)});
    }
    EXPECT_LT(distance, 2.4 / std::sqrt(n)) << r.k_db << " dB, " << r.doppler_hz << " Hz";
  }
}

TEST_P(tdl, antennas_taps_and_blocks_are_independent) {
  const tdl_config c = setting("tdl-d", 1, 2, 700, 2, 3);
  const std::size_t blocks = many_blocks(GetParam()), entries = 6;
  const double n = static_cast<double>(blocks), near = 5 / std::sqrt(n);
  const symbols h = respond(exec(), c, blocks, {.seed = 12});
  for (std::size_t e = 0; e < entries; e++)
    for (std::size_t other = 0; other < 4 * entries; other++) {
      if (other % (2 * entries) == e || other == e + entries) continue;  // itself, and itself a symbol later
      complex both = 0;
      for (std::size_t b = 0; b + 1 < blocks; b++)
        both += complex(h[b * 2 * entries + e]) * std::conj(complex(h[b * 2 * entries + other]));
      EXPECT_LT(std::abs(both) / n, near) << e << " and " << other;
    }
}

TEST_P(tdl, detectors_take_the_channel_as_it_is) {
  // Without noise to speak of, zero forcing brings the symbols back.
  const tdl_config c = setting("eva", 50, 4, 70, 2, 3);
  const std::size_t uses = 2 * c.grid.elements();
  symbols s = random_symbols(2 * uses);
  const float part = std::sqrt(0.5f);
  for (auto& z : s) z = {std::copysign(part, z.real()), std::copysign(part, z.imag())};
  const auto in = on_device(exec(), s, uses, 2);
  auto y = exec().make<std::complex<float>>(uses, 3), h = exec().make<std::complex<float>>(uses, 6);
  tdl_channel(c).apply(exec(), in, y, h, {.seed = 5});
  wb::detector_config zf;
  zf.type = "zf";
  zf.streams = 2;
  zf.rx_antennas = 3;
  const auto noise = exec().make_from(std::vector<float>{1e-6f});
  auto bits = exec().make<std::uint8_t>(uses, 4);
  wb::make_detector(zf)->run(
      exec(),
      {.channel = h, .uses_per_channel = 1, .received = y, .noise_var = {noise.data(), 1, uses, 1, 0}},
      {.llr = {}, .bits = bits, .status = {}});
  const auto decided = exec().to_host(bits);
  for (std::size_t i = 0; i < s.size(); i++) {
    ASSERT_EQ(decided[2 * i], s[i].real() < 0) << i;
    ASSERT_EQ(decided[2 * i + 1], s[i].imag() < 0) << i;
  }
}

TEST(tdl_profiles, of_the_standards) {
  struct row {
    const char* name;
    std::size_t taps;
    double longest_ns, rms_ns;  // at a delay spread of 1000 ns
  };
  // The delay spreads of EPA, EVA and ETU are 43, 357 and 991 ns by their definition (TS 36.101 table
  // B.2.1-1); tables of TR 38.901 have one of 1, but for rounding.
  for (const row& r :
       {row{"epa", 7, 410, 43}, row{"eva", 9, 2510, 357}, row{"etu", 9, 5000, 991},
        row{"tdl-a", 23, 9658.6, 1000}, row{"tdl-b", 23, 4783.4, 1000}, row{"tdl-c", 24, 8652.3, 1000},
        row{"tdl-d", 13, 12525, 1000}, row{"tdl-e", 14, 20651.9, 1000}, row{"tdla30", 12, 290, 30},
        row{"tdlb100", 12, 480, 100}, row{"tdlc300", 12, 2595, 300}}) {
    SCOPED_TRACE(r.name);
    const wb::tdl_profile p = wb::tdl_profile_named(r.name, 1000);
    EXPECT_NO_THROW(wb::check(p));
    EXPECT_EQ(p.taps.size(), r.taps);
    EXPECT_NEAR(wb::longest_delay_ns(p), r.longest_ns, 1e-6);
    EXPECT_NEAR(wb::rms_delay_spread_ns(p), r.rms_ns, 0.015 * r.rms_ns);
    double sum = 0;
    for (const double x : wb::tap_powers(p)) sum += x;
    EXPECT_NEAR(sum, 1, 1e-12);
    const std::string name = r.name;
    EXPECT_EQ(wb::has_delay_spread(name), name.starts_with("tdl-"));
    EXPECT_EQ(p.rician_k_db.has_value(), name == "tdl-d" || name == "tdl-e");
  }
  EXPECT_EQ(wb::tdl_profile_names().size(), 11u);
  EXPECT_NEAR(wb::rms_delay_spread_ns(wb::tdl_profile{{{0, 0}, {100, 0}}}), 50, 1e-9);
}

TEST(tdl_profiles, equal_the_reference_tables) {
  const std::string folder = WARPBAND_REFDATA "/channels/";
  std::size_t seen = 0;
  for (const char* file : {"lte_itu_tdl.csv", "tr38901_tdl.csv", "ts38141_tdl.csv"}) {
    std::ifstream in(folder + file);
    if (!in) GTEST_SKIP() << "no " << folder << file;
    std::string line, last;
    std::getline(in, line);
    std::size_t row = 0;
    while (std::getline(in, line)) {
      std::istringstream fields(line);
      std::string model, tap, delay, power, fading;
      std::getline(fields, model, ',');
      std::getline(fields, tap, ',');
      std::getline(fields, delay, ',');
      std::getline(fields, power, ',');
      std::getline(fields, fading, ',');
      std::transform(model.begin(), model.end(), model.begin(),
                     [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
      const auto& names = wb::tdl_profile_names();
      if (std::find(names.begin(), names.end(), model) == names.end()) continue;  // ITU's own
      row = model == last ? row + 1 : 0;
      last = model;
      const wb::tdl_profile p = wb::tdl_profile_named(model, 1);
      double expected_db = 0;
      std::size_t index = row;
      if (p.rician_k_db) {  // its first two rows are the parts of the first tap
        const double k = std::pow(10, *p.rician_k_db / 10);
        const double total = p.taps[0].power_db;
        index = row == 0 ? 0 : row - 1;
        expected_db = row == 0   ? total + 10 * std::log10(k / (1 + k))
                      : row == 1 ? total - 10 * std::log10(1 + k)
                                 : p.taps.at(index).power_db;
        EXPECT_EQ(fading.starts_with("LOS"), row == 0);
      } else {
        expected_db = p.taps.at(index).power_db;
      }
      EXPECT_NEAR(p.taps.at(index).delay_ns, std::stod(delay), 1e-9) << model << " " << tap;
      EXPECT_NEAR(expected_db, std::stod(power), row < 2 && p.rician_k_db ? 0.03 : 1e-9)
          << model << " " << tap;
      seen++;
    }
  }
  EXPECT_EQ(seen, 7u + 9 + 9 + 23 + 23 + 24 + 14 + 15 + 36);
}

TEST(tdl_arguments, bad_ones_are_named) {
  const double nan = std::numeric_limits<double>::quiet_NaN(),
               infinity = std::numeric_limits<double>::infinity();
  const auto blames = [](auto change) {
    return blamed([&] {
      tdl_config c = setting("eva", 12, 14, 70, 2, 2);
      change(c);
      tdl_channel channel(c);
    });
  };
  EXPECT_EQ(blames([](tdl_config&) {}), "");
  EXPECT_EQ(blames([](tdl_config& c) { c.profile.taps.clear(); }), "profile");
  EXPECT_EQ(blames([](tdl_config& c) { c.profile.taps.resize(65); }), "profile");
  EXPECT_EQ(blames([](tdl_config& c) { c.profile.taps.resize(64); }), "");
  for (const double bad : {-1e-9, nan, infinity, 2e9})
    EXPECT_EQ(blames([&](tdl_config& c) { c.profile.taps[3].delay_ns = bad; }), "delay_ns") << bad;
  for (const double bad : {nan, infinity, -infinity, 201.})
    EXPECT_EQ(blames([&](tdl_config& c) { c.profile.taps[3].power_db = bad; }), "power_db") << bad;
  for (const double bad : {nan, infinity, 101.})
    EXPECT_EQ(blames([&](tdl_config& c) { c.profile.rician_k_db = bad; }), "rician_k_db") << bad;
  for (const double bad : {-1., nan, infinity, 1e9})
    EXPECT_EQ(blames([&](tdl_config& c) { c.doppler_hz = bad; }), "doppler_hz") << bad;
  for (const int bad : {-1, 0, 7, 257})
    EXPECT_EQ(blames([&](tdl_config& c) { c.sinusoids = bad; }), "sinusoids") << bad;
  for (const int bad : {-1, 0, 9})
    EXPECT_EQ(blames([&](tdl_config& c) { c.streams = bad; }), "streams") << bad;
  for (const int bad : {-1, 0, 17})
    EXPECT_EQ(blames([&](tdl_config& c) { c.rx_antennas = bad; }), "rx_antennas") << bad;
  EXPECT_EQ(blames([](tdl_config& c) { c.grid.subcarriers = 0; }), "subcarriers");
  EXPECT_EQ(blames([](tdl_config& c) { c.grid.symbols = 0; }), "symbols");
  EXPECT_EQ(blames([](tdl_config& c) { c.grid.cyclic_prefix_us = 2.5; }), "cyclic_prefix_us");  // 2.51 us
  EXPECT_EQ(blames([](tdl_config& c) { c.grid.cyclic_prefix_us = 2.51; }), "");
  // What a block takes while it is made.
  const auto wide = [](tdl_config& c) {
    c.profile.taps.resize(64);
    c.streams = 8;
    c.rx_antennas = 16;
  };
  EXPECT_EQ(blames([&](tdl_config& c) { wide(c); }), "");
  EXPECT_EQ(blames([&](tdl_config& c) { wide(c), c.grid.symbols = 80; }), "symbols");
  EXPECT_EQ(blames([&](tdl_config& c) { wide(c), c.grid.symbols = 80, c.doppler_hz = 0; }), "");
  EXPECT_EQ(blames([&](tdl_config& c) { wide(c), c.sinusoids = 43; }), "sinusoids");

  EXPECT_EQ(blamed([] { wb::tdl_profile_named("tdl-f"); }), "profile");
  for (const double bad : {0., -1., nan, infinity, 1e7})
    EXPECT_EQ(blamed([&] { wb::tdl_profile_named("tdl-a", bad); }), "delay_spread_ns") << bad;
  EXPECT_NO_THROW(wb::tdl_profile_named("epa", 0));

  const auto exec = wb::testing::open_scalar();
  const auto make = [&](std::size_t items, std::size_t elements) {
    return on_device(*exec, symbols(items * elements), items, elements);
  };
  const tdl_channel channel(setting("eva", 2, 3, 70, 2, 3));
  auto s = make(12, 2), y = make(12, 3), h = make(12, 6), short_h = make(11, 6), narrow = make(12, 5);
  EXPECT_NO_THROW(channel.apply(*exec, s, y, h, {}));
  EXPECT_EQ(blamed([&] { channel.response(*exec, short_h, {}); }), "channel");
  EXPECT_EQ(blamed([&] { channel.response(*exec, narrow, {}); }), "channel");
  EXPECT_EQ(blamed([&] { channel.response(*exec, {nullptr, 6, 12, 1, 6}, {}); }), "channel");
  EXPECT_EQ(blamed([&] { channel.apply(*exec, y, y, h, {}); }), "in");
  EXPECT_EQ(blamed([&] { channel.apply(*exec, s, s, h, {}); }), "out");
}

}  // namespace tdl_test
