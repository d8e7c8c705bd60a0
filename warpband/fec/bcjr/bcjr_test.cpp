// The BCJR decoder against the double-precision oracle, a reference curve, its limit cases, and itself on
// every backend.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>

#include <tests/conv.hpp>
#include <tests/on_backends.hpp>
#include <warpband/channel/awgn/awgn.hpp>
#include <warpband/fec/bcjr/bcjr.hpp>
#include <warpband/modem/demap/demap.hpp>

namespace wb {
namespace bcjr_test {

using testing::bit_vector;
using testing::blamed;
using testing::conv_codewords_with_priors;
using testing::name_of;
using testing::on_device;
using testing::oracle_of;
using testing::row_of;
using testing::small_scale;

class bcjr : public testing::on_backend {};
WB_ON_ALL_BACKENDS(bcjr);

constexpr map_algorithm both[] = {map_algorithm::max_log_map, map_algorithm::log_map};
constexpr map_algorithm every[] = {map_algorithm::max_log_map, map_algorithm::log_map,
                                   map_algorithm::log_map_table};

struct decoded {
  bit_vector bits;
  std::vector<float> soft, extrinsic;
  bit_vector status;
  bool operator==(const decoded& o) const {
    const auto same = [](const std::vector<float>& x, const std::vector<float>& y) {
      return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
    };
    return bits == o.bits && same(soft, o.soft) && same(extrinsic, o.extrinsic) && status == o.status;
  }
};
decoded decode(executor& e, const bcjr_decoder& d, const std::vector<float>& llr,
               const std::vector<float>& prior = {}) {
  const std::size_t k = static_cast<std::size_t>(d.config().k), n = d.frame().n(), items = llr.size() / n;
  auto bits = on_device(e, bit_vector(k * items, 7), items, k);
  auto soft = e.make<float>(items, k), extrinsic = e.make<float>(items, k);
  auto status = e.make<std::uint8_t>(items, 1);
  const bcjr_output out{.bits = bits, .soft = soft, .extrinsic = extrinsic, .status = status};
  if (prior.empty())
    d.run(e, on_device(e, llr, items, n), out);
  else
    d.run(e, on_device(e, llr, items, n), on_device(e, prior, items, k), out);
  return {e.to_host(bits), e.to_host(soft), e.to_host(extrinsic), e.to_host(status)};
}
std::vector<double> limited(const std::vector<float>& x, map_algorithm algorithm) {
  const float limit = algorithm == map_algorithm::log_map ? 30.f : 1e30f;
  std::vector<double> r;
  for (const float v : x) r.push_back(std::clamp(v, -limit, limit));
  return r;
}

TEST_P(bcjr, equals_the_oracle) {
  for (const conv_code& code : testing::many_codes()) {
    if (code.ending == conv_ending::tail_biting) continue;
    const std::size_t k = 70, count = small_scale() ? 2 : 4;
    const auto w = conv_codewords_with_priors(code, k, count, -3, 2);
    const std::size_t n = w.llr.size() / count;
    for (const auto algorithm : both)
      for (const bool with_prior : {false, true}) {
        const bcjr_decoder d({.code = code, .k = static_cast<int>(k), .algorithm = algorithm});
        const auto got = decode(exec(), d, w.llr, with_prior ? w.prior : std::vector<float>{});
        for (std::size_t b = 0; b < count; b++) {
          const auto llr = limited(row_of(w.llr, b, n), algorithm);
          const auto prior =
              with_prior ? limited(row_of(w.prior, b, k), algorithm) : std::vector<double>(k, 0.0);
          const auto want = oracle::conv_bcjr(
              oracle_of(code), llr, prior, static_cast<int>(k),
              algorithm == map_algorithm::log_map ? oracle::algorithm::log_map : oracle::algorithm::max_log);
          const int input = code.feedback.value_or(1 << (code.constraint_length - 1));
          const auto systematic = static_cast<std::size_t>(
              std::find(code.generators.begin(), code.generators.end(), input) - code.generators.begin());
          std::size_t place = 0;
          for (std::size_t t = 0; t < k; t++) {
            // In log-MAP weights are at least 2^-60 = e^-41.6 of the largest, metrics 2^-63 = e^-43.7.
            const double L = want.a_posteriori[t],
                         floor = algorithm == map_algorithm::log_map ? std::exp(std::abs(L) - 41.6) : 0,
                         tolerance = 2e-4 + 2e-5 * std::abs(L) + floor;
            ASSERT_NEAR(got.soft[b * k + t], L, tolerance)
                << name_of(code) << " t=" << t << " prior " << with_prior << " log "
                << (algorithm == map_algorithm::log_map);
            double outer = L - prior[t];
            const std::size_t outputs = code.generators.size();
            for (std::size_t i = 0; i < outputs; i++)
              if (code.sent.empty() || code.sent[(t * outputs + i) % code.sent.size()]) {
                if (i == systematic) outer -= llr[place];
                place++;
              }
            ASSERT_NEAR(got.extrinsic[b * k + t], outer, tolerance) << name_of(code);
            ASSERT_EQ(got.bits[b * k + t], got.soft[b * k + t] < 0 ? 1 : 0);
          }
        }
      }
  }
}

TEST_P(bcjr, tail_biting_is_close_to_the_sum_over_all_start_states) {
  for (const auto& code :
       {conv_lte(), conv_80216(conv_rate::r1_2, conv_ending::tail_biting),
        conv_code{.constraint_length = 3, .generators = {07, 05}, .ending = conv_ending::tail_biting}}) {
    conv_code serial = code;
    serial.order = conv_order::serial;
    const std::size_t k = 100, count = small_scale() ? 2 : 4;
    const auto w = conv_codewords_with_priors(serial, k, count, 1, 3);
    const std::size_t n = w.llr.size() / count;
    for (const auto algorithm : both) {
      const auto got = decode(
          exec(), bcjr_decoder({.code = serial, .k = static_cast<int>(k), .algorithm = algorithm}), w.llr);
      for (std::size_t b = 0; b < count; b++) {
        const auto want = oracle::conv_bcjr(
            oracle_of(serial), limited(row_of(w.llr, b, n), algorithm), {}, static_cast<int>(k),
            algorithm == map_algorithm::log_map ? oracle::algorithm::log_map : oracle::algorithm::max_log);
        for (std::size_t t = 0; t < k; t++) {
          // Paths that do not close count too: large LLRs come out smaller.
          const double L = want.a_posteriori[t], got_L = got.soft[b * k + t];
          ASSERT_NEAR(std::clamp(got_L, -15., 15.), std::clamp(L, -15., 15.), 0.05)
              << name_of(code) << " t=" << t;
        }
      }
    }
  }
}

/// Punctured steps tell less about the state: with the 48 steps of rate 1/2 a quarter more of these failed.
TEST_P(bcjr, tail_biting_overlap_suits_the_rate) {
  const conv_code code = conv_80216(conv_rate::r5_6, conv_ending::tail_biting);
  const std::size_t k = 100, count = small_scale() ? 20 : 200;
  const auto w = conv_codewords_with_priors(code, k, count, 2.2, 8);
  for (const auto algorithm : both) {
    const auto failures = [&](std::optional<int> overlap) {
      const auto got = decode(
          exec(), bcjr_decoder({.code = code, .k = 100, .algorithm = algorithm, .overlap = overlap}), w.llr);
      int wrong = 0;
      for (std::size_t b = 0; b < count; b++) wrong += row_of(got.bits, b, k) != row_of(w.sent, b, k);
      return wrong;
    };
    EXPECT_LE(failures({}), failures(500) + 4);
  }
}

TEST_P(bcjr, without_noise_gives_what_was_sent) {
  for (const conv_code& code : testing::many_codes())
    for (const std::size_t k : {33, 250}) {
      if (code.ending == conv_ending::truncated || code.generators.size() == 1) continue;
      const auto w = conv_codewords_with_priors(code, k, !small_scale() ? 18 : k < 100 ? 9 : 2, 8, k);
      for (const auto algorithm : every) {
        const auto got = decode(
            exec(), bcjr_decoder({.code = code, .k = static_cast<int>(k), .algorithm = algorithm}), w.llr);
        if (code.sent.empty()) {
          ASSERT_EQ(got.bits, w.sent) << name_of(code) << " k=" << k;
        } else {  // rate 5/6 at 8 dB: nearly
          int wrong = 0;
          for (std::size_t i = 0; i < w.sent.size(); i++) wrong += got.bits[i] != w.sent[i];
          ASSERT_LE(wrong, 3) << name_of(code) << " k=" << k;
        }
        EXPECT_EQ(count_erased(got.status), 0u);
      }
    }
}

TEST_P(bcjr, knows_nothing_from_nothing) {
  for (const conv_code& code : testing::many_codes())
    for (const auto algorithm : every) {
      const bcjr_decoder d({.code = code, .k = 50, .algorithm = algorithm});
      const auto got = decode(exec(), d, std::vector<float>(d.frame().n() * 3, 0.f));
      EXPECT_EQ(got.bits, bit_vector(150, 0)) << name_of(code);
      EXPECT_EQ(got.soft, std::vector<float>(150, 0.f)) << name_of(code);
    }
}

TEST_P(bcjr, very_large_llrs_stay_finite) {
  for (const conv_code& code : {conv_lte(), conv_recursive(5, 023, {033}),
                                conv_code{.constraint_length = 9, .generators = {0561, 0753, 0711, 0663}}})
    for (const auto algorithm : every) {
      const bcjr_decoder d({.code = code, .k = 300, .algorithm = algorithm});
      auto w = conv_codewords_with_priors(code, 300, 3, 2, 9);
      for (float& x : w.llr) x *= 1e30f;  // many of them wrong, and all beyond the limit
      const auto got = decode(exec(), d, w.llr);
      for (const float x : got.soft) ASSERT_TRUE(std::isfinite(x));
      int wrong = 0;
      for (std::size_t i = 0; i < w.sent.size(); i++) wrong += got.bits[i] != w.sent[i];
      EXPECT_LE(wrong, 30) << name_of(code);
    }
}

// LLRs of any scale: no more frame errors than double precision has of the same LLRs; and, of large ones, its
// soft outputs.
TEST_P(bcjr, the_scale_of_llrs_costs_no_frames) {
  struct expectation {
    conv_code code;
    float scale;
    std::vector<float> llr;
    std::vector<double> soft;
    int errors;
  };
  const std::size_t k = 40, count = 50;
  const auto errors_of = [&](const auto& soft, const bit_vector& sent) {
    int errors = 0;
    for (std::size_t b = 0; b < count; b++) {
      bool wrong = false;
      for (std::size_t i = b * k; i < (b + 1) * k; i++) wrong = wrong || (soft[i] < 0) != (sent[i] != 0);
      errors += wrong;
    }
    return errors;
  };
  static std::vector<bit_vector> sent;
  static const std::vector<expectation> expectations = [&] {
    std::vector<expectation> list;
    conv_code biting{.constraint_length = 4, .generators = {017, 013}};
    biting.ending = conv_ending::tail_biting;
    for (const conv_code& code :
         {conv_code{.constraint_length = 3, .generators = {07, 05}}, conv_80211(conv_rate::r3_4),
          conv_code{.constraint_length = 9, .generators = {0561, 0753}}, conv_recursive(5, 023, {033}),
          biting})
      for (const float scale : {0.05f, 10.f, 100.f}) {
        auto w = conv_codewords_with_priors(code, k, count, code.sent.empty() ? -2 : 1, 11);
        const std::size_t n = w.llr.size() / count;
        for (float& x : w.llr) x *= scale;
        expectation e{code, scale, w.llr, {}, 0};
        for (std::size_t b = 0; b < count; b++) {
          const auto llr = row_of(w.llr, b, n);
          const auto r = oracle::conv_bcjr(oracle_of(code), std::vector<double>(llr.begin(), llr.end()), {},
                                           static_cast<int>(k), oracle::algorithm::log_map);
          e.soft.insert(e.soft.end(), r.a_posteriori.begin(), r.a_posteriori.end());
        }
        e.errors = errors_of(e.soft, w.sent);
        sent.push_back(w.sent);
        list.push_back(std::move(e));
      }
    return list;
  }();
  for (std::size_t i = 0; i < expectations.size(); i++) {
    const expectation& e = expectations[i];
    const bcjr_decoder d({.code = e.code, .k = static_cast<int>(k)});
    const auto got = decode(exec(), d, e.llr);
    EXPECT_GT(e.errors, 0) << name_of(e.code);
    EXPECT_LE(errors_of(got.soft, sent[i]), e.errors + 2) << name_of(e.code) << " scale " << e.scale;
    if (e.scale < 1 || e.code.ending == conv_ending::tail_biting) continue;
    for (std::size_t j = 0; j < e.soft.size(); j++)
      ASSERT_NEAR(got.soft[j], e.soft[j], 0.5 + 1e-3 * std::abs(e.soft[j]))
          << name_of(e.code) << " scale " << e.scale << " bit " << j;
  }
}

/// Soft outputs of 1e-3 to 1e-9, which sums of probabilities in float32 lose.
TEST_P(bcjr, small_llrs_of_punctured_codes_keep_their_soft_outputs) {
  conv_code longest{.constraint_length = 9, .generators = {0561, 0753}},
      recursive = conv_recursive(5, 023, {033}),
      quarter{.constraint_length = 4, .generators = {017, 013, 015, 011}};
  longest.sent = {1, 1, 0, 1, 1, 0, 0, 1, 1, 0};
  recursive.sent = {1, 1, 1, 0, 1, 0};
  quarter.sent = {1, 0, 0, 1, 0, 1, 0, 0};
  quarter.ending = conv_ending::truncated;
  const std::size_t k = 100, count = small_scale() ? 2 : 5;
  for (const conv_code& code : {conv_80211(conv_rate::r2_3), conv_80211(conv_rate::r3_4),
                                conv_80211(conv_rate::r5_6), longest, recursive, quarter}) {
    auto w = conv_codewords_with_priors(code, k, count, 3, 13);
    const std::size_t n = w.llr.size() / count;
    for (float& x : w.llr) x *= 0.05f;
    for (float& x : w.prior) x *= 0.05f;
    for (const bool with_prior : {false, true}) {
      const auto got = decode(exec(), bcjr_decoder({.code = code, .k = static_cast<int>(k)}), w.llr,
                              with_prior ? w.prior : std::vector<float>{});
      for (std::size_t b = 0; b < count; b++) {
        const auto llr = row_of(w.llr, b, n), prior = row_of(w.prior, b, k);
        const auto want = oracle::conv_bcjr(
            oracle_of(code), {llr.begin(), llr.end()},
            with_prior ? std::vector<double>(prior.begin(), prior.end()) : std::vector<double>{},
            static_cast<int>(k), oracle::algorithm::log_map);
        for (std::size_t t = 0; t < k; t++) {
          const double L = want.a_posteriori[t];  // with a prior, that of e^-|prior| too
          ASSERT_NEAR(got.soft[b * k + t], L, 1e-3 * std::abs(L) + (with_prior ? 2e-7 : 1e-9))
              << name_of(code) << " prior " << with_prior << " word " << b << " bit " << t;
        }
      }
    }
  }
}

/// Soft outputs of max* from a table are much nearer to exact ones than those of max-log-MAP, and as many
/// bits are wrong.
TEST_P(bcjr, a_table_of_max_star_is_close_to_the_sum) {
  for (const conv_code& code :
       {conv_code{.constraint_length = 3, .generators = {07, 05}}, conv_80211(conv_rate::r1_2),
        conv_80211(conv_rate::r3_4), conv_recursive(5, 023, {033})}) {
    const std::size_t k = 100, count = small_scale() ? 20 : 60;
    const auto w = conv_codewords_with_priors(code, k, count, code.sent.empty() ? -2 : 1, 21);
    const std::size_t n = w.llr.size() / count;
    std::vector<double> exact, exact_coded;
    for (std::size_t b = 0; b < count; b++) {
      const auto r = oracle::conv_bcjr(oracle_of(code), limited(row_of(w.llr, b, n), map_algorithm::log_map),
                                       limited(row_of(w.prior, b, k), map_algorithm::log_map),
                                       static_cast<int>(k), oracle::algorithm::log_map);
      exact.insert(exact.end(), r.a_posteriori.begin(), r.a_posteriori.end());
      exact_coded.insert(exact_coded.end(), r.coded.begin(), r.coded.end());
    }
    struct distance {
      double soft = 0, coded = 0;
      int wrong = 0;
    };
    const auto distance_of = [&](map_algorithm algorithm) {
      const bcjr_decoder d({.code = code, .k = static_cast<int>(k), .algorithm = algorithm});
      auto bits = exec().make<std::uint8_t>(count, k);
      auto soft = exec().make<float>(count, k), coded = exec().make<float>(count, n);
      d.run(exec(), on_device(exec(), w.llr, count, n), on_device(exec(), w.prior, count, k),
            {.bits = bits, .soft = soft, .coded_extrinsic = coded});
      const auto got_bits = exec().to_host(bits);
      const auto got = exec().to_host(soft), got_coded = exec().to_host(coded);
      distance sum;
      std::size_t counted = 0;
      for (std::size_t i = 0; i < exact.size(); i++) {
        sum.soft += std::abs(got[i] - exact[i]);
        sum.wrong += got_bits[i] != w.sent[i];
      }
      for (std::size_t i = 0; i < exact_coded.size(); i++) {
        if (!(std::abs(exact_coded[i]) < 30)) continue;  // a bit that the code determines
        sum.coded += std::abs(got_coded[i] + w.llr[i] - exact_coded[i]);
        counted++;
      }
      sum.soft /= static_cast<double>(exact.size());
      sum.coded /= static_cast<double>(counted);
      return sum;
    };
    const distance table = distance_of(map_algorithm::log_map_table),
                   largest = distance_of(map_algorithm::max_log_map),
                   sums = distance_of(map_algorithm::log_map);
    EXPECT_LT(table.soft, 0.2 * largest.soft) << name_of(code) << " " << largest.soft;
    EXPECT_LT(table.coded, 0.2 * largest.coded) << name_of(code) << " " << largest.coded;
    EXPECT_GT(table.soft, sums.soft) << name_of(code);
    EXPECT_NEAR(table.wrong, sums.wrong, 2 + sums.wrong / 20) << name_of(code);
  }
}

/// One step without a tail: ln(e^a + e^b) of two pairs of states, from the table by hand.
TEST_P(bcjr, a_table_of_max_star_has_the_corrections_of_one_step) {
  const conv_code code{.constraint_length = 3, .generators = {07, 05}, .ending = conv_ending::truncated};
  const bcjr_decoder d({.code = code, .k = 2, .algorithm = map_algorithm::log_map_table});
  // u = (0, 0), (1, 0), (0, 1), (1, 1) send 00 00, 11 10, 00 11, 11 01.
  const std::vector<float> llr{1.f, 0.6f, 2.1f, -0.8f};
  const auto got = decode(exec(), d, llr);
  const auto correction = [](float a, float b) {
    static constexpr float table[] = {0.693147181f, 0.474076984f,  0.313261688f,  0.201413278f,
                                      0.126928011f, 0.0788897343f, 0.0485873516f, 0.0297504183f};
    const float difference = std::abs(a - b);
    return std::max(a, b) + (difference < 3.75f ? table[static_cast<int>(std::lround(2 * difference))] : 0.f);
  };
  const float none = 0, first = -(llr[0] + llr[1] + llr[2]), second = -(llr[2] + llr[3]),
              both_ones = -(llr[0] + llr[1] + llr[3]);
  EXPECT_NEAR(got.soft[0], correction(none, second) - correction(first, both_ones), 1e-5);
  EXPECT_NEAR(got.soft[1], correction(none, first) - correction(second, both_ones), 1e-5);
}

TEST_P(bcjr, error_rate_is_that_of_the_reference_curve) {
  // The 16-state code (23, 33), k = 1024, n = 2056, max-log-MAP in float: bit error rates of
  // error_rates/rsc_n2056_k1024_bcjr_p32 at 1 and 2 dB with 2 % and 1.3 % of statistics; the curve falls by a
  // factor of 1.26 (1.37) in 0.2 dB there, so 0.05 dB are 7 (9) %.
  struct point {
    double ebn0_db, rate;
  };
  if (GetParam().name != "avx512" && !GetParam().name.starts_with("cuda"))
    GTEST_SKIP() << "equal bits are held elsewhere";
  for (const auto& [ebn0_db, rate] : {point{1.0, 3.96e-2}, point{2.0, 1.07e-2}}) {
    const int k = 1024;
    const std::size_t batch = small_scale() ? 64 : 512;
    const bcjr_decoder d(
        {.code = conv_recursive(5, 023, {033}), .k = k, .algorithm = map_algorithm::max_log_map});
    const std::size_t n = d.frame().n(), symbols = n * batch;
    const float n0 = static_cast<float>(1 / (d.frame().rate() * std::pow(10, ebn0_db / 10))),
                a = std::sqrt(0.5f);
    const auto sent = exec().make_from(std::vector<std::complex<float>>{{a, a}});  // all zeros, in BPSK
    const auto noise_var = exec().make_from(std::vector<float>{n0});
    auto received = exec().make<std::complex<float>>(symbols, 1);
    auto llr = exec().make<float>(batch, n);
    auto bits = exec().make<std::uint8_t>(batch, static_cast<std::size_t>(k));
    add_awgn(exec(), {sent.data(), 1, symbols, 1, 0}, make_view(received.data(), symbols), n0, {.seed = 1});
    demapper(2).run(exec(), {{}, make_view(received.data(), symbols), {noise_var.data(), 1, symbols, 1, 0}},
                    make_view(llr.data(), symbols));
    d.run(exec(), llr, {.bits = bits});
    double errors = 0;
    for (const auto b : exec().to_host(bits)) errors += b;
    const double ratio = errors / static_cast<double>(bits.size()) / rate;
    EXPECT_NEAR(ratio, 1.0, small_scale() ? 0.25 : 0.09) << ebn0_db << " dB, " << errors << " errors";
  }
}

TEST(bcjr_arguments, bad_ones_are_named) {
  const auto with = [](auto set) {
    bcjr_config c;
    set(c);
    return blamed([&] { bcjr_decoder d(c); });
  };
  EXPECT_EQ(with([](auto&) {}), "");
  EXPECT_EQ(with([](auto& c) { c.k = 0; }), "k");
  EXPECT_EQ(with([](auto& c) { c.k = 65537; }), "k");
  for (const int k : {5, 65537}) {
    try {
      bcjr_decoder d({.code = conv_lte(), .k = k});
      ADD_FAILURE() << k;
    } catch (const argument_error& e) {
      EXPECT_EQ(e.argument() + ": " + e.allowed(), "k: 6 to 65536");
    }
  }
  EXPECT_EQ(with([](auto& c) { c.overlap = -1; }), "overlap");
  EXPECT_EQ(with([](auto& c) { c.overlap = 4097; }), "overlap");
  EXPECT_EQ(with([](auto& c) { c.algorithm = static_cast<map_algorithm>(5); }), "algorithm");
  EXPECT_EQ(with([](auto& c) { c.algorithm = map_algorithm::log_map_table; }), "");
  EXPECT_EQ(with([](auto& c) {
              c.algorithm = map_algorithm::log_map_table;
              c.precision = conv_precision::int16;
            }),
            "algorithm");
  EXPECT_EQ(with([](auto& c) { c.code.generators = {}; }), "generators.size()");
  EXPECT_EQ(bcjr_decoder({.code = conv_lte(), .k = 40}).config().overlap, 48);
}

}  // namespace bcjr_test
}  // namespace wb
