// The interleaver of UMTS: every size against the clause as the oracle has it, and codes that use it.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include <oracle/umts.hpp>
#include <tests/turbo.hpp>
#include <warpband/code/turbo.hpp>
#include <warpband/fec/umts/interleaver.hpp>

namespace wb {
namespace umts_test {

using namespace testing;

TEST(umts_interleaver, every_size_equals_the_oracle) {
  for (int k = umts_least_k; k <= umts_most_k; k++) {
    const auto p = umts_permutation(k);
    const auto want = oracle::umts(k);
    ASSERT_TRUE(std::equal(p.begin(), p.end(), want.begin(), want.end())) << "k = " << k;
    std::vector<bool> seen(p.size());
    for (const std::int32_t i : p) {
      ASSERT_TRUE(i >= 0 && i < k && !seen[static_cast<std::size_t>(i)]) << "k = " << k;
      seen[static_cast<std::size_t>(i)] = true;
    }
    ASSERT_EQ(p.size(), static_cast<std::size_t>(k));
  }
}

/// By hand. k = 40: 5 x 8, p = 7, v = 3, s = 1, 3, 2, 6, 4, 5, q = 1, 7, 11, 13, 17. Row 4 is first, with
/// r = 1 and its columns 0 and 7 exchanged as the matrix is full.
TEST(umts_interleaver, of_40_bits) {
  const auto p = umts_permutation(40);
  const std::vector<std::int32_t> first_column{39, 25, 17, 9, 1}, last_column{33, 31, 23, 15, 7};
  EXPECT_EQ(std::vector(p.begin(), p.begin() + 5), first_column);
  EXPECT_EQ(std::vector(p.end() - 5, p.end()), last_column);
  // Column 1 of row 2 (r = 11): s(11 mod 6 = 5) = 5.
  EXPECT_EQ(p[5 + 2], 16 + 5);
}

TEST(umts_interleaver, other_sizes_are_refused) {
  for (const int k : {-1, 0, 39, 5115, 65536}) EXPECT_EQ(blamed([&] { umts_permutation(k); }), "k") << k;
}

class umts : public on_backend {};
WB_ON_ALL_BACKENDS(umts);

/// The bits of the UMTS sequence x, z, z', the tail of encoder 1 and then of encoder 2, are d0, d1, d2 read
/// step by step.
TEST_P(umts, code_of_the_clause) {
  const int k = 333;
  std::mt19937_64 random(2);
  const auto u = random_bits_of(k, random);
  const auto pi = oracle::umts(k);
  code_config config("lte-turbo", {{"k", std::int64_t{k}}, {"standard", std::string("umts")}});
  const auto code = make_codec(config);
  auto coded = exec().make<std::uint8_t>(1, code->n());
  code->encode(exec(), on_device(exec(), u, 1, static_cast<std::size_t>(k)), coded);
  const auto streams = exec().to_host(coded);
  EXPECT_EQ(streams, encoded(u, pi));
  // Tails of §4.2.3.2.2: two registers, switches down.
  bits_t serial, want;
  for (std::size_t i = 0; i < 337; i++)
    for (std::size_t j = 0; j < 3; j++) serial.push_back(streams[j * 337 + i]);
  for (const bool second : {false, true}) {
    int r1 = 0, r2 = 0, r3 = 0;
    const auto clock = [&](int in) {
      const int z = in ^ r1 ^ r3;
      r3 = r2, r2 = r1, r1 = in;
      return z;
    };
    for (std::size_t i = 0; i < 333; i++) clock(u[second ? static_cast<std::size_t>(pi[i]) : i] ^ r2 ^ r3);
    for (int t = 0; t < 3; t++) {
      const int x = r2 ^ r3;
      want.push_back(static_cast<std::uint8_t>(x));
      want.push_back(static_cast<std::uint8_t>(clock(0)));
    }
  }
  EXPECT_EQ(bits_t(serial.begin() + 999, serial.end()), want);
}

TEST_P(umts, codewords_in_noise_come_back) {
  std::mt19937_64 random(3);
  for (const int k : {40, 333, 1024, small_scale() ? 530 : 5114}) {
    const std::vector<int> pi = oracle::umts(k);
    const auto u = random_bits_of(k, random);
    const auto llr = noisy(encoded(u, pi), 3, 1.0 / 3, random);
    for (const turbo_precision precision :
         {turbo_precision::float32, turbo_precision::bfloat16, turbo_precision::int16}) {
      const auto algorithm =
          precision == turbo_precision::int16 ? map_algorithm::max_log_map : map_algorithm::log_map;
      const turbo_decoder d({.k = k, .algorithm = algorithm, .precision = precision}, umts_permutation(k));
      EXPECT_EQ(decide(exec(), d, llr).bits, u) << k;
      if (precision != turbo_precision::float32) {
        EXPECT_EQ(d.config().windows, 1);  // rows of windows go to different rows
      }
    }
  }
}

TEST(umts_interleaver, of_a_code_by_name) {
  const auto blames = [](int k, bool coefficients, std::optional<int> windows, turbo_precision precision) {
    turbo_settings s;
    s.k = k;
    s.standard = turbo_standard::umts;
    if (coefficients) s.interleaver = interleaver_coefficients{31, 64};
    s.decoder.windows = windows;
    s.decoder.precision = precision;
    return blamed([&] { (void)completed(code_config("lte-turbo", box(s))); });
  };
  using enum turbo_precision;
  EXPECT_EQ(blames(5114, false, {}, float32), "");
  EXPECT_EQ(blames(5115, false, {}, float32), "k");
  EXPECT_EQ(blames(39, false, {}, float32), "k");
  EXPECT_EQ(blames(1024, true, {}, float32), "standard");
  EXPECT_EQ(blames(1024, false, 16, float32), "");
  EXPECT_EQ(blames(1024, false, 16, bfloat16), "permutation");
}

}  // namespace umts_test
}  // namespace wb
