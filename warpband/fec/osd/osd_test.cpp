// Ordered-statistics decoding behind belief propagation: against the oracle in double precision, the
// reference data, exact maximum likelihood, and what must hold for every code. Batches, layouts, threads and
// erasures are tested by tests/contract_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <random>
#include <string>

#include <oracle/osd.hpp>
#include <tests/sparse_ldpc.hpp>
#include <warpband/core/as_size.hpp>
#include <warpband/core/status.hpp>
#include <warpband/fec/osd/osd.hpp>

namespace wb {
namespace osd_test {

using namespace testing;

class osd : public on_backend {};
WB_ON_ALL_BACKENDS(osd);

struct osd_decoded {
  bytes bits;
  std::vector<float> soft;
  std::vector<std::int32_t> iterations;
  bytes status;
  bool operator==(const osd_decoded&) const = default;
};
osd_decoded decode_osd(executor& exec, const bp_osd& d, const std::vector<float>& llr,
                       const bytes& syndrome = {}) {
  const auto n = as_size(d.matrix().n()), checks = as_size(d.matrix().checks());
  const std::size_t items = llr.empty() ? syndrome.size() / checks : llr.size() / n;
  auto bits = exec.make<std::uint8_t>(items, n);
  auto soft = exec.make<float>(items, n);
  auto iterations = exec.make<std::int32_t>(items, 1);
  auto status = exec.make<std::uint8_t>(items, 1);
  const bp_osd_output out{.bits = bits, .soft = soft, .iterations = iterations, .status = status};
  array<std::uint8_t> s;
  if (!syndrome.empty()) s = on_device(exec, syndrome, items, checks);
  if (llr.empty()) {
    d.run(exec, s, out);
  } else {
    const auto in = on_device(exec, llr, items, n);
    d.run(exec, in, out, syndrome.empty() ? view<const std::uint8_t>{} : view<const std::uint8_t>(s));
  }
  return {exec.to_host(bits), exec.to_host(soft), exec.to_host(iterations), exec.to_host(status)};
}

/// Rows that depend on others, empty rows, equal and empty columns.
parity_check_matrix awkward_matrix(int n, int checks, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::vector<int>> rows(as_size(checks));
  for (int c = 0; c < n; c++) {
    if (c % 11 == 7) continue;
    for (int r = 0; r < checks; r++) {
      const bool one = c % 9 == 5 ? std::count(rows[as_size(r)].begin(), rows[as_size(r)].end(), c - 1) != 0
                                  : random() % as_size(checks) < 3;
      if (one && r % 8 != 6 && r % 8 != 7) rows[as_size(r)].push_back(c);
    }
  }
  for (int r = 6; r < checks; r += 8) {  // a sum of two rows; the rows behind stay empty
    std::set_symmetric_difference(rows[as_size(r - 1)].begin(), rows[as_size(r - 1)].end(),
                                  rows[as_size(r - 2)].begin(), rows[as_size(r - 2)].end(),
                                  std::back_inserter(rows[as_size(r)]));
  }
  return {n, rows};
}

struct osd_drawn {
  std::vector<float> priors;
  bytes errors, syndromes;
};
/// Probabilities from 0.02 to 0.3, which differ, and errors of them.
osd_drawn draw_errors(const parity_check_matrix& h, std::size_t items, std::mt19937_64& random) {
  osd_drawn drawn;
  std::uniform_real_distribution<double> uniform;
  for (std::size_t i = 0; i < items; i++) {
    bytes error;
    for (int c = 0; c < h.n(); c++) {
      const double p = 0.02 + 0.28 * uniform(random);
      drawn.priors.push_back(static_cast<float>(std::log((1 - p) / p)));
      error.push_back(uniform(random) < p);
    }
    const bytes s = oracle::syndrome(as_oracle(h), error);
    drawn.errors.insert(drawn.errors.end(), error.begin(), error.end());
    drawn.syndromes.insert(drawn.syndromes.end(), s.begin(), s.end());
  }
  return drawn;
}

std::vector<double> osd_costs(const std::vector<float>& llr, osd_cost cost) {
  std::vector<double> costs;
  for (const double x : llr) costs.push_back(cost == osd_cost::ratio ? x : std::log1p(std::exp(x)));
  return costs;
}

TEST_P(osd, equals_the_oracle) {
  std::mt19937_64 random(1);
  const parity_check_matrix matrices[] = {random_matrix(40, 30, 6, 1), awkward_matrix(60, 40, 2),
                                          awkward_matrix(90, 33, 3), random_matrix(130, 70, 7, 4)};
  const std::size_t items = small_scale() ? 3 : 8;
  int osd_words = 0;
  for (const parity_check_matrix& h : matrices)
    for (const auto& [method, order] : {std::pair{osd_method::osd_0, 0}, std::pair{osd_method::osd_e, 5},
                                        std::pair{osd_method::osd_cs, 1}, std::pair{osd_method::osd_cs, 8}})
      for (const auto cost : {osd_cost::probability, osd_cost::ratio}) {
        const bp_osd d(h, {.max_iter = 4,
                           .bp_method = ldpc_algorithm::sum_product,
                           .osd_method = method,
                           .osd_order = order,
                           .osd_cost = cost});
        const auto drawn = draw_errors(h, items, random);
        const osd_decoded got = decode_osd(exec(), d, drawn.priors, drawn.syndromes);
        for (std::size_t i = 0; i < items; i++) {
          const bytes found = row_of(got.bits, i, as_size(h.n())),
                      s = row_of(drawn.syndromes, i, as_size(h.checks()));
          EXPECT_EQ(oracle::syndrome(as_oracle(h), found), s);
          EXPECT_TRUE(got.status[i] == status_stopped || got.status[i] == status_osd);
          if (got.status[i] != status_osd) continue;
          osd_words++;
          const auto soft = row_of(got.soft, i, as_size(h.n()));
          const auto want = oracle::osd(as_oracle(h), s, {soft.begin(), soft.end()},
                                        osd_costs(row_of(drawn.priors, i, as_size(h.n())), cost),
                                        {.order = order, .exhaustive = method == osd_method::osd_e});
          ASSERT_TRUE(want.has_value());
          if (want->margin < 1e-5) continue;  // float32 costs
          EXPECT_EQ(found, want->error) << h.n() << " order " << order << " item " << i;
        }
      }
  EXPECT_GT(osd_words, small_scale() ? 20 : 60);
}

TEST_P(osd, words_are_the_channels_decisions_and_an_error) {
  std::mt19937_64 random(2);
  int osd_words = 0;
  for (const parity_check_matrix& h : {awkward_matrix(60, 40, 5), random_matrix(100, 60, 6, 6)})
    for (const auto method : {osd_method::osd_0, osd_method::osd_e, osd_method::osd_cs}) {
      const bp_osd d(
          h, {.max_iter = 6, .bp_method = ldpc_algorithm::sum_product, .osd_method = method, .osd_order = 6});
      const std::size_t items = 30, n = as_size(h.n());
      const auto drawn = draw_errors(h, items, random);
      std::vector<float> word;  // the zero word with these errors
      for (std::size_t i = 0; i < drawn.priors.size(); i++)
        word.push_back(drawn.errors[i] ? -drawn.priors[i] : drawn.priors[i]);
      const osd_decoded error = decode_osd(exec(), d, drawn.priors, drawn.syndromes),
                        from_word = decode_osd(exec(), d, word);
      EXPECT_EQ(error.status, from_word.status);
      EXPECT_EQ(error.iterations, from_word.iterations);
      for (std::size_t i = 0; i < items * n; i++)
        EXPECT_EQ(error.bits[i] ^ drawn.errors[i], from_word.bits[i]) << i / n;
      for (const auto s : error.status) osd_words += s == status_osd;
    }
  EXPECT_GT(osd_words, 20);
}

TEST_P(osd, the_full_order_is_maximum_likelihood) {
  std::mt19937_64 random(3);
  for (const parity_check_matrix& h :
       {random_matrix(14, 8, 4, 1), awkward_matrix(15, 10, 2), random_matrix(16, 20, 5, 3)}) {
    const std::size_t items = small_scale() ? 6 : 30, n = as_size(h.n());
    const auto drawn = draw_errors(h, items, random);
    for (const auto cost : {osd_cost::probability, osd_cost::ratio}) {
      // One iteration of weak min-sum: nearly all syndromes are left to OSD. An order above n - rank is it.
      const bp_osd d(h, {.max_iter = 1,
                         .ms_scaling_factor = 1e-3f,
                         .osd_method = osd_method::osd_e,
                         .osd_order = 14,
                         .osd_cost = cost});
      const osd_decoded got = decode_osd(exec(), d, drawn.priors, drawn.syndromes);
      int by_osd = 0;
      for (std::size_t i = 0; i < items; i++) {
        if (got.status[i] != status_osd) continue;
        by_osd++;
        const auto want =
            oracle::cheapest_error(as_oracle(h), row_of(drawn.syndromes, i, as_size(h.checks())),
                                   osd_costs(row_of(drawn.priors, i, n), cost));
        ASSERT_TRUE(want.has_value());
        if (want->margin > 1e-5) {
          EXPECT_EQ(row_of(got.bits, i, n), want->error);
        }
      }
      EXPECT_GT(by_osd, static_cast<int>(items) / 2);
    }
  }
}

TEST_P(osd, rows_of_an_encoder_change_nothing) {
  const parity_check_matrix h = random_matrix(30, 12, 5, 4), with_rows(30, h.rows(), {}, {{0, 4, 7}, {1, 2}});
  ASSERT_GT(with_rows.parity_columns().size(), h.parity_columns().size());
  const bp_osd_config config{
      .max_iter = 1, .ms_scaling_factor = 1e-3f, .osd_method = osd_method::osd_cs, .osd_order = 30};
  std::mt19937_64 random(6);
  bytes syndromes;
  for (int i = 0; i < 40; i++) {
    bytes error(30);
    for (auto& b : error) b = random() % 6 == 0;
    const bytes s = oracle::syndrome(as_oracle(h), error);
    syndromes.insert(syndromes.end(), s.begin(), s.end());
  }
  const osd_decoded want = decode_osd(exec(), bp_osd(h, config, {0.1}), {}, syndromes),
                    got = decode_osd(exec(), bp_osd(with_rows, config, {0.1}), {}, syndromes);
  EXPECT_EQ(got.bits, want.bits);
  EXPECT_EQ(got.status, want.status);
}

TEST_P(osd, a_syndrome_that_no_word_has_is_an_erasure) {
  // Check 2 is the sum of the others, check 3 is empty.
  const parity_check_matrix h(5, {{0, 1, 2}, {2, 3, 4}, {0, 1, 3, 4}, {}});
  const bytes syndromes{1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 1, 1, 0, 254, 254, 254, 254, 0, 0, 0, 3};
  for (const auto method : {osd_method::osd_0, osd_method::osd_e, osd_method::osd_cs})
    for (const int order : {0, 2}) {
      const bp_osd d(h, {.max_iter = 3, .osd_method = method, .osd_order = order},
                     {0.1, 0.2, 0.15, 0.12, 0.3});
      const osd_decoded got = decode_osd(exec(), d, {}, syndromes);
      for (std::size_t i = 0; i < 6; i++) {
        const bool consistent = i == 0 || i == 3 || i == 4;
        const bytes error = row_of(got.bits, i, 5);
        if (consistent) {
          EXPECT_TRUE(got.status[i] == status_stopped || got.status[i] == status_osd) << i;
          const bytes s = oracle::syndrome(as_oracle(h), error);
          for (std::size_t r = 0; r < 4; r++) EXPECT_EQ(s[r], syndromes[4 * i + r] & 1);
        } else {
          EXPECT_EQ(got.status[i], status_erased | status_inconsistent) << i;
          EXPECT_EQ(error, bytes(5));
        }
      }
    }
}

TEST_P(osd, without_osd_decisions_are_those_of_belief_propagation) {
  const parity_check_matrix h = random_matrix(60, 40, 5, 11);
  std::mt19937_64 random(4);
  const auto drawn = draw_errors(h, 30, random);
  const bp_osd d(h, {.max_iter = 7, .osd_method = osd_method::off});
  const osd_decoded got = decode_osd(exec(), d, drawn.priors, drawn.syndromes);
  const sparse_decoded want = decode_sparse(
      exec(), sparse_ldpc_decoder(h, {.scale = 0.625f, .iterations = 7, .schedule = ldpc_schedule::flooding}),
      drawn.priors, drawn.syndromes);
  EXPECT_EQ(got.bits, want.bits);
  EXPECT_EQ(got.soft, want.soft);
  EXPECT_EQ(got.iterations, want.iterations);
  EXPECT_EQ(got.status, want.status);
  EXPECT_GT(std::count(got.status.begin(), got.status.end(), 0), 0);
}

TEST_P(osd, every_backend_and_batch_gives_the_same_bits) {
  const auto reference = open_reference();
  std::mt19937_64 random(5);
  const parity_check_matrix matrices[] = {random_matrix(150, 75, 6, 21), awkward_matrix(300, 130, 22)};
  for (const parity_check_matrix& h : matrices)
    for (const auto method : {osd_method::osd_0, osd_method::osd_e, osd_method::osd_cs}) {
      const bp_osd d(h, {.max_iter = 5, .osd_method = method, .osd_order = 7});
      auto drawn = draw_errors(h, 37, random);
      for (float& x : drawn.priors) x = std::nearbyint(2 * x) / 2;  // ties
      drawn.priors[5 * as_size(h.n()) + 3] = std::numeric_limits<float>::quiet_NaN();
      drawn.priors[6 * as_size(h.n())] = 1e35f;
      const osd_decoded want = decode_osd(*reference, d, drawn.priors, drawn.syndromes);
      EXPECT_EQ(decode_osd(exec(), d, drawn.priors, drawn.syndromes), want);
      EXPECT_EQ(want.status[5], status_erased);
      EXPECT_EQ(row_of(want.bits, 5, as_size(h.n())), bytes(as_size(h.n())));
      for (const std::size_t i : {std::size_t{0}, std::size_t{6}, std::size_t{36}}) {
        const osd_decoded one = decode_osd(exec(), d, row_of(drawn.priors, i, as_size(h.n())),
                                           row_of(drawn.syndromes, i, as_size(h.checks())));
        EXPECT_EQ(one.bits, row_of(want.bits, i, as_size(h.n())));
        EXPECT_EQ(one.status[0], want.status[i]);
      }
      // Outputs that are not wanted change nothing.
      const auto in = on_device(exec(), drawn.priors, 37, as_size(h.n()));
      const auto s = on_device(exec(), drawn.syndromes, 37, as_size(h.checks()));
      auto bits = exec().make<std::uint8_t>(37, as_size(h.n()));
      auto status = exec().make<std::uint8_t>(37, 1);
      d.run(exec(), in, {.bits = bits}, s);
      d.run(exec(), in, {.status = status}, s);
      EXPECT_EQ(exec().to_host(bits), want.bits);
      EXPECT_EQ(exec().to_host(status), want.status);
    }
}

TEST(bp_osd_threads, change_nothing) {
  const parity_check_matrix h = random_matrix(120, 60, 6, 31);
  std::mt19937_64 random(6);
  const auto drawn = draw_errors(h, 101, random);
  const bp_osd d(h, {.max_iter = 3, .osd_method = osd_method::osd_cs, .osd_order = 10});
  cpu one({.threads = 1}), three({.threads = 3});
  EXPECT_EQ(decode_osd(one, d, drawn.priors, drawn.syndromes),
            decode_osd(three, d, drawn.priors, drawn.syndromes));
}

const std::string osd_folder = std::string(WARPBAND_REFDATA) + "/ldpc_more/osd/";
nlohmann::json osd_json(const std::string& file) {
  std::ifstream in(osd_folder + file);
  return parse_json(in ? std::string(std::istreambuf_iterator<char>(in), {}) : std::string("null"));
}

TEST_P(osd, vectors_of_the_reference_data) {
  const auto document = osd_json("osd_vectors.json");
  if (document.is_null()) GTEST_SKIP() << "no refdata in '" << osd_folder << "'";
  int compared = 0, equal = 0;
  for (const auto& row : document["rows"]) {
    const parity_check_matrix h =
        read_parity_check_matrix(osd_folder + row["code"].get<std::string>() + "_hz.alist");
    const bytes syndrome = bits_of_text(row["syndrome"]);
    const std::vector<double> p = row["channel_probs"];
    for (const auto& [method, order, name] :
         {std::tuple{osd_method::osd_0, 0, "osd0"}, std::tuple{osd_method::osd_cs, 7, "osd_cs7"}}) {
      const bp_osd d(h,
                     {.max_iter = 10,
                      .bp_method = ldpc_algorithm::sum_product,
                      .osd_method = method,
                      .osd_order = order},
                     p);
      const osd_decoded got = decode_osd(exec(), d, {}, syndrome);
      EXPECT_EQ(got.status[0], status_osd);
      EXPECT_EQ(got.iterations[0], 10);
      const std::vector<double> posterior = row["bp_posterior_10"];
      for (std::size_t c = 0; c < posterior.size(); c++)
        EXPECT_NEAR(std::clamp<double>(got.soft[c], -25, 25), std::clamp(posterior[c], -25., 25.),
                    1e-3 * std::max(1., std::fabs(posterior[c])));
      compared++;
      equal += got.bits == bits_of_text(row[name]);
    }
  }
  RecordProperty("compared", compared);
  EXPECT_GE(compared, 80);
  EXPECT_EQ(equal, compared);
}

/// Of all syndromes of a code without dependent rows, one after the other.
bytes all_syndromes(const parity_check_matrix& h) {
  bytes syndromes;
  for (std::uint32_t s = 0; s >> h.checks() == 0; s++)
    for (int r = 0; r < h.checks(); r++) syndromes.push_back(s >> r & 1u);
  return syndromes;
}
/// Frame error rate of a binary symmetric channel where syndrome s is answered by errors of weight[s].
double rate_of_weights(const std::vector<int>& weights, int n, double p) {
  double right = 0;
  for (const int w : weights)
    if (w >= 0) right += std::pow(p, w) * std::pow(1 - p, n - w);
  return 1 - right;
}
/// Of the lightest error of each syndrome: errors of weight 0, 1, ... until every syndrome has one.
std::vector<int> lightest_errors(const parity_check_matrix& h) {
  std::vector<std::uint32_t> columns(as_size(h.n()));
  for (int r = 0; r < h.checks(); r++)
    for (const int c : h.rows()[as_size(r)]) columns[as_size(c)] |= 1u << r;
  std::vector<int> lightest(std::size_t{1} << h.checks(), -1);
  std::vector<std::uint32_t> reached{0};
  lightest[0] = 0;
  for (int w = 1; !reached.empty(); w++) {
    std::vector<std::uint32_t> next;
    for (const std::uint32_t s : reached)
      for (const std::uint32_t c : columns)
        if (lightest[s ^ c] < 0) {
          lightest[s ^ c] = w;
          next.push_back(s ^ c);
        }
    reached = next;
  }
  return lightest;
}

TEST_P(osd, exact_error_rates_of_a_binary_symmetric_channel) {
  const std::string file = std::string(WARPBAND_REFDATA) + "/ldpc_more/rare/exact_bsc.json";
  std::ifstream in(file);
  if (!in) GTEST_SKIP() << "no refdata in '" << file << "'";
  const auto document = parse_json(std::string(std::istreambuf_iterator<char>(in), {}));
  const parity_check_matrix h = any_h_matrix("small_24_12");
  ASSERT_EQ(h.rank(), h.checks());
  const bytes syndromes = all_syndromes(h);
  const std::vector<int> lightest = lightest_errors(h);
  const auto weights = [&](const bp_osd_config& config, double p) {
    const osd_decoded got = decode_osd(exec(), bp_osd(h, config, {p}), {}, syndromes);
    std::vector<int> w;
    for (std::size_t i = 0; i < lightest.size(); i++) {
      const bytes error = row_of(got.bits, i, as_size(h.n()));
      w.push_back(got.status[i] == 0 ? -1 : static_cast<int>(std::count(error.begin(), error.end(), 1)));
    }
    return w;
  };
  int compared = 0;
  for (const auto& row : document["rows"]) {
    if (row["code"] != "small_24_12") continue;
    for (const auto& result : row["results"])
      for (const auto& point : result["rows"]) {
        const double p = point["p"], want = point["fer"], ties = point["tie_probability_at_most"];
        if (p < 0.015 || p > 0.06) continue;
        const bool product = result["decoder"].get<std::string>().starts_with("sum-product");
        bp_osd_config c{
            .max_iter = 20,
            .bp_method = product ? ldpc_algorithm::sum_product : ldpc_algorithm::normalised_min_sum,
            .ms_scaling_factor = 0.75f,
            .osd_method = osd_method::off};
        EXPECT_NEAR(rate_of_weights(weights(c, p), h.n(), p), want, 1e-4 * want + ties) << p;
        c.osd_method = osd_method::osd_cs;
        c.osd_order = 4;
        const double with_osd = rate_of_weights(weights(c, p), h.n(), p);
        EXPECT_LT(with_osd, want);
        EXPECT_GE(with_osd, rate_of_weights(lightest, h.n(), p) * (1 - 1e-9));
        compared++;
      }
  }
  EXPECT_GE(compared, 4);
  // Without belief propagation the full order has the lightest error of each syndrome.
  const bp_osd_config full{
      .max_iter = 1, .ms_scaling_factor = 1e-3f, .osd_method = osd_method::osd_e, .osd_order = h.k()};
  if (!small_scale()) {
    EXPECT_EQ(weights(full, 0.05), lightest);
  }
}

TEST_P(osd, word_errors_are_those_of_the_reference_data) {
  const auto document = osd_json("osd_curves.json");
  if (document.is_null()) GTEST_SKIP() << "no refdata in '" << osd_folder << "'";
  if (small_scale()) GTEST_SKIP() << "many words";
  constexpr std::size_t shots = 600;
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform;
  int rows = 0;
  for (const auto& row : document["rows"]) {
    const std::string code = row["code"], decoder = row["decoder"];
    const double p = row["p"];
    const parity_check_matrix h = read_parity_check_matrix(osd_folder + code + "_hz.alist");
    std::vector<bytes> logical;
    std::ifstream in(osd_folder + code + "_logical_z.txt");
    for (std::string line; std::getline(in, line);)
      if (line.size() >= as_size(h.n())) logical.push_back(bits_of_text(line));
    ASSERT_FALSE(logical.empty()) << code;
    const bool sweep = decoder.find("OSD-CS 10") != std::string::npos;
    const bp_osd d(h,
                   {.bp_method = decoder.starts_with("sum-product") ? ldpc_algorithm::sum_product
                                                                    : ldpc_algorithm::normalised_min_sum,
                    .osd_method = sweep ? osd_method::osd_cs : osd_method::osd_0,
                    .osd_order = 10},
                   {p});
    bytes errors, syndromes;
    for (std::size_t i = 0; i < shots; i++) {
      bytes error;
      for (int c = 0; c < h.n(); c++) error.push_back(uniform(random) < p);
      const bytes s = oracle::syndrome(as_oracle(h), error);
      errors.insert(errors.end(), error.begin(), error.end());
      syndromes.insert(syndromes.end(), s.begin(), s.end());
    }
    const osd_decoded got = decode_osd(exec(), d, {}, syndromes);
    int wrong = 0;
    for (std::size_t i = 0; i < shots; i++) {
      bool differs = false;
      for (const bytes& z : logical) {
        unsigned sum = 0;
        for (std::size_t c = 0; c < z.size(); c++)
          sum ^= z[c] & (got.bits[i * z.size() + c] ^ errors[i * z.size() + c]);
        differs |= sum != 0;
      }
      wrong += differs;
    }
    const double want = row["word_errors"].get<double>() * shots / row["shots"].get<double>();
    EXPECT_NEAR(wrong, want, 4.5 * std::sqrt(want * (1 + shots / row["shots"].get<double>())))
        << code << " p " << p << " " << decoder;
    EXPECT_EQ(std::count(got.status.begin(), got.status.end(), 0), 0);
    rows++;
  }
  EXPECT_GT(rows, 10);
}

TEST(bp_osd_decoder, wrong_settings_and_shapes_are_named) {
  const parity_check_matrix h(4, {{0, 1, 2, 3}});
  EXPECT_EQ(blamed([&] { bp_osd(h, {.max_iter = -1}); }), "max_iter");
  EXPECT_EQ(blamed([&] { bp_osd(h, {.ms_scaling_factor = 0}); }), "ms_scaling_factor");
  EXPECT_EQ(blamed([&] { bp_osd(h, {.osd_method = osd_method::osd_cs, .osd_order = -1}); }), "osd_order");
  EXPECT_EQ(blamed([&] { bp_osd(h, {}, {0.1, 0.1}); }), "error_channel");
  for (const double p : {0., 1., -0.1, std::nan("")})
    EXPECT_EQ(blamed([&] { bp_osd(h, {}, {p}); }), "error_channel");
  EXPECT_EQ(blamed([&] { bp_osd(h.with({.punctured = {1}})); }), "matrix");
  const parity_check_matrix wide(60, {{0, 1}});
  EXPECT_EQ(blamed([&] { bp_osd(wide, {.osd_method = osd_method::osd_e, .osd_order = 21}); }), "osd_order");
  EXPECT_EQ(blamed([&] { bp_osd(h, {.osd_method = osd_method::osd_e, .osd_order = 1000}); }), "");
  const bp_osd d(h);
  cpu exec({.threads = 1});
  std::vector<float> llr(8), soft(8);
  bytes syndrome(4);
  const auto in = make_view<const float>(llr.data(), 2, 4);
  const auto s = make_view<const std::uint8_t>(syndrome.data(), 2, 2);
  EXPECT_EQ(blamed([&] { d.run(exec, make_view<const float>(llr.data(), 2, 3), {}); }), "llr");
  EXPECT_EQ(blamed([&] { d.run(exec, in, {.soft = make_view(soft.data(), 2, 2)}); }), "soft");
  EXPECT_EQ(blamed([&] { d.run(exec, in, {}, s); }), "syndrome");
  EXPECT_EQ(blamed([&] { d.run(exec, s, {}); }), "error_channel");
  EXPECT_EQ(blamed([&] { bp_osd(h, {}, {0.1}).run(exec, s, {}); }), "syndrome");
}

}  // namespace osd_test
}  // namespace wb
