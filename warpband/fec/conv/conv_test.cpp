// Convolutional encoders against the standards' vectors and the oracle.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include <tests/conv.hpp>
#include <tests/json.hpp>
#include <tests/on_backends.hpp>
#include <warpband/fec/conv/conv.hpp>

namespace wb {
namespace conv_test {

using testing::bit_vector;
using testing::blamed;
using testing::on_device;

class conv : public testing::on_backend {};
WB_ON_ALL_BACKENDS(conv);

bit_vector bits_of(const std::string& s) {
  bit_vector b;
  for (const char c : s) b.push_back(static_cast<std::uint8_t>(c - '0'));
  return b;
}
bit_vector encode(executor& e, const conv_encoder& encoder, const bit_vector& blocks, std::size_t width = 0) {
  const std::size_t k = static_cast<std::size_t>(encoder.k()), items = blocks.size() / k;
  if (width == 0) width = encoder.n();
  auto out = on_device(e, bit_vector(width * items, 0xee), items, width);
  encoder.run(e, on_device(e, blocks, items, k), out);
  return e.to_host(out);
}
nlohmann::json vectors_of(const std::string& name) {
  const std::string path = std::string(WARPBAND_REFDATA) + "/vectors/" + name;
  if (!std::filesystem::exists(path)) return nullptr;
  return testing::parse_json(std::ifstream(path)).at("vectors");
}
conv_rate rate_of(const std::string& s) {
  return s == "1/2"   ? conv_rate::r1_2
         : s == "2/3" ? conv_rate::r2_3
         : s == "3/4" ? conv_rate::r3_4
                      : conv_rate::r5_6;
}

TEST_P(conv, gives_the_reference_vectors_of_80211_and_80216) {
  const auto vectors = vectors_of("conv_punctured.json");
  if (vectors.is_null()) GTEST_SKIP() << "no reference vectors here";
  for (const auto& v : vectors) {
    const std::string standard = v.at("standard"), rate = v.at("rate");
    const auto input = bits_of(v.at("input")), want = bits_of(v.at("output"));
    const conv_code code =
        standard.find("802.11") != std::string::npos ? conv_80211(rate_of(rate)) : conv_80216(rate_of(rate));
    const conv_encoder encoder(code, static_cast<int>(input.size()));
    EXPECT_EQ(encode(exec(), encoder, input), want) << standard << " " << rate;
    conv_code mother = code;
    mother.sent.clear();
    EXPECT_EQ(encode(exec(), conv_encoder(mother, encoder.k()), input), bits_of(v.at("unpunctured")));
  }
  EXPECT_GE(vectors.size(), 6u);
}

TEST_P(conv, gives_the_reference_vectors_of_lte) {
  const auto vectors = vectors_of("lte_tbcc.json");
  if (vectors.is_null()) GTEST_SKIP() << "no reference vectors here";
  for (const auto& v : vectors) {
    const auto input = bits_of(v.at("input"));
    const std::string want =
        v.at("d0").get<std::string>() + v.at("d1").get<std::string>() + v.at("d2").get<std::string>();
    EXPECT_EQ(encode(exec(), conv_encoder(conv_lte(), static_cast<int>(input.size())), input), bits_of(want));
  }
  EXPECT_GE(vectors.size(), 4u);
}

TEST_P(conv, equals_the_oracle) {
  std::mt19937_64 rng(1);
  for (const conv_code& code : testing::many_codes())
    for (const std::size_t k : {8, 31, 200}) {
      const std::size_t batch = 19;
      const conv_encoder encoder(code, static_cast<int>(k));
      const std::size_t n = encoder.n(), width = n + 3;
      const auto blocks = testing::random_bit_vector(k * batch, rng);
      const auto got = encode(exec(), encoder, blocks, width);
      for (std::size_t b = 0; b < batch; b++) {
        const auto slice = [](const bit_vector& v, std::size_t i, std::size_t length) {
          return bit_vector(v.begin() + static_cast<std::ptrdiff_t>(i * length),
                            v.begin() + static_cast<std::ptrdiff_t>((i + 1) * length));
        };
        auto want =
            testing::ordered(code, oracle::conv_encode(testing::oracle_of(code), slice(blocks, b, k)));
        want.resize(width, 0);  // zeros behind
        ASSERT_EQ(slice(got, b, width), want) << testing::name_of(code) << " k=" << k;
      }
    }
}

TEST(conv_frames, rates) {
  EXPECT_EQ(conv_frame(conv_80211(conv_rate::r3_4), 18).n(), 32u);  // (18 + 6) 4 / 3
  EXPECT_EQ(conv_frame(conv_80211(conv_rate::r5_6), 24).n(), 36u);
  const auto overlap = [](conv_rate rate) {
    return conv_frame(conv_80216(rate, conv_ending::tail_biting), 240).usual_overlap();
  };
  EXPECT_EQ(conv_frame(conv_lte(), 40).usual_overlap(), 48);
  EXPECT_EQ(overlap(conv_rate::r1_2), 48);
  EXPECT_EQ(overlap(conv_rate::r2_3), 144);
  EXPECT_EQ(overlap(conv_rate::r3_4), 192);
  EXPECT_EQ(overlap(conv_rate::r5_6), 288);
  EXPECT_EQ(conv_frame({.ending = conv_ending::tail_biting, .sent = {1, 0}}, 40).usual_overlap(), 4096);
  EXPECT_EQ(conv_frame(conv_lte(), 40).n(), 120u);
  EXPECT_EQ(conv_frame(conv_80216(conv_rate::r2_3, conv_ending::tail_biting), 48).n(), 72u);
  EXPECT_EQ(conv_frame(conv_recursive(5, 023, {033}), 1024).n(), 2056u);
  EXPECT_DOUBLE_EQ(conv_frame(conv_lte(), 40).rate(), 1.0 / 3);
}

TEST(conv_arguments, bad_ones_are_named) {
  const auto with = [](auto set, int k = 40) {
    conv_code c;
    set(c);
    return blamed([&] { conv_frame f(c, k); });
  };
  EXPECT_EQ(with([](auto&) {}), "");
  EXPECT_EQ(with([](auto& c) { c.constraint_length = 2; }), "constraint_length");
  EXPECT_EQ(with([](auto& c) { c.constraint_length = 10; }), "constraint_length");
  EXPECT_EQ(with([](auto& c) { c.generators = {}; }), "generators.size()");
  EXPECT_EQ(with([](auto& c) { c.generators = {1, 2, 3, 4, 5}; }), "generators.size()");
  EXPECT_EQ(with([](auto& c) { c.generators = {0133, 0}; }), "generators");
  EXPECT_EQ(with([](auto& c) { c.generators = {0133, -1}; }), "generators");
  EXPECT_EQ(with([](auto& c) { c.generators = {0133, 0200}; }), "generators");
  EXPECT_EQ(with([](auto& c) { c.feedback = 033; }), "feedback");
  EXPECT_EQ(with([](auto& c) { c.feedback = 0200; }), "feedback");
  EXPECT_EQ(with([](auto& c) { c.feedback = -1; }), "feedback");
  EXPECT_EQ(with([](auto& c) { c.ending = static_cast<conv_ending>(7); }), "ending");
  EXPECT_EQ(with([](auto& c) { c.order = static_cast<conv_order>(7); }), "order");
  EXPECT_EQ(with([](auto& c) { c.sent = {1, 1, 1}; }), "sent.size()");
  EXPECT_EQ(with([](auto& c) { c.sent = {1, 2}; }), "sent");
  EXPECT_EQ(with([](auto& c) { c.sent = {0, 0}; }), "sent");
  EXPECT_EQ(with([](auto&) {}, 0), "k");
  EXPECT_EQ(with([](auto&) {}, (1 << 20) + 1), "k");
  EXPECT_EQ(with([](auto& c) { c.ending = conv_ending::tail_biting; }, 5), "k");
  EXPECT_EQ(with([](auto& c) { c.ending = conv_ending::tail_biting; }, 6), "");
  EXPECT_EQ(blamed([] {
              conv_code c = conv_recursive(5, 023, {033});
              c.ending = conv_ending::tail_biting;
              conv_frame f(c, 40);
            }),
            "ending");
  EXPECT_EQ(blamed([] { conv_80211(static_cast<conv_rate>(9)); }), "rate");
}

TEST(conv_frame, is_of_a_known_code_whatever_its_ending_and_puncturing) {
  const auto known = [](const conv_code& code) { return conv_frame(code, 40).known(); };
  for (const conv_rate rate : {conv_rate::r1_2, conv_rate::r3_4})
    EXPECT_EQ(known(conv_80211(rate)), conv_known::g133_171);
  conv_code code = conv_lte();
  EXPECT_EQ(known(code), conv_known::g133_171_165);
  code.ending = conv_ending::truncated;
  EXPECT_EQ(known(code), conv_known::g133_171_165);
  EXPECT_EQ(known(conv_80216(conv_rate::r1_2)), conv_known::none);
  EXPECT_EQ(known(conv_recursive(7, 0133, {0171})), conv_known::none);
  EXPECT_EQ(known({.constraint_length = 8, .generators = {0133, 0171}}), conv_known::none);
}

}  // namespace conv_test
}  // namespace wb
