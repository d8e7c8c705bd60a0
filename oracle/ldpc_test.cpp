// The LDPC oracle itself: against enumeration of all codewords where belief propagation is exact, and by
// hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include <oracle/ldpc.hpp>

namespace oracle_ldpc_test {

using bits = std::vector<std::uint8_t>;
using llrs = std::vector<double>;
using oracle::base_matrix;
using oracle::check_order;
using oracle::check_rule;
using oracle::ldpc_options;
using oracle::number_format;
using oracle::parity_checks;
constexpr double infinity = std::numeric_limits<double>::infinity();

bool holds(const parity_checks& h, const bits& word) {
  const bits s = oracle::syndrome(h, word);
  return std::all_of(s.begin(), s.end(), [](std::uint8_t x) { return x == 0; });
}

/// All words that satisfy H, up to 2^20.
std::vector<bits> codewords(const parity_checks& h) {
  std::vector<bits> words;
  for (unsigned value = 0; value < 1u << h.n; ++value) {
    bits word;
    for (int i = 0; i < h.n; ++i) word.push_back(value >> i & 1);
    if (holds(h, word)) words.push_back(word);
  }
  return words;
}

/// ln P(bit = 0) - ln P(bit = 1) over all codewords; `best` takes the likeliest of each kind for their sum.
llrs marginals(const parity_checks& h, const llrs& llr, bool best) {
  llrs out;
  const auto words = codewords(h);
  for (std::size_t i = 0; i < llr.size(); ++i) {
    double p[2] = {0, 0};
    for (const bits& word : words) {
      double weight = 1;
      for (std::size_t j = 0; j < llr.size(); ++j)
        if (word[j] != 0) weight *= std::exp(-llr[j]);
      double& sum = p[word[i]];
      sum = best ? std::max(sum, weight) : sum + weight;
    }
    out.push_back(std::log(p[0]) - std::log(p[1]));
  }
  return out;
}

llrs random_llrs(int n, double deviation, std::mt19937_64& random) {
  std::normal_distribution<double> normal(0.3, deviation);
  llrs out;
  for (int i = 0; i < n; ++i) out.push_back(normal(random));
  return out;
}

void expect_near(const llrs& got, const llrs& want, double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], tolerance) << "bit " << i;
}

base_matrix random_base(int rows, int columns, int z, std::mt19937_64& random) {
  base_matrix base{std::vector<std::vector<int>>(static_cast<std::size_t>(rows)), z};
  for (auto& row : base.shifts) {
    for (int j = 0; j < columns; ++j)
      row.push_back(random() % 3 == 0 ? -1 : static_cast<int>(random() % static_cast<unsigned>(z)));
    row[0] = std::max(row[0], 0);
    row[1] = std::max(row[1], 0);
  }
  return base;
}

constexpr check_order both_orders[] = {check_order::layered, check_order::flooding};

TEST(oracle_ldpc, expands_by_definition) {
  const auto h = oracle::expand({{{-1, 0, 2}, {1, -1, 0}}, 3});
  EXPECT_EQ(h.n, 9);
  const std::vector<std::vector<int>> want = {{3, 8}, {4, 6}, {5, 7}, {1, 6}, {2, 7}, {0, 8}};
  EXPECT_EQ(h.rows, want);
  EXPECT_EQ(oracle::syndrome(h, {1, 0, 0, 0, 0, 0, 1, 0, 1}), bits({1, 1, 0, 1, 0, 0}));
}

TEST(oracle_ldpc, bad_shapes_are_refused) {
  EXPECT_THROW(oracle::expand({{{0, 1}, {0}}, 3}), std::invalid_argument);
  EXPECT_THROW(oracle::expand({{}, 3}), std::invalid_argument);
  const auto h = oracle::expand({{{0, 1, 2}}, 3});
  EXPECT_THROW(oracle::syndrome(h, bits(8)), std::invalid_argument);
  EXPECT_THROW(oracle::ldpc_decode(h, llrs(8), {}), std::invalid_argument);
  EXPECT_THROW(oracle::ldpc_decode_rounded({{{0, 1, 2}}, 3}, std::vector<float>(10), {}),
               std::invalid_argument);
  EXPECT_THROW(oracle::dense_encoder(h, {0, 1, 1}), std::invalid_argument);
  EXPECT_THROW(oracle::dense_encoder(h, {0, 9}), std::invalid_argument);
  EXPECT_THROW(oracle::dense_encoder(h, {0, 1}).encode(bits(3)), std::invalid_argument);
}

TEST(oracle_ldpc, encoder_gives_codewords_that_hold_the_message) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 50; ++round) {
    const auto h = oracle::expand(random_base(2 + round % 3, 7, 1 + round % 13, random));
    const auto size = static_cast<std::size_t>(h.n);
    // Any positions: rank-deficient parts leave bits open, and some messages may have no codeword.
    std::vector<int> positions(size);
    for (std::size_t i = 0; i < size; ++i) positions[i] = static_cast<int>(i);
    std::shuffle(positions.begin(), positions.end(), random);
    positions.resize(size - h.rows.size());
    const oracle::dense_encoder encoder(h, positions);
    EXPECT_LE(encoder.rank(), static_cast<int>(h.rows.size()));
    bool always = encoder.rank() == static_cast<int>(h.rows.size());
    for (int i = 0; i < 5; ++i) {
      bits message;
      for (std::size_t k = 0; k < positions.size(); ++k) message.push_back(random() & 1);
      try {
        const bits word = encoder.encode(message);
        EXPECT_TRUE(holds(h, word));
        for (std::size_t k = 0; k < positions.size(); ++k)
          EXPECT_EQ(word[static_cast<std::size_t>(positions[k])], message[k]);
      } catch (const std::invalid_argument&) {
        EXPECT_FALSE(always) << "a message refused by a code of full rank";
      }
    }
  }
}

TEST(oracle_ldpc, encoder_refuses_exactly_the_messages_without_a_codeword) {
  // Bits 0, 1, 2 are given and only bit 3 is free: two of the three checks are about the message alone.
  const parity_checks h{4, {{0, 1}, {1, 2}, {0, 3}}};
  const oracle::dense_encoder encoder(h, {0, 1, 2});
  EXPECT_EQ(encoder.rank(), 1);
  EXPECT_EQ(encoder.encode({1, 1, 1}), bits({1, 1, 1, 1}));
  EXPECT_EQ(encoder.encode({0, 0, 0}), bits({0, 0, 0, 0}));
  EXPECT_THROW(encoder.encode({1, 0, 1}), std::invalid_argument);
  EXPECT_THROW(encoder.encode({1, 1, 0}), std::invalid_argument);
  // A column without a check stays 0.
  EXPECT_EQ(oracle::dense_encoder({3, {{0, 2}}}, {0}).encode({1}), bits({1, 0, 1}));
}

TEST(oracle_ldpc, one_check_gives_exact_marginals) {
  std::mt19937_64 random(2);
  for (int n = 2; n <= 12; ++n)
    for (double deviation : {0.1, 2.0, 8.0}) {
      parity_checks h{n, {{}}};
      for (int i = 0; i < n; ++i) h.rows[0].push_back(i);
      const auto llr = random_llrs(n, deviation, random);
      for (auto order : both_orders) {
        for (auto rule : {check_rule::sum_product, check_rule::min_sum}) {
          const bool best = rule == check_rule::min_sum;
          ldpc_options o{.rule = rule, .order = order, .iterations = 1};
          const auto got = oracle::ldpc_decode(h, llr, o);
          expect_near(got.a_posteriori, marginals(h, llr, best), 1e-9);
          o.iterations = 7;  // nothing changes after the first
          expect_near(oracle::ldpc_decode(h, llr, o).a_posteriori, got.a_posteriori, 1e-9);
        }
      }
    }
}

TEST(oracle_ldpc, a_code_without_cycles_gives_exact_marginals) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 30; ++round) {
    // Each new check shares one bit with those before it, so that the graph is a tree.
    parity_checks h{1, {}};
    while (h.n < 11) {
      std::vector<int> row{static_cast<int>(random() % static_cast<unsigned>(h.n))};
      for (auto fresh = 1 + random() % 3; fresh > 0; --fresh) row.push_back(h.n++);
      h.rows.insert(h.rows.begin() + static_cast<std::ptrdiff_t>(random() % (h.rows.size() + 1)), row);
    }
    const auto llr = random_llrs(h.n, 2.5, random);
    for (auto order : both_orders)
      for (auto rule : {check_rule::sum_product, check_rule::min_sum}) {
        const auto got = oracle::ldpc_decode(h, llr, {.rule = rule, .order = order, .iterations = 12});
        const auto want = marginals(h, llr, rule == check_rule::min_sum);
        expect_near(got.a_posteriori, want, 1e-8);
        for (std::size_t i = 0; i < want.size(); ++i) EXPECT_EQ(got.bits[i], want[i] < 0);
        EXPECT_EQ(got.satisfied, holds(h, got.bits));
      }
  }
}

TEST(oracle_ldpc, min_sum_by_hand) {
  // Two checks on four bits; layered: the second sees what the first found.
  const parity_checks h{4, {{0, 1, 2}, {1, 2, 3}}};
  const llrs llr = {3, -1, 2, 5};
  const auto run = [&](check_order order, double scale, double offset) {
    return oracle::ldpc_decode(h, llr,
                               {.rule = check_rule::min_sum,
                                .order = order,
                                .scale = scale,
                                .offset = offset,
                                .iterations = 1})
        .a_posteriori;
  };
  // First check: R = (-1, 2, -1), so A = (2, 1, 1). Second on (1, 1, 5): R = (1, 1, 1).
  expect_near(run(check_order::layered, 1, 0), {2, 2, 2, 6}, 0);
  // Second on the channel (-1, 2, 5): R = (2, -1, -1).
  expect_near(run(check_order::flooding, 1, 0), {2, 3, 0, 4}, 0);
  expect_near(run(check_order::flooding, 0.5, 0), {2.5, 1, 1, 4.5}, 0);
  expect_near(run(check_order::flooding, 1, 1.5), {3, 0, 2, 5}, 0);  // no message below 0
}

TEST(oracle_ldpc, stops_when_all_checks_hold) {
  const parity_checks h{3, {{0, 1}, {1, 2}}};
  const llrs llr = {4, 4, -1};
  ldpc_options o{.rule = check_rule::min_sum, .order = check_order::flooding, .iterations = 9};
  EXPECT_EQ(oracle::ldpc_decode(h, llr, o).iterations, 9);
  o.stop = true;
  const auto got = oracle::ldpc_decode(h, llr, o);
  EXPECT_TRUE(got.satisfied);
  EXPECT_EQ(got.iterations, 1);
  EXPECT_EQ(got.bits, bits({0, 0, 0}));
  o.iterations = 0;
  EXPECT_FALSE(oracle::ldpc_decode(h, llr, o).satisfied);
  o.iterations = 9;
  EXPECT_EQ(oracle::ldpc_decode({2, {{0, 1}, {0, 1}}}, {0, -0.5}, o).iterations, 1);
}

TEST(oracle_ldpc, limit_bounds_what_a_check_takes) {
  const parity_checks h{2, {{0, 1}}};
  const ldpc_options o{.rule = check_rule::min_sum, .iterations = 1, .limit = 3};
  expect_near(oracle::ldpc_decode(h, {5, -7}, o).a_posteriori, {2, -4}, 0);
}

// ---------------------------------------------------------------- rounded arithmetic

TEST(oracle_ldpc, halves_are_rounded_to_the_nearest_even) {
  const auto half = [](unsigned code) {  // of a positive number by its definition
    const int exponent = static_cast<int>(code >> 10), fraction = static_cast<int>(code & 1023);
    return exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  };
  EXPECT_EQ(half(0x7bff), 65504.0);
  for (unsigned code = 0; code < 0x7bff; ++code) {
    const double low = half(code), high = half(code + 1), middle = (low + high) / 2;
    ASSERT_EQ(oracle::round_to_half(low), low);
    ASSERT_EQ(oracle::round_to_half(-high), -high);
    ASSERT_EQ(oracle::round_to_half(middle), code % 2 == 0 ? low : high) << code;
    ASSERT_EQ(oracle::round_to_half(std::nextafter(middle, 0.0)), low) << code;
    ASSERT_EQ(oracle::round_to_half(-std::nextafter(middle, infinity)), -high) << code;
  }
  EXPECT_EQ(oracle::round_to_half(std::nextafter(65520.0, 0.0)), 65504.0);
  EXPECT_EQ(oracle::round_to_half(65520.0), infinity);
  EXPECT_EQ(oracle::round_to_half(-1e9), -infinity);
  EXPECT_TRUE(std::signbit(oracle::round_to_half(-0.0)));
  EXPECT_TRUE(std::signbit(oracle::round_to_half(-1e-9)));
}

TEST(oracle_ldpc, rounded_min_sum_is_min_sum_where_nothing_rounds) {
  // Small multiples of 1/8 with scale 1/2 or offset 1/4 stay exact over an iteration in all formats: messages
  // are multiples of 1/16 at most, and int8 with 16 steps holds them up to +-8.
  std::mt19937_64 random(4);
  for (int round = 0; round < 40; ++round) {
    const base_matrix base = random_base(3, 6, 1 + round % 7, random);
    const auto h = oracle::expand(base);
    std::vector<float> llr;
    for (int i = 0; i < h.n; ++i) llr.push_back(static_cast<float>(static_cast<int>(random() % 17) - 8) / 8);
    // -0 and ties differ only in which zero a message is.
    for (float& l : llr)
      if (l == 0) l = 0.125f;
    const llrs exact(llr.begin(), llr.end());
    for (auto order : both_orders)
      for (auto format : {number_format::single, number_format::half, number_format::int8})
        for (bool scaled : {true, false}) {
          const float scale = scaled ? 0.5f : 1.f, offset = scaled ? 0.f : 0.25f;
          const auto got = oracle::ldpc_decode_rounded(base, llr,
                                                       {.format = format,
                                                        .order = order,
                                                        .scale = scale,
                                                        .offset = offset,
                                                        .iterations = 1,
                                                        .steps = 16});
          // Layered rows meet messages of the rows before, whose half steps int8 rounds.
          if (order == check_order::layered && scaled && format == number_format::int8) continue;
          const auto want = oracle::ldpc_decode(h, exact,
                                                {.rule = check_rule::min_sum,
                                                 .order = order,
                                                 .scale = static_cast<double>(scale),
                                                 .offset = static_cast<double>(offset),
                                                 .iterations = 1});
          ASSERT_EQ(llrs(got.a_posteriori.begin(), got.a_posteriori.end()), want.a_posteriori) << round;
          EXPECT_EQ(got.bits, want.bits);
          EXPECT_EQ(got.satisfied, want.satisfied);
          for (std::size_t i = 0; i < llr.size(); ++i)
            EXPECT_EQ(got.extrinsic[i], got.a_posteriori[i] - llr[i]);
        }
  }
}

TEST(oracle_ldpc, int8_by_hand) {
  // One check on bits of 127, -100 and 20 steps; scale 6/8: messages (20 * 6 + 4) >> 3 = 15, and 32 from 42.
  const base_matrix one{{{0, 0, 0}}, 1};
  oracle::rounded_options o{
      .format = number_format::int8, .scale = 0.75f, .offset = 0, .iterations = 1, .steps = 4};
  const auto steps = [&](const base_matrix& base, const std::vector<float>& llr) {
    std::vector<int> out;
    for (float x : oracle::ldpc_decode_rounded(base, llr, o).a_posteriori)
      out.push_back(static_cast<int>(x * 4));
    return out;
  };
  EXPECT_EQ(steps(one, {1000, -25, 5}), (std::vector<int>{112, -85, -12}));
  EXPECT_EQ(steps(one, {0.125f, 0.375f, 0.4f}), (std::vector<int>{2, 2, 2}));  // 0, 2, 2 steps; 0 from even
  o.scale = 1;
  o.offset = 2.5f;  // 10 steps
  EXPECT_EQ(steps(one, {1000, -25, 5}), (std::vector<int>{117, -90, -12}));
  // Saturation: 127 + 42 is 127, -127 - 42 is -128; and there it stays.
  o.offset = 0;
  for (int iterations : {1, 2, 50}) {
    o.iterations = iterations;
    EXPECT_EQ(steps(one, {1000, 1000, 1000}), (std::vector<int>{127, 127, 127}));
    EXPECT_EQ(steps(one, {-1000, 1000, -1000}), (std::vector<int>{-128, 127, -128}));
  }
}

TEST(oracle_ldpc, signs_of_zero) {
  // 0 and -0 on the channel are both +0: bits 1 and 2 get what min-sum gives for a positive bit 0.
  const base_matrix one{{{0, 0, 0}}, 1};
  for (auto format : {number_format::single, number_format::half})
    for (float zero : {0.f, -0.f, -1e-30f}) {
      const auto got = oracle::ldpc_decode_rounded(one, {zero, 4, -2}, {.format = format, .iterations = 1});
      EXPECT_EQ(got.bits, bits({1, 0, 1}));
      for (std::size_t i = 1; i < 3; ++i) EXPECT_FALSE(std::signbit(got.extrinsic[i]));
    }
  // A message of magnitude 0 keeps its sign but adds nothing.
  const auto got = oracle::ldpc_decode_rounded({{{0, 0, 0}, {0, 0, 0}}, 1}, {0, 0, -2}, {.iterations = 1});
  EXPECT_EQ(got.a_posteriori, (std::vector<float>{0, 0, -2}));
}

TEST(oracle_ldpc, formats_limit_the_channel) {
  const base_matrix one{{{0, 0}}, 1};
  const auto first = [&](number_format format) {
    return oracle::ldpc_decode_rounded(one, {3e38f, -3e38f}, {.format = format, .iterations = 1}).extrinsic;
  };
  EXPECT_EQ(first(number_format::single), (std::vector<float>{-1e30f, 1e30f}));
  EXPECT_EQ(first(number_format::half), (std::vector<float>{-1000, 1000}));
  EXPECT_EQ(first(number_format::int8), (std::vector<float>{-5.25f, 5.25f}));
}

}  // namespace oracle_ldpc_test
