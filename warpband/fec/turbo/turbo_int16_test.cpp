// The 16-bit turbo decoder against whole-number arithmetic, window by window, and on every backend.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include <oracle/lte.hpp>
#include <oracle/turbo_int16.hpp>
#include <tests/on_backends.hpp>
#include <warpband/fec/crc/crc.hpp>
#include <warpband/fec/lte/qpp.hpp>
#include <warpband/fec/turbo/turbo.hpp>

namespace wb {
namespace {

using testing::blamed;
using testing::on_device;

class turbo_int16 : public testing::on_backend {};
WB_ON_ALL_BACKENDS(turbo_int16);

using bits_t = std::vector<std::uint8_t>;
using steps_t = std::vector<std::int8_t>;

std::vector<int> interleaver(int k) {
  const auto p = qpp_for(k);
  return oracle::qpp(p.k, p.f1, p.f2);
}
struct batch {
  std::vector<bits_t> sent;
  steps_t llr;  // rows
};
/// BPSK over AWGN, LLRs in eighths. With a CRC the last bits are its parity.
batch make_batch(int k, int count, double ebn0_db, std::uint64_t seed, const crc_polynomial* crc = nullptr) {
  std::mt19937_64 rng(seed);
  const double variance = 1 / (2 * (k / (3.0 * k + 12)) * std::pow(10, ebn0_db / 10));
  std::normal_distribution<double> noise(0, std::sqrt(variance));
  const auto pi = interleaver(k);
  batch b;
  for (int i = 0; i < count; i++) {
    bits_t u(static_cast<std::size_t>(k));
    for (auto& x : u) x = static_cast<std::uint8_t>(rng() >> 63);
    if (crc != nullptr) {
      u.resize(static_cast<std::size_t>(k - crc->degree));
      const auto parity = oracle::crc(u, crc->polynomial, crc->degree);
      u.insert(u.end(), parity.begin(), parity.end());
    }
    const auto s = oracle::turbo_encode(u, pi);
    for (const auto* stream : {&s.d0, &s.d1, &s.d2})
      for (auto bit : *stream) {
        const double llr = 2 * (1 - 2 * bit + noise(rng)) / variance;
        b.llr.push_back(static_cast<std::int8_t>(std::clamp(std::nearbyint(8 * llr), -127., 127.)));
      }
    b.sent.push_back(std::move(u));
  }
  return b;
}
struct outcome {
  bits_t bits, status;
  std::vector<std::int32_t> iterations;
  bool operator==(const outcome&) const = default;
};
outcome decode(executor& e, const turbo_decoder& d, const steps_t& llr, layout order = layout::row_major) {
  const auto k = static_cast<std::size_t>(d.config().k), n = 3 * (k + 4), count = llr.size() / n;
  steps_t values = llr;
  if (order == layout::batch_fastest)
    for (std::size_t i = 0; i < count; i++)
      for (std::size_t j = 0; j < n; j++) values[j * count + i] = llr[i * n + j];
  auto in = on_device(e, values, n, count, order);
  auto bits = e.make<std::uint8_t>(k, count, order), status = e.make<std::uint8_t>(1, count);
  auto iterations = e.make<std::int32_t>(1, count);
  d.run(e, in, {.bits = bits, .iterations = iterations, .status = status});
  outcome o{e.to_host(bits), e.to_host(status), e.to_host(iterations)};
  if (order == layout::batch_fastest) {
    const bits_t columns = o.bits;
    for (std::size_t i = 0; i < count; i++)
      for (std::size_t j = 0; j < k; j++) o.bits[i * k + j] = columns[j * count + i];
  }
  return o;
}
turbo_decoder_config setting(int k, int windows = 0, int overlap = -1, int iterations = 4) {
  return {.k = k,
          .algorithm = map_algorithm::max_log_map,
          .iterations = iterations,
          .windows = windows,
          .overlap = overlap,
          .extrinsic_scale = 0.75f,
          .precision = turbo_precision::int16};
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
    const auto config = setting(c.k, c.windows, c.overlap, c.iterations);
    const int count = c.k < 1000 ? 5 : 3;
    const batch b = make_batch(c.k, count, c.ebn0_db, 7);
    const outcome o = decode(exec(), turbo_decoder(config), b.llr);
    const auto pi = interleaver(c.k);
    for (int i = 0; i < count; i++) {
      const auto n = static_cast<std::ptrdiff_t>(3 * (c.k + 4));
      const std::vector<int> llr(b.llr.begin() + i * n, b.llr.begin() + (i + 1) * n);
      const auto want = oracle::turbo_decode_int16(
          llr, pi, {.windows = c.windows, .overlap = c.overlap, .iterations = c.iterations, .eighths = 6});
      EXPECT_LT(want.largest, 20000);
      const bits_t got(o.bits.begin() + i * c.k, o.bits.begin() + (i + 1) * c.k);
      EXPECT_EQ(got, want.bits) << "k " << c.k << " windows " << c.windows << " codeword " << i;
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
    auto config = setting(c.k, c.windows, c.overlap, 8);
    config.extrinsic_scale = 1;
    const outcome o = decode(exec(), turbo_decoder(config), llr);
    for (std::size_t i = 0; i < 4; i++) {
      std::vector<int> row(llr.begin() + static_cast<std::ptrdiff_t>(i * n),
                           llr.begin() + static_cast<std::ptrdiff_t>((i + 1) * n));
      for (int& x : row) x = std::max(x, -127);
      const auto want = oracle::turbo_decode_int16(
          row, interleaver(c.k), {.windows = c.windows, .overlap = c.overlap, .iterations = 8, .eighths = 8});
      EXPECT_LT(want.largest, 20000);
      EXPECT_GT(want.largest, 2000);
      const auto at = o.bits.begin() + static_cast<std::ptrdiff_t>(i) * c.k;
      EXPECT_EQ(bits_t(at, at + c.k), want.bits) << c.k << ' ' << i;
    }
  }
}

/// Rows that begin anywhere and lie apart; what is beside them stays as it was.
TEST_P(turbo_int16, takes_rows_at_any_address) {
  for (const int k : {512, 6144}) {
    const std::size_t K = static_cast<std::size_t>(k), n = 3 * (K + 4), count = 5;
    const batch b = make_batch(k, static_cast<int>(count), 0.5, 21);
    const turbo_decoder d(setting(k));
    const bits_t want = decode(exec(), d, b.llr).bits;
    for (const std::size_t shift : {1u, 2u, 3u}) {
      const std::size_t step = n + shift, out_step = K + 2 * shift + 1;
      steps_t bytes(shift + count * step, 99);
      std::vector<float> floats(shift + count * step, 99.f);
      for (std::size_t i = 0; i < count; i++)
        for (std::size_t j = 0; j < n; j++) {
          bytes[shift + i * step + j] = b.llr[i * n + j];
          floats[shift + i * step + j] = static_cast<float>(b.llr[i * n + j]) / 8;
        }
      auto in8 = on_device(exec(), bytes, bytes.size(), 1);
      auto in32 = on_device(exec(), floats, floats.size(), 1);
      for (const bool as_bytes : {true, false}) {
        const std::size_t size = shift + count * out_step;
        auto out = on_device(exec(), bits_t(size, 0xee), size, 1);
        const view<std::uint8_t> bits{out.data() + shift, K, count, 1, out_step};
        if (as_bytes)
          d.run(exec(), view<const std::int8_t>{in8.data() + shift, n, count, 1, step}, {.bits = bits});
        else
          d.run(exec(), view<const float>{in32.data() + shift, n, count, 1, step}, {.bits = bits});
        const bits_t got = exec().to_host(out);
        bits_t expected(size, 0xee);
        for (std::size_t i = 0; i < count; i++)
          std::copy_n(want.begin() + static_cast<std::ptrdiff_t>(i * K), K,
                      expected.begin() + static_cast<std::ptrdiff_t>(shift + i * out_step));
        EXPECT_EQ(got, expected) << k << ' ' << shift << ' ' << as_bytes;
      }
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
    return turbo_decoder(setting(k, windows, 0, 2), pi);
  };
  EXPECT_EQ(blamed([&] { decoder(8, any); }), "permutation");
  for (const auto& [windows, pi] : {std::pair{1, &any}, std::pair{8, &linear}}) {
    const turbo_decoder d = decoder(windows, *pi);
    std::mt19937_64 rng(4);
    steps_t llr;
    for (int i = 0; i < 3 * (k + 4); i++)
      llr.push_back(static_cast<std::int8_t>(static_cast<int>(rng() >> 57) - 64));
    const auto want = oracle::turbo_decode_int16(std::vector<int>(llr.begin(), llr.end()),
                                                 std::vector<int>(pi->begin(), pi->end()),
                                                 {.windows = windows, .iterations = 2, .eighths = 6});
    EXPECT_EQ(decode(exec(), d, llr).bits, want.bits) << windows;
  }
}

TEST_P(turbo_int16, stops_where_the_crc_holds) {
  const auto crc = crc24b;
  for (const int k : {120, 1024, 6144}) {
    auto config = setting(k, 0, -1, 8);
    config.stop = early_stop::crc;
    config.crc_polynomial = crc.polynomial;
    config.crc_degree = crc.degree;
    const int count = k == 6144 ? 5 : 11;
    const batch b = make_batch(k, count, k == 6144 ? 0.5 : 1., 3, &crc);
    const turbo_decoder d(config);
    const outcome o = decode(exec(), d, b.llr);
    const auto pi = interleaver(k);
    int early = 0;
    for (int i = 0; i < count; i++) {
      const auto n = static_cast<std::ptrdiff_t>(3 * (k + 4));
      const std::vector<int> llr(b.llr.begin() + i * n, b.llr.begin() + (i + 1) * n);
      const auto want = oracle::turbo_decode_int16(llr, pi,
                                                   {.windows = d.config().windows,
                                                    .overlap = d.config().overlap,
                                                    .iterations = 8,
                                                    .eighths = 6,
                                                    .crc = crc.polynomial,
                                                    .crc_degree = crc.degree});
      const bits_t got(o.bits.begin() + i * k, o.bits.begin() + (i + 1) * k);
      EXPECT_EQ(got, want.bits) << k << ' ' << i;
      EXPECT_EQ(o.iterations[static_cast<std::size_t>(i)], want.iterations) << k << ' ' << i;
      const auto parity =
          oracle::crc(bits_t(want.bits.begin(), want.bits.end() - crc.degree), crc.polynomial, crc.degree);
      const bool holds = parity == bits_t(want.bits.end() - crc.degree, want.bits.end());
      EXPECT_EQ(o.status[static_cast<std::size_t>(i)], holds ? status_stopped : 0) << k << ' ' << i;
      early += want.iterations < 8;
    }
    EXPECT_GT(early, count / 2);
  }
}

TEST_P(turbo_int16, every_block_size_comes_back_without_noise) {
  for (int n = 0; n < 188; n += testing::small_scale() ? 17 : 1) {
    const int k = n < 60    ? 40 + 8 * n
                  : n < 92  ? 528 + 16 * (n - 60)
                  : n < 124 ? 1056 + 32 * (n - 92)
                            : 2112 + 64 * (n - 124);
    const batch b = make_batch(k, 2, 9., static_cast<std::uint64_t>(n));
    const outcome o = decode(exec(), turbo_decoder(setting(k, 0, -1, 2)), b.llr);
    for (int i = 0; i < 2; i++)
      EXPECT_EQ(bits_t(o.bits.begin() + i * k, o.bits.begin() + (i + 1) * k),
                b.sent[static_cast<std::size_t>(i)])
          << k;
  }
}

TEST_P(turbo_int16, equals_every_backend_and_batch) {
  for (const int k : {40, 200, 1024, 6144}) {
    const int count = k == 6144 ? 5 : 67;
    const batch b = make_batch(k, count, 0.2, 11);
    const turbo_decoder d(setting(k, 0, k == 1024 ? 16 : 0));
    const outcome whole = decode(*testing::open_scalar(), d, b.llr);
    EXPECT_EQ(decode(exec(), d, b.llr), whole) << k;
    EXPECT_EQ(decode(exec(), d, b.llr, layout::batch_fastest), whole) << k;
    const auto n = static_cast<std::ptrdiff_t>(3 * (k + 4));
    for (const int size : {1, 2, 7, 8, 15, 16, 17, 31, 33})
      if (size < count) {
        const outcome part = decode(exec(), d, steps_t(b.llr.begin(), b.llr.begin() + size * n));
        EXPECT_EQ(part.bits, bits_t(whole.bits.begin(), whole.bits.begin() + size * k)) << k << ' ' << size;
      }
  }
}

TEST_P(turbo_int16, floats_become_steps) {
  for (const int k : {512, 6080, 6144}) {
    const int count = k == 512 ? 9 : 3;
    const batch b = make_batch(k, count, 0.5, 5);
    auto config = setting(k);
    config.llr_steps = 4.f;
    const turbo_decoder d(config);
    std::vector<float> llr;
    std::mt19937_64 rng(1);
    for (const std::int8_t x : b.llr) {  // anything that rounds to x, and what is beyond the limits
      const float off = 0.9f * (static_cast<float>(rng() >> 40) * 0x1p-24f - 0.5f);
      llr.push_back(x == 127 ? 1e9f : x == -127 ? -1e9f : (static_cast<float>(x) + off) / 4);
    }
    const std::size_t K = static_cast<std::size_t>(k), items = static_cast<std::size_t>(count);
    auto in = on_device(exec(), llr, 3 * (K + 4), items);
    auto bits = exec().make<std::uint8_t>(K, items);
    d.run(exec(), in, {.bits = bits});
    EXPECT_EQ(exec().to_host(bits), decode(exec(), d, b.llr).bits) << k;
  }
}

TEST_P(turbo_int16, a_non_finite_llr_erases_its_codeword_alone) {
  for (const int k : {256, 6080}) {
    const std::size_t K = static_cast<std::size_t>(k), n = 3 * (K + 4), count = 7;
    const batch b = make_batch(k, count, 2., 5);
    const turbo_decoder d(setting(k));
    const outcome clean = decode(exec(), d, b.llr);
    std::vector<float> llr;
    for (const std::int8_t x : b.llr) llr.push_back(static_cast<float>(x) / 8);
    llr[2 * n + 2 * (K + 4) - 5] = std::numeric_limits<float>::quiet_NaN();
    llr[5 * n + n - 1] = -std::numeric_limits<float>::infinity();
    auto in = on_device(exec(), llr, n, count);
    auto bits = exec().make<std::uint8_t>(K, count), status = exec().make<std::uint8_t>(1, count);
    auto iterations = exec().make<std::int32_t>(1, count);
    d.run(exec(), in, {.bits = bits, .iterations = iterations, .status = status});
    const bits_t got = exec().to_host(bits), marks = exec().to_host(status);
    const auto used = exec().to_host(iterations);
    for (std::size_t i = 0; i < count; i++) {
      const bool bad = i == 2 || i == 5;
      EXPECT_EQ(marks[i], bad ? status_erased : 0) << i;
      EXPECT_EQ(used[i], bad ? 0 : 4) << i;
      const auto row = static_cast<std::ptrdiff_t>(i * K);
      EXPECT_EQ(bits_t(got.begin() + row, got.begin() + row + k),
                bad ? bits_t(K) : bits_t(clean.bits.begin() + row, clean.bits.begin() + row + k))
          << i;
    }
  }
}

TEST(turbo_int16_settings, are_checked) {
  const auto with = [](auto change) {
    return blamed([&] {
      auto c = setting(6144);
      change(c);
      turbo_decoder{c};
    });
  };
  EXPECT_EQ(with([](auto&) {}), "");
  EXPECT_EQ(with([](auto& c) { c.algorithm = map_algorithm::log_map, c.extrinsic_scale = 1; }), "algorithm");
  EXPECT_EQ(with([](auto& c) { c.stop = early_stop::sign_agreement; }), "stop");
  EXPECT_EQ(with([](auto& c) { c.extrinsic_scale = 0.7f; }), "extrinsic_scale");
  EXPECT_EQ(with([](auto& c) { c.llr_steps = 0; }), "llr_steps");
  EXPECT_EQ(with([](auto& c) { c.windows = 96; }), "windows");
  EXPECT_EQ(with([](auto& c) { c.windows = 256; }), "windows");
  EXPECT_EQ(with([](auto& c) { c.overlap = 12; }), "overlap");
  EXPECT_EQ(with([](auto& c) { c.overlap = 96; }), "overlap");
  EXPECT_EQ(with([](auto& c) { c.windows = 64, c.overlap = 88; }), "");
  EXPECT_EQ(with([](auto& c) { c.k = 40000; }), "k");
  EXPECT_EQ(turbo_decoder(setting(6144)).config().windows, 64);
  EXPECT_EQ(turbo_decoder(setting(6144)).config().overlap, 8);
  EXPECT_EQ(turbo_decoder(setting(40)).config().windows, 1);
  EXPECT_EQ(turbo_decoder(setting(40)).config().overlap, 0);
  cpu exec({.threads = 1});
  auto llr8 = exec.make<std::int8_t>(3 * 44, 1);
  auto bits = exec.make<std::uint8_t>(40, 1);
  auto soft = exec.make<float>(40, 1);
  EXPECT_EQ(blamed([&] { turbo_decoder(setting(40)).run(exec, llr8, {.bits = bits, .soft = soft}); }),
            "soft");
  auto floats = setting(40);
  floats.precision = turbo_precision::float32;
  EXPECT_EQ(blamed([&] { turbo_decoder(floats).run(exec, llr8, {.bits = bits}); }), "llr");
}

}  // namespace
}  // namespace wb
