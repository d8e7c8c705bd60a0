// Codes over subcarriers: their matrices, combining against the oracle and against Alamouti's code, and bad
// input.
#include <limits>

#include <tests/stbc.hpp>

namespace stbc_sfbc_test {

using namespace wb;
using namespace wb::testing;

std::vector<std::complex<float>> encode(executor& exec, const space_time_code& code, int qam,
                                        const std::vector<std::uint8_t>& bits) {
  const stbc_encoder encoder(code, qam);
  const std::size_t m = encoder.bits_per_codeword(), n = bits.size() / m,
                    size = static_cast<std::size_t>(code.uses() * code.tx_antennas());
  const auto b = on_device(exec, bits, n, m);
  auto out = exec.make<std::complex<float>>(n, size);
  encoder.run(exec, b, out);
  return exec.to_host(out);
}

class sfbc : public on_backend {};
WB_ON_ALL_BACKENDS(sfbc);

TEST_P(sfbc, encoder_equals_the_matrices_of_36_211) {
  for (const space_time_code& code : {space_time_code::sfbc(), space_time_code::fstd()})
    for (const int qam : {4, 16, 64, 256}) {
      const std::size_t n = 17, size = static_cast<std::size_t>(code.tx_antennas());
      const auto b = draw_stbc(stbc_setting(code, qam), n, 3);
      const auto points = oracle::constellation(qam);
      const auto sent = encode(exec(), code, qam, b.sent);
      ASSERT_EQ(sent.size(), n * size * size);
      double energy = 0;
      for (std::size_t i = 0; i < n; i++) {
        std::vector<std::complex<double>> x;
        for (const int index : symbols_of(b, b.sent, i)) x.push_back(points[static_cast<std::size_t>(index)]);
        const auto s = oracle::space_time_matrix(oracle_code(code), x);
        for (std::size_t use = 0; use < size; use++)
          for (std::size_t antenna = 0; antenna < size; antenna++) {
            const std::complex<double> got(sent[(i * size + use) * size + antenna]);
            ASSERT_LT(std::abs(got - s[size * antenna + use]), 6e-7);
            energy += std::norm(got) / static_cast<double>(n * size * size);
          }
      }
      if (qam == 4) {
        EXPECT_NEAR(energy, 1, 1e-6);  // of each antenna and subcarrier, as a mean
      }
    }
}

TEST_P(sfbc, without_noise_equal_channels_give_the_bits) {
  for (const stbc_config& c : stbc_over_subcarriers()) {
    const auto b = draw_stbc(c, 40, 3, {.least_n0 = 1e-4, .most_n0 = 1e-4, .noise = false, .spread = 0});
    for (const wanted result : {wanted::llr, wanted::decisions}) {
      const auto got = decode(exec(), b, result);
      EXPECT_EQ(got.bits, b.sent) << text_of(c);
      EXPECT_EQ(count_erased(got.status), 0U);
    }
  }
}

TEST_P(sfbc, in_flat_fading_it_is_alamouti_bit_by_bit) {
  // S of (x1, x2) is Alamouti's of (x1, -x2*): the sign bit of the real part of x2 is inverted.
  for (const int qam : {4, 16, 64, 256})
    for (const int rx : {1, 2, 4}) {
      const auto over = draw_stbc(stbc_setting(space_time_code::sfbc(), qam, rx), 37, 5, {.spread = 0});
      stbc_batch slots = over;
      slots.config = stbc_setting(space_time_code::alamouti(), qam, rx);
      slots.h.clear();
      for (std::size_t i = 0; i < over.codewords(); i++)
        slots.h.insert(slots.h.end(), over.h.begin() + static_cast<std::ptrdiff_t>(i * over.gains()),
                       over.h.begin() + static_cast<std::ptrdiff_t>(i * over.gains() + over.gains() / 2));
      const std::size_t turned = over.symbol_bits();  // b(0) of x2
      for (const bool prior : {false, true}) {
        stbc_batch one = over, other = slots;
        if (prior) {
          one = with_prior(one, 3, 6);
          other.prior = one.prior;
          for (std::size_t i = 0; i < other.codewords(); i++)
            other.prior[i * other.bits() + turned] = -other.prior[i * other.bits() + turned];
        }
        const auto got = decode(exec(), one, wanted::llr), expected = decode(exec(), other, wanted::llr);
        for (std::size_t i = 0; i < one.codewords(); i++)
          for (std::size_t e = 0; e < one.bits(); e++) {
            const float llr = expected.llr[i * one.bits() + e], wanted_llr = e == turned ? -llr : llr;
            if (prior)
              ASSERT_NEAR(got.llr[i * one.bits() + e], wanted_llr, llr_tolerance(one, i)) << qam;
            else
              ASSERT_EQ(got.llr[i * one.bits() + e], wanted_llr) << qam << ", " << i << ", " << e;
          }
      }
      const auto sent = encode(exec(), space_time_code::sfbc(), qam, over.sent);
      auto bits = over.sent;
      for (std::size_t i = 0; i < over.codewords(); i++) bits[i * over.bits() + turned] ^= 1;
      EXPECT_EQ(sent, encode(exec(), space_time_code::alamouti(), qam, bits));
    }
}

TEST_P(sfbc, a_power_of_two_in_all_amplitudes_changes_no_bit) {
  for (const stbc_config& c : stbc_over_subcarriers()) {
    const auto b = draw_stbc(c, 17, 6);
    const auto expected = decode(exec(), b, wanted::llr);
    for (const int power : {-40, 40}) {
      auto scaled = b;
      for (auto& y : scaled.y) y *= std::ldexp(1.f, power);
      for (auto& h : scaled.h) h *= std::ldexp(1.f, power);
      for (auto& n : scaled.n0) n = std::ldexp(n, 2 * power);
      EXPECT_TRUE(same_bits(decode(exec(), scaled, wanted::llr), expected)) << text_of(c) << ", 2^" << power;
    }
  }
}

TEST_P(sfbc, any_size_gives_numbers_the_same_everywhere) {
  const auto reference = open_reference();
  const std::vector<float> sizes{1e-38f, 1e-20f, 1e-14f, 1e-7f, 1.f, 1e7f, 1e14f},
      noises{1e-38f, 1e-29f, 1e-12f, 1.f, 1e12f, 1e29f};
  for (const stbc_config& c : stbc_over_subcarriers()) {
    stbc_batch b = draw_stbc(c, sizes.size() * sizes.size() * noises.size(), 2);
    for (std::size_t i = 0; i < b.codewords(); i++) {
      for (std::size_t e = 0; e < b.width(); e++) b.y[i * b.width() + e] *= sizes[i % sizes.size()];
      // The first subcarrier alone, too.
      for (std::size_t e = 0; e < b.gains() / (i % 2 + 1); e++)
        b.h[i * b.gains() + e] *= sizes[i / sizes.size() % sizes.size()];
      b.n0[i] = noises[i / sizes.size() / sizes.size()];
    }
    for (const wanted result : {wanted::llr, wanted::decisions}) {
      const auto got = decode(exec(), b, result);
      for (const float llr : got.llr) ASSERT_FALSE(std::isnan(llr)) << text_of(c);
      EXPECT_TRUE(same_bits(got, decode(*reference, b, result))) << text_of(c);
    }
  }
}

TEST(sfbc_oracle, decisions_and_llrs_equal_combining_in_double) {
  const auto exec = open_executor("cpu");
  std::size_t different = 0, wrong = 0, bits = 0;
  for (const stbc_config& c : stbc_over_subcarriers())
    for (const double spread : {0., 0.1, 1.})
      for (const bool prior : {false, true}) {
        auto b = draw_stbc(c, small_scale() ? 20 : 200, 8, {.least_n0 = 1e-3, .spread = spread});
        if (prior) b = with_prior(b, 3, 9);
        const auto got = decode(*exec, b, wanted::llr), decisions = decode(*exec, b, wanted::decisions);
        for (std::size_t i = 0; i < b.codewords(); i++) {
          const auto expected = oracle::stbc_combining(oracle_use(b, i), c.rx_antennas);
          const double near = llr_tolerance(b, i);
          for (std::size_t e = 0; e < b.bits(); e++, bits++) {
            different += !(std::abs(got.llr[i * b.bits() + e] - expected.llr[e]) <= near);
            wrong += std::abs(expected.llr[e]) > near &&
                     (decisions.bits[i * b.bits() + e] != 0) != (expected.llr[e] < 0);
          }
        }
      }
  EXPECT_GT(bits, 10000U);
  EXPECT_EQ(different, 0U);
  EXPECT_EQ(wrong, 0U);
}

TEST(sfbc_arguments, what_codes_over_subcarriers_do_not_take_is_named) {
  const space_time_code two = space_time_code::sfbc(), four = space_time_code::fstd();
  EXPECT_EQ(std::string(name_of(two)), "sfbc");
  EXPECT_EQ(std::string(name_of(four)), "fstd");
  EXPECT_EQ(two.symbols() + two.uses() + two.tx_antennas() + two.channels(), 8);
  EXPECT_EQ(four.symbols() + four.uses() + four.tx_antennas() + four.channels(), 16);
  for (const space_time_code& code : {two, four}) {
    stbc_config c = stbc_setting(code, 4);
    EXPECT_EQ(blamed([&] { check(c); }), "");
    c.method = stbc_method::exhaustive;
    EXPECT_EQ(blamed([&] { check(c); }), "method");
    EXPECT_EQ(blamed([&] { check(stbc_setting(code, 4, 2, golden_search::slicing)); }), "search");
    EXPECT_EQ(blamed([&] { check(stbc_setting(code, 8)); }), "qam");
    EXPECT_EQ(blamed([&] { check(stbc_setting(code, 4, 5)); }), "rx_antennas");
  }
  const auto exec = open_scalar();
  const auto b = draw_stbc(stbc_setting(four, 4, 2), 3, 1);
  const stbc_decoder decoder(b.config);
  const auto y = on_device(*exec, b.y, 3, 8), h = on_device(*exec, b.h, 3, 32);
  const auto n0 = on_device(*exec, b.n0, 3, 1);
  const auto one = on_device(*exec, std::vector<std::complex<float>>(24), 3, 8);
  auto llr = exec->make<float>(3, 8);
  EXPECT_EQ(blamed([&] { decoder.run(*exec, {h, 1, y, n0, {}}, {llr, {}, {}}); }), "");
  EXPECT_EQ(blamed([&] { decoder.run(*exec, {one, 1, y, n0, {}}, {llr, {}, {}}); }), "channel");
  EXPECT_EQ(blamed([&] { decoder.run(*exec, {h, 1, h, n0, {}}, {llr, {}, {}}); }), "received");
}

}  // namespace stbc_sfbc_test
