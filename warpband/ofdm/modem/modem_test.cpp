// OFDM modulation and demodulation: against sums in double, back and forth, prefixes, strides, a channel in
// the time domain.
#include <warpband/ofdm/modem/modem.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <map>
#include <memory>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include <oracle/ofdm.hpp>
#include <tests/on_backends.hpp>
#include <warpband/channel/tdl/tdl.hpp>
#include <warpband/exec/cuda.hpp>
#include <warpband/nr/carrier.hpp>

namespace modem_test {

using wb::testing::blamed;
using wb::testing::on_device;
using sample = std::complex<float>;
using exact = std::complex<double>;

std::vector<sample> random_values(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<float> normal(0, std::numbers::sqrt2_v<float> / 2);
  std::vector<sample> values(count);
  for (sample& v : values) v = {normal(generator), normal(generator)};
  return values;
}
std::vector<exact> in_double(const std::vector<sample>& v, std::size_t first, std::size_t count) {
  return {v.begin() + static_cast<std::ptrdiff_t>(first),
          v.begin() + static_cast<std::ptrdiff_t>(first + count)};
}
template <class A, class B>
double farthest(const A* a, const B* b, std::size_t count) {
  double distance = 0;
  for (std::size_t i = 0; i < count; i++) {
    const double d = std::abs(exact(a[i]) - exact(b[i]));
    if (!(d <= distance)) distance = d;  // NaN stays
  }
  return distance;
}
double energy(const sample* v, std::size_t count) {
  double sum = 0;
  for (std::size_t i = 0; i < count; i++) sum += std::norm(exact(v[i]));
  return sum;
}

class ofdm_modem : public wb::testing::on_backend {
 protected:
  void SetUp() override {
    on_backend::SetUp();
    if (!IsSkipped() && !GetParam().name.starts_with("cuda") && !wb::has_cpu_fft())
      GTEST_SKIP() << "this build has no FFT for CPUs (WARPBAND_KISSFFT)";
  }
  std::vector<sample> modulate(const wb::ofdm_numerology& n, const std::vector<sample>& values,
                               wb::layout order = wb::layout::row_major) {
    const wb::ofdm_modulator m(n);
    const std::size_t slots = values.size() / m.values();
    const auto in = on_device(exec(), values, slots, m.values(), order);
    // Every sample is written.
    auto out =
        on_device(exec(), std::vector<sample>(slots * m.samples(), {NAN, NAN}), slots, m.samples(), order);
    m.run(exec(), in, out);
    return exec().to_host(out);
  }
  std::vector<sample> demodulate(const wb::ofdm_numerology& n, const std::vector<sample>& samples,
                                 wb::layout order = wb::layout::row_major) {
    const wb::ofdm_demodulator d(n);
    const std::size_t slots = samples.size() / d.samples();
    const auto in = on_device(exec(), samples, slots, d.samples(), order);
    auto out =
        on_device(exec(), std::vector<sample>(slots * d.values(), {NAN, NAN}), slots, d.values(), order);
    d.run(exec(), in, out);
    return exec().to_host(out);
  }
};
WB_ON_ALL_BACKENDS(ofdm_modem);

wb::ofdm_numerology numerology(int size, int subcarriers, bool free_carrier, int prefix, int first,
                               int symbols) {
  wb::ofdm_numerology n;
  n.fft_size = size, n.subcarriers = subcarriers, n.free_carrier = free_carrier;
  n.cyclic_prefix = prefix, n.first_cyclic_prefix = first, n.symbols_per_slot = symbols;
  return n;
}

/// Of one size what definition and double precision make of random numbers; the sums take long, so that all
/// backends share them.
struct reference {
  wb::ofdm_numerology n;
  std::vector<sample> values, samples;        // given to the modulator, to the demodulator
  std::vector<exact> modulated, demodulated;  // what they should give

  explicit reference(const wb::ofdm_numerology& numerology) : n(numerology) {
    const wb::ofdm_modulator m(n);
    values = random_values(m.values(), 1);
    samples = random_values(m.samples(), 2);
    const auto symbol = oracle::ofdm_subcarriers(n.fft_size, n.subcarriers, n.free_carrier);
    const std::vector<exact> received = in_double(samples, 0, samples.size());
    const std::size_t k = static_cast<std::size_t>(n.subcarriers);
    for (int s = 0; s < n.symbols_per_slot; s++) {
      const auto x = oracle::ofdm_modulate(symbol, in_double(values, static_cast<std::size_t>(s) * k, k),
                                           n.prefix_of(s));
      modulated.insert(modulated.end(), x.begin(), x.end());
      const auto y = oracle::ofdm_demodulate(symbol, received.data() + n.first_sample_of(s));
      demodulated.insert(demodulated.end(), y.begin(), y.end());
    }
  }
};
const reference& reference_of(const wb::ofdm_numerology& n) {
  static std::map<int, std::unique_ptr<reference>> made;
  auto& r = made[n.fft_size];
  if (r == nullptr) r = std::make_unique<reference>(n);
  return *r;
}

TEST_P(ofdm_modem, equals_sums_in_double) {
  // All sizes of LTE and WiMAX, and others; odd and even numbers of subcarriers, few and all.
  for (const auto& n : {numerology(8, 5, true, 2, 3, 3), numerology(12, 12, false, 0, 0, 2),
                        numerology(30, 29, true, 30, 30, 1), numerology(128, 72, true, 9, 10, 7),
                        numerology(256, 256, false, 64, 64, 2), numerology(512, 301, false, 36, 40, 2),
                        numerology(600, 1, true, 40, 0, 2), numerology(1024, 840, true, 128, 128, 1),
                        numerology(1536, 900, true, 108, 120, 1), numerology(2048, 1200, true, 144, 160, 1),
                        numerology(4096, 3276, false, 288, 352, 1)}) {
    SCOPED_TRACE(n.fft_size);
    if (wb::testing::small_scale() && n.fft_size > 1536) continue;
    const reference& r = reference_of(n);
    const auto x = modulate(n, r.values);
    const auto y = demodulate(n, r.samples);
    ASSERT_EQ(x.size(), r.modulated.size());
    ASSERT_EQ(y.size(), r.demodulated.size());
    // Values are of order 1; float32 has 6e-8 a step.
    EXPECT_LT(farthest(x.data(), r.modulated.data(), x.size()), 2e-6);
    EXPECT_LT(farthest(y.data(), r.demodulated.data(), y.size()), 2e-6);
  }
}

TEST_P(ofdm_modem, a_round_trip_gives_the_values_and_their_energy) {
  for (const double mhz : {1.4, 5., 15., 20.})
    for (const wb::lte_prefix prefix : {wb::lte_prefix::normal, wb::lte_prefix::extended}) {
      SCOPED_TRACE(mhz);
      const wb::ofdm_numerology n = wb::lte_numerology(mhz, prefix);
      const wb::ofdm_modulator m(n);
      const auto values = random_values(2 * m.values(), 3);
      const auto samples = modulate(n, values);
      const auto back = demodulate(n, samples);
      ASSERT_EQ(back.size(), values.size());
      EXPECT_LT(farthest(back.data(), values.data(), values.size()), 3e-6);
      const std::size_t k = static_cast<std::size_t>(n.subcarriers),
                        size = static_cast<std::size_t>(n.fft_size);
      for (int s = 0; s < n.symbols_per_slot; s++) {
        const double sent = energy(values.data() + static_cast<std::size_t>(s) * k, k);
        const sample* window = samples.data() + n.first_sample_of(s);
        EXPECT_NEAR(energy(window, size) / sent, 1, 2e-6);
        // The prefix is the end of the symbol, sample for sample.
        const std::size_t p = static_cast<std::size_t>(n.prefix_of(s));
        EXPECT_EQ(std::vector(window - p, window), std::vector(window + size - p, window + size));
      }
    }
}

TEST_P(ofdm_modem, a_subcarrier_is_a_tone) {
  // The highest of 72 subcarriers turns 36 times in a symbol, the carrier's neighbour below it -1 times.
  const wb::ofdm_numerology n = numerology(128, 72, true, 9, 9, 1);
  for (const auto& [subcarrier, turns] : {std::pair{71, 36}, {36, 1}, {35, -1}, {0, -36}}) {
    std::vector<sample> values(72);
    values[static_cast<std::size_t>(subcarrier)] = 1;
    const auto x = modulate(n, values);
    for (int i = 0; i < 137; i++) {
      const exact expected = std::polar(1 / std::sqrt(128.), 2 * std::numbers::pi * turns * (i - 9) / 128);
      EXPECT_LT(std::abs(exact(x[static_cast<std::size_t>(i)]) - expected), 1e-7) << subcarrier << " " << i;
    }
  }
}

TEST_P(ofdm_modem, slots_do_not_depend_on_their_batch_or_strides) {
  const wb::ofdm_numerology n = wb::lte_numerology(1.4);
  const wb::ofdm_modulator m(n);
  // More slots than are worked on at once: on a CPU 64 KiB a lane, a slot has 7.5 KiB.
  const std::size_t max_slots = GetParam().name.starts_with("cuda") ? 33 : 150;
  const auto values = random_values(max_slots * m.values(), 4);
  const auto samples = modulate(n, values);
  const auto received = random_values(max_slots * m.samples(), 5);
  const auto found = demodulate(n, received);
  const double rounding = GetParam().name.starts_with("cuda") ? 2e-6 : 0;  // another plan
  for (const std::size_t slots :
       {std::size_t{1}, std::size_t{2}, std::size_t{15}, std::size_t{16}, max_slots - 1}) {
    const auto x =
        modulate(n, {values.begin(), values.begin() + static_cast<std::ptrdiff_t>(slots * m.values())});
    EXPECT_LE(farthest(x.data(), samples.data(), x.size()), rounding) << slots;
    const auto y = demodulate(
        n, {received.begin(), received.begin() + static_cast<std::ptrdiff_t>(slots * m.samples())});
    EXPECT_LE(farthest(y.data(), found.data(), y.size()), rounding) << slots;
  }
  const auto turned = [&](const std::vector<sample>& v, std::size_t elements) {
    std::vector<sample> t(v.size());
    for (std::size_t b = 0; b < max_slots; b++)
      for (std::size_t e = 0; e < elements; e++) t[e * max_slots + b] = v[b * elements + e];
    return t;
  };
  const auto x = modulate(n, turned(values, m.values()), wb::layout::batch_fastest);
  EXPECT_LE(farthest(x.data(), turned(samples, m.samples()).data(), x.size()), rounding);
  const auto y = demodulate(n, turned(received, m.samples()), wb::layout::batch_fastest);
  EXPECT_LE(farthest(y.data(), turned(found, m.values()).data(), y.size()), rounding);
}

TEST_P(ofdm_modem, cpus_give_the_bits_of_scalar_code_for_any_number_of_threads) {
  if (GetParam().name.starts_with("cuda")) GTEST_SKIP() << "cuFFT rounds differently";
  const wb::ofdm_numerology n = wb::lte_numerology(3);
  const wb::ofdm_modulator m(n);
  const wb::ofdm_demodulator d(n);
  const std::size_t slots = 20;
  const auto values = random_values(slots * m.values(), 6), received = random_values(slots * m.samples(), 7);
  const auto run_both = [&](wb::executor& e) {
    const auto in = on_device(e, values, slots, m.values()),
               noise = on_device(e, received, slots, m.samples());
    auto x = e.make<sample>(slots, m.samples()), y = e.make<sample>(slots, m.values());
    m.run(e, in, x);
    d.run(e, noise, y);
    auto outputs = e.to_host(x);
    for (const sample v : e.to_host(y)) outputs.push_back(v);
    return outputs;
  };
  const auto scalar = wb::testing::open_scalar(), three = GetParam().open(3);
  const auto expected = run_both(*scalar);
  EXPECT_EQ(run_both(exec()), expected);
  EXPECT_EQ(run_both(*three), expected);
}

TEST_P(ofdm_modem, nothing_that_is_not_finite_leaves_its_symbol) {
  const wb::ofdm_numerology n = wb::lte_numerology(1.4);
  const wb::ofdm_modulator m(n);
  auto values = random_values(m.values(), 8);
  const auto clean = modulate(n, values);
  values[2 * 72 + 5] = {std::numeric_limits<float>::infinity(), 0};
  const auto samples = modulate(n, values);
  for (int s = 0; s < 7; s++)
    for (int i = -n.prefix_of(s); i < n.fft_size; i++) {
      const std::size_t index = static_cast<std::size_t>(n.first_sample_of(s) + i);
      if (s == 2)
        EXPECT_FALSE(std::isfinite(samples[index].real()) && std::isfinite(samples[index].imag()));
      else
        EXPECT_EQ(samples[index], clean[index]);
    }
}

// A channel of taps between samples: what comes through in the time domain is, behind the demodulator, H
// times what was sent.
TEST_P(ofdm_modem, delays_within_the_prefix_are_a_gain_on_each_subcarrier) {
  for (const auto& n : {wb::lte_numerology(5), numerology(128, 128, false, 16, 16, 14)}) {
    const wb::ofdm_modulator m(n);
    const auto values = random_values(m.values(), 9);
    const auto sent = modulate(n, values);
    const int prefix = std::min(n.cyclic_prefix, n.first_cyclic_prefix);
    const auto link = [&](int longest) {
      const std::vector<oracle::delayed_tap> taps{
          {0, {0.6, -0.2}}, {1, {-0.3, 0.4}}, {prefix / 2, {0.1, 0.5}}, {longest, {-0.2, 0.3}}};
      const auto through = oracle::delay_line(taps, in_double(sent, 0, sent.size()));
      const auto found = demodulate(n, {through.begin(), through.end()});
      const auto h = oracle::frequency_response(
          taps, oracle::ofdm_subcarriers(n.fft_size, n.subcarriers, n.free_carrier));
      std::vector<exact> expected;
      for (std::size_t i = 0; i < values.size(); i++) expected.push_back(h[i % h.size()] * exact(values[i]));
      return farthest(found.data(), expected.data(), found.size());
    };
    EXPECT_LT(link(prefix), 4e-6);
    EXPECT_GT(link(prefix + 1), 1e-2);  // the symbol before leaks in
  }
}

// The same with the channel that links are simulated with: its taps, found from its H, in the time domain.
TEST_P(ofdm_modem, links_in_time_and_in_frequency_agree) {
  const wb::ofdm_numerology n = numerology(128, 128, false, 16, 16, 7);
  wb::tdl_config config;
  const double spaced_ns = 1e9 / n.sample_rate_hz();
  config.profile = {{{0, 0}, {2 * spaced_ns, -3}, {7 * spaced_ns, -2}, {16 * spaced_ns, -6}}};
  config.grid = n.grid(n.symbols_per_slot);
  const wb::tdl_channel channel(config);
  const wb::ofdm_modulator m(n);
  const std::size_t blocks = 3, uses = blocks * config.grid.elements();
  const auto values = random_values(uses, 10);
  const auto in = on_device(exec(), values, uses, 1);
  auto out = exec().make<sample>(uses, 1), h = exec().make<sample>(uses, 1);
  channel.apply(exec(), in, out, h, {.seed = 11});
  const auto over_grid = exec().to_host(out), gains = exec().to_host(h);
  const auto sent = modulate(n, values);

  std::vector<sample> received;
  for (std::size_t b = 0; b < blocks; b++) {
    std::vector<oracle::delayed_tap> taps;
    for (const int delay : {0, 2, 7, 16}) {  // the inverse transform of H, which has its subcarriers around 0
      exact sum = 0;
      for (int k = 0; k < 128; k++)
        sum += exact(gains[b * config.grid.elements() + static_cast<std::size_t>(k)]) *
               std::polar(1. / 128, 2 * std::numbers::pi * (k - 64) * delay / 128);
      taps.push_back({delay, sum});
    }
    const auto through = oracle::delay_line(taps, in_double(sent, b * m.samples(), m.samples()));
    received.insert(received.end(), through.begin(), through.end());
  }
  const auto over_time = demodulate(n, received);
  ASSERT_EQ(over_time.size(), over_grid.size());
  EXPECT_LT(farthest(over_time.data(), over_grid.data(), over_grid.size()), 1e-5);
}

// Runs of symbols from any symbol of a subframe on, at every numerology of 5G NR: samples of the definition,
// with the phase of TS 38.211 section 5.4 from a sum of the lengths of symbols.
TEST_P(ofdm_modem, spans_are_those_of_the_standard) {
  struct row {
    int spacing, blocks, size, first, symbols;
    double carrier;
    bool extended = false;
  };
  for (const row& r :
       {row{15, 6, 128, 0, 14, 0}, row{15, 6, 128, 3, 1, 3.5e9}, row{15, 6, 128, 6, 23, 2.14e9 + 5e3},
        row{15, 6, 384, 13, 2, 7.6e8}, row{30, 6, 128, 20, 61, 3500015e3}, row{30, 6, 128, 14, 56, -1e9},
        row{60, 6, 128, 27, 90, 26e9 + 1}, row{60, 6, 128, 23, 30, 26e9, true},
        row{120, 6, 128, 100, 30, 28e9}}) {
    SCOPED_TRACE(std::to_string(r.spacing) + " " + std::to_string(r.symbols));
    const wb::ofdm_numerology n = wb::nr_numerology(
        {.spacing_khz = r.spacing, .resource_blocks = r.blocks, .extended_prefix = r.extended}, r.size);
    const wb::ofdm_span span{.first_symbol = r.first, .symbols = r.symbols, .carrier_hz = r.carrier};
    const wb::ofdm_modulator m(n, span);
    const wb::ofdm_demodulator d(n, span);
    // Prefixes in samples of 2048 for each spacing: 144 and 16 2^mu more every half millisecond, or 512.
    const int half = n.symbols_per_slot, mu_times_16 = 16 * r.spacing / 15;
    const auto prefix_of = [&](int l) {
      return (r.extended ? 512 : 144 + (l % half == 0 ? mu_times_16 : 0)) * r.size / 2048;
    };
    const std::size_t k = static_cast<std::size_t>(n.subcarriers);
    const auto values = random_values(2 * m.values(), 21);
    std::vector<exact> expected;
    for (std::size_t item = 0; item < 2; item++)
      for (int s = 0; s < r.symbols; s++) {
        const int l = (r.first + s) % (2 * half);
        long double begin = 0;
        for (int i = 0; i < l; i++) begin += prefix_of(i) + r.size;
        begin += prefix_of(l);
        const long double turns =
            std::fmod(static_cast<long double>(r.carrier) * begin / (1e3L * r.spacing * r.size), 1.0L);
        auto x = oracle::ofdm_modulate(
            oracle::ofdm_subcarriers(r.size, n.subcarriers, false),
            in_double(values, item * m.values() + static_cast<std::size_t>(s) * k, k), prefix_of(l));
        for (exact& z : x)
          expected.push_back(z * std::polar(1., -2 * std::numbers::pi * static_cast<double>(turns)));
      }
    ASSERT_EQ(expected.size(), 2 * m.samples());
    for (const std::size_t items : {std::size_t{1}, std::size_t{2}}) {
      const std::vector<sample> given(values.begin(),
                                      values.begin() + static_cast<std::ptrdiff_t>(items * m.values()));
      const auto in = on_device(exec(), given, items, m.values());
      auto samples =
          on_device(exec(), std::vector<sample>(items * m.samples(), {NAN, NAN}), items, m.samples());
      auto back = on_device(exec(), std::vector<sample>(items * m.values(), {NAN, NAN}), items, m.values());
      m.run(exec(), in, samples);
      d.run(exec(), samples, back);
      EXPECT_LT(farthest(exec().to_host(samples).data(), expected.data(), items * m.samples()), 4e-6);
      EXPECT_LT(farthest(exec().to_host(back).data(), given.data(), given.size()), 1e-5);
    }
  }
}

TEST_P(ofdm_modem, has_no_work_without_slots) {
  const wb::ofdm_numerology n;
  EXPECT_TRUE(modulate(n, {}).empty());
  EXPECT_TRUE(demodulate(n, {}).empty());
}

TEST_P(ofdm_modem, wrong_shapes_are_named) {
  const wb::ofdm_numerology n = wb::lte_numerology(1.4);
  const wb::ofdm_modulator m(n);
  const wb::ofdm_demodulator d(n);
  auto values = exec().make<sample>(2, m.values()), few = exec().make<sample>(1, m.values());
  auto samples = exec().make<sample>(2, m.samples()), fewer = exec().make<sample>(2, m.samples() - 1);
  EXPECT_EQ(blamed([&] { m.run(exec(), values, fewer); }), "samples");
  EXPECT_EQ(blamed([&] { m.run(exec(), samples, samples); }), "values");
  EXPECT_EQ(blamed([&] { m.run(exec(), few, samples); }), "samples");
  EXPECT_EQ(blamed([&] { d.run(exec(), fewer, values); }), "samples");
  EXPECT_EQ(blamed([&] { d.run(exec(), samples, few); }), "values");
  EXPECT_EQ(blamed([&] { m.run(exec(), {nullptr, m.values(), 2, 1, m.values()}, samples); }), "values");
}

TEST(ofdm_modem_settings, bad_ones_are_named) {
  const auto blames = [](auto change) {
    wb::ofdm_numerology n;
    change(n);
    const std::string first = blamed([&] { wb::ofdm_modulator{n}; });
    EXPECT_EQ(first, blamed([&] { wb::ofdm_demodulator{n}; }));
    return first;
  };
  EXPECT_EQ(blames([](wb::ofdm_numerology&) {}), "");
  for (const int bad : {-512, 0, 6, 514, 8192})
    EXPECT_EQ(blames([&](wb::ofdm_numerology& n) { n.fft_size = bad; }), "fft_size") << bad;
  EXPECT_EQ(blames([](wb::ofdm_numerology& n) { n.subcarriers = 512; }), "subcarriers");
  EXPECT_EQ(blames([](wb::ofdm_numerology& n) { n.cyclic_prefix = 513; }), "cyclic_prefix");
  EXPECT_EQ(blames([](wb::ofdm_numerology& n) { n.symbols_per_slot = 0; }), "symbols_per_slot");
  const auto blames_span = [](wb::ofdm_span s) { return blamed([&] { wb::ofdm_modulator{{}, s}; }); };
  EXPECT_EQ(blames_span({.first_symbol = 13}), "");
  EXPECT_EQ(blames_span({.first_symbol = 14}), "first_symbol");
  EXPECT_EQ(blames_span({.first_symbol = -1}), "first_symbol");
  EXPECT_EQ(blames_span({.symbols = 65537}), "symbols");
  EXPECT_EQ(blames_span({.carrier_hz = NAN}), "carrier_hz");
}

TEST(ofdm_modem_settings, a_build_without_an_fft_says_so) {
  if (wb::has_cpu_fft()) GTEST_SKIP() << "this build has one";
  const wb::ofdm_modulator m(wb::lte_numerology(1.4));
  const auto exec = wb::testing::open_scalar();
  auto values = exec->make<sample>(1, m.values()), samples = exec->make<sample>(1, m.samples());
  EXPECT_THROW(m.run(*exec, values, samples), wb::device_error);
}

}  // namespace modem_test
