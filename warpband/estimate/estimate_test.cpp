// Channel and noise estimation against plain formulas, the theory of their errors, and themselves on every
// backend.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>

#include <tests/on_backends.hpp>
#include <warpband/channel/tdl/tdl.hpp>
#include <warpband/core/as_size.hpp>
#include <warpband/detect/detector.hpp>
#include <warpband/estimate/estimator.hpp>
#include <warpband/estimate/noise.hpp>
#include <warpband/estimate/profile.hpp>

namespace wb {
namespace estimate_test {

using namespace testing;
using cf = std::complex<float>;
using complexes = std::vector<cf>;

nr_shared_channel pusch_of(int blocks, int layers, nr_dmrs_config dmrs) {
  return nr_shared_channel(
      {.carrier = {.resource_blocks = blocks, .cell_id = 3}, .layers = layers, .dmrs = dmrs});
}

/// Slots through a channel with noise.
struct heard_slots {
  std::size_t slots, rx;
  complexes h, y;  // [uses, rx * layers], [uses, rx]
};
complexes noise_of(std::size_t n, double variance, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> part(0, static_cast<float>(std::sqrt(variance / 2)));
  complexes x(n);
  for (auto& z : x) {
    const float re = part(random);
    z = {re, part(random)};
  }
  return x;
}
/// The grid's pilots, and random symbols of unit energy where data are.
heard_slots sent_through(executor& exec, const nr_shared_channel& channel, const complexes& h, std::size_t rx,
                         std::size_t slots, double n0, unsigned seed) {
  const std::size_t layers = channel.layers(), uses = slots * channel.elements();
  auto grid = exec.make<cf>(uses, channel.ports());
  channel.map(
      exec, {on_device(exec, noise_of(slots * channel.symbols_of(0), 1, seed), slots, channel.symbols_of(0))},
      grid);
  const complexes x = exec.to_host(grid);
  complexes y = noise_of(uses * rx, n0, seed + 1);
  for (std::size_t u = 0; u < uses; u++)
    for (std::size_t r = 0; r < rx; r++)
      for (std::size_t l = 0; l < layers; l++)
        y[u * rx + r] += h[(u * rx + r) * layers + l] * x[u * layers + l];
  return {slots, rx, h, std::move(y)};
}
/// The carrier's grid, with a prefix that covers all delays.
ofdm_grid grid_of(const nr_carrier& carrier) {
  ofdm_grid grid = carrier.grid();
  grid.cyclic_prefix_us = 2.7;
  grid.symbol_period_us.reset();
  return grid;
}
/// H of a delay line of 5G NR.
complexes fading(executor& exec, const nr_carrier& carrier, int layers, int rx, std::size_t slots,
                 double doppler_hz, const char* profile) {
  const tdl_channel line({.profile = tdl_profile_named(profile),
                          .grid = grid_of(carrier),
                          .doppler_hz = doppler_hz,
                          .streams = layers,
                          .rx_antennas = rx});
  auto h = exec.make<cf>(slots * carrier.elements(), static_cast<std::size_t>(layers * rx));
  line.response(exec, h, {.seed = 5});
  return exec.to_host(h);
}
estimator_config wiener_of(const nr_carrier& carrier, const char* profile, double doppler_hz, double n0,
                           int taps = 16) {
  estimator_config c{.method = estimate_method::lmmse,
                     .taps = taps,
                     .noise_var = n0,
                     .doppler_hz = doppler_hz,
                     .spacing_hz = grid_of(carrier).spacing_hz,
                     .period_us = grid_of(carrier).period_us(),
                     .profile = {{}, {}}};
  const tdl_profile p = tdl_profile_named(profile);
  for (std::size_t i = 0; i < p.taps.size(); i++) {
    c.profile.delays_ns.push_back(p.taps[i].delay_ns);
    c.profile.powers.push_back(std::pow(10, p.taps[i].power_db / 10));
  }
  return c;
}

struct estimates {
  complexes h;
  std::vector<float> n0;
};
estimates estimated(executor& exec, const channel_estimator& e, const heard_slots& in, double n0) {
  const std::size_t uses = in.slots * e.places();
  auto h = exec.make<cf>(uses, in.rx * e.ports());
  auto noise = exec.make<float>(uses, 1);
  const auto given = on_device(exec, std::vector<float>{static_cast<float>(n0)}, 1, 1);
  e.run(exec, on_device(exec, in.y, in.slots * e.elements(), in.rx), {given.data(), 1, in.slots, 1, 0},
        {.channel = h, .noise_var = noise});
  return {exec.to_host(h), exec.to_host(noise)};
}
/// Mean square error of a layer at the places.
double error_of(const estimates& found, const heard_slots& in, const std::vector<std::int32_t>& places,
                std::size_t elements, std::size_t layers, std::size_t layer) {
  double sum = 0;
  for (std::size_t slot = 0; slot < in.slots; slot++)
    for (std::size_t i = 0; i < places.size(); i++)
      for (std::size_t r = 0; r < in.rx; r++) {
        const std::size_t element = slot * elements + static_cast<std::size_t>(places[i]),
                          e = r * layers + layer;
        sum += std::norm(found.h[(slot * places.size() + i) * in.rx * layers + e] -
                         in.h[element * in.rx * layers + e]);
      }
  return sum / static_cast<double>(in.slots * places.size() * in.rx);
}

class estimate : public on_backend {};
WB_ON_ALL_BACKENDS(estimate);

/// Least squares from the definition: pilots one by one, pairs averaged, straight lines through neighbours.
TEST_P(estimate, least_squares_equals_its_definition) {
  for (const int length : {1, 2}) {
    const nr_shared_channel channel =
        pusch_of(3, 2, {.length = length, .additional_positions = 1, .ports = {1, 2}});
    const int subcarriers = channel.config().carrier.subcarriers(), symbols = 14;
    const heard_slots in =
        sent_through(exec(), channel, noise_of(channel.elements() * 4, 1, 1), 2, 1, 0.1, 2);
    const channel_estimator estimator(pilots_of(channel), {});
    const estimates found = estimated(exec(), estimator, in, 0.1);
    for (int layer = 0; layer < 2; layer++) {
      const complexes p = channel.dmrs(layer);
      for (std::size_t r = 0; r < 2; r++) {
        // Estimates at the pilots, the same at all pilots of a pair (and of both symbols).
        std::vector<int> rows;
        std::vector<std::vector<std::pair<int, std::complex<double>>>> row_estimates;
        for (std::size_t i = 0; i < channel.dmrs_symbols().size(); i += static_cast<std::size_t>(length)) {
          std::vector<std::pair<int, std::complex<double>>> row;
          for (int k = layer; k < subcarriers; k += 2) {  // port 1 is on even, port 2 on odd subcarriers
            const int first = k / 4 * 4 + layer;
            std::complex<double> mean = 0;
            for (int j = 0; j < length; j++)
              for (const int q : {first, first + 2}) {
                const auto e = static_cast<std::size_t>((channel.dmrs_symbols()[i] + j) * subcarriers + q);
                mean += std::complex<double>(in.y[e * 2 + r]) / std::complex<double>(p[e]) / (2.0 * length);
              }
            row.emplace_back(k, mean);
          }
          for (int j = 0; j < length; j++)
            rows.push_back(channel.dmrs_symbols()[i] + j), row_estimates.push_back(row);
        }
        const auto line = [](double x, double x0, std::complex<double> y0, double x1,
                             std::complex<double> y1) { return y0 + (y1 - y0) * ((x - x0) / (x1 - x0)); };
        for (int l = 0; l < symbols; l++)
          for (int k = 0; k < subcarriers; k++) {
            std::vector<std::complex<double>> of_row;
            for (const auto& row : row_estimates) {
              std::size_t n = 0;
              while (n + 2 < row.size() && k > row[n + 1].first) n++;
              of_row.push_back(line(k, row[n].first, row[n].second, row[n + 1].first, row[n + 1].second));
            }
            std::size_t t = 0;
            while (t + 2 < rows.size() && l > rows[t + 1]) t++;
            const std::complex<double> expected = line(l, rows[t], of_row[t], rows[t + 1], of_row[t + 1]);
            const auto u = static_cast<std::size_t>(l * subcarriers + k);
            ASSERT_LT(
                std::abs(std::complex<double>(found.h[(u * 2 + r) * 2 + static_cast<std::size_t>(layer)]) -
                         expected),
                2e-5)
                << l << ", " << k;
          }
      }
    }
  }
}

/// Of a channel that is a constant nothing but noise is reported: squares of the weights, pairs of power 2.
TEST_P(estimate, least_squares_reports_noise_by_its_weights) {
  const nr_shared_channel channel = pusch_of(3, 2, {.additional_positions = 1, .ports = {1, 2}});
  const std::size_t elements = channel.elements();
  complexes h(elements * 4, cf(0.3f, -0.4f));
  const heard_slots in = sent_through(exec(), channel, h, 2, 1, 0, 2);
  const channel_estimator estimator(pilots_of(channel), {});
  const estimates found = estimated(exec(), estimator, in, 0);
  for (const float n0 : found.n0) EXPECT_NEAR(n0, 0, 1e-9);
  const estimate_filters f = make_filters(pilots_of(channel), {});
  const auto gain = [&](std::size_t port, std::size_t l, std::size_t k) {
    return f.gain[port * elements + l * 36 + k];
  };
  for (const std::size_t port : {0u, 1u}) {  // port 1 is on even subcarriers, port 2 on odd ones
    EXPECT_NEAR(gain(port, 2, 4 + port), 0.25, 1e-6);
    EXPECT_NEAR(gain(port, 2, 7 + port), 0.25 / 2, 1e-6) << "in the middle of two pairs";
    EXPECT_NEAR(gain(port, 11, 4 + port), 0.25, 1e-6);
    EXPECT_NEAR(gain(port, 5, 4 + port), 0.25 * (4.0 + 1) / 9, 1e-6) << "2 / 3 and 1 / 3";
    EXPECT_NEAR(gain(port, 13, 4 + port), 0.25 * (121.0 + 4) / 81, 1e-6) << "11 / 9 and -2 / 9";
  }
}

/// The error that is reported is the one that is made, at every symbol and at every subcarrier of a pattern,
/// with much noise and with none: straight lines measure it, Wiener filters know it.
TEST_P(estimate, reported_error_is_the_one_made) {
  struct row {
    const char* profile;
    double doppler_hz;
    int layers, spacing_khz;
    nr_dmrs_config dmrs;
  };
  const row rows[] = {
      {"tdlc300", 100, 1, 30, {.additional_positions = 1}},
      {"tdlb100", 400, 2, 15, {.additional_positions = 2}},
      {"tdlc300", 400, 1, 30, {}},
      {"tdla30", 10, 2, 30, {.type = 2, .additional_positions = 3, .cdm_groups = 3}},
      {"tdlc300", 100, 4, 30, {.length = 2, .additional_positions = 1, .ports = {0, 1, 4, 5}}}};
  for (const row& r : rows) {
    const int blocks = 6;
    const nr_shared_channel channel({.carrier = {.spacing_khz = r.spacing_khz, .resource_blocks = blocks},
                                     .layers = r.layers,
                                     .dmrs = r.dmrs});
    const nr_carrier& carrier = channel.config().carrier;
    const std::size_t slots = 80, rx = 2, elements = channel.elements(), subcarriers = 12 * blocks,
                      pairs = rx * channel.layers();
    const complexes h = fading(exec(), carrier, r.layers, 2, slots, r.doppler_hz, r.profile);
    for (const double n0 : {0.1, 1e-3, 1e-10}) {
      const heard_slots in = sent_through(exec(), channel, h, rx, slots, n0, 11);
      estimator_config wiener = wiener_of(carrier, r.profile, r.doppler_hz, std::max(n0, 1e-6));
      for (const estimator_config& config : {estimator_config{.doppler_hz = r.doppler_hz}, wiener}) {
        SCOPED_TRACE(std::string(r.profile) + (config.method == estimate_method::ls ? " ls " : " lmmse ") +
                     std::to_string(n0));
        const estimates found = estimated(exec(), channel_estimator(pilots_of(channel), config), in, n0);
        // By symbol, and by subcarrier of a block: means over the others.
        std::vector<double> made(14 + 12), reported(14 + 12);
        for (std::size_t u = 0; u < slots * elements; u++) {
          const std::size_t l = u % elements / subcarriers, k = 14 + u % subcarriers % 12;
          double error = 0;
          for (std::size_t e = 0; e < pairs; e++)
            error += std::norm(found.h[u * pairs + e] - h[u * pairs + e]);
          for (const std::size_t i : {l, k}) {
            made[i] += error / static_cast<double>(rx);
            reported[i] += found.n0[u] - static_cast<float>(n0);
          }
        }
        for (std::size_t i = 0; i < made.size(); i++)
          EXPECT_NEAR(made[i] / reported[i], 1, 0.25)
              << (i < 14 ? "symbol " : "subcarrier ") << (i < 14 ? i : i - 14);
      }
    }
  }
}

/// Pilots at one time do not say how the channel changes: then it is what doppler_hz says.
TEST(estimate_filters, one_time_takes_the_doppler_frequency_that_it_is_given) {
  const pilot_pattern pilots = pilots_of(pusch_of(6, 1, {}));
  const auto change = [&](double hz) {
    return make_filters(pilots, {.doppler_hz = hz}).spread.weight[(13 * 72 + 5) * spread_terms + 3];
  };
  EXPECT_EQ(change(0), 0);
  const double turn = 2 * 3.14159265358979 * 100 * 11 * 1e-3 / 28;
  EXPECT_NEAR(change(100), 2 - 2 * std::cyl_bessel_j(0.0, turn), 1e-5);
}

/// Spacing and period are those of the slot's numerology; another one is refused.
TEST_P(estimate, numerology_is_that_of_the_pilots) {
  for (const int khz : {15, 60}) {
    const nr_shared_channel channel(
        {.carrier = {.spacing_khz = khz, .resource_blocks = 8}, .dmrs = {.additional_positions = 1}});
    const nr_carrier& carrier = channel.config().carrier;
    const pilot_pattern pilots = pilots_of(channel);
    estimator_config by_hand = wiener_of(carrier, "tdlb100", 100, 0.02), open = by_hand;
    open.spacing_hz.reset(), open.period_us.reset();
    by_hand.period_us = carrier.grid().period_us();
    const channel_estimator automatic(pilots, open);
    EXPECT_EQ(automatic.config().spacing_hz, 1e3 * khz);
    EXPECT_NEAR(automatic.config().period_us.value(), 15e3 / khz / 14, 1e-9);
    EXPECT_EQ(automatic.error_variance(0, 0.02), channel_estimator(pilots, by_hand).error_variance(0, 0.02));
    by_hand.spacing_hz = 30e3;
    EXPECT_EQ(blamed([&] { make_filters(pilots, by_hand); }, [&] { channel_estimator(pilots, by_hand); }),
              "spacing_hz");
    by_hand.spacing_hz.reset();
    by_hand.period_us = 35.7;
    EXPECT_EQ(blamed([&] { make_filters(pilots, by_hand); }, [&] { completed(by_hand, pilots); }),
              "period_us");
    by_hand.period_us.reset();
    auto y = exec().make<cf>(channel.elements(), 1);
    EXPECT_EQ(blamed([&] { estimate_profile(exec(), pilots, y, 0, {.spacing_hz = 30e3}); }), "spacing_hz");
  }
  const pilot_pattern unknown = comb_pilots(120, 14, {0, 7}, {0, 0}, 6, {{1.f, 1.f, 1.f}, {1.f, 1.f, 1.f}});
  EXPECT_EQ(blamed([&] { make_filters(unknown, {.method = estimate_method::lmmse}); }), "spacing_hz");
  EXPECT_EQ(blamed([&] { make_filters(unknown, {.method = estimate_method::lmmse, .spacing_hz = 15e3}); }),
            "period_us");
  EXPECT_EQ(blamed([&] { make_filters(unknown, {.spacing_hz = 0.5}); }), "spacing_hz");
  make_filters(unknown, {});
}

/// Without silent elements too a selective channel is not taken for noise.
TEST_P(estimate, noise_of_a_selective_channel_is_not_too_high) {
  struct row {
    const char* profile;
    int spacing_khz, blocks, type;
    double snr_db;
  };
  for (const row& r : {row{"tdlc300", 30, 12, 1, 30},
                       {"tdlc300", 30, 24, 1, 40},
                       {"tdlc300", 15, 12, 2, 30},
                       {"tdlb100", 60, 8, 1, 30},
                       {"tdlc300", 30, 2, 1, 15}}) {
    const int layers = r.type == 1 ? 4 : 6;  // of all CDM groups
    const nr_shared_channel channel(
        {.direction = r.type == 1 ? nr_direction::uplink : nr_direction::downlink,
         .carrier = {.spacing_khz = r.spacing_khz, .resource_blocks = r.blocks},
         .layers = layers,
         .dmrs = {.type = r.type, .additional_positions = 1, .cdm_groups = r.type + 1}});
    const pilot_pattern pilots = pilots_of(channel);
    ASSERT_TRUE(pilots.silent.empty());
    const std::size_t slots = 30, rx = 2;
    const double n0 = std::pow(10, -r.snr_db / 10);
    const complexes h = fading(exec(), channel.config().carrier, layers, 2, slots, 50, r.profile);
    complexes y = noise_of(slots * channel.elements() * rx, n0, 5);
    for (int p = 0; p < layers; p++) {  // DMRS alone
      const complexes a = channel.dmrs(p);
      for (std::size_t u = 0; u < slots * channel.elements(); u++)
        for (std::size_t i = 0; i < rx; i++)
          y[u * rx + i] += h[(u * rx + i) * as_size(layers) + as_size(p)] * a[u % channel.elements()];
    }
    const noise_estimator estimator(pilots);
    auto noise = exec().make<float>(slots, 1);
    estimator.run(exec(), on_device(exec(), y, slots * channel.elements(), rx), {.noise_var = noise});
    double mean = 0;
    for (const float x : exec().to_host(noise)) mean += x / static_cast<double>(slots);
    EXPECT_NEAR(10 * std::log10(mean / n0), 0, 0.4)
        << r.profile << " " << r.spacing_khz << " kHz, leak " << estimator.leak();
    EXPECT_LT(estimator.leak(), r.blocks > 5 ? 1e-5 : 1e-2);
  }
}

/// In a flat channel that does not change, interpolation adds nothing but noise.
TEST_P(estimate, least_squares_error_is_that_of_theory) {
  const nr_shared_channel channel = pusch_of(20, 2, {.additional_positions = 1});
  const std::size_t slots = 24;
  complexes h(slots * channel.elements() * 4);
  const complexes flat = noise_of(slots * 4, 1, 4);
  for (std::size_t i = 0; i < h.size(); i++) h[i] = flat[i / (channel.elements() * 4) * 4 + i % 4];
  const heard_slots in = sent_through(exec(), channel, h, 2, slots, 0.2, 9);
  const std::vector<std::int32_t> rows = [&] {  // symbols between the DMRS
    std::vector<std::int32_t> places;
    for (const std::int32_t p : channel.data_places())
      if (p / 240 == 2 || p / 240 == 11 || p / 240 == 6) places.push_back(p);
    for (std::int32_t k = 0; k < 240; k++) places.push_back(2 * 240 + k);
    return places;
  }();
  const channel_estimator estimator(pilots_of(channel), {}, rows);
  const estimates found = estimated(exec(), estimator, in, 0.2);
  // Symbol 2: pairs of pilots of energy 2, half of all subcarriers between pairs (1/3, 2/3 or 0, 1 of each).
  double sum = 0;
  for (std::size_t slot = 0; slot < slots; slot++)
    for (std::size_t i = rows.size() - 240; i < rows.size(); i++)
      for (std::size_t e = 0; e < 4; e++)
        sum += std::norm(found.h[(slot * rows.size() + i) * 4 + e] - flat[slot * 4 + e]);
  const double measured = sum / static_cast<double>(slots * 240 * 4);
  const double pair = 0.2 / 4, line = (0.25 + 0.25) * pair;  // in the middle between two pairs
  EXPECT_NEAR(measured, (3 * pair + line) / 4, 0.06 * pair);
}

/// Wiener filters in the channel that they are made for: measured errors are those that they promise, below
/// those of least squares, also at another N0.
TEST_P(estimate, wiener_error_is_that_of_theory) {
  struct row {
    const char* profile;
    int layers;
    double doppler_hz, n0;
    nr_dmrs_config dmrs;
  };
  const row rows[] = {
      {"tdlc300", 1, 100, 0.1, {.additional_positions = 1}},
      {"tdlb100", 2, 400, 0.5, {.additional_positions = 1}},
      {"tdla30", 2, 10, 0.02, {.type = 2, .additional_positions = 2, .cdm_groups = 3}},
      {"tdlc300", 4, 50, 0.05, {.length = 2, .additional_positions = 1, .ports = {0, 1, 4, 5}}}};
  for (const row& r : rows) {
    SCOPED_TRACE(r.profile);
    const nr_shared_channel channel = pusch_of(12, r.layers, r.dmrs);
    const nr_carrier& carrier = channel.config().carrier;
    const std::size_t slots = 24;
    const complexes h = fading(exec(), carrier, r.layers, 2, slots, r.doppler_hz, r.profile);
    for (const double n0 : {r.n0, 3 * r.n0}) {
      const heard_slots in = sent_through(exec(), channel, h, 2, slots, n0, 11);
      const channel_estimator wiener(pilots_of(channel), wiener_of(carrier, r.profile, r.doppler_hz, r.n0),
                                     channel.data_places()),
          squares(pilots_of(channel), {}, channel.data_places());
      const estimates found = estimated(exec(), wiener, in, n0), plain = estimated(exec(), squares, in, n0);
      double mean = 0, promised = 0, simple = 0;
      for (std::size_t l = 0; l < channel.layers(); l++) {
        mean += error_of(found, in, channel.data_places(), channel.elements(), channel.layers(), l);
        simple += error_of(plain, in, channel.data_places(), channel.elements(), channel.layers(), l);
        promised += wiener.error_variance(l, n0);
      }
      EXPECT_NEAR(mean / promised, 1, 0.1) << n0;
      EXPECT_LT(mean, 0.8 * simple) << n0;
      double trusted = 0;
      for (const float x : found.n0) trusted += x;
      EXPECT_NEAR(trusted / static_cast<double>(found.n0.size()), n0 + promised, 1e-3 * (n0 + promised));
    }
  }
}

/// A channel of a fourth of the power in a fourth of the noise has the same filters and a fourth of the
/// error.
TEST(estimate_filters, channel_power_scales_the_error_alone) {
  const nr_shared_channel channel = pusch_of(6, 1, {.additional_positions = 1});
  const estimator_config one = wiener_of(channel.config().carrier, "tdlc300", 100, 0.1);
  estimator_config weak = one;
  weak.channel_power = 0.25;
  weak.noise_var = 0.025;
  const pilot_pattern pilots = pilots_of(channel);
  const estimate_filters a = make_filters(pilots, one), b = make_filters(pilots, weak);
  EXPECT_EQ(a.frequency, b.frequency);
  EXPECT_EQ(a.time, b.time);
  EXPECT_EQ(a.gain, b.gain);
  EXPECT_NEAR(channel_estimator(pilots, weak).error_variance(0, 0.025),
              0.25 * channel_estimator(pilots, one).error_variance(0, 0.1), 1e-7);
  weak.channel_power = 0;
  EXPECT_EQ(blamed([&] { check(weak); }), "channel_power");
  weak.channel_power = 1e-6, weak.noise_var = 10;
  EXPECT_EQ(blamed([&] { check(weak); }), "noise_var");
}

/// Wiener filters of an estimated profile are nearly as good as those of the true one.
TEST_P(estimate, profile_is_found) {
  const double n0 = 0.1;
  const nr_shared_channel channel = pusch_of(24, 1, {.additional_positions = 1});
  const nr_carrier& carrier = channel.config().carrier;
  const std::size_t slots = 40;
  heard_slots in =
      sent_through(exec(), channel, fading(exec(), carrier, 1, 2, slots, 20, "tdlc300"), 2, slots, n0, 31);
  const pilot_pattern pilots = pilots_of(channel);
  estimator_config known = wiener_of(carrier, "tdlc300", 20, n0), guessed = known;
  guessed.profile =
      estimate_profile(exec(), pilots, on_device(exec(), in.y, slots * channel.elements(), 2), n0);
  double mean = 0, power = 0, square = 0;
  for (std::size_t i = 0; i < guessed.profile.powers.size(); i++) {
    mean += guessed.profile.delays_ns[i] * guessed.profile.powers[i];
    square += guessed.profile.delays_ns[i] * guessed.profile.delays_ns[i] * guessed.profile.powers[i];
    power += guessed.profile.powers[i];
  }
  const double spread = std::sqrt(square / power - mean * mean / power / power);
  EXPECT_NEAR(spread, 300, 90);
  const auto error = [&](const estimator_config& c) {
    const channel_estimator e(pilots, c, channel.data_places());
    return error_of(estimated(exec(), e, in, n0), in, channel.data_places(), channel.elements(), 1, 0);
  };
  EXPECT_LT(error(guessed), 1.25 * error(known));
  EXPECT_LT(error(guessed), 0.8 * error({}));
  EXPECT_EQ(blamed([&] {
              estimate_profile(exec(), pilots, on_device(exec(), in.y, slots * channel.elements(), 2), -1);
            }),
            "noise_var");
}

TEST_P(estimate, pilots_of_lte_are_interpolated) {
  std::vector<complexes> values(4, complexes(20, cf(0.8f, -0.6f)));
  const pilot_pattern pilots = comb_pilots(120, 14, {0, 4, 7, 11}, {0, 3, 0, 3}, 6, values);
  complexes h(120 * 14);
  for (int l = 0; l < 14; l++)  // straight lines in frequency and, as far as they go, in time
    for (int k = 0; k < 120; k++)
      h[static_cast<std::size_t>(l * 120 + k)] =
          cf(1, 2) + cf(0.01f, -0.02f) * static_cast<float>(k) + cf(0.1f, 0.2f) * static_cast<float>(l);
  complexes y;
  for (const cf& z : h) y.push_back(z * cf(0.8f, -0.6f));
  const estimates found = estimated(exec(), channel_estimator(pilots, {}), {1, 1, h, y}, 0.5);
  for (std::size_t i = 0; i < h.size(); i++) EXPECT_LT(std::abs(found.h[i] - h[i]), 1e-4) << i;
}

TEST_P(estimate, noise_variance_and_covariance_have_no_bias) {
  for (const int layers : {1, 4}) {  // with and without silent elements
    const nr_shared_channel channel = pusch_of(24, layers, {.additional_positions = 1});
    const std::size_t slots = 30, rx = 3;
    const double n0 = 0.3;
    const complexes h = fading(exec(), channel.config().carrier, layers, 3, slots, 0, "tdla30");
    heard_slots in = sent_through(exec(), channel, h, rx, slots, n0, 21);
    // An interferer of power 2 from one direction, white over resource elements.
    const complexes interference = noise_of(in.y.size() / rx, 2, 77);
    const cf direction[3] = {{1, 0}, {0, 1}, {-0.6f, 0.8f}};
    for (std::size_t i = 0; i < in.y.size(); i++) in.y[i] += direction[i % rx] * interference[i / rx];
    const noise_estimator estimator(pilots_of(channel));
    auto covariance = exec().make<cf>(slots, rx * rx);
    auto noise = exec().make<float>(slots, 1);
    estimator.run(exec(), on_device(exec(), in.y, slots * channel.elements(), rx),
                  {.covariance = covariance, .noise_var = noise});
    const complexes r = exec().to_host(covariance);
    const std::vector<float> variance = exec().to_host(noise);
    for (std::size_t e = 0; e < rx * rx; e++) {
      std::complex<double> mean = 0;
      for (std::size_t s = 0; s < slots; s++) mean += std::complex<double>(r[s * rx * rx + e]);
      mean /= static_cast<double>(slots);
      const std::complex<double> expected =
          2.0 * std::complex<double>(direction[e / rx] * std::conj(direction[e % rx])) +
          (e % (rx + 1) == 0 ? n0 : 0);
      EXPECT_LT(std::abs(mean - expected), 0.12) << layers << " layers, entry " << e;
    }
    for (std::size_t s = 0; s < slots; s++) {
      const float trace = r[s * 9].real() + r[s * 9 + 4].real() + r[s * 9 + 8].real();
      EXPECT_NEAR(variance[s], trace / 3, 1e-4 * trace);
    }
  }
}

/// Behind the whitener an interferer is rejected: LLRs are those of the exact interference rejection
/// combiner.
TEST_P(estimate, whitening_rejects_interference) {
  const std::size_t uses = 400, rx = 4;
  const complexes h = noise_of(uses * rx, 1, 1), symbols = noise_of(uses, 1, 2),
                  w = noise_of(uses * rx, 0.05, 3), interference = noise_of(uses, 3, 4),
                  direction = noise_of(rx, 1, 5);
  complexes y(uses * rx), r(rx * rx);
  std::vector<int> sent;
  for (std::size_t u = 0; u < uses; u++) {
    const int b0 = symbols[u].real() < 0, b1 = symbols[u].imag() < 0;
    sent.push_back(b0), sent.push_back(b1);
    const cf x(b0 ? -std::sqrt(0.5f) : std::sqrt(0.5f), b1 ? -std::sqrt(0.5f) : std::sqrt(0.5f));
    for (std::size_t a = 0; a < rx; a++)
      y[u * rx + a] = h[u * rx + a] * x + w[u * rx + a] + direction[a] * interference[u];
  }
  for (std::size_t i = 0; i < rx * rx; i++)
    r[i] = 3.f * direction[i / rx] * std::conj(direction[i % rx]) + (i % (rx + 1) == 0 ? 0.05f : 0.f);
  auto wy = exec().make<cf>(uses, rx), wh = exec().make<cf>(uses, rx);
  whitener().run(exec(), on_device(exec(), r, 1, rx * rx), 0, on_device(exec(), h, uses, rx),
                 on_device(exec(), y, uses, rx), wh, wy);
  // White noise: the energy of L^-1 (y - H x) is 1 for each antenna.
  const complexes white_y = exec().to_host(wy), white_h = exec().to_host(wh);
  double energy = 0;
  int wrong = 0;
  for (std::size_t u = 0; u < uses; u++) {
    cf matched = 0;
    const cf x(sent[2 * u] ? -std::sqrt(0.5f) : std::sqrt(0.5f),
               sent[2 * u + 1] ? -std::sqrt(0.5f) : std::sqrt(0.5f));
    for (std::size_t a = 0; a < rx; a++) {
      energy += std::norm(white_y[u * rx + a] - white_h[u * rx + a] * x);
      matched += std::conj(white_h[u * rx + a]) * white_y[u * rx + a];
    }
    wrong += (matched.real() < 0) != (sent[2 * u] != 0);
    wrong += (matched.imag() < 0) != (sent[2 * u + 1] != 0);
  }
  EXPECT_NEAR(energy / static_cast<double>(uses * rx), 1, 0.08);
  EXPECT_LT(wrong, 4);
}

TEST_P(estimate, same_bits_on_every_backend) {
  const nr_shared_channel channel = pusch_of(6, 3, {.additional_positions = 1});
  const auto scalar = open_scalar();
  const complexes h = fading(*scalar, channel.config().carrier, 3, 4, 2, 100, "tdlc300");
  const heard_slots in = sent_through(*scalar, channel, h, 4, 2, 0.1, 3);
  for (const int positions : {0, 1, 2}) {  // ls measures each in its own way
    const nr_shared_channel other = pusch_of(25, 3, {.additional_positions = positions});
    const heard_slots heard = sent_through(
        *scalar, other, fading(*scalar, other.config().carrier, 3, 4, 2, 100, "tdlc300"), 4, 2, 0.1, 3);
    for (const estimator_config& config :
         {estimator_config{.doppler_hz = 100}, wiener_of(other.config().carrier, "tdlc300", 100, 0.1)}) {
      const channel_estimator estimator(pilots_of(other), config);
      const estimates ours = estimated(exec(), estimator, heard, 0.1),
                      theirs = estimated(*scalar, estimator, heard, 0.1);
      EXPECT_EQ(std::memcmp(ours.h.data(), theirs.h.data(), ours.h.size() * sizeof(cf)), 0);
      EXPECT_EQ(ours.n0, theirs.n0);
    }
  }
  const noise_estimator noise(pilots_of(channel));
  const auto run = [&](executor& e) {
    auto covariance = e.make<cf>(2, 16);
    const auto y = on_device(e, in.y, 2 * channel.elements(), 4);
    noise.run(e, y, {.covariance = covariance});
    auto wy = e.make<cf>(2 * channel.elements(), 4), wh = e.make<cf>(2 * channel.elements(), 12);
    whitener().run(e, covariance, 0.01f, on_device(e, in.h, 2 * channel.elements(), 12), y, wh, wy);
    return std::pair(e.to_host(wy), e.to_host(wh));
  };
  const auto a = run(exec()), b = run(*scalar);
  EXPECT_EQ(std::memcmp(a.first.data(), b.first.data(), a.first.size() * sizeof(cf)), 0);
  EXPECT_EQ(std::memcmp(a.second.data(), b.second.data(), a.second.size() * sizeof(cf)), 0);
}

/// A slot with a NaN leaves its neighbours alone; its own estimates are NaN, which detectors erase.
TEST_P(estimate, bad_input_stays_in_its_slot) {
  const nr_shared_channel channel = pusch_of(4, 1, {});
  heard_slots in = sent_through(exec(), channel, complexes(2 * channel.elements(), 1), 1, 2, 0.1, 3);
  const estimates good = estimated(exec(), channel_estimator(pilots_of(channel), {}), in, 0.1);
  in.y[2 * 48] = std::numeric_limits<float>::quiet_NaN();  // a pilot of slot 0
  const estimates bad = estimated(exec(), channel_estimator(pilots_of(channel), {}), in, 0.1);
  EXPECT_TRUE(std::isnan(bad.h[0].real()));
  for (std::size_t i = channel.elements(); i < 2 * channel.elements(); i++) {
    EXPECT_EQ(bad.h[i], good.h[i]);
    EXPECT_EQ(bad.n0[i], good.n0[i]);
  }
  for (std::size_t i = 0; i < channel.elements(); i++)
    EXPECT_TRUE(std::isfinite(bad.n0[i])) << "the measured error leaves the pilot out";
}

TEST(estimate_input, is_checked) {
  const nr_shared_channel channel = pusch_of(2, 1, {});
  const pilot_pattern pilots = pilots_of(channel);
  EXPECT_EQ(blamed([&] { channel_estimator(pilots, {.taps = 0}); }), "");  // has no meaning with ls
  const auto blamed_setting = [&](estimator_config c) {
    c.method = estimate_method::lmmse;
    return blamed([&] { check(c); }, [&] { channel_estimator(pilots, c); });
  };
  EXPECT_EQ(blamed_setting({.taps = 0}), "taps");
  EXPECT_EQ(blamed_setting({.noise_var = 0}), "noise_var");
  EXPECT_EQ(blamed_setting({.doppler_hz = -1}), "doppler_hz");
  EXPECT_EQ(blamed_setting({.profile = {{0, 1}, {1}}}), "powers");
  EXPECT_EQ(blamed_setting({.profile = {{0}, {0}}}), "powers");
  EXPECT_EQ(blamed_setting({.profile = {{}, {}}}), "delays_ns");
  EXPECT_EQ(blamed([&] { channel_estimator(pilots, {}, {-1}); }), "places");
  EXPECT_EQ(blamed([&] { channel_estimator(pilots, {}, {24 * 14}); }), "places");
  EXPECT_EQ(blamed([&] { channel_estimator({}, {}); }), "subcarriers");
  pilot_pattern other = pilots;
  other.ports[0][0].pop_back();
  other.ports[0].push_back(pilots.ports[0][0]);
  EXPECT_EQ(blamed([&] { check(other); }), "pilots");
  other = pilots;
  other.ports[0][0][0].pilot[1] = 0;
  EXPECT_EQ(blamed([&] { check(other); }), "pilots");
  other = pilots;
  std::swap(other.ports[0][0][0], other.ports[0][0][1]);
  EXPECT_EQ(blamed([&] { check(other); }), "pilots");
  EXPECT_EQ(blamed([&] { comb_pilots(10, 14, {0}, {0}, 6, {{1.f, 1.f, 1.f}}); }), "pilots");
  EXPECT_EQ(blamed([&] { comb_pilots(10, 14, {0, 1}, {0}, 6, {{1.f}}); }), "rows");
  other = pilots;
  other.silent.clear();
  for (auto& row : other.ports[0]) row.resize(4);
  EXPECT_EQ(blamed([&] { noise_estimator{other}; }), "pilots");
  const auto exec = open_scalar();
  const channel_estimator estimator(pilots, {});
  auto y = exec->make<cf>(channel.elements() + 1, 1), h = exec->make<cf>(channel.elements(), 1);
  EXPECT_THROW(estimator.run(*exec, y, {}, {.channel = h}), shape_error);
  EXPECT_THROW(estimator.run(*exec, h, {}, {.channel = y}), shape_error);
  auto r = exec->make<cf>(1, 1);
  EXPECT_EQ(blamed([&] { whitener().run(*exec, r, -1, h, h, h, h); }), "added");
  EXPECT_THROW(whitener().run(*exec, h, 0, r, r, r, r), shape_error);
}

}  // namespace estimate_test
}  // namespace wb
