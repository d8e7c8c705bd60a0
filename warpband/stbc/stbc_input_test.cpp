// Bad codewords inside a batch, input at the limits, and bad settings and shapes.
#include <limits>

#include <tests/stbc.hpp>

namespace stbc_input_test {

using namespace wb;
using namespace wb::testing;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

std::complex<float>& y(stbc_batch& b, std::size_t i, std::size_t e) { return b.y[i * b.width() + e]; }
std::complex<float>& h(stbc_batch& b, std::size_t i, std::size_t e) { return b.h[i * b.width() + e]; }

class stbc_input_on : public on_backend {};
WB_ON_ALL_BACKENDS(stbc_input_on);

TEST_P(stbc_input_on, any_size_gives_numbers_the_same_everywhere) {
  const auto reference = open_reference();
  const std::vector<float> sizes{1e-38f, 1e-20f, 1e-14f, 1e-7f, 1.f, 1e7f, 1e14f},
      noises{1e-38f, 1e-29f, 1e-12f, 1.f, 1e12f, 1e29f};
  for (const stbc_config& c : stbc_of_each()) {
    if (c.qam == 64) continue;
    stbc_batch b = draw_stbc(c, sizes.size() * sizes.size() * noises.size(), 2);
    for (std::size_t i = 0; i < b.codewords(); i++) {
      for (std::size_t e = 0; e < b.width(); e++) {
        y(b, i, e) *= sizes[i % sizes.size()];
        h(b, i, e) *= sizes[i / sizes.size() % sizes.size()];
      }
      b.n0[i] = noises[i / sizes.size() / sizes.size()];
    }
    for (const wanted result : {wanted::llr, wanted::decisions}) {
      const auto got = decode(exec(), b, result);
      for (const float llr : got.llr) ASSERT_FALSE(std::isnan(llr)) << text_of(c);
      EXPECT_TRUE(same_bits(got, decode(*reference, b, result))) << text_of(c);
    }
  }
}

TEST_P(stbc_input_on, an_antenna_that_does_not_arrive_leaves_most_likely_codewords) {
  // Rank-one channels: the Gram of the Golden code is singular, and many codewords look nearly alike.
  for (stbc_config c : stbc_of_each()) {
    if (c.qam != 4) continue;
    stbc_batch b = draw_stbc(c, 40, 3, {0.1, 0.1});
    for (std::size_t i = 0; i < b.codewords(); i++)
      for (std::size_t e = i % 2; e < b.width(); e += 2) h(b, i, e) = 0;
    const auto got = decode(exec(), b, wanted::llr);
    EXPECT_EQ(count_erased(got.status), 0U) << text_of(c);
    if (c.search == golden_search::slicing) continue;
    for (std::size_t i = 0; i < b.codewords(); i++) {
      const auto expected = oracle::stbc_conditional(oracle_use(b, i));
      for (std::size_t e = 0; e < b.bits(); e++)
        ASSERT_NEAR(got.llr[i * b.bits() + e], expected.llr[e], llr_tolerance(b, i)) << text_of(c);
    }
  }
}

TEST(stbc_arguments, bad_settings_are_named) {
  const auto blames = [](const stbc_config& c) {
    return blamed([&] { check(c); }, [&] { stbc_decoder{c}; });
  };
  for (const int qam : {-4, 0, 1, 2, 8, 32, 1024}) {
    EXPECT_EQ(blames(stbc_setting(space_time_code::silver(), qam)), "qam") << qam;
    EXPECT_EQ(blamed([&] { stbc_encoder(space_time_code::silver(), qam); }), "qam") << qam;
  }
  for (const int rx : {-1, 0, 5})
    EXPECT_EQ(blames(stbc_setting(space_time_code::golden(), 4, rx)), "rx_antennas");
  for (const auto& code : {space_time_code::alamouti(), space_time_code::silver()})
    EXPECT_EQ(blames(stbc_setting(code, 4, 2, golden_search::slicing)), "search");
  for (stbc_config of_all :
       {stbc_setting(space_time_code::silver(), 64), stbc_setting(space_time_code::golden(), 256)}) {
    of_all.method = stbc_method::exhaustive;
    EXPECT_EQ(blames(of_all), "qam");
    of_all.qam = 16;
    EXPECT_EQ(blames(of_all), "");
  }
  stbc_config sliced = stbc_setting(space_time_code::golden(), 4, 2, golden_search::slicing);
  sliced.method = stbc_method::exhaustive;
  EXPECT_EQ(blames(sliced), "search");
  stbc_config c;
  for (const float clip : {0.f, -8.f, 1.1e6f, not_a_number, infinity, -infinity}) {
    c.llr_clip = clip;
    EXPECT_EQ(blames(c), "llr_clip") << clip;
  }
  for (const float clip : {1e-30f, 8.f, 1e6f}) {
    c.llr_clip = clip;
    EXPECT_EQ(blames(c), "") << clip;
  }
  c.llr_clip.reset();
  EXPECT_EQ(blames(c), "");
}

TEST(stbc_arguments, a_matrix_that_is_not_unitary_is_named_with_what_is_wrong) {
  const auto message = [](const space_time_code::matrix& v) -> std::string {
    try {
      space_time_code::pair(v);
    } catch (const argument_error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(message(space_time_code::silver().v()), "");
  EXPECT_EQ(message({1, 0, 0, 1}), "");
  EXPECT_EQ(message({1, 0, 0, 2}),
            "v = with 4 + 0i as entry (1, 1) of V^H V is not allowed: expected a unitary matrix: 1 there, "
            "within 1e-6");
  EXPECT_EQ(message({1, 1, 0, 0}),
            "v = with 1 + 0i as entry (0, 1) of V^H V is not allowed: expected a unitary matrix: 0 there, "
            "within 1e-6");
  EXPECT_NE(message({1, 0, 0, std::complex<double>(std::nan(""), 0)}), "");
  EXPECT_NE(message({0, 0, 0, 0}), "");
}

TEST(stbc_arguments, codes_tell_their_sizes) {
  EXPECT_EQ(space_time_code::alamouti().symbols(), 2);
  EXPECT_EQ(space_time_code::golden().symbols(), 4);
  EXPECT_EQ(stbc_decoder(stbc_setting(space_time_code::silver(), 64)).bits_per_codeword(), 24U);
  EXPECT_EQ(stbc_encoder(space_time_code::alamouti(), 16).bits_per_codeword(), 8U);
}

TEST(stbc_arguments, channels_of_several_codewords_are_checked) {
  const auto exec = open_scalar();
  const stbc_decoder decoder(stbc_setting(space_time_code::silver(), 16));
  const std::vector<std::complex<float>> ones(20, 1.f);
  auto rx = on_device(*exec, ones, 5, 4);
  const auto few = make_view(std::as_const(rx).data(), 3, 4);
  auto n0 = on_device(*exec, std::vector<float>(5, 1.f), 5, 1), llr = exec->make<float>(5, 16);
  const auto blames = [&](const stbc_input& in) { return blamed([&] { decoder.run(*exec, in, {llr}); }); };
  EXPECT_EQ(blames({few, 2, rx, n0}), "");
  EXPECT_EQ(blames({rx, 1, rx, {n0.data(), 1, 5, 1, 0}}), "");
  EXPECT_EQ(blames({few, 1, rx, n0}), "channel");
  EXPECT_EQ(blames({rx, 0, rx, n0}), "codewords_per_channel");
}

}  // namespace stbc_input_test
