// The 16-bit turbo decoder against whole-number arithmetic, window by window. What it shares with the other
// decoders with windows side by side is in turbo_windows_test.cpp.
#include <algorithm>
#include <numeric>
#include <random>

#include <oracle/turbo_int16.hpp>
#include <tests/turbo.hpp>

namespace wb {
namespace turbo_int16_test {

using namespace testing;

class turbo_int16 : public on_backend {};
WB_ON_ALL_BACKENDS(turbo_int16);

/// What the oracle makes of codeword i.
std::vector<int> whole_numbers(const steps_t& llr, std::size_t i, int k) {
  const steps_t one = row_of(llr, i, 3 * (static_cast<std::size_t>(k) + 4));
  return std::vector<int>(one.begin(), one.end());
}

/// Bit by bit, with the metrics that occur far from wrapping.
TEST_P(turbo_int16, equals_whole_numbers) {
  struct {
    int k, windows, overlap, iterations;
    double ebn0_db;
  } const cases[] = {{40, 1, 0, 3, 1.},      {40, 4, 0, 3, 1.},      {48, 2, 16, 2, 1.},
                     {120, 8, 8, 3, 0.},     {504, 8, 56, 2, 0.5},   {512, 32, 8, 3, 0.5},
                     {1008, 8, 0, 2, 3.},    {1024, 16, 24, 2, 0.},  {2048, 64, 8, 2, 0.},
                     {6080, 64, 0, 2, 0.3},  {6144, 64, 16, 2, 0.4}, {6144, 128, 0, 2, 0.4},
                     {6144, 128, 40, 2, 0.4}};
  for (const auto& c : cases) {
    const auto config = setting(int16_kind, c.k, c.windows, c.overlap, c.iterations);
    const int count = c.k < 1000 ? 5 : 3;
    const steps_t llr = steps_of(make_codewords(c.k, count, c.ebn0_db, 7).llr);
    const decisions o = decide(exec(), turbo_decoder(config), llr);
    const auto pi = interleaver(c.k);
    for (std::size_t i = 0; i < o.status.size(); i++) {
      const auto want = oracle::turbo_decode_int16(
          whole_numbers(llr, i, c.k), pi,
          {.windows = c.windows, .overlap = c.overlap, .iterations = c.iterations, .eighths = 6});
      EXPECT_LT(want.largest, 20000);
      EXPECT_EQ(row_of(o.bits, i, want.bits.size()), want.bits)
          << "k " << c.k << " windows " << c.windows << " codeword " << i;
    }
  }
}

/// The largest weights there are, -128 among them, for many iterations and without scaling.
TEST_P(turbo_int16, extremes_do_not_wrap) {
  const struct {
    int k, windows, overlap;
  } cases[] = {{40, 1, 0}, {1024, 16, 8}, {6144, 64, 8}};
  for (const auto& c : cases) {
    const std::size_t n = 3 * (static_cast<std::size_t>(c.k) + 4);
    std::mt19937_64 rng(3);
    steps_t llr;
    for (int kind = 0; kind < 4; kind++)
      for (std::size_t i = 0; i < n; i++) {
        const bool low = kind == 0 || (kind > 1 && (rng() >> 63) != 0);
        llr.push_back(static_cast<std::int8_t>(low ? -128 : 127));
      }
    auto config = setting(int16_kind, c.k, c.windows, c.overlap, 8);
    config.extrinsic_scale = 1;
    const decisions o = decide(exec(), turbo_decoder(config), llr);
    for (std::size_t i = 0; i < 4; i++) {
      std::vector<int> row = whole_numbers(llr, i, c.k);
      for (int& x : row) x = std::max(x, -127);
      const auto want = oracle::turbo_decode_int16(
          row, interleaver(c.k), {.windows = c.windows, .overlap = c.overlap, .iterations = 8, .eighths = 8});
      EXPECT_LT(want.largest, 20000);
      EXPECT_GT(want.largest, 2000);
      EXPECT_EQ(row_of(o.bits, i, want.bits.size()), want.bits) << c.k << ' ' << i;
    }
  }
}

TEST_P(turbo_int16, takes_own_interleavers) {
  const int k = 1000;
  std::vector<std::int32_t> any(k), linear(k);
  std::iota(any.begin(), any.end(), 0);
  std::shuffle(any.begin(), any.end(), std::mt19937_64(1));
  for (int i = 0; i < k; i++) linear[static_cast<std::size_t>(i)] = (3 * i + 7) % k;
  const auto decoder = [&](int windows, const std::vector<std::int32_t>& pi) {
    return turbo_decoder(setting(int16_kind, k, windows, 0, 2), pi);
  };
  for (const auto& [windows, pi] : {std::pair{1, &any}, std::pair{8, &linear}}) {
    const turbo_decoder d = decoder(windows, *pi);
    std::mt19937_64 rng(4);
    steps_t llr;
    for (int i = 0; i < 3 * (k + 4); i++)
      llr.push_back(static_cast<std::int8_t>(static_cast<int>(rng() >> 57) - 64));
    const auto want = oracle::turbo_decode_int16(std::vector<int>(llr.begin(), llr.end()),
                                                 std::vector<int>(pi->begin(), pi->end()),
                                                 {.windows = windows, .iterations = 2, .eighths = 6});
    EXPECT_EQ(decide(exec(), d, llr).bits, want.bits) << windows;
  }
}

TEST_P(turbo_int16, stops_where_the_crc_holds) {
  const auto crc = crc24b;
  for (const int k : {120, 1024, 6144}) {
    auto config = setting(int16_kind, k, {}, {}, 8);
    config.early_stop = turbo_early_stop::crc;
    config.crc_polynomial = crc.polynomial;
    config.crc_degree = crc.degree;
    const int count = k == 6144 ? 5 : 11;
    const steps_t llr = steps_of(make_codewords(k, count, k == 6144 ? 0.5 : 1., 3, &crc).llr);
    const turbo_decoder d(config);
    const decisions o = decide(exec(), d, llr);
    const auto pi = interleaver(k);
    int early = 0;
    for (std::size_t i = 0; i < o.status.size(); i++) {
      const auto want = oracle::turbo_decode_int16(whole_numbers(llr, i, k), pi,
                                                   {.windows = d.config().windows.value(),
                                                    .overlap = d.config().overlap.value(),
                                                    .iterations = 8,
                                                    .eighths = 6,
                                                    .crc = crc.polynomial,
                                                    .crc_degree = crc.degree});
      EXPECT_EQ(row_of(o.bits, i, want.bits.size()), want.bits) << k << ' ' << i;
      EXPECT_EQ(o.iterations[i], want.iterations) << k << ' ' << i;
      EXPECT_EQ(o.status[i], crc_holds(want.bits, crc) ? status_stopped : 0) << k << ' ' << i;
      early += want.iterations < 8;
    }
    EXPECT_GT(early, count / 2);
  }
}

TEST_P(turbo_int16, floats_become_steps) {
  for (const int k : {512, 6080, 6144}) {
    const int count = k == 512 ? 9 : 3;
    const steps_t steps = steps_of(make_codewords(k, count, 0.5, 5).llr);
    auto config = setting(int16_kind, k);
    config.llr_steps = 4.f;
    const turbo_decoder d(config);
    std::vector<float> llr;
    std::mt19937_64 rng(1);
    for (const std::int8_t x : steps) {  // anything that rounds to x, and what is beyond the limits
      const float off = 0.9f * (static_cast<float>(rng() >> 40) * 0x1p-24f - 0.5f);
      llr.push_back(x == 127 ? 1e9f : x == -127 ? -1e9f : (static_cast<float>(x) + off) / 4);
    }
    EXPECT_EQ(decide(exec(), d, llr), decide(exec(), d, steps)) << k;
  }
}

}  // namespace turbo_int16_test
}  // namespace wb
