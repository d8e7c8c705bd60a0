// Mutual information against differences of entropies, effective SINRs against the formulas in double, and
// both against stored values of others.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <numbers>
#include <random>
#include <sstream>
#include <string>

#include <nlohmann/json.hpp>

#include <oracle/effective_sinr.hpp>
#include <tests/on_backends.hpp>
#include <warpband/core/status.hpp>
#include <warpband/modem/effective_sinr/effective_sinr.hpp>

#ifndef WARPBAND_REFDATA
#define WARPBAND_REFDATA ""
#endif

namespace effective_sinr_test {

using wb::effective_method;
using wb::effective_sinr_config;
using wb::information_kind;
using wb::testing::blamed;
using wb::testing::on_device;

constexpr information_kind kinds[]{information_kind::bit, information_kind::symbol};
constexpr effective_method methods[]{effective_method::eesm, effective_method::miesm, effective_method::rbir};
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

double db(double x) { return 10 * std::log10(x); }
double from_db(double x) { return std::pow(10, x / 10); }

struct result {
  std::vector<float> sinr;
  std::vector<std::uint8_t> status;
};
/// Rows of `elements` SINRs, weights as many, or one row for all, or none.
result effective(wb::executor& exec, const effective_sinr_config& config, const std::vector<float>& sinr,
                 std::size_t elements, const std::vector<float>& weight = {}) {
  const std::size_t n = sinr.size() / elements;
  const auto g = on_device(exec, sinr, n, elements);
  const auto w = exec.make_from(weight);
  wb::effective_sinr_input in{.sinr = g};
  if (!weight.empty())
    in.weight = {w.data(), elements, n, 1, weight.size() == elements && n > 1 ? 0 : elements};
  auto out = exec.make<float>(n, 1);
  auto status = exec.make<std::uint8_t>(n, 1);
  wb::effective_sinr(config).run(exec, in, out, status);
  return {exec.to_host(out), exec.to_host(status)};
}
float effective_one(wb::executor& exec, const effective_sinr_config& config, const std::vector<float>& sinr,
                    const std::vector<float>& weight = {}) {
  return effective(exec, config, sinr, sinr.size(), weight).sinr[0];
}

TEST(mutual_information, equals_differences_of_entropies) {
  for (const int qam : {2, 4, 16, 64, 256, 1024})
    for (const information_kind kind : kinds)
      for (double snr = -20.3; snr < 36; snr += qam > 256 ? 11 : 5.1) {
        const double expected = oracle::mutual_information(qam, from_db(snr), kind == information_kind::bit);
        const double got = wb::mutual_information(qam, snr, kind), bits = std::log2(qam);
        EXPECT_NEAR(got, expected, 1e-9 + 1e-5 * std::min(expected, std::max(bits - expected, 0.0)))
            << qam << " points, " << snr << " dB";
      }
}

TEST(mutual_information, equals_the_stored_table) {
  std::ifstream in(WARPBAND_REFDATA "/ldpc_more/tables/mutual_information.csv");
  if (!in) GTEST_SKIP() << "no " << WARPBAND_REFDATA << "/ldpc_more/tables/mutual_information.csv";
  std::string line;
  std::getline(in, line);
  int rows = 0;
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    double snr = 0, expected = 0;
    char comma = 0;
    fields >> snr;
    for (const int qam : {4, 16, 64, 256, 1024})
      for (const information_kind kind : kinds) {
        ASSERT_TRUE(fields >> comma >> expected);
        EXPECT_NEAR(wb::mutual_information(qam, snr, kind), expected, 6e-7)
            << qam << " points, " << snr << " dB";
      }
    rows++;
  }
  EXPECT_EQ(rows, 125);
}

/// log2(4) - I of QPSK as an integral of positive terms, accurate however small it is.
double qpsk_deficit(double snr) {
  const double distance = 2 * std::sqrt(snr), reach = distance / 2 + 12, step = 0.02 / distance;
  double sum = 0;
  for (double z = -reach; z < reach; z += step)
    sum += std::exp(-z * z / 2) * std::log1p(std::exp(-distance * z - distance * distance / 2));
  return 2 * step * sum / std::sqrt(2 * std::numbers::pi) / std::numbers::ln2;
}

TEST(mutual_information, is_right_where_it_is_close_to_its_limits) {
  const auto& table = wb::information_table(4, information_kind::bit);
  using grid = wb::information_grid;
  for (const double snr : {10.0, 15.0, 19.0, 22.0, 27.0}) {  // the last two are extrapolated
    const auto interval = static_cast<std::size_t>((snr - grid::first_db) / grid::step_db);
    const double got = table[interval * grid::values + 4], expected = std::log(qpsk_deficit(from_db(snr)));
    EXPECT_NEAR(got, expected, 1e-5 * std::fabs(expected)) << snr;
  }
  // The first term of the series of I: symbols have log2(e) bits for each unit of the SNR.
  for (const int qam : {2, 4, 16, 64, 256, 1024})
    for (const double snr : {-45.0, -60.0, -120.0, -290.0})
      EXPECT_NEAR(wb::mutual_information(qam, snr, information_kind::symbol) / from_db(snr),
                  std::numbers::log2e, qam == 2 ? 1e-4 : 5e-5)
          << qam;
  EXPECT_EQ(wb::mutual_information(16, 300), 4);
}

TEST(mutual_information, inverts) {
  for (const int qam : {2, 4, 16, 64, 256})
    for (const information_kind kind : kinds)
      for (double snr = -80; snr < 10 * std::log10(qam) + 8; snr += 3.7)
        EXPECT_NEAR(wb::snr_db_of_information(qam, wb::mutual_information(qam, snr, kind), kind), snr, 2e-5);
  EXPECT_EQ(blamed([] { wb::mutual_information(8, 0); }), "qam");
  EXPECT_EQ(blamed([] { wb::mutual_information(4, std::nan("")); }), "snr_db");
  EXPECT_EQ(blamed([] { wb::mutual_information(4, 301); }), "snr_db");
  for (const double bits : {0.0, 2.0, -1.0, std::nan("")})
    EXPECT_EQ(blamed([&] { wb::snr_db_of_information(4, bits); }), "bits") << bits;
}

class effective_sinr_on : public wb::testing::on_backend {};
WB_ON_ALL_BACKENDS(effective_sinr_on);

/// Rows of SINRs around the constellation's waterfall, linear.
std::vector<float> faded(int qam, std::size_t count, std::mt19937& random, double spread_db) {
  std::normal_distribution<double> normal(0, spread_db);
  std::vector<float> sinr;
  for (std::size_t i = 0; i < count; i++)
    sinr.push_back(static_cast<float>(from_db(10 * std::log10(qam) - 2 + normal(random))));
  return sinr;
}

TEST_P(effective_sinr_on, equals_oracle) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(0, 2);
  for (const effective_method method : methods)
    for (const int qam : {2, 4, 16, 64, 256}) {
      if (qam > 64 && wb::testing::small_scale()) continue;
      const std::size_t elements = qam == 4 ? 19 : 5, items = qam == 4 ? 6 : 2;
      const double beta = method == effective_method::eesm ? 1.4 * qam / 4 : qam == 16 ? 1.3 : 1;
      const auto sinr = faded(qam, elements * items, random, 3);
      std::vector<float> weight(sinr.size());
      for (float& w : weight) w = uniform(random);
      weight[2] = 0;
      const result got =
          effective(exec(), {.method = method, .qam = qam, .beta = beta}, sinr, elements, weight);
      for (std::size_t i = 0; i < items; i++) {
        const auto g = wb::testing::row_of(sinr, i, elements), w = wb::testing::row_of(weight, i, elements);
        const std::vector<double> gs(g.begin(), g.end()), ws(w.begin(), w.end());
        const double expected = method == effective_method::eesm
                                    ? oracle::exponential_sinr(gs, ws, beta)
                                    : oracle::information_sinr(gs, ws, std::vector<int>(elements, qam), qam,
                                                               beta, method == effective_method::miesm);
        EXPECT_NEAR(db(got.sinr[i]), db(expected), 1e-4) << qam;
        EXPECT_EQ(got.status[i], 0);
      }
    }
}

TEST_P(effective_sinr_on, mixed_constellations_equal_oracle) {
  std::mt19937 random(2);
  const std::vector<int> mixed{4, 64, 4, 16, 64, 4, 2};
  const auto sinr = faded(16, mixed.size(), random, 5);
  const std::vector<float> weight{1, 2, 1, 0.5f, 0, 1, 3};
  for (const effective_method method : {effective_method::miesm, effective_method::rbir}) {
    const float got =
        effective_one(exec(), {.method = method, .qam = 16, .beta = 1.2, .mixed = mixed}, sinr, weight);
    const double expected =
        oracle::information_sinr({sinr.begin(), sinr.end()}, {weight.begin(), weight.end()}, mixed, 16, 1.2,
                                 method == effective_method::miesm);
    EXPECT_NEAR(db(got), db(expected), 1e-4);
    // One constellation written out is the same as one for all.
    const auto same = faded(16, 7, random, 4);
    EXPECT_NEAR(
        db(effective_one(exec(), {.method = method, .qam = 64, .mixed = std::vector<int>(7, 64)}, same)),
        db(effective_one(exec(), {.method = method, .qam = 64}, same)), 1e-5);
  }
}

TEST_P(effective_sinr_on, equals_the_stored_values) {
  std::ifstream in(WARPBAND_REFDATA "/ldpc_more/tables/effective_sinr.json");
  if (!in) GTEST_SKIP() << "no " << WARPBAND_REFDATA << "/ldpc_more/tables/effective_sinr.json";
  const auto stored = nlohmann::json::parse(in);
  ASSERT_GT(stored["rows"].size(), 3u);
  for (const auto& row : stored["rows"]) {
    const auto sinr = row["sinr_db"].get<std::vector<float>>();
    const int qam = 1 << row["qm"].get<int>();
    EXPECT_NEAR(
        effective_one(exec(), {.method = effective_method::eesm, .beta = row["beta"], .decibel = true}, sinr),
        row["eesm_db"].get<double>(), 1e-5);
    // The stored inverse is of a table of whole 1e-5 dB.
    EXPECT_NEAR(effective_one(exec(), {.method = effective_method::miesm, .qam = qam, .decibel = true}, sinr),
                row["miesm_bicm_db"].get<double>(), 5e-5);
    EXPECT_NEAR(effective_one(exec(), {.method = effective_method::rbir, .qam = qam, .decibel = true}, sinr),
                row["rbir_cm_db"].get<double>(), 5e-5);
  }
}

TEST_P(effective_sinr_on, equal_sinrs_give_this_sinr_at_any_level) {
  for (const effective_method method : methods)
    for (const int qam : {2, 4, 16, 64, 256})
      for (const double beta : {0.5, 1.0, 20.0})
        for (const float level :
             {-290.f, -120.f, -60.f, -50.f, -20.f, 0.f, 7.3f, 25.f, 60.f, 79.9f, 80.1f, 140.f}) {
          const std::vector<float> sinr(13, level);
          EXPECT_NEAR(
              effective_one(exec(), {.method = method, .qam = qam, .beta = beta, .decibel = true}, sinr),
              level, 1e-4 + 1e-6 * std::fabs(level))
              << qam << " points, beta " << beta;
        }
}

TEST_P(effective_sinr_on, neither_end_of_the_scale_over_or_underflows) {
  // Far below its beta each method is the mean, far above it what the weakest element leaves.
  for (const effective_method method : methods) {
    EXPECT_NEAR(effective_one(exec(), {.method = method, .qam = 4}, {1e-6f, 3e-6f, 2e-6f}) / 2e-6, 1, 1e-5);
    const float far = effective_one(exec(), {.method = method, .qam = 4}, {1e6f, 1e6f, 1e6f, 2e6f});
    EXPECT_NEAR(far / 1e6, 1, 1e-5);
    const float wide = effective_one(exec(), {.method = method, .qam = 4}, {1e-6f, 1e6f});
    EXPECT_TRUE(std::isfinite(wide)) << wide;
    EXPECT_GT(wide, 0.1);  // half of the bits are known
    EXPECT_LT(wide, 2);
  }
  // The weakest of four: e^-(g / 2) loses a factor of 4.
  EXPECT_NEAR(effective_one(exec(), {.method = effective_method::rbir, .qam = 4}, {400, 900, 900, 900}) - 400,
              2 * std::log(4), 0.02);
  EXPECT_NEAR(effective_one(exec(), {.method = effective_method::eesm}, {400, 900, 900, 900}) - 400,
              std::log(4), 1e-4);
  EXPECT_GE(effective_one(exec(), {}, {0, 0, 0}), 0);
  EXPECT_LT(effective_one(exec(), {}, {0, 0, 0}), 2e-30);
}

TEST_P(effective_sinr_on, scales_agree_and_weights_repeat_elements) {
  std::mt19937 random(3);
  for (const effective_method method : methods) {
    const auto sinr = faded(16, 9, random, 4);
    std::vector<float> in_db, repeated;
    std::vector<float> weight;
    for (const float g : sinr) in_db.push_back(static_cast<float>(db(g)));
    for (std::size_t e = 0; e < sinr.size(); e++) {
      weight.push_back(static_cast<float>(e % 3));
      repeated.insert(repeated.end(), e % 3, sinr[e]);
    }
    effective_sinr_config c{.method = method, .qam = 16, .beta = 2};
    const float linear = effective_one(exec(), c, sinr, weight);
    EXPECT_NEAR(db(linear), db(effective_one(exec(), c, repeated)), 1e-5);
    c.decibel = true;
    EXPECT_NEAR(effective_one(exec(), c, in_db, weight), db(linear), 2e-5);
  }
}

TEST_P(effective_sinr_on, is_between_the_extremes_and_monotone) {
  std::mt19937 random(4);
  for (const effective_method method : methods) {
    const std::size_t elements = 30;
    auto sinr = faded(64, elements * 20, random, 6);
    const result before = effective(exec(), {.method = method, .qam = 64}, sinr, elements);
    for (std::size_t i = 0; i < 20; i++) {
      const auto row = wb::testing::row_of(sinr, i, elements);
      EXPECT_GT(before.sinr[i], *std::min_element(row.begin(), row.end()));
      EXPECT_LT(before.sinr[i], *std::max_element(row.begin(), row.end()));
      sinr[i * elements + i] *= 1.5f;
    }
    const result after = effective(exec(), {.method = method, .qam = 64}, sinr, elements);
    for (std::size_t i = 0; i < 20; i++) EXPECT_GE(after.sinr[i], before.sinr[i] * (1 - 1e-6f));
  }
}

TEST_P(effective_sinr_on, impossible_items_are_erased) {
  for (const effective_method method : methods)
    for (const bool decibel : {false, true}) {
      const effective_sinr_config c{.method = method, .qam = 16, .decibel = decibel};
      const float good = effective(exec(), c, {3, 4, 5}, 3).sinr[0];
      const float inf = std::numeric_limits<float>::infinity();
      std::vector<float> sinr, weight;
      for (const float bad : {not_a_number, inf, -inf, -1.f, 4.f}) sinr.insert(sinr.end(), {3, bad, 5});
      result got = effective(exec(), c, sinr, 3);
      for (std::size_t i = 0; i < 5; i++) {
        const bool erased = i < 3 || (i == 3 && !decibel);
        EXPECT_EQ(got.status[i], erased ? wb::status_erased : 0) << i;
        EXPECT_EQ(std::isnan(got.sinr[i]), erased);
      }
      EXPECT_EQ(got.sinr[4], good);
      EXPECT_EQ(wb::count_erased(got.status), decibel ? 3u : 4u);
      // Weights; of weight 0 nothing is used.
      sinr.clear();
      for (const float bad : {not_a_number, inf, -1.f, 1.f, 0.f}) {
        sinr.insert(sinr.end(), {3, 4, 5});
        weight.insert(weight.end(), {1, bad, 1});
      }
      sinr.insert(sinr.end(), {3, not_a_number, 5, 3, 4, 5});
      weight.insert(weight.end(), {1, 0, 1, 0, 0, 0});
      got = effective(exec(), c, sinr, 3, weight);
      EXPECT_EQ(got.status, (std::vector<std::uint8_t>{1, 1, 1, 0, 0, 0, 1}));
      EXPECT_EQ(got.sinr[3], good);
      EXPECT_EQ(got.sinr[4], got.sinr[5]);
      EXPECT_TRUE(std::isnan(got.sinr[6]));
    }
}

TEST_P(effective_sinr_on, gives_the_bits_of_the_scalar_build) {
  std::mt19937 random(5);
  const auto reference = wb::testing::open_reference();
  std::uniform_real_distribution<float> level(-70, 95);
  for (const effective_method method : methods)
    for (const bool decibel : {false, true})
      for (const bool mixed : {false, true}) {
        if (mixed && method == effective_method::eesm) continue;
        const std::size_t elements = 21, items = 37;
        effective_sinr_config c{.method = method, .qam = 16, .beta = 3, .decibel = decibel};
        for (std::size_t e = 0; mixed && e < elements; e++) c.mixed.push_back(e % 2 == 0 ? 4 : 256);
        std::vector<float> sinr(elements * items), weight(elements);
        for (float& g : sinr) g = decibel ? level(random) : static_cast<float>(from_db(level(random)));
        for (float& w : weight) w = std::fabs(level(random));
        sinr[5 * elements] = not_a_number;
        const result got = effective(exec(), c, sinr, elements, weight),
                     expected = effective(*reference, c, sinr, elements, weight);
        EXPECT_EQ(got.status, expected.status);
        for (std::size_t i = 0; i < items; i++) {
          const auto bits = [i](const result& r) { return std::bit_cast<std::uint32_t>(r.sinr[i]); };
          if (expected.status[i] == wb::status_erased)
            EXPECT_TRUE(std::isnan(got.sinr[i])) << i;
          else
            EXPECT_EQ(bits(got), bits(expected)) << i << ": " << got.sinr[i] << ", " << expected.sinr[i];
        }
      }
}

TEST(effective_sinr, refuses_what_is_not_allowed) {
  const auto made = [](const effective_sinr_config& c) { return blamed([&] { wb::effective_sinr map(c); }); };
  EXPECT_EQ(made({.qam = 8}), "qam");
  EXPECT_EQ(made({.beta = 0}), "beta");
  EXPECT_EQ(made({.beta = std::nan("")}), "beta");
  EXPECT_EQ(made({.beta = 2e5}), "beta");
  EXPECT_EQ(made({.mixed = {4, 8}}), "mixed");
  EXPECT_EQ(made({.method = effective_method::eesm, .mixed = {4, 16}}), "mixed");
  wb::cpu exec({.threads = 1});
  const auto four = exec.make_zeros<float>(2, 4), none = exec.make_zeros<float>(2, 0);
  auto out = exec.make<float>(2, 1);
  const auto ran = [&](const effective_sinr_config& c, const wb::effective_sinr_input& in) {
    return blamed([&] { wb::effective_sinr(c).run(exec, in, out); });
  };
  EXPECT_EQ(ran({.mixed = {4, 4, 4}}, {.sinr = four}), "sinr");
  EXPECT_EQ(ran({}, {.sinr = none}), "sinr");
  EXPECT_EQ(ran({}, {.sinr = four, .weight = wb::make_view(out.data(), 2, 1)}), "weight");
}

}  // namespace effective_sinr_test
