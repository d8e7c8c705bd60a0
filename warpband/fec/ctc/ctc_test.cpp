// Convolutional turbo codes: sizes and interleavers of both standards, the encoder and decoders against the
// textbook in double precision, limits, and bad input.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <tuple>

#include <tests/ctc.hpp>
#include <tests/on_backends.hpp>

namespace wb {
namespace ctc_test {

using testing::bit_vector;
using testing::blamed;
using testing::make_ctc_words;
using testing::on_device;
using testing::oracle_of;
using testing::row_of;
using testing::sent_of;
using testing::small_scale;
using testing::some_ctcs;
using enum map_algorithm;

class ctc : public testing::on_backend {};
WB_ON_ALL_BACKENDS(ctc);

constexpr ctc_standard standards[] = {ctc_standard::wimax, ctc_standard::dvb_rcs};
constexpr map_algorithm algorithms[] = {log_map, max_log_map, log_map_table};

std::string name_of(const ctc_config& c) {
  return "standard " + std::to_string(static_cast<int>(c.standard)) + ", k = " + std::to_string(c.k) +
         ", rate " + std::to_string(static_cast<int>(c.rate));
}

struct decoded {
  bit_vector bits, status;
  std::vector<float> soft, coded;
  std::vector<std::int32_t> iterations;
};
decoded decode(executor& e, const ctc_config& code, const ctc_decoder_config& config,
               const std::vector<float>& llr) {
  const ctc_decoder d(code, config);
  const std::size_t items = llr.size() / d.n();
  auto bits = e.make<std::uint8_t>(items, d.k()), status = e.make<std::uint8_t>(items, 1);
  auto soft = e.make<float>(items, d.k()), coded = e.make<float>(items, d.n());
  auto iterations = e.make<std::int32_t>(items, 1);
  const auto in = on_device(e, llr, items, d.n());
  d.run(e, in,
        {.bits = bits, .soft = soft, .coded_extrinsic = coded, .iterations = iterations, .status = status});
  const auto coded_bits = e.to_host(bits);
  // Without extrinsics of the coded bits another kernel gives the same.
  d.run(e, in, {.bits = bits, .soft = soft, .iterations = iterations, .status = status});
  EXPECT_EQ(e.to_host(bits), coded_bits);
  return {e.to_host(bits), e.to_host(status), e.to_host(soft), e.to_host(coded), e.to_host(iterations)};
}
bit_vector encode(executor& e, const ctc_config& code, const bit_vector& bits, std::size_t width) {
  const ctc_encoder encoder(code);
  const std::size_t items = bits.size() / encoder.k();
  auto out = on_device(e, bit_vector(items * width, 0xee), items, width);
  encoder.run(e, on_device(e, bits, items, encoder.k()), out);
  return e.to_host(out);
}
int frame_errors(const bit_vector& bits, const std::vector<bit_vector>& sent) {
  int errors = 0;
  for (std::size_t i = 0; i < sent.size(); i++) errors += row_of(bits, i, sent[i].size()) != sent[i];
  return errors;
}

// ---- the codes

/// Every interleaver is a permutation, by the odd-even rule, and the oracle's.
TEST(ctc_code, interleavers_are_those_of_the_clauses) {
  for (const auto standard : standards)
    for (const int couples : ctc_couples(standard)) {
      const auto p = ctc_permutation(standard, 2 * couples);
      EXPECT_EQ(std::set(p.begin(), p.end()).size(), static_cast<std::size_t>(couples)) << couples;
      for (std::size_t j = 0; j < p.size(); j++)
        ASSERT_NE(p[j] % 2, static_cast<int>(j % 2)) << couples << ", " << j;
      EXPECT_EQ(std::vector<int>(p.begin(), p.end()),
                oracle::ctc_addresses(oracle::ctc_table(standard == ctc_standard::wimax, couples)));
      EXPECT_NE(couples % 7, 0);  // else there is no circulation state
    }
  EXPECT_EQ(ctc_couples(ctc_standard::wimax).size(), 17U);
  EXPECT_EQ(ctc_couples(ctc_standard::dvb_rcs).size(), 12U);
}

/// What is sent of a codeword: nothing twice, as many bits as the rate says, all information bits. Parities
/// of both encoders alike.
TEST(ctc_code, punctured_codewords) {
  using enum ctc_rate;
  int checked = 0;
  for (const auto standard : standards)
    for (const int couples : ctc_couples(standard))
      for (const auto rate : {r1_3, r2_5, r1_2, r2_3, r3_4, r4_5, r5_6, r6_7}) {
        const ctc_config c{.standard = standard, .k = 2 * couples, .rate = rate};
        if (blamed([&] { check(c); }) == "rate") continue;
        const auto places = ctc_sent_places(c);
        ASSERT_EQ(places.size(), static_cast<std::size_t>(ctc_sent_bits(c))) << name_of(c);
        const std::set<int> sent(places.begin(), places.end());
        ASSERT_EQ(sent.size(), places.size());
        ASSERT_TRUE(*sent.begin() == 0 && *sent.rbegin() < 6 * couples);
        std::vector<int> counts(6);
        for (const int place : places) counts[static_cast<std::size_t>(place / couples)]++;
        EXPECT_TRUE(counts[0] == couples && counts[1] == couples) << name_of(c);
        EXPECT_LE(std::abs(counts[2] - counts[3]), 1) << name_of(c);
        EXPECT_EQ(counts[4], counts[5]) << name_of(c);
        checked++;
      }
  EXPECT_GT(checked, 29 * 4);
}

/// N = 24, m = 3, J = 3: T_k = 8 (k mod 3) + reversed(floor(k / 3)).
TEST(ctc_code, subblock_interleaver_of_24_couples) {
  const auto places = ctc_sent_places({.standard = ctc_standard::wimax, .k = 48});
  const std::vector<std::int32_t> first{0, 8, 16, 4, 12, 20, 2, 10, 18, 6, 14, 22,
                                        1, 9, 17, 5, 13, 21, 3, 11, 19, 7, 15, 23};
  EXPECT_EQ(std::vector(places.begin(), places.begin() + 24), first);
  EXPECT_EQ(places[24], 24);      // B
  EXPECT_EQ(places[48], 48);      // Y1
  EXPECT_EQ(places[49], 72);      // Y2
  EXPECT_EQ(places[50], 48 + 8);  // Y1
  EXPECT_EQ(places[96], 96);      // W1
  EXPECT_EQ(places[97], 120);     // W2
}

TEST(ctc_code, what_is_not_allowed_is_named) {
  using enum ctc_rate;
  const auto blames = [](const ctc_config& c) {
    return blamed([&] { check(c); }, [&] { (void)ctc_encoder(c); });
  };
  EXPECT_EQ(blames({}), "");
  EXPECT_EQ(blames({.k = 47}), "k");
  EXPECT_EQ(blames({.k = 56}), "k");   // N = 28: none
  EXPECT_EQ(blames({.k = 424}), "k");  // of the other standard
  EXPECT_EQ(blames({.standard = ctc_standard::dvb_rcs, .k = 424}), "");
  EXPECT_EQ(blames({.standard = static_cast<ctc_standard>(7)}), "standard");
  EXPECT_EQ(blames({.rate = static_cast<ctc_rate>(9)}), "rate");
  EXPECT_EQ(blames({.k = 48, .rate = r2_5}), "rate");
  EXPECT_EQ(blames({.k = 48, .rate = r5_6}), "rate");  // 57.6 bits
  EXPECT_EQ(blames({.standard = ctc_standard::dvb_rcs, .k = 96, .rate = r5_6}), "rate");
  EXPECT_EQ(blames({.standard = ctc_standard::dvb_rcs, .k = 128, .rate = r3_4}),
            "rate");  // 64 couples in threes
  const auto decoder = [](const ctc_decoder_config& d) {
    const ctc_config code{.k = 96};
    return blamed([&] { (void)completed(code, d); }, [&] { (void)ctc_decoder(code, d); });
  };
  EXPECT_EQ(decoder({}), "");
  EXPECT_EQ(decoder({.iterations = 0}), "iterations");
  EXPECT_EQ(decoder({.iterations = 65}), "iterations");
  EXPECT_EQ(decoder({.windows = 0}), "windows");
  EXPECT_EQ(decoder({.windows = 7}), "windows");
  EXPECT_EQ(decoder({.windows = 6}), "");
  EXPECT_EQ(decoder({.windows = 6, .overlap = 8}), "overlap");
  EXPECT_EQ(decoder({.windows = 1, .overlap = 48}), "overlap");
  EXPECT_EQ(decoder({.extrinsic_scale = 0.75f}), "extrinsic_scale");
  EXPECT_EQ(decoder({.algorithm = max_log_map, .extrinsic_scale = 0.f}), "extrinsic_scale");
  EXPECT_EQ(decoder({.algorithm = static_cast<map_algorithm>(5)}), "algorithm");
  EXPECT_EQ(decoder({.early_stop = static_cast<ctc_early_stop>(2)}), "early_stop");
}

// ---- encoder

TEST_P(ctc, encoder_equals_oracle) {
  std::mt19937_64 random(1);
  for (const auto standard : standards)
    for (const int couples : ctc_couples(standard)) {
      if (small_scale() && couples > 300) continue;
      const ctc_config code{.standard = standard, .k = 2 * couples};
      const std::size_t count = 19, k = static_cast<std::size_t>(code.k), width = 3 * k + 5;
      const auto bits = testing::random_bit_vector(count * k, random);
      const auto got = encode(exec(), code, bits, width);
      for (std::size_t i = 0; i < count; i++) {
        auto want = sent_of(code, oracle::ctc_encode(row_of(bits, i, k), oracle_of(code)));
        want.resize(width, 0);
        ASSERT_EQ(row_of(got, i, width), want) << name_of(code) << ", block " << i;
      }
    }
  for (const ctc_config& code : some_ctcs()) {
    const auto bits = testing::random_bit_vector(static_cast<std::size_t>(code.k), random);
    EXPECT_EQ(encode(exec(), code, bits, static_cast<std::size_t>(ctc_sent_bits(code))),
              sent_of(code, oracle::ctc_encode(bits, oracle_of(code))))
        << name_of(code);
  }
}

// ---- decoder

TEST_P(ctc, decoder_equals_oracle) {
  for (const auto& [algorithm, scale] : {std::tuple{log_map, 1.f}, {max_log_map, 1.f}, {max_log_map, 0.75f}})
    for (const ctc_config& code : some_ctcs())
      for (const int iterations : {1, 3})
        for (const int overlap : {0, 16}) {
          const double esn0_db = static_cast<int>(code.rate) > 2 ? 1 : -3;
          const auto words = make_ctc_words(code, 2, esn0_db, 7);
          const std::size_t k = static_cast<std::size_t>(code.k), n = words.llr.size() / 2;
          const auto got = decode(exec(), code,
                                  {.algorithm = algorithm,
                                   .iterations = iterations,
                                   .windows = 1,
                                   .overlap = overlap,
                                   .extrinsic_scale = scale},
                                  words.llr);
          for (std::size_t w = 0; w < 2; w++) {
            const auto want = oracle::ctc_decode(
                testing::streams_of(code, row_of(words.llr, w, n)), oracle_of(code),
                {.algorithm = algorithm == log_map ? oracle::algorithm::log_map : oracle::algorithm::max_log,
                 .scale = static_cast<double>(scale),
                 .iterations = iterations,
                 .overlap = overlap});
            for (std::size_t i = 0; i < k; i++) {
              const double L = want.a_posteriori[i], tolerance = 2e-3 + 2e-4 * std::abs(L);
              const auto soft = static_cast<double>(got.soft[w * k + i]);
              if (std::abs(L) > 15 && algorithm == log_map)  // extrinsics are limited
                ASSERT_GT(soft * (L > 0 ? 1 : -1), 12) << name_of(code);
              else
                ASSERT_NEAR(soft, L, tolerance) << name_of(code) << ", bit " << i << ", overlap " << overlap;
              if (std::abs(L) > tolerance) {
                ASSERT_EQ(got.bits[w * k + i], L < 0);
              }
            }
            const auto extrinsic = sent_of(code, want.extrinsic);
            for (std::size_t i = 0; i < n; i++) {
              const double L = extrinsic[i], x = static_cast<double>(got.coded[w * n + i]);
              const double channel = std::abs(static_cast<double>(words.llr[w * n + i]));
              if (std::abs(L) > 12 && algorithm == log_map)  // weights are limited
                ASSERT_GT(x * (L > 0 ? 1 : -1), 9) << name_of(code) << ", coded bit " << i;
              else
                ASSERT_NEAR(x, L, 1e-2 + 1e-3 * (std::abs(L) + channel))
                    << name_of(code) << ", coded bit " << i << ", overlap " << overlap;
            }
          }
        }
}

/// Without LLRs of the second encoder's parities the first decoder is alone. After some turns round the
/// circle it is the exact MAP decoder of the circular trellis.
TEST_P(ctc, the_circle_converges_to_exact_map) {
  const ctc_config code{.k = 96};
  const std::size_t k = 96, couples = 48, count = 8;
  auto llr = make_ctc_words(code, count, -2, 9).llr;
  const auto places = ctc_sent_places(code);
  for (std::size_t i = 0; i < llr.size(); i++)
    if (const int stream = places[i % places.size()] / 48; stream == 3 || stream == 5) llr[i] = 0;
  const auto got = decode(exec(), code, {.iterations = 6, .windows = 1, .overlap = 40}, llr);
  for (std::size_t w = 0; w < count; w++) {
    const auto streams = testing::streams_of(code, row_of(llr, w, places.size()));
    std::vector<double> one;
    for (const std::size_t stream : {0, 1, 2, 4})
      one.insert(one.end(), streams.begin() + static_cast<std::ptrdiff_t>(stream * couples),
                 streams.begin() + static_cast<std::ptrdiff_t>((stream + 1) * couples));
    const auto want = oracle::ctc_exact_constituent(one, 48);
    for (std::size_t i = 0; i < k; i++)
      ASSERT_NEAR(static_cast<double>(got.soft[w * k + i]), want[i], 0.02 + 0.02 * std::abs(want[i]))
          << w << ", " << i;
  }
}

TEST_P(ctc, noise_free_codewords_come_back) {
  std::mt19937_64 random(3);
  const auto expect = [&](const ctc_config& code) {
    const auto u = testing::random_bit_vector(static_cast<std::size_t>(code.k), random);
    std::vector<float> llr;
    for (const auto b : sent_of(code, oracle::ctc_encode(u, oracle_of(code)))) llr.push_back(b ? -5.f : 5.f);
    for (const auto algorithm : algorithms)
      ASSERT_EQ(decode(exec(), code, {.algorithm = algorithm, .iterations = 2}, llr).bits, u)
          << name_of(code);
  };
  for (const auto standard : standards)
    for (const int couples : ctc_couples(standard))
      if (!small_scale() || couples < 300) expect({.standard = standard, .k = 2 * couples});
  for (const ctc_config& code : some_ctcs()) expect(code);
}

/// Windows and what they start from: decisions of the same codewords hardly differ.
TEST_P(ctc, windows_lose_little) {
  const ctc_config code{.k = 480, .rate = ctc_rate::r1_2};
  const auto words = make_ctc_words(code, small_scale() ? 60 : 200, -1.9, 4);
  const int one =
      frame_errors(decode(exec(), code, {.windows = 1, .overlap = 64}, words.llr).bits, words.bits);
  for (const std::optional<int> windows : {std::optional<int>(), {1}, {3}, {7}}) {
    const int several = frame_errors(decode(exec(), code, {.windows = windows}, words.llr).bits, words.bits);
    EXPECT_LE(several, one + 2 + one / 3) << windows.value_or(0);
  }
  EXPECT_GT(one, 0);
  EXPECT_LT(one, static_cast<int>(words.bits.size()) / 2);
}

/// Wrong frames of the algorithms on the same codewords, in their known order.
TEST_P(ctc, algorithms_differ_as_expected) {
  const ctc_config code{.k = 192, .rate = ctc_rate::r1_2};
  const auto words = make_ctc_words(code, 200, -1.4, 5);
  const auto errors = [&](map_algorithm algorithm, float scale) {
    return frame_errors(
        decode(exec(), code, {.algorithm = algorithm, .extrinsic_scale = scale}, words.llr).bits, words.bits);
  };
  const int exact = errors(log_map, 1), table = errors(log_map_table, 1), scaled = errors(max_log_map, 0.75f);
  EXPECT_GT(exact, 3);
  EXPECT_LE(std::abs(table - exact), 3 + exact / 5);
  EXPECT_LE(scaled, exact + 6 + exact / 2);
}

TEST_P(ctc, llrs_of_any_scale) {
  const ctc_config code{.k = 192, .rate = ctc_rate::r1_2};
  const auto words = make_ctc_words(code, 40, -0.3, 6);
  const auto scaled = [&](float s) {
    auto llr = words.llr;
    for (float& x : llr) x *= s;
    return llr;
  };
  const auto usual = decode(exec(), code, {.algorithm = max_log_map, .extrinsic_scale = 0.75f}, words.llr);
  for (const float s : {0x1p-20f, 0x1p-7f, 0x1p7f, 0x1p14f}) {
    const auto got = decode(exec(), code, {.algorithm = max_log_map, .extrinsic_scale = 0.75f}, scaled(s));
    ASSERT_EQ(got.bits, usual.bits) << s;
  }
  const int errors = frame_errors(decode(exec(), code, {}, words.llr).bits, words.bits);
  for (const float s : {0.5f, 4.f, 30.f, 1000.f}) {
    const auto got = decode(exec(), code, {}, scaled(s));
    EXPECT_LE(frame_errors(got.bits, words.bits), errors + 8) << s;
    for (const float x : got.soft) ASSERT_TRUE(std::isfinite(x));
  }
  for (const auto algorithm : algorithms)
    for (const float s : {1e-30f, 1e-3f, 1e10f, 1e35f})
      for (const float x : decode(exec(), code, {.algorithm = algorithm}, scaled(s)).soft)
        ASSERT_TRUE(std::isfinite(x)) << s;
}

/// An extrinsic LLR does not depend on the bit's own LLR: not even on a wrong and very large one.
TEST_P(ctc, extrinsics_do_without_the_own_llr) {
  const ctc_config code{.k = 96, .rate = ctc_rate::r1_2};
  const auto words = make_ctc_words(code, 1, -1, 31);
  const std::size_t n = words.llr.size();
  for (const auto algorithm : algorithms) {
    const ctc_decoder_config config{.algorithm = algorithm, .iterations = 1, .windows = 1};
    const auto usual = decode(exec(), code, config, words.llr).coded;
    // One iteration: a parity bit's own LLR reaches no other decoder but that of the other parities. So the
    // second decoder's parities alone are free of theirs.
    const auto places = ctc_sent_places(code);
    int checked = 0;
    for (std::size_t i = 0; i < n; i++) {
      if (places[i] / 48 != 3) continue;  // Y2
      auto llr = words.llr;
      llr[i] = -llr[i] * 0.5f;
      const auto got = decode(exec(), code, config, llr).coded;
      ASSERT_NEAR(got[i], usual[i], 1e-3 + 1e-3 * std::abs(usual[i]))
          << static_cast<int>(algorithm) << " " << i;
      checked++;
    }
    EXPECT_EQ(checked, 48);
  }
}

/// Integers are the LLRs that they mean.
TEST_P(ctc, integer_llrs_are_those_of_their_scale) {
  const ctc_config code{.k = 192, .rate = ctc_rate::r1_2};
  const auto words = make_ctc_words(code, 5, -1, 32);
  const ctc_decoder d(code, {});
  std::vector<std::int8_t> bytes;
  std::vector<std::int16_t> shorts;
  std::vector<float> of_bytes, of_shorts;
  for (const float x : words.llr) {
    bytes.push_back(static_cast<std::int8_t>(std::clamp(std::nearbyint(4 * x), -128.f, 127.f)));
    shorts.push_back(static_cast<std::int16_t>(std::nearbyint(64 * x)));
    of_bytes.push_back(0.25f * bytes.back());
    of_shorts.push_back(-0.015625f * shorts.back());
  }
  const auto run = [&](const auto& values, std::optional<float> scale) {
    auto in = on_device(exec(), values, 5, d.n());
    auto bits = exec().make<std::uint8_t>(5, d.k());
    auto soft = exec().make<float>(5, d.k());
    if constexpr (std::is_same_v<std::decay_t<decltype(values[0])>, float>)
      d.run(exec(), in, {.bits = bits, .soft = soft});
    else
      d.run(exec(), llr_batch(in, *scale), {.bits = bits, .soft = soft});
    return std::pair(exec().to_host(bits), exec().to_host(soft));
  };
  EXPECT_EQ(run(bytes, 0.25f), run(of_bytes, {}));
  EXPECT_EQ(run(shorts, -0.015625f), run(of_shorts, {}));
  EXPECT_EQ(blamed([&] { (void)run(bytes, 0.f); }), "llr_scale");
}

/// Ties: equal LLRs of all bits, and zeros but for k of them.
TEST_P(ctc, ties_decide_zero) {
  const ctc_config code{.k = 96};
  std::vector<float> llr(288, 0.f);
  std::fill_n(llr.begin(), 96, 1.f);
  for (const auto algorithm : algorithms) {
    const auto got = decode(exec(), code, {.algorithm = algorithm}, llr);
    EXPECT_EQ(got.bits, bit_vector(96));
    EXPECT_EQ(got.status, bit_vector(1));
  }
}

TEST_P(ctc, early_stop_keeps_decisions) {
  const ctc_config code{.k = 192};
  const auto words = make_ctc_words(code, 50, -2, 8);
  for (const auto algorithm : algorithms) {
    const auto complete = decode(exec(), code, {.algorithm = algorithm, .iterations = 10}, words.llr);
    const auto got = decode(
        exec(), code,
        {.algorithm = algorithm, .iterations = 10, .early_stop = ctc_early_stop::sign_agreement}, words.llr);
    EXPECT_LE(frame_errors(got.bits, words.bits), frame_errors(complete.bits, words.bits) + 1);
    int early = 0;
    for (std::size_t i = 0; i < words.bits.size(); i++) {
      EXPECT_EQ(got.status[i], got.iterations[i] < 10 ? status_stopped : got.status[i]);
      early += got.iterations[i] < 10;
    }
    EXPECT_GT(early, 40);
  }
}

}  // namespace ctc_test
}  // namespace wb
