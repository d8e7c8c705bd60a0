// The Viterbi decoder against the exhaustive trellis search in double precision, the union bound, its limit
// cases, and itself on every backend.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>

#include <tests/conv.hpp>
#include <tests/on_backends.hpp>
#include <warpband/channel/awgn/awgn.hpp>
#include <warpband/fec/viterbi/viterbi.hpp>
#include <warpband/modem/demap/demap.hpp>

namespace wb {
namespace viterbi_test {

using testing::bit_vector;
using testing::blamed;
using testing::make_conv_codewords;
using testing::name_of;
using testing::on_device;
using testing::oracle_of;
using testing::row_of;
using testing::small_scale;

class viterbi : public testing::on_backend {};
WB_ON_ALL_BACKENDS(viterbi);

struct decoded {
  bit_vector bits;
  std::vector<float> metric;
  bit_vector status;
  bool operator==(const decoded& o) const {
    return bits == o.bits && status == o.status && metric.size() == o.metric.size() &&
           std::memcmp(metric.data(), o.metric.data(), metric.size() * sizeof(float)) == 0;
  }
};
decoded decode(executor& e, const viterbi_decoder& d, const std::vector<float>& llr) {
  const std::size_t k = static_cast<std::size_t>(d.config().k), n = d.frame().n(), items = llr.size() / n;
  auto bits = on_device(e, bit_vector(k * items, 7), items, k);
  auto metric = e.make<float>(items, 1);
  auto status = e.make<std::uint8_t>(items, 1);
  d.run(e, on_device(e, llr, items, n), {.bits = bits, .metric = metric, .status = status});
  return {e.to_host(bits), e.to_host(metric), e.to_host(status)};
}

TEST_P(viterbi, without_noise_gives_what_was_sent) {
  auto codes = testing::many_codes();
  codes.push_back({.constraint_length = 8, .generators = {0133, 0171}});  // those of a code of K = 7
  for (const conv_code& code : codes)
    for (const std::size_t k : {8, 33, 250}) {
      if (code.generators.size() == 1 && code.ending != conv_ending::zero_tail) continue;
      const std::size_t count = 18;
      auto w = make_conv_codewords(code, k, count, 60, k);
      const auto got = decode(exec(), viterbi_decoder({.code = code, .k = static_cast<int>(k)}), w.llr);
      if (code.ending == conv_ending::truncated || k == 8) {
        // The last bits of a truncated code, or of a short punctured one, may not be told by what is sent.
        for (std::size_t b = 0; b < count; b++) {
          const auto again = oracle::conv_encode(oracle_of(code), row_of(got.bits, b, k));
          const auto sent = oracle::conv_encode(oracle_of(code), row_of(w.sent, b, k));
          ASSERT_EQ(again, sent) << name_of(code) << " k=" << k;
        }
      } else {
        ASSERT_EQ(got.bits, w.sent) << name_of(code) << " k=" << k;
      }
      EXPECT_EQ(count_erased(got.status), 0u);
    }
}

TEST_P(viterbi, finds_the_most_likely_codeword) {
  for (const conv_code& code : testing::many_codes()) {
    if (code.ending == conv_ending::tail_biting) continue;
    const std::size_t k = 70, count = 5;
    const auto w = make_conv_codewords(code, k, count, -2, 3);
    const auto got = decode(exec(), viterbi_decoder({.code = code, .k = static_cast<int>(k)}), w.llr);
    const std::size_t n = w.llr.size() / count;
    for (std::size_t b = 0; b < count; b++) {
      const auto llr = row_of(w.llr, b, n);
      const std::vector<double> exact(llr.begin(), llr.end());
      const auto want = oracle::conv_viterbi(oracle_of(code), exact, static_cast<int>(k));
      // The metric is the oracle's, and that of the codeword that the bits encode.
      EXPECT_NEAR(got.metric[b], want.metric, 1e-3 + 2e-6 * std::abs(want.metric)) << name_of(code);
      const auto coded = oracle::conv_encode(oracle_of(code), row_of(got.bits, b, k));
      double sum = 0;
      for (std::size_t i = 0; i < n; i++) sum -= coded[i] ? exact[i] : 0;
      EXPECT_NEAR(sum, want.metric, 1e-3) << name_of(code);
    }
  }
}

TEST_P(viterbi, of_long_codewords_decides_early_and_finds_the_most_likely_one) {
  const auto reference = testing::open_reference();
  for (const conv_code& code :
       {conv_80211(conv_rate::r1_2), conv_80216(conv_rate::r3_4, conv_ending::tail_biting), conv_lte(),
        conv_code{.constraint_length = 3, .generators = {07, 05}},
        conv_code{.constraint_length = 4, .generators = {015, 017}, .feedback = 013}}) {
    const std::size_t k = 9001, count = small_scale() ? 2 : 9;
    const viterbi_decoder d({.code = code, .k = static_cast<int>(k)});
    auto w = make_conv_codewords(code, k, count, code.sent.empty() ? -2 : 2, 12);
    const std::size_t n = d.frame().n();
    const auto got = decode(exec(), d, w.llr);
    ASSERT_TRUE(got == decode(*reference, d, w.llr)) << name_of(code);
    const auto plain = oracle_of(code);
    for (std::size_t b = 0; b < count && code.ending != conv_ending::tail_biting; b++) {
      // The metric is that of the best path, whatever was decided on the way.
      const auto coded = testing::ordered(code, oracle::conv_encode(plain, row_of(got.bits, b, k)));
      double sum = 0;
      for (std::size_t i = 0; i < n; i++) sum -= coded[i] ? static_cast<double>(w.llr[b * n + i]) : 0;
      EXPECT_NEAR(sum, got.metric[b], 1e-5 * std::abs(sum)) << name_of(code);
    }
    w.llr[n - 1] = std::numeric_limits<float>::infinity();
    const auto spoilt = decode(exec(), d, w.llr);
    EXPECT_EQ(row_of(spoilt.bits, 0, k), bit_vector(k, 0));
    EXPECT_EQ(row_of(spoilt.bits, 1, k), row_of(got.bits, 1, k));
  }
}

TEST_P(viterbi, tail_biting_is_seldom_off_the_exact_search) {
  // At 0.1 frame errors: the share of codewords whose metric is below that of the search over all start
  // states.
  for (const auto& [code, k, esn0_db] :
       {std::tuple{conv_lte(), 40, -3.0}, std::tuple{conv_lte(), 104, -3.0},
        std::tuple{conv_80216(conv_rate::r1_2, conv_ending::tail_biting), 48, -0.5}}) {
    const std::size_t length = static_cast<std::size_t>(k), count = small_scale() ? 8 : 30;
    conv_code serial = code;
    serial.order = conv_order::serial;
    const auto w = make_conv_codewords(serial, length, count, esn0_db, 4);
    const auto got = decode(exec(), viterbi_decoder({.code = serial, .k = k}), w.llr);
    const std::size_t n = w.llr.size() / count;
    int worse = 0, wrong = 0;
    for (std::size_t b = 0; b < count; b++) {
      const auto llr = row_of(w.llr, b, n);
      const std::vector<double> exact(llr.begin(), llr.end());
      const auto want = oracle::conv_viterbi(oracle_of(serial), exact, k);
      const auto bits = row_of(got.bits, b, length);
      const auto coded = oracle::conv_encode(oracle_of(serial), bits);
      double sum = 0;
      for (std::size_t i = 0; i < n; i++) sum -= coded[i] ? exact[i] : 0;
      worse += sum < want.metric - 1e-3;
      wrong += want.bits != row_of(w.sent, b, length);
    }
    EXPECT_LE(worse, static_cast<int>(count) / 20 + 1) << k << ", wrong " << wrong;
    RecordProperty("worse_" + std::to_string(n), worse);
    RecordProperty("wrong_" + std::to_string(n), wrong);
  }
}

TEST_P(viterbi, exact_search_finds_the_most_likely_tail_biting_codeword) {
  const auto reference = testing::open_reference();
  std::vector<conv_code> codes{conv_80216(conv_rate::r5_6, conv_ending::tail_biting)};
  for (const conv_code& code : testing::many_codes())
    if (code.ending == conv_ending::tail_biting) codes.push_back(code);
  for (conv_code code : codes) {
    code.order = conv_order::serial;
    for (const int k : {8, 40}) {
      if (code.constraint_length > 8 && k > 8 && small_scale()) continue;
      const viterbi_decoder d({.code = code, .k = k, .tail_biting = tail_biting_search::exact});
      EXPECT_EQ(d.config().overlap, 0);
      const std::size_t length = static_cast<std::size_t>(k), count = small_scale() ? 3 : 17;
      auto w = make_conv_codewords(code, length, count, k == 40 ? 0 : -4, 4);
      const std::size_t n = w.llr.size() / count;
      const auto got = decode(exec(), d, w.llr);
      ASSERT_TRUE(got == decode(*reference, d, w.llr)) << name_of(code) << " k=" << k;
      for (std::size_t b = 0; b < count; b++) {
        const auto llr = row_of(w.llr, b, n);
        const std::vector<double> exact(llr.begin(), llr.end());
        const auto want = oracle::conv_viterbi(oracle_of(code), exact, k);
        EXPECT_NEAR(got.metric[b], want.metric, 1e-3 + 2e-6 * std::abs(want.metric)) << name_of(code) << k;
        const auto coded = oracle::conv_encode(oracle_of(code), row_of(got.bits, b, length));
        double sum = 0;
        for (std::size_t i = 0; i < n; i++) sum -= coded[i] ? exact[i] : 0;
        EXPECT_NEAR(sum, want.metric, 1e-3) << name_of(code) << " k=" << k;
      }
      // Neither erasures nor codewords that tell nothing trouble their neighbours.
      w.llr[n - 1] = std::numeric_limits<float>::quiet_NaN();
      std::fill_n(w.llr.begin() + static_cast<std::ptrdiff_t>(n), n, 0.f);
      const auto spoilt = decode(exec(), d, w.llr);
      EXPECT_EQ(row_of(spoilt.bits, 0, 2 * length), bit_vector(2 * length, 0));
      EXPECT_EQ(row_of(spoilt.bits, 2, length), row_of(got.bits, 2, length));
      EXPECT_EQ(count_erased(spoilt.status), 2u);
    }
  }
}

/// Punctured steps tell less about the state: with the 48 steps of rate 1/2 a quarter more of these failed.
TEST_P(viterbi, tail_biting_overlap_suits_the_rate) {
  const conv_code code = conv_80216(conv_rate::r5_6, conv_ending::tail_biting);
  const std::size_t k = 100, count = small_scale() ? 20 : 400;
  const auto w = make_conv_codewords(code, k, count, 2.2, 8);
  const auto failures = [&](std::optional<int> overlap) {
    const auto got = decode(exec(), viterbi_decoder({.code = code, .k = 100, .overlap = overlap}), w.llr);
    int wrong = 0;
    for (std::size_t b = 0; b < count; b++) wrong += row_of(got.bits, b, k) != row_of(w.sent, b, k);
    return wrong;
  };
  EXPECT_LE(failures({}), failures(500) + 4);
}

TEST_P(viterbi, ties_go_to_zeros) {
  for (const conv_code& code : testing::many_codes()) {
    const viterbi_decoder d({.code = code, .k = 50});
    const auto got = decode(exec(), d, std::vector<float>(d.frame().n() * 3, 0.f));
    EXPECT_EQ(got.bits, bit_vector(150, 0)) << name_of(code);
    EXPECT_EQ(got.metric, std::vector<float>(3, 0.f));
  }
  // LLRs of few values tie often: all backends decide alike.
  const auto reference = testing::open_reference();
  std::mt19937_64 rng(7);
  for (const conv_code& code : testing::many_codes()) {
    const viterbi_decoder d({.code = code, .k = 50});
    std::vector<float> llr(d.frame().n() * 17);
    for (float& x : llr) x = static_cast<float>(static_cast<int>(rng() % 3) - 1);
    ASSERT_TRUE(decode(exec(), d, llr) == decode(*reference, d, llr)) << name_of(code);
  }
}

TEST_P(viterbi, very_large_llrs_stay_finite) {
  const conv_code code = conv_lte();
  const viterbi_decoder d({.code = code, .k = 5000});
  auto w = make_conv_codewords(code, 5000, 2, 3, 9);
  for (float& x : w.llr) x *= 1e30f;
  const auto got = decode(exec(), d, w.llr);
  EXPECT_EQ(got.bits, w.sent);
  EXPECT_TRUE(std::isfinite(got.metric[0]));
}

TEST_P(viterbi, error_rate_is_that_of_the_union_bound) {
  // (133, 171), free distance 10; bit weights of the paths of distance 10, 12, ... 18. At 4.5 dB the truth is
  // 0.95 of the bound (354 errors of long runs); some 35 error events are counted here.
  if (GetParam().name != "avx512" && !GetParam().name.starts_with("cuda"))
    GTEST_SKIP() << "equal bits are held elsewhere";
  const double weights[] = {36, 211, 1404, 11633, 77433};
  const double ebn0 = std::pow(10, 0.45);
  double bound = 0;
  for (int i = 0; i < 5; i++) bound += weights[i] * 0.5 * std::erfc(std::sqrt(0.5 * (10 + 2 * i) * ebn0));
  const std::size_t k = 2000, batch = 1024;
  const viterbi_decoder d({.code = conv_80211(conv_rate::r1_2), .k = static_cast<int>(k)});
  const std::size_t n = d.frame().n(), symbols = n * batch;
  const float n0 = static_cast<float>(2 / ebn0), a = std::sqrt(0.5f);
  const auto sent = exec().make_from(std::vector<std::complex<float>>{{a, a}});  // all zeros, in BPSK
  const auto noise_var = exec().make_from(std::vector<float>{n0});
  auto received = exec().make<std::complex<float>>(symbols, 1);
  auto llr = exec().make<float>(batch, n);
  auto out = exec().make<std::uint8_t>(batch, k);
  double errors = 0, bits = 0;
  for (std::uint64_t round = 0; round < (small_scale() ? 1 : 20); round++) {
    add_awgn(exec(), {sent.data(), 1, symbols, 1, 0}, make_view(received.data(), symbols), n0,
             {.seed = 5, .first = round * symbols});
    demapper(2).run(exec(), {{}, make_view(received.data(), symbols), {noise_var.data(), 1, symbols, 1, 0}},
                    make_view(llr.data(), symbols));
    d.run(exec(), llr, {.bits = out});
    for (const auto b : exec().to_host(out)) errors += b;
    bits += static_cast<double>(k * batch);
  }
  const double rate = errors / bits;
  EXPECT_LT(rate, bound * (small_scale() ? 6 : 1.5)) << errors << " errors, bound " << bound;
  EXPECT_GE(rate, bound * (small_scale() ? 0 : 0.55)) << errors << " errors, bound " << bound;
}

TEST(viterbi_arguments, bad_ones_are_named) {
  const auto with = [](auto set) {
    viterbi_config c;
    set(c);
    return blamed([&] { viterbi_decoder d(c); });
  };
  EXPECT_EQ(with([](auto&) {}), "");
  EXPECT_EQ(with([](auto& c) { c.k = 0; }), "k");
  EXPECT_EQ(with([](auto& c) { c.k = 65537; }), "k");
  for (const int k : {5, 65537}) {
    try {
      viterbi_decoder d({.code = conv_lte(), .k = k});
      ADD_FAILURE() << k;
    } catch (const argument_error& e) {
      EXPECT_EQ(e.argument() + ": " + e.allowed(), "k: 6 to 65536");
    }
  }
  EXPECT_EQ(with([](auto& c) { c.overlap = -1; }), "overlap");
  EXPECT_EQ(with([](auto& c) { c.overlap = 4097; }), "overlap");
  EXPECT_EQ(with([](auto& c) { c.code.constraint_length = 1; }), "constraint_length");
  EXPECT_EQ(with([](auto& c) { c.tail_biting = tail_biting_search::exact; }), "tail_biting");
  EXPECT_EQ(with([](auto& c) { c.tail_biting = static_cast<tail_biting_search>(2); }), "tail_biting");
  EXPECT_EQ(with([](auto& c) {
              c.code = conv_lte();
              c.tail_biting = tail_biting_search::exact;
              c.overlap = 5;
            }),
            "overlap");
  EXPECT_EQ(viterbi_decoder({.code = conv_lte()}).config().overlap, 48);
  EXPECT_EQ(viterbi_decoder({}).config().overlap, 0);
}

}  // namespace viterbi_test
}  // namespace wb
