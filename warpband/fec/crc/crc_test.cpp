// CRCs against vectors of other programs and against long division.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <random>
#include <string>

#include <oracle/lte.hpp>
#include <tests/json.hpp>
#include <tests/on_backends.hpp>
#include <warpband/fec/crc/crc.hpp>

#ifndef WARPBAND_REFDATA
#define WARPBAND_REFDATA ""
#endif

namespace crc_test {

using wb::layout;
using wb::testing::blamed;
using wb::testing::on_device;

using bits = std::vector<std::uint8_t>;

const std::map<std::string, wb::crc_polynomial> polynomials{
    {"CRC24A", wb::crc24a}, {"CRC24B", wb::crc24b}, {"CRC24C", {0x1B2B117, 24}}, {"CRC16", wb::crc16},
    {"CRC11", {0xE21, 11}}, {"CRC8", wb::crc8},     {"CRC6", {0x61, 6}},         {"parity", {0x3, 1}}};

bits from_text(const std::string& text) {
  bits out;
  for (const char c : text) out.push_back(c == '1' ? 1 : 0);
  return out;
}
bits random_bits(std::size_t n, std::mt19937& random) {
  bits out(n);
  for (auto& b : out) b = static_cast<std::uint8_t>(random() & 1);
  return out;
}
/// Highest power first.
bits as_bits(std::uint32_t parity, int degree) {
  bits out;
  for (int i = degree - 1; i >= 0; i--) out.push_back(static_cast<std::uint8_t>(parity >> i & 1));
  return out;
}

struct reference_vector {
  std::string crc;
  bits input, parity;
};
/// The vectors of both files; none where they are missing.
std::vector<reference_vector> reference_vectors() {
  std::vector<reference_vector> vectors;
  const std::string folder = std::string(WARPBAND_REFDATA) + "/vectors/";
  std::ifstream lte(folder + "lte_crc.json"), sionna(folder + "crc_sionna_ref.json");
  if (!lte || !sionna) return {};
  const auto lte_document = wb::testing::parse_json(lte), sionna_document = wb::testing::parse_json(sionna);
  for (const auto& v : lte_document.at("vectors"))
    vectors.push_back({v.at("crc"), from_text(v.at("input")), from_text(v.at("crc_bits_msb_first"))});
  for (const auto& v : sionna_document.at("vectors")) {
    const bits input = from_text(v.at("input")), word = from_text(v.at("codeword"));
    EXPECT_TRUE(std::equal(input.begin(), input.end(), word.begin()));
    vectors.push_back(
        {v.at("crc"), input, bits(word.begin() + static_cast<std::ptrdiff_t>(input.size()), word.end())});
  }
  return vectors;
}
#define SKIP_WITHOUT_VECTORS(vectors) \
  if ((vectors).empty()) GTEST_SKIP() << "no refdata in '" << WARPBAND_REFDATA << "/vectors'"

TEST(crc_parity, equals_reference_vectors) {
  const auto vectors = reference_vectors();
  SKIP_WITHOUT_VECTORS(vectors);
  std::map<std::string, int> seen;
  for (const auto& v : vectors) {
    const wb::crc_polynomial p = polynomials.at(v.crc);
    EXPECT_EQ(as_bits(wb::crc_parity(v.input, p), p.degree), v.parity) << v.crc << ", n = " << v.input.size();
    seen[v.crc]++;
  }
  for (const char* crc : {"CRC24A", "CRC24B", "CRC16"}) EXPECT_GT(seen[crc], 0) << crc;
}

TEST(crc_parity, equals_long_division) {
  std::mt19937 random(1);
  for (const auto& [name, p] : polynomials)
    for (std::size_t n = 0; n < 200; n += 1 + random() % 7) {
      const bits word = random_bits(n, random);
      EXPECT_EQ(as_bits(wb::crc_parity(word, p), p.degree), oracle::crc(word, p.polynomial, p.degree))
          << name << ", n = " << n;
    }
}

TEST(crc_remainders, their_sum_over_a_word_is_zero_exactly_with_its_parity) {
  std::mt19937 random(2);
  for (const auto& [name, p] : polynomials)
    for (const int n : {p.degree, p.degree + 1, 64, 1000}) {
      const auto remainders = wb::crc_remainders(n, p);
      ASSERT_EQ(remainders.size(), static_cast<std::size_t>(n));
      EXPECT_EQ(remainders.back(), 1);  // x^0
      for (const auto r : remainders) ASSERT_LT(static_cast<std::uint32_t>(r), 1u << p.degree);
      const auto sum = [&](const bits& word) {
        std::int32_t s = 0;
        for (std::size_t i = 0; i < word.size(); i++) s ^= word[i] != 0 ? remainders[i] : 0;
        return s;
      };
      bits word = random_bits(static_cast<std::size_t>(n - p.degree), random);
      for (const auto b : as_bits(wb::crc_parity(word, p), p.degree)) word.push_back(b);
      EXPECT_EQ(sum(word), 0) << name << ", n = " << n;
      for (std::size_t i = 0; i < word.size(); i++) {
        word[i] ^= 1;
        ASSERT_NE(sum(word), 0) << name << ", bit " << i;
        word[i] ^= 1;
      }
    }
  EXPECT_TRUE(wb::crc_remainders(0, wb::crc8).empty());
}

class crc : public wb::testing::on_backend {};
WB_ON_ALL_BACKENDS(crc);

TEST_P(crc, attaches_the_parity_of_the_reference_vectors) {
  const auto vectors = reference_vectors();
  SKIP_WITHOUT_VECTORS(vectors);
  for (const auto& v : vectors) {
    const wb::crc_polynomial p = polynomials.at(v.crc);
    const std::size_t n = v.input.size(), rows = 3;
    const wb::crc_attacher attacher(static_cast<int>(n), p);
    bits word = v.input, rest(v.parity.size(), 0xee), expected = v.input;
    word.insert(word.end(), rest.begin(), rest.end());
    expected.insert(expected.end(), v.parity.begin(), v.parity.end());
    bits words;
    for (std::size_t r = 0; r < rows; r++) words.insert(words.end(), word.begin(), word.end());
    auto batch = on_device(exec(), words, rows, word.size());
    attacher.run(exec(), batch);
    const bits got = exec().to_host(batch);
    for (std::size_t r = 0; r < rows; r++) {
      const auto row = got.begin() + static_cast<std::ptrdiff_t>(r * word.size());
      EXPECT_EQ(bits(row, row + static_cast<std::ptrdiff_t>(word.size())), expected)
          << v.crc << ", n = " << n;
    }
  }
}

TEST_P(crc, equals_long_division_for_any_length_and_layout) {
  std::mt19937 random(3);
  for (const auto& [name, p] : polynomials)
    for (const int n : {1, 2, 31, 40, 127, 1023, 1024, 1500, 6120}) {
      if (n > 1500 && wb::testing::small_scale()) continue;
      const auto length = static_cast<std::size_t>(n), width = length + static_cast<std::size_t>(p.degree);
      const wb::crc_attacher attacher(n, p);
      for (const std::size_t items : {1, 4, 19})
        for (const layout order : {layout::row_major, layout::batch_fastest}) {
          const bits values = random_bits(width * items, random);  // the places of the parity hold rubbish
          auto batch = on_device(exec(), values, items, width, order);
          attacher.run(exec(), batch);
          const bits got = exec().to_host(batch);
          const wb::view<std::uint8_t> v = batch;
          for (std::size_t i = 0; i < items; i++) {
            bits word, parity;
            for (std::size_t e = 0; e < width; e++) {
              const std::size_t index = e * v.element_stride + i * v.item_stride;
              if (e < length) {
                ASSERT_EQ(got[index], values[index]);
                word.push_back(got[index]);
              } else {
                parity.push_back(got[index]);
              }
            }
            if (i > 2 && i + 2 < items) continue;  // long division is slow
            ASSERT_EQ(parity, oracle::crc(word, p.polynomial, p.degree)) << name << ", n = " << n;
          }
        }
    }
}

TEST(crc_arguments, bad_ones_are_named) {
  for (const int degree : {-1, 0, 25, 32}) {
    EXPECT_EQ(blamed([&] { wb::crc_parity({1}, {0x1864CFB, degree}); }), "crc_degree") << degree;
    EXPECT_EQ(blamed([&] { wb::crc_attacher(10, {0x1864CFB, degree}); }), "crc_degree") << degree;
    EXPECT_EQ(blamed([&] { wb::crc_remainders(10, {0x1864CFB, degree}); }), "crc_degree") << degree;
  }
  for (const std::uint32_t polynomial : {0u, 0x864CFBu, 0x3864CFBu, 0xffffffffu}) {
    EXPECT_EQ(blamed([&] { wb::crc_parity({1}, {polynomial, 24}); }), "crc_polynomial") << polynomial;
    EXPECT_EQ(blamed([&] { wb::crc_attacher(10, {polynomial, 24}); }), "crc_polynomial") << polynomial;
  }
  for (const int n : {-1, 0, (1 << 24) + 1})
    EXPECT_EQ(blamed([&] { wb::crc_attacher(n, wb::crc8); }), "n") << n;
  EXPECT_EQ(blamed([] { wb::crc_remainders(-1, wb::crc8); }), "n");

  const auto exec = wb::testing::open_scalar();
  const wb::crc_attacher attacher(10, wb::crc8);
  auto good = exec->make<std::uint8_t>(2, 18);
  EXPECT_NO_THROW(attacher.run(*exec, good));
  for (const std::size_t width : {10, 17, 19}) {
    auto bad = exec->make<std::uint8_t>(2, width);
    EXPECT_EQ(blamed([&] { attacher.run(*exec, bad); }), "bits") << width;
  }
  EXPECT_EQ(blamed([&] { attacher.run(*exec, {nullptr, 18, 2, 1, 18}); }), "bits");
}

}  // namespace crc_test

#undef SKIP_WITHOUT_VECTORS
