// The LDPC decoder against the oracle (bit by bit where it is min-sum), its limit cases, and itself on every
// backend. The encoder is in code/ldpc_encode_test.cpp, error rates in ldpc_rates_test.cpp.
#include <gtest/gtest.h>

#include <cfenv>
#include <limits>
#include <map>

#include <tests/ldpc.hpp>

namespace wb {
namespace ldpc_ldpc_test {

using testing::blamed;
using testing::bytes;
using testing::decode_words;
using testing::decoded_words;
using testing::ldpc_sample;
using testing::ldpc_samples;
using testing::random_code;
using testing::row_of;
using testing::small_scale;

class ldpc : public testing::on_backend {};
WB_ON_ALL_BACKENDS(ldpc);

constexpr ldpc_schedule both_schedules[] = {ldpc_schedule::layered, ldpc_schedule::flooding};
constexpr ldpc_precision all_precisions[] = {ldpc_precision::float32, ldpc_precision::float16,
                                             ldpc_precision::int8};
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN(),
                infinite = std::numeric_limits<float>::infinity();

std::string text_of(const ldpc_decoder_config& c) {
  const char* algorithm[] = {"min-sum", "normalised", "offset", "sum-product"};
  const char* precision[] = {"float32", "float16", "int8"};
  return std::string(algorithm[static_cast<int>(c.algorithm)]) +
         (c.schedule == ldpc_schedule::layered ? " layered " : " flooding ") +
         precision[static_cast<int>(c.precision)] + ", iterations " + std::to_string(c.iterations) +
         (c.early_stop != ldpc_early_stop::none ? " at most" : "");
}

/// Words for a code: one of noise on a codeword, one with its first bits punctured, one with many ties and
/// zeros, one near and beyond the limits of all formats.
std::vector<float> words_for(const ldpc_sample& s, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto n = static_cast<std::size_t>(s.code.n()), z = static_cast<std::size_t>(s.code.z()),
             parities = static_cast<std::size_t>(s.code.n() - s.code.k());
  const auto encoder = testing::dense_encoder_of(s.code);
  std::vector<float> llrs;
  for (int kind = 0; kind < 4; kind++) {
    bytes word(n);
    try {
      word = encoder.encode(testing::random_bytes_of_bits(s.code.k(), random));
    } catch (const std::invalid_argument&) {  // a code of lower rank: the word of zeros
    }
    auto llr = testing::noisy(word, s.esn0_db + 0.5 * (seed % 3 == 0), random);
    for (std::size_t i = 0; i < n; i++) {
      if (kind == 1 && i < std::min(2 * z, parities / 2)) llr[i] = i % 2 == 0 ? 0.f : -0.f;
      if (kind == 2) llr[i] = std::clamp(std::nearbyint(llr[i]), -3.f, 3.f) / 2;
      if (kind == 3) llr[i] *= i % 7 == 0 ? 1e30f : i % 3 == 0 ? 900.f : 30.f;
    }
    llrs.insert(llrs.end(), llr.begin(), llr.end());
  }
  return llrs;
}

oracle::rounded_options rounded(const ldpc_decoder_config& c) {
  oracle::rounded_options o;
  o.format = c.precision == ldpc_precision::float32   ? oracle::number_format::single
             : c.precision == ldpc_precision::float16 ? oracle::number_format::half
                                                      : oracle::number_format::int8;
  o.order =
      c.schedule == ldpc_schedule::layered ? oracle::check_order::layered : oracle::check_order::flooding;
  o.scale = c.algorithm == ldpc_algorithm::normalised_min_sum ? c.scale : 1;
  o.offset = c.algorithm == ldpc_algorithm::offset_min_sum ? c.offset : 0;
  o.iterations = c.iterations;
  o.stop = c.early_stop != ldpc_early_stop::none;
  o.steps = c.llr_steps.value_or(o.steps);
  return o;
}

/// What the decoder must give, from the oracle.
decoded_words min_sum_by_oracle(const ldpc_code& code, const ldpc_decoder_config& c,
                                const std::vector<float>& llr) {
  decoded_words words;
  const auto base = testing::base_of(code);
  const auto n = static_cast<std::size_t>(code.n());
  for (std::size_t w = 0; w < llr.size() / n; w++) {
    const auto r = oracle::ldpc_decode_rounded(base, row_of(llr, w, n), rounded(c));
    words.bits.insert(words.bits.end(), r.bits.begin(), r.bits.end());
    words.soft.insert(words.soft.end(), r.a_posteriori.begin(), r.a_posteriori.end());
    words.extrinsic.insert(words.extrinsic.end(), r.extrinsic.begin(), r.extrinsic.end());
    words.iterations.push_back(r.iterations);
    words.status.push_back(r.satisfied ? status_stopped : 0);
  }
  return words;
}

// ---------------------------------------------------------------- the oracle

struct expectation {
  const ldpc_sample* sample;
  ldpc_decoder_config config;
  std::vector<float> llr;
  decoded_words want;
};
/// Made once for all backends.
const std::vector<expectation>& min_sum_expectations() {
  static const std::vector<expectation> expectations = [] {
    const ldpc_decoder_config settings[] = {
        {.algorithm = ldpc_algorithm::min_sum,
         .iterations = 3,
         .early_stop = ldpc_early_stop::none,
         .llr_steps = 3},
        {.algorithm = ldpc_algorithm::normalised_min_sum, .scale = 0.75f, .iterations = 8, .llr_steps = 3},
        {.algorithm = ldpc_algorithm::normalised_min_sum, .scale = 0.625f, .iterations = 2, .llr_steps = 4},
        {.algorithm = ldpc_algorithm::offset_min_sum, .offset = 0.4f, .iterations = 5, .llr_steps = 3}};
    std::vector<expectation> list;
    std::uint64_t seed = 0;
    for (const ldpc_sample& s : ldpc_samples())
      for (auto schedule : both_schedules)
        for (auto precision : all_precisions)
          for (auto c : settings) {
            seed++;
            // Every fourth of the large ones, another one each time.
            if (s.code.n() > 1000 && seed % 4 != seed / 4 % 4) continue;
            if (small_scale() && seed % 5 != 0) continue;
            c.schedule = schedule;
            c.precision = precision;
            auto llr = words_for(s, seed);
            auto want = min_sum_by_oracle(s.code, c, llr);
            list.push_back({&s, c, std::move(llr), std::move(want)});
          }
    return list;
  }();
  return expectations;
}

TEST_P(ldpc, min_sum_is_the_oracles_bit_by_bit) {
  int stopped = 0, lasted = 0;
  for (const auto& x : min_sum_expectations()) {
    const auto got = decode_words(exec(), ldpc_decoder(x.sample->code, x.config), x.llr);
    const std::string label = x.sample->name + ", " + text_of(x.config);
    ASSERT_EQ(got.iterations, x.want.iterations) << label;
    ASSERT_EQ(got.status, x.want.status) << label;
    ASSERT_EQ(got.bits, x.want.bits) << label;
    for (std::size_t i = 0; i < got.soft.size(); i++) {
      const std::size_t n = static_cast<std::size_t>(x.sample->code.n());
      ASSERT_EQ(got.soft[i], x.want.soft[i]) << label << ", word " << i / n << ", bit " << i % n;
      ASSERT_EQ(got.extrinsic[i], x.want.extrinsic[i]) << label << ", word " << i / n << ", bit " << i % n;
    }
    ASSERT_TRUE(got == x.want) << label << ": a zero has a sign";
    for (auto s : got.status) (s == status_stopped ? stopped : lasted)++;
  }
  EXPECT_GT(stopped, 20);
  EXPECT_GT(lasted, 20);
}

struct double_expectation {
  const ldpc_sample* sample;
  ldpc_decoder_config config;
  std::vector<float> llr;
  std::vector<oracle::ldpc_result> want;
};
oracle::ldpc_options exact(const ldpc_decoder_config& c) {
  const bool sum_product = c.algorithm == ldpc_algorithm::sum_product;
  return {.rule = sum_product ? oracle::check_rule::sum_product : oracle::check_rule::min_sum,
          .order = c.schedule == ldpc_schedule::layered ? oracle::check_order::layered
                                                        : oracle::check_order::flooding,
          .scale = c.algorithm == ldpc_algorithm::normalised_min_sum ? static_cast<double>(c.scale) : 1,
          .offset = c.algorithm == ldpc_algorithm::offset_min_sum ? static_cast<double>(c.offset) : 0,
          .iterations = c.iterations,
          .stop = c.early_stop != ldpc_early_stop::none,
          .limit = sum_product ? 30.0 : 1e30};
}
const std::vector<double_expectation>& double_expectations() {
  static const std::vector<double_expectation> expectations = [] {
    std::vector<double_expectation> list;
    std::uint64_t seed = 1000;
    for (const ldpc_sample& s : ldpc_samples())
      for (auto algorithm : {ldpc_algorithm::min_sum, ldpc_algorithm::normalised_min_sum,
                             ldpc_algorithm::offset_min_sum, ldpc_algorithm::sum_product})
        for (auto schedule : both_schedules)
          for (int iterations : {1, 2, 3}) {
            seed++;
            if (seed % 3 != 0 && algorithm != ldpc_algorithm::sum_product) continue;
            if (seed % 4 != 0 && (small_scale() || s.code.n() > 1000)) continue;
            if (small_scale() && s.code.n() > 2000) continue;  // the oracle takes its time
            const ldpc_decoder_config c{.algorithm = algorithm,
                                        .iterations = iterations,
                                        .schedule = schedule,
                                        .early_stop = ldpc_early_stop::none};
            double_expectation x{&s, c, words_for(s, seed), {}};
            const auto n = static_cast<std::size_t>(s.code.n());
            x.llr.resize(3 * n);  // without the one beyond the limits
            const auto h = testing::checks_of(s.code);
            for (std::size_t w = 0; w < 3; w++) {
              const auto llr = row_of(x.llr, w, n);
              x.want.push_back(oracle::ldpc_decode(h, std::vector<double>(llr.begin(), llr.end()), exact(c)));
            }
            list.push_back(std::move(x));
          }
    return list;
  }();
  return expectations;
}

TEST_P(ldpc, float32_agrees_with_double_precision) {
  for (const auto& x : double_expectations()) {
    const auto got = decode_words(exec(), ldpc_decoder(x.sample->code, x.config), x.llr);
    const auto n = static_cast<std::size_t>(x.sample->code.n());
    for (std::size_t i = 0; i < got.soft.size(); i++) {
      const double want = x.want[i / n].a_posteriori[i % n], channel = static_cast<double>(x.llr[i]);
      const double tolerance = 1e-3 * (1 + std::fabs(want));
      ASSERT_NEAR(static_cast<double>(got.soft[i]), want, tolerance)
          << x.sample->name << ", " << text_of(x.config) << ", word " << i / n << ", bit " << i % n;
      ASSERT_NEAR(static_cast<double>(got.extrinsic[i]), want - channel, tolerance);
      if (std::fabs(want) > tolerance) {
        ASSERT_EQ(got.bits[i], want < 0);
      }
    }
    EXPECT_EQ(got.iterations, std::vector<std::int32_t>(3, x.config.iterations));
    for (std::size_t w = 0; w < 3; w++)
      EXPECT_EQ(got.status[w], testing::satisfies(testing::checks_of(x.sample->code), row_of(got.bits, w, n))
                                   ? status_stopped
                                   : 0);
  }
}

TEST_P(ldpc, good_words_are_decided_as_sent_and_as_by_the_oracle) {
  std::mt19937_64 random(10);
  for (const ldpc_sample& s : ldpc_samples()) {
    if (s.name.find("Wi") != 0) continue;  // an own random code may be bad
    const auto dense = testing::dense_encoder_of(s.code);
    const auto h = testing::checks_of(s.code);
    const auto n = static_cast<std::size_t>(s.code.n());
    bytes sent;
    std::vector<float> llr;
    for (int w = 0; w < 3; w++) {
      const bytes word = dense.encode(testing::random_bytes_of_bits(s.code.k(), random));
      const auto l = testing::noisy(word, s.esn0_db + 2, random);
      sent.insert(sent.end(), word.begin(), word.end());
      llr.insert(llr.end(), l.begin(), l.end());
    }
    for (auto schedule : both_schedules) {
      const ldpc_decoder_config c{
          .algorithm = ldpc_algorithm::sum_product, .iterations = 20, .schedule = schedule};
      const auto got = decode_words(exec(), ldpc_decoder(s.code, c), llr);
      EXPECT_EQ(got.bits, sent) << s.name;
      EXPECT_EQ(got.status, bytes(3, status_stopped)) << s.name;
      for (std::size_t w = 0; w < 3; w++) {
        const auto l = row_of(llr, w, n);
        const auto want = oracle::ldpc_decode(h, std::vector<double>(l.begin(), l.end()), exact(c));
        EXPECT_EQ(got.iterations[w], want.iterations) << s.name;
        EXPECT_EQ(row_of(got.bits, w, n), want.bits) << s.name;
      }
    }
  }
}

TEST_P(ldpc, one_iteration_by_hand) {
  // Two checks on four bits; layered: the second sees what the first found.
  const ldpc_code code({2, 4, {0, 0, 0, -1, -1, 0, 0, 0}}, 1);
  const std::vector<float> llr = {3, -1, 2, 5};
  for (auto precision : all_precisions) {
    const auto run = [&](ldpc_algorithm algorithm, ldpc_schedule schedule) {
      return decode_words(exec(),
                          ldpc_decoder(code, {.algorithm = algorithm,
                                              .scale = 0.5f,
                                              .offset = 1.5f,
                                              .iterations = 1,
                                              .schedule = schedule,
                                              .precision = precision,
                                              .llr_steps = 8}),
                          llr);
    };
    using floats = std::vector<float>;
    // First check: R = (-1, 2, -1), so A = (2, 1, 1, 5). Second on (1, 1, 5): R = (1, 1, 1).
    const auto layered = run(ldpc_algorithm::min_sum, ldpc_schedule::layered);
    EXPECT_EQ(layered.soft, (floats{2, 2, 2, 6}));
    EXPECT_EQ(layered.extrinsic, (floats{-1, 3, 0, 1}));
    EXPECT_EQ(layered.bits, bytes(4, 0));
    EXPECT_EQ(layered.status[0], status_stopped);
    // Second on the channel (-1, 2, 5): R = (2, -1, -1).
    EXPECT_EQ(run(ldpc_algorithm::min_sum, ldpc_schedule::flooding).soft, (floats{2, 3, 0, 4}));
    EXPECT_EQ(run(ldpc_algorithm::normalised_min_sum, ldpc_schedule::flooding).soft,
              (floats{2.5f, 1, 1, 4.5f}));
    EXPECT_EQ(run(ldpc_algorithm::offset_min_sum, ldpc_schedule::flooding).soft, (floats{3, 0, 2, 5}));
  }
}

// ---------------------------------------------------------------- limit cases

struct noise_free {
  testing::named_code named;
  bytes word;
};
const std::vector<noise_free>& noise_free_words() {
  static const std::vector<noise_free> words = [] {
    std::vector<noise_free> list;
    std::mt19937_64 random(11);
    std::size_t i = 0;
    for (const auto& named : testing::standard_codes())
      if (i++ % 7 == 0 || !small_scale())
        list.push_back({named, testing::dense_encoder_of(named.code)
                                   .encode(testing::random_bytes_of_bits(named.code.k(), random))});
    return list;
  }();
  return words;
}

TEST_P(ldpc, noise_free_words_come_back_after_one_iteration) {
  for (const auto& x : noise_free_words()) {
    std::vector<float> llr;
    for (auto b : x.word) llr.push_back(b ? -5.f : 5.f);
    for (auto schedule : both_schedules) {
      std::vector<ldpc_decoder_config> settings = {{.algorithm = ldpc_algorithm::sum_product}};
      for (auto precision : all_precisions) settings.push_back({.precision = precision});
      for (auto c : settings) {
        c.schedule = schedule;
        const auto got = decode_words(exec(), ldpc_decoder(x.named.code, c), llr);
        ASSERT_EQ(got.bits, x.word) << x.named.name << ", " << text_of(c);
        ASSERT_EQ(got.iterations[0], 1) << x.named.name;
        ASSERT_EQ(got.status[0], status_stopped);
        // Each check confirms each bit, and int8 saturates no further than its limits.
        for (std::size_t i = 0; i < llr.size(); i++) ASSERT_GT(got.soft[i] * llr[i], 25.f) << x.named.name;
      }
    }
  }
}

TEST_P(ldpc, erased_bits_are_filled_in) {
  // Without noise, one bit in ten is unknown: each is found once a check knows all its other bits.
  const ldpc_code code = wimax_ldpc(576, wimax_rate::r1_2);
  std::mt19937_64 random(12);
  const bytes word = testing::dense_encoder_of(code).encode(testing::random_bytes_of_bits(code.k(), random));
  std::vector<float> llr;
  for (auto b : word) llr.push_back(random() % 10 == 0 ? 0.f : b ? -4.f : 4.f);
  for (auto precision : all_precisions)
    EXPECT_EQ(decode_words(exec(), ldpc_decoder(code, {.precision = precision}), llr).bits, word);
}

TEST_P(ldpc, nothing_received_is_an_erasure) {
  for (const ldpc_sample& s : ldpc_samples())
    for (auto schedule : both_schedules)
      for (auto algorithm : {ldpc_algorithm::offset_min_sum, ldpc_algorithm::sum_product})
        for (auto precision : all_precisions) {
          if (algorithm == ldpc_algorithm::sum_product && precision != ldpc_precision::float32) continue;
          const auto n = static_cast<std::size_t>(s.code.n());
          const ldpc_decoder d(s.code,
                               {.algorithm = algorithm, .schedule = schedule, .precision = precision});
          const auto got = decode_words(exec(), d, std::vector<float>(n));
          const decoded_words erased{bytes(n),
                                     std::vector<float>(n),
                                     std::vector<float>(n),
                                     {0},
                                     {status_erased | status_insufficient}};
          ASSERT_TRUE(got == erased) << s.name << ", " << text_of(d.config());
        }
}

// LLRs of any scale: sum-product makes no more word errors than double precision does of the same LLRs.
TEST_P(ldpc, the_scale_of_llrs_costs_no_words) {
  struct scaled_words {
    ldpc_code code;
    bytes sent;
    float scale;
    std::vector<float> llr;
    int errors[2];
  };
  const std::size_t n = 576, count = 25;
  const auto errors_of = [&](const bytes& bits, const bytes& sent) {
    int errors = 0;
    for (std::size_t w = 0; w < count; w++) errors += row_of(bits, w, n) != row_of(sent, w, n);
    return errors;
  };
  const auto setting = [](ldpc_schedule schedule) {
    return ldpc_decoder_config{
        .algorithm = ldpc_algorithm::sum_product, .iterations = 8, .schedule = schedule};
  };
  static const std::vector<scaled_words> cases = [&] {
    std::vector<scaled_words> list;
    for (const auto rate : {wimax_rate::r1_2, wimax_rate::r5_6})
      for (const float scale : {0.05f, 10.f, 100.f}) {
        const ldpc_code code = wimax_ldpc(576, rate);
        const auto dense = testing::dense_encoder_of(code);
        const auto h = testing::checks_of(code);
        std::mt19937_64 random(71);
        scaled_words e{code, {}, scale, {}, {}};
        bytes decided[2];
        for (std::size_t w = 0; w < count; w++) {
          const bytes word = dense.encode(testing::random_bytes_of_bits(code.k(), random));
          auto llr = testing::noisy(word, rate == wimax_rate::r1_2 ? -0.5 : 4, random);
          for (float& x : llr) x *= scale;
          e.sent.insert(e.sent.end(), word.begin(), word.end());
          e.llr.insert(e.llr.end(), llr.begin(), llr.end());
          for (const auto schedule : both_schedules) {
            auto options = exact(setting(schedule));
            options.limit = std::numeric_limits<double>::infinity();
            const auto r = oracle::ldpc_decode(h, std::vector<double>(llr.begin(), llr.end()), options);
            bytes& bits = decided[static_cast<int>(schedule)];
            bits.insert(bits.end(), r.bits.begin(), r.bits.end());
          }
        }
        for (int s = 0; s < 2; s++) e.errors[s] = errors_of(decided[s], e.sent);
        list.push_back(std::move(e));
      }
    return list;
  }();
  for (const scaled_words& e : cases)
    for (const auto schedule : both_schedules) {
      const auto got = decode_words(exec(), ldpc_decoder(e.code, setting(schedule)), e.llr);
      EXPECT_LE(errors_of(got.bits, e.sent), e.errors[static_cast<int>(schedule)] + 1)
          << "k " << e.code.k() << ", scale " << e.scale << ", schedule " << static_cast<int>(schedule);
    }
}

TEST_P(ldpc, sum_product_of_large_llrs_is_the_oracles) {
  for (const ldpc_sample& s : ldpc_samples()) {
    if (s.code.n() > 1000) continue;
    const auto h = testing::checks_of(s.code);
    const auto n = static_cast<std::size_t>(s.code.n());
    auto llr = row_of(words_for(s, 72), 0, n);
    for (float& x : llr) x *= 30;
    for (const auto schedule : both_schedules) {
      const ldpc_decoder_config c{.algorithm = ldpc_algorithm::sum_product,
                                  .iterations = 2,
                                  .schedule = schedule,
                                  .early_stop = ldpc_early_stop::none};
      auto options = exact(c);
      options.limit = std::numeric_limits<double>::infinity();
      const auto want = oracle::ldpc_decode(h, std::vector<double>(llr.begin(), llr.end()), options);
      const auto got = decode_words(exec(), ldpc_decoder(s.code, c), llr);
      for (std::size_t i = 0; i < n; i++)
        ASSERT_NEAR(static_cast<double>(got.soft[i]), want.a_posteriori[i],
                    0.5 + 1e-3 * std::fabs(want.a_posteriori[i]))
            << s.name << ", " << text_of(c) << ", bit " << i;
    }
  }
}

TEST_P(ldpc, extreme_llrs_stay_finite) {
  const ldpc_code code = wifi_ldpc(648, wifi_rate::r3_4);
  std::mt19937_64 random(13);
  const bytes word = testing::dense_encoder_of(code).encode(testing::random_bytes_of_bits(code.k(), random));
  for (float size : {1e-38f, 1e-3f, 1e4f, 3e38f})
    for (auto schedule : both_schedules)
      for (auto algorithm : {ldpc_algorithm::min_sum, ldpc_algorithm::sum_product})
        for (auto precision : all_precisions) {
          if (algorithm == ldpc_algorithm::sum_product && precision != ldpc_precision::float32) continue;
          std::vector<float> llr;
          for (auto b : word) llr.push_back(b ? -size : size);
          const ldpc_decoder d(code, {.algorithm = algorithm,
                                      .iterations = 40,
                                      .schedule = schedule,
                                      .precision = precision,
                                      .early_stop = ldpc_early_stop::none,
                                      .llr_steps = 3});
          const auto got = decode_words(exec(), d, llr);
          for (float x : got.soft) ASSERT_TRUE(std::isfinite(x)) << text_of(d.config());
          for (float x : got.extrinsic) ASSERT_TRUE(std::isfinite(x)) << text_of(d.config());
          if (size > 1) {
            EXPECT_EQ(got.bits, word) << size << ", " << text_of(d.config());
          }
          const bool rounds_to_zero = (precision == ldpc_precision::int8 && size < 1) ||
                                      (precision == ldpc_precision::float16 && size < 1e-3f);
          EXPECT_EQ(got.status[0], rounds_to_zero ? status_erased | status_insufficient : status_stopped);
          EXPECT_EQ(got.iterations[0], rounds_to_zero ? 0 : 40);
        }
}

TEST_P(ldpc, a_large_lifting_size_and_a_large_code) {
  struct item {
    ldpc_code code;
    ldpc_schedule schedule;
  };
  const item items[] = {{random_code(2, 5, 4096, 3, 14), ldpc_schedule::layered},
                        {random_code(3, 6, 4095, 4, 15), ldpc_schedule::flooding},
                        {random_code(24, 48, 520, 6, 16), ldpc_schedule::layered},
                        {random_code(128, 200, 7, 5, 17), ldpc_schedule::flooding},
                        {random_code(16, 300, 3, 60, 19), ldpc_schedule::layered}};
  for (const auto& [code, schedule] : items)
    for (auto precision : all_precisions) {
      if (small_scale() && precision != ldpc_precision::float32) continue;
      std::mt19937_64 random(18);
      const auto llr = testing::noisy(bytes(static_cast<std::size_t>(code.n())), 0, random);
      const ldpc_decoder_config c{
          .iterations = 2, .schedule = schedule, .precision = precision, .llr_steps = 3};
      ASSERT_TRUE(decode_words(exec(), ldpc_decoder(code, c), llr) == min_sum_by_oracle(code, c, llr))
          << "z = " << code.z() << ", " << text_of(c);
    }
}

// ---------------------------------------------------------------- early stop and outputs

std::vector<float> some_words(const ldpc_code& code, int count, double esn0_db, std::uint64_t seed) {
  static std::map<int, oracle::dense_encoder> encoders;  // by n: one code of each length is used
  if (!encoders.contains(code.n())) encoders.emplace(code.n(), testing::dense_encoder_of(code));
  std::mt19937_64 random(seed);
  std::vector<float> llrs;
  for (int i = 0; i < count; i++) {
    const auto word = encoders.at(code.n()).encode(testing::random_bytes_of_bits(code.k(), random));
    const auto llr = testing::noisy(word, esn0_db + 0.2 * (i % 5), random);
    llrs.insert(llrs.end(), llr.begin(), llr.end());
  }
  return llrs;
}

/// float32 with two algorithms, and the other precisions.
std::vector<ldpc_decoder_config> each_arithmetic(const ldpc_decoder_config& with = {}) {
  std::vector<ldpc_decoder_config> configs;
  for (auto schedule : both_schedules) {
    auto c = with;
    c.schedule = schedule;
    c.algorithm = ldpc_algorithm::sum_product;
    configs.push_back(c);
    c.algorithm = ldpc_algorithm::normalised_min_sum;
    for (auto precision : all_precisions) {
      c.precision = precision;
      configs.push_back(c);
    }
  }
  return configs;
}

TEST_P(ldpc, early_stop_is_what_full_decoding_reaches) {
  const ldpc_code code = wifi_ldpc(648, wifi_rate::r1_2);
  const std::size_t n = 648, count = 24;
  const auto llr = some_words(code, count, -1.6, 20);
  const auto h = testing::checks_of(code);
  for (auto c : each_arithmetic({.iterations = 10})) {
    const auto stopped = decode_words(exec(), ldpc_decoder(code, c), llr);
    int early = 0, never = 0;
    for (std::size_t w = 0; w < count; w++) {
      const bool holds = stopped.status[w] == status_stopped;
      EXPECT_EQ(holds, testing::satisfies(h, row_of(stopped.bits, w, n))) << text_of(c);
      early += holds && stopped.iterations[w] < 10;
      never += !holds;
      if (!holds) {
        EXPECT_EQ(stopped.iterations[w], 10);
      }
    }
    EXPECT_GT(early, 3) << text_of(c);
    EXPECT_GT(never, 1) << text_of(c);
    // The same iterations without the rule give the same LLRs, and one less does not satisfy the checks.
    auto full = c;
    full.early_stop = ldpc_early_stop::none;
    for (int i = 1; i <= 10; i += small_scale() ? 3 : 1) {
      full.iterations = i;
      const auto decoded = decode_words(exec(), ldpc_decoder(code, full), llr);
      for (std::size_t w = 0; w < count; w++) {
        const auto word = row_of(decoded.bits, w, n);
        EXPECT_EQ(decoded.status[w], testing::satisfies(h, word) ? status_stopped : 0);
        if (i < stopped.iterations[w]) {
          EXPECT_FALSE(testing::satisfies(h, word)) << text_of(c);
        }
        if (i != stopped.iterations[w]) continue;
        EXPECT_EQ(word, row_of(stopped.bits, w, n));
        EXPECT_EQ(row_of(decoded.soft, w, n), row_of(stopped.soft, w, n));
        EXPECT_EQ(row_of(decoded.extrinsic, w, n), row_of(stopped.extrinsic, w, n));
      }
    }
  }
}

TEST_P(ldpc, iterations_past_convergence_keep_the_word) {
  const ldpc_code code = wimax_ldpc(576, wimax_rate::r1_2);
  const auto llr = some_words(code, 8, 1, 21);
  for (auto c : each_arithmetic()) {
    const auto once = decode_words(exec(), ldpc_decoder(code, c), llr);
    ASSERT_EQ(once.status, bytes(8, status_stopped)) << text_of(c);
    c.early_stop = ldpc_early_stop::none;
    for (int iterations : {16, 17, small_scale() ? 40 : 200}) {
      c.iterations = iterations;
      EXPECT_EQ(decode_words(exec(), ldpc_decoder(code, c), llr).bits, once.bits) << text_of(c);
    }
  }
}

TEST_P(ldpc, extrinsic_is_soft_minus_channel) {
  const ldpc_code code = wifi_ldpc(648, wifi_rate::r1_2);
  const auto llr = some_words(code, 5, -1.4, 22);
  for (const auto& c :
       each_arithmetic({.iterations = 3, .early_stop = ldpc_early_stop::none, .llr_steps = 8})) {
    const auto got = decode_words(exec(), ldpc_decoder(code, c), llr);
    const float grain = c.precision == ldpc_precision::int8      ? 1.f / 16
                        : c.precision == ldpc_precision::float16 ? 0.02f
                                                                 : 0.f;
    for (std::size_t i = 0; i < llr.size(); i++) {
      if (grain == 0) {
        ASSERT_EQ(got.extrinsic[i], got.soft[i] - llr[i]) << text_of(c);
      } else if (std::fabs(llr[i]) < 15) {
        ASSERT_NEAR(got.extrinsic[i], got.soft[i] - llr[i], grain) << text_of(c);
      }
    }
  }
}

// ---------------------------------------------------------------- every backend, batch and layout

TEST_P(ldpc, decoders_are_copied_and_moved) {
  const ldpc_code code = wimax_ldpc(576, wimax_rate::r1_2);
  const auto llr = some_words(code, 3, -1, 43);
  ldpc_decoder first(code, {.iterations = 5});
  const auto want = decode_words(exec(), first, llr);
  ldpc_decoder copy = first, moved = std::move(first);
  EXPECT_TRUE(decode_words(exec(), copy, llr) == want);
  EXPECT_TRUE(decode_words(exec(), moved, llr) == want);
  EXPECT_EQ(moved.code().n(), 576);
  EXPECT_EQ(moved.config().iterations, 5);
  copy = ldpc_decoder(wifi_ldpc(648, wifi_rate::r1_2), {});
  EXPECT_EQ(copy.code().n(), 648);
  copy = moved;
  EXPECT_TRUE(decode_words(exec(), copy, llr) == want);
}

// ---------------------------------------------------------------- bad input

TEST(ldpc_on_cpu, ignores_the_rounding_mode_of_its_caller) {
  cpu e({.threads = 1, .instructions = {}});
  const ldpc_code code = wimax_ldpc(576, wimax_rate::r1_2);
  const auto llr = some_words(code, 3, -1, 46);
  for (const auto& c : each_arithmetic({.iterations = 4})) {
    const ldpc_decoder d(code, c);
    const auto want = decode_words(e, d, llr);
    std::fesetround(FE_UPWARD);
    const auto got = decode_words(e, d, llr);
    EXPECT_EQ(std::fegetround(), FE_UPWARD);  // and leaves it alone
    std::fesetround(FE_TONEAREST);
    EXPECT_TRUE(got == want) << text_of(c);
  }
}

TEST(ldpc_errors, bad_settings_are_refused) {
  const ldpc_code code = wimax_ldpc(576, wimax_rate::r1_2);
  const auto with = [&](const ldpc_decoder_config& c) {
    try {
      ldpc_decoder d(code, c);
    } catch (const argument_error& e) {
      EXPECT_FALSE(e.allowed().empty());
      EXPECT_NE(std::string(e.what()).find(e.value()), std::string::npos);
      return e.argument();
    }
    return std::string();
  };
  using enum ldpc_algorithm;
  const auto int8 = ldpc_precision::int8;
  EXPECT_EQ(with({}), "");
  EXPECT_EQ(with({.iterations = 0}), "iterations");
  EXPECT_EQ(with({.iterations = -1}), "iterations");
  EXPECT_EQ(with({.iterations = 1001}), "iterations");
  EXPECT_EQ(with({.iterations = 1000}), "");
  for (float scale : {0.f, -0.5f, 1.01f, not_a_number, infinite}) {
    EXPECT_EQ(with({.algorithm = normalised_min_sum, .scale = scale}), "scale");
    EXPECT_EQ(with({.algorithm = min_sum, .scale = scale}), "");  // not used
  }
  EXPECT_EQ(with({.scale = 0.8f}), "");
  EXPECT_EQ(with({.scale = 0.8f, .precision = int8}), "scale");
  EXPECT_EQ(with({.scale = 0.875f, .precision = int8}), "");
  for (float offset : {-0.1f, 8.1f, not_a_number, -infinite}) {
    EXPECT_EQ(with({.algorithm = offset_min_sum, .offset = offset}), "offset");
    EXPECT_EQ(with({.algorithm = normalised_min_sum, .offset = offset}), "");
  }
  for (float steps : {0.f, -1.f, 0.2f, 65.f, not_a_number}) {
    EXPECT_EQ(with({.precision = int8, .llr_steps = steps}), "llr_steps");
    EXPECT_EQ(with({.llr_steps = steps}), "");
  }
  EXPECT_EQ(with({.algorithm = sum_product, .precision = int8}), "precision");
  EXPECT_EQ(with({.algorithm = sum_product, .precision = ldpc_precision::float16}), "precision");
  EXPECT_EQ(with({.algorithm = static_cast<ldpc_algorithm>(4)}), "algorithm");
  EXPECT_EQ(with({.schedule = static_cast<ldpc_schedule>(-1)}), "schedule");
  EXPECT_EQ(with({.precision = static_cast<ldpc_precision>(3)}), "precision");
  EXPECT_EQ(with({.early_stop = ldpc_early_stop::crc}), "early_stop");
  const ldpc_decoder_config by_crc{.early_stop = ldpc_early_stop::crc};
  EXPECT_EQ(blamed([&] { ldpc_decoder d(code, by_crc, ldpc_crc{crc24a}); }), "");
  EXPECT_EQ(blamed([&] { ldpc_decoder d(code, by_crc, ldpc_crc{{1, 24}}); }), "crc_polynomial");
  for (const int bits : {-1, code.k() + 1})
    EXPECT_EQ(blamed([&] { ldpc_decoder d(code, by_crc, ldpc_crc{crc24a, bits}); }), "crc.bits");
}

TEST(ldpc_settings, early_stop_is_one_word) {
  const setting_of<ldpc_decoder_config>& s = *find_setting(ldpc_decoder_settings(), "early_stop");
  ldpc_decoder_config c;
  EXPECT_EQ(as_message(s.get(c)), "\"syndrome\"");
  s.set(c, std::string("CRC"));
  EXPECT_EQ(c.early_stop, ldpc_early_stop::crc);
  s.set(c, std::string("none"));
  EXPECT_EQ(c.early_stop, ldpc_early_stop::none);
  s.set(c, std::string("syndrome"));
  EXPECT_EQ(c.early_stop, ldpc_early_stop::syndrome);
  EXPECT_EQ(blamed([&] { s.set(c, std::string("soon")); }), "early_stop");
  EXPECT_EQ(blamed([&] { s.set(c, true); }), "early_stop");
}

}  // namespace ldpc_ldpc_test
}  // namespace wb
