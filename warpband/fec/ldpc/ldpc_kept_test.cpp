// Messages kept between calls of the LDPC decoder, as an iterative receiver does: against the oracle, against
// one call with all iterations, and on every backend.
#include <gtest/gtest.h>

#include <limits>

#include <tests/ldpc.hpp>

namespace wb {
namespace ldpc_kept_test {

using testing::blamed;
using testing::bytes;
using testing::decode_words;
using testing::decoded_words;
using testing::random_code;
using testing::row_of;

class ldpc_kept : public testing::on_backend {};
WB_ON_ALL_BACKENDS(ldpc_kept);

constexpr ldpc_schedule both_schedules[] = {ldpc_schedule::layered, ldpc_schedule::flooding};
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN(),
                infinite = std::numeric_limits<float>::infinity();

/// float32 with two algorithms, and the other precisions, in both schedules.
std::vector<ldpc_decoder_config> each_arithmetic(int iterations,
                                                 ldpc_early_stop early_stop = ldpc_early_stop::none) {
  std::vector<ldpc_decoder_config> configs;
  for (auto schedule : both_schedules) {
    ldpc_decoder_config c{.iterations = iterations, .schedule = schedule, .early_stop = early_stop};
    c.algorithm = ldpc_algorithm::sum_product;
    configs.push_back(c);
    c.algorithm = ldpc_algorithm::normalised_min_sum;
    for (auto precision : {ldpc_precision::float32, ldpc_precision::float16, ldpc_precision::int8}) {
      c.precision = precision;
      configs.push_back(c);
    }
  }
  return configs;
}
std::string text_of(const ldpc_decoder_config& c) {
  return "algorithm " + std::to_string(static_cast<int>(c.algorithm)) + ", schedule " +
         std::to_string(static_cast<int>(c.schedule)) + ", precision " +
         std::to_string(static_cast<int>(c.precision)) + ", iterations " + std::to_string(c.iterations);
}

/// Codes of which lifting sizes, rotations and degrees differ from those of vectors.
std::vector<testing::named_code> codes() {
  return {{"z = 1", random_code(6, 12, 1, 4, 1)},
          {"z = 3", random_code(4, 9, 3, 4, 2)},
          {"WiMAX 576 1/2", wimax_ldpc(576, wimax_rate::r1_2)},
          {"WiFi 648 5/6", wifi_ldpc(648, wifi_rate::r5_6)},
          {"degree 30", random_code(3, 40, 17, 30, 4)},
          {"z = 130", random_code(4, 10, 130, 5, 8)}};
}

/// LLRs of a detector in its outer iterations: of some bits as before, of others new, some large, some 0.
std::vector<std::vector<float>> outer_llrs(const ldpc_code& code, std::size_t words, int calls,
                                           std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::vector<float>> llrs;
  const bytes zeros(static_cast<std::size_t>(code.n()) * words);
  llrs.push_back(testing::noisy(zeros, -0.5, random));
  for (int i = 1; i < calls; i++) {
    auto llr = llrs.back();
    const auto fresh = testing::noisy(zeros, 0, random);
    for (std::size_t e = 0; e < llr.size(); e++)
      if (random() % 4 != 0)
        llr[e] = random() % 50 == 0 ? 0.f : random() % 50 == 0 ? 90.f : (llr[e] + fresh[e]) / 2;
    llrs.push_back(llr);
  }
  return llrs;
}

/// The decoder's words, with its messages from `kept` and back.
decoded_words decode_keeping(executor& e, const ldpc_decoder& decoder, const std::vector<float>& llr,
                             std::vector<float>& kept, layout order = layout::row_major,
                             bool writes_messages = true) {
  const std::size_t n = static_cast<std::size_t>(decoder.code().n()), count = llr.size() / n,
                    width = decoder.message_values();
  if (kept.empty()) kept.resize(width * count);
  auto in = testing::on_device(e, llr, count, n);
  auto messages = testing::on_device(e, kept, count, width, order);
  auto bits = e.make<std::uint8_t>(count, n);
  auto soft = e.make<float>(count, n), extrinsic = e.make<float>(count, n);
  auto iterations = e.make<std::int32_t>(count, 1);
  auto status = e.make<std::uint8_t>(count, 1);
  decoder.run(e, in,
              {.bits = bits,
               .soft = soft,
               .extrinsic = extrinsic,
               .messages = messages,
               .writes_messages = writes_messages,
               .iterations = iterations,
               .status = status});
  kept = e.to_host(messages);
  return {e.to_host(bits), e.to_host(soft), e.to_host(extrinsic), e.to_host(iterations), e.to_host(status)};
}
/// The same with the state of the decoder's own, in the first of the calls without reading it, in the last
/// without writing it.
enum class call_of { first, middle, last };
decoded_words decode_in_state(executor& e, const ldpc_decoder& decoder, const std::vector<float>& llr,
                              std::vector<float>& state, call_of call) {
  const std::size_t n = static_cast<std::size_t>(decoder.code().n()), count = llr.size() / n,
                    width = decoder.state_values();
  if (state.empty()) state.resize(width * count, not_a_number);
  auto in = testing::on_device(e, llr, count, n);
  auto kept = testing::on_device(e, state, count, width);
  auto bits = e.make<std::uint8_t>(count, n);
  auto soft = e.make<float>(count, n), extrinsic = e.make<float>(count, n);
  auto iterations = e.make<std::int32_t>(count, 1);
  auto status = e.make<std::uint8_t>(count, 1);
  decoder.run(e, in,
              {.bits = bits,
               .soft = soft,
               .extrinsic = extrinsic,
               .state = kept,
               .reads_messages = call != call_of::first,
               .writes_messages = call != call_of::last,
               .iterations = iterations,
               .status = status});
  state = e.to_host(kept);
  return {e.to_host(bits), e.to_host(soft), e.to_host(extrinsic), e.to_host(iterations), e.to_host(status)};
}
bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// ---------------------------------------------------------------- what the values are

TEST_P(ldpc_kept, a_value_for_each_edge_twice_n_and_one) {
  const ldpc_decoder d(wimax_ldpc(576, wimax_rate::r1_2), {});
  EXPECT_EQ(d.message_values(), static_cast<std::size_t>(d.code().blocks() * 24 + 2 * 576 + 1));
}

TEST_P(ldpc_kept, messages_by_hand) {
  // Two checks on four bits. First check: R = (-1, 2, -1). Second, layered, on (1, 1, 5): R = (1, 1, 1);
  // flooding, on the channel (-1, 2, 5): R = (2, -1, -1).
  const ldpc_code code({2, 4, {0, 0, 0, -1, -1, 0, 0, 0}}, 1);
  using floats = std::vector<float>;
  for (auto precision : {ldpc_precision::float32, ldpc_precision::float16, ldpc_precision::int8}) {
    ldpc_decoder_config c{.algorithm = ldpc_algorithm::min_sum,
                          .iterations = 1,
                          .precision = precision,
                          .early_stop = ldpc_early_stop::none,
                          .llr_steps = 8};
    floats kept;
    decode_keeping(exec(), ldpc_decoder(code, c), {3, -1, 2, 5}, kept);
    EXPECT_EQ(kept, (floats{-1, 2, -1, 1, 1, 1, 2, 2, 2, 6, 3, -1, 2, 5, 1}));
    // New LLRs (3, 1, 2, 4), layered: A = (2, 4, 2, 5). First check on (3, 2, 3): R = (2, 3, 2), A = (5, 5,
    // 5). Second on (4, 4, 4): R = (4, 4, 4).
    EXPECT_EQ(decode_keeping(exec(), ldpc_decoder(code, c), {3, 1, 2, 4}, kept).soft, (floats{5, 8, 8, 8}));
    EXPECT_EQ(kept, (floats{2, 3, 2, 4, 4, 4, 5, 8, 8, 8, 3, 1, 2, 4, 2}));

    c.schedule = ldpc_schedule::flooding;
    kept.clear();
    decode_keeping(exec(), ldpc_decoder(code, c), {3, -1, 2, 5}, kept);
    EXPECT_EQ(kept, (floats{-1, 2, -1, 2, -1, -1, 2, 3, 0, 4, 3, -1, 2, 5, 1}));
    // The checks take what the bits had: (3, 1, 1) and (1, 1, 5), which gives R = (1, 1, 1) and (1, 1, 1).
    EXPECT_EQ(decode_keeping(exec(), ldpc_decoder(code, c), {3, 1, 2, 4}, kept).extrinsic,
              (floats{1, 2, 2, 1}));
  }
}

TEST_P(ldpc_kept, min_sum_is_the_oracles_bit_by_bit) {
  for (const auto& [name, code] : codes()) {
    const std::size_t n = static_cast<std::size_t>(code.n()), words = 3;
    const auto llrs = outer_llrs(code, words, 3, 5);
    for (auto c : each_arithmetic(2)) {
      if (c.algorithm == ldpc_algorithm::sum_product) continue;
      c.llr_steps = 3;
      oracle::rounded_options o;
      o.format = static_cast<oracle::number_format>(static_cast<int>(c.precision));
      o.order = static_cast<oracle::check_order>(static_cast<int>(c.schedule));
      o.scale = c.scale;
      o.iterations = c.iterations;
      o.steps = c.llr_steps.value_or(o.steps);
      std::vector<oracle::rounded_kept> want_kept(words);
      std::vector<float> kept;
      for (const auto& llr : llrs) {
        const auto got = decode_keeping(exec(), ldpc_decoder(code, c), llr, kept);
        for (std::size_t w = 0; w < words; w++) {
          const auto want =
              oracle::ldpc_decode_rounded(testing::base_of(code), row_of(llr, w, n), o, &want_kept[w]);
          ASSERT_TRUE(same_bits(row_of(got.soft, w, n), want.a_posteriori)) << name << ", " << text_of(c);
          ASSERT_TRUE(same_bits(row_of(got.extrinsic, w, n), want.extrinsic)) << name << ", " << text_of(c);
        }
      }
    }
  }
}

TEST_P(ldpc_kept, sum_product_agrees_with_double_precision) {
  for (const auto& [name, code] : codes()) {
    const auto h = testing::checks_of(code);
    const auto n = static_cast<std::size_t>(code.n());
    auto llrs = outer_llrs(code, 1, 3, 6);
    for (auto& llr : llrs)
      for (float& x : llr) x = std::clamp(x, -12.f, 12.f);
    for (auto schedule : both_schedules) {
      const ldpc_decoder_config c{.algorithm = ldpc_algorithm::sum_product,
                                  .iterations = 2,
                                  .schedule = schedule,
                                  .early_stop = ldpc_early_stop::none};
      oracle::ldpc_kept want_kept;
      std::vector<float> kept;
      for (const auto& llr : llrs) {
        const auto got = decode_keeping(exec(), ldpc_decoder(code, c), llr, kept);
        const auto want =
            oracle::ldpc_decode(h, std::vector<double>(llr.begin(), llr.end()),
                                {.order = static_cast<oracle::check_order>(static_cast<int>(schedule)),
                                 .iterations = 2,
                                 .limit = 30},
                                &want_kept);
        for (std::size_t i = 0; i < n; i++)
          ASSERT_NEAR(static_cast<double>(got.soft[i]), want.a_posteriori[i],
                      2e-3 * (1 + std::fabs(want.a_posteriori[i])))
              << name << ", " << text_of(c) << ", bit " << i;
      }
    }
  }
}

// Without cycles belief propagation ends at the marginals, whatever messages it began with.
TEST_P(ldpc_kept, a_code_without_cycles_gives_the_exact_extrinsics_of_each_calls_llrs) {
  const ldpc_code code({3, 7, {0,  0,  0,  -1, -1, -1, -1,  //
                               -1, -1, 0,  0,  0,  -1, -1,  //
                               -1, -1, -1, -1, 0,  0,  0}},
                       1);
  const auto h = testing::checks_of(code);
  std::mt19937_64 random(7);
  std::normal_distribution<float> normal(0.3f, 2.f);
  for (auto schedule : both_schedules) {
    const ldpc_decoder d(code, {.algorithm = ldpc_algorithm::sum_product,
                                .iterations = 8,
                                .schedule = schedule,
                                .early_stop = ldpc_early_stop::none});
    std::vector<float> kept;
    for (int call = 0; call < 4; call++) {
      std::vector<float> llr;
      for (int i = 0; i < 7; i++) llr.push_back(call == 2 && i < 2 ? 0.f : normal(random));
      const auto got = decode_keeping(exec(), d, llr, kept);
      for (std::size_t i = 0; i < 7; i++) {
        double p[2] = {0, 0};
        for (unsigned value = 0; value < 1u << 7; value++) {
          bytes word;
          for (unsigned j = 0; j < 7; j++) word.push_back(value >> j & 1);
          if (!testing::satisfies(h, word)) continue;
          double weight = 1;
          for (std::size_t j = 0; j < 7; j++)
            if (j != i && word[j] != 0) weight *= std::exp(-static_cast<double>(llr[j]));
          p[word[i]] += weight;
        }
        EXPECT_NEAR(static_cast<double>(got.extrinsic[i]), std::log(p[0] / p[1]), 1e-4)
            << text_of(d.config()) << ", call " << call << ", bit " << i;
      }
    }
  }
}

// ---------------------------------------------------------------- limit cases

TEST_P(ldpc_kept, two_calls_are_one_with_the_iterations_of_both) {
  for (const auto& [name, code] : codes()) {
    auto llr = outer_llrs(code, 5, 1, 8).front();
    for (std::size_t i = 0; i < llr.size(); i += 9) llr[i] *= i % 2 == 0 ? 40.f : 0.f;
    for (float scale : {1.f, 30.f})
      for (const auto& c : each_arithmetic(10)) {
        auto scaled = llr;
        for (float& x : scaled) x *= scale;
        const auto want = decode_words(exec(), ldpc_decoder(code, c), scaled);
        for (int first : {5, 1, 8}) {
          auto half = c;
          half.iterations = first;
          std::vector<float> kept;
          decode_keeping(exec(), ldpc_decoder(code, half), scaled, kept);
          half.iterations = 10 - first;
          auto got = decode_keeping(exec(), ldpc_decoder(code, half), scaled, kept);
          EXPECT_EQ(got.iterations, std::vector<std::int32_t>(5, 10 - first));
          got.iterations = want.iterations;
          ASSERT_TRUE(got == want) << name << ", " << text_of(c) << ", first " << first;
          EXPECT_EQ(kept.back(), 10.f);
        }
      }
  }
}

TEST_P(ldpc_kept, a_start_is_a_call_without_messages) {
  for (const auto& [name, code] : codes()) {
    const auto llr = outer_llrs(code, 5, 1, 9).front();
    for (const auto early_stop : {ldpc_early_stop::none, ldpc_early_stop::syndrome})
      for (const auto& c : each_arithmetic(4, early_stop)) {
        const ldpc_decoder d(code, c);
        const auto want = decode_words(exec(), d, llr);
        std::vector<float> kept;
        ASSERT_TRUE(decode_keeping(exec(), d, llr, kept) == want) << name << ", " << text_of(c);
        for (std::size_t w = 0; w < 5; w++) kept[(w + 1) * d.message_values() - 1] = w % 2 == 0 ? 0.f : -1.f;
        kept[3] = not_a_number;  // of a start nothing else is read
        ASSERT_TRUE(decode_keeping(exec(), d, llr, kept) == want) << name << ", " << text_of(c);
      }
  }
}

TEST_P(ldpc_kept, the_last_call_may_leave_them_as_they_were) {
  for (const auto& [name, code] : codes()) {
    const auto llrs = outer_llrs(code, 5, 2, 15);
    for (const auto& c : each_arithmetic(3, ldpc_early_stop::syndrome)) {
      const ldpc_decoder d(code, c);
      std::vector<float> kept;
      decode_keeping(exec(), d, llrs[0], kept);
      auto read = kept;
      const auto got = decode_keeping(exec(), d, llrs[1], read, layout::row_major, false);
      EXPECT_TRUE(same_bits(read, kept)) << name << ", " << text_of(c);
      ASSERT_TRUE(got == decode_keeping(exec(), d, llrs[1], kept)) << name << ", " << text_of(c);
    }
  }
}

TEST_P(ldpc_kept, codewords_that_stop_early_keep_where_they_stopped) {
  const ldpc_code code = wimax_ldpc(576, wimax_rate::r1_2);
  const std::size_t n = 576, words = 12;
  std::mt19937_64 random(10);
  const auto llr = testing::noisy(bytes(n * words), -1.2, random);
  for (const auto& c : each_arithmetic(8, ldpc_early_stop::syndrome)) {
    const ldpc_decoder d(code, c);
    std::vector<float> kept;
    const auto got = decode_keeping(exec(), d, llr, kept);
    EXPECT_LT(*std::min_element(got.iterations.begin(), got.iterations.end()), 8) << text_of(c);
    for (std::size_t w = 0; w < words; w++) {
      auto alone = c;
      alone.early_stop = ldpc_early_stop::none;
      alone.iterations = got.iterations[w];
      std::vector<float> want;
      decode_keeping(exec(), ldpc_decoder(code, alone), row_of(llr, w, n), want);
      ASSERT_TRUE(same_bits(row_of(kept, w, d.message_values()), want)) << text_of(c) << ", word " << w;
    }
  }
}

TEST_P(ldpc_kept, another_decoder_of_the_code_goes_on) {
  const ldpc_code code = wifi_ldpc(648, wifi_rate::r5_6);
  const auto llrs = outer_llrs(code, 2, 2, 11);
  const auto configs = each_arithmetic(3);
  for (const auto& from : configs)
    for (const auto& to : configs) {
      std::vector<float> kept, same;
      decode_keeping(exec(), ldpc_decoder(code, from), llrs[0], kept);
      const auto got = decode_keeping(exec(), ldpc_decoder(code, to), llrs[1], kept);
      for (float x : got.soft) ASSERT_TRUE(std::isfinite(x)) << text_of(from) << " to " << text_of(to);
    }
}

// ---------------------------------------------------------------- the state of a decoder's own

/// Codes whose rows have threads of their own on a GPU, and others.
std::vector<testing::named_code> codes_with_state() {
  auto list = codes();
  list.push_back({"WiMAX 1248 2/3a", wimax_ldpc(1248, wimax_rate::r2_3a)});
  list.push_back({"WiMAX 672 3/4b", wimax_ldpc(672, wimax_rate::r3_4b)});
  list.push_back({"WiMAX 576 5/6", wimax_ldpc(576, wimax_rate::r5_6)});
  list.push_back({"WiFi 1944 1/2", wifi_ldpc(1944, wifi_rate::r1_2)});
  return list;
}

TEST_P(ldpc_kept, a_state_gives_the_bits_of_messages) {
  for (const auto& [name, code] : codes_with_state())
    for (const auto early_stop : {ldpc_early_stop::none, ldpc_early_stop::syndrome}) {
      const std::size_t n = static_cast<std::size_t>(code.n()), words = 5;
      auto llrs = outer_llrs(code, words, 4, 17);
      for (std::size_t i = 0; i < n; i++) llrs[0][n + i] *= 60;  // beyond the limits of messages
      llrs[1][2 * n] = not_a_number;
      for (const auto& c : each_arithmetic(3, early_stop)) {
        const ldpc_decoder d(code, c);
        std::vector<float> messages, state;
        for (std::size_t i = 0; i < llrs.size(); i++) {
          const auto call = i == 0 ? call_of::first : i + 1 == llrs.size() ? call_of::last : call_of::middle;
          const auto before = state;
          ASSERT_TRUE(decode_in_state(exec(), d, llrs[i], state, call) ==
                      decode_keeping(exec(), d, llrs[i], messages))
              << name << ", " << text_of(c) << ", call " << i;
          EXPECT_TRUE(call != call_of::last || same_bits(state, before)) << name << ", " << text_of(c);
        }
      }
    }
}

TEST_P(ldpc_kept, every_backend_leaves_the_same_state) {
  const auto reference = testing::open_reference();
  for (const auto& [name, code] : codes_with_state()) {
    const auto llrs = outer_llrs(code, 3, 2, 18);
    for (const auto& c : each_arithmetic(3)) {
      const ldpc_decoder d(code, c);
      std::vector<float> state(3 * d.state_values()), want = state;
      for (auto call : {call_of::first, call_of::middle}) {
        const auto& llr = llrs[call == call_of::first ? 0 : 1];
        decode_in_state(exec(), d, llr, state, call);
        decode_in_state(*reference, d, llr, want, call);
        ASSERT_TRUE(same_bits(state, want)) << name << ", " << text_of(c);
      }
    }
  }
}

TEST_P(ldpc_kept, a_float16_state_is_half_as_large_and_what_is_not_finite_erases_its_word) {
  const ldpc_code code = wimax_ldpc(576, wimax_rate::r1_2);
  const std::size_t n = 576, words = 3;
  const ldpc_decoder d(
      code, {.iterations = 2, .precision = ldpc_precision::float16, .early_stop = ldpc_early_stop::none});
  const std::size_t halves = d.message_values() - 1, width = d.state_values();
  EXPECT_GT(width, halves / 2);
  EXPECT_LE(width, halves / 2 + 33);
  const auto llrs = outer_llrs(code, words, 2, 19);
  std::vector<float> first;
  decode_in_state(exec(), d, llrs[0], first, call_of::first);
  auto clean = first;
  const auto want = decode_in_state(exec(), d, llrs[1], clean, call_of::middle);
  for (const std::size_t place : {std::size_t{0}, halves - 2 * n - 1, halves - 2 * n, halves - 1})
    for (const int bits : {0x7c00, 0xfc00, 0x7e00}) {
      const auto value = static_cast<std::uint16_t>(bits);
      auto state = first;
      std::memcpy(reinterpret_cast<char*>(state.data() + width) + 2 * place, &value, sizeof value);
      const auto got = decode_in_state(exec(), d, llrs[1], state, call_of::middle);
      const decoded_words erased{
          bytes(n), std::vector<float>(n), std::vector<float>(n), {0}, {status_erased}};
      EXPECT_TRUE(got.rows(1, 1) == erased) << place;
      for (std::size_t w : {0, 2}) {
        EXPECT_TRUE(got.rows(w, 1) == want.rows(w, 1)) << place;
        EXPECT_TRUE(same_bits(row_of(state, w, width), row_of(clean, w, width))) << place;
      }
      EXPECT_EQ(state[2 * width - 1], 0.f);
    }
}

// ---------------------------------------------------------------- every backend, batch and layout

TEST_P(ldpc_kept, every_backend_gives_the_same_bits) {
  const auto reference = testing::open_reference();
  for (const auto& [name, code] : codes()) {
    const auto llrs = outer_llrs(code, 5, 3, 12);
    for (const auto& c : each_arithmetic(3)) {
      const ldpc_decoder d(code, c);
      std::vector<float> kept, reference_kept;
      for (const auto& llr : llrs) {
        ASSERT_TRUE(decode_keeping(exec(), d, llr, kept) ==
                    decode_keeping(*reference, d, llr, reference_kept))
            << name << ", " << text_of(c);
        ASSERT_TRUE(same_bits(kept, reference_kept)) << name << ", " << text_of(c);
      }
    }
  }
}

TEST_P(ldpc_kept, a_word_does_not_depend_on_its_batch_nor_its_layout) {
  const ldpc_code code = wimax_ldpc(576, wimax_rate::r1_2);
  const std::size_t n = 576, words = 9;
  const auto llrs = outer_llrs(code, words, 2, 13);
  for (const auto& c : each_arithmetic(3, ldpc_early_stop::syndrome)) {
    const ldpc_decoder d(code, c);
    const std::size_t width = d.message_values();
    std::vector<float> kept, turned;
    decoded_words want;
    for (const auto& llr : llrs) {
      want = decode_keeping(exec(), d, llr, kept);
      ASSERT_TRUE(decode_keeping(exec(), d, llr, turned, layout::batch_fastest) == want) << text_of(c);
    }
    for (std::size_t w = 0; w < words; w++)
      for (std::size_t e = 0; e < width; e++) ASSERT_EQ(turned[e * words + w], kept[w * width + e]);
    for (int threads : {1, 3}) {
      const auto e = GetParam().open(threads);
      for (std::size_t count : {1, 2, 5}) {
        std::vector<float> part;
        decoded_words got;
        for (const auto& llr : llrs)
          got = decode_keeping(*e, d, {llr.end() - static_cast<std::ptrdiff_t>(count * n), llr.end()}, part);
        ASSERT_TRUE(got == want.rows(words - count, count)) << text_of(c) << ", " << count << " words";
        ASSERT_TRUE(same_bits(part, {kept.end() - static_cast<std::ptrdiff_t>(count * width), kept.end()}));
      }
    }
  }
}

// ---------------------------------------------------------------- bad input

TEST_P(ldpc_kept, what_is_not_finite_erases_its_word_and_what_it_kept) {
  const ldpc_code code = wimax_ldpc(576, wimax_rate::r1_2);
  const std::size_t n = 576, words = 5;
  const auto llrs = outer_llrs(code, words, 2, 14);
  for (const auto& c : each_arithmetic(3)) {
    const ldpc_decoder d(code, c);
    const std::size_t width = d.message_values(), edges = width - 2 * n - 1;
    std::vector<float> first;
    decode_keeping(exec(), d, llrs[0], first);
    auto clean = first;
    const auto want = decode_keeping(exec(), d, llrs[1], clean);
    for (const std::size_t place : {std::size_t{0}, edges - 1, edges + 7, edges + n, width - 2, width - 1})
      for (const float value : {not_a_number, infinite, -infinite}) {
        auto kept = first;
        auto llr = llrs[1];
        kept[2 * width + place] = value;
        llr[3 * n + place % n] = value;
        const auto got = decode_keeping(exec(), d, llr, kept);
        for (std::size_t w = 0; w < words; w++) {
          if (w == 2 || w == 3) {
            const decoded_words erased{
                bytes(n), std::vector<float>(n), std::vector<float>(n), {0}, {status_erased}};
            ASSERT_TRUE(got.rows(w, 1) == erased) << text_of(c) << ", place " << place << ", word " << w;
            ASSERT_TRUE(same_bits(row_of(kept, w, width), std::vector<float>(width))) << text_of(c);
          } else {
            ASSERT_TRUE(got.rows(w, 1) == want.rows(w, 1)) << text_of(c) << ", word " << w;
            ASSERT_TRUE(same_bits(row_of(kept, w, width), row_of(clean, w, width))) << text_of(c);
          }
        }
      }
  }
}

TEST_P(ldpc_kept, any_finite_messages_leave_finite_llrs) {
  const ldpc_code code = wimax_ldpc(576, wimax_rate::r1_2);
  const std::size_t n = 576;
  const auto llr = outer_llrs(code, 1, 1, 15).front();
  for (const auto& c : each_arithmetic(3)) {
    const ldpc_decoder d(code, c);
    std::mt19937_64 random(16);
    std::vector<float> kept(d.message_values());
    for (float& x : kept) x = random() % 2 == 0 ? 3e38f : -3e38f;
    kept.back() = 1.f;
    const auto got = decode_keeping(exec(), d, llr, kept);
    for (std::size_t i = 0; i < n; i++) ASSERT_TRUE(std::isfinite(got.soft[i])) << text_of(c);
    for (float x : kept) ASSERT_TRUE(std::isfinite(x)) << text_of(c);
  }
}

TEST_P(ldpc_kept, larger_messages_count_as_the_limit_of_int8) {
  const ldpc_code code = wimax_ldpc(576, wimax_rate::r1_2);
  const auto llr = outer_llrs(code, 1, 1, 15).front();
  for (auto schedule : {ldpc_schedule::layered, ldpc_schedule::flooding}) {
    const ldpc_decoder d(code, {.iterations = 3,
                                .schedule = schedule,
                                .precision = ldpc_precision::int8,
                                .early_stop = ldpc_early_stop::none,
                                .llr_steps = 8});
    const auto messages = d.message_values() - 2 * 576 - 1;
    const auto after = [&](float magnitude) {
      std::mt19937_64 random(17);
      std::vector<float> kept(d.message_values(), 0.f);
      for (std::size_t i = 0; i < messages; i++) kept[i] = random() % 2 == 0 ? magnitude : -magnitude;
      kept.back() = 1.f;
      decode_keeping(exec(), d, llr, kept);
      return kept;
    };
    EXPECT_EQ(after(100.f), after(42.f / 8));
    EXPECT_NE(after(42.f / 8), after(41.f / 8));
  }
}

TEST(ldpc_kept_errors, wrong_shapes_are_refused) {
  const auto e = testing::open_scalar();
  const ldpc_decoder d(wimax_ldpc(576, wimax_rate::r1_2), {});
  auto llr = testing::on_device(*e, std::vector<float>(576 * 2), 2, 576);
  auto narrow = e->make<float>(2, d.message_values() - 1), wide = e->make<float>(2, d.message_values() + 1),
       one_row = e->make<float>(1, d.message_values());
  for (auto* messages : {&narrow, &wide, &one_row})
    EXPECT_EQ(blamed([&] { d.run(*e, llr, {.messages = *messages}); }), "messages");

  const ldpc_decoder half(wimax_ldpc(576, wimax_rate::r1_2), {.precision = ldpc_precision::float16});
  auto messages = e->make<float>(2, half.message_values()), state = e->make<float>(2, half.state_values());
  EXPECT_EQ(blamed([&] { half.run(*e, llr, {.state = messages}); }), "state");
  EXPECT_EQ(blamed([&] { half.run(*e, llr, {.messages = messages, .state = state}); }), "state");
  auto scattered = e->make<float>(4, half.state_values());
  const view<float> apart{scattered.data(), half.state_values(), 2, 2, 2 * half.state_values()};
  EXPECT_EQ(blamed([&] { half.run(*e, llr, {.state = apart}); }), "state");
}

}  // namespace ldpc_kept_test
}  // namespace wb
