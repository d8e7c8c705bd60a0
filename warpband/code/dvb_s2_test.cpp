// Frames of DVB-S2: codewords of the reference data, noise, frames that fail, and what is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include <tests/on_backends.hpp>
#include <tests/sparse_ldpc.hpp>
#include <warpband/code/code_kind.hpp>
#include <warpband/code/dvb_s2.hpp>
#include <warpband/core/status.hpp>
#include <warpband/fec/sparse_ldpc/standard_matrix.hpp>

namespace wb {
namespace dvb_s2_test {

using namespace testing;

class dvb_s2 : public on_backend {};
WB_ON_ALL_BACKENDS(dvb_s2);

code_config frame(int n, const std::string& rate, int iterations = 30) {
  return code_config("dvb-s2",
                     {{"n", std::int64_t{n}}, {"rate", rate}, {"iterations", std::int64_t{iterations}}});
}
bytes encoded(executor& exec, const codec& code, const bytes& bits) {
  const std::size_t items = bits.size() / code.k();
  const auto in = on_device(exec, bits, items, code.k());
  auto out = exec.make<std::uint8_t>(items, code.n());
  code.encode(exec, in, out);
  return exec.to_host(out);
}
struct decoded {
  bytes bits, status;
};
decoded decode(executor& exec, const codec& code, const std::vector<float>& llr) {
  const std::size_t items = llr.size() / code.n();
  const auto in = on_device(exec, llr, items, code.n());
  auto bits = exec.make<std::uint8_t>(items, code.k()), status = exec.make<std::uint8_t>(items, 1);
  code.decode(exec, in, {.bits = bits, .status = status});
  return {exec.to_host(bits), exec.to_host(status)};
}
TEST_P(dvb_s2, frames_are_those_of_the_reference_data) {
  const auto vectors = satellite_json("dvb_s2/dvb_s2_vectors.json");
  SATELLITE_SKIP_WITHOUT(vectors);
  int compared = 0;
  for (const auto& row : vectors["rows"]) {
    const std::string name = row["code"];
    const dvb_s2_frame f = dvb_s2_frame_of(name);
    if (f.n == 64800 && small_scale()) continue;
    const auto code = make_codec(frame(f.n, f.rate));
    const std::size_t parity = row["ldpc_parity_bits"];
    const bytes bits = bits_of_hex(row["bch_info_hex"], row["bch_info_bits"]);
    ASSERT_EQ(bits.size(), code->k()) << name;
    bytes word = bits;
    for (const bytes& part : {bits_of_hex(row["bch_parity_hex"], code->n() - parity - bits.size()),
                              bits_of_hex(row["ldpc_parity_hex"], parity)})
      word.insert(word.end(), part.begin(), part.end());
    EXPECT_TRUE(encoded(exec(), *code, bits) == word) << name;
    compared++;
  }
  EXPECT_EQ(compared, small_scale() ? 6 : 11);
}

TEST_P(dvb_s2, a_frame_without_its_information_bits_fails) {
  // Each check has three of them, so all messages and decisions are 0, and 0 is a codeword of the outer code.
  const parity_check_matrix h = standard_parity_check_matrix("dvb-s2/short-1/3");
  for (const auto& row : h.rows())
    ASSERT_GE(std::count_if(row.begin(), row.end(), [&](int c) { return c < h.k(); }), 2);
  const auto code = make_codec(frame(16200, "1/3", 5));
  std::vector<float> llr(code->n());
  std::mt19937_64 random(4);
  for (std::size_t i = static_cast<std::size_t>(h.k()); i < llr.size(); i++)
    llr[i] = random() % 2 == 0 ? 3.f : -3.f;
  const decoded got = decode(exec(), *code, llr);
  EXPECT_EQ(got.status, bytes{0});
  EXPECT_EQ(got.bits, bytes(code->k()));
}

TEST_P(dvb_s2, noise_is_decoded_and_failures_have_status_0) {
  const auto code = make_codec(frame(16200, "8/9")), once = make_codec(frame(16200, "8/9", 1));
  std::mt19937_64 random(1);
  const std::size_t items = 4, k = code->k(), n = code->n();
  const bytes bits = random_bits(items * k, random), sent = encoded(exec(), *code, bits);
  const auto received = [&](double snr_db) {
    const double n0 = std::pow(10., -snr_db / 10);
    std::normal_distribution<double> noise(0, std::sqrt(n0 / 2));
    std::vector<float> llr;
    for (const auto b : sent)
      llr.push_back(static_cast<float>(4 / n0 * ((b != 0 ? -1. : 1.) + noise(random))));
    return llr;
  };
  std::vector<float> llr = received(4.5);
  llr[n + 7] = std::numeric_limits<float>::quiet_NaN();
  std::fill(llr.begin() + static_cast<std::ptrdiff_t>(2 * n),
            llr.begin() + static_cast<std::ptrdiff_t>(3 * n), 0.f);
  const decoded good = decode(exec(), *code, llr);
  EXPECT_EQ(good.status,
            (bytes{status_stopped, status_erased, status_erased | status_insufficient, status_stopped}));
  for (const std::size_t i : {0, 3}) EXPECT_EQ(row_of(good.bits, i, k), row_of(bits, i, k));
  for (const std::size_t i : {1, 2}) EXPECT_EQ(row_of(good.bits, i, k), bytes(k));
  // Far too much noise: no frame is right.
  const decoded bad = decode(exec(), *once, received(0));
  EXPECT_EQ(bad.status, bytes(items));
}

TEST_P(dvb_s2, the_outer_code_corrects_what_the_inner_one_leaves) {
  // Weak messages of checks leave the signs of all LLRs as they are.
  code_config config = frame(16200, "8/9", 1);
  config.set("scale", 0.1);
  const auto code = make_codec(config);
  const parity_check_matrix h = standard_parity_check_matrix("dvb-s2/short-8/9");
  std::mt19937_64 random(2);
  const bytes bits = random_bits(code->k(), random), sent = encoded(exec(), *code, bits);
  std::vector<float> llr;
  for (const auto b : sent) llr.push_back(b != 0 ? -1.f : 1.f);
  for (std::size_t i = 0; i < 12; i++) llr[1100 * i + 50] *= -1;
  const sparse_ldpc_decoder inner(h, {.scale = 0.1f, .iterations = 1});
  const auto in = on_device(exec(), llr, 1, code->n());
  auto outer = exec().make<std::uint8_t>(1, static_cast<std::size_t>(h.k()));
  auto status = exec().make<std::uint8_t>(1, 1);
  inner.run(exec(), in, {.bits = outer, .status = status});
  const bytes left = exec().to_host(outer);
  int wrong = 0;
  for (std::size_t i = 0; i < left.size(); i++) wrong += left[i] != sent[i];
  EXPECT_EQ(wrong, 12);
  EXPECT_EQ(exec().to_host(status)[0], 0);
  const decoded got = decode(exec(), *code, llr);
  EXPECT_EQ(got.bits, bits);
  EXPECT_EQ(got.status[0], status_stopped);
  llr[13300] *= -1;  // one too many
  const decoded failed = decode(exec(), *code, llr);
  EXPECT_EQ(failed.status[0], 0);
  // Its bits are the LDPC decoder's.
  bytes wrong_bits(sent.begin(), sent.begin() + static_cast<std::ptrdiff_t>(code->k()));
  for (std::size_t i = 0; i < 12; i++) wrong_bits[1100 * i + 50] ^= 1;
  wrong_bits[13300] ^= 1;
  EXPECT_EQ(failed.bits, wrong_bits);
}

TEST(dvb_s2_code, sizes_are_those_of_the_reference_data) {
  const auto codes = satellite_json("dvb_s2/codes.json");
  SATELLITE_SKIP_WITHOUT(codes);
  EXPECT_EQ(codes.size(), dvb_s2_codes().size());
  for (const auto& fact : codes) {
    const dvb_s2_frame f = dvb_s2_frame_of(fact["name"]);
    const code_sizes sizes = sizes_of(frame(f.n, f.rate));
    EXPECT_EQ(sizes.n, fact["n"]) << fact["name"];
    EXPECT_EQ(sizes.k, fact["bch_k"]) << fact["name"];
    EXPECT_EQ(fact["bch_n"], fact["k"]) << fact["name"];
  }
}

TEST(dvb_s2_code, refusals) {
  EXPECT_EQ(k_of_coded_bits(frame(64800, "1/2"), 16200), 7032u);
  EXPECT_EQ(k_of_coded_bits(frame(64800, "1/2"), 1000), std::nullopt);
  EXPECT_EQ(blamed([] { make_codec(frame(16200, "9/10")); }), "rate");
  EXPECT_EQ(blamed([] { make_codec(frame(32400, "1/2")); }), "rate");
  EXPECT_EQ(blamed([] { make_codec(frame(64800, "1/7")); }), "rate");
  EXPECT_EQ(blamed([] { make_codec(frame(648, "1/2")); }), "n");
  EXPECT_EQ(blamed([] { make_codec(code_config("dvb-s2", {{"k", std::int64_t{100}}})); }), "k");
  const auto code = make_codec(frame(16200, "1/4"));
  cpu exec({.threads = 1});
  std::vector<float> llr(code->n()), soft(code->k());
  EXPECT_EQ(blamed([&] {
              code->decode(exec, make_view<const float>(llr.data(), 1, llr.size()),
                           {.soft = make_view(soft.data(), 1, soft.size())});
            }),
            "code.type");
}

}  // namespace dvb_s2_test
}  // namespace wb
