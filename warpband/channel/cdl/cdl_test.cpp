// Clustered delay lines: against their formula in double, against what follows from it for means over drops,
// and that they depend on seed, point, drop, user and ray alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <fstream>
#include <limits>
#include <numbers>
#include <sstream>

#include <oracle/cdl.hpp>
#include <oracle/tdl.hpp>
#include <tests/on_backends.hpp>
#include <tests/symbols.hpp>
#include <warpband/channel/cdl/cdl.hpp>
#include <warpband/massive/uplink/uplink.hpp>

namespace cdl_test {

using wb::cdl_channel;
using wb::cdl_config;
using wb::testing::blamed;
using wb::testing::on_device;
using wb::testing::small_scale;
using wb::testing::symbols;
using complex = std::complex<double>;
constexpr double turn = 2 * std::numbers::pi, degree = turn / 360;

cdl_config setting(const std::string& profile, int subcarriers, int ofdm_symbols, int antennas, int users) {
  cdl_config c;
  c.profile = wb::cdl_profile_named(profile);
  c.grid.subcarriers = subcarriers;
  c.grid.symbols = ofdm_symbols;
  c.antennas = antennas;
  c.users = users;
  return c;
}
/// Settings that reach each way through the code: whole vectors and tails of antennas, entries, rays and
/// subcarriers, one user and the most, still, moving and tilted, several drops in a call of the kernel.
std::vector<cdl_config> settings() {
  std::vector<cdl_config> configs{setting("c2-nlos", 8, 1, 32, 2), setting("b1-los", 5, 3, 17, 3),
                                  setting("cdl-a", 4, 2, 16, 1),   setting("cdl-d", 7, 2, 5, 4),
                                  setting("a1-los", 1, 2, 1, 1),   setting("cdl-e", 3, 1, 3, 64)};
  configs[1].speed_kmh = 120;
  configs[1].heading_deg = -75;
  configs[2].speed_kmh = 30;
  configs[2].grid.symbol_period_us = 1000;
  configs[3].spacing_wavelengths = 0.5;
  configs[3].directions_deg = {-30, 0, 12.5, 180};
  configs[3].shadowing_db = 8;
  configs[4].speed_kmh = 3;
  configs[5].sector_deg = 180;
  configs[5].power_control = true;
  cdl_config single;  // one cluster, in the horizon
  single.profile = {{{40, 3, 20, -20}}, 5, 50, 0, 0};
  single.grid = {.subcarriers = 9, .symbols = 4};
  single.antennas = 2;
  single.users = 5;
  single.speed_kmh = 500;
  single.carrier_hz = 28e9;
  single.spacing_wavelengths = 2;
  single.power_control = true;
  configs.push_back(single);
  // Panels: more rows than columns, one column, and rows that are no power of two.
  for (const auto& [antennas, rows] : {std::pair{32, 8}, {6, 6}, {60, 3}}) {
    cdl_config panel = setting("cdl-b", 3, 2, antennas, 2);
    panel.rows = rows;
    panel.speed_kmh = 30;
    panel.spacing_wavelengths = 0.5;
    if (rows == 8) panel.row_spacing_wavelengths = 0.8, panel.power_control = true;
    configs.push_back(panel);
  }
  return configs;
}

std::size_t entries_of(const cdl_config& c) { return static_cast<std::size_t>(c.antennas * c.users); }
symbols respond(wb::executor& exec, const cdl_config& c, std::size_t drops, wb::random_range range) {
  auto h = exec.make<std::complex<float>>(drops * c.grid.elements(), entries_of(c));
  cdl_channel(c).response(exec, h, range);
  return exec.to_host(h);
}

oracle::cdl_model model_of(const wb::cdl_profile& p) {
  oracle::cdl_model m;
  for (const wb::cdl_cluster& c : p.clusters)
    m.clusters.push_back({c.delay_ns * 1e-9, std::pow(10, c.power_db / 10), c.aod_deg, c.aoa_deg, c.zod_deg,
                          c.zoa_deg, c.split});
  m.asd = p.asd_deg, m.asa = p.asa_deg, m.zsd = p.zsd_deg, m.zsa = p.zsa_deg;
  if (p.rician_k_db) m.rician_k = std::pow(10, *p.rician_k_db / 10);
  return m;
}
double wavelength(const cdl_config& c) { return 299792458 / c.carrier_hz; }
double spacing(const cdl_config& c) { return c.spacing_wavelengths.value_or(c.spacing_m / wavelength(c)); }
double speed(const cdl_config& c) { return c.speed_kmh / 3.6 / wavelength(c); }

class cdl : public wb::testing::on_backend {};
WB_ON_ALL_BACKENDS(cdl);

TEST_P(cdl, the_first_row_of_a_panel_is_a_linear_array) {
  cdl_config panel = setting("cdl-a", 2, 1, 12, 2), line = setting("cdl-a", 2, 1, 4, 2);
  panel.rows = 3;
  const symbols of_panel = respond(exec(), panel, 3, {.seed = 5}),
                of_line = respond(exec(), line, 3, {.seed = 5});
  for (std::size_t item = 0; item < 3 * 2; item++)
    for (std::size_t i = 0; i < 4 * 2; i++) ASSERT_EQ(of_panel[item * 24 + i], of_line[item * 8 + i]);
}

TEST(cdl_settings, refuses_rows_that_do_not_divide_the_antennas) {
  const auto blames = [](auto change) {
    cdl_config c = setting("cdl-a", 2, 1, 12, 2);
    change(c);
    return blamed([&] { check(c); });
  };
  EXPECT_EQ(blames([](cdl_config& c) { c.rows = 3, c.row_spacing_wavelengths = 0.5; }), "");
  EXPECT_EQ(blames([](cdl_config& c) { c.rows = 5; }), "antenna_rows");
  EXPECT_EQ(blames([](cdl_config& c) { c.rows = 0; }), "antenna_rows");
  EXPECT_EQ(blames([](cdl_config& c) { c.rows = 24; }), "antenna_rows");
  EXPECT_EQ(blames([](cdl_config& c) { c.row_spacing_wavelengths = 0.5; }), "row_spacing_wavelengths");
  EXPECT_EQ(blames([](cdl_config& c) { c.rows = 2, c.row_spacing_wavelengths = 17; }),
            "row_spacing_wavelengths");
}

TEST_P(cdl, equals_the_formula) {
  for (const cdl_config& c : settings()) {
    SCOPED_TRACE(c.profile.clusters.size());
    const std::uint64_t first = (std::uint64_t{1} << 32) - 1, seed = 0xfedcba9876543210;
    const std::uint32_t point = 77;
    const std::size_t drops = 2, users = static_cast<std::size_t>(c.users), entries = entries_of(c),
                      elements = c.grid.elements();
    const symbols h = respond(exec(), c, drops, {seed, first, point});
    const auto model = model_of(c.profile);
    double worst = 0;
    for (std::size_t d = 0; d < drops; d++)
      for (std::size_t u = 0; u < users; u++) {
        const bool given = !c.directions_deg.empty();
        auto user = oracle::draw_cdl_user(model, seed, first + d, point, static_cast<int>(u),
                                          degree * (given ? c.directions_deg[u] : -c.sector_deg),
                                          degree * (given ? c.directions_deg[u] : c.sector_deg));
        if (c.heading_deg) user.heading = degree * *c.heading_deg;
        std::vector<complex> expected;
        double power = 0;
        for (std::size_t e = 0; e < elements; e++)
          for (int b = 0; b < c.antennas; b++) {
            const auto element = wb::element_of(c.grid, e);
            const int columns = c.antennas / c.rows;
            const double time = element.symbol * c.grid.period_us() * 1e-6,
                         frequency = element.subcarrier * c.grid.spacing_hz;
            expected.push_back(
                c.rows == 1 ? oracle::cdl_response(user, b, spacing(c), speed(c), time, frequency)
                            : oracle::cdl_panel_response(user, b / columns, b % columns,
                                                         c.row_spacing_wavelengths.value_or(spacing(c)),
                                                         spacing(c), speed(c), time, frequency));
            power += std::norm(expected.back());
          }
        double scale = c.power_control ? std::sqrt(static_cast<double>(expected.size()) / power) : 1;
        if (c.shadowing_db > 0)
          scale *= std::pow(
              10,
              oracle::draw_cdl_shadowing(seed, first + d, point, static_cast<int>(u), c.shadowing_db) / 20);
        for (std::size_t e = 0; e < elements; e++)
          for (std::size_t b = 0; b < entries / users; b++) {
            const complex got(h[(d * elements + e) * entries + b * users + u]);
            worst = std::max(worst, std::abs(got - scale * expected[e * (entries / users) + b]) / scale);
          }
      }
    // A direction cosine is within 2e-7: times the wavelengths of the array and of a drop.
    const double wavelengths =
        c.antennas * spacing(c) + speed(c) * c.grid.period_us() * 1e-6 * c.grid.symbols;
    EXPECT_LT(worst, 3e-6 + 1.3e-6 * wavelengths);
    EXPECT_GT(worst, 0);
  }
}

TEST_P(cdl, equals_the_formula_with_the_most_antennas) {
  cdl_config c = setting("b1-los", 1, 1, 512, 1);
  const symbols h = respond(exec(), c, 1, {.seed = 3});
  const auto user =
      oracle::draw_cdl_user(model_of(c.profile), 3, 0, 0, 0, -c.sector_deg * degree, c.sector_deg * degree);
  for (int b = 0; b < 512; b++)
    ASSERT_LT(std::abs(complex(h[static_cast<std::size_t>(b)]) -
                       oracle::cdl_response(user, b, spacing(c), 0, 0, 0)),
              5e-4);
}

TEST_P(cdl, more_antennas_users_subcarriers_and_symbols_leave_the_first_as_they_are) {
  cdl_config few = setting("cdl-d", 3, 2, 4, 2), many = setting("cdl-d", 6, 3, 19, 5);
  few.speed_kmh = many.speed_kmh = 60;
  const symbols a = respond(exec(), few, 2, {.seed = 1}), b = respond(exec(), many, 2, {.seed = 1});
  for (std::size_t d = 0; d < 2; d++)
    for (std::size_t t = 0; t < 2; t++)
      for (std::size_t k = 0; k < 3; k++)
        for (std::size_t antenna = 0; antenna < 4; antenna++)
          for (std::size_t u = 0; u < 2; u++)
            ASSERT_EQ(a[(((d * 2 + t) * 3 + k) * 4 + antenna) * 2 + u],
                      b[(((d * 3 + t) * 6 + k) * 19 + antenna) * 5 + u]);
}

TEST_P(cdl, without_speed_all_symbols_of_a_drop_are_the_same) {
  const cdl_config c = setting("c1-los", 6, 4, 3, 2);
  const symbols h = respond(exec(), c, 3, {.seed = 1});
  for (std::size_t i = 0; i < h.size(); i++) ASSERT_EQ(h[i], h[i / (4 * 36) * (4 * 36) + i % 36]) << i;
  EXPECT_NE(h[0], h[6]);    // the next subcarrier
  EXPECT_NE(h[0], h[144]);  // the next drop
}

TEST_P(cdl, seeds_points_drops_and_users_are_different) {
  const cdl_config c = setting("b1-nlos", 1, 1, 2, 3);
  const wb::random_range ranges[]{{1, 0, 0}, {2, 0, 0},  {std::uint64_t{1} << 32 | 1, 0, 0},
                                  {1, 0, 1}, {1, 16, 0}, {1, std::uint64_t{1} << 32, 0}};
  std::vector<std::pair<float, float>> values;
  for (const auto& r : ranges)
    for (const auto& z : respond(exec(), c, 16, r)) values.emplace_back(z.real(), z.imag());
  std::sort(values.begin(), values.end());
  EXPECT_EQ(std::adjacent_find(values.begin(), values.end()), values.end());
}

/// Means over users and drops. All tolerances are 5 standard deviations of the estimator.
std::size_t many_drops() { return small_scale() ? 100 : 400; }
constexpr int many_users = 4;

TEST_P(cdl, correlation_over_antennas_time_and_frequency_is_that_of_the_angles_and_delays) {
  for (const char* name : {"b1-los", "cdl-b", "cdl-d"}) {
    SCOPED_TRACE(name);
    cdl_config c = setting(name, 5, 2, 4, many_users);
    c.grid.spacing_hz = 500e3;
    c.grid.symbol_period_us = 1000;
    c.spacing_wavelengths = 0.8;
    c.speed_kmh = 100;
    c.heading_deg = 60;
    c.directions_deg.assign(many_users, 25);
    const std::size_t drops = many_drops(), users = many_users;
    const symbols h = respond(exec(), c, drops, {.seed = 3});
    const auto model = model_of(c.profile);
    const double n = static_cast<double>(drops * users), near = 5 / std::sqrt(n) * std::numbers::sqrt2;
    const auto gain = [&](std::size_t d, std::size_t t, std::size_t k, std::size_t b, std::size_t u) {
      return complex(h[(((d * 2 + t) * 5 + k) * 4 + b) * users + u]);
    };
    struct place {
      std::size_t t, k, b;
    };
    for (const place x : {place{0, 0, 0}, {0, 0, 1}, {0, 0, 3}, {0, 1, 0}, {0, 4, 0}, {1, 0, 0}, {1, 2, 3}}) {
      complex both = 0, mean = 0, pseudo = 0;
      for (std::size_t d = 0; d < drops; d++)
        for (std::size_t u = 0; u < users; u++) {
          const complex z = gain(d, x.t, x.k, x.b, u), reference = gain(d, 0, 0, 0, u);
          both += z * std::conj(reference);
          pseudo += z * reference;
          mean += z;
        }
      const complex expected =
          oracle::cdl_correlation(model, 25 * degree, 60 * degree, static_cast<int>(x.b), 0.8, speed(c),
                                  1e-3 * static_cast<double>(x.t), 500e3 * static_cast<double>(x.k));
      EXPECT_LT(std::abs(both / n - expected), near) << x.t << " " << x.k << " " << x.b;
      EXPECT_LT(std::abs(mean) / n, near);
      EXPECT_LT(std::abs(pseudo) / n, near);
    }
  }
}

TEST_P(cdl, every_path_has_its_power) {
  // Delays on whole samples of a grid: its inverse DFT parts the paths, those of the split cluster too.
  cdl_config c;
  c.profile = {{{0, 0, 10, 5}, {10, -3, 20, 60, 90, 90, true}, {35, -10, -40, 70}}, 3, 10, 0, 0, -2};
  c.grid = {.subcarriers = 20, .symbols = 1, .spacing_hz = 10e6};  // samples of 5 ns
  c.antennas = 1;
  c.users = many_users;
  const std::size_t drops = many_drops();
  const double n = static_cast<double>(drops * many_users), near = 5 / std::sqrt(n);
  const symbols h = respond(exec(), c, drops, {.seed = 8});
  const double k = std::pow(10, -0.2), clusters = 1 + std::pow(10, -0.3) + 0.1,
               unit = 1 / (clusters * (1 + k));
  std::vector<double> powers(20);
  powers[0] = k / (1 + k) + unit;
  powers[2] = 0.5 * std::pow(10, -0.3) * unit;
  powers[3] = 0.3 * std::pow(10, -0.3) * unit;
  powers[4] = 0.2 * std::pow(10, -0.3) * unit;
  powers[7] = 0.1 * unit;
  for (std::size_t tau = 0; tau < 20; tau++) {
    double measured = 0;
    for (std::size_t d = 0; d < drops; d++)
      for (std::size_t u = 0; u < many_users; u++) {
        complex g = 0;
        for (std::size_t f = 0; f < 20; f++)
          g += complex(h[(d * 20 + f) * many_users + u]) *
               std::polar(0.05, turn * static_cast<double>(f * tau) / 20);
        measured += std::norm(g) / n;
      }
    EXPECT_NEAR(measured, powers[tau], near * powers[tau] + 1e-9) << tau;
  }
}

TEST_P(cdl, amplitudes_are_constant_and_the_line_of_sight_has_its_share) {
  // The fourth moment tells how the power is shared among rays.
  for (const double k_db : {-100., 0., 6.}) {
    cdl_config c;
    c.profile = {{{0, 0, 0, 0}}, 10, 10, 0, 0, k_db};
    c.grid = {.subcarriers = 1, .symbols = 1};
    c.antennas = 1;
    c.users = many_users;
    double second = 0, fourth = 0;
    const symbols h = respond(exec(), c, many_drops(), {.seed = 10});
    const double n = static_cast<double>(h.size());
    for (const auto& z : h) {
      second += std::norm(complex(z)) / n;
      fourth += std::norm(complex(z)) * std::norm(complex(z)) / n;
    }
    const double expected = oracle::cdl_fourth_moment(model_of(c.profile)), near = 5 / std::sqrt(n);
    EXPECT_NEAR(second, 1, near * std::sqrt(expected - 1)) << k_db;
    EXPECT_NEAR(fourth, expected, near * std::sqrt(24 - expected * expected)) << k_db;
  }
}

/// Kolmogorov-Smirnov against the uniform distribution; 2.4 / sqrt(n) has p = 2e-5.
void expect_uniform(std::vector<double> x, double from, double to) {
  std::sort(x.begin(), x.end());
  const double n = static_cast<double>(x.size());
  double distance = 0;
  for (std::size_t i = 0; i < x.size(); i++) {
    const double p = std::clamp((x[i] - from) / (to - from), 0., 1.);
    distance = std::max(
        {distance, std::fabs(p - static_cast<double>(i) / n), std::fabs(p - static_cast<double>(i + 1) / n)});
  }
  EXPECT_GT(x.front(), from - 1e-3);
  EXPECT_LT(x.back(), to + 1e-3);
  EXPECT_LT(distance, 2.4 / std::sqrt(n));
}

TEST_P(cdl, users_are_anywhere_in_the_sector_and_go_anywhere) {
  // Nothing but a line of sight: phases between antennas and symbols tell the angles.
  cdl_config c;
  c.profile = {{{0, 0}}, 0, 0, 0, 0, 100};
  c.grid = {.subcarriers = 1, .symbols = 2, .symbol_period_us = 1000};
  c.antennas = 2;
  c.users = many_users;
  c.spacing_wavelengths = 0.5;
  c.sector_deg = 50;
  c.speed_kmh = 0.4 * wavelength(c) * 3600;  // 0.4 turns a symbol at most
  const std::size_t drops = many_drops();
  const symbols h = respond(exec(), c, drops, {.seed = 4});
  std::vector<double> directions, headings;
  for (std::size_t d = 0; d < drops; d++)
    for (std::size_t u = 0; u < many_users; u++) {
      const std::complex<float>* z = &h[d * 4 * many_users + u];
      directions.push_back(std::asin(std::arg(complex(z[many_users]) / complex(z[0])) / (turn / 2)) / degree);
      headings.push_back(std::acos(std::clamp(
                             std::arg(complex(z[2 * many_users]) / complex(z[0])) / (0.4 * turn), -1., 1.)) /
                         degree);
    }
  expect_uniform(directions, -50, 50);
  expect_uniform(headings, 0, 180);  // of both signs
}

TEST_P(cdl, correlation_over_time_is_bessel_when_users_go_anywhere) {
  cdl_config c;
  c.profile = {{{0, 0, 0, 33}}, 5, 20, 0, 0};
  c.grid = {.subcarriers = 1, .symbols = 12, .symbol_period_us = 1000};
  c.antennas = 1;
  c.users = many_users;
  c.speed_kmh = 100 * wavelength(c) * 3.6;  // 0.1 turns a symbol
  const std::size_t drops = many_drops();
  const symbols h = respond(exec(), c, drops, {.seed = 9});
  const double n = static_cast<double>(drops * many_users);
  for (std::size_t lag = 0; lag < 12; lag++) {
    complex both = 0;
    for (std::size_t d = 0; d < drops; d++)
      for (std::size_t u = 0; u < many_users; u++)
        both += complex(h[(d * 12 + lag) * many_users + u]) * std::conj(complex(h[d * 12 * many_users + u]));
    EXPECT_LT(std::abs(both / n - oracle::bessel_j0(turn * 0.1 * static_cast<double>(lag))),
              5 / std::sqrt(n) * std::numbers::sqrt2)
        << lag;
  }
}

TEST_P(cdl, power_control_gives_every_user_of_a_drop_unit_power) {
  for (const char* name : {"c2-nlos", "b1-los", "cdl-d"}) {
    cdl_config c = setting(name, 11, 3, 18, 3);
    c.speed_kmh = 200;
    const symbols free = respond(exec(), c, 3, {.seed = 2});
    c.power_control = true;
    const symbols h = respond(exec(), c, 3, {.seed = 2});
    const std::size_t drop = h.size() / 3;
    for (std::size_t d = 0; d < 3; d++)
      for (std::size_t u = 0; u < 3; u++) {
        double power = 0, before = 0;
        for (std::size_t i = u; i < drop; i += 3) {
          power += std::norm(complex(h[d * drop + i]));
          before += std::norm(complex(free[d * drop + i]));
        }
        const double n = static_cast<double>(drop / 3);
        EXPECT_NEAR(power / n, 1, 1e-5);
        EXPECT_GT(std::fabs(before / n - 1), 1e-4);
        for (std::size_t i = u; i < drop; i += 3)
          ASSERT_LT(std::abs(complex(h[d * drop + i]) - complex(free[d * drop + i]) / std::sqrt(before / n)),
                    1e-5);
      }
  }
}

TEST_P(cdl, shadowing_is_log_normal) {
  cdl_config c;
  c.profile = {{{0, 0}}, 0, 0, 0, 0, 100};
  c.grid = {.subcarriers = 1, .symbols = 1};
  c.antennas = 1;
  c.users = many_users;
  c.shadowing_db = 6;
  const symbols h = respond(exec(), c, many_drops(), {.seed = 5});
  const double n = static_cast<double>(h.size());
  double mean = 0, square = 0;
  for (const auto& z : h) {
    const double db = 10 * std::log10(std::norm(complex(z)));
    mean += db / n;
    square += db * db / n;
  }
  EXPECT_NEAR(mean, 0, 5 * 6 / std::sqrt(n));
  EXPECT_NEAR(square, 36, 5 * 36 * std::numbers::sqrt2 / std::sqrt(n));
}

TEST_P(cdl, the_uplink_detector_takes_the_channel_as_it_is) {
  // Without noise zero forcing brings the symbols back.
  cdl_config c = setting("b1-nlos", 6, 2, 20, 3);
  const std::size_t rows = 2 * c.grid.elements(), b = 20, users = 3;
  auto h = exec().make<std::complex<float>>(rows, b * users);
  cdl_channel(c).response(exec(), h, {.seed = 5});
  const symbols hs = exec().to_host(h);
  symbols y(rows * b), x(rows * users);
  for (std::size_t r = 0; r < rows; r++)
    for (std::size_t i = 0; i < b; i++)
      for (std::size_t u = 0; u < users; u++) {
        const std::size_t n = r * users + u;
        x[n] = {(n * 7 % 3) ? 0.70710678f : -0.70710678f, (n * 5 % 7) > 2 ? 0.70710678f : -0.70710678f};
        y[r * b + i] += hs[(r * b + i) * users + u] * x[n];
      }
  wb::uplink_config zf;
  zf.antennas = 20;
  zf.users = 3;
  zf.qam = 4;
  zf.solver = wb::massive_solver::zf;
  const auto received = on_device(exec(), y, rows, b);
  const auto n0 = exec().make_from(std::vector<float>{1e-6f});
  auto out = exec().make<std::complex<float>>(rows, users);
  wb::uplink_detector(zf).run(exec(),
                              {.channel = h, .received = received, .noise_var = {n0.data(), 1, rows, 1, 0}},
                              {.equalized = out});
  const symbols found = exec().to_host(out);
  for (std::size_t i = 0; i < x.size(); i++) ASSERT_LT(std::abs(found[i] - x[i]), 1e-3f) << i;
}

TEST(cdl_profiles, of_the_standards) {
  struct row {
    const char* name;
    std::size_t clusters, paths;
    double longest_ns, rms_ns;  // at a delay spread of 1000 ns
  };
  // Delay spreads of TR 38.901's tables are 1, but for rounding; those of WINNER's follow from them.
  for (const row& r :
       {row{"a1-los", 12, 17, 350, 0}, row{"a1-nlos", 16, 20, 175, 0}, row{"b1-los", 8, 13, 460, 0},
        row{"b1-nlos", 16, 20, 615, 0}, row{"c1-los", 15, 20, 960, 0}, row{"c1-nlos", 14, 18, 770, 0},
        row{"c2-los", 8, 13, 220, 0}, row{"c2-nlos", 20, 24, 1845, 0}, row{"cdl-a", 23, 23, 9658.6, 1000},
        row{"cdl-b", 23, 23, 4783.4, 1000}, row{"cdl-c", 24, 24, 8652.3, 1000},
        row{"cdl-d", 13, 14, 12525, 1000}, row{"cdl-e", 14, 15, 20641.9, 1000}}) {
    SCOPED_TRACE(r.name);
    const wb::cdl_profile p = wb::cdl_profile_named(r.name, 1000);
    EXPECT_NO_THROW(wb::check(p));
    EXPECT_EQ(p.clusters.size(), r.clusters);
    EXPECT_NEAR(wb::longest_delay_ns(p), r.longest_ns, 1e-6);
    if (r.rms_ns > 0) {
      EXPECT_NEAR(wb::rms_delay_spread_ns(p), r.rms_ns, 0.02 * r.rms_ns);
    }
    const auto paths = wb::cdl_paths(p);
    EXPECT_EQ(paths.size(), r.paths);
    double sum = 0;
    for (const wb::cdl_path& x : paths) {
      sum += x.power;
      EXPECT_TRUE(x.offsets.size() == 20 || x.offsets.size() == 10 || x.offsets.size() == 6 ||
                  x.offsets.size() == 4 || x.offsets == std::vector<double>{0});
    }
    EXPECT_NEAR(sum, 1, 1e-12);
    const std::string name = r.name;
    EXPECT_EQ(wb::has_cdl_delay_spread(name), name.starts_with("cdl-"));
    EXPECT_EQ(p.rician_k_db.has_value(), name.ends_with("-los") || name == "cdl-d" || name == "cdl-e");
  }
  EXPECT_EQ(wb::cdl_profile_names().size(), 13u);
  // A cluster's rays have the spread that is stated.
  double square = 0;
  const auto paths = wb::cdl_paths(wb::cdl_profile_named("cdl-a"));
  for (const double x : paths[0].offsets) square += x * x / 20;
  EXPECT_NEAR(square, 1, 1e-3);
}

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream in(line);
  for (std::string field; std::getline(in, field, ',');) fields.push_back(field);
  fields.resize(9);
  return fields;
}
std::string lower(std::string s) {
  for (char& c : s) c = c == '_' ? '-' : c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return s;
}

TEST(cdl_profiles, equal_the_reference_tables) {
  const std::string folder = WARPBAND_REFDATA "/channels/";
  std::ifstream winner(folder + "winner2_cdl.csv"), nr(folder + "tr38901_cdl.csv");
  if (!winner || !nr) GTEST_SKIP() << "no tables in " << folder;
  std::string line, last;
  std::size_t seen = 0, index = 0;
  std::getline(winner, line);
  while (std::getline(winner, line)) {
    const auto f = fields_of(line);
    const std::string name = lower(f[0]);
    index = name == last ? index + 1 : 0;
    last = name;
    const wb::cdl_profile p = wb::cdl_profile_named(name);
    const wb::cdl_cluster& c = p.clusters.at(index);
    SCOPED_TRACE(line);
    EXPECT_EQ(c.delay_ns, std::stod(f[2]));
    EXPECT_NEAR(c.power_db, std::stod(f[3]) + 13, 1e-9);  // twenty rays
    EXPECT_EQ(c.aod_deg, std::stod(f[5]));
    EXPECT_EQ(c.aoa_deg, std::stod(f[6]));
    EXPECT_EQ(c.split, f[7] == "1");
    EXPECT_EQ(c.zod_deg, 90);
    if (!f[8].empty()) {  // the line of sight, in the unit of the clusters
      double total = 0;
      for (const auto& x : p.clusters) total += std::pow(10, x.power_db / 10);
      EXPECT_NEAR(*p.rician_k_db + 10 * std::log10(total), std::stod(f[8]), 0.02);
    }
    seen++;
  }
  EXPECT_EQ(seen, 12u + 16 + 8 + 16 + 15 + 14 + 8 + 20);
  seen = 0;
  double sight_db = 0;
  last.clear();
  std::getline(nr, line);
  while (std::getline(nr, line)) {
    const auto f = fields_of(line);
    const std::string name = lower(f[0]);
    if (name != last) index = 0;
    last = name;
    const wb::cdl_profile p = wb::cdl_profile_named(name, 1);
    SCOPED_TRACE(line);
    seen++;
    if (f[8].starts_with("specular")) {
      sight_db = std::stod(f[3]);
      double total = 0;
      for (const auto& x : p.clusters) total += std::pow(10, x.power_db / 10);
      EXPECT_NEAR(*p.rician_k_db + 10 * std::log10(total), sight_db, 1e-9);
      EXPECT_EQ(p.clusters[0].aod_deg, std::stod(f[4]));
      continue;
    }
    const wb::cdl_cluster& c = p.clusters.at(index++);
    EXPECT_NEAR(c.delay_ns, std::stod(f[2]), 1e-9);
    EXPECT_EQ(c.power_db, std::stod(f[3]));
    EXPECT_EQ(c.aod_deg, std::stod(f[4]));
    EXPECT_EQ(c.aoa_deg, std::stod(f[5]));
    EXPECT_EQ(c.zod_deg, std::stod(f[6]));
    EXPECT_EQ(c.zoa_deg, std::stod(f[7]));
  }
  EXPECT_EQ(seen, 23u + 23 + 24 + 14 + 15);
}

TEST(cdl_arguments, bad_ones_are_named) {
  const double nan = std::numeric_limits<double>::quiet_NaN(),
               infinity = std::numeric_limits<double>::infinity();
  const auto blames = [](auto change) {
    return blamed([&] {
      cdl_config c = setting("c2-nlos", 12, 14, 8, 2);
      change(c);
      cdl_channel channel(c);
    });
  };
  EXPECT_EQ(blames([](cdl_config&) {}), "");
  EXPECT_EQ(blames([](cdl_config& c) { c.profile.clusters.clear(); }), "profile");
  EXPECT_EQ(blames([](cdl_config& c) { c.profile.clusters.resize(33); }), "profile");
  EXPECT_EQ(blames([](cdl_config& c) { c.profile.clusters.resize(32, {.split = true}); }), "");
  for (const double bad : {-1e-9, nan, infinity, 2e9})
    EXPECT_EQ(blames([&](cdl_config& c) { c.profile.clusters[3].delay_ns = bad; }), "delay_ns") << bad;
  for (const double bad : {nan, infinity, -infinity, 201.}) {
    EXPECT_EQ(blames([&](cdl_config& c) { c.profile.clusters[3].power_db = bad; }), "power_db") << bad;
    EXPECT_EQ(blames([&](cdl_config& c) { c.profile.rician_k_db = bad; }), "rician_k_db") << bad;
  }
  for (const double bad : {nan, infinity, 361., -361.}) {
    EXPECT_EQ(blames([&](cdl_config& c) { c.profile.clusters[3].aod_deg = bad; }), "aod_deg") << bad;
    EXPECT_EQ(blames([&](cdl_config& c) { c.profile.clusters[3].aoa_deg = bad; }), "aoa_deg") << bad;
    EXPECT_EQ(blames([&](cdl_config& c) { c.profile.clusters[3].zod_deg = bad; }), "zod_deg") << bad;
    EXPECT_EQ(blames([&](cdl_config& c) { c.profile.clusters[3].zoa_deg = bad; }), "zoa_deg") << bad;
    EXPECT_EQ(blames([&](cdl_config& c) { c.heading_deg = bad; }), "heading_deg") << bad;
  }
  for (const double bad : {nan, infinity, -1., 61.}) {
    EXPECT_EQ(blames([&](cdl_config& c) { c.profile.asd_deg = bad; }), "asd_deg") << bad;
    EXPECT_EQ(blames([&](cdl_config& c) { c.profile.asa_deg = bad; }), "asa_deg") << bad;
    EXPECT_EQ(blames([&](cdl_config& c) { c.profile.zsd_deg = bad; }), "zsd_deg") << bad;
    EXPECT_EQ(blames([&](cdl_config& c) { c.profile.zsa_deg = bad; }), "zsa_deg") << bad;
    EXPECT_EQ(blames([&](cdl_config& c) { c.shadowing_db = bad; }), "shadowing_db") << bad;
    EXPECT_EQ(blames([&](cdl_config& c) { c.spacing_wavelengths = bad; }), "antenna_spacing_wavelengths")
        << bad;
    EXPECT_EQ(blames([&](cdl_config& c) { c.spacing_m = bad; }), "antenna_spacing_m") << bad;
  }
  EXPECT_EQ(blames([](cdl_config& c) { c.spacing_m = 0; }), "");
  for (const double bad : {-1., nan, infinity, 1e7})
    EXPECT_EQ(blames([&](cdl_config& c) { c.speed_kmh = bad; }), "speed_kmh") << bad;
  for (const double bad : {0., nan, infinity, 1e13})
    EXPECT_EQ(blames([&](cdl_config& c) { c.carrier_hz = bad; }), "carrier_hz") << bad;
  for (const double bad : {-1., nan, 181.})
    EXPECT_EQ(blames([&](cdl_config& c) { c.sector_deg = bad; }), "sector_deg") << bad;
  EXPECT_EQ(blames([](cdl_config& c) { c.directions_deg = {0}; }), "directions_deg");
  EXPECT_EQ(blames([](cdl_config& c) { c.directions_deg = {0, 181}; }), "directions_deg");
  EXPECT_EQ(blames([&](cdl_config& c) { c.directions_deg = {0, nan}; }), "directions_deg");
  EXPECT_EQ(blames([](cdl_config& c) { c.power_control = true, c.shadowing_db = 3; }), "shadowing_db");
  for (const int bad : {-1, 0, 513})
    EXPECT_EQ(blames([&](cdl_config& c) { c.antennas = bad; }), "antennas") << bad;
  for (const int bad : {-1, 0, 65}) EXPECT_EQ(blames([&](cdl_config& c) { c.users = bad; }), "users") << bad;
  EXPECT_EQ(blames([](cdl_config& c) { c.grid.subcarriers = 0; }), "subcarriers");
  EXPECT_EQ(blames([](cdl_config& c) { c.grid.cyclic_prefix_us = 1.844; }), "cyclic_prefix_us");  // 1.845 us
  EXPECT_EQ(blames([](cdl_config& c) { c.grid.cyclic_prefix_us = 1.845; }), "");

  EXPECT_EQ(blamed([] { wb::cdl_profile_named("cdl-f"); }), "profile");
  for (const double bad : {0., -1., nan, infinity, 1e7})
    EXPECT_EQ(blamed([&] { wb::cdl_profile_named("cdl-a", bad); }), "delay_spread_ns") << bad;
  EXPECT_NO_THROW(wb::cdl_profile_named("a1-los", 0));

  const auto exec = wb::testing::open_scalar();
  const auto make = [&](std::size_t items, std::size_t elements) {
    return on_device(*exec, symbols(items * elements), items, elements);
  };
  const cdl_channel channel(setting("c2-nlos", 2, 3, 3, 2));
  auto h = make(12, 6), short_h = make(11, 6), narrow = make(12, 5);
  EXPECT_NO_THROW(channel.response(*exec, h, {}));
  EXPECT_EQ(blamed([&] { channel.response(*exec, short_h, {}); }), "channel");
  EXPECT_EQ(blamed([&] { channel.response(*exec, narrow, {}); }), "channel");
  EXPECT_EQ(blamed([&] { channel.response(*exec, {nullptr, 6, 12, 1, 6}, {}); }), "channel");
}

}  // namespace cdl_test
