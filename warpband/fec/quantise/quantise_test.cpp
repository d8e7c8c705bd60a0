// The automatic scale, and what decoders on integers make of LLRs of any scale and spread.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include <tests/conv.hpp>
#include <tests/ldpc.hpp>
#include <tests/turbo.hpp>
#include <warpband/core/known_llr.hpp>
#include <warpband/fec/bcjr/bcjr.hpp>
#include <warpband/fec/lte/transport.hpp>
#include <warpband/fec/nr/transport.hpp>
#include <warpband/fec/polar/polar.hpp>
#include <warpband/fec/quantise/quantise.hpp>
#include <warpband/fec/viterbi/viterbi.hpp>

namespace wb {
namespace quantise_test {

using testing::bit_vector;
using testing::on_device;
using testing::scaled;
using llrs_t = std::vector<float>;

class quantise : public testing::on_backend {};
WB_ON_ALL_BACKENDS(quantise);

llrs_t quanta_of(executor& exec, const llrs_t& llr, std::size_t n, float fineness,
                 layout order = layout::row_major, float information = 0) {
  const std::size_t items = llr.size() / n;
  auto on = exec.make<float>(items, n, order);
  llrs_t placed(llr.size());
  for (std::size_t i = 0; i < items; i++)
    for (std::size_t e = 0; e < n; e++)
      placed[order == layout::row_major ? i * n + e : e * items + i] = llr[i * n + e];
  exec.upload(on.data(), placed.data(), on.bytes());
  const llr_scale scale({}, fineness, information);
  const llr_quanta q = scale.of(exec, on);
  llrs_t got(items);
  exec.download(got.data(), q.per_item, sizeof(float) * items);
  exec.sync();
  return got;
}

/// Of a code of rate 0: the target over the upper quartile of the usable magnitudes.
float expected_quanta(llrs_t llr, float target) {
  for (float& x : llr) x = std::abs(x);
  std::erase_if(llr, [](float x) { return !(x > 0 && x < known_llr); });
  if (llr.empty()) return 1;
  std::sort(llr.begin(), llr.end());
  return target / llr[(llr.size() - 1) * 3 / 4];
}

TEST_P(quantise, upper_quartile_becomes_the_target) {
  std::mt19937_64 random(1);
  std::normal_distribution<float> normal(0.f, 3.f);
  for (const std::size_t n : {1u, 2u, 7u, 20u, 31u, 32u}) {
    llrs_t llr(5 * n), expected;
    for (float& x : llr) x = normal(random);
    for (std::size_t e = 0; e < n; e++) llr[e] = 0;         // word 0: nothing received
    for (std::size_t e = 0; e < n; e += 3) llr[n + e] = 0;  // word 1: punctured
    for (std::size_t e = 0; e < n; e += 4) llr[2 * n + e] = known_llr;
    llr[3 * n] = std::numeric_limits<float>::quiet_NaN();
    for (std::size_t i = 0; i < 5; i++)
      expected.push_back(expected_quanta({llr.begin() + static_cast<std::ptrdiff_t>(i * n),
                                          llr.begin() + static_cast<std::ptrdiff_t>(i * n + n)},
                                         12));
    EXPECT_EQ(quanta_of(exec(), llr, n, 12), expected) << n;
    EXPECT_EQ(quanta_of(exec(), llr, n, 12, layout::batch_fastest), expected) << n;
  }
}

TEST_P(quantise, upper_quartile_of_long_words_is_that_of_a_fair_share) {
  // Bits of a symbol, streams of a turbo code: the first of `period` LLRs are a hundred times as large.
  const auto reference = testing::open_reference();
  std::mt19937_64 random(2);
  for (const std::size_t period : {2u, 3u, 6u, 8u})
    for (const std::size_t n : {257u, 1536u, 3072u, 26112u, 98316u}) {
      llrs_t llr(n);
      std::uniform_real_distribution<float> uniform(1.f, 2.f);
      for (std::size_t e = 0; e < n; e++) llr[e] = uniform(random) * (e % period == 0 ? 100.f : 1.f);
      const float got = quanta_of(exec(), llr, n, 12)[0];
      if (period != 3) {  // a third is too near to a fourth for 32 samples
        EXPECT_NEAR(got, expected_quanta(llr, 12), 0.3 * got) << period << ", " << n;
      }
      EXPECT_EQ(got, quanta_of(*reference, llr, n, 12)[0]);
    }
}

TEST_P(quantise, steps_are_finer_the_higher_the_rate) {
  const auto steps_at = [&](llrs_t llr, float information) {
    return quanta_of(exec(), llr, llr.size(), 6, layout::row_major, information)[0];
  };
  llrs_t llr(200, -2.f);
  EXPECT_EQ(steps_at(llr, 0), 3);    // 6 / 2
  EXPECT_EQ(steps_at(llr, 100), 6);  // R = 1/2
  EXPECT_EQ(steps_at(llr, 150), 12);
  EXPECT_EQ(steps_at(llr, 190), 48);  // 96 / 2 at most
  EXPECT_EQ(steps_at(llr, 300), 48);
  std::fill(llr.begin(), llr.begin() + 50, 0.f);  // 100 bits in 150 LLRs
  EXPECT_NEAR(steps_at(llr, 100), 9, 1e-5);
  std::fill(llr.begin(), llr.begin() + 25, known_llr);  // 75 bits
  EXPECT_EQ(steps_at(llr, 100), 6);
}

TEST_P(quantise, few_llrs_of_many_are_enough) {
  llrs_t llr(20000, 0.f);
  llr[17777] = -4;
  EXPECT_EQ(quanta_of(exec(), llr, llr.size(), 8)[0], 24.f);  // 96 / 4
}

// ---------------------------------------------------------------- decoders

/// Neither is a power of two.
constexpr float factors[] = {1e-6f, 1e-3f, 3.f, 1e3f, 1e6f};

struct results {
  bit_vector bits;
  llrs_t soft;
};
/// Decisions do not depend on a factor of all LLRs, and soft outputs grow with it.
void expect_alike(const llrs_t& llr, const std::function<results(const llrs_t&)>& decode,
                  const std::string& label) {
  const results usual = decode(llr);
  for (const float f : factors) {
    const results got = decode(scaled(llr, f));
    ASSERT_EQ(got.bits, usual.bits) << label << ", factor " << f;
    ASSERT_EQ(got.soft.size(), usual.soft.size());
    for (std::size_t i = 0; i < got.soft.size(); i++)
      ASSERT_NEAR(got.soft[i] / f, usual.soft[i], 1e-5 * std::abs(usual.soft[i]))
          << label << ", factor " << f;
  }
}

TEST_P(quantise, ldpc_decides_alike_for_all_factors) {
  std::mt19937_64 random(3);
  for (const ldpc_code& code : {wifi_ldpc(648, wifi_rate::r1_2), nr_ldpc(2, 16), nr_ldpc(1, 8, 10)}) {
    llrs_t llr;
    const auto encoder = testing::dense_encoder_of(code);
    for (int i = 0; i < 6; i++) {
      const auto row =
          testing::noisy(encoder.encode(testing::random_bytes_of_bits(code.k(), random)), -2, random);
      llr.insert(llr.end(), row.begin(), row.end());
    }
    for (const auto algorithm :
         {ldpc_algorithm::min_sum, ldpc_algorithm::normalised_min_sum, ldpc_algorithm::offset_min_sum})
      for (const auto schedule : {ldpc_schedule::layered, ldpc_schedule::flooding}) {
        const ldpc_decoder decoder(
            code, {.algorithm = algorithm, .schedule = schedule, .precision = ldpc_precision::int8});
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

TEST_P(quantise, convolutional_codes_are_decided_alike_for_all_factors) {
  auto codes = testing::many_codes();
  if (testing::small_scale()) codes.resize(6);
  for (const conv_code& code : codes) {
    if (code.feedback) continue;
    const std::size_t k = 70, count = 5;
    const auto w = testing::make_conv_codewords(code, k, count, -2, 4);
    const std::size_t n = w.llr.size() / count;
    const viterbi_decoder viterbi({.code = code, .k = 70, .precision = conv_precision::int16});
    const bcjr_decoder bcjr(
        {.code = code, .k = 70, .algorithm = map_algorithm::max_log_map, .precision = conv_precision::int16});
    auto bits = exec().make<std::uint8_t>(count, k);
    auto soft = exec().make<float>(count, k);
    expect_alike(
        w.llr,
        [&](const llrs_t& llr) -> results {
          viterbi.run(exec(), on_device(exec(), llr, count, n), {.bits = bits});
          return {exec().to_host(bits), {}};
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

TEST_P(quantise, turbo_codes_are_decided_alike_for_all_factors) {
  const auto w = testing::make_codewords(256, 12, 0.3, 5);
  for (const int windows : {1, 4}) {
    const turbo_decoder decoder(testing::setting(testing::int16_kind, 256, windows));
    expect_alike(
        w.llr, [&](const llrs_t& llr) -> results { return {testing::decide(exec(), decoder, llr).bits, {}}; },
        "turbo");
  }
}

TEST_P(quantise, polar_codes_are_decided_alike_for_all_factors) {
  std::mt19937_64 random(6);
  std::normal_distribution<float> normal(1.f, 1.f);
  for (const int coded_bits : {120, 300}) {  // punctured, repeated
    const polar_config code{.k = 40, .coded_bits = coded_bits};
    const auto n = static_cast<std::size_t>(coded_bits);
    llrs_t llr(n * 12);
    for (float& x : llr) x = 2 * normal(random);
    for (const auto precision : {polar_precision::int16, polar_precision::int8})
      for (const int list : {1, 8}) {
        const polar_decoder decoder(code, {.list_size = list, .precision = precision});
        auto bits = exec().make<std::uint8_t>(12, 40);
        expect_alike(
            llr,
            [&](const llrs_t& l) -> results {
              decoder.run(exec(), on_device(exec(), l, 12, n), {.bits = bits});
              return {exec().to_host(bits), {}};
            },
            "polar, " + std::to_string(coded_bits));
      }
  }
}

/// Two transmissions of a transport block add up before they become integers: one scale serves both.
template <class Encoder, class Decoder>
void expect_alike(executor& exec, Encoder encoder, Decoder decoder, const std::string& label) {
  std::mt19937_64 random(7);
  std::normal_distribution<float> normal(0.f, 1.f);
  const std::size_t count = 10, a = static_cast<std::size_t>(decoder.config().transport_bits),
                    g = static_cast<std::size_t>(decoder.config().coded_bits);
  const auto sent = on_device(exec, testing::random_bit_vector(a * count, random), count, a);
  auto coded = exec.make<std::uint8_t>(count, g), bits = exec.make<std::uint8_t>(count, a),
       ok = exec.make<std::uint8_t>(count, 1);
  llrs_t llrs;
  for (const int rv : {0, 2}) {
    encoder.run(exec, sent, rv, coded);
    // The second transmission fades.
    for (const auto b : exec.to_host(coded))
      llrs.push_back((rv == 0 ? 2.f : 0.2f) * (b ? -1.f : 1.f) + 2.2f * normal(random));
  }
  const auto half = static_cast<std::ptrdiff_t>(g * count);
  expect_alike(
      llrs,
      [&](const llrs_t& llr) -> results {
        decoder.reset();
        decoder.combine(exec, on_device(exec, llrs_t(llr.begin(), llr.begin() + half), count, g), 0);
        decoder.combine(exec, on_device(exec, llrs_t(llr.begin() + half, llr.end()), count, g), 2);
        decoder.decode(exec, {.bits = bits, .ok = ok});
        results r{exec.to_host(bits), {}};
        const auto held = exec.to_host(ok);
        r.bits.insert(r.bits.end(), held.begin(), held.end());
        return r;
      },
      label);
}
TEST_P(quantise, transport_blocks_are_decided_alike_for_all_factors) {
  lte_transport_config lte{.transport_bits = 320, .coded_bits = 480};
  lte.turbo =
      with_usual_scale({.algorithm = map_algorithm::max_log_map, .precision = turbo_precision::int16});
  expect_alike(exec(), lte_transport_encoder(lte), lte_transport_decoder(lte), "LTE");
  const nr_transport_config nr{
      .transport_bits = 704, .coded_bits = 1056, .ldpc = {.precision = ldpc_precision::int8}};
  expect_alike(exec(), nr_transport_encoder(nr), nr_transport_decoder(nr), "5G NR");
}

/// Without noise every sign is right, also where LLRs are a million times apart: so is every decision.
TEST_P(quantise, signs_stay) {
  std::mt19937_64 random(8);
  std::uniform_real_distribution<float> exponent(-3.f, 3.f);
  const auto spread = [&](const auto& coded) {
    llrs_t llr;
    for (const auto b : coded) llr.push_back((b ? -1.f : 1.f) * std::pow(10.f, exponent(random)));
    return llr;
  };
  const ldpc_code code = wifi_ldpc(1944, wifi_rate::r5_6);
  const auto message = testing::random_bytes_of_bits(code.k(), random);
  const auto word = testing::dense_encoder_of(code).encode(message);
  const auto of_ldpc =
      testing::decode_words(exec(), ldpc_decoder(code, {.precision = ldpc_precision::int8}), spread(word));
  EXPECT_TRUE(std::equal(message.begin(), message.end(), of_ldpc.bits.begin()));
  EXPECT_EQ(of_ldpc.iterations[0], 1);

  const auto sent = testing::random_bits_of(512, random);
  const auto of_turbo = testing::decide(exec(), turbo_decoder(testing::setting(testing::int16_kind, 512)),
                                        spread(testing::encoded(sent, testing::interleaver(512))));
  EXPECT_EQ(testing::frame_errors(of_turbo.bits, {sent}), 0);
}

}  // namespace quantise_test
}  // namespace wb
