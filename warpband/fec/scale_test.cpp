// What decoders make of LLRs of any scale. Max-log-MAP, Viterbi and min-sum in float32 decide alike for all:
// by a power of two their LLRs scale exactly. log-MAP and sum-product tell no wrong sign and no NaN.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include <tests/conv.hpp>
#include <tests/ldpc.hpp>
#include <tests/turbo.hpp>
#include <warpband/fec/bcjr/bcjr.hpp>
#include <warpband/fec/lte/transport.hpp>
#include <warpband/fec/nr/block.hpp>
#include <warpband/fec/nr/transport.hpp>
#include <warpband/fec/polar/polar.hpp>
#include <warpband/fec/viterbi/viterbi.hpp>

namespace wb {
namespace scale_test {

using testing::bit_vector;
using testing::on_device;
using testing::scaled;
using llrs_t = std::vector<float>;

class scale : public testing::on_backend {};
WB_ON_ALL_BACKENDS(scale);

/// 1e-6 to 1e6.
constexpr float scales[] = {0x1p-20f, 0x1p-7f, 0x1p7f, 0x1p14f, 0x1p20f};

struct results {
  bit_vector bits;
  llrs_t soft;
};
/// The same decisions at all scales, and soft outputs times the scale.
void expect_alike(const llrs_t& llr, const std::function<results(const llrs_t&)>& decode,
                  const std::string& label) {
  const results usual = decode(llr);
  for (const float s : scales) {
    const results got = decode(scaled(llr, s));
    ASSERT_EQ(got.bits, usual.bits) << label << ", scale " << s;
    ASSERT_EQ(got.soft, scaled(usual.soft, s)) << label << ", scale " << s;
  }
}

/// Many words that fail: their decisions are those of a code that is not yet decided.
TEST_P(scale, max_log_map_and_viterbi_decide_alike) {
  auto codes = testing::many_codes();
  if (testing::small_scale()) codes.resize(6);
  for (const conv_code& code : codes) {
    const std::size_t k = 70, count = 5;
    const auto w = testing::make_conv_codewords(code, k, count, -2, 1);
    const std::size_t n = w.llr.size() / count;
    const viterbi_decoder viterbi({.code = code, .k = 70});
    const bcjr_decoder bcjr({.code = code, .k = 70, .algorithm = map_algorithm::max_log_map});
    auto bits = exec().make<std::uint8_t>(count, k);
    auto soft = exec().make<float>(count, k), metric = exec().make<float>(count, 1);
    expect_alike(
        w.llr,
        [&](const llrs_t& llr) -> results {
          viterbi.run(exec(), on_device(exec(), llr, count, n), {.bits = bits, .metric = metric});
          return {exec().to_host(bits), exec().to_host(metric)};
        },
        "Viterbi, " + testing::name_of(code));
    expect_alike(
        w.llr,
        [&](const llrs_t& llr) -> results {
          bcjr.run(exec(), on_device(exec(), llr, count, n), {.bits = bits, .soft = soft});
          return {exec().to_host(bits), exec().to_host(soft)};
        },
        "BCJR, " + testing::name_of(code));
  }
}

TEST_P(scale, max_log_map_of_turbo_codes_decides_alike) {
  const std::size_t k = 256;
  const auto w = testing::make_codewords(256, 12, 0.3, 2);
  const std::size_t n = 3 * (k + 4), count = w.sent.size();
  for (const int windows : {1, 8}) {
    const turbo_decoder decoder(with_usual_scale(
        {.k = 256, .algorithm = map_algorithm::max_log_map, .iterations = 12, .windows = windows}));
    auto bits = exec().make<std::uint8_t>(count, k);
    auto soft = exec().make<float>(count, k);
    expect_alike(
        w.llr,
        [&](const llrs_t& llr) -> results {
          decoder.run(exec(), on_device(exec(), llr, count, n), {.bits = bits, .soft = soft});
          return {exec().to_host(bits), exec().to_host(soft)};
        },
        "turbo");
    const turbo_decoder short_numbers(testing::setting(testing::bfloat_max_log, 256, windows, {}, 12));
    expect_alike(
        w.llr,
        [&](const llrs_t& llr) -> results { return {testing::decide(exec(), short_numbers, llr).bits, {}}; },
        "turbo in bfloat16");
  }
}

TEST_P(scale, min_sum_decides_alike) {
  std::mt19937_64 random(3);
  for (const ldpc_code& code : {wifi_ldpc(648, wifi_rate::r1_2), nr_ldpc(2, 16), nr_ldpc(1, 8, 10)}) {
    llrs_t llr;
    const auto encoder = testing::dense_encoder_of(code);
    for (int i = 0; i < 6; i++) {
      const auto row =
          testing::noisy(encoder.encode(testing::random_bytes_of_bits(code.k(), random)), -2, random);
      llr.insert(llr.end(), row.begin(), row.end());
    }
    for (const auto algorithm : {ldpc_algorithm::min_sum, ldpc_algorithm::normalised_min_sum})
      for (const auto schedule : {ldpc_schedule::layered, ldpc_schedule::flooding})
        for (const auto stops : {ldpc_early_stop::syndrome, ldpc_early_stop::none}) {
          const ldpc_decoder decoder(
              code, {.algorithm = algorithm, .iterations = 25, .schedule = schedule, .early_stop = stops});
          expect_alike(
              llr,
              [&](const llrs_t& l) -> results {
                const auto got = testing::decode_words(exec(), decoder, l);
                return {got.bits, got.soft};
              },
              "LDPC, n = " + std::to_string(code.n()));
        }
  }
}

TEST_P(scale, min_sum_of_polar_codes_decides_alike) {
  const polar_config code{.k = 40, .coded_bits = 120};
  std::mt19937_64 random(4);
  std::normal_distribution<float> normal(1.f, 1.f);
  llrs_t llr(120 * 12);
  for (float& x : llr) x = 2 * normal(random);
  for (const int list : {1, 8}) {
    const polar_decoder decoder(code, {.list_size = list});
    auto bits = exec().make<std::uint8_t>(12, 40);
    expect_alike(
        llr,
        [&](const llrs_t& l) -> results {
          decoder.run(exec(), on_device(exec(), l, 12, 120), {.bits = bits});
          return {exec().to_host(bits), {}};
        },
        "polar");
  }
}

/// With fillers, which are known.
TEST_P(scale, transport_blocks_are_decided_alike) {
  std::mt19937_64 random(5);
  const std::size_t a = 47, g = 200, count = 12;
  const auto llrs_of = [&](const auto& coded) {
    std::normal_distribution<float> normal(0.f, 1.f);
    llrs_t llr;
    for (const auto b : exec().to_host(coded)) llr.push_back(2.f * (1.f - 2.f * b + 1.1f * normal(random)));
    return llr;
  };
  const auto sent = on_device(exec(), testing::random_bit_vector(a * count, random), count, a);
  auto coded = exec().make<std::uint8_t>(count, g), bits = exec().make<std::uint8_t>(count, a),
       ok = exec().make<std::uint8_t>(count, 1);
  const auto expect = [&](auto& decoder, const std::string& label) {
    expect_alike(
        llrs_of(coded),
        [&](const llrs_t& llr) -> results {
          decoder.reset();
          decoder.combine(exec(), on_device(exec(), llr, count, g), 0);
          decoder.decode(exec(), {.bits = bits, .ok = ok});
          results r{exec().to_host(bits), {}};
          const auto held = exec().to_host(ok);
          r.bits.insert(r.bits.end(), held.begin(), held.end());
          return r;
        },
        label);
  };
  const lte_transport_config lte{.transport_bits = 47,
                                 .coded_bits = 200,
                                 .turbo = with_usual_scale({.algorithm = map_algorithm::max_log_map,
                                                            .early_stop = turbo_early_stop::crc})};
  lte_transport_encoder(lte).run(exec(), sent, 0, coded);
  lte_transport_decoder of_lte(lte);
  expect(of_lte, "LTE");
  const nr_transport_config nr{.transport_bits = 47, .coded_bits = 200};
  nr_transport_encoder(nr).run(exec(), sent, 0, coded);
  nr_transport_decoder of_nr(nr);
  expect(of_nr, "5G NR");
}

// ---------------------------------------------------------------- a large LLR among usual ones

/// LLRs of a word with ones at steps 20 and 33, and a prior that says that the first is none.
TEST_P(scale, a_large_prior_outweighs_what_the_code_says) {
  for (const conv_code& code : {conv_80211(conv_rate::r1_2), conv_lte(), conv_recursive(4, 013, {015})}) {
    const int k = 60;
    bit_vector u(60, 0);
    u[20] = 1;
    u[33] = 1;
    llrs_t serial;
    for (const auto b : oracle::conv_encode(testing::oracle_of(code), u)) serial.push_back(b ? -6.f : 6.f);
    const llrs_t llr = testing::ordered(code, serial);
    for (const float known : {200.f, 3000.f, 6e7f}) {
      llrs_t prior(60, 0.f);
      prior[20] = known;
      prior[33] = -known;  // says what the code says, and costs its neighbours no digits
      const auto want = oracle::conv_bcjr(testing::oracle_of(code), {serial.begin(), serial.end()},
                                          {prior.begin(), prior.end()}, k, oracle::algorithm::log_map);
      const bcjr_decoder decoder({.code = code, .k = k});
      auto soft = exec().make<float>(1, 60);
      decoder.run(exec(), on_device(exec(), llr, 1, llr.size()), on_device(exec(), prior, 1, 60),
                  {.soft = soft});
      const llrs_t got = exec().to_host(soft);
      for (std::size_t t = 0; t < 60; t++)
        ASSERT_NEAR(got[t], want.a_posteriori[t], 0.5 + 1e-3 * std::abs(want.a_posteriori[t]))
            << testing::name_of(code) << ", step " << t << ", prior " << known;
      EXPECT_GT(got[20], 100.f);
    }
  }
}

TEST_P(scale, a_large_systematic_llr_outweighs_what_the_turbo_code_says) {
  const int k = 104;
  bit_vector u(104, 0);
  u[50] = 1;
  llrs_t llr;
  for (const auto b : testing::encoded(u, testing::interleaver(k))) llr.push_back(b ? -5.f : 5.f);
  llr[50] = 3000.f;
  for (const auto precision : {turbo_precision::float32, turbo_precision::bfloat16}) {
    const turbo_decoder decoder({.k = k, .precision = precision});
    EXPECT_EQ(testing::decide(exec(), decoder, llr).bits[50], 0) << static_cast<int>(precision);
  }
}

TEST_P(scale, a_large_llr_outweighs_a_smaller_one_in_a_check) {
  for (const float large : {1200.f, 1e6f}) {
    const ldpc_code equal_bits({1, 2, {0, 0}}, 1);
    const ldpc_decoder decoder(equal_bits, {.algorithm = ldpc_algorithm::sum_product, .iterations = 3});
    const auto got = testing::decode_words(exec(), decoder, {large, -50.f});
    for (const float x : got.soft) EXPECT_NEAR(x, large - 50.f, 0.5f + 1e-6f * large) << large;
  }
}

TEST_P(scale, a_status_tells_whether_checks_hold_without_a_stop_too) {
  const ldpc_code code = wifi_ldpc(648, wifi_rate::r1_2);
  llrs_t llr(3 * 648, 3.f);
  std::mt19937_64 random(6);
  for (std::size_t i = 648; i < 2 * 648; i++) llr[i] = (random() & 1) != 0 ? 3.f : -3.f;
  for (const auto algorithm : {ldpc_algorithm::normalised_min_sum, ldpc_algorithm::sum_product})
    for (const auto precision : {ldpc_precision::float32, ldpc_precision::float16, ldpc_precision::int8}) {
      if (algorithm == ldpc_algorithm::sum_product && precision != ldpc_precision::float32) continue;
      const ldpc_decoder decoder(code, {.algorithm = algorithm,
                                        .iterations = 4,
                                        .precision = precision,
                                        .early_stop = ldpc_early_stop::none});
      const auto got = testing::decode_words(exec(), decoder, llr);
      EXPECT_EQ(got.status, (bit_vector{status_stopped, 0, status_stopped}));
      EXPECT_EQ(got.iterations, (std::vector<std::int32_t>{4, 4, 4}));
    }
}

// ---------------------------------------------------------------- limits

/// LLRs beyond +-limit are taken as +-limit.
TEST_P(scale, precisions_with_limits_take_what_is_beyond_as_the_limit) {
  const auto expect_limited = [&](const llrs_t& llr, float limit,
                                  const std::function<results(const llrs_t&)>& decode,
                                  const std::string& label) {
    llrs_t within = llr;
    for (float& x : within) x = std::clamp(x, -limit, limit);
    ASSERT_NE(within, llr) << label;
    const results got = decode(llr), want = decode(within);
    EXPECT_EQ(got.bits, want.bits) << label;
    EXPECT_EQ(got.soft, want.soft) << label;
  };
  const std::size_t k = 104, count = 4;
  const auto turbo = testing::make_codewords(104, 4, 1., 7);
  turbo_decoder_config int16 = testing::setting(testing::int16_kind, 104);
  int16.llr_steps = 8;
  const turbo_decoder of_turbo(int16);
  expect_limited(
      scaled(turbo.llr, 5.f), 127.f / 8,
      [&](const llrs_t& llr) -> results { return {testing::decide(exec(), of_turbo, llr).bits, {}}; },
      "turbo, int16");
  const conv_code code = conv_80211(conv_rate::r1_2);
  const auto conv = testing::make_conv_codewords(code, k, count, 0, 8);
  const std::size_t n = conv.llr.size() / count;
  const viterbi_decoder viterbi({.code = code, .k = 104, .precision = conv_precision::int16, .llr_steps = 8});
  const bcjr_decoder bcjr({.code = code,
                           .k = 104,
                           .algorithm = map_algorithm::max_log_map,
                           .precision = conv_precision::int16,
                           .llr_steps = 8});
  auto bits = exec().make<std::uint8_t>(count, k);
  auto soft = exec().make<float>(count, k);
  expect_limited(
      scaled(conv.llr, 5.f), 127.f / 8,
      [&](const llrs_t& llr) -> results {
        viterbi.run(exec(), on_device(exec(), llr, count, n), {.bits = bits});
        return {exec().to_host(bits), {}};
      },
      "Viterbi, int16");
  expect_limited(
      scaled(conv.llr, 5.f), 127.f / 8,
      [&](const llrs_t& llr) -> results {
        bcjr.run(exec(), on_device(exec(), llr, count, n), {.bits = bits, .soft = soft});
        return {exec().to_host(bits), exec().to_host(soft)};
      },
      "BCJR, int16");
  const ldpc_code wifi = wifi_ldpc(648, wifi_rate::r1_2);
  std::mt19937_64 random(9);
  const llrs_t words = testing::noisy(
      testing::dense_encoder_of(wifi).encode(testing::random_bytes_of_bits(wifi.k(), random)), -1, random);
  for (const auto& [precision, limit] :
       {std::pair{ldpc_precision::float16, 1000.f}, std::pair{ldpc_precision::int8, 127.f / 3}}) {
    const ldpc_decoder decoder(wifi, {.precision = precision, .llr_steps = 3});
    expect_limited(
        scaled(words, 400.f), limit,
        [&](const llrs_t& llr) -> results {
          const auto got = testing::decode_words(exec(), decoder, llr);
          return {got.bits, got.soft};
        },
        "LDPC");
  }
  std::normal_distribution<float> normal(1.f, 1.f);
  llrs_t polar(120);
  for (float& x : polar) x = 200 * normal(random);
  for (const auto& [precision, limit] :
       {std::pair{polar_precision::int16, 1023.f / 4}, std::pair{polar_precision::int8, 127.f / 4}}) {
    const polar_decoder decoder({.k = 40, .coded_bits = 120},
                                {.list_size = 4, .precision = precision, .llr_steps = 4});
    auto message = exec().make<std::uint8_t>(1, 40);
    expect_limited(
        polar, limit,
        [&](const llrs_t& llr) -> results {
          decoder.run(exec(), on_device(exec(), llr, 1, 120), {.bits = message});
          return {exec().to_host(message), {}};
        },
        "polar");
  }
}

TEST_P(scale, log_map_outputs_of_usual_llrs_have_their_limits) {
  const auto largest = [](const llrs_t& x) {
    float magnitude = 0;
    for (const float v : x) magnitude = std::max(magnitude, std::abs(v));
    return magnitude;
  };
  const std::size_t k = 104, n = 3 * (k + 4);
  llrs_t llr(n, 10.5f);
  auto soft = exec().make<float>(1, k), extrinsic = exec().make<float>(1, k),
       coded = exec().make<float>(1, n);
  turbo_decoder({.k = 104})
      .run(exec(), on_device(exec(), llr, 1, n),
           {.soft = soft, .extrinsic = extrinsic, .coded_extrinsic = coded});
  EXPECT_NEAR(largest(exec().to_host(soft)), 60.f, 1e-3f);
  EXPECT_NEAR(largest(exec().to_host(extrinsic)), 60.f, 1e-3f);
  const llrs_t of_coded = exec().to_host(coded);
  EXPECT_LE(largest(llrs_t(of_coded.begin() + 108, of_coded.end())), 30.001f);  // of parity bits
  for (const auto& [value, limit] : {std::pair{14.f, 60.f}, std::pair{1.2f, 17.5f}}) {
    const bcjr_decoder decoder({.code = conv_lte(), .k = 104});  // rate 1/3
    llr.assign(decoder.frame().n(), value);
    auto outputs = exec().make<float>(1, k);
    decoder.run(exec(), on_device(exec(), llr, 1, llr.size()), {.soft = outputs});
    const float magnitude = largest(exec().to_host(outputs));
    EXPECT_LE(magnitude, limit * 1.0001f);
    EXPECT_GT(magnitude, 12.f);
  }
}

}  // namespace scale_test
}  // namespace wb
