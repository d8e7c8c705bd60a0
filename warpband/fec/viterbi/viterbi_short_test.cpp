// The 16-bit Viterbi decoder against the exhaustive search, the float32 one on whole numbers, and itself on
// every backend.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include <tests/conv.hpp>
#include <tests/on_backends.hpp>
#include <warpband/fec/viterbi/viterbi.hpp>

namespace wb {
namespace viterbi_short_test {

using testing::bit_vector;
using testing::blamed;
using testing::floats_of_whole;
using testing::make_conv_codewords;
using testing::name_of;
using testing::on_device;
using testing::oracle_of;
using testing::row_of;
using testing::small_scale;
using testing::whole_llrs;

class viterbi_int16 : public testing::on_backend {};
WB_ON_ALL_BACKENDS(viterbi_int16);

using steps_t = std::vector<std::int8_t>;

viterbi_config int16_of(const conv_code& code, std::size_t k, std::optional<int> windows = {},
                        float steps = 8.f) {
  return {.code = code,
          .k = static_cast<int>(k),
          .precision = conv_precision::int16,
          .llr_steps = steps,
          .windows = windows};
}
struct decoded {
  bit_vector bits, status;
  bool operator==(const decoded&) const = default;
};
template <class V>
decoded decode(executor& e, const viterbi_decoder& d, const std::vector<V>& llr) {
  const std::size_t k = static_cast<std::size_t>(d.config().k), n = d.frame().n(), items = llr.size() / n;
  auto bits = on_device(e, bit_vector(k * items, 7), items, k);
  auto status = e.make<std::uint8_t>(items, 1);
  d.run(e, on_device(e, llr, items, n), {.bits = bits, .metric = {}, .status = status});
  return {e.to_host(bits), e.to_host(status)};
}
int differences(const bit_vector& a, const bit_vector& b) {
  int n = 0;
  for (std::size_t i = 0; i < a.size(); i++) n += a[i] != b[i];
  return n;
}

/// Both decide alike where metrics are equal, so that whole numbers leave nothing open.
TEST_P(viterbi_int16, decides_whole_numbers_as_float32_does) {
  const auto reference = testing::open_reference();
  for (const conv_code& code : testing::many_codes())
    for (const int largest : {1, 20, 128}) {
      const std::size_t k = 61, count = small_scale() ? 5 : 17;
      const steps_t llr = whole_llrs(code, k, count, std::min(largest, 127), 3);
      const viterbi_decoder plain({.code = code, .k = static_cast<int>(k)});
      const auto want = decode(*reference, plain, floats_of_whole(llr));
      const auto got = decode(exec(), viterbi_decoder(int16_of(code, k)), llr);
      ASSERT_EQ(got.bits, want.bits) << name_of(code) << " " << largest;
      ASSERT_EQ(got.status, want.status) << name_of(code) << " " << largest;
    }
}

TEST_P(viterbi_int16, finds_the_most_likely_codeword) {
  for (const conv_code& code : testing::many_codes()) {
    if (code.ending == conv_ending::tail_biting) continue;
    const std::size_t k = 70, count = 3;
    const steps_t llr = whole_llrs(code, k, count, 127, 4);
    const auto got = decode(exec(), viterbi_decoder(int16_of(code, k)), llr);
    const std::size_t n = llr.size() / count;
    for (std::size_t b = 0; b < count; b++) {
      const auto one = floats_of_whole(row_of(llr, b, n));
      const std::vector<double> exact(one.begin(), one.end());
      const auto coded = oracle::conv_encode(oracle_of(code), row_of(got.bits, b, k));
      double sum = 0;
      for (std::size_t i = 0; i < n; i++) sum -= coded[i] ? exact[i] : 0;
      EXPECT_EQ(sum, oracle::conv_viterbi(oracle_of(code), exact, static_cast<int>(k)).metric)
          << name_of(code);
    }
  }
}

/// The largest LLRs, all wrong or all alike, and the slowest code: nothing wraps.
TEST_P(viterbi_int16, does_not_overflow) {
  const auto reference = testing::open_reference();
  std::mt19937_64 rng(5);
  for (const auto& generators :
       {std::vector<int>{0561, 0753, 0711, 0765}, {0400, 0400, 0400, 0400}, {0133, 0171}}) {
    const conv_code code{.constraint_length = generators[0] > 0377 ? 9 : 7, .generators = generators};
    const std::size_t k = 100, count = 8;
    const viterbi_decoder d(int16_of(code, k)), plain({.code = code, .k = 100});
    steps_t llr(d.frame().n() * count);
    for (std::size_t i = 0; i < llr.size(); i++) {
      const std::size_t kind = i / d.frame().n();
      const bool low = kind == 0 || (kind == 1 && i % 2 == 0) || (kind > 2 && rng() % kind == 0);
      llr[i] = static_cast<std::int8_t>(low ? -128 : 127);
    }
    EXPECT_EQ(decode(exec(), d, llr).bits, decode(*reference, plain, floats_of_whole(llr)).bits)
        << generators[0];
  }
}

TEST_P(viterbi_int16, without_noise_gives_what_was_sent) {
  for (const auto& [code, k, windows] : std::vector<std::tuple<conv_code, int, std::optional<int>>>{
           {conv_80211(conv_rate::r1_2), 5000, {}},
           {conv_80211(conv_rate::r3_4), 5003, 4},
           {conv_80216(conv_rate::r5_6, conv_ending::tail_biting), 2600, 3},
           {conv_lte(), 4099, 4},
           {conv_recursive(4, 013, {015}), 700, 7},
           {conv_recursive(9, 0561, {0753}), 1500, 2},
           {{.constraint_length = 3, .generators = {07, 05}}, 331, 19},
           {{.constraint_length = 8, .generators = {0133, 0171}}, 600, 1}}) {
    const std::size_t length = static_cast<std::size_t>(k);
    conv_code serial = code;
    serial.order = conv_order::serial;
    const auto w = make_conv_codewords(code.sent.empty() ? code : serial, length, 3, 12, 6);
    const viterbi_decoder d(int16_of(code, length, windows));
    const auto got = decode(exec(), d, w.llr);
    EXPECT_EQ(differences(got.bits, w.sent), 0) << name_of(code) << " k=" << k;
    EXPECT_EQ(got.status, bit_vector(3, 0));
  }
}

TEST_P(viterbi_int16, floats_become_steps) {
  const conv_code code = conv_80211(conv_rate::r2_3);
  const viterbi_decoder d(int16_of(code, 200, 1, 4.f));
  const steps_t steps = whole_llrs(code, 200, 9, 127, 8);
  std::mt19937_64 rng(1);
  std::vector<float> llr;
  for (const std::int8_t x : steps) {  // anything that rounds to x, and what is beyond the limits
    const float off = 0.9f * (static_cast<float>(rng() >> 40) * 0x1p-24f - 0.5f);
    llr.push_back(x == 127 ? 1e38f : x == -127 ? -1e38f : (static_cast<float>(x) + off) / 4);
  }
  EXPECT_TRUE(decode(exec(), d, llr) == decode(exec(), d, steps));
}

/// Counts of wrong bits, the same on every backend: 8-bit LLRs and windows lose little. 0.05 dB are 4 to 5 %
/// of bit errors at these rates, and a sum of some 2000 is told to that.
TEST_P(viterbi_int16, loses_little_against_float32) {
  if (GetParam().name != "avx512" && GetParam().name != "avx2" && !GetParam().name.starts_with("cuda"))
    GTEST_SKIP() << "equal bits are held elsewhere";
  for (const auto& [code, esn0_db] :
       {std::pair{conv_80211(conv_rate::r1_2), -1.4}, std::pair{conv_80211(conv_rate::r3_4), 2.}}) {
    const std::size_t k = 4000, count = small_scale() ? 8 : 96;
    const auto w = make_conv_codewords(code, k, count, esn0_db, 9);
    const auto wrong = [&](const viterbi_config& c) {
      return differences(decode(exec(), viterbi_decoder(c), w.llr).bits, w.sent);
    };
    const int float32 = wrong({.code = code, .k = static_cast<int>(k)}), one = wrong(int16_of(code, k, 1)),
              windows = wrong(int16_of(code, k, 8));
    const std::string rate = code.sent.empty() ? "_half" : "_three_quarters";
    RecordProperty("float32" + rate, float32);
    RecordProperty("one_window" + rate, one);
    RecordProperty("windows" + rate, windows);
    EXPECT_LT(one, float32 + float32 / 25 + 20) << float32;
    EXPECT_LT(windows, float32 + float32 / 25 + 20) << float32;
    EXPECT_GT(float32, small_scale() ? 0 : 1000);
  }
}

TEST(viterbi_int16_arguments, bad_ones_are_named) {
  const auto with = [](auto set) {
    viterbi_config c = int16_of(conv_lte(), 2000);
    set(c);
    return blamed([&] { (void)completed(c); }, [&] { viterbi_decoder d(c); });
  };
  EXPECT_EQ(with([](auto&) {}), "");
  EXPECT_EQ(with([](auto& c) { c.windows = -1; }), "windows");
  EXPECT_EQ(with([](auto& c) { c.windows = 42; }), "windows");  // of 48 steps, as long as the overlap
  EXPECT_EQ(with([](auto& c) { c.windows = 41; }), "");
  EXPECT_EQ(with([](auto& c) { c.llr_steps = 0.1f; }), "llr_steps");
  EXPECT_EQ(with([](auto& c) { c.tail_biting = tail_biting_search::exact; }), "tail_biting");
  EXPECT_EQ(with([](auto& c) { c.precision = static_cast<conv_precision>(2); }), "precision");
  EXPECT_EQ(with([](auto& c) { c.precision = conv_precision::float32, c.windows = 2; }), "windows");
  EXPECT_EQ(completed(int16_of(conv_80211(conv_rate::r1_2), 1024)).windows, 1);
  EXPECT_EQ(completed(int16_of(conv_80211(conv_rate::r1_2), 1024)).overlap, 0);
  EXPECT_EQ(completed(int16_of(conv_80211(conv_rate::r1_2), 12000)).windows, 8);
  EXPECT_EQ(completed(int16_of(conv_80211(conv_rate::r1_2), 12000)).overlap, 48);
  EXPECT_EQ(completed(int16_of(conv_80211(conv_rate::r5_6), 12000)).windows, 2);
  const auto exec = testing::open_scalar();
  const viterbi_decoder d(int16_of(conv_lte(), 40)), plain({.code = conv_lte(), .k = 40});
  auto llr = exec->make<float>(2, 120);
  auto steps = exec->make<std::int8_t>(2, 120);
  auto bits = exec->make<std::uint8_t>(2, 40);
  auto metric = exec->make<float>(2, 1);
  EXPECT_EQ(blamed([&] { plain.run(*exec, steps, {.bits = bits}); }), "llr");
  EXPECT_EQ(blamed([&] { d.run(*exec, llr, {.metric = metric}); }), "metric");
}

}  // namespace viterbi_short_test
}  // namespace wb
