// The 16-bit BCJR decoder against max-log-MAP in float32 on whole numbers, and itself on every backend.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include <tests/conv.hpp>
#include <tests/on_backends.hpp>
#include <warpband/fec/bcjr/bcjr.hpp>

namespace wb {
namespace bcjr_short_test {

using testing::bit_vector;
using testing::blamed;
using testing::make_conv_codewords;
using testing::name_of;
using testing::on_device;
using testing::small_scale;

class bcjr_int16 : public testing::on_backend {};
WB_ON_ALL_BACKENDS(bcjr_int16);

using steps_t = std::vector<std::int8_t>;

bcjr_config int16_of(const conv_code& code, std::size_t k, int windows = 0, float steps = 8.f) {
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
decoded decode(executor& e, const bcjr_decoder& d, const std::vector<V>& llr,
               layout order = layout::row_major) {
  const std::size_t k = static_cast<std::size_t>(d.config().k), n = d.frame().n(), items = llr.size() / n;
  auto bits = on_device(e, bit_vector(k * items, 7), k, items, order);
  auto soft = on_device(e, std::vector<float>(k * items, 7.f), k, items, order);
  auto status = e.make<std::uint8_t>(1, items);
  d.run(e, on_device(e, llr, n, items, order), {.bits = bits, .soft = soft, .status = status});
  return {e.to_host(bits), e.to_host(status), e.to_host(soft)};
}
template <class V>
std::vector<V> rows(const std::vector<V>& all, std::size_t first, std::size_t count, std::size_t n) {
  return {all.begin() + static_cast<std::ptrdiff_t>(first * n),
          all.begin() + static_cast<std::ptrdiff_t>((first + count) * n)};
}
steps_t whole_numbers(const conv_code& code, std::size_t k, std::size_t count, int most, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  steps_t r(conv_frame(code, static_cast<int>(k)).n() * count);
  for (auto& x : r)
    x = static_cast<std::int8_t>(static_cast<int>(rng() % static_cast<unsigned>(2 * most + 1)) - most);
  return r;
}
std::vector<float> floats_of(const steps_t& x) {
  std::vector<float> r;
  for (const std::int8_t each : x) r.push_back(static_cast<float>(std::max<int>(each, -127)));
  return r;
}
bool has_feedback(const conv_code& c) {
  return c.feedback != 0 && c.feedback != 1 << (c.constraint_length - 1);
}

TEST_P(bcjr_int16, is_max_log_map_of_whole_numbers) {
  const auto reference = testing::open_reference();
  auto codes = testing::many_codes();
  codes.push_back({.constraint_length = 8, .generators = {0133, 0171}});  // those of a code of K = 7
  for (const conv_code& code : codes)
    for (const int most : {1, 20, 127}) {
      if (has_feedback(code)) continue;
      const std::size_t k = 61, count = small_scale() ? 5 : 17;
      const steps_t llr = whole_numbers(code, k, count, most, 3);
      const auto want = decode(*reference, bcjr_decoder(float32_of(code, k)), floats_of(llr));
      const auto got = decode(exec(), bcjr_decoder(int16_of(code, k, 1, 1.f)), llr);
      ASSERT_EQ(got.soft, want.soft) << name_of(code) << " " << most;
      ASSERT_EQ(got.bits, want.bits) << name_of(code) << " " << most;
      ASSERT_EQ(got.status, want.status) << name_of(code) << " " << most;
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
    EXPECT_EQ(decode(exec(), d, llr).soft, decode(*reference, plain, floats_of(llr)).soft) << generators[0];
  }
}

TEST_P(bcjr_int16, equals_every_backend_batch_and_layout) {
  const auto reference = testing::open_reference();
  for (const auto& [code, k, windows] :
       {std::tuple{conv_80211(conv_rate::r1_2), 1000, 1}, std::tuple{conv_80211(conv_rate::r1_2), 1000, 9},
        std::tuple{conv_80216(conv_rate::r3_4, conv_ending::tail_biting), 601, 3},
        std::tuple{conv_lte(), 40, 1}, std::tuple{conv_lte(), 500, 5},
        std::tuple{conv_code{.constraint_length = 4, .generators = {016, 013}}, 300, 4},
        std::tuple{conv_code{.constraint_length = 9, .generators = {0561, 0753}}, 300, 2}}) {
    const std::size_t length = static_cast<std::size_t>(k), most = small_scale() ? 9 : 35;
    const bcjr_decoder d(int16_of(code, length, windows));
    EXPECT_EQ(d.config().windows, windows);
    const std::size_t n = d.frame().n();
    std::vector<float> llr = floats_of(whole_numbers(code, length, most, 60, 7));
    for (float& x : llr) x /= 8;
    llr[3 * n + 7] = std::numeric_limits<float>::quiet_NaN();
    const auto all = decode(*reference, d, llr);
    EXPECT_EQ(std::count(all.status.begin(), all.status.end(), status_erased), 1);
    for (const std::size_t count : {std::size_t{1}, std::size_t{5}, most}) {
      const auto part = decode(exec(), d, rows(llr, 0, count, n));
      ASSERT_EQ(part.soft, rows(all.soft, 0, count, length)) << name_of(code) << " " << count;
      ASSERT_EQ(part.bits, rows(all.bits, 0, count, length)) << name_of(code) << " " << count;
      ASSERT_EQ(part.status, rows(all.status, 0, count, 1)) << name_of(code) << " " << count;
    }
    std::vector<float> turned(llr.size());
    for (std::size_t b = 0; b < most; b++)
      for (std::size_t i = 0; i < n; i++) turned[i * most + b] = llr[b * n + i];
    const auto got = decode(exec(), d, turned, layout::batch_fastest);
    for (std::size_t b = 0; b < most; b++)
      for (std::size_t i = 0; i < length; i++) ASSERT_EQ(got.soft[i * most + b], all.soft[b * length + i]);
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

TEST_P(bcjr_int16, words_without_usable_llrs_are_erased) {
  for (const auto& [code, k, windows] :
       {std::tuple{conv_80211(conv_rate::r1_2), 300, 1}, std::tuple{conv_lte(), 300, 4}}) {
    const std::size_t length = static_cast<std::size_t>(k), count = 7;
    const bcjr_decoder d(int16_of(code, length, windows));
    const std::size_t n = d.frame().n();
    auto w = make_conv_codewords(code, length, count, 20, 10);
    const auto at = [&](std::size_t b) { return w.llr.begin() + static_cast<std::ptrdiff_t>(b * n); };
    std::fill(at(1), at(2), 0.0624f);                                        // of steps of 1/8
    std::fill(at(3) + static_cast<std::ptrdiff_t>(length) - 1, at(4), 0.f);  // k - 1 are left
    *at(5) = -std::numeric_limits<float>::infinity();
    const auto got = decode(exec(), d, w.llr);
    for (std::size_t b = 0; b < count; b++) {
      const bool few = b == 1 || b == 3;
      EXPECT_EQ(got.status[b], few ? status_erased | status_insufficient : b == 5 ? status_erased : 0) << b;
      const bit_vector none(length, 0);
      EXPECT_EQ(rows(got.bits, b, 1, length), few || b == 5 ? none : rows(w.sent, b, 1, length)) << b;
      const auto soft = rows(got.soft, b, 1, length);
      EXPECT_EQ(std::count(soft.begin(), soft.end(), 0.f) == k, few || b == 5) << b;
    }
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
  auto llr = exec->make<float>(120, 2);
  auto steps = exec->make<std::int8_t>(120, 2), other = exec->make<std::int8_t>(119, 2);
  auto bits = exec->make<std::uint8_t>(40, 2);
  auto soft = exec->make<float>(40, 2), coded = exec->make<float>(120, 2);
  EXPECT_EQ(blamed([&] { d.run(*exec, other, {.bits = bits}); }), "llr");
  EXPECT_EQ(blamed([&] { plain.run(*exec, steps, {.bits = bits}); }), "llr");
  EXPECT_EQ(blamed([&] { d.run(*exec, llr, {.extrinsic = soft}); }), "extrinsic");
  EXPECT_EQ(blamed([&] { d.run(*exec, llr, {.coded_extrinsic = coded}); }), "coded_extrinsic");
  EXPECT_EQ(blamed([&] { d.run(*exec, llr, soft, {.bits = bits}); }), "prior");
  EXPECT_EQ(blamed([&] { d.run(*exec, llr, {.soft = coded}); }), "soft");
}

}  // namespace bcjr_short_test
}  // namespace wb
