// BCH codes against the oracle, the reference data of DVB-S2, and what must hold for every code.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <span>
#include <string>

#include <oracle/bch.hpp>
#include <tests/on_backends.hpp>
#include <tests/sparse_ldpc.hpp>
#include <warpband/core/status.hpp>
#include <warpband/fec/bch/bch.hpp>

namespace wb {
namespace bch_test {

using namespace testing;

class bch : public on_backend {};
WB_ON_ALL_BACKENDS(bch);

std::size_t size(int n) { return static_cast<std::size_t>(n); }

bytes encoded(executor& exec, const bch_code& code, const bytes& bits) {
  const std::size_t k = size(code.k()), items = bits.size() / k;
  const auto in = on_device(exec, bits, items, k);
  auto out = exec.make<std::uint8_t>(items, size(code.n()) + 1);
  bch_encoder(code).run(exec, in, out);
  const bytes padded = exec.to_host(out);
  bytes words;
  for (std::size_t i = 0; i < items; i++) {
    const auto from = padded.begin() + static_cast<std::ptrdiff_t>(i * (size(code.n()) + 1));
    words.insert(words.end(), from, from + code.n());
    EXPECT_EQ(from[code.n()], 0);
  }
  return words;
}
struct decoded {
  bytes bits, status;
  std::vector<std::int32_t> corrected;
  bool operator==(const decoded&) const = default;
};
/// What the decoder before says of each word, or nothing.
struct marks {
  bytes erased = {};
  std::vector<std::int32_t> undecided = {};
};
decoded decode(executor& exec, const bch_code& code, const bytes& words, const marks& m = {}) {
  const std::size_t n = size(code.n()), items = words.size() / n;
  const auto in = on_device(exec, words, items, n);
  auto bits = exec.make<std::uint8_t>(items, size(code.k())), status = exec.make<std::uint8_t>(items, 1);
  auto corrected = exec.make<std::int32_t>(items, 1);
  array<std::uint8_t> erased;
  array<std::int32_t> undecided;
  if (!m.erased.empty()) erased = on_device(exec, m.erased, items, 1);
  if (!m.undecided.empty()) undecided = on_device(exec, m.undecided, items, 1);
  bch_decoder(code).run(
      exec, in, {.bits = bits, .corrected = corrected, .status = status},
      m.erased.empty() ? view<const std::uint8_t>{} : view<const std::uint8_t>(erased),
      m.undecided.empty() ? view<const std::int32_t>{} : view<const std::int32_t>(undecided));
  return {exec.to_host(bits), exec.to_host(status), exec.to_host(corrected)};
}
/// Flips `count` different bits.
void add_errors(std::span<std::uint8_t> word, int count, std::mt19937_64& random) {
  std::vector<std::size_t> order(word.size());
  for (std::size_t i = 0; i < order.size(); i++) order[i] = i;
  std::shuffle(order.begin(), order.end(), random);
  for (int i = 0; i < count; i++) word[order[size(i)]] ^= 1;
}

const bch_config configs[] = {{.field_degree = 3, .corrects = 1, .n = 7},
                              {.field_degree = 4, .corrects = 2, .n = 15},
                              {.field_degree = 4, .corrects = 3, .n = 15},
                              {.field_degree = 5, .corrects = 3, .n = 29},
                              {.field_degree = 6, .corrects = 5, .n = 63},
                              {.field_degree = 8, .corrects = 12, .n = 200},
                              {.field_degree = 10, .corrects = 8, .n = 700, .polynomial = 0x481},
                              {.field_degree = 14, .corrects = 12, .n = 500}};

oracle::bch as_oracle(const bch_code& code) {
  const bch_config& c = code.config();
  return {c.field_degree, c.corrects, c.n, static_cast<unsigned>(c.polynomial)};
}

TEST_P(bch, codewords_are_those_of_the_oracle) {
  std::mt19937_64 random(1);
  for (const bch_config& c : configs) {
    const bch_code code(c);
    EXPECT_EQ(code.generator(), oracle::bch_generator(as_oracle(code)));
    const std::size_t items = 5, k = size(code.k()), n = size(code.n());
    const bytes bits = random_bits(items * k, random), words = encoded(exec(), code, bits);
    for (std::size_t i = 0; i < items; i++)
      EXPECT_EQ(row_of(words, i, n), oracle::bch_encode(as_oracle(code), row_of(bits, i, k))) << c.n;
  }
}

TEST_P(bch, words_with_any_number_of_errors_are_decoded_as_the_oracle_does) {
  std::mt19937_64 random(2);
  int beyond = 0, taken_for_another = 0;
  for (const bch_config& c : configs) {
    const bch_code code(c);
    const std::size_t k = size(code.k()), n = size(code.n()), items = size(2 * (c.corrects + 3));
    const bytes bits = random_bits(items * k, random);
    bytes words = encoded(exec(), code, bits);
    for (std::size_t i = 0; i < items; i++)
      add_errors(std::span(words).subspan(i * n, n), static_cast<int>(i / 2), random);
    const decoded got = decode(exec(), code, words);
    for (std::size_t i = 0; i < items; i++) {
      const int errors = static_cast<int>(i / 2);
      const bytes word = row_of(words, i, n);
      const auto want = oracle::bch_decode(as_oracle(code), word);
      bytes expected = want ? *want : word;
      int distance = 0;
      for (std::size_t j = 0; j < n; j++) distance += expected[j] != word[j];
      expected.resize(k);
      EXPECT_EQ(row_of(got.bits, i, k), expected) << c.n << ", errors " << errors;
      EXPECT_EQ(got.status[i], want ? status_stopped : 0) << c.n << ", errors " << errors;
      EXPECT_EQ(got.corrected[i], distance);
      if (errors <= c.corrects) {
        EXPECT_EQ(expected, row_of(bits, i, k)) << c.n << ", errors " << errors;
        EXPECT_EQ(distance, errors);
      } else {
        beyond++;
        taken_for_another += want.has_value();
      }
    }
  }
  EXPECT_GT(beyond, 20);
  EXPECT_LT(taken_for_another, beyond);
}

TEST_P(bch, generators_and_codewords_of_dvb_s2) {
  const auto facts = satellite_json("dvb_s2/bch.json"), codes = satellite_json("dvb_s2/codes.json"),
             vectors = satellite_json("dvb_s2/dvb_s2_vectors.json");
  SATELLITE_SKIP_WITHOUT(facts);
  int compared = 0;
  for (const auto& row : vectors["rows"]) {
    const auto found =
        std::find_if(codes.begin(), codes.end(), [&](const auto& c) { return c["name"] == row["code"]; });
    ASSERT_NE(found, codes.end());
    const std::string frame = (*found)["frame"];
    const auto& field = facts["fields"][frame];
    const bch_code code({.field_degree = field["m"], .corrects = (*found)["bch_t"], .n = (*found)["bch_n"]});
    EXPECT_EQ(code.config().polynomial,
              std::stoi(field["primitive_polynomial"].get<std::string>(), nullptr, 16));
    EXPECT_EQ(code.k(), (*found)["bch_k"]);
    const auto& g = facts["gen"][frame + "_t" + std::to_string(code.config().corrects)];
    EXPECT_EQ(code.parity(), g["degree"]);
    const std::string digits = g["generator_hex"].get<std::string>().substr(2);
    bytes highest_first = bits_of_hex(digits, 4 * digits.size());
    std::reverse(highest_first.begin(), highest_first.end());
    highest_first.resize(code.generator().size());
    EXPECT_EQ(code.generator(), highest_first) << row["code"];
    const bytes info = bits_of_hex(row["bch_info_hex"], size(code.k())),
                parity = bits_of_hex(row["bch_parity_hex"], size(code.parity()));
    bytes word = info;
    word.insert(word.end(), parity.begin(), parity.end());
    EXPECT_EQ(encoded(exec(), code, info), word) << row["code"];
    // One word for each number of errors, up to one too many.
    std::mt19937_64 random(5);
    bytes received;
    const int t = code.config().corrects;
    for (const int errors : {0, 1, t / 2, t, t + 1}) {
      bytes wrong = word;
      add_errors(wrong, errors, random);
      received.insert(received.end(), wrong.begin(), wrong.end());
    }
    if (small_scale() && code.n() > 20000) continue;
    const decoded got = decode(exec(), code, received);
    EXPECT_EQ(got.status, (bytes{2, 2, 2, 2, 0})) << row["code"];
    EXPECT_EQ(got.corrected, (std::vector<std::int32_t>{0, 1, t / 2, t, 0})) << row["code"];
    for (std::size_t i = 0; i < 4; i++) EXPECT_EQ(row_of(got.bits, i, size(code.k())), info) << row["code"];
    const auto last = received.end() - code.n();
    EXPECT_EQ(row_of(got.bits, 4, size(code.k())), bytes(last, last + code.k())) << row["code"];
    compared++;
  }
  EXPECT_EQ(compared, small_scale() ? 7 : 11);
}

TEST_P(bch, erased_words_stay_erased) {
  const bch_code code({.field_degree = 6, .corrects = 3, .n = 60});
  std::mt19937_64 random(7);
  const std::size_t items = 20, k = size(code.k()), n = size(code.n());
  const bytes bits = random_bits(items * k, random);
  bytes words = encoded(exec(), code, bits), erased(items);
  for (std::size_t i = 0; i < items; i++) {
    add_errors(std::span(words).subspan(i * n, n), static_cast<int>(i % 3), random);
    erased[i] = i % 4 == 1 ? status_erased | status_insufficient : i % 4 == 2 ? status_stopped : 0;
  }
  const decoded got = decode(exec(), code, words, {.erased = erased});
  for (std::size_t i = 0; i < items; i++) {
    const bool is_erased = i % 4 == 1;
    EXPECT_EQ(got.status[i], is_erased ? status_erased | status_insufficient : status_stopped);
    EXPECT_EQ(got.corrected[i], is_erased ? 0 : static_cast<int>(i % 3));
    EXPECT_EQ(row_of(got.bits, i, k), is_erased ? bytes(k) : row_of(bits, i, k));
  }
}

TEST_P(bch, words_with_more_undecided_bits_than_t_fail) {
  const bch_code code({.field_degree = 6, .corrects = 3, .n = 60});
  std::mt19937_64 random(8);
  const std::size_t k = size(code.k()), n = size(code.n());
  const bytes bits = random_bits(6 * k, random);
  bytes words = encoded(exec(), code, bits);
  for (const std::size_t i : {1, 3}) words[i * n] ^= 1;
  const decoded got =
      decode(exec(), code, words, {.erased = {0, 0, 0, 0, 5, 2}, .undecided = {3, 3, 4, 4, 60, 0}});
  EXPECT_EQ(got.status, (bytes{2, 2, 0, 0, 5, 2}));
  EXPECT_EQ(got.corrected, (std::vector<std::int32_t>{0, 1, 0, 0, 0, 0}));
  for (const std::size_t i : {0, 1, 2, 5}) EXPECT_EQ(row_of(got.bits, i, k), row_of(bits, i, k));
  bytes received = row_of(bits, 3, k);
  received[0] ^= 1;
  EXPECT_EQ(row_of(got.bits, 3, k), received);
  EXPECT_EQ(row_of(got.bits, 4, k), bytes(k));
}

TEST_P(bch, the_longest_word_is_corrected_at_both_ends) {
  const bch_code code({.field_degree = 16, .corrects = 12, .n = 65535});
  std::mt19937_64 random(9);
  const bytes bits = random_bits(size(code.k()), random);
  bytes word = encoded(exec(), code, bits);
  EXPECT_EQ(word, oracle::bch_encode(as_oracle(code), bits));
  for (const std::size_t i : {0, 1, 63, 64, 4095, 32767, 32768, 50000, 65341, 65342, 65533, 65534})
    word[i] ^= 1;
  const decoded got = decode(exec(), code, word);
  EXPECT_EQ(got.status, bytes{status_stopped});
  EXPECT_EQ(got.corrected, std::vector<std::int32_t>{12});
  EXPECT_TRUE(got.bits == bits);
}

TEST(bch_code, default_polynomials_are_primitive) {
  for (int m = 3; m <= 16; m++) {
    const bch_code code({.field_degree = m, .corrects = 1, .n = (1 << m) - 1});
    EXPECT_EQ(code.parity(), m);
    EXPECT_EQ(code.generator(), oracle::bch_generator(as_oracle(code))) << m;
  }
}

TEST(bch_code, wrong_settings_and_shapes_are_named) {
  EXPECT_EQ(blamed([] { bch_code({.field_degree = 2}); }), "field_degree");
  EXPECT_EQ(blamed([] { bch_code({.field_degree = 17}); }), "field_degree");
  EXPECT_EQ(blamed([] { bch_code({.corrects = 0}); }), "corrects");
  EXPECT_EQ(blamed([] { bch_code({.corrects = 13}); }), "corrects");
  EXPECT_EQ(blamed([] { bch_code({.field_degree = 3, .corrects = 4, .n = 7}); }), "corrects");
  EXPECT_EQ(blamed([] { bch_code({.field_degree = 4, .corrects = 2, .n = 16}); }), "n");
  EXPECT_EQ(blamed([] { bch_code({.field_degree = 4, .corrects = 2, .n = 8}); }), "n");
  EXPECT_EQ(blamed([] { bch_code({.field_degree = 4, .corrects = 2, .n = 15, .polynomial = 0x1F}); }),
            "polynomial");
  EXPECT_EQ(blamed([] { bch_code({.field_degree = 4, .corrects = 2, .n = 15, .polynomial = 0x25}); }),
            "polynomial");
  const bch_code code({.field_degree = 4, .corrects = 2, .n = 15});
  EXPECT_EQ(code.k(), 7);
  cpu exec({.threads = 1});
  bytes bits(14), words(30);
  const auto in = make_view<const std::uint8_t>(words.data(), 2, 15);
  EXPECT_EQ(
      blamed([&] { bch_decoder(code).run(exec, make_view<const std::uint8_t>(words.data(), 2, 14), {}); }),
      "received");
  EXPECT_EQ(blamed([&] { bch_decoder(code).run(exec, in, {.bits = make_view(bits.data(), 2, 6)}); }), "bits");
  EXPECT_EQ(blamed([&] {
              bch_encoder(code).run(exec, make_view<const std::uint8_t>(bits.data(), 2, 7),
                                    make_view(words.data(), 2, 14));
            }),
            "coded");
}

}  // namespace bch_test
}  // namespace wb
