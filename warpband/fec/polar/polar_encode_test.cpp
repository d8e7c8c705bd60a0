// Construction and encoder of polar codes of 5G NR: against vectors of other programs and the oracle's
// transform, on every backend, and limits of settings.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include <oracle/polar.hpp>
#include <tests/on_backends.hpp>
#include <warpband/fec/polar/polar.hpp>
#include <warpband/fec/polar/polar_tables.hpp>

#ifndef WARPBAND_REFDATA
#define WARPBAND_REFDATA ""
#endif

namespace wb {
namespace polar_encode_test {

using testing::blamed;
using testing::on_device;
using bits_of = std::vector<std::uint8_t>;

class polar_encode : public testing::on_backend {};
WB_ON_ALL_BACKENDS(polar_encode);

bits_of encode(executor& e, const polar_config& c, const bits_of& bits, layout order = layout::row_major) {
  const polar_encoder encoder(c);
  const std::size_t items = bits.size() / encoder.code().k(), n = encoder.code().coded_bits();
  auto coded = e.make<std::uint8_t>(items, n, order);
  encoder.run(e, on_device(e, bits, items, encoder.code().k(), order), coded);
  return e.to_host(coded);
}
bits_of random_bits(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  bits_of bits(count);
  for (auto& b : bits) b = static_cast<std::uint8_t>(rng() & 1);
  return bits;
}
bits_of from_text(const std::string& text) {
  bits_of bits;
  for (const char c : text) bits.push_back(static_cast<std::uint8_t>(c - '0'));
  return bits;
}
/// All kinds, puncturing, shortening and repetition; two blocks with and without a filler; a parity check of
/// minimum weight.
const std::vector<polar_config>& many_codes() {
  using enum polar_kind;
  static const std::vector<polar_config> codes{
      {.kind = uci, .k = 12, .coded_bits = 54},
      {.kind = uci, .k = 19, .coded_bits = 400},
      {.kind = uci, .k = 64, .coded_bits = 128},
      {.kind = uci, .k = 200, .coded_bits = 600},
      {.kind = uci, .k = 359, .coded_bits = 1088},
      {.kind = uci, .k = 361, .coded_bits = 1089},
      {.kind = uci, .k = 1013, .coded_bits = 2048},
      {.kind = uci, .k = 1706, .coded_bits = 16384},
      {.kind = dci, .k = 5, .coded_bits = 108, .rnti = 0x1234},
      {.kind = dci, .k = 41, .coded_bits = 216, .rnti = 65535},
      {.kind = dci, .k = 140, .coded_bits = 1728},
      {.kind = pbch, .k = 32, .coded_bits = 864},
      {.kind = plain, .k = 256, .coded_bits = 512, .crc_bits = 0},
      {.kind = plain, .k = 7, .coded_bits = 20, .crc_bits = 6},
      {.kind = plain, .k = 1000, .coded_bits = 1024, .crc_bits = 24},
      {.kind = general, .k = 1723, .coded_bits = 2048, .crc_bits = 0},
      {.kind = general, .k = 2000, .coded_bits = 3000, .crc_bits = 16, .design_esn0_db = 1},
      {.kind = general, .k = 500, .coded_bits = 1024, .crc_bits = 8, .construction = polar_construction::nr}};
  return codes;
}

TEST_P(polar_encode, gives_the_vectors) {
  const std::string path = WARPBAND_REFDATA "/nr/vectors/nr_polar.json";
  std::ifstream file(path);
  if (!file) GTEST_SKIP() << "no refdata: cannot open '" << path << "'";
  int checked = 0;
  const nlohmann::json document = nlohmann::json::parse(file);
  for (const auto& v : document["vectors"]) {
    polar_config c{.kind = polar_kind::uci, .k = v["A"], .coded_bits = v["E"]};
    if (v["direction"] != "uplink") {
      c.kind = v.contains("rnti") ? polar_kind::dci : polar_kind::pbch;  // CRC-24C without ones and mask
      c.rnti = v.value("rnti", 0);
    }
    const polar_block b = polar_code(c).blocks().front();
    EXPECT_EQ(b.n, v["N"]) << v["id"];
    EXPECT_EQ(b.k, v["K"]) << v["id"];
    EXPECT_EQ(encode(exec(), c, from_text(v["info"])), from_text(v["out"])) << v["id"];
    checked++;
  }
  EXPECT_GT(checked, 10);
}

TEST_P(polar_encode, is_the_matrix_product) {
  for (const polar_config& c : many_codes()) {
    const polar_code code(c);
    const bits_of bits = random_bits(code.k(), 1), coded = encode(exec(), c, bits);
    for (const polar_block& b : code.blocks()) {
      // Without puncturing the sent bits determine the codeword.
      if (b.e < b.n && !b.shortened) continue;
      bits_of d(static_cast<std::size_t>(b.n));
      for (std::size_t f = 0; f < b.sent.size(); f++)
        d[static_cast<std::size_t>(b.sent[f])] = coded[static_cast<std::size_t>(b.first_sent) + f];
      const bits_of u = oracle::polar_transform(d);
      const int before = b.fillers_behind ? 0 : b.fillers;
      for (int i = 0; i < b.k - b.crc_bits; i++) {
        const int index = i - before;
        const std::uint8_t want = index >= 0 && index < b.payload
                                      ? bits[static_cast<std::size_t>(b.first_bit + index)]
                                      : std::uint8_t{0};
        ASSERT_EQ(u[static_cast<std::size_t>(b.place[static_cast<std::size_t>(i)])], want);
      }
      std::vector<bool> used(static_cast<std::size_t>(b.n));
      for (const int p : b.place) used[static_cast<std::size_t>(p)] = true;
      for (const int p : b.parity_checks) {
        std::uint8_t sum = 0;
        for (int j = p - 5; j >= 0; j -= 5)
          if (used[static_cast<std::size_t>(j)]) sum ^= u[static_cast<std::size_t>(j)];
        EXPECT_EQ(u[static_cast<std::size_t>(p)], sum);
      }
      for (const int p : b.parity_checks) used[static_cast<std::size_t>(p)] = true;
      for (std::size_t i = 0; i < u.size(); i++) EXPECT_TRUE(used[i] || u[i] == 0) << i;
    }
  }
}

TEST_P(polar_encode, writes_zeros_behind_the_coded_bits) {
  const polar_encoder encoder({.kind = polar_kind::uci, .k = 361, .coded_bits = 1089});
  auto coded = on_device(exec(), bits_of(1095, 7), 1, 1095);
  encoder.run(exec(), on_device(exec(), bits_of(361, 1), 1, 361), coded);
  const bits_of got = exec().to_host(coded);
  EXPECT_EQ(bits_of(got.begin() + 1088, got.end()), bits_of(7, 0));  // E is odd: two blocks send one bit less
}

TEST(polar_code, sequence_is_nested_and_complete) {
  std::vector<bool> seen(polar_reliability.size());
  for (const int u : polar_reliability) seen[static_cast<std::size_t>(u)] = true;
  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 1024);
  std::vector<bool> mixed(polar_input_interleaver.size());
  for (const int i : polar_input_interleaver) mixed[static_cast<std::size_t>(i)] = true;
  EXPECT_EQ(std::count(mixed.begin(), mixed.end(), true), 164);
}

TEST(polar_code, sizes_follow_the_standard) {
  using enum polar_kind;
  const auto two = polar_code({.kind = uci, .k = 361, .coded_bits = 1089}).blocks();
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[0].fillers, 1);
  EXPECT_EQ(two[0].payload, 180);
  EXPECT_EQ(two[1].payload, 181);
  EXPECT_EQ(two[0].k, 192);
  EXPECT_EQ(two[1].first_sent, 544);
  EXPECT_EQ(polar_code({.kind = uci, .k = 360, .coded_bits = 1087}).blocks().size(), 1u);
  EXPECT_EQ(polar_code({.kind = uci, .k = 19, .coded_bits = 400}).blocks()[0].parity_checks.size(), 3u);
  EXPECT_EQ(polar_code({.kind = uci, .k = 20, .coded_bits = 400}).blocks()[0].parity_checks.size(), 0u);
  EXPECT_EQ(polar_code({.kind = dci, .k = 5, .coded_bits = 108}).blocks()[0].k, 36);
  EXPECT_EQ(polar_code({.kind = pbch, .k = 32, .coded_bits = 864}).blocks()[0].n, 512);
  // Every allowed size gives a code with distinct indices in u.
  for (const polar_kind kind : {uci, dci, pbch, plain})
    for (int k = kind == uci ? 12 : 1; k <= (kind == uci ? 1706 : 140); k += k < 30 ? 1 : 37)
      for (int e = 16384; e > k; e = e * 7 / 8) {
        try {
          const polar_code code({.kind = kind, .k = k, .coded_bits = e});
          for (const polar_block& b : code.blocks()) {
            std::vector<int> used(b.place.begin(), b.place.end());
            used.insert(used.end(), b.parity_checks.begin(), b.parity_checks.end());
            std::sort(used.begin(), used.end());
            EXPECT_EQ(std::adjacent_find(used.begin(), used.end()), used.end());
            EXPECT_LT(used.back(), b.n);
            EXPECT_EQ(b.sent.size(), static_cast<std::size_t>(b.e));
          }
        } catch (const argument_error& error) {
          EXPECT_TRUE(error.argument() == "coded_bits" || (error.argument() == "k" && k > 1012))
              << error.what();
        }
      }
}

TEST(polar_code, names_what_is_not_allowed) {
  using enum polar_kind;
  const auto blame = [](const polar_config& c) { return blamed([&] { polar_code code(c); }); };
  EXPECT_EQ(blame({.kind = uci, .k = 11, .coded_bits = 100}), "k");
  EXPECT_EQ(blame({.kind = uci, .k = 1707, .coded_bits = 16384}), "k");
  EXPECT_EQ(blame({.kind = dci, .k = 141, .coded_bits = 400}), "k");
  EXPECT_EQ(blame({.kind = pbch, .k = 0, .coded_bits = 864}), "k");
  EXPECT_EQ(blame({.kind = plain, .k = 1001, .coded_bits = 1100, .crc_bits = 24}), "k");
  EXPECT_EQ(blame({.kind = uci, .k = 64, .coded_bits = 0}), "coded_bits");
  EXPECT_EQ(blame({.kind = uci, .k = 64, .coded_bits = 74}), "coded_bits");
  EXPECT_EQ(blame({.kind = uci, .k = 64, .coded_bits = 75}), "");
  EXPECT_EQ(blame({.kind = uci, .k = 64, .coded_bits = 16385}), "coded_bits");
  EXPECT_EQ(blame({.kind = dci, .k = 40, .coded_bits = 108, .rnti = 65536}), "rnti");
  EXPECT_EQ(blame({.kind = static_cast<polar_kind>(9), .k = 40}), "kind");
  EXPECT_EQ(blame({.kind = plain, .k = 40, .crc_bits = 9}), "crc_bits");
}

}  // namespace polar_encode_test
}  // namespace wb
