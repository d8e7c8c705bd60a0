// Bad items inside a batch, input at the limits, and bad settings and shapes.
#include <algorithm>
#include <cmath>
#include <limits>

#include <tests/mimo.hpp>

namespace detect_input_test {

using wb::detector_config;
using namespace wb::testing;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

std::complex<float>& first_y(mimo_batch& b, std::size_t i) { return b.y[i * static_cast<std::size_t>(b.rx)]; }
std::complex<float>* channel(mimo_batch& b, std::size_t i) {
  return &b.h[i / b.uses_per_channel * b.gains()];
}
class detect_input_on : public on_backend {};
WB_ON_ALL_BACKENDS(detect_input_on);

TEST_P(detect_input_on, what_is_not_quite_singular_is_detected) {
  // The last column is the first and a little more, at a right angle: a squared pivot of 1e-8 of the trace.
  std::mt19937_64 random(2);
  for (const detector_config& c : some_of_each()) {
    if (c.streams == 1) continue;
    mimo_batch batch = draw_mimo(c, 20, {}, random);
    for (std::size_t i = 0; i < 20; i++) {
      auto* h = channel(batch, i);
      for (std::size_t e = 0; e < batch.gains(); e++)
        h[e] = e / static_cast<std::size_t>(c.streams) == e % static_cast<std::size_t>(c.streams) ? 1.f : 0.f;
      h[c.streams - 1] = 1.f;
      h[(c.streams - 1) * c.streams + c.streams - 1] = 1e-3f;
    }
    const mimo_result got = detect(exec(), c, batch);
    EXPECT_EQ(wb::count_erased(got.status), 0U) << text_of(c);
    for (const float llr : got.llr) ASSERT_FALSE(std::isnan(llr)) << text_of(c);
  }
}

TEST_P(detect_input_on, y_has_llrs_until_it_is_erased) {
  std::mt19937_64 random(4);
  for (const detector_config& c : some_of_each()) {
    const mimo_batch batch = draw_mimo(c, 20, {}, random);
    for (int exponent = 4; exponent <= 44; exponent += 4) {
      mimo_batch far = batch;
      for (auto& y : far.y) y *= std::ldexp(1.f, exponent);
      const mimo_result got = detect(exec(), c, far);
      for (std::size_t i = 0; i < far.uses(); i++) {
        const auto* h = channel(far, i);
        float power = 0, gain = 0;
        for (int r = 0; r < far.rx; r++) power += std::norm((&first_y(far, i))[r]);
        for (std::size_t e = 0; e < far.gains(); e++) gain += std::norm(h[e]);
        EXPECT_EQ(got.status[i], power > 1e10f * gain ? wb::status_erased : 0)
            << text_of(c) << ", y times 2^" << exponent;
        const auto llr = got.llr.begin() + static_cast<std::ptrdiff_t>(i * far.bits());
        const bool zeros =
            std::all_of(llr, llr + static_cast<std::ptrdiff_t>(far.bits()), [](float l) { return l == 0; });
        EXPECT_EQ(zeros, got.status[i] != 0) << text_of(c) << ", y times 2^" << exponent;
      }
    }
  }
}

TEST_P(detect_input_on, large_and_small_input_gives_numbers_and_equal_bits) {
  const auto reference = open_reference();
  std::mt19937_64 random(3);
  const std::vector<float> sizes{1e-30f, 1e-18f, 1e-6f, 1.f, 1e6f, 1e14f},
      noises{1e-45f, 1e-38f, 1e-12f, 1.f, 1e12f, 3e38f};
  for (const detector_config& c : some_of_each()) {
    mimo_batch batch = draw_mimo(c, sizes.size() * sizes.size() * noises.size(), {}, random);
    for (std::size_t i = 0; i < batch.uses(); i++) {
      const std::size_t rx = static_cast<std::size_t>(c.rx_antennas);
      for (std::size_t r = 0; r < rx; r++) batch.y[i * rx + r] *= sizes[i % sizes.size()];
      for (std::size_t e = 0; e < batch.gains(); e++)
        batch.h[i * batch.gains() + e] *= sizes[i / sizes.size() % sizes.size()];
      batch.n0[i] = noises[i / sizes.size() / sizes.size()];
    }
    const mimo_result got = detect(exec(), c, batch);
    for (std::size_t e = 0; e < got.llr.size(); e++) {
      ASSERT_FALSE(std::isnan(got.llr[e])) << text_of(c) << ", use " << e / batch.bits();
      ASSERT_TRUE(got.status[e / batch.bits()] == 0 || got.llr[e] == 0) << text_of(c);
    }
    EXPECT_TRUE(same_bits(got, detect(*reference, c, batch))) << text_of(c);
  }
}

/// y = H s without noise.
void silence(mimo_batch& b) {
  const auto points = oracle::constellation(b.qam);
  const std::size_t m = b.bits() / static_cast<std::size_t>(b.streams);
  for (std::size_t i = 0; i < b.uses(); i++)
    for (int r = 0; r < b.rx; r++) {
      std::complex<double> y = 0;
      for (int k = 0; k < b.streams; k++) {
        std::size_t symbol = 0;
        for (std::size_t e = 0; e < m; e++)
          symbol = symbol * 2 + b.sent[i * b.bits() + static_cast<std::size_t>(k) * m + e];
        y += std::complex<double>(channel(b, i)[r * b.streams + k]) * points[symbol];
      }
      b.y[i * static_cast<std::size_t>(b.rx) + static_cast<std::size_t>(r)] = std::complex<float>(y);
    }
}

TEST_P(detect_input_on, ill_conditioned_channels_without_noise_give_the_bits) {
  // Condition numbers of 1e2 to 1e4, at noise far below the weakest direction.
  std::mt19937_64 random(4);
  for (const std::string& type : {ml, zf, mmse, mtt, nway, kbest, sphere, pic, ep})
    for (const int n : {2, 4}) {
      detector_config c = setting(type, n, n, 4);
      if (type == kbest) kbest_in(c).survivors = 256;
      mimo_batch batch = draw_mimo(c, 96, {}, random);
      for (std::size_t i = 0; i < batch.uses(); i++) {
        // Of mtt the search for the best edge has an error of a few 2^-24 |y|^2.
        const float little = std::pow(10.f, -2.f - static_cast<float>(type == mtt ? 0 : i % 3));
        for (int r = 0; r < n; r++)
          channel(batch, i)[r * n + n - 1] =
              channel(batch, i)[r * n] + little * channel(batch, i)[r * n + n - 1];
        batch.n0[i] = i % 2 != 0 ? 1e-10f : 1e-12f;
      }
      silence(batch);
      const mimo_result got = detect(exec(), c, batch);
      EXPECT_EQ(wb::count_erased(got.status), 0U) << text_of(c);
      std::size_t wrong = 0;
      for (std::size_t e = 0; e < got.bits.size(); e++) wrong += got.bits[e] != batch.sent[e];
      // At a condition of 1e4 rounding in y alone is 1e-3 of the weakest distance: all bits hold, but for a
      // few.
      EXPECT_LE(wrong, got.bits.size() / 100) << text_of(c);
    }
}

TEST_P(detect_input_on, a_power_of_two_in_all_amplitudes_changes_no_bit) {
  std::mt19937_64 random(8);
  for (const detector_config& c : some_of_each()) {
    const mimo_batch batch = draw_mimo(c, 40, {}, random);
    const mimo_result got = detect(exec(), c, batch);
    for (const int power : {-40, -9, 7, 40}) {
      mimo_batch scaled = batch;
      for (auto& y : scaled.y) y *= std::ldexp(1.f, power);
      for (auto& h : scaled.h) h *= std::ldexp(1.f, power);
      for (float& n0 : scaled.n0) n0 = std::ldexp(n0, 2 * power);
      EXPECT_TRUE(same_bits(got, detect(exec(), c, scaled))) << text_of(c) << ", 2^" << power;
    }
  }
}

TEST_P(detect_input_on, the_least_noise_gives_the_bits) {
  std::mt19937_64 random(5);
  for (const std::string& type : {ml, mf, zf, mmse, mtt, nway, kbest, sphere, ot, pic, ep}) {
    const detector_config c = setting(type, 2, 2, 16);
    mimo_batch batch = draw_mimo(c, 40, {}, random);
    for (std::size_t i = 0; i < batch.uses(); i++) {
      for (int e = 0; e < 4; e++) channel(batch, i)[e] = e % 3 == 0 ? 4.f : 0.f;
      batch.n0[i] = 1e-30f;
    }
    silence(batch);
    const mimo_result got = detect(exec(), c, batch);
    EXPECT_EQ(wb::count_erased(got.status), 0U) << text_of(c);
    EXPECT_EQ(got.bits, batch.sent) << text_of(c);
  }
}

TEST_P(detect_input_on, a_prior_beyond_all_doubt_decides) {
  std::mt19937_64 random(6);
  for (const std::string& type : {ml, ot, mtt, nway, kbest, sphere, pic, ep})
    for (const float n0 : {1e-3f, 1e8f, 1e30f}) {
      detector_config c = setting(type, 2, 2, 4);
      if (type == kbest) kbest_in(c).survivors = 16;
      mimo_batch batch = draw_mimo(c, 40, {.prior = 1}, random);
      for (std::size_t i = 0; i < batch.uses(); i++) batch.n0[i] = n0;
      for (std::size_t e = 0; e < batch.prior.size(); e++)
        batch.prior[e] = batch.sent[e] != 0 ? -1e30f : 1e30f;
      const mimo_result got = detect(exec(), c, batch);
      EXPECT_EQ(wb::count_erased(got.status), 0U) << text_of(c);
      EXPECT_EQ(got.bits, batch.sent) << text_of(c) << ", N0 " << n0;
    }
}

TEST_P(detect_input_on, a_missing_hypothesis_gives_the_clip_at_any_noise) {
  std::mt19937_64 random(7);
  for (const float n0 : {1e-30f, 1.f, 1e30f}) {
    const detector_config c = kbest_setting(2, 2, 16, 1);
    mimo_batch batch = draw_mimo(c, 20, {}, random);
    for (float& n : batch.n0) n = n0;
    for (const float llr : detect(exec(), c, batch).llr) ASSERT_EQ(std::abs(llr), 8.f) << n0;
  }
}

/// The blamed argument, "shape: " before it for a shape_error.
template <class Call>
std::string refused(Call&& call) {
  try {
    call();
  } catch (const wb::shape_error& e) {
    EXPECT_NE(std::string(e.what()).find(e.argument() + " = " + e.value()), std::string::npos) << e.what();
    return "shape: " + e.argument();
  } catch (const wb::argument_error& e) {
    EXPECT_FALSE(e.value().empty()) << e.what();
    EXPECT_FALSE(e.allowed().empty()) << e.what();
    return e.argument();
  }
  return "";
}

/// Makes a detector with one of its kind's settings changed.
template <class Settings, class T, class Value>
std::string blamed_for(const std::string& type, T Settings::*member, Value value) {
  detector_config c = setting(type, 2, 2, 16);
  c.edit<Settings>().*member = static_cast<T>(value);
  return refused([&] { wb::make_detector(c); });
}

TEST(detect_arguments, bad_settings_are_named) {
  const auto blames = [](const detector_config& c) { return refused([&] { wb::make_detector(c); }); };
  for (const wb::detector_kind& kind : wb::detectors()) {
    const std::string& name = kind.name;
    EXPECT_EQ(blames(setting(name, 2, 2, 4)), "") << name;
    EXPECT_EQ(blames(setting(name, 2, 16, 16)), "") << name;
    for (const int streams : {-1, 0, kind.most_streams + 1})
      EXPECT_EQ(blames(setting(name, streams, 16, 4)), "streams") << name;
    for (const int rx : {-2, 0, 1, 17}) EXPECT_EQ(blames(setting(name, 2, rx, 4)), "rx_antennas") << name;
    for (const int qam : {-4, 0, 1, 2, 8, 32, 1024})
      EXPECT_EQ(blames(setting(name, 2, 2, qam)), "qam") << name;
    try {
      wb::make_detector(setting(name, 2, 2, 8));
      ADD_FAILURE() << name;
    } catch (const wb::argument_error& e) {
      EXPECT_EQ(e.allowed(), "4, 16, 64 or 256") << name;
    }

    detector_config c = setting(name, 2, 2, 16);
    for (const float clip : {0.f, -8.f, 1.1e6f, not_a_number, -infinity}) {
      c.llr_clip = clip;
      EXPECT_EQ(blames(c), "llr_clip") << name << ", " << clip;
    }
    c.llr_clip = wb::no_clip;
    EXPECT_EQ(blames(c), name == ot || name == kbest ? "llr_clip" : "") << name;
    for (const float clip : {1e-30f, 3.5f, 1e6f}) {
      c.llr_clip = clip;
      EXPECT_EQ(blames(c), "") << name << ", " << clip;
    }

    c = setting(name, 2, 2, 16);
    c.extrinsic = true;
    EXPECT_EQ(blames(c), takes_prior(c) ? "" : "extrinsic") << name;
    EXPECT_EQ(wb::make_detector(setting(name, 2, 2, 16))->takes_prior(), takes_prior(c)) << name;
    EXPECT_EQ(refused([&] { c.set("colour", true); }), "colour") << name;
    for (const char* other : {"ways", "survivors", "real_valued", "order", "sort", "demapper", "damping"})
      if (find_setting(kind.settings, other) == nullptr) {
        EXPECT_EQ(refused([&] { c.set(other, std::int64_t{1}); }), other) << name;
      }
    c.settings = wb::box(std::string("of something else"));
    EXPECT_THROW(wb::make_detector(c), wb::error) << name;
  }
  EXPECT_EQ(blames(setting("genie", 2, 2, 4)), "type");
}

TEST(detect_arguments, bad_settings_of_a_kind_are_named) {
  for (const int ways : {-1, 3, 8}) EXPECT_EQ(blamed_for(nway, &wb::nway_settings::ways, ways), "ways");
  EXPECT_EQ(blamed_for(nway, &wb::nway_settings::ways, 2), "");
  detector_config one_way = nway_setting(2, 2, 16, 1);
  one_way.llr_clip = wb::no_clip;
  EXPECT_EQ(refused([&] { wb::make_detector(one_way); }), "llr_clip");
  for (const int survivors : {-1, 0, 4097})
    EXPECT_EQ(blamed_for(kbest, &wb::kbest_settings::survivors, survivors), "survivors");
  for (const int survivors : {1, 4096})
    EXPECT_EQ(blamed_for(kbest, &wb::kbest_settings::survivors, survivors), "");
  EXPECT_EQ(blamed_for(kbest, &wb::kbest_settings::real_valued, true), "");
  for (const float radius : {0.f, -1.f, 1.1e6f, not_a_number, infinity})
    EXPECT_EQ(blamed_for(sphere, &wb::sphere_settings::radius, radius), "radius");
  EXPECT_EQ(blamed_for(sphere, &wb::sphere_settings::radius, 0.5f), "");
  for (const int nodes : {-1, 0, (1 << 24) + 1})
    EXPECT_EQ(blamed_for(sphere, &wb::sphere_settings::node_limit, nodes), "node_limit");
  for (const int nodes : {1, 1 << 24})
    EXPECT_EQ(blamed_for(sphere, &wb::sphere_settings::node_limit, nodes), "");
  detector_config hard = sphere_setting(2, 2, 16, {.hard_output = true});
  hard.llr_clip = wb::no_clip;
  EXPECT_EQ(refused([&] { wb::make_detector(hard); }), "llr_clip");
  for (const int demapper : {0, 1, 7}) {
    const char* expected = demapper == 7 ? "demapper" : "";
    EXPECT_EQ(blamed_for(pic, &wb::pic_settings::demapper, demapper), expected);
    EXPECT_EQ(blamed_for(ep, &wb::ep_settings::demapper, demapper), expected);
  }
  for (const int iterations : {-1, 0, 101})
    EXPECT_EQ(blamed_for(ep, &wb::ep_settings::iterations, iterations), "iterations");
  for (const int iterations : {1, 100})
    EXPECT_EQ(blamed_for(ep, &wb::ep_settings::iterations, iterations), "");
  for (const float damping : {-0.1f, 1.f, not_a_number, infinity})
    EXPECT_EQ(blamed_for(ep, &wb::ep_settings::damping, damping), "damping");
  for (const float damping : {0.f, 0.999f}) EXPECT_EQ(blamed_for(ep, &wb::ep_settings::damping, damping), "");
  for (const float variance : {0.f, -1.f, 10.5f, not_a_number})
    EXPECT_EQ(blamed_for(ep, &wb::ep_settings::start_variance, variance), "start_variance");
  for (const float variance : {0.1f, 10.f})
    EXPECT_EQ(blamed_for(ep, &wb::ep_settings::start_variance, variance), "");
}

TEST(detect_arguments, bad_orders_are_named) {
  const auto blames = [](const detector_config& c) { return refused([&] { wb::make_detector(c); }); };
  for (const std::string& name : {ot, mtt, kbest, nway, sphere}) {
    detector_config c = setting(name, 3, 3, 4);
    search_in(c).order = {2, 0, 1};
    EXPECT_EQ(blames(c), "") << name;
    for (const std::vector<int>& order : std::vector<std::vector<int>>{
             {0}, {0, 1}, {0, 1, 2, 3}, {0, 0, 1}, {1, 2, 3}, {0, -1, 1}, {0, 1, 2147483647}, {1, 1, 1}}) {
      search_in(c).order = order;
      EXPECT_EQ(blames(c), "order") << name << ", " << wb::text_of_order(order);
    }
    search_in(c).order = {0, 1, 2};
    EXPECT_EQ(blames(c), "") << name;
    for (const wb::stream_sort sort : sorts_of(c)) {
      search_in(c) = {{0, 1, 2}, sort};
      EXPECT_EQ(blames(c), "order") << name;
      search_in(c) = {{}, sort};
      EXPECT_EQ(blames(c), "") << name;
    }
    search_in(c).sort = static_cast<wb::stream_sort>(5);
    EXPECT_EQ(blames(c), "sort") << name;
    search_in(c).sort = wb::stream_sort::fsd;
    EXPECT_EQ(blames(c), name == nway ? "" : "sort") << name;
  }
}

TEST(detect_arguments, bad_spreads_are_named) {
  const auto blames = [](int streams, int qam, const std::vector<int>& spread,
                         std::optional<float> clip = {}) {
    detector_config c = nway_setting(streams, streams, qam, 1, spread);
    c.llr_clip = clip;
    return refused([&] { wb::make_detector(c); });
  };
  for (const std::vector<int>& spread :
       std::vector<std::vector<int>>{{16}, {1, 1, 16}, {0, 16}, {-1, 16}, {1, 17}, {17, 1}, {1, 2147483647}})
    EXPECT_EQ(blames(2, 16, spread), "spread") << wb::text_of_order(spread);
  for (const std::vector<int>& spread :
       std::vector<std::vector<int>>{{1, 16}, {16, 1}, {1, 1}, {16, 16}, {3, 5}})
    EXPECT_EQ(blames(2, 16, spread), "") << wb::text_of_order(spread);
  EXPECT_EQ(blames(4, 256, {1, 256, 256, 256}), "");
  EXPECT_EQ(blames(4, 256, {2, 256, 256, 256}), "spread");
  EXPECT_EQ(blames(2, 16, {16, 15}, wb::no_clip), "llr_clip");
  EXPECT_EQ(blames(2, 16, {16, 16}, wb::no_clip), "");
  detector_config both = nway_setting(2, 2, 16, 2, {1, 15});
  both.llr_clip = wb::no_clip;
  EXPECT_EQ(refused([&] { wb::make_detector(both); }), "llr_clip");
}

TEST(detect_arguments, exhaustive_search_is_refused_beyond_two_to_the_24) {
  const auto refuses = [](int streams, int qam) {
    return refused([&] { wb::make_detector(setting(ml, streams, 8, qam)); });
  };
  EXPECT_EQ(refuses(8, 4), "");
  EXPECT_EQ(refuses(6, 16), "");
  EXPECT_EQ(refuses(4, 64), "");
  EXPECT_EQ(refuses(3, 256), "");
  EXPECT_EQ(refuses(7, 16), "qam");
  EXPECT_EQ(refuses(5, 64), "qam");
  EXPECT_EQ(refuses(4, 256), "qam");
}

TEST(detect_arguments, messages_say_what_is_allowed) {
  const auto message = [](detector_config c) -> std::string {
    try {
      wb::make_detector(c);
    } catch (const wb::argument_error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(message(nway_setting(4, 4, 16, 5)), "ways = 5 is not allowed: expected 1 to 4");
  EXPECT_EQ(message(setting(ml, 4, 4, 256)),
            "qam = 256 is not allowed: expected 64 or less with 4 streams (at most 2^24 hypotheses)");
  EXPECT_EQ(message(setting(ml, 7, 7, 16)),
            "qam = 16 is not allowed: expected 4 with 7 streams (at most 2^24 hypotheses)");
  detector_config c = setting(ml, 2, 2, 16);
  c.llr_clip = -0.5f;
  EXPECT_EQ(message(c), "llr_clip = -0.5 is not allowed: expected above 0 and at most 1e6, or none");
  c.type = kbest;
  c.llr_clip = wb::no_clip;
  EXPECT_EQ(message(c),
            "llr_clip = none is not allowed: expected above 0 and at most 1e6: a hypothesis can be missing "
            "with kbest");
}

TEST(detect_arguments, messages_of_an_order_say_what_is_allowed) {
  const auto message = [](detector_config c, std::vector<int> order) -> std::string {
    search_in(c).order = std::move(order);
    try {
      wb::make_detector(c);
    } catch (const wb::argument_error& e) {
      return e.what();
    }
    return "";
  };
  const std::string reason = " is not allowed: expected each of 0 to 3 once";
  EXPECT_EQ(message(setting(kbest, 4, 4, 16), {2, 0, 1}), "order = 2,0,1" + reason);
  EXPECT_EQ(message(setting(nway, 4, 4, 16), {2, 0, 1, 4}), "order = 2,0,1,4" + reason);
  EXPECT_EQ(message(setting(ot, 4, 4, 16), {2, 0, 2, 1}), "order = 2,0,2,1" + reason);
  EXPECT_EQ(message(setting(mtt, 1, 1, 16), {1}), "order = 1 is not allowed: expected 0, the one stream");
  EXPECT_EQ(message(sorted(setting(mtt, 2, 2, 16), wb::stream_sort::sqrd), {1, 0}),
            "order = 1,0 is not allowed: expected unset with sort = sqrd");
}

TEST(detect_arguments, a_detector_tells_its_sizes) {
  const auto d = wb::make_detector(setting(mmse, 3, 5, 64));
  EXPECT_EQ(d->streams(), 3);
  EXPECT_EQ(d->rx_antennas(), 5);
  EXPECT_EQ(d->qam(), 64);
  EXPECT_EQ(d->bits_per_use(), 18U);
}

TEST(detect_arguments, defaults_are_chosen) {
  const auto clip = [](const detector_config& c) { return *wb::completed(c).llr_clip; };
  for (const std::string& type : {ml, mf, zf, mmse, sphere, pic, ep})
    EXPECT_EQ(clip(setting(type, 3, 3, 16)), wb::no_clip);
  for (const std::string& type : {ot, kbest, mtt, nway}) EXPECT_EQ(clip(setting(type, 3, 3, 16)), 8.f);
  for (const int streams : {1, 2})
    for (const std::string& type : {mtt, nway})
      EXPECT_EQ(clip(setting(type, streams, streams, 16)), wb::no_clip) << "as ml";
  for (const std::string& type : {mtt, nway}) {
    detector_config c = setting(type, 3, 3, 16);
    c.llr_clip = wb::no_clip;
    EXPECT_EQ(clip(c), wb::no_clip);
  }
  EXPECT_EQ(clip(nway_setting(2, 2, 16, 1)), 8.f);
  EXPECT_EQ(clip(nway_setting(3, 3, 16, 2)), 8.f);
  for (const wb::sphere_settings& settings :
       std::vector<wb::sphere_settings>{{.hard_output = true}, {.radius = 9}, {.node_limit = 100}})
    EXPECT_EQ(clip(sphere_setting(3, 3, 16, settings)), 8.f);
  EXPECT_EQ(wb::completed(setting(nway, 3, 3, 16)).get<wb::nway_settings>().ways, 3);
}

TEST(detect_arguments, bad_shapes_are_named) {
  const auto exec = open_scalar();
  const auto detector = wb::make_detector(setting(ml, 2, 3, 16));
  const auto no_prior = wb::make_detector(setting(mmse, 2, 3, 16));
  auto y = exec->make<std::complex<float>>(5, 3), h = exec->make<std::complex<float>>(5, 6);
  const auto few = wb::make_view(h.data(), 3, 6), one = wb::make_view(h.data(), 1, 6);
  auto n0 = exec->make<float>(5, 1), prior = exec->make<float>(5, 8), llr = exec->make<float>(5, 8);
  std::fill_n(y.data(), y.size(), 1.f);
  std::fill_n(h.data(), h.size(), 1.f);
  std::fill_n(n0.data(), n0.size(), 1.f);
  std::fill_n(prior.data(), prior.size(), 1.f);
  const auto blames = [&](const wb::detector_input& in) {
    return refused([&] { detector->run(*exec, in, {llr}); });
  };
  EXPECT_EQ(blames({h, 1, y, n0, prior}), "");
  EXPECT_EQ(blames({few, 2, y, n0}), "");
  EXPECT_EQ(blames({one, SIZE_MAX, y, n0}), "");
  EXPECT_EQ(blames({few, 1, y, n0}), "shape: channel");
  EXPECT_EQ(blames({h, 2, y, n0}), "shape: channel");
  EXPECT_EQ(blames({{}, 1, y, n0}), "shape: channel");
  EXPECT_EQ(blames({h, 0, y, n0}), "uses_per_channel");
  EXPECT_EQ(blames({h, 1, y, {}}), "shape: noise_var");
  EXPECT_EQ(refused([&] { no_prior->run(*exec, {h, 1, y, n0, prior}, {llr}); }), "prior");
  auto visited = exec->make<std::int32_t>(5, 1);
  const auto counted = [&](const wb::detector& d, const wb::view<std::int32_t>& to) {
    return refused([&] { d.run(*exec, {h, 1, y, n0}, {.llr = llr, .visited = to}); });
  };
  const auto tree = wb::make_detector(setting(sphere, 2, 3, 16));
  EXPECT_EQ(counted(*tree, visited), "");
  EXPECT_EQ(counted(*tree, wb::make_view(visited.data(), 4, 1)), "shape: visited");
  EXPECT_EQ(counted(*detector, visited), "visited");
}

}  // namespace detect_input_test
