// Decoder for parity-check matrices without structure: against the oracle in double precision, the reference
// data, exact maximum likelihood, and what must hold for every code. Batches, layouts, threads and erasures
// are tested by tests/contract_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <tests/sparse_ldpc.hpp>
#include <warpband/core/status.hpp>

namespace wb {
namespace sparse_ldpc_test {

using namespace testing;
using enum ldpc_algorithm;
using enum ldpc_schedule;

class sparse_ldpc : public on_backend {};
WB_ON_ALL_BACKENDS(sparse_ldpc);

std::size_t size(int n) { return static_cast<std::size_t>(n); }

ldpc_algorithm algorithm_of(const std::string& name) {
  return name == "sum-product" ? sum_product : name == "min-sum" ? min_sum : normalised_min_sum;
}

/// The rows of H in the order in which layers take them: each row in the first layer without its bits.
std::vector<int> layer_order(const parity_check_matrix& h, int& layers) {
  std::vector<std::vector<int>> members;
  for (int i = 0; i < h.checks(); i++) {
    const auto shares = [&](int other) {
      const auto &a = h.rows()[size(i)], &b = h.rows()[size(other)];
      return std::any_of(a.begin(), a.end(),
                         [&](int c) { return std::find(b.begin(), b.end(), c) != b.end(); });
    };
    std::size_t layer = 0;
    while (layer < members.size() && std::any_of(members[layer].begin(), members[layer].end(), shares))
      layer++;
    if (layer == members.size()) members.emplace_back();
    members[layer].push_back(i);
  }
  layers = static_cast<int>(members.size());
  std::vector<int> order;
  for (const auto& m : members) order.insert(order.end(), m.begin(), m.end());
  return order;
}

std::vector<float> random_llrs(std::size_t count, float scale, std::mt19937_64& random) {
  std::normal_distribution<float> noise(scale, 1.5f * scale);
  std::vector<float> llr(count);
  for (float& x : llr) x = noise(random);
  return llr;
}

TEST_P(sparse_ldpc, equals_the_oracle) {
  std::mt19937_64 random(1);
  // Without rows of a single one, whose messages are infinite in the oracle.
  const parity_check_matrix matrices[] = {
      random_matrix(60, 30, 6, 1, {}, false), random_matrix(100, 80, 9, 2, {}, false),
      random_matrix(200, 14, 90, 3, {}, false),
      random_matrix(90, 45, 5, 4, {.punctured = {7, 50}, .shortened = {0, 89, 30}}, false)};
  for (const parity_check_matrix& h : matrices)
    for (const auto schedule : {layered, flooding})
      for (const auto algorithm : {sum_product, min_sum, normalised_min_sum, offset_min_sum})
        for (const bool odd : {false, true}) {
          const sparse_ldpc_config c{.algorithm = algorithm,
                                     .scale = 0.75f,
                                     .offset = 0.25f,
                                     .iterations = 4,
                                     .schedule = schedule,
                                     .early_stop = false};
          const sparse_ldpc_decoder d(h, c);
          const std::size_t items = testing::small_scale() ? 5 : 18, sent = size(h.sent()),
                            checks = size(h.checks());
          auto llr = random_llrs(items * sent, 2, random);
          for (float& x : llr) x = std::nearbyint(64 * x) / 64;  // min-sum is exact, and ties are the same
          bytes syndrome;
          for (std::size_t i = 0; odd && i < items * checks; i++)
            syndrome.push_back(static_cast<std::uint8_t>(random()));
          const sparse_decoded got = decode_sparse(exec(), d, llr, syndrome);
          int layers = 1;
          std::vector<int> order = layer_order(h, layers);
          if (schedule == layered) {
            EXPECT_EQ(d.layers(), layers);
          } else {
            EXPECT_EQ(d.layers(), 1);
            for (std::size_t i = 0; i < order.size(); i++) order[i] = static_cast<int>(i);
          }
          oracle::parity_checks ordered{h.n(), {}};
          for (const int i : order) ordered.rows.push_back(h.rows()[size(i)]);
          oracle::ldpc_options o{
              .rule =
                  algorithm == sum_product ? oracle::check_rule::sum_product : oracle::check_rule::min_sum,
              .order = schedule == layered ? oracle::check_order::layered : oracle::check_order::flooding,
              .scale = algorithm == normalised_min_sum ? c.scale : 1,
              .offset = algorithm == offset_min_sum ? c.offset : 0,
              .iterations = 4};
          for (std::size_t i = 0; i < items; i++) {
            std::vector<double> in(size(h.n()));
            for (const int s : h.shortened()) in[size(s)] = 1e30;
            for (std::size_t j = 0; j < sent; j++) in[size(h.sent_columns()[j])] = llr[i * sent + j];
            o.sums.clear();
            for (std::size_t j = 0; odd && j < checks; j++)
              o.sums.push_back(syndrome[i * checks + size(order[j])] & 1);
            const auto want = oracle::ldpc_decode(ordered, in, o);
            for (std::size_t v = 0; v < size(h.n()); v++) {
              const double x = std::clamp(want.a_posteriori[v], -25., 25.);
              EXPECT_NEAR(std::clamp<double>(got.soft[i * size(h.n()) + v], -25, 25), x,
                          2e-4 * std::max(1., std::fabs(x)))
                  << h.n() << " algorithm " << static_cast<int>(algorithm) << " schedule "
                  << static_cast<int>(schedule) << " bit " << v;
            }
          }
        }
}

/// An LLR as an output gives it, compared after limits as the reference data asks.
double limited(double x) { return std::clamp(x, -25., 25.); }

TEST_P(sparse_ldpc, posteriors_of_the_reference_data) {
  const auto document = any_h_json("decoder.json");
  ANY_H_SKIP_WITHOUT(document);
  int compared = 0;
  double worst = 0;
  for (const auto& row : document["rows"]) {
    const parity_check_matrix h = any_h_matrix(row["matrix"]);
    const std::vector<float> llr = row["llr"];
    for (const auto& result : row["results"]) {
      int first_tie = 1000;  // what follows a posterior of 0 depends on rounding
      for (const auto& [iterations, want] : result["iterations"].items())
        if (!want["ties"].empty()) first_tie = std::min(first_tie, std::stoi(iterations));
      for (const auto& [iterations, want] : result["iterations"].items()) {
        if (std::stoi(iterations) > first_tie) continue;
        const sparse_ldpc_decoder d(h, {.algorithm = algorithm_of(result["algorithm"]),
                                        .scale = result["scale"],
                                        .iterations = std::stoi(iterations),
                                        .schedule = flooding,
                                        .early_stop = false});
        const sparse_decoded got = decode_sparse(exec(), d, llr);
        const std::string where = row["matrix"].get<std::string>() + ", " +
                                  result["algorithm"].get<std::string>() + ", iteration " + iterations;
        const bytes hard = bits_of_text(want["hard"]);
        const std::vector<int> ties = want["ties"];
        for (std::size_t v = 0; v < hard.size(); v++) {
          if (std::fabs(got.soft[v]) > 1e-3) {
            EXPECT_EQ(got.bits[v], hard[v]) << where << ", bit " << v;
          }
          if (want["posterior"].is_null()) continue;
          const double posterior = limited(want["posterior"][v]), found = limited(got.soft[v]);
          const double error = std::fabs(found - posterior) / std::max(1., std::fabs(posterior));
          worst = std::max(worst, error);
          EXPECT_LT(error, 1e-3) << where << ", bit " << v;
        }
        if (ties.empty()) {
          EXPECT_EQ((got.status[0] & status_stopped) != 0, want["unsatisfied"] == 0) << where;
        }
        compared++;
      }
      if (first_tie == 1000 && result["first_iteration_with_all_checks"].is_number()) {
        const sparse_ldpc_decoder d(h, {.algorithm = algorithm_of(result["algorithm"]),
                                        .scale = result["scale"],
                                        .iterations = 20,
                                        .schedule = flooding});
        EXPECT_EQ(decode_sparse(exec(), d, llr).iterations[0], result["first_iteration_with_all_checks"])
            << row["matrix"];
      }
    }
  }
  RecordProperty("compared", compared);
  RecordProperty("worst", std::to_string(worst));
  EXPECT_GT(compared, 300);
}

TEST_P(sparse_ldpc, a_syndrome_gives_the_error_that_the_word_gives) {
  const auto document = any_h_json("bsc.json");
  ANY_H_SKIP_WITHOUT(document);
  int compared = 0;
  for (const auto& row : document["rows"]) {
    const parity_check_matrix h = any_h_matrix(row["matrix"]);
    const float magnitude = row["llr_magnitude"];
    const bytes received = bits_of_text(row["received"]), syndrome = bits_of_text(row["syndrome"]);
    const std::vector<float> priors(size(h.n()), magnitude);
    std::vector<float> word;
    for (const auto b : received) word.push_back(b ? -magnitude : magnitude);
    for (const auto& result : row["results"]) {
      const sparse_ldpc_config c{.algorithm = algorithm_of(result["algorithm"]),
                                 .iterations = result["iterations"],
                                 .schedule = flooding};
      const sparse_ldpc_decoder d(h, c);
      const sparse_decoded error = decode_sparse(exec(), d, priors, syndrome),
                           from_word = decode_sparse(exec(), d, word);
      for (std::size_t v = 0; v < received.size(); v++) {
        EXPECT_EQ(std::fabs(error.soft[v]), std::fabs(from_word.soft[v]));
        if (error.soft[v] != 0) {
          EXPECT_EQ(error.bits[v] ^ received[v], from_word.bits[v]) << row["matrix"] << " bit " << v;
        }
      }
      EXPECT_EQ(error.iterations, from_word.iterations);
      EXPECT_EQ(error.status, from_word.status);
      if (result["ties"] == true) continue;
      compared++;
      const auto& first = result["first_iteration_with_all_checks"];
      EXPECT_EQ((error.status[0] & status_stopped) != 0, first.is_number());
      if (!first.is_number()) continue;
      EXPECT_EQ(error.iterations[0], first) << row["matrix"];
      EXPECT_EQ(oracle::syndrome(as_oracle(h), error.bits), syndrome);
      for (const auto& [iterations, want] : result["error_estimate_at"].items()) {
        const sparse_ldpc_decoder then(h, {.algorithm = c.algorithm,
                                           .iterations = std::stoi(iterations),
                                           .schedule = flooding,
                                           .early_stop = false});
        EXPECT_EQ(decode_sparse(exec(), then, priors, syndrome).bits, bits_of_text(want))
            << row["matrix"] << " " << iterations;
      }
    }
  }
  EXPECT_GT(compared, 10);
}

TEST_P(sparse_ldpc, erased_bits_are_peeled) {
  const auto document = any_h_json("bec.json");
  ANY_H_SKIP_WITHOUT(document);
  int compared = 0;
  for (const auto& row : document["rows"]) {
    const parity_check_matrix h = any_h_matrix(row["matrix"]);
    const std::string received = row["received"], peeled = row["peeling"];
    std::vector<float> llr;
    for (const char c : received) llr.push_back(c == '?' ? 0.f : c == '1' ? -20.f : 20.f);
    const auto known = std::count_if(received.begin(), received.end(), [](char c) { return c != '?'; });
    for (const auto algorithm : {min_sum, sum_product}) {
      const sparse_ldpc_decoder d(h, {.algorithm = algorithm, .iterations = 100, .schedule = flooding});
      const sparse_decoded got = decode_sparse(exec(), d, llr);
      if (known < h.k()) {
        EXPECT_EQ(got.status[0], status_erased | status_insufficient);
        continue;
      }
      compared++;
      bool open = false;
      for (std::size_t v = 0; v < peeled.size(); v++) {
        // Sum-product's messages of erased bits are 0 exactly, and known ones shrink by weights only.
        EXPECT_EQ(got.soft[v] == 0, peeled[v] == '?') << row["matrix"] << " bit " << v;
        if (peeled[v] != '?') {
          EXPECT_EQ(got.bits[v], peeled[v] == '1') << row["matrix"] << " bit " << v;
        }
        open |= peeled[v] == '?' && std::any_of(h.rows().begin(), h.rows().end(), [&](const auto& r) {
                  return std::binary_search(r.begin(), r.end(), static_cast<int>(v));
                });
      }
      EXPECT_EQ(got.status[0], open ? 0 : status_stopped) << row["matrix"];
    }
  }
  EXPECT_GT(compared, 20);
}

TEST_P(sparse_ldpc, no_codeword_is_likelier_than_that_of_maximum_likelihood) {
  const auto document = any_h_json("ml.json");
  ANY_H_SKIP_WITHOUT(document);
  int stopped = 0, equal = 0;
  for (const auto& row : document["rows"]) {
    const parity_check_matrix h = any_h_matrix(row["matrix"]);
    const std::vector<float> llr = row["llr"];
    const bytes best = bits_of_text(row["ml"]);
    for (const auto algorithm : {min_sum, sum_product, normalised_min_sum})
      for (const auto schedule : {layered, flooding}) {
        const sparse_decoded got = decode_sparse(
            exec(), sparse_ldpc_decoder(h, {.algorithm = algorithm, .iterations = 50, .schedule = schedule}),
            llr);
        if ((got.status[0] & status_stopped) == 0) continue;
        stopped++;
        EXPECT_EQ(oracle::syndrome(as_oracle(h), got.bits), bytes(size(h.checks())));
        double correlation = 0;
        for (std::size_t v = 0; v < llr.size(); v++) correlation += got.bits[v] ? -llr[v] : llr[v];
        EXPECT_LE(correlation, row["correlation"][0].get<double>() + 1e-6);
        equal += got.bits == best;
      }
  }
  EXPECT_GT(stopped, 100);
  EXPECT_GT(equal, stopped * 3 / 4);
}

TEST_P(sparse_ldpc, llrs_of_any_size_give_finite_outputs) {
  const parity_check_matrix h = random_matrix(70, 40, 7, 9);
  std::mt19937_64 random(2);
  std::vector<float> llr;
  for (const float scale : {1e-38f, 1e-20f, 1e-3f, 1.f, 30.f, 1e3f, 1e10f, 1e30f, 3e38f}) {
    for (float x : random_llrs(size(h.n()), 0.3f, random)) llr.push_back(std::clamp(x, -1.f, 1.f) * scale);
  }
  for (const auto algorithm : {sum_product, min_sum, offset_min_sum})
    for (const auto schedule : {layered, flooding}) {
      const sparse_ldpc_decoder d(
          h, {.algorithm = algorithm, .iterations = 40, .schedule = schedule, .early_stop = false});
      const sparse_decoded got = decode_sparse(exec(), d, llr);
      for (const float x : got.soft) EXPECT_TRUE(std::isfinite(x));
      for (const float x : got.extrinsic) EXPECT_TRUE(std::isfinite(x));
    }
}

TEST_P(sparse_ldpc, empty_columns_and_rows) {
  // Bit 3 is in no check, check 1 has no bit, check 2 has bit 0 alone.
  const parity_check_matrix h(4, {{0, 1, 2}, {}, {0}});
  const std::vector<float> llr{-1, 2, 3, -4};
  for (const auto algorithm : {sum_product, min_sum})
    for (const auto schedule : {layered, flooding}) {
      const sparse_ldpc_decoder d(h, {.algorithm = algorithm, .iterations = 5, .schedule = schedule});
      const sparse_decoded word = decode_sparse(exec(), d, llr);
      EXPECT_EQ(word.bits, (bytes{0, 0, 0, 1}));
      EXPECT_GT(word.soft[0], 1e20f);
      EXPECT_EQ(word.soft[3], -4);
      EXPECT_EQ(word.status[0], status_stopped);
      EXPECT_EQ(decode_sparse(exec(), d, llr, {0, 1, 0}).status[0], 0)
          << "a row without ones never sums to 1";
      const sparse_decoded odd = decode_sparse(exec(), d, llr, {1, 0, 1});
      EXPECT_EQ(odd.bits, (bytes{1, 0, 0, 1}));
      EXPECT_EQ(odd.status[0], status_stopped);
    }
}

TEST_P(sparse_ldpc, a_bit_of_llr_0_is_not_decided) {
  // The zero word, of which bits 0 and 1 are erased: they could be both 1.
  const parity_check_matrix h(4, {{0, 1, 2, 3}});
  const sparse_decoded got = decode_sparse(exec(), sparse_ldpc_decoder(h, {.iterations = 3}),
                                           {0, 0, 5, 5, /* and one more */ 0, 5, 5, 5});
  EXPECT_EQ(got.status, (bytes{status_erased | status_insufficient, status_stopped}));
  const parity_check_matrix two(4, {{0, 1, 2, 3}, {0, 1, 2}});
  const sparse_decoded open =
      decode_sparse(exec(), sparse_ldpc_decoder(two, {.iterations = 3}), {0, 0, 5, 5});
  EXPECT_EQ(open.bits, (bytes{0, 0, 0, 0}));
  EXPECT_EQ(open.status[0], 0);
  EXPECT_EQ(open.iterations[0], 3);
}

TEST_P(sparse_ldpc, ties_decide_0_everywhere) {
  // Unscaled min-sum on a binary symmetric channel: all LLRs are equal in size.
  const parity_check_matrix h = random_matrix(60, 40, 4, 12);
  std::mt19937_64 random(4);
  std::vector<float> llr;
  for (std::size_t i = 0; i < 40 * size(h.n()); i++) llr.push_back(random() % 10 == 0 ? -2.f : 2.f);
  const auto reference = open_reference();
  int ties = 0;
  for (const auto schedule : {layered, flooding}) {
    const sparse_ldpc_decoder d(h, {.algorithm = min_sum, .iterations = 9, .schedule = schedule});
    const sparse_decoded got = decode_sparse(exec(), d, llr);
    EXPECT_EQ(got, decode_sparse(*reference, d, llr));
    for (std::size_t i = 0; i < got.soft.size(); i++) {
      EXPECT_EQ(got.bits[i], got.soft[i] < 0);
      ties += got.soft[i] == 0;
    }
  }
  EXPECT_GT(ties, 0);
}

TEST_P(sparse_ldpc, every_backend_gives_the_same_bits) {
  const auto reference = open_reference();
  std::mt19937_64 random(5);
  const parity_check_matrix matrices[] = {random_matrix(150, 75, 6, 21), random_matrix(400, 20, 90, 22),
                                          random_matrix(61, 50, 5, 23, {.punctured = {4}, .shortened = {9}})};
  for (const parity_check_matrix& h : matrices)
    for (const auto algorithm : {sum_product, normalised_min_sum, offset_min_sum})
      for (const auto schedule : {layered, flooding}) {
        const sparse_ldpc_decoder d(h, {.algorithm = algorithm, .iterations = 12, .schedule = schedule});
        auto llr = random_llrs(37 * size(h.sent()), 1.5f, random);
        llr[5 * size(h.sent()) + 3] = std::numeric_limits<float>::infinity();
        llr[6 * size(h.sent())] = 1e35f;
        bytes syndrome;
        for (std::size_t i = 0; i < 37 * size(h.checks()); i++) syndrome.push_back(random() % 9 == 0);
        const sparse_decoded want = decode_sparse(*reference, d, llr, syndrome);
        EXPECT_EQ(decode_sparse(exec(), d, llr, syndrome), want);
        EXPECT_EQ(want.status[5], status_erased);
        // Codewords leave at different iterations, and each alone gives what it gives among others.
        for (const std::size_t i : {std::size_t{0}, std::size_t{6}, std::size_t{36}}) {
          const sparse_decoded one =
              decode_sparse(exec(), d, row_of(llr, i, size(h.sent())), row_of(syndrome, i, size(h.checks())));
          EXPECT_EQ(one.soft, row_of(want.soft, i, size(h.n())));
          EXPECT_EQ(one.iterations[0], want.iterations[i]);
        }
      }
}

TEST_P(sparse_ldpc, information_bits_are_those_of_their_columns) {
  const parity_check_matrix h = random_matrix(90, 45, 5, 31, {.punctured = {8}, .shortened = {1, 50}});
  const sparse_ldpc_decoder d(h, {.iterations = 3});
  std::mt19937_64 random(6);
  const std::size_t items = 17, k = size(h.k()), n = size(h.n());
  const auto llr = random_llrs(items * size(h.sent()), 2, random);
  const sparse_decoded whole = decode_sparse(exec(), d, llr);
  const auto in = on_device(exec(), llr, items, size(h.sent()));
  auto bits = exec().make<std::uint8_t>(items, k);
  auto soft = exec().make<float>(items, k);
  d.run(exec(), in, {.bits = bits, .soft = soft});
  const auto got = exec().to_host(bits);
  const auto values = exec().to_host(soft);
  for (std::size_t i = 0; i < items; i++)
    for (std::size_t j = 0; j < k; j++) {
      const std::size_t from = i * n + size(h.information_columns()[j]);
      EXPECT_EQ(got[i * k + j], whole.bits[from]);
      EXPECT_EQ(values[i * k + j], whole.soft[from]);
    }
  for (std::size_t i = 0; i < items; i++)
    for (std::size_t j = 0; j < size(h.sent()); j++) {
      const float channel = llr[i * size(h.sent()) + j];
      EXPECT_EQ(whole.extrinsic[i * size(h.sent()) + j],
                whole.soft[i * n + size(h.sent_columns()[j])] - channel);
    }
}

TEST_P(sparse_ldpc, one_row_of_priors_serves_all_syndromes) {
  const parity_check_matrix h = random_matrix(50, 30, 5, 41);
  const sparse_ldpc_decoder d(h, {.algorithm = sum_product, .iterations = 10});
  std::mt19937_64 random(7);
  const std::size_t items = 20;
  const std::vector<float> priors(size(h.n()), 2.9f);
  std::vector<float> repeated;
  for (std::size_t i = 0; i < items; i++) repeated.insert(repeated.end(), priors.begin(), priors.end());
  bytes syndrome;
  for (std::size_t i = 0; i < items * size(h.checks()); i++) syndrome.push_back(random() % 5 == 0);
  const auto one = on_device(exec(), priors, 1, size(h.n()));
  const auto s = on_device(exec(), syndrome, items, size(h.checks()));
  auto bits = exec().make<std::uint8_t>(items, size(h.n()));
  view<const float> same(one);
  same.items = items;
  same.item_stride = 0;
  d.run(exec(), same, {.bits = bits}, s);
  EXPECT_EQ(exec().to_host(bits), decode_sparse(exec(), d, repeated, syndrome).bits);
}

TEST(sparse_ldpc_decoder, wrong_settings_and_shapes_are_named) {
  const parity_check_matrix h(4, {{0, 1, 2, 3}});
  EXPECT_EQ(blamed([&] { sparse_ldpc_decoder(h, {.scale = 0}); }), "scale");
  EXPECT_EQ(blamed([&] { sparse_ldpc_decoder(h, {.algorithm = offset_min_sum, .offset = 9}); }), "offset");
  EXPECT_EQ(blamed([&] { sparse_ldpc_decoder(h, {.iterations = 0}); }), "iterations");
  const sparse_ldpc_decoder d(h);
  cpu exec({.threads = 1});
  std::vector<float> llr(8), soft(8);
  bytes syndrome(4);
  const auto in = make_view<const float>(llr.data(), 2, 4);
  EXPECT_EQ(blamed([&] { d.run(exec, make_view<const float>(llr.data(), 2, 3), {}); }), "llr");
  EXPECT_EQ(blamed([&] { d.run(exec, in, {.soft = make_view(soft.data(), 2, 2)}); }), "soft");
  EXPECT_EQ(blamed([&] { d.run(exec, in, {}, make_view<const std::uint8_t>(syndrome.data(), 2, 2)); }),
            "syndrome");
}

}  // namespace sparse_ldpc_test
}  // namespace wb
