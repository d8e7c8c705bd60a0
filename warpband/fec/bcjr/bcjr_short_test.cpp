// The 16-bit BCJR decoder against max-log-MAP in float32 on whole numbers, and itself on every backend.
#include <gtest/gtest.h>

#include <random>

#include <tests/conv.hpp>
#include <tests/on_backends.hpp>
#include <warpband/fec/bcjr/bcjr.hpp>

namespace wb {
namespace bcjr_short_test {

using testing::bit_vector;
using testing::blamed;
using testing::floats_of_whole;
using testing::make_conv_codewords;
using testing::name_of;
using testing::on_device;
using testing::small_scale;
using testing::whole_llrs;

class bcjr_int16 : public testing::on_backend {};
WB_ON_ALL_BACKENDS(bcjr_int16);

using steps_t = std::vector<std::int8_t>;

bcjr_config int16_of(const conv_code& code, std::size_t k, std::optional<int> windows = {},
                     float steps = 8.f) {
  return {.code = code,
          .k = static_cast<int>(k),
          .algorithm = map_algorithm::max_log_map,
          .precision = conv_precision::int16,
          .llr_steps = steps,
          .windows = windows};
}
bcjr_config float32_of(const conv_code& code, std::size_t k) {
  return {.code = code, .k = static_cast<int>(k), .algorithm = map_algorithm::max_log_map};
}
struct decoded {
  bit_vector bits, status;
  std::vector<float> soft;
  bool operator==(const decoded&) const = default;
};
template <class V>
decoded decode(executor& e, const bcjr_decoder& d, const std::vector<V>& llr) {
  const std::size_t k = static_cast<std::size_t>(d.config().k), n = d.frame().n(), items = llr.size() / n;
  auto bits = on_device(e, bit_vector(k * items, 7), items, k);
  auto soft = on_device(e, std::vector<float>(k * items, 7.f), items, k);
  auto status = e.make<std::uint8_t>(items, 1);
  d.run(e, on_device(e, llr, items, n), {.bits = bits, .soft = soft, .status = status});
  return {e.to_host(bits), e.to_host(status), e.to_host(soft)};
}
bool has_feedback(const conv_code& c) { return c.feedback && c.feedback != 1 << (c.constraint_length - 1); }

TEST_P(bcjr_int16, is_max_log_map_of_whole_numbers) {
  const auto reference = testing::open_reference();
  auto codes = testing::many_codes();
  codes.push_back({.constraint_length = 8, .generators = {0133, 0171}});  // those of a code of K = 7
  for (const conv_code& code : codes)
    for (const int largest : {1, 20, 127}) {
      if (has_feedback(code)) continue;
      const std::size_t k = 61, count = small_scale() ? 5 : 17;
      const steps_t llr = whole_llrs(code, k, count, largest, 3);
      const auto want = decode(*reference, bcjr_decoder(float32_of(code, k)), floats_of_whole(llr));
      const auto got = decode(exec(), bcjr_decoder(int16_of(code, k, 1, 1.f)), llr);
      ASSERT_EQ(got.soft, want.soft) << name_of(code) << " " << largest;
      ASSERT_EQ(got.bits, want.bits) << name_of(code) << " " << largest;
      ASSERT_EQ(got.status, want.status) << name_of(code) << " " << largest;
    }
}

/// The largest LLRs, all wrong or all alike, and the slowest code: nothing wraps.
TEST_P(bcjr_int16, does_not_overflow) {
  const auto reference = testing::open_reference();
  std::mt19937_64 rng(5);
  for (const auto& generators :
       {std::vector<int>{0561, 0753, 0711, 0765}, {0400, 0400, 0400, 0400}, {0133, 0171}}) {
    const conv_code code{.constraint_length = generators[0] > 0377 ? 9 : 7, .generators = generators};
    const std::size_t k = 100, count = 8;
    const bcjr_decoder d(int16_of(code, k, 1, 1.f)), plain(float32_of(code, k));
    steps_t llr(d.frame().n() * count);
    for (std::size_t i = 0; i < llr.size(); i++) {
      const std::size_t kind = i / d.frame().n();
      const bool low = kind == 0 || (kind == 1 && i % 2 == 0) || (kind > 2 && rng() % kind == 0);
      llr[i] = static_cast<std::int8_t>(low ? -128 : 127);
    }
    EXPECT_EQ(decode(exec(), d, llr).soft, decode(*reference, plain, floats_of_whole(llr)).soft)
        << generators[0];
  }
}

/// Wrong bits, the same on every backend: 0.05 dB are 4 to 5 % of bit errors at these rates.
TEST_P(bcjr_int16, loses_little_against_float32) {
  if (GetParam().name != "avx512" && GetParam().name != "avx2" && !GetParam().name.starts_with("cuda"))
    GTEST_SKIP() << "equal bits are held elsewhere";
  for (const auto& [code, esn0_db] :
       {std::pair{conv_80211(conv_rate::r1_2), -1.4}, std::pair{conv_80211(conv_rate::r3_4), 2.}}) {
    const std::size_t k = 4000, count = small_scale() ? 8 : 96;
    const auto w = make_conv_codewords(code, k, count, esn0_db, 9);
    const auto wrong = [&](const bcjr_config& c) {
      const auto got = decode(exec(), bcjr_decoder(c), w.llr);
      int n = 0;
      for (std::size_t i = 0; i < got.bits.size(); i++) n += got.bits[i] != w.sent[i];
      return n;
    };
    const int float32 = wrong(float32_of(code, k)), one = wrong(int16_of(code, k, 1)),
              windows = wrong(int16_of(code, k));
    const std::string rate = code.sent.empty() ? "_half" : "_three_quarters";
    RecordProperty("float32" + rate, float32);
    RecordProperty("one_window" + rate, one);
    RecordProperty("windows" + rate, windows);
    EXPECT_LT(one, float32 + float32 / 25 + 20) << float32;
    EXPECT_LT(windows, float32 + float32 / 25 + 20) << float32;
    EXPECT_GT(float32, small_scale() ? 0 : 1000);
  }
}

TEST(bcjr_int16_arguments, bad_ones_are_named) {
  const auto with = [](auto set) {
    bcjr_config c = int16_of(conv_lte(), 2000);
    set(c);
    return blamed([&] { (void)completed(c); }, [&] { bcjr_decoder d(c); });
  };
  EXPECT_EQ(with([](auto&) {}), "");
  EXPECT_EQ(with([](auto& c) { c.windows = 42; }), "windows");  // of 48 steps, as long as the overlap
  EXPECT_EQ(with([](auto& c) { c.windows = 41; }), "");
  EXPECT_EQ(with([](auto& c) { c.llr_steps = 0.1f; }), "llr_steps");
  EXPECT_EQ(with([](auto& c) { c.algorithm = map_algorithm::log_map; }), "algorithm");
  EXPECT_EQ(with([](auto& c) { c.precision = static_cast<conv_precision>(2); }), "precision");
  EXPECT_EQ(with([](auto& c) { c.precision = conv_precision::float32, c.windows = 2; }), "windows");
  EXPECT_EQ(with([](auto& c) { c.code = conv_recursive(4, 013, {015}); }), "precision");
  EXPECT_EQ(completed(int16_of(conv_80211(conv_rate::r1_2), 500)).windows, 1);
  EXPECT_EQ(completed(int16_of(conv_80211(conv_rate::r1_2), 1024)).windows, 4);
  EXPECT_EQ(completed(int16_of(conv_80211(conv_rate::r1_2), 1024)).overlap, 48);
  const auto exec = testing::open_scalar();
  const bcjr_decoder d(int16_of(conv_lte(), 40)), plain({.code = conv_lte(), .k = 40});
  auto llr = exec->make<float>(2, 120);
  auto steps = exec->make<std::int8_t>(2, 120);
  auto bits = exec->make<std::uint8_t>(2, 40);
  auto soft = exec->make<float>(2, 40), coded = exec->make<float>(2, 120);
  EXPECT_EQ(blamed([&] { plain.run(*exec, steps, {.bits = bits}); }), "llr");
  EXPECT_EQ(blamed([&] { d.run(*exec, llr, {.extrinsic = soft}); }), "extrinsic");
  EXPECT_EQ(blamed([&] { d.run(*exec, llr, {.coded_extrinsic = coded}); }), "coded_extrinsic");
  EXPECT_EQ(blamed([&] { d.run(*exec, llr, soft, {.bits = bits}); }), "prior");
}

}  // namespace bcjr_short_test
}  // namespace wb
