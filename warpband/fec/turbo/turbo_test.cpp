// The turbo code against the standard's vectors, the double-precision oracle, its limit cases, and itself on
// every backend.
#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>

#include <oracle/turbo.hpp>
#include <tests/json.hpp>
#include <tests/turbo.hpp>

namespace wb {
namespace turbo_test {

using namespace testing;

class turbo : public ::testing::TestWithParam<backend> {};
INSTANTIATE_TEST_SUITE_P(backends, turbo, ::testing::ValuesIn(all_backends()), [](const auto& i) {
  std::string name = i.param.name;
  std::replace(name.begin(), name.end(), ':', '_');
  return name;
});

struct decoded {
  bits_t bits;
  std::vector<float> soft, extrinsic;
  std::vector<std::int32_t> iterations;
  bits_t status;
  bool operator==(const decoded& o) const {
    const auto same = [](const std::vector<float>& x, const std::vector<float>& y) {
      return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
    };
    return bits == o.bits && same(soft, o.soft) && same(extrinsic, o.extrinsic) &&
           iterations == o.iterations && status == o.status;
  }
  /// Rows first..first+n-1.
  decoded rows(std::size_t first, std::size_t n) const {
    const std::size_t k = bits.size() / status.size();
    const auto cut = [&](const auto& v, std::size_t w) {
      using V = std::remove_cvref_t<decltype(v)>;
      const auto begin = v.begin() + static_cast<std::ptrdiff_t>(first * w);
      return V(begin, begin + static_cast<std::ptrdiff_t>(n * w));
    };
    return {cut(bits, k), cut(soft, k), cut(extrinsic, k), cut(iterations, 1), cut(status, 1)};
  }
};
decoded decode(executor& e, const turbo_decoder& d, const std::vector<float>& llr) {
  const std::size_t k = static_cast<std::size_t>(d.config().k), n = 3 * (k + 4), count = llr.size() / n;
  auto in = e.make<float>(count, n), soft = e.make<float>(count, k), extrinsic = e.make<float>(count, k);
  auto bits = e.make<std::uint8_t>(count, k), status = e.make<std::uint8_t>(count, 1);
  auto iterations = e.make<std::int32_t>(count, 1);
  e.upload(in.data(), llr.data(), in.bytes());
  d.run(e, in,
        {.bits = bits, .soft = soft, .extrinsic = extrinsic, .iterations = iterations, .status = status});
  return {e.to_host(bits), e.to_host(soft), e.to_host(extrinsic), e.to_host(iterations), e.to_host(status)};
}
// ---------------------------------------------------------------- encoder

bits_t encode(executor& e, const turbo_encoder& enc, const std::vector<bits_t>& blocks, std::size_t width) {
  const std::size_t k = static_cast<std::size_t>(enc.k());
  bits_t flat;
  for (const auto& b : blocks) flat.insert(flat.end(), b.begin(), b.end());
  auto in = e.make<std::uint8_t>(blocks.size(), k), out = e.make<std::uint8_t>(blocks.size(), width);
  e.upload(in.data(), flat.data(), in.bytes());
  const bits_t poison(out.size(), 0xee);
  e.upload(out.data(), poison.data(), out.bytes());
  enc.run(e, in, out);
  return e.to_host(out);
}

TEST_P(turbo, encoder_gives_the_reference_vectors) {
  WB_SKIP_WITHOUT_DEVICE(GetParam());
  const std::string path = std::string(WARPBAND_REFDATA) + "/vectors/lte_turbo_enc.json";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  const auto vectors = testing::parse_json(std::ifstream(path)).at("vectors");
  const auto e = GetParam().open(2);
  int checked = 0;
  for (const auto& v : vectors) {
    bits_t u;
    for (char c : v.at("input").get<std::string>()) u.push_back(static_cast<std::uint8_t>(c - '0'));
    const auto want =
        v.at("d0").get<std::string>() + v.at("d1").get<std::string>() + v.at("d2").get<std::string>();
    const turbo_encoder enc(v.at("K").get<int>());
    std::string got;
    for (auto b : encode(*e, enc, {u}, want.size())) got += static_cast<char>('0' + b);
    EXPECT_EQ(got, want) << "K = " << enc.k();
    checked++;
  }
  EXPECT_GE(checked, 10);
}

TEST_P(turbo, encoder_equals_oracle) {
  WB_SKIP_WITHOUT_DEVICE(GetParam());
  const auto e = GetParam().open(2);
  std::mt19937_64 rng(11);
  for (int k : {40, 48, 104, 512, 1008, 1056, 2048, 6144}) {
    std::vector<bits_t> blocks;
    for (int i = 0; i < 19; i++) blocks.push_back(random_bits_of(k, rng));
    const std::size_t n = 3 * (static_cast<std::size_t>(k) + 4), width = n + 5;
    const auto got = encode(*e, turbo_encoder(k), blocks, width);
    for (std::size_t i = 0; i < blocks.size(); i++) {
      auto want = encoded(blocks[i], interleaver(k));
      want.resize(width, 0);  // rows may be wider than a codeword: zeros
      ASSERT_EQ(row_of(got, i, width), want) << "K = " << k << ", block " << i;
    }
  }
}

TEST_P(turbo, takes_any_permutation) {
  WB_SKIP_WITHOUT_DEVICE(GetParam());
  const auto e = GetParam().open();
  std::mt19937_64 rng(12);
  const int k = 333;  // no QPP size, and odd
  std::vector<std::int32_t> permutation(static_cast<std::size_t>(k));
  std::iota(permutation.begin(), permutation.end(), 0);
  std::shuffle(permutation.begin(), permutation.end(), rng);
  const std::vector<int> pi(permutation.begin(), permutation.end());
  const auto u = random_bits_of(k, rng);
  const auto coded = encoded(u, pi);
  EXPECT_EQ(encode(*e, turbo_encoder(permutation), {u}, coded.size()), coded);
  const auto llr = noisy(coded, 3.0, 1.0 / 3, rng);
  for (int windows : {1, 4, 41})
    EXPECT_EQ(decode(*e, turbo_decoder({.k = k, .windows = windows}, permutation), llr).bits, u) << windows;
}

// ---------------------------------------------------------------- decoder against the oracle

struct oracle_case {
  map_algorithm algorithm;
  float scale;
};

TEST_P(turbo, decoder_equals_oracle) {
  WB_SKIP_WITHOUT_DEVICE(GetParam());
  const auto e = GetParam().open(2);
  for (const auto& c :
       {oracle_case{map_algorithm::log_map, 1.f}, oracle_case{map_algorithm::max_log_map, 1.f},
        oracle_case{map_algorithm::max_log_map, 0.75f}}) {
    for (int k : {40, 512, 2048}) {
      for (int iterations : {1, 3}) {
        const turbo_decoder d({.k = k,
                               .algorithm = c.algorithm,
                               .iterations = iterations,
                               .windows = 1,
                               .extrinsic_scale = c.scale});
        const auto words = make_codewords(k, 3, 0.0, 100 + static_cast<std::uint64_t>(k));
        const auto got = decode(*e, d, words.llr);
        const std::size_t K = static_cast<std::size_t>(k), n = 3 * (K + 4);
        const oracle::turbo_options o{
            c.algorithm == map_algorithm::log_map ? oracle::algorithm::log_map : oracle::algorithm::max_log,
            static_cast<double>(c.scale), iterations};
        for (std::size_t w = 0; w < words.sent.size(); w++) {
          const auto begin = words.llr.begin() + static_cast<std::ptrdiff_t>(w * n);
          const auto want = oracle::turbo_decode(
              std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(n)), interleaver(k), o);
          for (std::size_t i = 0; i < K; i++) {
            const double L = want.a_posteriori[i], tolerance = 2e-3 + 2e-4 * std::abs(L);
            if (std::abs(L) > 20) {  // near the limits of the extrinsics: the sign, and not small
              ASSERT_GT(static_cast<double>(got.soft[w * K + i]) * (L > 0 ? 1 : -1), 15.0);
            } else {
              ASSERT_NEAR(static_cast<double>(got.soft[w * K + i]), L, tolerance)
                  << "K = " << k << ", bit " << i;
              ASSERT_NEAR(static_cast<double>(got.extrinsic[w * K + i]), L - words.llr[w * n + i], tolerance);
            }
            if (std::abs(L) > tolerance) {
              ASSERT_EQ(got.bits[w * K + i], L < 0);
            }
          }
        }
      }
    }
  }
}

TEST_P(turbo, decoder_gives_the_reference_decisions) {
  // Stored decisions of an exact MAP decoder, 10 iterations, at 0 dB, where most blocks stay wrong.
  WB_SKIP_WITHOUT_DEVICE(GetParam());
  const std::string path = std::string(WARPBAND_REFDATA) + "/vectors/lte_turbo_dec_sionna_ref.json";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  const auto vectors = testing::parse_json(std::ifstream(path)).at("vectors");
  const auto e = GetParam().open();
  for (const auto& v : vectors) {
    const int k = v.at("K").get<int>();
    const std::size_t K = static_cast<std::size_t>(k);
    const auto y = v.at("y").get<std::vector<double>>();
    std::vector<float> llr(3 * (K + 4));
    for (std::size_t i = 0; i < y.size(); i++)  // stored as d0[0], d1[0], d2[0], d0[1], ...
      llr[i % 3 * (K + 4) + i / 3] = static_cast<float>(2 * y[i] / 1.5);
    const auto got = decode(*e, turbo_decoder({.k = k, .iterations = 10, .windows = 1}), llr);
    std::string text;
    for (auto b : got.bits) text += static_cast<char>('0' + b);
    EXPECT_EQ(text, v.at("decoded_ref").get<std::string>()) << "K = " << k;
  }
  EXPECT_GE(vectors.size(), 10u);
}

// ---------------------------------------------------------------- limit cases

TEST_P(turbo, noise_free_codewords_come_back) {
  WB_SKIP_WITHOUT_DEVICE(GetParam());
  const auto e = GetParam().open(2);
  std::mt19937_64 rng(13);
  int step = small_scale() || GetParam().name == "scalar" ? 37 : GetParam().name == "base" ? 7 : 1;
  const auto table = qpp_table();
  for (std::size_t i = 0; i < table.size(); i += static_cast<std::size_t>(step)) {
    const int k = table[i].k;
    const auto u = random_bits_of(k, rng);
    std::vector<float> llr;
    for (auto b : encoded(u, interleaver(k))) llr.push_back(b ? -5.f : 5.f);
    for (auto algorithm : {map_algorithm::log_map, map_algorithm::max_log_map})
      ASSERT_EQ(decode(*e, turbo_decoder({.k = k, .algorithm = algorithm, .iterations = 1}), llr).bits, u)
          << k;
  }
}

TEST_P(turbo, extreme_llrs_stay_finite) {
  WB_SKIP_WITHOUT_DEVICE(GetParam());
  const auto e = GetParam().open();
  std::mt19937_64 rng(14);
  const int k = 256;
  for (float size : {1e-30f, 1e-3f, 1e4f, 3e38f}) {
    const auto u = random_bits_of(k, rng);
    std::vector<float> llr;
    for (auto b : encoded(u, interleaver(k))) llr.push_back(b ? -size : size);
    for (auto algorithm : {map_algorithm::log_map, map_algorithm::max_log_map}) {
      const auto got = decode(*e, turbo_decoder({.k = k, .algorithm = algorithm}), llr);
      for (float x : got.soft) ASSERT_TRUE(std::isfinite(x));
      for (float x : got.extrinsic) ASSERT_TRUE(std::isfinite(x));
      if (size >= 1e-3f) {
        EXPECT_EQ(got.bits, u) << size;
      }
      // e^-1e-30 is 1: probabilities do not tell it from an LLR of 0.
      const bool lost = algorithm == map_algorithm::log_map && size < 1e-8f;
      EXPECT_EQ(got.status[0], lost ? status_erased | status_insufficient : 0) << size;
    }
  }
}

// LLRs of any scale: no more frame errors than the double-precision log-MAP of the same LLRs has.
TEST_P(turbo, the_scale_of_llrs_costs_no_frames) {
  WB_SKIP_WITHOUT_DEVICE(GetParam());
  const auto e = GetParam().open(2);
  const int k = 256, iterations = 4;
  static const auto words = make_codewords(k, 40, 1.0, 61);
  static const std::vector<int> expected = [] {
    std::vector<int> errors;
    for (const float s : llr_scales)
      errors.push_back(frame_errors(oracle_bits(scaled(words.llr, s), k, iterations), words.sent));
    return errors;
  }();
  for (const int windows : {1, 8})
    for (std::size_t i = 0; i < std::size(llr_scales); i++) {
      const turbo_decoder d({.k = k, .iterations = iterations, .windows = windows});
      EXPECT_LE(frame_errors(decode(*e, d, scaled(words.llr, llr_scales[i])).bits, words.sent),
                expected[i] + 2)
          << "scale " << llr_scales[i] << ", windows " << windows;
    }
}

TEST_P(turbo, soft_outputs_of_large_llrs_are_the_oracles) {
  WB_SKIP_WITHOUT_DEVICE(GetParam());
  const auto e = GetParam().open(2);
  const int k = 256;
  const std::size_t K = 256, n = 3 * (K + 4);
  const auto words = make_codewords(k, 4, 0.0, 62);
  for (const float scale : {10.f, 100.f})
    for (const int iterations : {1, 2}) {
      const auto llr = scaled(words.llr, scale);
      const auto got = decode(*e, turbo_decoder({.k = k, .iterations = iterations, .windows = 1}), llr);
      for (std::size_t w = 0; w < words.sent.size(); w++) {
        const auto row = row_of(llr, w, n);
        const auto want = oracle::turbo_decode(std::vector<double>(row.begin(), row.end()), interleaver(k),
                                               {.iterations = iterations});
        for (std::size_t i = 0; i < K; i++) {
          const double L = want.a_posteriori[i], tolerance = iterations + 2e-3 * std::abs(L);
          ASSERT_NEAR(static_cast<double>(got.soft[w * K + i]), L, tolerance)
              << "scale " << scale << ", iterations " << iterations << ", bit " << i;
          ASSERT_NEAR(static_cast<double>(got.extrinsic[w * K + i]), L - static_cast<double>(llr[w * n + i]),
                      tolerance);
        }
      }
    }
}

TEST_P(turbo, overlap_brings_windows_to_one_window) {
  // With an overlap of almost a window, splitting changes little; without any it changes more.
  WB_SKIP_WITHOUT_DEVICE(GetParam());
  const auto e = GetParam().open(2);
  const int k = 1024;
  const auto words = make_codewords(k, 2, 0.5, 15);
  const auto run = [&](int windows, int overlap) {
    return decode(*e, turbo_decoder({.k = k, .iterations = 2, .windows = windows, .overlap = overlap}),
                  words.llr);
  };
  const auto one = run(1, 0);
  const auto distance = [&](const decoded& d) {
    double sum = 0;
    for (std::size_t i = 0; i < d.soft.size(); i++)
      sum += std::abs(static_cast<double>(d.soft[i] - one.soft[i]));
    return sum / static_cast<double>(d.soft.size());
  };
  const double none = distance(run(16, 0)), half = distance(run(16, 24)), large = distance(run(16, 63));
  EXPECT_LT(large, none / 30);
  EXPECT_LT(half, none / 4);
  EXPECT_GT(none, 1e-2);
}

// ---------------------------------------------------------------- early stop

TEST_P(turbo, early_stop_is_what_full_decoding_reaches) {
  WB_SKIP_WITHOUT_DEVICE(GetParam());
  const auto e = GetParam().open(2);
  const int k = 512;
  const auto words = make_codewords(k, 24, 1.0, 18, &crc24a);
  const std::size_t n = words.llr.size() / words.sent.size(), K = static_cast<std::size_t>(k);
  turbo_decoder_config c{.k = k,
                         .iterations = 8,
                         .early_stop = turbo_early_stop::crc,
                         .crc_polynomial = crc24a.polynomial,
                         .crc_degree = crc24a.degree};
  const auto stopped = decode(*e, turbo_decoder(c), words.llr);
  int early = 0;
  for (std::size_t w = 0; w < words.sent.size(); w++) {
    const int used = stopped.iterations[w];
    const bool holds = (stopped.status[w] & status_stopped) != 0;
    const auto bits = row_of(stopped.bits, w, K);
    EXPECT_EQ(holds, crc_parity(bits, crc24a) == 0);
    if (holds) {
      EXPECT_EQ(bits, words.sent[w]);
    }
    early += used < 8;
    turbo_decoder_config full = c;
    full.iterations = used;
    full.early_stop = turbo_early_stop::none;
    const auto begin = words.llr.begin() + static_cast<std::ptrdiff_t>(w * n);
    const auto want = decode(*e, turbo_decoder(full), {begin, begin + static_cast<std::ptrdiff_t>(n)});
    EXPECT_EQ(want.soft, stopped.rows(w, 1).soft);
  }
  EXPECT_GT(early, 12);
  c.early_stop = turbo_early_stop::sign_agreement;
  const auto agreed = decode(*e, turbo_decoder(c), words.llr);
  for (std::size_t w = 0; w < words.sent.size(); w++)
    if (agreed.status[w] & status_stopped) {
      EXPECT_EQ(row_of(agreed.bits, w, K), words.sent[w]);
    }
  EXPECT_GT(std::count(agreed.status.begin(), agreed.status.end(), status_stopped), 12);
}

TEST(turbo_on_cpu, ignores_the_rounding_mode_of_its_caller) {
  cpu e({.threads = 1, .instructions = {}});
  const auto words = make_codewords(104, 3, 1.0, 20);
  const turbo_decoder d({.k = 104, .iterations = 2});
  const auto want = decode(e, d, words.llr);
  std::fesetround(FE_UPWARD);
  const auto got = decode(e, d, words.llr);
  EXPECT_EQ(std::fegetround(), FE_UPWARD);  // and leaves it alone
  std::fesetround(FE_TONEAREST);
  EXPECT_TRUE(got == want);
}

/// Runs f and returns the argument that its argument_error names.
template <class F>
std::string refused(F f) {
  try {
    f();
  } catch (const argument_error& e) {
    EXPECT_NE(std::string(e.what()).find(e.argument()), std::string::npos);
    EXPECT_FALSE(e.allowed().empty());
    return e.argument();
  }
  return "nothing";
}

TEST(turbo_errors, bad_settings_are_refused) {
  const auto with = [](auto set) {
    turbo_decoder_config c;
    set(c);
    return refused([&] { turbo_decoder d(c); });
  };
  EXPECT_EQ(with([](auto& c) { c.k = 41; }), "k");
  EXPECT_EQ(with([](auto& c) { c.k = 0; }), "k");
  EXPECT_EQ(with([](auto& c) { c.k = 6145; }), "k");
  EXPECT_EQ(with([](auto& c) { c.windows = 769; }), "windows");
  EXPECT_EQ(with([](auto& c) { c.windows = -1; }), "windows");
  EXPECT_EQ(with([](auto& c) { c.windows = 96, c.overlap = 64; }), "overlap");
  EXPECT_EQ(with([](auto& c) { c.overlap = -1; }), "overlap");
  EXPECT_EQ(with([](auto& c) { c.iterations = 0; }), "iterations");
  EXPECT_EQ(with([](auto& c) { c.iterations = 65; }), "iterations");
  for (const float rate : {0.f, -0.5f, 1.01f, std::nanf("")})
    EXPECT_EQ(with([=](auto& c) { c.code_rate = rate; }), "code_rate");
  EXPECT_EQ(with([](auto& c) { c.extrinsic_scale = 0.75f; }), "extrinsic_scale");
  EXPECT_EQ(with([](auto& c) { c.algorithm = map_algorithm::max_log_map, c.extrinsic_scale = 0.f; }),
            "extrinsic_scale");
  EXPECT_EQ(
      with([](auto& c) { c.algorithm = map_algorithm::max_log_map, c.extrinsic_scale = std::nanf(""); }),
      "extrinsic_scale");
  EXPECT_EQ(with([](auto& c) { c.early_stop = turbo_early_stop::crc; }), "crc_degree");
  EXPECT_EQ(
      with([](auto& c) { c.early_stop = turbo_early_stop::crc, c.crc_degree = 24, c.crc_polynomial = 7; }),
      "crc_polynomial");
  EXPECT_EQ(with([](auto&) {}), "nothing");
  EXPECT_EQ(refused([] { turbo_decoder d({.k = 40}, std::vector<std::int32_t>(40, 3)); }), "permutation");
  EXPECT_EQ(refused([] { turbo_decoder d({.k = 48}, qpp_permutation(qpp_for(40))); }), "permutation.size()");
  EXPECT_EQ(refused([] { turbo_encoder e(100); }), "k");
}

TEST(turbo_choice, windows_and_overlap_follow_the_code_rate) {
  using enum turbo_precision;
  const struct {
    turbo_precision precision;
    int k;
    float rate;
    int windows, overlap;
  } cases[] = {
      {float32, 6144, 1.f / 3, 192, 24}, {float32, 6144, 0.5f, 192, 24},   {float32, 6144, 0.75f, 153, 30},
      {float32, 6144, 0.9f, 51, 90},     {float32, 6144, 0.95f, 24, 190},  {float32, 6144, 1.f, 1, 0},
      {float32, 1024, 0.01f, 32, 24},    {float32, 1024, 0.9f, 8, 90},     {float32, 256, 0.9f, 2, 90},
      {float32, 208, 0.9f, 1, 0},        {float32, 40, 1.f / 3, 1, 0},     {int16, 6144, 1.f / 3, 64, 8},
      {int16, 6144, 0.5f, 64, 8},        {int16, 4096, 0.75f, 64, 32},     {int16, 6144, 0.9f, 32, 88},
      {int16, 6144, 0.95f, 16, 192},     {int16, 6144, 1.f, 1, 0},         {int16, 1024, 0.9f, 8, 88},
      {int16, 128, 0.9f, 1, 0},          {bfloat16, 6144, 1.f / 3, 64, 8}, {bfloat16, 6144, 0.9f, 32, 88},
      {bfloat16, 1008, 0.75f, 8, 32},
  };
  for (const auto& c : cases) {
    const auto chosen = turbo_decoder({.k = c.k,
                                       .algorithm = map_algorithm::max_log_map,
                                       .code_rate = c.rate,
                                       .precision = c.precision})
                            .config();
    const std::string label = std::to_string(static_cast<int>(c.precision)) + " k = " + std::to_string(c.k) +
                              ", rate " + std::to_string(c.rate);
    EXPECT_EQ(chosen.windows, c.windows) << label;
    EXPECT_EQ(chosen.overlap, c.overlap) << label;
  }
  // What is given stays.
  const auto given = turbo_decoder({.windows = 96, .overlap = 8, .code_rate = 0.95f}).config();
  EXPECT_EQ(given.windows, 96);
  EXPECT_EQ(given.overlap, 8);
}

/// Frame errors of max* from a table are those of exact log-MAP within 0.05 dB, a factor of 1.4 here.
TEST_P(turbo, a_table_of_max_star_loses_little) {
  WB_SKIP_WITHOUT_DEVICE(GetParam());
  const auto e = GetParam().open(2);
  const auto words = make_codewords(256, 200, 0.8, 71);
  const auto errors = [&](map_algorithm algorithm) {
    return frame_errors(decode(*e, turbo_decoder({.k = 256, .algorithm = algorithm}), words.llr).bits,
                        words.sent);
  };
  const int exact = errors(map_algorithm::log_map), table = errors(map_algorithm::log_map_table),
            largest = errors(map_algorithm::max_log_map);
  EXPECT_GT(exact, 5);
  EXPECT_NEAR(table, exact, 2 + exact / 5);
  EXPECT_GT(largest, table + 5);
}

TEST(turbo_table, is_float32_alone) {
  const auto blames = [](turbo_precision precision, float scale) {
    return blamed([&] {
      (void)turbo_decoder({.k = 40,
                           .algorithm = map_algorithm::log_map_table,
                           .extrinsic_scale = scale,
                           .precision = precision});
    });
  };
  EXPECT_EQ(blames(turbo_precision::float32, 1), "");
  EXPECT_EQ(blames(turbo_precision::bfloat16, 1), "algorithm");
  EXPECT_EQ(blames(turbo_precision::int16, 1), "algorithm");
  EXPECT_EQ(blames(turbo_precision::float32, 0.75f), "extrinsic_scale");
}

}  // namespace turbo_test
}  // namespace wb
