// nway and mmse in fixed point: against integers, across backends, over word lengths, and bad settings.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <oracle/fixed_point.hpp>
#include <tests/mimo.hpp>
#include <warpband/detect/linear/linear.hpp>

namespace detect_fixed_point_test {

using wb::detector_config;
using namespace wb::testing;

std::size_t fewer_if_small(std::size_t uses) { return small_scale() ? uses / 20 + 1 : uses; }

detector_config in_words(detector_config c, int length, std::optional<int> fraction = {}) {
  wb::word_settings& words = c.type == mmse ? c.edit<wb::mmse_settings>().words : nway_in(c).words;
  words = {length, fraction};
  return c;
}
wb::word_settings words_of(detector_config c) {
  return c.type == mmse ? c.edit<wb::mmse_settings>().words : nway_in(c).words;
}
std::vector<double> integer_llrs(const detector_config& config, const oracle::mimo_use& use) {
  detector_config c = completed(config);
  const oracle::words format{*words_of(c).word_length, *words_of(c).fraction_bits};
  return c.type == mmse ? oracle::detect_mmse_in_words(use, *c.llr_clip, format)
                        : oracle::detect_nway_in_words(use, *nway_in(c).ways, *c.llr_clip, format);
}

/// Both detectors, their sizes and constellations.
std::vector<detector_config> detectors_in_float() {
  return {setting(mmse, 1, 1, 4),    setting(mmse, 2, 2, 16),   setting(mmse, 3, 4, 64),
          setting(mmse, 4, 4, 16),   setting(mmse, 8, 8, 4),    setting(mmse, 2, 16, 256),
          nway_setting(1, 1, 16, 1), nway_setting(2, 2, 4, 2),  nway_setting(2, 2, 256, 1),
          nway_setting(3, 4, 64, 2), nway_setting(4, 4, 16, 4), nway_setting(4, 4, 64, 3),
          nway_setting(8, 8, 4, 5)};
}

struct difference {
  std::size_t uses = 0;
  double largest = 0;  // of two LLRs
};
/// Uses whose LLRs or status are not those of integers.
difference off_integers(const detector_config& c, const mimo_batch& batch, const mimo_result& got) {
  difference d;
  for (std::size_t i = 0; i < batch.uses(); i++) {
    const auto expected = integer_llrs(c, oracle_use(batch, i));
    bool same = (got.status[i] != 0) == expected.empty();
    for (std::size_t e = 0; e < batch.bits(); e++) {
      const double off = std::fabs(got.llr[i * batch.bits() + e] - (expected.empty() ? 0 : expected[e]));
      same = same && off <= 0;  // not so for NaN
      d.largest = std::max(d.largest, off);
    }
    d.uses += !same;
  }
  return d;
}

class detect_words_on : public on_backend {};
WB_ON_ALL_BACKENDS(detect_words_on);

TEST_P(detect_words_on, words_of_up_to_12_bits_are_integers) {
  std::mt19937_64 random(1);
  std::size_t erased = 0;
  for (const detector_config& c : detectors_in_float())
    for (const int length : {4, 6, 8, 10, 12})
      for (const double prior : {0., 3.})
        for (const bool chosen : {true, false}) {
          if (prior > 0 && !takes_prior(c)) continue;
          detector_config words =
              in_words(c, length, chosen ? std::optional<int>() : static_cast<int>(random() % 12) % length);
          if (length == 6) words.llr_clip = 2.5f;
          const mimo_batch batch = draw_mimo(c, fewer_if_small(100), {.prior = prior}, random);
          const mimo_result got = detect(exec(), words, batch);
          EXPECT_EQ(off_integers(words, batch, got).uses, 0U) << text_of(words) << ", priors of " << prior;
          erased += wb::count_erased(got.status);
        }
  EXPECT_GT(erased, 0U);  // columns that are 0 after rounding are among them
}

TEST_P(detect_words_on, longer_words_are_integers_but_for_sums_close_to_a_tie) {
  std::mt19937_64 random(2);
  std::size_t off = 0, total = 0;
  for (const detector_config& c : detectors_in_float())
    for (const int length : {14, 16}) {
      const detector_config words = in_words(c, length);
      const mimo_batch batch = draw_mimo(c, fewer_if_small(200), {}, random);
      const difference d = off_integers(words, batch, detect(exec(), words, batch));
      off += d.uses;
      total += batch.uses();
      EXPECT_LE(d.largest, 0.25) << text_of(words);
    }
  EXPECT_LE(off, 1 + total / 50);
}

TEST_P(detect_words_on, backends_have_equal_bits_whatever_the_input) {
  const auto reference = open_reference();
  std::mt19937_64 random(3);
  const float infinity = std::numeric_limits<float>::infinity();
  for (const detector_config& c : detectors_in_float())
    for (const int length : {4, 8, 13, 16}) {
      detector_config words = in_words(c, length);
      if (c.type == nway && length == 8) words = sorted(words, wb::stream_sort::sqrd);
      mimo_batch batch = draw_mimo(c, 60, {.least_n0 = 1e-12, .most_n0 = 1e6}, random);
      const std::size_t rx = static_cast<std::size_t>(c.rx_antennas);
      for (std::size_t i = 0; i < 20; i++) {  // large and small, then none that can be used
        for (std::size_t r = 0; r < rx; r++) batch.y[i * rx + r] *= std::ldexp(1.f, static_cast<int>(i) - 10);
        for (std::size_t e = 0; e < batch.gains(); e++)
          batch.h[i * batch.gains() + e] *= std::ldexp(1.f, 10 - static_cast<int>(2 * (i % 10)));
      }
      batch.y[20 * rx] = infinity;
      batch.h[21 * batch.gains()] = std::nanf("");
      batch.n0[22] = 0;
      const mimo_result got = detect(exec(), words, batch);
      EXPECT_TRUE(same_bits(got, detect(*reference, words, batch))) << text_of(words);
      for (const std::size_t i : {20, 21, 22}) EXPECT_EQ(got.status[i], wb::status_erased) << text_of(words);
      const wb::word_settings format = words_of(completed(words));
      const float greatest = std::ldexp(static_cast<float>((1 << (length - 1)) - 1), -*format.fraction_bits);
      for (const float llr : got.llr) ASSERT_LE(std::fabs(llr), greatest) << text_of(words);
    }
}

TEST_P(detect_words_on, an_order_is_that_of_the_columns) {
  std::mt19937_64 random(4);
  detector_config c = in_words(nway_setting(4, 4, 16, 3), 9);
  const mimo_batch batch = draw_mimo(c, 50, {}, random);
  mimo_batch turned = batch;
  const std::vector<int> order{2, 0, 3, 1};
  for (std::size_t i = 0; i < batch.h.size(); i++)
    turned.h[i] = batch.h[i / 4 * 4 + static_cast<std::size_t>(order[i % 4])];
  const mimo_result expected = detect(exec(), c, turned);
  search_in(c).order = order;
  const mimo_result got = detect(exec(), c, batch);
  for (std::size_t i = 0; i < batch.uses() * 16; i++) {
    const std::size_t k = i % 16 / 4;
    ASSERT_EQ(got.llr[i / 16 * 16 + static_cast<std::size_t>(order[k]) * 4 + i % 4], expected.llr[i]);
  }
}

/// Wrong bits and the mean distance of the LLRs from those of float32, limited to 4.
struct quality {
  std::size_t wrong = 0;
  double distance = 0;
};
quality quality_of(wb::executor& exec, const detector_config& c, const mimo_batch& batch,
                   const mimo_result& in_float) {
  const mimo_result got = detect(exec, c, batch);
  quality q;
  const auto limited = [](float llr) { return std::clamp(llr, -4.f, 4.f); };
  for (std::size_t e = 0; e < got.llr.size(); e++) {
    q.wrong += got.bits[e] != batch.sent[e];
    q.distance +=
        std::fabs(limited(got.llr[e]) - limited(in_float.llr[e])) / static_cast<double>(got.llr.size());
  }
  return q;
}

TEST(detect_words, longer_words_come_closer_to_float32) {
  const auto exec = wb::open_executor("cpu");
  std::mt19937_64 random(5);
  for (const detector_config& c : {setting(mmse, 2, 2, 4), setting(mmse, 4, 4, 16), nway_setting(4, 4, 16, 4),
                                   nway_setting(2, 2, 64, 2)}) {
    const double n0 = c.qam == 64 ? 0.02 : 0.08;
    const mimo_batch batch =
        draw_mimo(c, fewer_if_small(20000), {.least_n0 = n0, .most_n0 = 1.001 * n0}, random);
    const mimo_result in_float = detect(*exec, c, batch);
    const quality reference = quality_of(*exec, c, batch, in_float);
    quality shorter{batch.sent.size(), std::numeric_limits<double>::infinity()};
    for (const int length : {6, 8, 10, 12, 14, 16}) {
      const quality q = quality_of(*exec, in_words(c, length), batch, in_float);
      EXPECT_LT(q.distance, shorter.distance) << text_of(c) << ", " << length;
      // Three deviations of a count, and no more wrong bits than with shorter words.
      EXPECT_LE(static_cast<double>(q.wrong),
                static_cast<double>(shorter.wrong) + 3 * std::sqrt(static_cast<double>(reference.wrong)))
          << text_of(c) << ", " << length;
      shorter = q;
    }
    EXPECT_LT(shorter.distance, 0.02) << text_of(c);
    // Samples beyond three deviations saturate, whatever the length.
    EXPECT_NEAR(static_cast<double>(shorter.wrong), static_cast<double>(reference.wrong),
                0.03 * static_cast<double>(reference.wrong) + 3)
        << text_of(c);
  }
}

std::string refused(const detector_config& c) {
  try {
    make_detector(c);
  } catch (const wb::argument_error& e) {
    return e.what();
  }
  return "";
}

TEST(detect_words, settings) {
  // Ranges of 3 deviations, 8 at least: of 8, 16 and 64.
  for (const auto& [qam, streams, fraction] :
       std::vector<std::array<int, 3>>{{16, 4, 4}, {4, 4, 4}, {64, 4, 3}, {256, 8, 1}, {4, 1, 4}}) {
    const detector_config c = in_words(setting(mmse, streams, streams, qam), 8);
    EXPECT_EQ(*words_of(completed(c)).fraction_bits, fraction) << text_of(c);
  }
  EXPECT_EQ(*words_of(completed(in_words(setting(nway, 8, 8, 256), 4))).fraction_bits, 0);
  EXPECT_EQ(label_of(in_words(nway_setting(4, 4, 16, 4), 8)), "nway N = 4, 8 bits, clip 8");
  EXPECT_EQ(label_of(in_words(setting(mmse, 4, 4, 16), 8)), "mmse, 8 bits");
  EXPECT_EQ(label_of(setting(mmse, 4, 4, 16)), "mmse");
  EXPECT_FALSE(words_of(completed(setting(mmse, 4, 4, 16))).fraction_bits);

  detector_config c = setting(mmse, 2, 2, 16);
  EXPECT_THROW(c.set("word_length", std::int64_t{3}), wb::argument_error);
  EXPECT_THROW(c.set("word_length", std::int64_t{17}), wb::argument_error);
  EXPECT_THROW(c.set("word_length", "float32"), wb::argument_error);
  const auto names = [](const std::string& message, const std::string& part) {
    return message.find(part) != std::string::npos;
  };
  for (const std::string& type : {mmse, nway}) {
    EXPECT_TRUE(names(refused(in_words(setting(type, 2, 2, 16), 3)), "4 to 16")) << type;
    EXPECT_TRUE(names(refused(in_words(setting(type, 2, 2, 16), 17)), "4 to 16")) << type;
    EXPECT_TRUE(names(refused(in_words(setting(type, 2, 2, 16), 6, 6)), "0 to 5")) << type;
    detector_config alone = setting(type, 2, 2, 16);
    alone.set("fraction_bits", std::int64_t{4});
    EXPECT_TRUE(names(refused(alone), "unset without word_length")) << type;
  }
  EXPECT_TRUE(names(refused(in_words(nway_setting(2, 2, 16, 2, {4, 16}), 8)), "unset with word_length"));
  EXPECT_TRUE(names(refused(sorted(in_words(setting(nway, 2, 2, 16), 8), wb::stream_sort::fsd)),
                    "norm-ascending or sqrd with word_length"));
  detector_config zero = setting(zf, 2, 2, 16);
  EXPECT_THROW(zero.set("word_length", std::int64_t{8}), wb::argument_error);
}

}  // namespace detect_fixed_point_test
