// Codes of 1 to 11 bits: words and decisions against the clause and a search of all messages, limits,
// erasures, vectors of other programs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <random>

#include <oracle/short_block.hpp>
#include <tests/json.hpp>
#include <tests/on_backends.hpp>
#include <warpband/core/status.hpp>
#include <warpband/fec/short_block/short_block.hpp>

#ifndef WARPBAND_REFDATA
#define WARPBAND_REFDATA ""
#endif

namespace wb {
namespace short_block_test {

using testing::blamed;
using testing::on_device;
using bytes = std::vector<std::uint8_t>;

class short_block : public testing::on_backend {
 protected:
  struct decided {
    bytes bits, status;
    std::vector<float> margin, agreement;
    bool operator==(const decided&) const = default;
  };
  decided decode(const short_block_config& c, const std::vector<float>& llr) {
    const short_block_decoder decoder(c);
    const std::size_t batch = llr.size() / static_cast<std::size_t>(c.coded_bits);
    auto bits = exec().make<std::uint8_t>(batch, static_cast<std::size_t>(c.k)),
         status = exec().make<std::uint8_t>(batch, 1);
    auto margin = exec().make<float>(batch, 1), agreement = exec().make<float>(batch, 1);
    decoder.run(exec(), on_device(exec(), llr, batch, static_cast<std::size_t>(c.coded_bits)),
                {bits, status, margin, agreement});
    return {exec().to_host(bits), exec().to_host(status), exec().to_host(margin), exec().to_host(agreement)};
  }
  bytes encode(const short_block_config& c, const bytes& bits, std::size_t more = 0) {
    const std::size_t batch = bits.size() / static_cast<std::size_t>(c.k);
    auto coded = exec().make<std::uint8_t>(batch, static_cast<std::size_t>(c.coded_bits) + more);
    short_block_encoder(c).run(exec(), on_device(exec(), bits, batch, static_cast<std::size_t>(c.k)), coded);
    return exec().to_host(coded);
  }
};
WB_ON_ALL_BACKENDS(short_block);

/// Every k, few and many coded bits, every constellation of short messages.
std::vector<short_block_config> codes() {
  std::vector<short_block_config> list;
  for (int k = 1; k <= 2; k++)
    for (const int m : {1, 2, 4, 6, 8})
      for (const int symbols : {3, 4, 7})
        list.push_back({.k = k, .coded_bits = m == 1 ? symbols : m * symbols, .modulation_order = m});
  for (int k = 3; k <= 11; k++)
    for (const int coded_bits : {k + 6, 24, 32, 33, 100}) list.push_back({.k = k, .coded_bits = coded_bits});
  return list;
}

bytes random_messages(std::size_t count, int k, unsigned seed) {
  std::mt19937 random(seed);
  bytes bits(count * static_cast<std::size_t>(k));
  for (auto& b : bits) b = static_cast<std::uint8_t>(random() & 1);
  return bits;
}
/// LLRs of noise and a part of a word.
std::vector<float> noisy(const bytes& coded, float amplitude, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> noise(0, 2);
  std::vector<float> llr;
  for (std::size_t e = 0; e < coded.size(); e++) {
    const unsigned bit = coded[e] == short_block_y ? coded[e - 1] : coded[e] & 1;
    llr.push_back((bit == 0 ? amplitude : -amplitude) + noise(random));
  }
  return llr;
}

TEST_P(short_block, words_are_those_of_the_clause) {
  for (const short_block_config& c : codes()) {
    const std::size_t batch = 19, k = static_cast<std::size_t>(c.k),
                      wide = static_cast<std::size_t>(c.coded_bits) + 2;
    const bytes sent = random_messages(batch, c.k, 1), coded = encode(c, sent, 2);
    for (std::size_t b = 0; b < batch; b++) {
      const auto at_bit = sent.begin() + static_cast<std::ptrdiff_t>(b * k);
      bytes word = oracle::short_block_word(bytes(at_bit, at_bit + static_cast<std::ptrdiff_t>(k)),
                                            c.coded_bits, c.modulation_order);
      word.resize(wide, 0);
      const auto begin = coded.begin() + static_cast<std::ptrdiff_t>(b * wide);
      ASSERT_EQ(bytes(begin, begin + static_cast<std::ptrdiff_t>(wide)), word) << c.k << ", " << c.coded_bits;
    }
  }
}

TEST_P(short_block, decisions_are_those_of_a_search_of_all_messages) {
  for (const short_block_config& c : codes()) {
    const std::size_t batch = 19, k = static_cast<std::size_t>(c.k),
                      n = static_cast<std::size_t>(c.coded_bits);
    const std::vector<float> llr = noisy(encode(c, random_messages(batch, c.k, 2)), 0.7f, 3);
    const decided got = decode(c, llr);
    for (std::size_t b = 0; b < batch; b++) {
      const std::vector<double> row(llr.begin() + static_cast<std::ptrdiff_t>(b * n),
                                    llr.begin() + static_cast<std::ptrdiff_t>((b + 1) * n));
      const auto wanted = oracle::short_block_search(c.k, c.modulation_order, row);
      ASSERT_NEAR(got.margin[b], wanted.margin, 1e-4 * (1 + wanted.margin)) << c.k << ", " << c.coded_bits;
      ASSERT_NEAR(got.agreement[b], wanted.agreement, 1e-5);
      if (wanted.margin < 1e-3) continue;
      for (std::size_t i = 0; i < k; i++)
        ASSERT_EQ(got.bits[b * k + i], wanted.message[i]) << c.k << ", " << c.coded_bits;
      ASSERT_EQ(got.status[b], 0);
    }
  }
}

TEST_P(short_block, bits_do_not_depend_on_the_backend) {
  const auto scalar = testing::open_scalar();
  for (const short_block_config& c :
       {short_block_config{.k = 11, .coded_bits = 70}, short_block_config{.k = 5},
        short_block_config{.k = 2, .coded_bits = 24, .modulation_order = 4}}) {
    const std::size_t batch = 35;
    const std::vector<float> llr = noisy(encode(c, random_messages(batch, c.k, 4)), 0.3f, 5);
    const decided got = decode(c, llr);
    const short_block_decoder decoder(c);
    auto bits = scalar->make<std::uint8_t>(batch, static_cast<std::size_t>(c.k)),
         status = scalar->make<std::uint8_t>(batch, 1);
    auto margin = scalar->make<float>(batch, 1), agreement = scalar->make<float>(batch, 1);
    decoder.run(*scalar, on_device(*scalar, llr, batch, static_cast<std::size_t>(c.coded_bits)),
                {bits, status, margin, agreement});
    EXPECT_EQ(got, (decided{scalar->to_host(bits), scalar->to_host(status), scalar->to_host(margin),
                            scalar->to_host(agreement)}));
  }
}

TEST_P(short_block, any_scale_of_llrs_gives_the_same_messages) {
  const short_block_config c{.k = 9, .coded_bits = 64};
  const std::vector<float> llr = noisy(encode(c, random_messages(19, 9, 6)), 0.5f, 7);
  const decided wanted = decode(c, llr);
  for (const float scale : {0x1p-90f, 0.125f, 0x1p60f}) {
    std::vector<float> scaled = llr;
    for (float& x : scaled) x *= scale;
    const decided got = decode(c, scaled);
    EXPECT_EQ(got.bits, wanted.bits);
    EXPECT_EQ(got.agreement, wanted.agreement);
  }
}

TEST_P(short_block, without_noise_every_sign_agrees) {
  for (const short_block_config& c : codes()) {
    const bytes sent = random_messages(17, c.k, 8);
    std::vector<float> llr;
    const bytes coded = encode(c, sent);
    for (std::size_t e = 0; e < coded.size(); e++) {
      const unsigned bit = coded[e] == short_block_y ? coded[e - 1] : coded[e];
      llr.push_back(bit == 0 ? 0.5f : -0.5f);
    }
    const decided got = decode(c, llr);
    EXPECT_EQ(got.bits, sent);
    EXPECT_EQ(got.agreement, std::vector<float>(17, 1.f));
    EXPECT_EQ(got.status, bytes(17, 0));
  }
}

TEST_P(short_block, silence_and_what_is_no_number_are_erased) {
  const short_block_config c{.k = 7, .coded_bits = 48};
  std::vector<float> llr = noisy(encode(c, bytes(5 * 7, 1)), 4.f, 9);
  std::fill(llr.begin(), llr.begin() + 48, 0.f);
  llr[48 + 47] = std::numeric_limits<float>::quiet_NaN();
  llr[96] = -std::numeric_limits<float>::infinity();
  std::fill(llr.begin() + 3 * 48 + 3, llr.begin() + 4 * 48, 0.f);  // three coded bits of a message of seven
  const decided got = decode(c, llr);
  EXPECT_EQ(got.status, (bytes{status_erased | status_insufficient, status_erased, status_erased,
                               status_erased | status_insufficient, 0}));
  EXPECT_EQ(bytes(got.bits.begin(), got.bits.begin() + 28), bytes(28, 0));
  EXPECT_EQ(bytes(got.bits.begin() + 28, got.bits.end()), bytes(7, 1));
  EXPECT_EQ(std::vector<float>(got.margin.begin(), got.margin.begin() + 4), std::vector<float>(4, 0.f));
  EXPECT_EQ(std::vector<float>(got.agreement.begin(), got.agreement.begin() + 4), std::vector<float>(4, 0.f));
}

TEST_P(short_block, placeholders_of_one_are_not_read) {
  const short_block_config c{.k = 1, .coded_bits = 8, .modulation_order = 4};
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const decided got = decode(c, {-1, -2, nan, nan, 3, -4, nan, nan});
  EXPECT_EQ(got.bits, bytes{1});
  EXPECT_EQ(got.margin, std::vector<float>{4.f});
  EXPECT_EQ(got.status, bytes{0});
}

TEST_P(short_block, takes_integers_with_a_scale) {
  const short_block_config c{.k = 6, .coded_bits = 40};
  const std::size_t batch = 9;
  std::vector<float> llr = noisy(encode(c, random_messages(batch, 6, 10)), 1.f, 11);
  std::vector<std::int8_t> steps;
  for (float& x : llr) {
    steps.push_back(static_cast<std::int8_t>(std::round(std::clamp(4 * x, -127.f, 127.f))));
    x = 0.25f * static_cast<float>(steps.back());
  }
  const decided wanted = decode(c, llr);
  auto bits = exec().make<std::uint8_t>(batch, 6);
  const auto integers = on_device(exec(), steps, batch, 40);
  short_block_decoder(c).run(exec(), llr_batch(static_cast<view<const std::int8_t>>(integers), 0.25f),
                             {.bits = bits});
  EXPECT_EQ(exec().to_host(bits), wanted.bits);
}

TEST(short_block_arguments, bad_ones_are_named) {
  EXPECT_EQ(blamed([] { short_block_encoder({.k = 0}); }), "k");
  EXPECT_EQ(blamed([] { short_block_encoder({.k = 12}); }), "k");
  EXPECT_EQ(blamed([] { short_block_decoder({.k = 2, .coded_bits = 9, .modulation_order = 4}); }),
            "coded_bits");
  EXPECT_EQ(blamed([] { short_block_decoder({.k = 2, .coded_bits = 1, .modulation_order = 1}); }),
            "coded_bits");
  EXPECT_NO_THROW(short_block_decoder({.k = 11, .coded_bits = 17}));
  EXPECT_EQ(blamed([] { short_block_decoder({.k = 11, .coded_bits = 16}); }), "coded_bits");
  EXPECT_EQ(blamed([] { short_block_decoder({.k = 1, .modulation_order = 3}); }), "modulation_order");
  const auto exec = testing::open_scalar();
  const short_block_decoder decoder({.k = 4, .coded_bits = 20});
  const auto llr = exec->make_zeros<float>(2, 21), right = exec->make_zeros<float>(2, 20);
  auto bits = exec->make_zeros<std::uint8_t>(2, 3);
  EXPECT_EQ(blamed([&] { decoder.run(*exec, llr, {}); }), "llr");
  EXPECT_EQ(blamed([&] { decoder.run(*exec, right, {.bits = bits}); }), "bits");
}

TEST_P(short_block, words_are_those_of_other_programs) {
  std::ifstream file(WARPBAND_REFDATA "/nr_time/vectors/uci_codes.json");
  if (!file) GTEST_SKIP() << "no refdata in '" << WARPBAND_REFDATA << "/nr_time/vectors'";
  const nlohmann::json rows = testing::parse_json(file).at("vectors");
  int seen = 0;
  for (const auto& row : rows) {
    const int k = row.at("a");
    if (k > 11) continue;
    bytes sent, coded;
    for (const char b : row.at("bits").get<std::string>()) sent.push_back(b == '1');
    for (const char b : row.at("coded").get<std::string>())
      coded.push_back(b == 'x' ? short_block_x : b == 'y' ? short_block_y : b == '1');
    EXPECT_EQ(encode({.k = k, .coded_bits = row.at("e"), .modulation_order = row.at("qm")}, sent), coded)
        << row.at("id");
    seen++;
  }
  EXPECT_GT(seen, 20);
}

}  // namespace short_block_test
}  // namespace wb
