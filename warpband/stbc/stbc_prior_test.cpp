// Space-time decoders with a-priori LLRs.

#include <tests/stbc.hpp>

namespace stbc_prior_test {

using namespace wb;
using namespace wb::testing;

/// Settings of every decoder that takes a-priori LLRs; 64-QAM is last.
std::vector<stbc_config> stbc_with_priors() {
  std::vector<stbc_config> configs = stbc_of_each();
  std::erase_if(configs, [](const stbc_config& c) { return !takes_prior(c); });
  return configs;
}
std::size_t few(const stbc_config& c, std::size_t many) { return c.qam == 64 ? many / 20 + 1 : many; }
bool all_close(const stbc_batch& b, const std::vector<float>& a, const std::vector<float>& e) {
  for (std::size_t i = 0; i < a.size(); i++)
    if (!(std::abs(a[i] - e[i]) <= llr_tolerance(b, i / b.bits()))) return false;
  return a.size() == e.size();
}

class stbc_prior_on : public on_backend {};
WB_ON_ALL_BACKENDS(stbc_prior_on);

TEST_P(stbc_prior_on, without_knowledge_llrs_are_those_without_priors) {
  for (const stbc_config& c : stbc_with_priors()) {
    stbc_batch b = draw_stbc(c, few(c, 40), 6);
    const auto expected = decode(exec(), b, wanted::llr);
    b.prior.assign(b.sent.size(), 0.f);
    EXPECT_TRUE(all_close(b, decode(exec(), b, wanted::llr).llr, expected.llr)) << text_of(c);
  }
}

TEST_P(stbc_prior_on, certain_priors_decide) {
  for (stbc_config c : stbc_with_priors()) {
    if (c.qam == 64) continue;
    stbc_batch b = draw_stbc(c, 30, 7, {0.5, 0.5});
    for (const std::uint8_t bit : b.sent) b.prior.push_back(bit != 0 ? -1e5f : 1e5f);
    EXPECT_EQ(decode(exec(), b, wanted::llr).bits, b.sent) << text_of(c);
    b.config.extrinsic = true;  // each bit decided among two codewords: all others are known
    for (const float llr : decode(exec(), b, wanted::llr).llr) ASSERT_LT(std::abs(llr), 1e4f) << text_of(c);
  }
}

TEST_P(stbc_prior_on, extrinsic_is_posterior_less_prior_and_clips_last) {
  for (stbc_config c : stbc_with_priors()) {
    stbc_batch b = with_prior(draw_stbc(c, few(c, 20), 8), 4, 9);
    const auto posterior = decode(exec(), b, wanted::llr);
    b.config.extrinsic = true;
    const auto extrinsic = decode(exec(), b, wanted::llr);
    b.config.llr_clip = 2;
    const auto clipped = decode(exec(), b, wanted::llr);
    for (std::size_t e = 0; e < b.prior.size(); e++) {
      ASSERT_EQ(extrinsic.llr[e], posterior.llr[e] - b.prior[e]) << text_of(c);
      ASSERT_EQ(extrinsic.bits[e], extrinsic.llr[e] < 0) << text_of(c);
      ASSERT_EQ(clipped.llr[e], std::max(-2.f, std::min(2.f, extrinsic.llr[e]))) << text_of(c);
    }
  }
}

TEST_P(stbc_prior_on, large_priors_count_as_a_million) {
  for (const stbc_config& c : stbc_with_priors()) {
    if (c.qam != 16) continue;
    stbc_batch large = draw_stbc(c, 10, 12), limited = large;
    for (std::size_t e = 0; e < large.sent.size(); e++) {
      const float sign = e % 3 == 0 ? -1.f : 1.f;
      large.prior.push_back(sign * 3e38f);
      limited.prior.push_back(sign * 1e6f);
    }
    const auto got = decode(exec(), large, wanted::llr);
    EXPECT_TRUE(same_bits(got, decode(exec(), limited, wanted::llr))) << text_of(c);
    for (const float llr : got.llr) ASSERT_TRUE(std::isfinite(llr)) << text_of(c);
  }
}

// Backends are bit-equal: the oracle's long searches are held against one of them.
TEST(stbc_prior_oracle, llrs_equal_searches_of_all_codewords) {
  const auto exec = open_executor("cpu");
  const std::size_t less = small_scale() ? 10 : 1;
  std::size_t different = 0, bits = 0;
  for (const double size : {0.5, 3., 12.})
    for (const stbc_config& c : stbc_with_priors()) {
      const bool alamouti = c.code.kind() == space_time_kind::alamouti;
      const std::size_t n = alamouti || c.qam == 4 ? 200 / less : c.qam == 16 ? 40 / less : 1;
      const auto b = with_prior(draw_stbc(c, n, 13), size, 14);
      const auto got = decode(*exec, b, wanted::llr);
      for (std::size_t i = 0; i < n; i++) {
        const auto use = oracle_use(b, i);
        const auto expected =
            alamouti || c.qam == 4 ? oracle::stbc_exhaustive(use) : oracle::stbc_conditional(use);
        for (std::size_t e = 0; e < b.bits(); e++, bits++)
          different += !(std::abs(got.llr[i * b.bits() + e] - expected.llr[e]) <= llr_tolerance(b, i));
      }
    }
  EXPECT_GT(bits, 1000U);
  EXPECT_EQ(different, 0U);
}
TEST(stbc_prior_oracle, llrs_of_256_qam_equal_conditional_search_in_double) {
  const auto exec = open_executor("cpu");
  for (const stbc_config& c : stbc_of_256_qam()) {
    if (!takes_prior(c)) continue;
    const auto b = with_prior(
        draw_stbc(c, c.code.kind() == space_time_kind::alamouti ? 100 : 4, 13, {1e-4, 0.1}), 3, 14);
    const auto got = decode(*exec, b, wanted::llr);
    for (std::size_t i = 0; i < b.codewords(); i++) {
      const auto expected = oracle::stbc_conditional(oracle_use(b, i));
      for (std::size_t e = 0; e < b.bits(); e++)
        EXPECT_NEAR(got.llr[i * b.bits() + e], expected.llr[e], llr_tolerance(b, i)) << text_of(c);
    }
  }
}
/// Every codeword there is, so that no structure of a code is taken for granted.
TEST(stbc_prior_oracle, conditional_search_of_the_oracle_is_exhaustive_search) {
  for (const space_time_code& code :
       {space_time_code::silver(), turned_pair(), space_time_code::golden(), space_time_code::alamouti()})
    for (const double size : {1., 6.}) {
      const auto b = with_prior(draw_stbc(stbc_setting(code, 16), small_scale() ? 2 : 12, 15), size, 16);
      for (std::size_t i = 0; i < b.codewords(); i++) {
        const auto use = oracle_use(b, i);
        const auto one = oracle::stbc_exhaustive(use), other = oracle::stbc_conditional(use);
        EXPECT_EQ(one.symbols, other.symbols);
        EXPECT_NEAR(one.metric, other.metric, 1e-9);
        for (std::size_t e = 0; e < b.bits(); e++) ASSERT_NEAR(one.llr[e], other.llr[e], 1e-8);
      }
    }
}

TEST(stbc_prior_arguments, what_slicing_does_not_take_is_named) {
  stbc_config c = stbc_setting(space_time_code::golden(), 4, 2, golden_search::slicing);
  EXPECT_FALSE(takes_prior(c));
  const auto exec = open_executor("cpu");
  const auto b = draw_stbc(c, 3, 1);
  EXPECT_EQ(blamed([&] { decode(*exec, with_prior(b, 1, 1), wanted::llr); }), "prior");
  EXPECT_EQ(blamed([&] { decode(*exec, b, wanted::llr); }), "");
  c.extrinsic = true;
  EXPECT_EQ(blamed([&] { check(c); }), "extrinsic");
}

}  // namespace stbc_prior_test
