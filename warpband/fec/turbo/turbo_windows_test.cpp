// The turbo decoders with windows side by side, int16 and bfloat16: what holds for all of them on every
// backend, and bfloat16 against the double-precision oracle and float32.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include <tests/turbo.hpp>

namespace wb {
namespace turbo_windows_test {

using namespace testing;

class turbo_windows : public on_backend {};
WB_ON_ALL_BACKENDS(turbo_windows);

constexpr windows_kind kinds[] = {int16_kind, bfloat_max_log, bfloat_log_map};
constexpr windows_kind bfloats[] = {bfloat_max_log, bfloat_log_map};

// ---------------------------------------------------------------- all kinds

TEST_P(turbo_windows, every_block_size_comes_back_without_noise) {
  const bool slow = small_scale() || GetParam().name == "scalar";
  for (std::size_t i = 0; i < qpp_table().size(); i += slow ? 17 : GetParam().name == "base" ? 5 : 1) {
    const int k = qpp_table()[i].k;
    const codewords c = make_codewords(k, 1, 9., i);
    for (const auto& kind : kinds)
      EXPECT_EQ(decide(exec(), turbo_decoder(setting(kind, k, {}, {}, 1)), c.llr).bits, c.sent[0])
          << kind.name << ' ' << k;
  }
}

/// The last segment of a window is short where it has no multiple of 8 steps.
TEST_P(turbo_windows, take_windows_of_any_length) {
  const struct {
    int k, windows, overlap;
  } cases[] = {{40, 4, 8},   {40, 4, 0},   {104, 8, 8},    {104, 4, 24},  {104, 2, 48},   {1008, 16, 56},
               {1008, 8, 0}, {1008, 8, 8}, {1008, 8, 120}, {6080, 64, 8}, {6080, 64, 88}, {6080, 32, 184}};
  for (const auto& c : cases) {
    if (small_scale() && c.k == 6080 && c.overlap != 88) continue;
    const codewords sent = make_codewords(c.k, c.k == 6080 ? 2 : 5, 4., 31);
    const codewords worse = make_codewords(c.k, c.k == 6080 ? 1 : 3, 0., 32);
    for (const auto& kind : kinds) {
      const turbo_decoder d(setting(kind, c.k, c.windows, c.overlap, 2));
      const std::string label = kind.name + (" " + std::to_string(c.k)) + " in " + std::to_string(c.windows) +
                                ", " + std::to_string(c.overlap);
      bits_t want;
      for (const bits_t& u : sent.sent) want.insert(want.end(), u.begin(), u.end());
      EXPECT_EQ(decide(exec(), d, sent.llr).bits, want) << label;
      EXPECT_EQ(decide(exec(), d, worse.llr), decide(*open_reference(), d, worse.llr)) << label;
    }
  }
}

TEST_P(turbo_windows, take_floats_as_steps) {
  for (const int k : {40, 512, 6080}) {
    const int count = k == 6080 ? 2 : 9;
    const steps_t steps = steps_of(make_codewords(k, count, 0.5, 5).llr, 4.f);
    for (const auto& kind : kinds) {
      auto config = setting(kind, k, {}, {}, 2);
      config.llr_steps = 4.f;
      const turbo_decoder d(config);
      const decisions want = decide(exec(), d, steps);
      for (const layout order : {layout::row_major, layout::batch_fastest})
        EXPECT_EQ(decide(exec(), d, floats_of(steps, 4.f), order), want) << kind.name << ' ' << k;
    }
  }
}

/// Permutation of k bits whose windows of W steps go to windows place(w), each step to itself.
std::vector<std::int32_t> windows_to(int k, int W, int (*place)(int)) {
  std::vector<std::int32_t> pi(static_cast<std::size_t>(k));
  for (int i = 0; i < k; i++) pi[static_cast<std::size_t>(i)] = place(i / W) * W + i % W;
  return pi;
}

/// What is refused does not depend on how many lanes a backend has, so what is taken runs on all.
TEST_P(turbo_windows, take_own_interleavers_without_contention) {
  const int k = 1024;
  std::vector<std::int32_t> any(k), linear(k);
  std::iota(any.begin(), any.end(), 0);
  std::shuffle(any.begin(), any.end(), std::mt19937_64(1));
  for (int i = 0; i < k; i++) linear[static_cast<std::size_t>(i)] = (5 * i + 7) % k;
  const auto swapped = windows_to(k, 128, [](int w) { return w ^ 1; });
  // Free of contention in rows, but windows 0 and 4 go to vectors 1 and 0 where two or four lanes are one.
  const auto first_two = windows_to(k, 128, [](int w) { return w < 2 ? 1 - w : w; });
  std::mt19937_64 rng(4);
  for (const auto& kind : kinds) {
    const auto decoder = [&](std::optional<int> windows, const std::vector<std::int32_t>& pi) {
      return turbo_decoder(setting(kind, k, windows, {}, 2), pi);
    };
    EXPECT_EQ(blamed([&] { decoder(8, any); }), "permutation") << kind.name;
    EXPECT_EQ(blamed([&] { decoder(2, any); }), "permutation") << kind.name;
    EXPECT_EQ(blamed([&] { decoder(8, first_two); }), "permutation") << kind.name;
    EXPECT_EQ(decoder({}, any).config().windows, 1) << kind.name;
    EXPECT_EQ(decoder({}, linear).config().windows, 16) << kind.name;
    const std::pair<std::optional<int>, const std::vector<std::int32_t>*> taken[] = {
        {{}, &any}, {1, &any}, {8, &linear}, {64, &linear}, {8, &swapped}, {4, &swapped}, {1, &first_two}};
    for (const auto& [windows, pi] : taken) {
      const bits_t u = random_bits_of(k, rng);
      const auto llr = noisy(encoded(u, std::vector<int>(pi->begin(), pi->end())), 5., 1. / 3, rng);
      EXPECT_EQ(decide(exec(), decoder(windows, *pi), llr).bits, u)
          << kind.name << ' ' << windows.value_or(0);
    }
  }
}

TEST_P(turbo_windows, stop_where_the_crc_holds) {
  const auto crc = crc24b;
  for (const int k : {120, 1024, 6144}) {
    const int count = k == 6144 ? 2 : 13;
    const codewords c = make_codewords(k, count, k == 6144 ? 0.7 : 0.9, 3, &crc);
    const std::size_t K = static_cast<std::size_t>(k), n = 3 * (K + 4);
    for (const auto& kind : kinds) {
      auto config = setting(kind, k, {}, {}, 6);
      config.early_stop = turbo_early_stop::crc;
      config.crc_polynomial = crc.polynomial;
      config.crc_degree = crc.degree;
      const turbo_decoder d(config);
      const decisions o = decide(exec(), d, c.llr);
      EXPECT_EQ(o, decide(*open_reference(), d, c.llr)) << kind.name << ' ' << k;
      int early = 0;
      for (std::size_t i = 0; i < o.status.size(); i++) {
        const bits_t got = row_of(o.bits, i, K);
        EXPECT_EQ(o.status[i], crc_holds(got, crc) ? status_stopped : 0) << kind.name << ' ' << k << ' ' << i;
        if (o.status[i] == status_stopped)
          EXPECT_EQ(got, c.sent[i]) << kind.name << ' ' << k << ' ' << i;
        else
          EXPECT_EQ(o.iterations[i], 6);
        early += o.iterations[i] < 6;
        if (i > 1 || kind.algorithm != map_algorithm::log_map) continue;
        // Without scaling the last iteration is like any other: so many without the CRC give the same.
        const auto full = setting(kind, k, {}, {}, o.iterations[i]);
        EXPECT_EQ(decide(exec(), turbo_decoder(full), row_of(c.llr, i, n)).bits, got) << k << ' ' << i;
      }
      EXPECT_GT(early, count / 2) << kind.name << ' ' << k;
    }
  }
}

TEST(turbo_windows_settings, are_checked) {
  for (const auto& kind : kinds) {
    SCOPED_TRACE(kind.name);
    const bool int16 = kind.precision == turbo_precision::int16;
    const bool log_map = kind.algorithm == map_algorithm::log_map;
    const auto with = [&](auto change) {
      auto c = setting(kind, 6144);
      change(c);
      return blamed([&] { completed(c); }, [&] { turbo_decoder{c}; });
    };
    EXPECT_EQ(with([](auto&) {}), "");
    EXPECT_EQ(with([](auto& c) { c.algorithm = map_algorithm::log_map, c.extrinsic_scale = 1; }),
              int16 ? "algorithm" : "");
    EXPECT_EQ(with([](auto& c) { c.early_stop = turbo_early_stop::sign_agreement; }), "early_stop");
    EXPECT_EQ(with([](auto& c) { c.extrinsic_scale = 0.7f; }), int16 || log_map ? "extrinsic_scale" : "");
    EXPECT_EQ(with([](auto& c) { c.llr_steps = 0; }), "llr_steps");
    EXPECT_EQ(with([](auto& c) { c.llr_steps = 65; }), "llr_steps");
    EXPECT_EQ(with([](auto& c) { c.windows = 96; }), "windows");
    EXPECT_EQ(with([](auto& c) { c.windows = 256; }), "windows");
    EXPECT_EQ(with([](auto& c) { c.overlap = 12; }), "overlap");
    EXPECT_EQ(with([](auto& c) { c.overlap = 96; }), "overlap");
    EXPECT_EQ(with([](auto& c) { c.windows = 64, c.overlap = 88; }), "");
    EXPECT_EQ(with([](auto& c) { c.k = 40000; }), "k");
    EXPECT_EQ(turbo_decoder(setting(kind, 6144)).config().windows, 64);
    EXPECT_EQ(turbo_decoder(setting(kind, 6144)).config().overlap, 8);
    EXPECT_EQ(turbo_decoder(setting(kind, 40)).config().windows, 1);
    EXPECT_EQ(turbo_decoder(setting(kind, 40)).config().overlap, 0);
    cpu exec({.threads = 1});
    auto llr8 = exec.make<std::int8_t>(1, 3 * 44);
    auto bits = exec.make<std::uint8_t>(1, 40);
    auto soft = exec.make<float>(1, 40);
    const turbo_decoder d(setting(kind, 40));
    EXPECT_EQ(blamed([&] { d.run(exec, llr8, {.bits = bits, .soft = soft}); }), "soft");
    EXPECT_EQ(blamed([&] { d.run(exec, llr8, {.bits = bits, .extrinsic = soft}); }), "extrinsic");
    auto floats = setting(kind, 40);
    floats.precision = turbo_precision::float32;
    EXPECT_EQ(blamed([&] { turbo_decoder(floats).run(exec, llr8, {.bits = bits}); }), "llr");
  }
}

// ---------------------------------------------------------------- bfloat16

/// The largest LLRs, among them what no codeword is: nothing becomes infinite or NaN on the way.
TEST_P(turbo_windows, extremes_stay_finite_in_bfloat16) {
  const struct {
    int k, windows, overlap;
  } cases[] = {{40, 1, 0}, {40, 4, 8}, {1024, 16, 8}, {6144, 64, 8}};
  for (const auto& c : cases) {
    if (small_scale() && c.k > 1024) continue;
    const std::size_t K = static_cast<std::size_t>(c.k), n = 3 * (K + 4);
    std::mt19937_64 rng(3);
    const auto pi = interleaver(c.k);
    const bits_t u = random_bits_of(c.k, rng), coded = encoded(u, pi);
    std::vector<float> llr;
    const auto add = [&](auto value) {
      for (std::size_t i = 0; i < n; i++) llr.push_back(value(i));
    };
    // Codewords: all zeros; a random one, whole, without its first and without its second parity stream.
    add([](std::size_t) { return 1e9f; });
    for (const std::size_t without : {3u, 1u, 2u})
      add([&](std::size_t i) {
        return i / (K + 4) == without && i % (K + 4) < K ? 0.f : coded[i] ? -1e9f : 1e9f;
      });
    const std::size_t right = 4;
    // No codewords: all ones, alternating, random signs, and two codewords in turns, at whose seams the
    // states that either side knows exclude each other.
    add([](std::size_t) { return -1e9f; });
    add([](std::size_t i) { return i % 2 ? -1e9f : 1e9f; });
    add([&](std::size_t) { return rng() >> 63 ? -1e9f : 1e9f; });
    const bits_t other = encoded(random_bits_of(c.k, rng), pi);
    for (const std::size_t turn : {5u, 20u})
      add([&](std::size_t i) { return (i % (K + 4) / turn % 2 ? other : coded)[i] ? -1e9f : 1e9f; });
    for (const auto& kind : bfloats) {
      auto config = setting(kind, c.k, c.windows, c.overlap, 6);
      config.extrinsic_scale = 1;
      const turbo_decoder d(config);
      const decisions o = decide(exec(), d, llr);
      EXPECT_EQ(o, decide(*open_reference(), d, llr)) << kind.name << ' ' << c.k;
      EXPECT_EQ(o.status, bits_t(o.status.size(), 0));
      for (std::size_t i = 0; i < o.status.size(); i++) {
        const bits_t got = row_of(o.bits, i, K);
        const auto ones = std::count(got.begin(), got.end(), 1);
        if (i < right) {
          EXPECT_EQ(got, i == 0 ? bits_t(K) : u) << kind.name << ' ' << c.k << ' ' << i;
        } else {  // a NaN decides for 0 wherever it comes
          EXPECT_GT(ones, c.k / 4) << kind.name << ' ' << c.k << ' ' << i;
          if (i > right) {
            EXPECT_LT(ones, c.k - c.k / 4) << kind.name << ' ' << c.k << ' ' << i;
          }
        }
      }
    }
  }
}

/// Rounding takes up to 2^-9 of a weight, with the decision in its lowest bit up to 2^-7. In log-MAP a weight
/// is e^-L: that is 0.01 of an LLR whatever its size. In max-log-MAP it is -L: 0.05 of an LLR of 6; metrics
/// at segments are cut by up to 2^-8 of some 15, 0.06; and where nothing converges a maximum that changes
/// hands makes it more with every iteration. Only LLRs nearer to 0 than that may change sign; at an SNR where
/// a sixth of the bits is wrong their density there is 0.15.
TEST_P(turbo_windows, bfloat16_decides_as_the_oracle) {
  const struct {
    int k, iterations;
  } cases[] = {{40, 1}, {512, 1}, {512, 3}, {1024, 2}};
  for (const auto& c : cases)
    for (const auto& kind : bfloats) {
      const bool log_map = kind.algorithm == map_algorithm::log_map;
      const std::size_t K = static_cast<std::size_t>(c.k), n = 3 * (K + 4);
      const codewords sent = make_codewords(c.k, c.k == 40 ? 40 : 4, -0.5, 17);
      const turbo_decoder d(setting(kind, c.k, 1, 0, c.iterations));
      const decisions o = decide(exec(), d, sent.llr);
      std::size_t bits = 0, wrong = 0, differ = 0;
      double largest = 0;
      for (std::size_t i = 0; i < sent.sent.size(); i++) {
        const auto llr = row_of(sent.llr, i, n);
        const auto want = oracle::turbo_decode(
            std::vector<double>(llr.begin(), llr.end()), interleaver(c.k),
            {.algorithm = log_map ? oracle::algorithm::log_map : oracle::algorithm::max_log,
             .scale = log_map ? 1 : 0.75,
             .iterations = c.iterations});
        for (std::size_t j = 0; j < K; j++) {
          bits++;
          wrong += want.bits[j] != sent.sent[i][j];
          if (o.bits[i * K + j] == want.bits[j]) continue;
          differ++;
          largest = std::max(largest, std::abs(want.a_posteriori[j]));
        }
      }
      const std::string label = kind.name + (" " + std::to_string(c.k)) + ", " + std::to_string(c.iterations);
      const double off = log_map ? 0.02 : c.iterations == 1 ? 0.1 : 1, share = 0.15 * std::min(2 * off, 0.2);
      EXPECT_GT(wrong, bits / 8) << label;
      EXPECT_LE(static_cast<double>(differ), share * static_cast<double>(bits)) << label;
      EXPECT_LT(largest, off) << label;
    }
}

/// LLRs of any scale: no more frame errors than the double-precision log-MAP of the same LLRs has.
TEST_P(turbo_windows, the_scale_of_llrs_costs_no_frames_in_bfloat16) {
  const int k = 256, iterations = 4;
  static const auto words = make_codewords(k, 40, 1.0, 61);
  static const std::vector<int> expected = [] {
    std::vector<int> errors;
    for (const float s : llr_scales)
      errors.push_back(frame_errors(oracle_bits(scaled(words.llr, s), k, iterations), words.sent));
    return errors;
  }();
  for (const int windows : {1, 4})
    for (std::size_t i = 0; i < std::size(llr_scales); i++) {
      const turbo_decoder d(setting(bfloat_log_map, k, windows, windows == 1 ? 0 : 24, iterations));
      const auto llr = scaled(words.llr, llr_scales[i]);
      EXPECT_LE(frame_errors(decide(exec(), d, llr).bits, words.sent), expected[i] + 3)
          << "scale " << llr_scales[i] << ", windows " << windows;
      // The same in 8 bits, of which these leave the ratios of most.
      auto config = d.config();
      const float steps = 8 / llr_scales[i];
      if (steps < 0.25f || steps > 64) continue;
      config.llr_steps = steps;
      EXPECT_LE(frame_errors(decide(exec(), turbo_decoder(config), steps_of(llr, steps)).bits, words.sent),
                expected[i] + 3)
          << "in steps, scale " << llr_scales[i] << ", windows " << windows;
    }
}

/// Neighbours of well-scaled and of large LLRs, which are decoded apart, also where they share a vector.
TEST_P(turbo_windows, scales_may_be_mixed_in_a_batch) {
  const auto reference = open_reference();
  for (const int windows : {1, 4, 16}) {
    const int k = 512, count = 19;
    const std::size_t K = 512, n = 3 * (K + 4);
    const auto words = make_codewords(k, count, 1.0, 63, &crc24b);
    std::vector<float> llr = words.llr;
    for (std::size_t i = 0; i < llr.size(); i++)
      if (i / n % 3 == 1) llr[i] *= 20;
    auto config = setting(bfloat_log_map, k, windows, 0, 4);
    for (const auto stop : {turbo_early_stop::none, turbo_early_stop::crc}) {
      config.early_stop = stop;
      config.crc_polynomial = crc24b.polynomial;
      config.crc_degree = crc24b.degree;
      const turbo_decoder d(config);
      const decisions got = decide(exec(), d, llr);
      for (std::size_t i = 0; i < words.sent.size(); i++) {
        const decisions want = decide(*reference, d, row_of(llr, i, n));
        ASSERT_EQ(row_of(got.bits, i, K), want.bits) << windows << ' ' << i;
        ASSERT_EQ(got.status[i], want.status[0]) << windows << ' ' << i;
        ASSERT_EQ(got.iterations[i], want.iterations[0]) << windows << ' ' << i;
      }
    }
  }
}

/// Of the same codewords, at an SNR where a fourth is wrong. On one backend: all give the same bits.
TEST(turbo_bfloat16, loses_few_frames_to_float32) {
  cpu exec({.threads = 1});
  const int k = 512;
  const std::size_t K = 512, count = small_scale() ? 64 : 384;
  const codewords sent = make_codewords(k, static_cast<int>(count), 0.5, 41);
  for (const auto& kind : bfloats) {
    const auto wrong = [&](turbo_precision precision, std::optional<int> windows) {
      auto config = setting(kind, k, windows, {}, 6);
      config.precision = precision;
      const bits_t bits = decide(exec, turbo_decoder(config), sent.llr).bits;
      int n = 0;
      for (std::size_t i = 0; i < count; i++) n += row_of(bits, i, K) != sent.sent[i];
      return n;
    };
    const int floats = wrong(turbo_precision::float32, 1);
    EXPECT_GT(floats, static_cast<int>(count / 8)) << kind.name;
    // A codeword at the edge comes out either way: the counts differ by chance, and by little.
    EXPECT_NEAR(wrong(turbo_precision::bfloat16, 1), floats, 2 + floats / 20) << kind.name;
    EXPECT_NEAR(wrong(turbo_precision::bfloat16, {}), floats, 3 + floats / 10) << kind.name;
  }
}

}  // namespace turbo_windows_test
}  // namespace wb
