// Bad codewords inside a batch, input at the limits, and bad settings and shapes.
#include <limits>

#include <tests/stbc.hpp>

namespace stbc_input_test {

using namespace wb;
using namespace wb::testing;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

using fault = void (*)(stbc_batch& b, std::size_t i);
std::complex<float>& y(stbc_batch& b, std::size_t i, std::size_t e) { return b.y[i * b.width() + e]; }
std::complex<float>& h(stbc_batch& b, std::size_t i, std::size_t e) { return b.h[i * b.width() + e]; }

const fault faults[]{
    [](stbc_batch& b, std::size_t i) { y(b, i, 0).real(not_a_number); },
    [](stbc_batch& b, std::size_t i) { y(b, i, b.width() - 1).imag(infinity); },
    [](stbc_batch& b, std::size_t i) { y(b, i, 1).real(-infinity); },
    [](stbc_batch& b, std::size_t i) { y(b, i, 0) = 2e15f; },
    [](stbc_batch& b, std::size_t i) { y(b, i, 0) = 3e38f; },
    [](stbc_batch& b, std::size_t i) { y(b, i, 0) = 1e8f; },
    [](stbc_batch& b, std::size_t i) { h(b, i, 0).imag(not_a_number); },
    [](stbc_batch& b, std::size_t i) { h(b, i, b.width() - 1).real(infinity); },
    [](stbc_batch& b, std::size_t i) { h(b, i, 1) = 3e38f; },
    [](stbc_batch& b, std::size_t i) { h(b, i, 0) = 2e15f; },
    [](stbc_batch& b, std::size_t i) {
      for (std::size_t e = 0; e < b.width(); e++) h(b, i, e) = e % 2 ? 0.f : -0.f;
    },
    [](stbc_batch& b, std::size_t i) {
      for (std::size_t e = 0; e < b.width(); e++) h(b, i, e) = 1e-20f;
    },
    [](stbc_batch& b, std::size_t i) { b.n0[i] = 0; },
    [](stbc_batch& b, std::size_t i) { b.n0[i] = -1; },
    [](stbc_batch& b, std::size_t i) { b.n0[i] = not_a_number; },
    [](stbc_batch& b, std::size_t i) { b.n0[i] = infinity; },
    [](stbc_batch& b, std::size_t i) { b.n0[i] = 1e-31f; },
};

class stbc_input_on : public on_backend {};
WB_ON_ALL_BACKENDS(stbc_input_on);

TEST_P(stbc_input_on, bad_codewords_are_erased_and_their_neighbours_untouched) {
  for (const stbc_config& c : stbc_of_each()) {
    if (c.qam == 64) continue;
    const std::size_t n = 3 * std::size(faults) + 2;
    const auto good = draw_stbc(c, n, 1);
    stbc_batch bad = good;
    for (std::size_t f = 0; f < std::size(faults); f++) faults[f](bad, 3 * f + 1);
    for (const wanted what : {wanted::llr, wanted::decisions}) {
      const auto expected = decode(exec(), good, what), got = decode(exec(), bad, what);
      EXPECT_EQ(count_erased(expected.status), 0U);
      EXPECT_EQ(count_erased(got.status), std::size(faults)) << text_of(c);
      for (std::size_t i = 0; i < n; i++) {
        const bool erased = i % 3 == 1 && i / 3 < std::size(faults);
        ASSERT_EQ(got.status[i], erased ? status_erased : 0) << text_of(c) << ", fault " << i / 3;
        for (std::size_t e = i * bad.bits(); e < (i + 1) * bad.bits(); e++) {
          ASSERT_EQ(got.bits[e], erased ? 0 : expected.bits[e]) << text_of(c) << ", fault " << i / 3;
          if (what == wanted::llr) {
            ASSERT_EQ(got.llr[e], erased ? 0.f : expected.llr[e]) << text_of(c) << ", fault " << i / 3;
          }
        }
      }
    }
  }
}

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
    for (const wanted what : {wanted::llr, wanted::decisions}) {
      const auto got = decode(exec(), b, what);
      for (const float llr : got.llr) ASSERT_FALSE(std::isnan(llr)) << text_of(c);
      EXPECT_TRUE(same_bits(got, decode(*reference, b, what))) << text_of(c);
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
  for (const int qam : {-4, 0, 1, 2, 8, 32, 256}) {
    EXPECT_EQ(blames(stbc_setting(space_time_code::silver(), qam)), "qam") << qam;
    EXPECT_EQ(blamed([&] { stbc_encoder(space_time_code::silver(), qam); }), "qam") << qam;
  }
  for (const int rx : {-1, 0, 5})
    EXPECT_EQ(blames(stbc_setting(space_time_code::golden(), 4, rx)), "rx_antennas");
  for (const auto& code : {space_time_code::alamouti(), space_time_code::silver()})
    EXPECT_EQ(blames(stbc_setting(code, 4, 2, golden_search::slicing)), "search");
  stbc_config c;
  for (const float clip : {0.f, -8.f, 1.1e6f, not_a_number, -infinity}) {
    c.llr_clip = clip;
    EXPECT_EQ(blames(c), "llr_clip") << clip;
  }
  for (const float clip : {1e-30f, 8.f, 1e6f, infinity}) {
    c.llr_clip = clip;
    EXPECT_EQ(blames(c), "") << clip;
  }
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

TEST(stbc_arguments, bad_shapes_are_named) {
  const auto exec = open_scalar();
  const stbc_decoder decoder(stbc_setting(space_time_code::silver(), 16));
  const stbc_encoder encoder(space_time_code::silver(), 16);
  auto rx = exec->make<std::complex<float>>(4, 5), narrow = exec->make<std::complex<float>>(2, 5),
       few = exec->make<std::complex<float>>(4, 3);
  auto n0 = exec->make<float>(1, 5), n0_few = exec->make<float>(1, 4), llr = exec->make<float>(16, 5),
       llr_few = exec->make<float>(16, 4);
  auto bits = exec->make<std::uint8_t>(16, 5), bits_narrow = exec->make<std::uint8_t>(8, 5),
       status = exec->make<std::uint8_t>(1, 5), status_few = exec->make<std::uint8_t>(1, 4);
  std::fill_n(rx.data(), rx.size(), 1.f);
  std::fill_n(few.data(), few.size(), 1.f);
  std::fill_n(n0.data(), n0.size(), 1.f);
  std::fill_n(bits.data(), bits.size(), std::uint8_t{1});
  const auto blames = [&](const stbc_input& in, const stbc_output& out) {
    return blamed([&] { decoder.run(*exec, in, out); });
  };
  EXPECT_EQ(blames({rx, rx, 1, n0}, {llr, bits, status}), "");
  EXPECT_EQ(blames({rx, few, 2, n0}, {llr}), "");
  EXPECT_EQ(blames({rx, rx, 1, {n0.data(), 1, 5, 1, 0}}, {llr}), "");
  EXPECT_EQ(blames({narrow, rx, 1, n0}, {llr}), "received");
  EXPECT_EQ(blames({rx, narrow, 1, n0}, {llr}), "channel");
  EXPECT_EQ(blames({rx, few, 1, n0}, {llr}), "channel");
  EXPECT_EQ(blames({rx, rx, 0, n0}, {llr}), "codewords_per_channel");
  EXPECT_EQ(blames({rx, rx, 1, n0_few}, {llr}), "noise_var");
  EXPECT_EQ(blames({rx, rx, 1, n0}, {llr_few}), "llr");
  EXPECT_EQ(blames({rx, rx, 1, n0}, {llr, bits_narrow}), "bits");
  EXPECT_EQ(blames({rx, rx, 1, n0}, {llr, bits, status_few}), "status");
  EXPECT_EQ(blamed([&] { encoder.run(*exec, bits_narrow, rx); }), "bits");
  EXPECT_EQ(blamed([&] { encoder.run(*exec, bits, few); }), "out");
  EXPECT_EQ(blamed([&] { encoder.run_symbols(*exec, narrow, rx); }), "symbols");
  EXPECT_EQ(blamed([&] { encoder.run_symbols(*exec, rx, few); }), "out");
}

}  // namespace stbc_input_test
