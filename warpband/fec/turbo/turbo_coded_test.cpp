// Extrinsic LLRs of all coded bits of a turbo code: against enumeration of codewords, against the oracle, in
// limit cases, and on every backend.
#include <gtest/gtest.h>

#include <cstring>

#include <tests/turbo.hpp>

namespace wb {
namespace turbo_coded_test {

using namespace testing;

class turbo_coded : public on_backend {};
WB_ON_ALL_BACKENDS(turbo_coded);

struct outputs {
  std::vector<float> coded, extrinsic;
  bits_t bits, status;
  std::vector<std::int32_t> iterations;
};
bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}
bool operator==(const outputs& a, const outputs& b) {
  return same_bits(a.coded, b.coded) && same_bits(a.extrinsic, b.extrinsic) && a.bits == b.bits &&
         a.status == b.status && a.iterations == b.iterations;
}
/// What is not written stays wrong.
outputs decode(executor& e, const turbo_decoder& d, const std::vector<float>& llr) {
  const std::size_t k = static_cast<std::size_t>(d.config().k), n = 3 * (k + 4), count = llr.size() / n;
  auto in = on_device(e, llr, count, n);
  auto coded = on_device(e, std::vector<float>(n * count, 1e33f), count, n);
  auto extrinsic = e.make<float>(count, k);
  auto bits = e.make<std::uint8_t>(count, k), status = e.make<std::uint8_t>(count, 1);
  auto iterations = e.make<std::int32_t>(count, 1);
  d.run(e, in,
        {.bits = bits,
         .extrinsic = extrinsic,
         .coded_extrinsic = coded,
         .iterations = iterations,
         .status = status});
  return {e.to_host(coded), e.to_host(extrinsic), e.to_host(bits), e.to_host(status), e.to_host(iterations)};
}
constexpr map_algorithm both_algorithms[] = {map_algorithm::log_map, map_algorithm::max_log_map};
oracle::algorithm by_oracle(map_algorithm a) {
  return a == map_algorithm::log_map ? oracle::algorithm::log_map : oracle::algorithm::max_log;
}
/// Places of a codeword's tail bits: x and z of the first encoder's three steps, then of the second's.
std::size_t tail_place(std::size_t k, std::size_t i) { return i % 3 * (k + 4) + k + i / 3; }

// ---------------------------------------------------------------- enumeration

/// Of one encoder alone (the other's bits are not received) decoding is exact. All information bits but ten
/// are known beforehand, so that 1024 codewords have all the probability.
TEST_P(turbo_coded, one_encoder_alone_gives_the_marginals_of_its_bits) {
  const std::size_t k = 40, n = 3 * (k + 4);
  const auto pi = interleaver(40);
  std::mt19937_64 random(1);
  std::normal_distribution<float> normal(0.f, 1.5f);
  for (std::size_t encoder : {0, 1}) {
    std::vector<std::size_t> free_bits;
    for (std::size_t i = 0; i < 10; i++)  // the last of them end in the tail
      free_bits.push_back(encoder == 0 ? k - 1 - 2 * i : static_cast<std::size_t>(pi[k - 1 - 2 * i]));
    bits_t known = random_bits_of(40, random);
    std::vector<float> llr(n);
    for (std::size_t i = 0; i < k; i++) {
      llr[i] = known[i] ? -25.f : 25.f;
      llr[(1 + encoder) * (k + 4) + i] = normal(random);
    }
    for (std::size_t i : free_bits) llr[i] = normal(random);
    for (std::size_t i = 6 * encoder; i < 6 * encoder + 6; i++) llr[tail_place(k, i)] = normal(random);

    std::vector<std::size_t> places = free_bits;
    for (std::size_t i = 0; i < k; i++) places.push_back((1 + encoder) * (k + 4) + i);
    for (std::size_t i = 6 * encoder; i < 6 * encoder + 6; i++) places.push_back(tail_place(k, i));
    std::vector<double> sums[2];
    for (auto& s : sums) s.resize(places.size());
    for (unsigned value = 0; value < 1024; value++) {
      bits_t u = known;
      for (std::size_t b = 0; b < 10; b++) u[free_bits[b]] = value >> b & 1;
      const bits_t word = encoded(u, pi);
      double log_weight = 0;
      for (std::size_t p : places) log_weight -= word[p] != 0 ? static_cast<double>(llr[p]) : 0.0;
      for (std::size_t j = 0; j < places.size(); j++) {
        const bool one = word[places[j]] != 0;
        sums[one][j] += std::exp(log_weight + (one ? static_cast<double>(llr[places[j]]) : 0.0));
      }
    }
    for (int iterations : {1, 3}) {
      const auto got =
          decode(exec(), turbo_decoder({.k = 40, .iterations = iterations, .windows = 1}), llr).coded;
      for (std::size_t j = 0; j < places.size(); j++) {
        if (sums[0][j] == 0 || sums[1][j] == 0) continue;  // a parity bit before the first free bit
        EXPECT_NEAR(static_cast<double>(got[places[j]]), std::log(sums[0][j] / sums[1][j]), 1e-4)
            << "encoder " << encoder << ", place " << places[j] << ", iterations " << iterations;
      }
    }
  }
}

// ---------------------------------------------------------------- the oracle

TEST_P(turbo_coded, all_bits_are_the_oracles) {
  for (auto algorithm : both_algorithms)
    for (int k : {40, 512})
      for (int iterations : {1, 3}) {
        const float scale = algorithm == map_algorithm::log_map ? 1.f : 0.75f;
        const turbo_decoder d({.k = k,
                               .algorithm = algorithm,
                               .iterations = iterations,
                               .windows = 1,
                               .extrinsic_scale = scale});
        const auto words = make_codewords(k, 3, -1.0, 2);
        const auto got = decode(exec(), d, words.llr);
        const std::size_t n = 3 * (static_cast<std::size_t>(k) + 4);
        for (std::size_t w = 0; w < 3; w++) {
          const auto row = row_of(words.llr, w, n);
          const auto want =
              oracle::turbo_decode(std::vector<double>(row.begin(), row.end()), interleaver(k),
                                   {by_oracle(algorithm), static_cast<double>(scale), iterations});
          for (std::size_t i = 0; i < n; i++) {
            const double L = want.coded_extrinsic[i];
            if (std::abs(L) > 18)  // near the limits: the sign, and not small
              ASSERT_GT(static_cast<double>(got.coded[w * n + i]) * (L > 0 ? 1 : -1), 15.0);
            else
              ASSERT_NEAR(static_cast<double>(got.coded[w * n + i]), L, 2e-3 + 2e-4 * std::abs(L))
                  << "k " << k << ", iterations " << iterations << ", place " << i;
          }
        }
      }
}

TEST_P(turbo_coded, large_llrs_are_the_oracles) {
  const int k = 104, iterations = 2;
  const std::size_t n = 3 * (104 + 4);
  const auto words = make_codewords(k, 2, 0.0, 3);
  const auto llr = scaled(words.llr, 30.f);
  const auto got = decode(exec(), turbo_decoder({.k = k, .iterations = iterations, .windows = 1}), llr).coded;
  for (std::size_t w = 0; w < 2; w++) {
    const auto row = row_of(llr, w, n);
    const auto want = oracle::turbo_decode(std::vector<double>(row.begin(), row.end()), interleaver(k),
                                           {.iterations = iterations})
                          .coded_extrinsic;
    for (std::size_t i = 0; i < n; i++)
      ASSERT_NEAR(static_cast<double>(got[w * n + i]), want[i], iterations + 2e-3 * std::abs(want[i]))
          << "place " << i;
  }
}

// Windows with a long overlap are one window but for rounding.
TEST_P(turbo_coded, windows_agree_with_one_window) {
  const int k = 1024;
  const auto words = make_codewords(k, 3, -0.5, 4);
  for (auto algorithm : both_algorithms)
    for (int windows : {2, 4, 7}) {
      const turbo_decoder one({.k = k, .algorithm = algorithm, .iterations = 2, .windows = 1}),
          many({.k = k,
                .algorithm = algorithm,
                .iterations = 2,
                .windows = windows,
                .overlap = k / windows - 1});
      const auto a = decode(exec(), one, words.llr).coded, b = decode(exec(), many, words.llr).coded;
      for (std::size_t i = 0; i < a.size(); i++)
        ASSERT_NEAR(b[i], a[i], 0.02f + 0.01f * std::abs(a[i])) << windows << " windows, place " << i;
    }
}

// ---------------------------------------------------------------- limit cases

TEST_P(turbo_coded, information_bits_have_the_extrinsics_of_the_other_output) {
  for (auto algorithm : both_algorithms)
    for (auto stop : {turbo_early_stop::none, turbo_early_stop::sign_agreement}) {
      const auto words = make_codewords(256, 9, 1.0, 5);
      const auto got = decode(
          exec(), turbo_decoder({.k = 256, .algorithm = algorithm, .iterations = 5, .early_stop = stop}),
          words.llr);
      for (std::size_t w = 0; w < 9; w++)
        ASSERT_TRUE(same_bits(row_of(row_of(got.coded, w, 3 * 260), 0, 256), row_of(got.extrinsic, w, 256)));
    }
}

TEST_P(turbo_coded, codewords_that_stop_early_have_what_they_had_then) {
  const std::size_t n = 3 * (256 + 4);
  const auto words = make_codewords(256, 12, 1.0, 7);
  const auto got = decode(
      exec(), turbo_decoder({.k = 256, .iterations = 8, .early_stop = turbo_early_stop::sign_agreement}),
      words.llr);
  EXPECT_LT(*std::min_element(got.iterations.begin(), got.iterations.end()), 8);
  for (std::size_t w = 0; w < 12; w++) {
    const auto alone =
        decode(exec(), turbo_decoder({.k = 256, .iterations = got.iterations[w]}), row_of(words.llr, w, n));
    ASSERT_TRUE(same_bits(row_of(got.coded, w, n), alone.coded)) << "word " << w;
  }
}

TEST_P(turbo_coded, noise_free_codewords_are_confirmed_bit_by_bit) {
  std::mt19937_64 random(8);
  const auto word = encoded(random_bits_of(104, random), interleaver(104));
  std::vector<float> llr;
  for (auto b : word) llr.push_back(b ? -4.f : 4.f);
  for (auto algorithm : both_algorithms) {
    const auto got =
        decode(exec(), turbo_decoder({.k = 104, .algorithm = algorithm, .iterations = 2}), llr).coded;
    for (std::size_t i = 0; i < llr.size(); i++) ASSERT_GT(got[i] * llr[i], 4.f) << "place " << i;
  }
}

TEST(turbo_coded_errors, precisions_are_checked) {
  const auto e = open_scalar();
  auto llr = on_device(*e, std::vector<float>(3 * 44 * 2, 1.f), 2, 3 * 44);
  auto coded = e->make<float>(2, 3 * 44);
  for (const auto& kind : {int16_kind, bfloat_max_log, bfloat_log_map})
    EXPECT_EQ(blamed([&] { turbo_decoder(setting(kind, 40)).run(*e, llr, {.coded_extrinsic = coded}); }),
              "coded_extrinsic")
        << kind.name;
}

}  // namespace turbo_coded_test
}  // namespace wb
