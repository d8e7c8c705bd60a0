// Every detector against the oracle, and detectors against each other where theory says that they agree.
#include <tests/mimo.hpp>

namespace detect_oracle_test {

using wb::detector_config;
using wb::no_clip;
using namespace wb::testing;

/// The same settings for several sizes.
void add(std::vector<detector_config>& settings, const std::string& type,
         const std::vector<std::array<int, 3>>& sizes) {
  for (const auto& [streams, rx, qam] : sizes) settings.push_back(setting(type, streams, rx, qam));
}

/// The oracle's answers are computed once for all backends. At most one use in a thousand may differ, by
/// decisions that fall otherwise in float32 than in double, and those must be numbers within the clip.
void expect_oracle(const std::vector<detector_config>& settings, std::size_t uses, bool decides,
                   double prior = 0) {
  std::vector<std::unique_ptr<wb::executor>> executors;
  for (const backend& b : all_backends())
    if (!is_missing(b)) executors.push_back(b.open());
  std::vector<std::size_t> different(executors.size());
  std::size_t total = 0;
  std::mt19937_64 random(1);
  for (const detector_config& c : settings) {
    const auto clip = static_cast<float>(*completed(c).llr_clip);
    const mimo_batch batch = draw_mimo(c, small_scale() ? uses / 20 + 1 : uses, {.prior = prior}, random);
    std::vector<double> expected;
    for (std::size_t i = 0; i < batch.uses(); i++) {
      const auto llrs = oracle_llrs(c, oracle_use(batch, i));
      expected.insert(expected.end(), llrs.begin(), llrs.end());
    }
    total += batch.uses();
    const auto detector = make_detector(c);
    for (std::size_t e = 0; e < executors.size(); e++) {
      const mimo_result got = detect(*executors[e], *detector, batch);
      const std::size_t off = count_different(batch, got.llr, expected);
      different[e] += off;
      EXPECT_LE(off, decides ? 1 + batch.uses() / 100 : 0)
          << text_of(c) << " on " << executors[e]->description();
      for (const float llr : got.llr) ASSERT_LE(std::fabs(llr), clip);  // not so for NaN
      EXPECT_EQ(wb::count_erased(got.status), 0U) << text_of(c);
    }
  }
  for (const std::size_t d : different) EXPECT_LE(d, decides ? 1 + total / 1000 : 0);
}

TEST(detect_oracle, ml) {
  std::vector<detector_config> settings;
  add(settings, ml,
      {{1, 1, 4},
       {1, 1, 16},
       {1, 2, 64},
       {1, 1, 256},
       {2, 2, 4},
       {2, 2, 16},
       {2, 4, 16},
       {2, 2, 64},
       {3, 3, 4},
       {3, 4, 16},
       {4, 4, 4}});
  expect_oracle(settings, 200, false);
  for (const float clip : {0.5f, 8.f}) {
    settings = {setting(ml, 2, 2, 16), setting(ml, 3, 3, 4)};
    for (detector_config& c : settings) c.llr_clip = clip;
    expect_oracle(settings, 200, false);
  }
  settings.clear();
  add(settings, ml, {{2, 2, 256}, {3, 3, 64}, {4, 4, 16}, {4, 6, 16}, {8, 8, 4}});
  expect_oracle(settings, 12, false);
}

TEST(detect_oracle, ml_with_priors) {
  std::vector<detector_config> settings;
  add(settings, ml, {{1, 1, 4}, {1, 1, 64}, {2, 2, 4}, {2, 3, 16}, {2, 2, 64}, {3, 3, 16}, {4, 4, 4}});
  expect_oracle(settings, 100, false, 3);
  settings.clear();
  add(settings, ml, {{2, 2, 256}, {4, 4, 16}});
  expect_oracle(settings, 8, false, 3);
}

TEST(detect_oracle, linear) {
  for (const std::string& type : {mf, zf, mmse}) {
    std::vector<detector_config> settings;
    for (const int qam : {4, 16, 64, 256})
      add(settings, type,
          {{1, 1, qam}, {2, 2, qam}, {3, 3, qam}, {2, 4, qam}, {4, 4, qam}, {5, 16, qam}, {8, 8, qam}});
    expect_oracle(settings, 200, false);
    settings.resize(8);
    for (detector_config& c : settings) c.llr_clip = 2.5f;
    expect_oracle(settings, 200, false);
  }
}

TEST(detect_oracle, pic) {
  std::vector<detector_config> settings;
  for (const int qam : {4, 16, 64, 256})
    add(settings, pic,
        {{1, 1, qam}, {2, 2, qam}, {3, 3, qam}, {2, 4, qam}, {4, 4, qam}, {5, 16, qam}, {8, 8, qam}});
  add(settings, pic, {{9, 9, 16}, {16, 16, 4}});
  for (const double prior : {0., 1., 4.}) {
    expect_oracle(settings, 60, false, prior);
    for (detector_config& c : settings) c = exact(c);
    expect_oracle(settings, 60, false, prior);
    for (detector_config& c : settings) c.set("demapper", "max-log");
  }
  settings.resize(5);
  for (detector_config& c : settings) c.llr_clip = 2.5f;
  expect_oracle(settings, 60, false, 3);
}

TEST(detect_oracle, ep) {
  std::vector<detector_config> settings;
  for (const int qam : {4, 16, 64})
    for (const int n : {1, 2, 3, 4, 8}) settings.push_back(ep_setting(n, n == 3 ? 5 : n, qam, n % 3 * 3 + 1));
  settings.push_back(ep_setting(2, 2, 256, 10));
  settings.push_back(ep_setting(9, 9, 16, 3));
  settings.push_back(ep_setting(12, 16, 4, 2, 0.5f));
  settings.push_back(ep_setting(16, 16, 4, 1));
  for (const double prior : {0., 3.}) {
    expect_oracle(settings, 60, true, prior);
    for (detector_config& c : settings) c = exact(c), ep_in(c).start_variance = 1;
    expect_oracle(settings, 60, true, prior);
    for (detector_config& c : settings) c.set("demapper", "max-log"), ep_in(c).start_variance = {};
  }
}

TEST(detect_oracle, trellis) {
  for (const std::string& type : {ot, mtt}) {
    std::vector<detector_config> settings;
    add(settings, type,
        {{1, 1, 4},
         {1, 1, 16},
         {1, 1, 256},
         {2, 2, 4},
         {2, 2, 16},
         {2, 4, 16},
         {3, 3, 4},
         {3, 3, 16},
         {4, 4, 4},
         {4, 4, 16},
         {8, 8, 4}});
    expect_oracle(settings, 200, true);
    expect_oracle(settings, 60, true, 3);
    settings.clear();
    add(settings, type, {{2, 2, 64}, {3, 4, 64}, {4, 4, 64}, {8, 8, 16}});
    expect_oracle(settings, 30, true);
    expect_oracle(settings, 10, true, 3);
    settings.clear();
    add(settings, type, {{2, 2, 256}, {3, 3, 256}});
    expect_oracle(settings, 3, true);
    expect_oracle(settings, 2, true, 3);
  }
}

TEST(detect_oracle, kbest) {
  const std::vector<detector_config> settings{
      kbest_setting(1, 1, 16, 3),  kbest_setting(1, 1, 256, 64), kbest_setting(2, 2, 4, 1),
      kbest_setting(2, 2, 4, 4),   kbest_setting(2, 2, 16, 16),  kbest_setting(2, 4, 16, 7),
      kbest_setting(2, 2, 64, 64), kbest_setting(3, 3, 4, 3),    kbest_setting(3, 3, 16, 16),
      kbest_setting(4, 4, 4, 4),   kbest_setting(4, 4, 4, 33),   kbest_setting(4, 4, 16, 4),
      kbest_setting(4, 4, 16, 16), kbest_setting(4, 5, 64, 8),   kbest_setting(8, 8, 4, 8)};
  expect_oracle(settings, 200, true);
  expect_oracle({kbest_setting(4, 4, 16, 64), kbest_setting(4, 4, 64, 64), kbest_setting(2, 2, 256, 256),
                 kbest_setting(3, 3, 64, 1000), kbest_setting(8, 8, 16, 20)},
                20, true);
  expect_oracle({settings[3], settings[4], settings[8], settings[9], settings[11]}, 200, true, 3);
}

TEST(detect_oracle, kbest_of_real_dimensions) {
  const std::vector<detector_config> settings{
      kbest_setting(1, 1, 16, 3, true),  kbest_setting(2, 2, 4, 2, true),  kbest_setting(2, 2, 16, 16, true),
      kbest_setting(2, 4, 64, 11, true), kbest_setting(3, 3, 16, 7, true), kbest_setting(4, 4, 4, 4, true),
      kbest_setting(4, 4, 16, 16, true), kbest_setting(4, 4, 64, 8, true), kbest_setting(2, 2, 256, 32, true),
      kbest_setting(8, 8, 16, 8, true)};
  expect_oracle(settings, 200, true);
  expect_oracle({settings[1], settings[2], settings[4], settings[6]}, 200, true, 3);
}

TEST(detect_oracle, nway) {
  std::vector<detector_config> settings{nway_setting(1, 1, 4, 1), nway_setting(1, 1, 256, 1)};
  for (const int qam : {4, 16, 64})
    for (int ways = 1; ways <= 4; ways++) {
      if (ways <= 2) settings.push_back(nway_setting(2, 2, qam, ways));
      if (ways <= 2) settings.push_back(nway_setting(2, 4, qam, ways));
      if (ways <= 3) settings.push_back(nway_setting(3, 3, qam, ways));
      settings.push_back(nway_setting(4, 4, qam, ways));
    }
  for (const int ways : {1, 5, 8}) settings.push_back(nway_setting(8, 8, 4, ways));
  expect_oracle(settings, 200, true);
  const std::vector<detector_config> large{nway_setting(2, 2, 256, 2), nway_setting(4, 4, 256, 3),
                                           nway_setting(8, 8, 16, 3), nway_setting(8, 9, 64, 8)};
  expect_oracle(large, 20, true);
  expect_oracle(settings, 50, true, 3);
  expect_oracle(large, 10, true, 3);
  settings = {nway_setting(2, 2, 16, 2), nway_setting(4, 4, 16, 4)};
  for (detector_config& c : settings) c.llr_clip = 3;
  expect_oracle(settings, 200, true);
}

TEST(detect_oracle, nway_with_a_spread) {
  const std::vector<detector_config> settings{nway_setting(1, 1, 16, 1, {3}),
                                              nway_setting(2, 2, 4, 1, {2, 3}),
                                              nway_setting(2, 2, 16, 2, {1, 5}),
                                              nway_setting(2, 4, 64, 1, {4, 64}),
                                              nway_setting(3, 3, 16, 2, {1, 2, 16}),
                                              nway_setting(3, 3, 64, 1, {1, 4, 8}),
                                              nway_setting(4, 4, 4, 4, {1, 2, 4, 4}),
                                              nway_setting(4, 4, 16, 1, {1, 2, 3, 16}),
                                              nway_setting(4, 5, 16, 1, {1, 1, 16, 16}),
                                              nway_setting(8, 8, 4, 1, {1, 1, 1, 1, 1, 2, 3, 4})};
  expect_oracle(settings, 100, true);
  expect_oracle(settings, 40, true, 3);
  expect_oracle({nway_setting(2, 2, 256, 1, {2, 17}), nway_setting(4, 4, 64, 2, {1, 1, 2, 64})}, 20, true);
}

TEST(detect_oracle, sphere) {
  // Without limits the oracle's is exhaustive search.
  std::vector<detector_config> settings;
  add(settings, sphere,
      {{1, 1, 4}, {1, 2, 256}, {2, 2, 4}, {2, 2, 16}, {2, 4, 64}, {3, 3, 4}, {3, 4, 16}, {4, 4, 4}});
  expect_oracle(settings, 200, false);
  expect_oracle(settings, 100, false, 3);
  for (const float clip : {0.5f, 8.f}) {
    for (detector_config& c : settings) c.llr_clip = clip;
    expect_oracle(settings, 100, false);
    expect_oracle(settings, 50, false, 3);
  }
  settings.clear();
  add(settings, sphere, {{2, 2, 256}, {3, 3, 64}, {4, 4, 16}, {4, 6, 16}, {8, 8, 4}});
  expect_oracle(settings, 12, false);
  expect_oracle({settings[0], settings[2]}, 8, false, 3);
}

/// Searches with limits.
std::vector<detector_config> limited_spheres() {
  return {sphere_setting(1, 1, 16, {.hard_output = true}),
          sphere_setting(2, 2, 16, {.hard_output = true}),
          sphere_setting(4, 4, 4, {.hard_output = true}),
          sphere_setting(4, 4, 16, {.hard_output = true}),
          sphere_setting(4, 4, 64, {.hard_output = true, .node_limit = 40}),
          sphere_setting(2, 2, 64, {.radius = 3}),
          sphere_setting(4, 4, 16, {.radius = 6}),
          sphere_setting(3, 5, 16, {.radius = 1, .node_limit = 15}),
          sphere_setting(3, 3, 4, {.node_limit = 1}),
          sphere_setting(4, 4, 16, {.node_limit = 25}),
          sphere_setting(4, 4, 64, {.node_limit = 100}),
          sphere_setting(8, 8, 4, {.node_limit = 60})};
}
TEST(detect_oracle, sphere_with_limits) {
  std::vector<detector_config> settings = limited_spheres();
  expect_oracle(settings, 200, true);
  expect_oracle(settings, 100, true, 3);
  for (detector_config& c : settings) c.llr_clip = 2;
  expect_oracle(settings, 100, true);
}

TEST(detect_oracle, in_another_order) {
  std::vector<detector_config> settings;
  const auto put = [&](detector_config c, std::vector<int> order) {
    search_in(c).order = std::move(order);
    settings.push_back(std::move(c));
  };
  for (const std::string& type : {ot, mtt}) {
    put(setting(type, 2, 2, 16), {1, 0});
    put(setting(type, 3, 4, 4), {1, 2, 0});
    put(setting(type, 4, 4, 16), {2, 0, 3, 1});
  }
  expect_oracle(settings, 100, true);
  expect_oracle(settings, 50, true, 3);
  settings.clear();
  put(kbest_setting(2, 2, 16, 3), {1, 0});
  put(kbest_setting(3, 3, 16, 7, true), {2, 0, 1});
  put(kbest_setting(4, 4, 16, 16), {1, 2, 3, 0});
  put(kbest_setting(5, 5, 4, 4), {3, 1, 4, 0, 2});
  put(nway_setting(2, 2, 64, 1), {1, 0});
  put(nway_setting(3, 3, 16, 2), {1, 2, 0});
  put(nway_setting(4, 4, 16, 1), {2, 0, 3, 1});
  put(nway_setting(4, 4, 16, 4), {3, 1, 0, 2});
  put(nway_setting(8, 8, 4, 3), {4, 1, 7, 0, 2, 6, 3, 5});
  put(sphere_setting(4, 4, 16, {.node_limit = 30}), {2, 0, 3, 1});
  expect_oracle(settings, 100, true);
  expect_oracle(settings, 50, true, 3);
}

TEST(detect_oracle, sorted_for_each_use) {
  std::vector<detector_config> settings;
  for (const detector_config& c :
       {setting(ot, 2, 2, 16), setting(mtt, 3, 4, 4), setting(ot, 4, 4, 16), kbest_setting(2, 2, 16, 3),
        kbest_setting(4, 4, 16, 16), kbest_setting(5, 5, 4, 4), kbest_setting(3, 3, 16, 7, true),
        nway_setting(2, 3, 16, 1), nway_setting(4, 4, 16, 1), nway_setting(8, 8, 4, 3),
        nway_setting(4, 4, 16, 1, {1, 3, 16, 16}), nway_setting(5, 5, 4, 2, {1, 2, 4, 1, 3}),
        sphere_setting(4, 4, 16, {.node_limit = 30}), sphere_setting(3, 4, 4, {.hard_output = true})})
    for (const wb::stream_sort sort : sorts_of(c)) settings.push_back(sorted(c, sort));
  expect_oracle(settings, 60, true);
  expect_oracle(settings, 30, true, 3);
}

class detect_exact_on : public on_backend {
 protected:
  /// The widest instruction set and CUDA do all, the slow ones a part: their bits are the same.
  std::size_t scaled(std::size_t uses) const {
    if (small_scale()) return uses / 500 + 5;
    const bool slow = GetParam().name == "scalar" || GetParam().name == "base";
    return slow                                                    ? uses / 100 + 5
           : GetParam().name == all_backends()[available - 1].name ? uses
                                                                   : uses / 10 + 5;
  }
  const std::size_t available = wb::available_isas().size();
};
WB_ON_ALL_BACKENDS(detect_exact_on);

constexpr double noise_levels[]{3, 0.3, 0.03, 0.003};

TEST_P(detect_exact_on, two_streams_in_mtt_with_priors_are_maximum_likelihood) {
  std::mt19937_64 random(7);
  for (const int qam : {4, 16, 64, 256})
    for (const double n0 : noise_levels)
      for (const double prior : {1., 8.}) {
        const mimo_batch batch =
            draw_mimo(setting(ml, 2, 2, qam), scaled(qam == 256 ? 200 : 8000), {n0, 2 * n0, prior}, random);
        for (const bool extrinsic : {false, true}) {
          detector_config exhaustive = setting(ml, 2, 2, qam), trellis = setting(mtt, 2, 2, qam);
          exhaustive.extrinsic = trellis.extrinsic = extrinsic;
          EXPECT_EQ(count_different(batch, detect(exec(), trellis, batch).llr,
                                    detect(exec(), exhaustive, batch).llr),
                    0U)
              << qam << "-QAM, N0 " << n0 << ", prior " << prior;
        }
      }
}

TEST_P(detect_exact_on, one_stream_of_soft_symbols_is_maximum_likelihood) {
  // There is no other stream that could be approximated.
  std::mt19937_64 random(10);
  for (const int qam : {4, 16, 64, 256})
    for (const int rx : {1, 3})
      for (const double prior : {0., 3.}) {
        const mimo_batch batch = draw_mimo(setting(ml, 1, rx, qam), scaled(2000), {.prior = prior}, random);
        const mimo_result expected = detect(exec(), setting(ml, 1, rx, qam), batch);
        for (const detector_config& c : {setting(pic, 1, rx, qam), ep_setting(1, rx, qam, 3)})
          EXPECT_EQ(count_different(batch, detect(exec(), c, batch).llr, expected.llr), 0U)
              << text_of(c) << ", priors of " << prior;
      }
}

TEST_P(detect_exact_on, pic_without_priors_is_linear_mmse) {
  std::mt19937_64 random(8);
  for (const int qam : {4, 16, 64, 256})
    for (const int n : {1, 2, 3, 4, 8})
      for (const double n0 : {3., 0.03, 1e-6}) {
        const detector_config c = setting(pic, n, n, qam);
        const mimo_batch batch = draw_mimo(c, scaled(2000), {n0, 2 * n0}, random);
        EXPECT_EQ(count_different(batch, detect(exec(), c, batch).llr,
                                  detect(exec(), setting(mmse, n, n, qam), batch).llr),
                  0U)
            << text_of(c) << ", N0 " << n0;
      }
}

TEST_P(detect_exact_on, pic_that_knows_the_other_streams_is_their_absence) {
  // Priors beyond doubt for all streams but the first: what is left of y is that of one stream.
  std::mt19937_64 random(9);
  for (const int qam : {4, 64}) {
    const detector_config c = setting(pic, 4, 4, qam), alone = setting(mmse, 1, 4, qam);
    mimo_batch batch = draw_mimo(c, scaled(2000), {0.01, 1, 1}, random);
    const auto points = oracle::constellation(qam);
    mimo_batch one{1, 4, qam, 1, batch.y, {}, batch.n0, {}, {}};
    const std::size_t m = batch.bits() / 4;
    for (std::size_t e = 0; e < batch.prior.size(); e++)
      batch.prior[e] = e % batch.bits() < m ? 0.f : batch.sent[e] != 0 ? -500.f : 500.f;
    for (std::size_t i = 0; i < batch.uses(); i++)
      for (std::size_t r = 0; r < 4; r++) {
        one.h.push_back(batch.h[i * 16 + r * 4]);
        for (std::size_t k = 1; k < 4; k++) {
          std::size_t symbol = 0;
          for (std::size_t b = 0; b < m; b++) symbol = 2 * symbol + batch.sent[i * batch.bits() + k * m + b];
          one.y[i * 4 + r] -= batch.h[i * 16 + r * 4 + k] * std::complex<float>(points[symbol]);
        }
      }
    const mimo_result result = detect(exec(), c, batch), expected = detect(exec(), alone, one);
    std::size_t different = 0;
    for (std::size_t i = 0; i < batch.uses(); i++)
      for (std::size_t b = 0; b < m; b++)
        different +=
            std::fabs(result.llr[i * batch.bits() + b] - expected.llr[i * m + b]) > llr_tolerance(batch, i);
    EXPECT_EQ(different, 0U) << qam;
  }
}

TEST_P(detect_exact_on, two_streams_in_two_lists_are_maximum_likelihood) {
  std::mt19937_64 random(2);
  for (const int qam : {4, 16, 64, 256})
    for (const double n0 : noise_levels) {
      const detector_config exact = setting(ml, 2, 2, qam);
      const mimo_batch batch = draw_mimo(exact, scaled(qam == 256 ? 1000 : 100000) / 4, {n0, 2 * n0}, random);
      const mimo_result expected = detect(exec(), exact, batch);
      for (const detector_config& c : {setting(mtt, 2, 2, qam), nway_setting(2, 2, qam, 2)})
        EXPECT_EQ(count_different(batch, detect(exec(), c, batch).llr, expected.llr), 0U)
            << text_of(c) << ", N0 " << n0;
    }
}

TEST_P(detect_exact_on, two_streams_in_two_ways_with_priors_are_maximum_likelihood) {
  std::mt19937_64 random(3);
  for (const int qam : {4, 16, 64})
    for (const double n0 : noise_levels) {
      const detector_config exact = setting(ml, 2, 3, qam);
      const mimo_batch batch = draw_mimo(exact, scaled(2000), {n0, 2 * n0, 4}, random);
      EXPECT_EQ(count_different(batch, detect(exec(), nway_setting(2, 3, qam, 2), batch).llr,
                                detect(exec(), exact, batch).llr),
                0U)
          << qam << "-QAM, N0 " << n0;
    }
}

TEST_P(detect_exact_on, all_survivors_are_maximum_likelihood) {
  std::mt19937_64 random(4);
  for (const auto& [streams, qam, survivors] :
       {std::array{1, 16, 16}, {2, 4, 16}, {2, 16, 256}, {2, 64, 4096}, {4, 4, 256}, {3, 16, 4096}})
    for (const double prior : {0., 3.})
      for (const bool real_valued : {false, true}) {
        detector_config exact = setting(ml, streams, streams, qam),
                        unpruned = kbest_setting(streams, streams, qam, survivors, real_valued);
        exact.llr_clip = unpruned.llr_clip = real_valued ? 8.f : 1e6f;
        const mimo_batch batch =
            draw_mimo(exact, scaled(survivors > 256 ? 100 : 2000), {.prior = prior}, random);
        EXPECT_EQ(
            count_different(batch, detect(exec(), unpruned, batch).llr, detect(exec(), exact, batch).llr), 0U)
            << text_of(unpruned) << ", priors of " << prior;
      }
}

TEST_P(detect_exact_on, a_spread_of_all_points_is_maximum_likelihood) {
  std::mt19937_64 random(14);
  for (const auto& [streams, qam] : {std::array{1, 16}, {2, 4}, {2, 64}, {3, 16}, {4, 4}})
    for (const double prior : {0., 3.})
      for (const int ways : {1, streams}) {
        const detector_config exact = setting(ml, streams, streams, qam);
        detector_config whole = nway_setting(streams, streams, qam, ways,
                                             std::vector<int>(static_cast<std::size_t>(streams), qam));
        if (ways == 1) whole.edit<wb::nway_settings>().search.sort = wb::stream_sort::fsd;
        EXPECT_EQ(*completed(whole).llr_clip, wb::no_clip);
        const mimo_batch batch =
            draw_mimo(exact, scaled(streams * qam > 16 ? 100 : 2000), {.prior = prior}, random);
        EXPECT_EQ(count_different(batch, detect(exec(), whole, batch).llr, detect(exec(), exact, batch).llr),
                  0U)
            << text_of(whole) << ", priors of " << prior;
      }
}

TEST_P(detect_exact_on, the_usual_spread_changes_nothing) {
  std::mt19937_64 random(15);
  for (const int ways : {1, 4}) {
    const detector_config usual = nway_setting(4, 4, 16, ways),
                          given = nway_setting(4, 4, 16, ways, {1, 1, 1, 16});
    const mimo_batch batch = draw_mimo(usual, 50, {}, random);
    EXPECT_EQ(completed(given), completed(usual));
    EXPECT_TRUE(same_bits(detect(exec(), given, batch), detect(exec(), usual, batch)));
  }
}

TEST_P(detect_exact_on, a_sphere_without_limits_is_maximum_likelihood) {
  std::mt19937_64 random(11);
  using enum wb::stream_sort;
  for (const auto& [streams, qam] : {std::array{1, 64}, {2, 4}, {2, 16}, {2, 256}, {3, 16}, {4, 4}, {4, 16}})
    for (const double n0 : noise_levels)
      for (const double prior : {0., 3.}) {
        detector_config exact = setting(ml, streams, streams, qam),
                        tree = setting(sphere, streams, streams, qam);
        const bool large = streams * qam >= 48;
        const mimo_batch batch = draw_mimo(exact, scaled(large ? 500 : 4000), {n0, 2 * n0, prior}, random);
        const mimo_result expected = detect(exec(), exact, batch);
        detector_config hard = sphere_setting(streams, streams, qam, {.hard_output = true});
        const mimo_result decided = detect(exec(), hard, batch);
        for (std::size_t e = 0; e < expected.llr.size(); e++) {
          ASSERT_EQ(std::fabs(decided.llr[e]), 8.f);
          const bool tie = std::fabs(expected.llr[e]) <= llr_tolerance(batch, e / batch.bits());
          ASSERT_TRUE(tie || decided.bits[e] == expected.bits[e]) << text_of(hard) << ", N0 " << n0;
        }
        for (const wb::stream_sort sort : {none, sqrd})
          for (const float clip : {wb::no_clip, 8.f}) {
            exact.llr_clip = tree.llr_clip = clip;
            std::vector<float> limited = expected.llr;
            for (float& l : limited) l = std::clamp(l, -clip, clip);
            EXPECT_EQ(count_different(batch, detect(exec(), sorted(tree, sort), batch).llr, limited), 0U)
                << text_of(sorted(tree, sort)) << ", N0 " << n0 << ", priors of " << prior;
          }
      }
}

TEST_P(detect_exact_on, a_radius_keeps_the_decisions_of_a_sphere_and_what_is_inside) {
  std::mt19937_64 random(12);
  const detector_config tree = setting(sphere, 4, 4, 4);
  const mimo_batch batch = draw_mimo(tree, scaled(2000), {0.1, 1}, random);
  const mimo_result expected = detect(exec(), tree, batch);
  std::size_t missing = 0;
  for (const float radius : {0.001f, 2.f, 8.f}) {
    detector_config c = sphere_setting(4, 4, 4, {.radius = radius});
    c.llr_clip = 1e6f;
    const mimo_result got = detect(exec(), c, batch);
    EXPECT_EQ(got.bits, expected.bits) << radius;
    for (std::size_t e = 0; e < got.llr.size(); e++) {
      missing += std::fabs(got.llr[e]) == 1e6f;
      // What is inside is found. Nothing outside counts, unless nothing at all was inside.
      const double off = std::fabs(got.llr[e] - expected.llr[e]);
      ASSERT_TRUE(std::fabs(got.llr[e]) == 1e6f || off <= llr_tolerance(batch, e / batch.bits())) << radius;
    }
  }
  EXPECT_GT(missing, 0U);
}

TEST_P(detect_exact_on, a_sphere_visits_no_more_nodes_than_its_limit) {
  std::mt19937_64 random(13);
  for (const bool is_hard : {false, true})
    for (const auto& [streams, qam] : {std::array{2, 64}, {4, 16}, {5, 4}}) {
      const mimo_batch batch =
          draw_mimo(setting(sphere, streams, streams, qam), scaled(500), {0.03, 0.3}, random);
      const auto with = [&](std::optional<int> limit) {
        detector_config c =
            sphere_setting(streams, streams, qam, {.hard_output = is_hard, .node_limit = limit});
        c.llr_clip = 8;
        return detect(exec(), c, batch);
      };
      const mimo_result whole = with({});
      EXPECT_TRUE(same_bits(with(1 << 24), whole));
      const int longest = *std::max_element(whole.visited.begin(), whole.visited.end());
      EXPECT_TRUE(same_bits(with(longest), whole));
      EXPECT_GE(*std::min_element(whole.visited.begin(), whole.visited.end()), streams);
      std::vector<std::int32_t> before(batch.uses(), streams);
      for (const int limit : {1, 3, 9, 20, 60, 200}) {
        const mimo_result got = with(limit);
        for (std::size_t i = 0; i < batch.uses(); i++) {
          ASSERT_EQ(got.visited[i], std::min(std::max(limit, streams), whole.visited[i])) << limit;
          ASSERT_GE(got.visited[i], before[i]);
        }
        before = got.visited;
      }
    }
}

TEST_P(detect_exact_on, a_sphere_visits_the_nodes_of_a_single_tree_search) {
  std::mt19937_64 random(14);
  for (detector_config c :
       {setting(sphere, 2, 2, 16), setting(sphere, 4, 4, 4), setting(sphere, 3, 3, 64),
        sphere_setting(4, 4, 16, {.hard_output = true}), sphere_setting(4, 4, 16, {.radius = 6}),
        sphere_setting(4, 4, 16, {.node_limit = 50})})
    for (const double prior : {0., 3.}) {
      c.llr_clip = 6;
      const mimo_batch batch = draw_mimo(c, 40, {.prior = prior}, random);
      const mimo_result got = detect(exec(), c, batch);
      std::size_t different = 0;
      for (std::size_t i = 0; i < batch.uses(); i++)
        different +=
            got.visited[i] != oracle::detect_sphere(oracle_use(batch, i), oracle_sphere(c), 6).visited;
      EXPECT_LE(different, 1U) << text_of(c) << ", priors of " << prior;
    }
}

TEST_P(detect_exact_on, one_way_is_selective_spanning) {
  std::mt19937_64 random(5);
  std::size_t different = 0, total = 0;
  for (const int qam : {4, 16, 64, 256})
    for (const int streams : {1, 2, 3, 4, 6, 8}) {
      const detector_config c = nway_setting(streams, streams + (qam == 16), qam, 1);
      const mimo_batch batch = draw_mimo(c, small_scale() ? 5 : 40, {}, random);
      std::vector<double> expected;
      for (std::size_t i = 0; i < batch.uses(); i++) {
        const auto llrs = oracle::detect_ssfe(oracle_use(batch, i), 0, *completed(c).llr_clip);
        expected.insert(expected.end(), llrs.begin(), llrs.end());
      }
      different += count_different(batch, detect(exec(), c, batch).llr, expected);
      total += batch.uses();
    }
  EXPECT_LE(different, 1 + total / 1000);
}

TEST_P(detect_exact_on, of_two_streams_the_one_on_top_is_maximum_likelihood_in_one_way) {
  std::mt19937_64 random(6);
  const detector_config c = nway_setting(2, 2, 16, 1);
  detector_config exact = setting(ml, 2, 2, 16);
  exact.llr_clip = 8;
  const mimo_batch batch = draw_mimo(c, scaled(2000), {}, random);
  const mimo_result got = detect(exec(), c, batch), expected = detect(exec(), exact, batch);
  for (std::size_t i = 0; i < batch.uses(); i++)
    for (std::size_t e = i * 8; e < i * 8 + 4; e++)
      ASSERT_LE(std::fabs(got.llr[e] - expected.llr[e]), llr_tolerance(batch, i));
}

}  // namespace detect_oracle_test
