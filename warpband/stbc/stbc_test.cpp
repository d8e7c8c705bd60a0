// Space-time codes: the encoder and the decoders against the oracle, and against themselves on every backend.
#include <cstdlib>

#include <tests/stbc.hpp>

namespace stbc_stbc_test {

using namespace wb;
using namespace wb::testing;

std::vector<std::complex<float>> encode(executor& exec, const space_time_code& code, int qam,
                                        const std::vector<std::uint8_t>& bits) {
  const stbc_encoder encoder(code, qam);
  const std::size_t m = encoder.bits_per_codeword(), n = bits.size() / m;
  const auto b = on_device(exec, bits, n, m);
  auto out = exec.make<std::complex<float>>(n, 4);
  encoder.run(exec, b, out);
  return exec.to_host(out);
}
std::vector<std::complex<float>> encode_symbols(executor& exec, const space_time_code& code,
                                                const std::vector<std::complex<float>>& symbols) {
  const stbc_encoder encoder(code, 4);
  const auto k = static_cast<std::size_t>(code.symbols());
  const auto x = on_device(exec, symbols, symbols.size() / k, k);
  auto out = exec.make<std::complex<float>>(symbols.size() / k, 4);
  encoder.run_symbols(exec, x, out);
  return exec.to_host(out);
}
std::vector<space_time_code> all_codes() {
  return {space_time_code::alamouti(), space_time_code::silver(), turned_pair(), space_time_code::golden()};
}

class stbc : public on_backend {};
WB_ON_ALL_BACKENDS(stbc);

TEST_P(stbc, encoder_equals_the_definition) {
  std::mt19937_64 random(1);
  for (const space_time_code& code : all_codes())
    for (const int qam : {4, 16, 64, 256})
      for (const std::size_t n : {1, 15, 16, 17}) {
        const auto points = oracle::constellation(qam);
        const std::size_t k = static_cast<std::size_t>(code.symbols());
        std::vector<std::uint8_t> bits;
        std::vector<std::complex<double>> x;
        std::vector<std::complex<float>> given;
        for (std::size_t s = 0; s < k * n; s++) {
          const std::size_t index = random() % points.size();
          x.push_back(points[index]);
          given.emplace_back(points[index]);
          for (std::size_t mask = points.size() / 2; mask > 0; mask /= 2) bits.push_back((index & mask) != 0);
        }
        const auto got = encode(exec(), code, qam, bits), same = encode_symbols(exec(), code, given);
        ASSERT_EQ(got.size(), 4 * n);
        for (std::size_t i = 0; i < n; i++) {
          const auto s = oracle::space_time_matrix(oracle_code(code),
                                                   {x.begin() + static_cast<std::ptrdiff_t>(k * i),
                                                    x.begin() + static_cast<std::ptrdiff_t>(k * (i + 1))});
          for (std::size_t slot = 0; slot < 2; slot++)
            for (std::size_t antenna = 0; antenna < 2; antenna++) {
              const std::complex<double> expected = s[2 * antenna + slot];
              EXPECT_LT(std::abs(std::complex<double>(got[4 * i + 2 * slot + antenna]) - expected), 6e-7);
              EXPECT_LT(std::abs(std::complex<double>(same[4 * i + 2 * slot + antenna]) - expected), 6e-7);
            }
        }
      }
}

TEST_P(stbc, least_determinants_are_those_of_the_literature) {
  // Over all differences of two codewords of QPSK, in Gaussian integers.
  for (const bool golden : {false, true}) {
    std::vector<std::complex<float>> x;
    for (int index = 1; index < 6561; index++)
      for (int k = 0, rest = index; k < 4; k++, rest /= 9)
        x.emplace_back(static_cast<float>(rest % 9 % 3 - 1), static_cast<float>(rest % 9 / 3 - 1));
    const auto s = encode_symbols(exec(), golden ? space_time_code::golden() : space_time_code::silver(), x);
    double least = 1e9;
    std::size_t zeros = 0;
    for (std::size_t i = 0; i < s.size(); i += 4) {
      bool zero = true;
      for (std::size_t k = 0; k < 4; k++) zero = zero && x[i + k] == std::complex<float>(0);
      if (zero) {
        zeros++;
        continue;
      }
      const std::complex<double> a = s[i], b = s[i + 1], c = s[i + 2], d = s[i + 3];
      least = std::min(least, std::norm(a * d - b * c));
    }
    EXPECT_EQ(zeros, 1U);
    EXPECT_NEAR(least, golden ? 1.0 / 5 : 1.0 / 7, 1e-5);
  }
}

TEST_P(stbc, no_noise_gives_the_bits) {
  for (const stbc_config& c : stbc_of_each()) {
    const auto b = draw_stbc(c, c.qam == 64 ? 5 : 40, 3, {1e-3, 1e-3, false});
    for (const wanted result : {wanted::llr, wanted::decisions}) {
      const auto got = decode(exec(), b, result);
      EXPECT_EQ(got.bits, b.sent) << text_of(c) << (result == wanted::llr ? ", LLRs" : "");
      EXPECT_EQ(count_erased(got.status), 0U);
    }
  }
}

TEST_P(stbc, no_noise_gives_the_bits_of_256_qam) {
  for (const stbc_config& c : stbc_of_256_qam()) {
    const auto b = draw_stbc(c, c.code.kind() == space_time_kind::alamouti ? 40 : 1, 3, {1e-4, 1e-4, false});
    for (const wanted result : {wanted::llr, wanted::decisions})
      EXPECT_EQ(decode(exec(), b, result).bits, b.sent) << text_of(c);
  }
}

TEST_P(stbc, shared_channels_give_what_own_ones_do) {
  for (const stbc_config& c : stbc_of_each()) {
    if (c.qam == 64) continue;
    const auto shared = draw_stbc(c, 23, 5, {.per_channel = 5});
    stbc_batch unshared = shared;
    unshared.per_channel = 1;
    unshared.h.clear();
    for (std::size_t i = 0; i < shared.codewords(); i++)
      for (std::size_t e = 0; e < shared.width(); e++)
        unshared.h.push_back(shared.h[i / 5 * shared.width() + e]);
    for (const wanted result : {wanted::llr, wanted::decisions})
      for (const layout order : {layout::row_major, layout::batch_fastest})
        EXPECT_TRUE(same_bits(decode(exec(), shared, result, order), decode(exec(), unshared, result)))
            << text_of(c);
  }
}

TEST_P(stbc, a_power_of_two_in_all_amplitudes_changes_no_bit) {
  for (const stbc_config& c : stbc_of_each()) {
    if (c.qam == 64) continue;
    const auto b = draw_stbc(c, 17, 6);
    const auto expected = decode(exec(), b, wanted::llr);
    for (const int power : {-40, 9, 40}) {
      auto scaled = b;
      for (auto& y : scaled.y) y *= std::ldexp(1.f, power);
      for (auto& h : scaled.h) h *= std::ldexp(1.f, power);
      for (auto& n : scaled.n0) n = std::ldexp(n, 2 * power);
      EXPECT_TRUE(same_bits(decode(exec(), scaled, wanted::llr), expected)) << text_of(c) << ", 2^" << power;
    }
  }
}

/// Compares with the oracle: decisions of both kinds, and LLRs. Returns codewords whose LLRs differ.
template <class Oracle>
std::size_t compare_all(executor& exec, const stbc_batch& b, Oracle answer, disagreement& soft,
                        disagreement& hard) {
  const auto llr = decode(exec, b, wanted::llr), decisions = decode(exec, b, wanted::decisions);
  std::size_t different = 0;
  for (std::size_t i = 0; i < b.codewords(); i++) {
    const auto use = oracle_use(b, i);
    const auto expected = answer(use);
    compare_signs(b, i, llr.bits, expected, soft);
    compare_decisions(b, i, decisions.bits, use, expected, hard);
    bool same = true;
    for (std::size_t e = 0; e < b.bits(); e++)
      same = same && std::abs(llr.llr[i * b.bits() + e] - expected.llr[e]) <= llr_tolerance(b, i);
    different += !same;
  }
  return different;
}
void expect_equal(executor& exec, const stbc_batch& b,
                  oracle::stbc_answer (*answer)(const oracle::stbc_use&)) {
  disagreement soft, hard;
  EXPECT_EQ(compare_all(exec, b, answer, soft, hard), 0U) << text_of(b.config);
  EXPECT_EQ(soft.wrong, 0U) << text_of(b.config);
  EXPECT_EQ(hard.wrong, 0U) << text_of(b.config);
  EXPECT_LE(soft.ties + hard.ties, 2U) << text_of(b.config);
}

// Backends are bit-equal: the oracle's long searches are held against one of them.
TEST(stbc_oracle, decisions_and_llrs_equal_exhaustive_search) {
  auto open = std::make_unique<cpu>();
  const std::size_t less = small_scale() ? 10 : 1;
  for (const stbc_config& c : stbc_of_each()) {
    if (c.search == golden_search::slicing) continue;
    const bool alamouti = c.code.kind() == space_time_kind::alamouti;
    if (c.qam == 64 && !alamouti && (c.rx_antennas != 2 || small_scale())) continue;
    const std::size_t n = alamouti      ? 300 / less
                          : c.qam == 4  ? 2000 / less
                          : c.qam == 16 ? 400 / (less * less)
                                        : 2;
    expect_equal(*open, draw_stbc(c, n, 7), oracle::stbc_exhaustive);
  }
}
TEST(stbc_oracle, decisions_and_llrs_equal_conditional_search_in_double) {
  auto open = std::make_unique<cpu>();
  const std::size_t less = small_scale() ? 10 : 1;
  for (const stbc_config& c : stbc_of_each()) {
    if (c.search == golden_search::slicing) continue;
    expect_equal(*open, draw_stbc(c, (c.qam == 64 ? 20 : 300) / less, 8, {1e-3, 1}),
                 oracle::stbc_conditional);
  }
}
TEST(stbc_oracle, decisions_and_llrs_of_256_qam_equal_conditional_search_in_double) {
  auto open = std::make_unique<cpu>();
  for (const stbc_config& c : stbc_of_256_qam()) {
    if (c.search == golden_search::slicing) continue;
    const bool alamouti = c.code.kind() == space_time_kind::alamouti;
    expect_equal(*open, draw_stbc(c, alamouti ? 300 : 16, 8, {1e-4, 0.1}), oracle::stbc_conditional);
  }
}
TEST(stbc_oracle, exhaustive_search_equals_that_in_double) {
  auto open = std::make_unique<cpu>();
  for (const stbc_config& c : stbc_of_exhaustive_search())
    expect_equal(*open, draw_stbc(c, c.qam == 4 ? 300 : small_scale() ? 4 : 40, 7), oracle::stbc_exhaustive);
}
TEST_P(stbc, exhaustive_and_conditional_search_find_the_same) {
  for (const stbc_config& c : stbc_of_exhaustive_search())
    for (const bool prior : {false, true}) {
      auto tried = draw_stbc(c, c.qam == 4 ? 100 : small_scale() ? 3 : 20, 17);
      if (prior) tried = with_prior(tried, 3, 18);
      auto conditional = tried;
      conditional.config.method = stbc_method::conditional;
      for (const wanted result : {wanted::llr, wanted::decisions}) {
        const auto got = decode(exec(), tried, result), expected = decode(exec(), conditional, result);
        for (std::size_t e = 0; e < expected.llr.size(); e++)
          ASSERT_NEAR(got.llr[e], expected.llr[e], llr_tolerance(tried, e / tried.bits())) << text_of(c);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < tried.codewords(); i++) {
          const auto one = symbols_of(tried, got.bits, i), other = symbols_of(tried, expected.bits, i);
          const auto use = oracle_use(tried, i);
          const double a = oracle::stbc_metric(use, one), b = oracle::stbc_metric(use, other);
          wrong += one != other && std::abs(a - b) > 1e-5 * std::abs(b) + use.n0 * llr_tolerance(tried, i);
        }
        EXPECT_EQ(wrong, 0U) << text_of(c);
      }
    }
}
TEST(stbc_oracle, decisions_equal_the_literal_search_of_the_paper) {
  auto open = std::make_unique<cpu>();
  for (const int qam : {4, 16}) {
    const auto b =
        draw_stbc(stbc_setting(space_time_code::silver(), qam), small_scale() ? 10 : 100, 9, {0.3, 0.3});
    const auto got = decode(*open, b, wanted::decisions);
    std::size_t different = 0;
    for (std::size_t i = 0; i < b.codewords(); i++)
      different += symbols_of(b, got.bits, i) != oracle::stbc_literal(oracle_use(b, i));
    EXPECT_EQ(different, 0U) << qam;
  }
}
TEST(stbc_oracle, slicing_finds_the_best_golden_codeword_nearly_always) {
  auto open = std::make_unique<cpu>();
  for (const int qam : {4, 16}) {
    const auto exact =
        draw_stbc(stbc_setting(space_time_code::golden(), qam), qam == 4 ? 4000 : 1000, 10, {0.05, 0.05});
    auto sliced = exact;
    sliced.config.search = golden_search::slicing;
    const auto a = decode(*open, exact, wanted::decisions), b = decode(*open, sliced, wanted::decisions);
    std::size_t different = 0, worse = 0;
    for (std::size_t i = 0; i < exact.codewords(); i++) {
      const auto use = oracle_use(exact, i);
      const auto one = symbols_of(exact, a.bits, i), other = symbols_of(exact, b.bits, i);
      different += one != other;
      worse += oracle::stbc_metric(use, other) < oracle::stbc_metric(use, one) * (1 - 1e-5);
    }
    EXPECT_EQ(worse, 0U);  // nothing beats the exact search
    EXPECT_LE(different, exact.codewords() / 50) << qam;
    ::testing::Test::RecordProperty("different_" + std::to_string(qam), std::to_string(different));
  }
}

TEST(stbc_oracle, clip_limits_llrs) {
  auto open = std::make_unique<cpu>();
  for (stbc_config c : stbc_of_each()) {
    if (c.qam == 64) continue;
    const auto free = decode(*open, draw_stbc(c, 20, 11), wanted::llr);
    c.llr_clip = 3;
    const auto clipped = decode(*open, draw_stbc(c, 20, 11), wanted::llr);
    for (std::size_t e = 0; e < free.llr.size(); e++)
      ASSERT_EQ(clipped.llr[e], std::max(-3.f, std::min(3.f, free.llr[e]))) << text_of(c);
  }
}

/// Long runs, for a machine that has the time: WARPBAND_STBC_CODEWORDS=1000000 and --gtest_filter. The
/// executor is that of WARPBAND_STBC_DEVICE, or the CPU; WARPBAND_STBC_QAM leaves out other modulations, and
/// WARPBAND_STBC_SEED is the seed of the first 2000, one up for the next: processes can share a run.
struct long_run {
  int qam;
  double codewords;  // of those asked for
};
void compare_long(oracle::stbc_answer (*answer)(const oracle::stbc_use&),
                  std::initializer_list<long_run> runs) {
  const char* const count = std::getenv("WARPBAND_STBC_CODEWORDS");
  if (count == nullptr) GTEST_SKIP() << "WARPBAND_STBC_CODEWORDS says how many";
  const char* const device = std::getenv("WARPBAND_STBC_DEVICE");
  const char* const only = std::getenv("WARPBAND_STBC_QAM");
  const char* const first = std::getenv("WARPBAND_STBC_SEED");
  const auto exec = open_executor(device != nullptr ? device : "cpu");
  for (const space_time_code& code : {space_time_code::silver(), space_time_code::golden()})
    for (const long_run& run : runs) {
      if (only != nullptr && std::atoi(only) != run.qam) continue;
      const auto c = stbc_setting(code, run.qam);
      std::size_t left = static_cast<std::size_t>(std::atof(count) * run.codewords), done = 0, llrs = 0;
      disagreement soft, hard;
      for (std::uint64_t seed = first != nullptr ? std::strtoull(first, nullptr, 10) : 100; left > 0;
           seed++) {
        const std::size_t n = std::min<std::size_t>(left, 2000);
        llrs += compare_all(*exec, draw_stbc(c, n, seed, {0.02, 0.5}), answer, soft, hard);
        left -= n;
        done += n;
      }
      std::printf(
          "%s: %zu codewords; decisions from LLRs %zu wrong, %zu ties; alone %zu wrong, %zu ties; LLRs of "
          "%zu\n",
          text_of(c).c_str(), done, soft.wrong, soft.ties, hard.wrong, hard.ties, llrs);
      std::fflush(stdout);
      EXPECT_EQ(soft.wrong + hard.wrong + llrs, 0U);
    }
}
TEST(stbc_long, decisions_equal_conditional_search_in_double) {
  compare_long(oracle::stbc_conditional, {{4, 1}, {16, 1}, {64, 0.01}});
}
/// Every codeword there is: 256, 65536 or 16777216.
TEST(stbc_long, decisions_and_llrs_equal_exhaustive_search) {
  compare_long(oracle::stbc_exhaustive, {{4, 1}, {16, 0.1}, {64, 1e-4}});
}
TEST(stbc_long, slicing_of_the_golden_code) {
  const char* const count = std::getenv("WARPBAND_STBC_CODEWORDS");
  if (count == nullptr) GTEST_SKIP() << "WARPBAND_STBC_CODEWORDS says how many";
  const char* const device = std::getenv("WARPBAND_STBC_DEVICE");
  const auto exec = open_executor(device != nullptr ? device : "cpu");
  for (const int qam : {4, 16, 64})
    for (const double snr_db : {10., 15., 20., 25., 30.}) {
      const std::size_t n = static_cast<std::size_t>(std::atoll(count)) / (qam == 64 ? 100 : 1);
      const auto n0 = 2 / std::pow(10, snr_db / 10);
      std::size_t errors[2] = {}, different = 0;
      for (std::size_t done = 0; done < n; done += 2000) {
        auto b = draw_stbc(stbc_setting(space_time_code::golden(), qam),
                           std::min<std::size_t>(2000, n - done), 1000 + done, {n0, n0});
        const auto exact = decode(*exec, b, wanted::decisions);
        b.config.search = golden_search::slicing;
        const auto sliced = decode(*exec, b, wanted::decisions);
        for (std::size_t i = 0; i < b.codewords(); i++) {
          const auto one = symbols_of(b, exact.bits, i), other = symbols_of(b, sliced.bits, i),
                     sent = symbols_of(b, b.sent, i);
          errors[0] += one != sent;
          errors[1] += other != sent;
          different += one != other;
        }
      }
      std::printf(
          "Golden, %d-QAM, %g dB: %zu codewords; errors %zu exact, %zu slicing; decisions differ in %zu\n",
          qam, snr_db, n, errors[0], errors[1], different);
    }
}

}  // namespace stbc_stbc_test
