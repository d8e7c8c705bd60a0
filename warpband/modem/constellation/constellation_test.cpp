// Constellations as lists of points against the oracle, the QAM demapper and closed forms; bad input.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <tuple>

#include <oracle/modem.hpp>
#include <tests/on_backends.hpp>
#include <warpband/channel/awgn/awgn.hpp>
#include <warpband/modem/constellation/constellation.hpp>
#include <warpband/modem/qam/qam.hpp>

namespace constellation_test {

using wb::constellation;
using wb::constellation_config;
using wb::demap_algorithm;
using wb::testing::blamed;
using wb::testing::on_device;
using complex = std::complex<float>;
using points = std::vector<std::complex<double>>;

constexpr demap_algorithm both[]{demap_algorithm::max_log, demap_algorithm::exact};

constellation own(const points& list) { return constellation({.points = list}); }
constellation named(const std::string& type, const std::vector<double>& ring_ratios = {}) {
  return constellation({.type = type, .ring_ratios = ring_ratios});
}
/// Irregular points, one of them 0.
points spiral(std::size_t count) {
  points list;
  for (std::size_t i = 0; i < count; i++)
    list.push_back(std::polar(std::sqrt(static_cast<double>(i)), 2.4 * static_cast<double>(i)));
  return list;
}
std::vector<constellation> some() {
  return {named("8psk"),  named("16apsk", {2.57}), named("32apsk", {2.53, 4.3}),
          own(spiral(2)), own(spiral(64)),         own(spiral(128)),
          own({1, 0}),    own({1, -1, 1, -1}),     own(spiral(1024))};
}

struct batch {
  std::vector<complex> y, h;  // h empty: 1
  std::vector<float> n0;      // one: shared
};
struct result {
  std::vector<float> llr;
  std::vector<std::uint8_t> status;
};

template <class Demapper>
result demap(wb::executor& exec, const Demapper& demapper, const batch& b) {
  const std::size_t n = b.y.size(), m = static_cast<std::size_t>(demapper.bits());
  const auto y = on_device(exec, b.y, n, 1);
  const auto n0 = exec.make_from(b.n0);
  std::optional<wb::array<complex>> h;
  if (!b.h.empty()) h = on_device(exec, b.h, n, 1);
  wb::demap_input in{{}, y, {n0.data(), 1, n, 1, b.n0.size() == 1 ? 0U : 1U}};
  if (h) in.channel = *h;
  auto llr = exec.make<float>(n, m);
  auto status = exec.make<std::uint8_t>(n, 1);
  demapper.run(exec, in, llr, status);
  return {exec.to_host(llr), exec.to_host(status)};
}
result demap(wb::executor& exec, const constellation& c, demap_algorithm algorithm, const batch& b) {
  return demap(exec, wb::constellation_demapper(c, algorithm), b);
}
bool same_bits(const result& a, const result& b) {
  return a.llr.size() == b.llr.size() && a.status == b.status &&
         std::memcmp(a.llr.data(), b.llr.data(), a.llr.size() * sizeof(float)) == 0;
}

batch noisy_batch(const points& s, std::size_t n, std::mt19937& random) {
  std::normal_distribution<double> normal(0, std::sqrt(0.5));
  std::uniform_real_distribution<double> decades(-3, 1);
  batch b;
  for (std::size_t i = 0; i < n; i++) {
    const double n0 = std::pow(10.0, decades(random));
    const std::complex<double> h(normal(random), normal(random)), noise(normal(random), normal(random));
    b.y.push_back(complex(h * s[random() % s.size()] + std::sqrt(n0) * noise));
    b.h.push_back(complex(h));
    b.n0.push_back(static_cast<float>(n0));
  }
  return b;
}
oracle::demapper rule_of(demap_algorithm a) {
  return a == demap_algorithm::exact ? oracle::demapper::exact : oracle::demapper::max_log;
}

class constellation_on : public wb::testing::on_backend {};
WB_ON_ALL_BACKENDS(constellation_on);

TEST_P(constellation_on, mapper_gives_the_point_of_each_label) {
  for (const constellation& c : some()) {
    const auto m = static_cast<std::size_t>(c.bits());
    std::vector<std::uint8_t> bits;
    for (std::size_t p = 0; p < c.points().size(); p++)
      for (std::size_t i = m; i-- > 0;) bits.push_back(static_cast<std::uint8_t>(p >> i & 1));
    auto s = exec().make<complex>(c.points().size(), 1);
    const wb::constellation_mapper mapper(c);
    mapper.run(exec(), on_device(exec(), bits, c.points().size(), m), s);
    const auto got = exec().to_host(s);
    for (std::size_t p = 0; p < got.size(); p++) EXPECT_EQ(got[p], complex(c.points()[p]));
  }
}

TEST_P(constellation_on, equals_oracle) {
  std::mt19937 random(1);
  for (const constellation& c : some())
    for (const demap_algorithm algorithm : both) {
      const batch b = noisy_batch(c.points(), c.bits() > 7 ? 60 : 400, random);
      const result got = demap(exec(), c, algorithm, b);
      const auto m = static_cast<std::size_t>(c.bits());
      double worst = 0;
      for (std::size_t i = 0; i < b.y.size(); i++) {
        const auto expected = oracle::demap(std::complex<double>(b.y[i]), b.n0[i],
                                            std::complex<double>(b.h[i]), c.points(), rule_of(algorithm));
        const double equal = 4e-6 * (std::norm(b.y[i]) + std::norm(b.h[i])) / b.n0[i] + 1e-5;
        for (std::size_t e = 0; e < m; e++) {
          const double allowed = equal + 1e-6 * std::fabs(expected[e]);
          worst = std::max(worst, std::fabs(got.llr[i * m + e] - expected[e]) / allowed);
        }
        EXPECT_EQ(got.status[i], 0);
      }
      EXPECT_LE(worst, 1) << c.points().size() << " points";
    }
}

TEST_P(constellation_on, square_qam_as_a_list_equals_the_qam_demapper) {
  std::mt19937 random(2);
  for (const int qam : {2, 4, 16, 64, 256, 1024, 4096})
    for (const demap_algorithm algorithm : both) {
      const constellation c = own(oracle::constellation(qam));
      const batch b = noisy_batch(c.points(), qam > 256 ? 40 : 300, random);
      const result got = demap(exec(), c, algorithm, b),
                   expected = demap(exec(), wb::demapper(qam, algorithm), b);
      EXPECT_EQ(got.status, expected.status);
      const std::size_t m = static_cast<std::size_t>(c.bits());
      for (std::size_t i = 0; i < got.llr.size(); i++) {
        const double size = (std::norm(b.y[i / m]) + std::norm(b.h[i / m])) / b.n0[i / m];
        ASSERT_NEAR(got.llr[i], expected.llr[i], 8e-6 * size + 2e-5 + 2e-6 * std::fabs(expected.llr[i]))
            << qam << " points, " << i;
      }
    }
}

TEST_P(constellation_on, without_noise_the_signs_are_the_bits) {
  for (const constellation& c : {named("8psk"), named("16apsk", {3.15}), named("32apsk", {2.84, 5.27})})
    for (const demap_algorithm algorithm : both)
      for (const complex h : {complex(1, 0), complex(-0.6f, 1.1f), complex(0, -2e-3f), complex(300, 400)})
        for (const float relative_n0 : {1e-3f, 1e-12f, 1e-30f}) {
          batch b{{}, std::vector<complex>(c.points().size(), h), {relative_n0 * std::norm(h)}};
          for (const auto& s : c.points()) b.y.push_back(complex(std::complex<double>(h) * s));
          const result got = demap(exec(), c, algorithm, b);
          const auto m = static_cast<std::size_t>(c.bits());
          for (std::size_t i = 0; i < got.llr.size(); i++) {
            ASSERT_TRUE(std::isfinite(got.llr[i]));
            ASSERT_NE(got.llr[i], 0.f);
            ASSERT_EQ(got.llr[i] < 0, (i / m >> (m - 1 - i % m) & 1) == 1);
          }
        }
}

TEST_P(constellation_on, extreme_but_finite_input_gives_finite_llrs) {
  const auto scalar = wb::testing::open_scalar();
  const std::vector<float> sizes{1e-45f, 1e-38f, 1e-20f, 1.f, 1e15f, 1e20f, 3e38f};
  batch b;
  for (const float y : sizes)
    for (const float h : sizes)
      for (const float n0 : sizes) {
        b.y.emplace_back(-y, 0.3f * y);
        b.h.emplace_back(0.7f * h, -h);
        b.n0.push_back(n0);
      }
  for (const constellation& c : {named("16apsk", {2.7}), own(spiral(64))})
    for (const demap_algorithm algorithm : both) {
      const result got = demap(exec(), c, algorithm, b);
      for (const float llr : got.llr) ASSERT_LE(std::fabs(llr), 3e38f);
      for (const std::uint8_t s : got.status) EXPECT_EQ(s, 0);
      EXPECT_TRUE(same_bits(got, demap(*scalar, c, algorithm, b)));
    }
}

TEST_P(constellation_on, far_symbols_have_the_oracles_llrs) {
  const constellation c = named("32apsk", {2.64, 4.64});
  const auto m = static_cast<std::size_t>(c.bits());
  for (const double size : {1e3, 1e6, 1e15}) {
    batch b{{}, {}, {1.f}};
    for (const auto& s : c.points()) b.y.push_back(complex(size * s * std::polar(1., 0.05)));
    const result got = demap(exec(), c, demap_algorithm::exact, b);
    for (std::size_t p = 0; p < b.y.size(); p++) {
      // Of |y|^2 - 2 Re(y* s) + |s|^2 the first would cost the oracle its digits.
      const double scale = size > 1e6 ? size / 1e6 : 1;
      const auto expected =
          oracle::demap(std::complex<double>(b.y[p]) / scale, 1, 1, c.points(), oracle::demapper::max_log);
      for (std::size_t e = 0; e < m; e++)
        ASSERT_NEAR(got.llr[p * m + e] / scale, expected[e],
                    2e-5 * size / scale + 1e-3 * std::fabs(expected[e]));
    }
  }
}

TEST_P(constellation_on, a_common_scale_changes_no_bit) {
  std::mt19937 random(8);
  for (const constellation& c : {named("16apsk", {2.7}), own(spiral(64))})
    for (const demap_algorithm algorithm : both) {
      const batch b = noisy_batch(c.points(), 67, random);
      const result expected = demap(exec(), c, algorithm, b);
      for (const int exponent : {-50, 40, 60}) {
        batch other = b;
        for (std::size_t i = 0; i < b.y.size(); i++) {
          other.y[i] *= std::ldexp(1.f, exponent);
          other.h[i] *= std::ldexp(1.f, exponent);
          other.n0[i] = std::ldexp(b.n0[i], 2 * exponent);
        }
        EXPECT_TRUE(same_bits(demap(exec(), c, algorithm, other), expected)) << "2^" << exponent;
      }
    }
}

TEST_P(constellation_on, bad_symbols_are_erased_and_h_of_0_says_nothing) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const batch b{{{nan, 0}, {0, inf}, {1, 0}, {1, 0}, {1, 0}, {1, 0}, {0.5f, 1}},
                {{1, 0}, {1, 0}, {nan, 1}, {1, 0}, {1, 0}, {0, 0}, {1, 0}},
                {1, 1, 1, 0, -1, 1, 1}};
  for (const demap_algorithm algorithm : both) {
    const result got = demap(exec(), named("8psk"), algorithm, b);
    EXPECT_EQ(got.status, (std::vector<std::uint8_t>{1, 1, 1, 1, 1, 0, 0}));
    for (std::size_t i = 0; i < 18; i++) EXPECT_EQ(got.llr[i], 0.f) << i;
    for (std::size_t i = 18; i < 21; i++) EXPECT_NE(got.llr[i], 0.f) << i;
  }
}

/// Symbols through noise, and their LLRs.
struct sent_symbols {
  std::vector<std::uint8_t> bits;
  std::vector<float> llr;
};
sent_symbols send(wb::executor& exec, const constellation& c, std::size_t symbols, float n0,
                  demap_algorithm algorithm) {
  std::mt19937 random(3);
  const auto m = static_cast<std::size_t>(c.bits());
  sent_symbols s;
  for (std::size_t i = 0; i < symbols * m; i++) s.bits.push_back(static_cast<std::uint8_t>(random() & 1));
  auto y = exec.make<complex>(symbols, 1);
  wb::constellation_mapper(c).run(exec, on_device(exec, s.bits, symbols, m), y);
  wb::add_awgn(exec, wb::view<const complex>(y), y, n0, {.seed = 5});
  const std::vector<float> n0s{n0};
  const auto noise_var = exec.make_from(n0s);
  auto llr = exec.make<float>(symbols, m);
  wb::constellation_demapper(c, algorithm).run(exec, {{}, y, {noise_var.data(), 1, symbols, 1, 0}}, llr);
  s.llr = exec.to_host(llr);
  return s;
}

TEST_P(constellation_on, symbol_error_rate_of_8psk_is_the_closed_form) {
  const std::size_t symbols = wb::testing::small_scale() ? 20000 : 100000;
  for (const double esn0_db : {8., 12.}) {
    const double esn0 = std::pow(10, esn0_db / 10), expected = oracle::psk_symbol_error_rate(8, esn0);
    // Signs of max-log LLRs are the bits of the nearest point.
    const sent_symbols s =
        send(exec(), named("8psk"), symbols, static_cast<float>(1 / esn0), demap_algorithm::max_log);
    double errors = 0;
    for (std::size_t i = 0; i < symbols; i++) {
      bool wrong = false;
      for (std::size_t e = 3 * i; e < 3 * i + 3; e++) wrong = wrong || (s.llr[e] < 0) != (s.bits[e] == 1);
      errors += wrong;
    }
    const double n = static_cast<double>(symbols), deviation = std::sqrt(expected * (1 - expected) / n);
    EXPECT_NEAR(errors / n, expected, 4 * deviation) << esn0_db << " dB";
  }
}

TEST_P(constellation_on, exact_llrs_have_the_information_of_the_constellation) {
  const std::size_t symbols = wb::testing::small_scale() ? 5000 : 20000;
  for (const auto& [c, esn0_db] : {std::pair{named("8psk"), 6.}, {named("16apsk", {2.85}), 10.}}) {
    const float n0 = static_cast<float>(std::pow(10, -esn0_db / 10));
    const sent_symbols s = send(exec(), c, symbols, n0, demap_algorithm::exact);
    double lost = 0;
    for (std::size_t i = 0; i < s.llr.size(); i++)
      lost += std::log2(1 + std::exp(s.bits[i] == 1 ? double{s.llr[i]} : -double{s.llr[i]}));
    EXPECT_NEAR(c.bits() - lost / static_cast<double>(symbols), oracle::bicm_information(c.points(), n0),
                8 / std::sqrt(static_cast<double>(symbols)));
  }
}

TEST(constellations, of_dvb_s2_equal_the_oracle) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> rates{
      {"8psk", {"3/5", "2/3", "3/4", "5/6", "8/9", "9/10"}},
      {"16apsk", {"2/3", "3/4", "4/5", "5/6", "8/9", "9/10"}},
      {"32apsk", {"3/4", "4/5", "5/6", "8/9", "9/10"}}};
  for (const auto& [type, list] : rates)
    for (const std::string& rate : list) {
      const std::vector<double> ratios = wb::dvb_s2_ring_ratios(type, rate);
      EXPECT_EQ(ratios.size(), type == "8psk" ? 0U : type == "16apsk" ? 1U : 2U);
      const constellation c = named(type, ratios);
      const points expected = oracle::dvb_s2_constellation(type, ratios);
      ASSERT_EQ(c.points().size(), expected.size());
      for (std::size_t p = 0; p < expected.size(); p++)
        EXPECT_LT(std::abs(c.points()[p] - expected[p]), 1e-14) << type << ", " << rate << ", " << p;
    }
  // EN 302 307-1, tables 9 and 10.
  const std::vector<std::tuple<std::string, std::string, std::vector<double>>> rings{
      {"16apsk", "2/3", {3.15}},       {"16apsk", "3/4", {2.85}},       {"16apsk", "4/5", {2.75}},
      {"16apsk", "5/6", {2.70}},       {"16apsk", "8/9", {2.60}},       {"16apsk", "9/10", {2.57}},
      {"32apsk", "3/4", {2.84, 5.27}}, {"32apsk", "4/5", {2.72, 4.87}}, {"32apsk", "5/6", {2.64, 4.64}},
      {"32apsk", "8/9", {2.54, 4.33}}, {"32apsk", "9/10", {2.53, 4.30}}};
  for (const auto& [type, rate, ratios] : rings)
    EXPECT_EQ(wb::dvb_s2_ring_ratios(type, rate), ratios) << type << ", " << rate;
  EXPECT_EQ(blamed([] { (void)wb::dvb_s2_ring_ratios("8psk", "1/2"); }), "rate");
  EXPECT_EQ(blamed([] { (void)wb::dvb_s2_ring_ratios("32apsk", "2/3"); }), "rate");
  EXPECT_EQ(blamed([] { (void)wb::dvb_s2_ring_ratios("64apsk", "4/5"); }), "type");
}

TEST(constellations, labels_order_the_points_and_energy_becomes_1) {
  const constellation c({.points = {{2, 0}, {0, 2}, {-2, 0}, {0, -2}}, .labels = {3, 1, 0, 2}});
  EXPECT_EQ(c.bits(), 2);
  EXPECT_EQ(c.points(), (points{{-1, 0}, {0, 1}, {0, -1}, {1, 0}}));
  for (const double scale : {1e-300, 1e-3, 1e300}) {
    points list = spiral(16);
    for (auto& s : list) s *= scale;
    const points scaled = own(list).points(), plain = own(spiral(16)).points();
    for (std::size_t p = 0; p < plain.size(); p++) EXPECT_LT(std::abs(scaled[p] - plain[p]), 1e-13);
  }
}

TEST(constellations, words_have_any_case_and_idle_settings_are_dropped) {
  const constellation upper = named("16APSK", {2.7}), lower = named("16apsk", {2.7});
  EXPECT_EQ(upper.bits(), 4);
  EXPECT_EQ(upper.points(), lower.points());
  EXPECT_EQ(upper.config(), lower.config());
  EXPECT_EQ(wb::bits_per_symbol(constellation_config{.type = "16-APSK"}), 4);
  EXPECT_EQ(named("8PSK", {2}).points(), named("8psk").points());
  EXPECT_EQ(named("8PSK", {2}).config(), constellation_config{.type = "8psk"});
  EXPECT_EQ(constellation({.type = "Points", .points = {1, -1}}).points(), own({1, -1}).points());
  EXPECT_EQ(blamed([] { named("16APSK", {2.5, 4}); }), "ring_ratios");
}

TEST(constellations, bad_ones_are_named) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto refused = [](constellation_config c) { return blamed([&] { constellation{c}; }); };
  for (const std::size_t count : {0U, 1U, 3U, 12U, 8192U})
    EXPECT_EQ(refused({.points = points(count, 1)}), "points");
  EXPECT_EQ(refused({.points = {0, 0}}), "points");
  EXPECT_EQ(refused({.points = {1, {0, nan}}}), "points");
  EXPECT_EQ(refused({.points = {1, -1}, .labels = {0}}), "labels");
  EXPECT_EQ(refused({.points = {1, -1}, .labels = {0, 0}}), "labels");
  EXPECT_EQ(refused({.points = {1, -1}, .labels = {1, 2}}), "labels");
  EXPECT_EQ(refused({.points = {1, -1}, .labels = {0, -1}}), "labels");
  EXPECT_EQ(refused({.type = "64apsk"}), "type");
  EXPECT_EQ(refused({.type = "16apsk"}), "ring_ratios");
  EXPECT_EQ(refused({.type = "16apsk", .ring_ratios = {1}}), "ring_ratios");
  EXPECT_EQ(refused({.type = "16apsk", .ring_ratios = {2, 3}}), "ring_ratios");
  EXPECT_EQ(refused({.type = "32apsk", .ring_ratios = {3, 2}}), "ring_ratios");
  EXPECT_EQ(blamed([] { wb::constellation_demapper(named("8psk"), static_cast<demap_algorithm>(7)); }),
            "algorithm");
  const auto exec = wb::testing::open_scalar();
  auto y = exec->make<complex>(5, 1);
  auto llr = exec->make<float>(5, 3);
  EXPECT_EQ(blamed([&] { wb::constellation_demapper(named("8psk")).run(*exec, {{}, y, {}}, llr); }),
            "noise_var");
}

}  // namespace constellation_test
