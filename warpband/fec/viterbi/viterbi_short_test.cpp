// The 16-bit Viterbi decoder against the exhaustive search, the float32 one on whole numbers, and itself on
// every backend.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include <tests/conv.hpp>
#include <tests/on_backends.hpp>
#include <warpband/fec/viterbi/viterbi.hpp>

namespace wb {
namespace viterbi_short_test {

using testing::bit_vector;
using testing::blamed;
using testing::make_conv_codewords;
using testing::name_of;
using testing::on_device;
using testing::oracle_of;
using testing::small_scale;

class viterbi_int16 : public testing::on_backend {};
WB_ON_ALL_BACKENDS(viterbi_int16);

using steps_t = std::vector<std::int8_t>;

viterbi_config int16_of(const conv_code& code, std::size_t k, int windows = 0, float steps = 8.f) {
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
decoded decode(executor& e, const viterbi_decoder& d, const std::vector<V>& llr,
               layout order = layout::row_major) {
  const std::size_t k = static_cast<std::size_t>(d.config().k), n = d.frame().n(), items = llr.size() / n;
  auto bits = on_device(e, bit_vector(k * items, 7), k, items, order);
  auto status = e.make<std::uint8_t>(1, items);
  d.run(e, on_device(e, llr, n, items, order), {.bits = bits, .metric = {}, .status = status});
  return {e.to_host(bits), e.to_host(status)};
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
int differences(const bit_vector& a, const bit_vector& b) {
  int n = 0;
  for (std::size_t i = 0; i < a.size(); i++) n += a[i] != b[i];
  return n;
}

/// Both decide alike where metrics are equal, so that whole numbers leave nothing open.
TEST_P(viterbi_int16, decides_whole_numbers_as_float32_does) {
  const auto reference = testing::open_reference();
  for (const conv_code& code : testing::many_codes())
    for (const int most : {1, 20, 128}) {
      const std::size_t k = 61, count = small_scale() ? 5 : 17;
      const steps_t llr = whole_numbers(code, k, count, std::min(most, 127), 3);
      const viterbi_decoder plain({.code = code, .k = static_cast<int>(k)});
      const auto want = decode(*reference, plain, floats_of(llr));
      const auto got = decode(exec(), viterbi_decoder(int16_of(code, k)), llr);
      ASSERT_EQ(got.bits, want.bits) << name_of(code) << " " << most;
      ASSERT_EQ(got.status, want.status) << name_of(code) << " " << most;
    }
}

TEST_P(viterbi_int16, finds_the_most_likely_codeword) {
  for (const conv_code& code : testing::many_codes()) {
    if (code.ending == conv_ending::tail_biting) continue;
    const std::size_t k = 70, count = 3;
    const steps_t llr = whole_numbers(code, k, count, 127, 4);
    const auto got = decode(exec(), viterbi_decoder(int16_of(code, k)), llr);
    const std::size_t n = llr.size() / count;
    for (std::size_t b = 0; b < count; b++) {
      const auto one = floats_of(rows(llr, b, 1, n));
      const std::vector<double> exact(one.begin(), one.end());
      const auto coded = oracle::conv_encode(oracle_of(code), rows(got.bits, b, 1, k));
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
    EXPECT_EQ(decode(exec(), d, llr).bits, decode(*reference, plain, floats_of(llr)).bits) << generators[0];
  }
}

TEST_P(viterbi_int16, without_noise_gives_what_was_sent) {
  for (const auto& [code, k, windows] :
       {std::tuple{conv_80211(conv_rate::r1_2), 5000, 0}, std::tuple{conv_80211(conv_rate::r3_4), 5003, 4},
        std::tuple{conv_80216(conv_rate::r5_6, conv_ending::tail_biting), 2600, 3},
        std::tuple{conv_lte(), 4099, 4}, std::tuple{conv_recursive(4, 013, {015}), 700, 7},
        std::tuple{conv_recursive(9, 0561, {0753}), 1500, 2},
        std::tuple{conv_code{.constraint_length = 3, .generators = {07, 05}}, 331, 19},
        std::tuple{conv_code{.constraint_length = 8, .generators = {0133, 0171}}, 600, 1}}) {
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

TEST_P(viterbi_int16, equals_every_backend_batch_and_layout) {
  const auto reference = testing::open_reference();
  for (const auto& [code, k, windows] :
       {std::tuple{conv_80211(conv_rate::r1_2), 1000, 1}, std::tuple{conv_80211(conv_rate::r1_2), 1000, 9},
        std::tuple{conv_80216(conv_rate::r3_4, conv_ending::tail_biting), 601, 3},
        std::tuple{conv_lte(), 40, 1}, std::tuple{conv_lte(), 500, 5},
        std::tuple{conv_recursive(4, 013, {015}), 300, 4},
        std::tuple{conv_code{.constraint_length = 9, .generators = {0561, 0753}}, 300, 2}}) {
    const std::size_t length = static_cast<std::size_t>(k), most = small_scale() ? 9 : 35;
    const viterbi_decoder d(int16_of(code, length, windows));
    EXPECT_EQ(d.config().windows, windows);
    const std::size_t n = d.frame().n();
    const steps_t steps = whole_numbers(code, length, most, 60, 7);
    std::vector<float> llr = floats_of(steps);
    for (float& x : llr) x /= 8;
    llr[3 * n + 7] = std::numeric_limits<float>::quiet_NaN();
    const auto all = decode(*reference, d, llr);
    EXPECT_EQ(count_erased(all.status), 1u);
    for (const std::size_t count : {std::size_t{1}, std::size_t{5}, most}) {
      const auto part = decode(exec(), d, rows(llr, 0, count, n));
      ASSERT_EQ(part.bits, rows(all.bits, 0, count, length)) << name_of(code) << " " << count;
      ASSERT_EQ(part.status, rows(all.status, 0, count, 1)) << name_of(code) << " " << count;
    }
    std::vector<float> turned(llr.size());
    for (std::size_t b = 0; b < most; b++)
      for (std::size_t i = 0; i < n; i++) turned[i * most + b] = llr[b * n + i];
    const auto got = decode(exec(), d, turned, layout::batch_fastest);
    for (std::size_t b = 0; b < most; b++)
      for (std::size_t i = 0; i < length; i++) ASSERT_EQ(got.bits[i * most + b], all.bits[b * length + i]);
  }
}

/// Bytes are loaded as words where they lie side by side, wherever they begin.
TEST_P(viterbi_int16, takes_bytes_at_any_address) {
  const auto reference = testing::open_reference();
  for (const auto& [code, k, windows] :
       {std::tuple{conv_80211(conv_rate::r1_2), 203, 1}, std::tuple{conv_80211(conv_rate::r1_2), 403, 3},
        std::tuple{conv_lte(), 203, 1}, std::tuple{conv_lte(), 403, 3},
        std::tuple{conv_code{.constraint_length = 9, .generators = {0561, 0753, 0711}}, 203, 1}}) {
    const std::size_t length = static_cast<std::size_t>(k), count = 9;
    const viterbi_decoder d(int16_of(code, length, windows));
    const std::size_t n = d.frame().n();
    const steps_t steps = whole_numbers(code, length, count, 90, 11);
    const auto want = decode(*reference, d, steps);
    for (std::size_t first = 1; first < 4; first++) {
      steps_t shifted(first, 1);
      shifted.insert(shifted.end(), steps.begin(), steps.end());
      const auto llr = on_device(exec(), shifted, shifted.size(), 1);
      constexpr std::uint8_t untouched = 9;
      auto bits = on_device(exec(), bit_vector((length + 1) * count, untouched), length + 1, count);
      auto status = exec().make<std::uint8_t>(1, count);
      view<std::uint8_t> rows_of_bits = bits;  // they begin at any address too
      rows_of_bits.elements = length;
      d.run(exec(), make_view(llr.data() + first, n, count),
            {.bits = rows_of_bits, .metric = {}, .status = status});
      const bit_vector got = exec().to_host(bits);
      for (std::size_t b = 0; b < count; b++)
        ASSERT_EQ(rows(got, b, 1, length + 1),
                  [&] {
                    bit_vector row = rows(want.bits, b, 1, length);
                    row.push_back(untouched);
                    return row;
                  }())
            << name_of(code) << " " << first;
    }
  }
}

TEST_P(viterbi_int16, floats_become_steps) {
  const conv_code code = conv_80211(conv_rate::r2_3);
  const viterbi_decoder d(int16_of(code, 200, 1, 4.f));
  const steps_t steps = whole_numbers(code, 200, 9, 127, 8);
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

TEST_P(viterbi_int16, words_without_usable_llrs_are_erased_whatever_their_scale) {
  for (const auto& [code, k, windows] :
       {std::tuple{conv_80211(conv_rate::r1_2), 300, 1}, std::tuple{conv_lte(), 300, 4}}) {
    const std::size_t length = static_cast<std::size_t>(k), count = 19;
    const viterbi_decoder d(int16_of(code, length, windows));
    const std::size_t n = d.frame().n();
    auto w = make_conv_codewords(code, length, count, 20, 10);
    const auto at = [&](std::size_t b) { return w.llr.begin() + static_cast<std::ptrdiff_t>(b * n); };
    std::fill(at(2), at(3), 0.f);
    std::fill(at(4), at(5), 0.0624f);  // of steps of 1/8
    std::fill(at(6), at(7), 1e-30f);
    std::fill(at(8) + static_cast<std::ptrdiff_t>(length) - 1, at(9), 0.f);  // k - 1 are left
    *at(10) = -std::numeric_limits<float>::infinity();
    *(at(13) - 1) = std::numeric_limits<float>::quiet_NaN();
    for (auto x = at(14); x != at(15); ++x) *x *= 1e30f;
    const auto got = decode(exec(), d, w.llr);
    for (std::size_t b = 0; b < count; b++) {
      const bool few = b == 2 || b == 4 || b == 6 || b == 8, not_finite = b == 10 || b == 12;
      EXPECT_EQ(got.status[b], few          ? status_erased | status_insufficient
                               : not_finite ? status_erased
                                            : 0)
          << b;
      EXPECT_EQ(rows(got.bits, b, 1, length),
                few || not_finite ? bit_vector(length, 0) : rows(w.sent, b, 1, length))
          << b;
    }
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
  auto llr = exec->make<float>(120, 2);
  auto steps = exec->make<std::int8_t>(120, 2), other = exec->make<std::int8_t>(119, 2);
  auto bits = exec->make<std::uint8_t>(40, 2);
  auto metric = exec->make<float>(1, 2);
  EXPECT_EQ(blamed([&] { d.run(*exec, other, {.bits = bits}); }), "llr");
  EXPECT_EQ(blamed([&] { plain.run(*exec, steps, {.bits = bits}); }), "llr");
  EXPECT_EQ(blamed([&] { d.run(*exec, llr, {.metric = metric}); }), "metric");
  EXPECT_EQ(blamed([&] { d.run(*exec, llr, {.status = bits}); }), "status");
}

}  // namespace viterbi_short_test
}  // namespace wb
