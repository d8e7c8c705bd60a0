// Single code blocks of 5G NR through encoder, rate matching and decoder.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <tests/nr.hpp>
#include <warpband/fec/nr/block.hpp>

namespace wb {
namespace block_test {

using namespace testing;

class nr_blocks_on : public on_backend {};
WB_ON_ALL_BACKENDS(nr_blocks_on);

TEST_P(nr_blocks_on, send_what_the_rate_matcher_sends_and_come_back) {
  std::mt19937_64 random(1);
  for (const auto& [graph, k, e] : {std::tuple{2, 24, 60}, {2, 500, 900}, {1, 330, 360}, {1, 1000, 3600}}) {
    const nr_rate_matching_config config{.base_graph = graph, .k = k, .sent_bits = e};
    const nr_block_codec code(config);
    const nr_code_block& block = code.matcher().block();
    EXPECT_EQ(code.code().rows(), code.matcher().rows(0));
    const std::size_t uk = static_cast<std::size_t>(k), ue = static_cast<std::size_t>(e),
                      padded = static_cast<std::size_t>(block.padded());
    for (const std::size_t batch : {1, 17})
      for (const layout order : layouts) {
        const bits_t sent = random_bits_of(uk * batch, random);
        auto coded = given(exec(), bits_t((ue + 3) * batch, 9), batch, order);
        code.encode(exec(), given(exec(), sent, batch, order), coded);
        const bits_t got = rows_of(exec(), coded, order);
        bits_t blocks;
        for (std::size_t b = 0; b < batch; b++) {
          blocks.insert(blocks.end(), sent.begin() + static_cast<std::ptrdiff_t>(b * uk),
                        sent.begin() + static_cast<std::ptrdiff_t>((b + 1) * uk));
          blocks.resize((b + 1) * padded, 0);
        }
        auto words = exec().make<std::uint8_t>(batch, static_cast<std::size_t>(block.codeword())),
             expected = exec().make<std::uint8_t>(batch, ue);
        ldpc_encoder(block.code()).run(exec(), given(exec(), blocks, batch), words);
        code.matcher().match(exec(), words, 0, expected);
        const bits_t right = exec().to_host(expected);
        llrs_t llr;
        for (std::size_t b = 0; b < batch; b++)
          for (std::size_t i = 0; i < ue + 3; i++) {
            ASSERT_EQ(got[b * (ue + 3) + i], i < ue ? right[b * ue + i] : 0) << k << ", " << i;
            if (i < ue) llr.push_back(right[b * ue + i] == 0 ? 4.f : -4.f);
          }
        auto bits = exec().make<std::uint8_t>(batch, uk, order), status = exec().make<std::uint8_t>(batch, 1);
        auto soft = exec().make<float>(batch, uk, order);
        code.decode(exec(), given(exec(), llr, batch, order), {bits, soft, {}, status});
        EXPECT_EQ(rows_of(exec(), bits, order), sent) << k << ", " << e;
        const llrs_t values = rows_of(exec(), soft, order);
        for (std::size_t i = 0; i < sent.size(); i++) ASSERT_EQ(values[i] < 0, sent[i] != 0);
        EXPECT_EQ(exec().to_host(status), bits_t(batch, status_stopped));
      }
  }
}

TEST_P(nr_blocks_on, an_erasure_leaves_its_neighbours) {
  const nr_block_codec code({.base_graph = 2, .k = 120, .sent_bits = 240});
  llrs_t llr(3 * 240, 3.f);
  llr[240 + 7] = std::nanf("");
  auto bits = exec().make<std::uint8_t>(3, 120), status = exec().make<std::uint8_t>(3, 1);
  code.decode(exec(), given(exec(), llr, 3), {.bits = bits, .status = status});
  EXPECT_EQ(exec().to_host(bits), bits_t(360, 0));
  EXPECT_EQ(exec().to_host(status),
            (bits_t{status_stopped, status_erased | status_insufficient, status_stopped}));
}

TEST_P(nr_blocks_on, extrinsic_llrs_leave_out_the_bits_own) {
  std::mt19937_64 random(2);
  std::normal_distribution<float> normal(1.f, 1.5f);
  for (const auto algorithm : {ldpc_algorithm::normalised_min_sum, ldpc_algorithm::sum_product}) {
    const nr_block_codec code({.base_graph = 2, .k = 100, .sent_bits = 900, .modulation_order = 1},
                              {.algorithm = algorithm, .iterations = 2, .early_stop = ldpc_early_stop::none});
    const auto first = static_cast<std::size_t>(2 * code.matcher().block().z),
               buffer = static_cast<std::size_t>(code.matcher().buffer().length), e = std::size_t{900};
    ASSERT_LT(buffer, e);  // the first bits are sent twice
    llrs_t llr(3 * e);
    for (float& x : llr) x = 2 * normal(random);
    for (std::size_t i = e; i < 2 * e; i++) llr[i] = i < e + 90 ? llr[i] : 0.f;  // too little
    auto extrinsic = exec().make<float>(3, e), soft = exec().make<float>(3, 100);
    code.decode(exec(), given(exec(), llr, 3), {.soft = soft, .extrinsic = extrinsic});
    const llrs_t got = exec().to_host(extrinsic), values = exec().to_host(soft);
    for (const std::size_t b : {0, 2}) {
      for (std::size_t i = 0; i + first < 100; i++)
        EXPECT_NEAR(got[b * e + i] + llr[b * e + i], values[b * 100 + first + i], 1e-3);
      for (std::size_t i = 0; i + buffer < e; i++)
        EXPECT_NEAR(got[b * e + i] + llr[b * e + i], got[b * e + buffer + i] + llr[b * e + buffer + i], 1e-3);
    }
    for (std::size_t i = e; i < 2 * e; i++) EXPECT_EQ(got[i], 0.f);
  }
}

TEST_P(nr_blocks_on, several_transmissions_are_sent_one_behind_the_other_and_added) {
  std::mt19937_64 random(3);
  std::normal_distribution<float> normal;
  constexpr std::size_t k = 200, e = 360, batch = 5;
  const nr_rate_matching_config config{.base_graph = 2, .k = 200, .sent_bits = 360, .modulation_order = 4};
  const ldpc_decoder_config decoder{.iterations = 4, .early_stop = ldpc_early_stop::none};
  const std::vector<int> versions{0, 2, 3};
  const nr_block_codec code(config, decoder, {}, versions);
  ASSERT_EQ(code.sent_bits(), 3 * e);
  const bits_t bits = random_bits_of(k * batch, random);
  auto coded = exec().make<std::uint8_t>(batch, 3 * e + 2);
  code.encode(exec(), given(exec(), bits, batch), coded);
  const bits_t got = exec().to_host(coded);
  for (std::size_t i = 0; i < versions.size(); i++) {
    const nr_block_codec one(config, decoder, {}, {versions[i]});
    auto alone = exec().make<std::uint8_t>(batch, e);
    one.encode(exec(), given(exec(), bits, batch), alone);
    const bits_t right = exec().to_host(alone);
    for (std::size_t b = 0; b < batch; b++)
      for (std::size_t j = 0; j < e; j++)
        ASSERT_EQ(got[b * (3 * e + 2) + i * e + j], right[b * e + j]) << versions[i] << ", " << j;
  }
  // What is too weak in one transmission is enough in three.
  llrs_t llr(3 * e * batch), first(e * batch);
  for (std::size_t b = 0; b < batch; b++)
    for (std::size_t j = 0; j < 3 * e; j++) {
      const float x = (got[b * (3 * e + 2) + j] == 0 ? 1.2f : -1.2f) + 1.5f * normal(random);
      llr[b * 3 * e + j] = x;
      if (j < e) first[b * e + j] = x;
    }
  auto decided = exec().make<std::uint8_t>(batch, k);
  code.decode(exec(), given(exec(), llr, batch), {.bits = decided});
  EXPECT_EQ(exec().to_host(decided), bits);
  nr_block_codec(config, decoder).decode(exec(), given(exec(), first, batch), {.bits = decided});
  EXPECT_NE(exec().to_host(decided), bits);

  // The same bits twice are one transmission of the sums of their LLRs.
  llrs_t sums(e * batch), twice(2 * e * batch);
  for (std::size_t b = 0; b < batch; b++)
    for (std::size_t j = 0; j < e; j++) {
      twice[b * 2 * e + j] = first[b * e + j];
      twice[b * 2 * e + e + j] = llr[b * 3 * e + e + j];
      sums[b * e + j] = twice[b * 2 * e + j] + twice[b * 2 * e + e + j];
    }
  auto soft = exec().make<float>(batch, k), of_sums = exec().make<float>(batch, k);
  auto extrinsic = exec().make<float>(batch, 2 * e);
  nr_block_codec(config, decoder, {}, {0, 0})
      .decode(exec(), given(exec(), twice, batch), {.soft = soft, .extrinsic = extrinsic});
  nr_block_codec(config, decoder).decode(exec(), given(exec(), sums, batch), {.soft = of_sums});
  EXPECT_EQ(exec().to_host(soft), exec().to_host(of_sums));
  const llrs_t known = exec().to_host(extrinsic);
  for (std::size_t b = 0; b < batch; b++)  // each has what the other received
    for (std::size_t j = 0; j < e; j++)
      EXPECT_NEAR(known[b * 2 * e + j] + twice[b * 2 * e + j],
                  known[b * 2 * e + e + j] + twice[b * 2 * e + e + j], 1e-3);

  // A transmission with a NaN is as if it had not been received.
  twice[e + 3] = std::nanf("");
  for (std::size_t b = 1; b < batch; b++)
    std::fill_n(twice.begin() + static_cast<std::ptrdiff_t>(b * 2 * e + e), e, 0.f);
  auto of_one = exec().make<float>(batch, e);
  nr_block_codec(config, decoder, {}, {0, 0})
      .decode(exec(), given(exec(), twice, batch), {.soft = soft, .extrinsic = extrinsic});
  nr_block_codec(config, decoder)
      .decode(exec(), given(exec(), first, batch), {.soft = of_sums, .extrinsic = of_one});
  EXPECT_EQ(exec().to_host(soft), exec().to_host(of_sums));
  // What it tells of the lost bits is all that is known of them.
  const llrs_t of_lost = exec().to_host(extrinsic), alone = exec().to_host(of_one);
  for (std::size_t j = 0; j < e; j++) {
    EXPECT_EQ(of_lost[j], alone[j]);
    EXPECT_NEAR(of_lost[e + j], alone[j] + first[j], 1e-3);
  }
}

TEST(nr_blocks, base_graphs_follow_the_rule) {
  EXPECT_EQ(nr_base_graph_of_block(292, 300), 2);
  EXPECT_EQ(nr_base_graph_of_block(3824, 5708), 2);
  EXPECT_EQ(nr_base_graph_of_block(3824, 5600), 1);
  EXPECT_EQ(nr_base_graph_of_block(3840, 15360), 2);
  EXPECT_EQ(nr_base_graph_of_block(8448, 80000), 1);  // more than base graph 2 holds
  EXPECT_EQ(blamed([] { nr_base_graph_of_block(4, 100); }), "k");
  EXPECT_EQ(blamed([] { nr_base_graph_of_block(8449, 100); }), "k");
  EXPECT_EQ(blamed([] { nr_base_graph_of_block(100, 0); }), "sent_bits");
}

TEST(nr_blocks, bad_arguments_are_named) {
  const auto exec = open_scalar();
  EXPECT_EQ(
      blamed([] { nr_block_codec c({.base_graph = 2, .k = 100, .sent_bits = 200}, {.iterations = 0}); }),
      "iterations");
  EXPECT_EQ(blamed([] { nr_block_codec c({.base_graph = 2, .k = 100, .sent_bits = 0}); }), "sent_bits");
  for (const std::vector<int>& versions : {std::vector<int>{}, {4}, {0, -1}, std::vector<int>(9, 0)})
    EXPECT_EQ(
        blamed([&] { nr_block_codec c({.base_graph = 2, .k = 100, .sent_bits = 200}, {}, {}, versions); }),
        "redundancy_versions");
  const nr_block_codec code({.base_graph = 2, .k = 100, .sent_bits = 200});
  auto bits = exec->make<std::uint8_t>(2, 100), coded = exec->make<std::uint8_t>(2, 200),
       less = exec->make<std::uint8_t>(2, 199);
  auto llr = exec->make<float>(2, 200), soft = exec->make<float>(2, 100);
  EXPECT_EQ(blamed([&] { code.encode(*exec, coded, coded); }), "bits");
  EXPECT_EQ(blamed([&] { code.encode(*exec, bits, less); }), "coded");
  EXPECT_EQ(blamed([&] { code.decode(*exec, soft, {}); }), "llr");
  EXPECT_EQ(blamed([&] { code.decode(*exec, llr, {.bits = coded}); }), "bits");
  EXPECT_EQ(blamed([&] { code.decode(*exec, llr, {.soft = llr}); }), "soft");
  EXPECT_EQ(blamed([&] { code.decode(*exec, llr, {.status = bits}); }), "status");
}

}  // namespace block_test
}  // namespace wb
