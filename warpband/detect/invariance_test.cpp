// What must not change a detector's answer, and by how much other things must.

#include <tests/mimo.hpp>

namespace invariance_test {

using wb::detector_config;
using namespace wb::testing;

mimo_batch without_noise(const detector_config& c, std::size_t uses, std::mt19937_64& random) {
  return draw_mimo(c, uses, {1e-30, 2e-30}, random);
}

class detect_on : public on_backend {};
WB_ON_ALL_BACKENDS(detect_on);

TEST_P(detect_on, shared_noise_and_shared_channels_are_the_same_as_written_out) {
  std::mt19937_64 random(5);
  for (const detector_config& c : some_of_each())
    for (const std::size_t shared : {1, 2, 7, 16, 40, 1000}) {
      mimo_batch batch = draw_mimo(c, 40, {.uses_per_channel = shared}, random);
      mimo_batch written = batch;
      written.uses_per_channel = 1;
      written.h.clear();
      for (std::size_t i = 0; i < 40; i++)
        written.h.insert(written.h.end(), batch.channel_of(i), batch.channel_of(i) + batch.gains());
      EXPECT_TRUE(same_bits(detect(exec(), c, batch), detect(exec(), c, written)))
          << text_of(c) << ", " << shared;
      batch.n0.resize(1);
      written.n0.assign(40, batch.n0[0]);
      EXPECT_TRUE(same_bits(detect(exec(), c, batch), detect(exec(), c, written)))
          << text_of(c) << ", " << shared << ", shared N0";
    }
}

TEST_P(detect_on, hard_bits_are_the_signs) {
  std::mt19937_64 random(6);
  for (detector_config c : some_of_each())
    for (const bool extrinsic : {false, true}) {
      if (extrinsic && !takes_prior(c)) continue;
      c.extrinsic = extrinsic;
      const auto detector = make_detector(c);
      const mimo_batch batch = draw_mimo(c, 40, {.prior = extrinsic ? 3. : 0.}, random);
      const mimo_result result = detect(exec(), *detector, batch);
      for (std::size_t e = 0; e < result.llr.size(); e++)
        ASSERT_EQ(result.bits[e], result.llr[e] < 0 ? 1 : 0) << text_of(c);
    }
}

TEST_P(detect_on, a_clip_limits_and_changes_nothing_else) {
  std::mt19937_64 random(7);
  for (detector_config c : some_of_each()) {
    if (c.type == sphere && sphere_in(c).node_limit > 0) continue;  // a clip ends branches earlier
    const mimo_batch batch = draw_mimo(c, 60, {}, random);
    c.llr_clip = 1e6f;
    const mimo_result wide = detect(exec(), c, batch);
    for (const float clip : {0.125f, 2.f, 8.f}) {
      c.llr_clip = clip;
      const mimo_result clipped = detect(exec(), c, batch);
      for (std::size_t e = 0; e < wide.llr.size(); e++)
        ASSERT_EQ(clipped.llr[e], std::clamp(wide.llr[e], -clip, clip)) << text_of(c);
    }
    if (may_miss(c)) continue;
    c.llr_clip = wb::no_clip;
    const mimo_result whole = detect(exec(), c, batch);
    for (std::size_t e = 0; e < wide.llr.size(); e++)
      ASSERT_EQ(wide.llr[e], std::clamp(whole.llr[e], -1e6f, 1e6f)) << text_of(c);
  }
}

TEST_P(detect_on, without_noise_the_decisions_are_the_bits_sent) {
  std::mt19937_64 random(8);
  std::vector<detector_config> settings = some_of_each();
  for (const int qam : {4, 16, 64, 256}) {
    for (const std::string& type : {ml, zf, mmse, ot, mtt, nway, sphere, pic, ep}) {
      settings.push_back(setting(type, 1, 1, qam));
      settings.push_back(setting(type, 2, 2, qam));
      if ((type != ml && type != sphere) || qam <= 16) settings.push_back(setting(type, 3, 4, qam));
    }
    settings.push_back(kbest_setting(4, 4, qam, 4));
    settings.push_back(kbest_setting(4, 4, qam, 4, true));
    settings.push_back(setting(mf, 1, 3, qam));
  }
  for (const detector_config& c : settings) {
    mimo_batch batch = without_noise(c, small_scale() ? 10 : 100, random);
    if (c.type == mf && c.streams > 1) {  // has noise of its own unless no two streams meet
      for (std::size_t e = 0; e < batch.h.size(); e++) {
        const std::size_t streams = static_cast<std::size_t>(c.streams),
                          r = e / streams % static_cast<std::size_t>(c.rx_antennas);
        if (r % streams != e % streams) batch.h[e] = 0;
      }
      const auto points = oracle::constellation(c.qam);
      const std::size_t rx = static_cast<std::size_t>(c.rx_antennas),
                        m = batch.bits() / static_cast<std::size_t>(c.streams);
      for (std::size_t i = 0; i < batch.uses(); i++)
        for (std::size_t r = 0; r < rx; r++) {
          const std::size_t k = r % static_cast<std::size_t>(c.streams);
          std::size_t symbol = 0;
          for (std::size_t b = 0; b < m; b++) symbol = 2 * symbol + batch.sent[i * batch.bits() + k * m + b];
          batch.y[i * rx + r] = batch.channel_of(i)[r * static_cast<std::size_t>(c.streams) + k] *
                                std::complex<float>(points[symbol]);
        }
    }
    for (const float n0 : {1e-3f, 1e-6f}) {
      batch.n0 = {n0};
      // Linear filters keep the other streams' interference, of which little is left.
      if ((c.type == mmse || c.type == pic || c.type == ep) && c.streams > 1) batch.n0 = {1e-6f};
      std::size_t wrong = 0;
      const mimo_result got = detect(exec(), c, batch);
      for (std::size_t e = 0; e < got.bits.size(); e++) wrong += got.bits[e] != batch.sent[e];
      EXPECT_EQ(wrong, 0U) << text_of(c) << ", N0 " << n0;
    }
  }
}

TEST_P(detect_on, streams_in_another_order_have_their_llrs_in_that_order) {
  std::mt19937_64 random(9);
  for (const detector_config& c :
       {setting(ml, 3, 3, 4), setting(ml, 2, 2, 64), setting(mf, 4, 4, 16), setting(zf, 4, 5, 16),
        setting(mmse, 4, 4, 64), setting(mmse, 8, 8, 4), setting(nway, 2, 2, 16), setting(nway, 3, 3, 64),
        setting(nway, 4, 4, 16), setting(sphere, 3, 3, 16), setting(mtt, 2, 2, 16), setting(pic, 4, 4, 16),
        setting(pic, 12, 12, 4), ep_setting(4, 4, 16, 4)}) {
    const mimo_batch batch = draw_mimo(c, 200, {}, random);
    const auto n = static_cast<std::size_t>(c.streams), m = batch.bits() / n;
    const mimo_result expected = detect(exec(), c, batch);
    for (const std::size_t turn : {n - 1, n / 2, n + 1}) {
      std::vector<std::size_t> from;
      for (std::size_t k = 0; k < n; k++) from.push_back((k + turn) % n);
      if (c.type != nway) std::swap(from[0], from[n / 2]);
      mimo_batch turned = batch;
      for (std::size_t e = 0; e < batch.h.size(); e++) turned.h[e] = batch.h[e / n * n + from[e % n]];
      std::vector<float> llr(expected.llr.size());
      for (std::size_t e = 0; e < llr.size(); e++)
        llr[e] = expected.llr[e / batch.bits() * batch.bits() + from[e / m % n] * m + e % m];
      EXPECT_LE(count_different(batch, detect(exec(), c, turned).llr, llr), c.type == nway ? 1U : 0U)
          << text_of(c);
    }
  }
}

TEST_P(detect_on, one_factor_on_everything_changes_nothing) {
  // y and H times g, N0 times g^2: the same distances. All factors are powers of two, exact in float32.
  std::mt19937_64 random(10);
  for (const detector_config& c : some_of_each()) {
    const mimo_batch batch = draw_mimo(c, 40, {}, random);
    const mimo_result expected = detect(exec(), c, batch);
    for (const float g : {0x1p-12f, 0.5f, 0x1p20f}) {
      mimo_batch scaled = batch;
      for (auto& y : scaled.y) y *= g;
      for (auto& h : scaled.h) h *= g;
      for (auto& n0 : scaled.n0) n0 *= g * g;
      EXPECT_EQ(count_different(batch, detect(exec(), c, scaled).llr, expected.llr), 0U)
          << text_of(c) << ", " << g;
    }
  }
}

TEST_P(detect_on, priors_of_zero_are_none_and_the_extrinsic_output_is_without_them) {
  std::mt19937_64 random(11);
  for (detector_config c : some_of_each()) {
    if (!takes_prior(c)) continue;
    c.llr_clip = 1e6f;
    mimo_batch batch = draw_mimo(c, 100, {.prior = 3}, random);
    const mimo_result posterior = detect(exec(), c, batch);
    detector_config extrinsic = c;
    extrinsic.extrinsic = true;
    std::vector<double> expected;
    for (std::size_t e = 0; e < posterior.llr.size(); e++) expected.push_back(posterior.llr[e]);
    for (std::size_t e = 0; e < expected.size(); e++)
      if (std::fabs(expected[e]) < 1e6) expected[e] -= batch.prior[e];
    mimo_result got = detect(exec(), extrinsic, batch);
    for (std::size_t e = 0; e < expected.size(); e++)  // a missing hypothesis: the clip stands for either
      if (std::fabs(posterior.llr[e]) == 1e6f) got.llr[e] = posterior.llr[e];
    EXPECT_EQ(count_different(batch, got.llr, expected), 0U) << text_of(c);

    batch.prior.assign(batch.prior.size(), 0);
    const mimo_result zeros = detect(exec(), c, batch);
    batch.prior.clear();
    const mimo_result none = detect(exec(), c, batch);
    EXPECT_EQ(count_different(batch, zeros.llr, none.llr), 0U) << text_of(c);
    EXPECT_TRUE(same_bits(detect(exec(), extrinsic, batch), none)) << text_of(c);
  }
}

TEST_P(detect_on, extrinsic_llrs_are_limited_after_the_prior_is_off) {
  std::mt19937_64 random(13);
  for (detector_config c : some_of_each()) {
    if (!takes_prior(c)) continue;
    const bool complete = !may_miss(c);
    const mimo_batch batch = draw_mimo(c, 60, {0.3, 3, 10}, random);
    c.extrinsic = true;
    c.llr_clip = 1e6f;
    const mimo_result wide = detect(exec(), c, batch);
    for (const float clip : {2.f, 8.f}) {
      c.llr_clip = clip;
      const mimo_result clipped = detect(exec(), c, batch);
      for (std::size_t e = 0; e < wide.llr.size(); e++) {
        ASSERT_LE(std::fabs(clipped.llr[e]), clip) << text_of(c);
        ASSERT_TRUE(!complete || clipped.llr[e] == std::clamp(wide.llr[e], -clip, clip)) << text_of(c);
      }
    }
  }
}

TEST_P(detect_on, a_large_prior_decides) {
  std::mt19937_64 random(12);
  for (detector_config c : some_of_each()) {
    if (!takes_prior(c)) continue;
    mimo_batch batch = draw_mimo(c, 50, {0.5, 1, 1}, random);
    for (float& l : batch.prior) l = l < 0 ? -1e4f : 1e4f;
    const mimo_result got = detect(exec(), c, batch);
    for (std::size_t e = 0; e < got.bits.size(); e++)
      ASSERT_EQ(got.bits[e], batch.prior[e] < 0 ? 1 : 0) << text_of(c);
  }
}

}  // namespace invariance_test
