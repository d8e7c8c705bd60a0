// PUCCH: what is sent against the definition, sequences against other programs, metrics and filters against
// sums in double. Every message comes back. Also false alarms, losses, equal results on every backend and in
// every batch, bad input.
#include <warpband/nr/pucch/pucch.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <fstream>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <oracle/nr_pucch.hpp>
#include <tests/json.hpp>
#include <tests/on_backends.hpp>
#include <warpband/nr/beta_law.hpp>
#include <warpband/nr/pucch/pucch_filters.hpp>

#ifndef WARPBAND_REFDATA
#define WARPBAND_REFDATA ""
#endif

namespace pucch_test {

using wb::pucch_config;
using wb::pucch_hopping;
using wb::testing::blamed;
using wb::testing::on_device;
using sample = std::complex<float>;
using exact = std::complex<double>;

std::size_t as_count(int n) { return static_cast<std::size_t>(n); }

/// A configuration of every kind.
const std::vector<pucch_config>& kinds() {
  static const std::vector<pucch_config> list{
      {.first_symbol = 13, .hopping_id = 77, .initial_cyclic_shift = 3, .bits = 1},
      {.spacing_khz = 30,
       .symbols = 2,
       .hopping = true,
       .group_hopping = pucch_hopping::enable,
       .hopping_id = 1000,
       .bits = 2,
       .scheduling_request = true},
      {.symbols = 2, .bits = 0, .scheduling_request = true},
      {.format = 1,
       .symbols = 14,
       .hopping = true,
       .hopping_id = 345,
       .initial_cyclic_shift = 5,
       .occ = 2,
       .bits = 2},
      {.format = 1,
       .first_symbol = 3,
       .symbols = 11,
       .group_hopping = pucch_hopping::enable,
       .occ = 4,
       .bits = 1},
      {.format = 1, .symbols = 5, .hopping = true, .bits = 0, .scheduling_request = true},
      {.format = 1, .symbols = 9, .hopping = true, .bits = 2},
      {.format = 2,
       .first_symbol = 12,
       .symbols = 2,
       .first_prb = 7,
       .prbs = 3,
       .hopping = true,
       .second_hop_prb = 40,
       .rnti = 4660,
       .scrambling_id = 5,
       .dmrs_id = 65535,
       .bits = 11},
      {.format = 2, .symbols = 2, .prbs = 4, .rnti = 9, .bits = 19},
      {.format = 3,
       .symbols = 14,
       .prbs = 2,
       .hopping = true,
       .hopping_id = 30,
       .additional_dmrs = true,
       .rnti = 65535,
       .bits = 40},
      {.format = 3,
       .symbols = 4,
       .prbs = 5,
       .group_hopping = pucch_hopping::disable,
       .hopping_id = 901,
       .pi2_bpsk = true,
       .scrambling_id = 1023,
       .bits = 5},
      {.format = 3,
       .symbols = 12,
       .prbs = 6,
       .group_hopping = pucch_hopping::disable,
       .hopping_id = 902,
       .bits = 400},
      {.format = 4,
       .first_symbol = 1,
       .symbols = 10,
       .hopping = true,
       .group_hopping = pucch_hopping::enable,
       .occ = 3,
       .spreading = 4,
       .rnti = 77,
       .bits = 7},
      {.format = 4, .symbols = 13, .occ = 1, .pi2_bpsk = true, .bits = 22},
      {.format = 3, .symbols = 13, .prbs = 2, .rnti = 4, .bits = 13, .csi2_bits = 70, .max_code_rate = 0.15},
      {.format = 4,
       .symbols = 12,
       .hopping = true,
       .spreading = 2,
       .pi2_bpsk = true,
       .bits = 5,
       .csi2_bits = 4,
       .max_code_rate = 0.15}};
  return list;
}

std::vector<std::uint8_t> random_bits(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::uint8_t> bits(count);
  for (auto& b : bits) b = random() & 1;
  return bits;
}

std::vector<sample> generate(wb::executor& e, const pucch_config& c, const std::vector<std::uint8_t>& bits,
                             const std::vector<int>& slots) {
  const wb::pucch_generator g(c);
  auto values = e.make<sample>(slots.size(), g.shape().values());
  g.run(e, on_device(e, bits, slots.size(), as_count(g.shape().bits)), slots, values);
  return e.to_host(values);
}

struct outcome {
  std::vector<std::uint8_t> bits, detected, csi2_detected, status;
  std::vector<float> metric, snr_db;
  bool operator==(const outcome&) const = default;
};
outcome detect_on(wb::executor& e, const pucch_config& c, const std::vector<sample>& values,
                  const std::vector<int>& slots, wb::layout order = wb::layout::row_major) {
  const wb::pucch_detector d(c);
  const std::size_t items = slots.size();
  auto bits = e.make<std::uint8_t>(items, as_count(d.shape().bits));
  auto detected = e.make<std::uint8_t>(items, 1), csi2_detected = e.make<std::uint8_t>(items, 1),
       status = e.make<std::uint8_t>(items, 1);
  auto metric = e.make<float>(items, 1), snr = e.make<float>(items, 1);
  d.run(e, on_device(e, values, items, d.values(), order), slots,
        {.bits = bits,
         .detected = detected,
         .csi2_detected = csi2_detected,
         .metric = metric,
         .snr_db = snr,
         .status = status});
  return {e.to_host(bits),   e.to_host(detected), e.to_host(csi2_detected),
          e.to_host(status), e.to_host(metric),   e.to_host(snr)};
}

/// One gain for each antenna and hop, and noise.
std::vector<sample> receive(const pucch_config& c, const std::vector<sample>& sent, double noise_var,
                            unsigned seed, bool silent = false) {
  const wb::pucch_shape s = wb::shape_of(c);
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, static_cast<float>(std::sqrt(noise_var / 2)));
  std::vector<sample> y;
  for (std::size_t i = 0; i < sent.size(); i += s.values())
    for (int a = 0; a < c.antennas; a++)
      for (std::size_t n = 0; n < s.values(); n++) {
        const bool second = s.hops > 1 && n >= as_count(s.hop[1].first * s.subcarriers);
        const sample h = std::polar(silent ? 0.f : 1.f, 0.9f * static_cast<float>(a) + (second ? 2.f : 0.f));
        y.push_back(h * sent[i + n] + sample(normal(random), normal(random)));
      }
  return y;
}

class pucch : public wb::testing::on_backend {
 protected:
  /// Scalar code beside other instruction sets, whose results it has.
  static bool is_repeated() { return GetParam().name == "scalar" && wb::available_isas().size() > 1; }
};
WB_ON_ALL_BACKENDS(pucch);

TEST(pucch_sequences, groups_and_shifts_are_those_of_other_programs) {
  const std::string path = WARPBAND_REFDATA "/nr_time/vectors/pucch_hopping.json";
  std::ifstream file(path);
  if (!file) GTEST_SKIP() << "no refdata: cannot open '" << path << "'";
  const auto content = wb::testing::parse_json(file);
  int rows = 0;
  for (const auto& row : content.at("vectors")) {
    const std::string mode = row.at("group_hopping").get<std::string>();
    const int id = row.at("n_id").get<int>(), slot = row.at("slot").get<int>();
    EXPECT_EQ(wb::nr_pucch_shifts(id, slot), row.at("n_cs").get<std::vector<int>>());
    for (int hop = 0; hop < 2; hop++) {
      const wb::pucch_group g = wb::nr_pucch_group(mode == "enable"    ? pucch_hopping::enable
                                                   : mode == "disable" ? pucch_hopping::disable
                                                                       : pucch_hopping::neither,
                                                   id, slot, hop);
      EXPECT_EQ(g.u, row.at("u").get<std::vector<int>>()[as_count(hop)]);
      EXPECT_EQ(g.v, row.at("v").get<std::vector<int>>()[as_count(hop)]);
    }
    rows++;
  }
  EXPECT_GE(rows, 20);
}

TEST(pucch_sequences, codes_and_dmrs_symbols_are_those_of_the_tables) {
  const std::string path = WARPBAND_REFDATA "/nr_time/tables_pucch.json";
  std::ifstream file(path);
  if (!file) GTEST_SKIP() << "no refdata: cannot open '" << path << "'";
  const auto content = wb::testing::parse_json(file);
  for (int length = 1; length <= 7; length++) {
    const auto& codes = content.at("format1_phi").at(std::to_string(length));
    ASSERT_EQ(codes.size(), as_count(length));
    for (int i = 0; i < length; i++)
      for (int m = 0; m < length; m++)
        EXPECT_EQ(wb::pucch_code_turns(length, i, m),
                  codes[as_count(i)].get<std::vector<int>>()[as_count(m)] / static_cast<double>(length));
  }
  int rows = 0;
  for (const auto& row : content.at("format34_dmrs")) {
    EXPECT_EQ(wb::pucch_dmrs_symbols(row.at("symbols").get<int>(), row.at("hopping").get<bool>(),
                                     row.at("additional").get<bool>()),
              row.at("dmrs").get<std::vector<int>>());
    rows++;
  }
  EXPECT_EQ(rows, 44);
}

TEST(pucch_sequences, long_ones_follow_the_formula_and_all_have_constant_amplitude) {
  for (const int length : {30, 36, 48, 60, 72, 96, 108, 120, 144, 180, 192, 3240})
    for (const int u : {0, 7, 15, 29})
      for (const int v : {0, 1}) {
        const auto r = wb::nr_low_papr_sequence(length, u, v),
                   expected = oracle::nr_zadoff_chu_base(length, u, v);
        ASSERT_EQ(r.size(), expected.size());
        for (std::size_t n = 0; n < r.size(); n++)
          ASSERT_LT(std::abs(r[n] - expected[n]), 1e-7) << length << " " << u;
      }
  for (const int length : {6, 12, 18, 24}) {
    std::vector<std::vector<exact>> sequences;
    for (int u = 0; u < 30; u++) {
      sequences.push_back(wb::nr_low_papr_sequence(length, u, 0));
      for (const exact& z : sequences.back()) EXPECT_NEAR(std::abs(z), 1, 1e-12);
      for (std::size_t before = 0; before + 1 < sequences.size(); before++)
        EXPECT_NE(sequences[before], sequences.back());
    }
  }
  EXPECT_EQ(blamed([] { wb::nr_low_papr_sequence(32, 0, 0); }), "length");
  EXPECT_EQ(blamed([] { wb::nr_low_papr_sequence(12, 30, 0); }), "u");
  EXPECT_EQ(blamed([] { wb::nr_pucch_group(pucch_hopping::neither, 1024, 0, 0); }), "identity");
}

TEST(pucch_filter, is_the_lmmse_estimator) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  std::vector<double> x, z;
  for (int p = 0; p < 16; p++) x.push_back(3 * p + 1);
  for (int k = 0; k < 48; k++) z.push_back(k);
  const double middle = 0.02, width = 0.06, signal = 2, noise = 0.3;
  std::vector<exact> pilots;
  for (int p = 0; p < 16; p++) pilots.emplace_back(normal(random), normal(random));
  const auto expected = oracle::nr_lmmse(x, z, pilots, middle, width, signal, noise);
  const wb::pucch_filter f = wb::make_pucch_filter(x, z, middle, width, 2, 16);
  for (std::size_t k = 0; k < z.size(); k++) {
    exact h = 0;
    for (std::size_t i = 0; i < f.gains.size(); i++) {
      exact c = 0;
      for (std::size_t p = 0; p < x.size(); p++) c += f.analysis[i][p] * pilots[p];
      h += signal / (signal * f.gains[i] + noise) * c * f.synthesis[i][k];
    }
    EXPECT_LT(std::abs(h - expected[k]), 1e-4) << k;
  }
}

// Against integrals, and against each other: two real dimensions are a complex one.
TEST(pucch_laws, tails_are_those_of_the_distributions) {
  for (const double x : {0.05, 0.3, 0.7, 0.95}) {
    EXPECT_NEAR(std::exp(wb::beta_law(1, 23).log_tail(x)), std::pow(1 - x, 23), 1e-10);
    EXPECT_NEAR(std::exp(wb::log_cosine_tail(x, 3)), 0.5 * (1 - x), 1e-6);  // of a sphere
    EXPECT_NEAR(std::exp(wb::log_cosine_tail(x, 5)), 0.25 * (2 - 3 * x + x * x * x), 1e-6);
  }
  EXPECT_NEAR(wb::log_cosine_tail(wb::cosine_exceeded_by(-30, 288), 288), -30, 1e-6);
  EXPECT_NEAR(wb::beta_law(4, 44).log_tail(wb::beta_law(4, 44).share_exceeded_by(1e-5)), std::log(1e-5),
              1e-6);
}

TEST(pucch_shape, coded_bits_and_pilots) {
  EXPECT_EQ(wb::shape_of({.format = 2, .symbols = 2, .prbs = 9, .bits = 22}).coded_bits, 288);
  EXPECT_EQ(wb::shape_of({.format = 3, .symbols = 14, .prbs = 1, .bits = 16}).coded_bits, 288);
  EXPECT_EQ(wb::shape_of({.format = 4, .symbols = 9, .spreading = 4, .bits = 12}).coded_bits, 42);
  EXPECT_EQ(wb::shape_of({.format = 3, .symbols = 13, .additional_dmrs = true, .bits = 16}).pilot_symbols,
            (std::vector<int>{1, 4, 7, 11}));
  EXPECT_EQ(wb::shape_of(wb::pucch_config{.spacing_khz = 120}).slots, 80);
}

TEST(pucch_shape, generators_have_no_settings_of_detection) {
  const auto& detector = wb::pucch_settings();
  const auto& generator = wb::pucch_generator_settings();
  ASSERT_EQ(generator.size() + 5, detector.size());
  EXPECT_EQ(generator.back().name, "scheduling_request");
  EXPECT_EQ(detector[generator.size()].name, "antennas");
}

TEST(pucch_shape, bad_settings_are_named) {
  const auto blames = [](const pucch_config& c) {
    return blamed([&] { wb::check(c); }, [&] { wb::pucch_detector{c}; });
  };
  EXPECT_EQ(blames({}), "");
  EXPECT_EQ(blames({.format = 5}), "format");
  EXPECT_EQ(blames({.spacing_khz = 45}), "spacing_khz");
  EXPECT_EQ(blames({.symbols = 3}), "symbols");
  EXPECT_EQ(blames({.format = 1, .symbols = 3}), "symbols");
  EXPECT_EQ(blames({.first_symbol = 13, .symbols = 2}), "first_symbol");
  EXPECT_EQ(blames({.hopping = true}), "hopping");
  EXPECT_EQ(blames({.prbs = 2}), "prbs");
  EXPECT_EQ(blames({.format = 3, .symbols = 4, .prbs = 7, .bits = 4}), "prbs");
  EXPECT_EQ(blames({.format = 1, .symbols = 6, .hopping = true, .occ = 1}), "occ");
  EXPECT_EQ(blames({.format = 2, .first_prb = 2184, .prbs = 16, .bits = 4}), "");
  EXPECT_EQ(blames({.format = 2, .first_prb = 2185, .prbs = 16, .bits = 4}), "first_prb");
  EXPECT_EQ(
      blames({.format = 2, .symbols = 2, .prbs = 16, .hopping = true, .second_hop_prb = 2185, .bits = 4}),
      "second_hop_prb");
  EXPECT_EQ(blames({.format = 2, .symbols = 2, .prbs = 16, .second_hop_prb = 2199, .bits = 4}), "");
  EXPECT_EQ(blames({.format = 4, .symbols = 6, .occ = 2, .bits = 4}), "occ");
  EXPECT_EQ(blames({.bits = 3}), "bits");
  EXPECT_EQ(blames({.bits = 0}), "bits");
  EXPECT_EQ(blames({.format = 1, .symbols = 4, .bits = 1, .scheduling_request = true}), "bits");
  EXPECT_EQ(blames({.format = 2, .bits = 2}), "bits");
  EXPECT_EQ(blames({.format = 2, .bits = 17}), "bits");
  EXPECT_EQ(blames({.format = 2, .bits = 4, .scheduling_request = true}), "scheduling_request");
  EXPECT_EQ(blames({.format = 2, .prbs = 4, .bits = 4, .csi2_bits = 4}), "csi2_bits");
  EXPECT_EQ(blames({.format = 3, .symbols = 14, .bits = 4, .csi2_bits = 2}), "csi2_bits");
  EXPECT_EQ(blames({.format = 3, .symbols = 14, .bits = 40, .csi2_bits = 4, .max_code_rate = 0.08}),
            "max_code_rate");  // part 1 has all coded bits
  EXPECT_EQ(blames({.format = 2, .prbs = 4, .bits = 4, .csi2_bits = 4, .max_code_rate = 0.5}), "csi2_bits");
  EXPECT_EQ(blames({.format = 3, .symbols = 14, .bits = 4, .csi2_bits = 4, .max_code_rate = 0.5}),
            "max_code_rate");
  EXPECT_EQ(blames({.antennas = 65}), "antennas");
  EXPECT_EQ(blames({.false_alarm = 0}), "false_alarm");
  EXPECT_EQ(blames({.list_size = 3}), "list_size");
  EXPECT_EQ(blames({.max_delay_us = 0.}), "max_delay_us");
  EXPECT_EQ(blames({.format = 2, .spacing_khz = 30, .bits = 4, .max_delay_us = 8.889}), "max_delay_us");
  EXPECT_EQ(blames({.format = 2, .spacing_khz = 30, .bits = 4, .max_delay_us = 6.222}), "");
  EXPECT_EQ(blames({.format = 4, .spacing_khz = 120, .symbols = 4, .bits = 4, .max_delay_us = 4.67}),
            "max_delay_us");
  EXPECT_EQ(blames({.spacing_khz = 120, .max_delay_us = 10.}), "");
  try {
    wb::check({.format = 1, .symbols = 6, .hopping = true, .occ = 1});
    FAIL();
  } catch (const wb::argument_error& e) {
    EXPECT_NE(std::string(e.what()).find("0 to 0 with symbols = 6 and hopping"), std::string::npos);
  }
}

std::vector<int> coded_part(wb::executor& e, const std::vector<std::uint8_t>& bits, int coded_bits) {
  auto coded = e.make<std::uint8_t>(1, as_count(coded_bits));
  const auto message = on_device(e, bits, 1, bits.size());
  const int k = static_cast<int>(bits.size());
  if (k <= 11)
    wb::short_block_encoder({.k = k, .coded_bits = coded_bits}).run(e, message, coded);
  else
    wb::polar_encoder(wb::polar_config{.kind = wb::polar_kind::uci, .k = k, .coded_bits = coded_bits})
        .run(e, message, coded);
  const auto host = e.to_host(coded);
  return {host.begin(), host.end()};
}

/// The definition's values of a message, whose coded bits are taken from the encoders.
std::vector<exact> defined(wb::executor& e, const pucch_config& c, const std::vector<std::uint8_t>& bits,
                           int slot) {
  const wb::pucch_shape s = wb::shape_of(c);
  oracle::nr_pucch p{.format = c.format,
                     .slot = slot,
                     .first_symbol = c.first_symbol,
                     .symbols = c.symbols,
                     .first_prb = c.first_prb,
                     .prbs = c.prbs,
                     .hopping = c.hopping,
                     .second_hop_prb = c.second_hop_prb,
                     .group_hopping = static_cast<int>(c.group_hopping),
                     .hopping_id = c.hopping_id,
                     .initial_cyclic_shift = c.initial_cyclic_shift,
                     .occ = c.occ,
                     .spreading = c.spreading,
                     .pi2_bpsk = c.pi2_bpsk,
                     .rnti = c.rnti,
                     .scrambling_id = c.scrambling_id,
                     .dmrs_id = c.dmrs_id};
  p.base = wb::nr_low_papr_sequence;
  if (c.format >= 3) p.dmrs_symbols = s.pilot_symbols;
  if (c.format == 0) {
    const bool request = c.scheduling_request && bits.back() != 0;
    const int first = bits[0], second = bits.size() > 1 ? bits[1] : 0;
    if (c.bits == 1) p.m_cs = 6 * first + (request ? 3 : 0);
    if (c.bits == 2) p.m_cs = (first == 0 ? 3 * second : 9 - 3 * second) + (request ? 1 : 0);
  } else if (c.format == 1) {
    p.bits = {0};
    if (c.bits > 0) p.bits.assign(bits.begin(), bits.end());
  } else {
    const int order = c.pi2_bpsk && c.format > 2 ? 1 : 2,
              g1 = c.csi2_bits == 0 ? s.coded_bits
                                    : oracle::nr_pucch_first_bits(
                                          s.coded_bits, c.bits,
                                          static_cast<int>(std::lround(100 * c.max_code_rate)), order);
    p.bits = coded_part(e, {bits.begin(), bits.begin() + c.bits}, g1);
    if (c.csi2_bits > 0)
      p.bits = oracle::nr_pucch_multiplex(
          p.bits, coded_part(e, {bits.begin() + c.bits, bits.end()}, s.coded_bits - g1), c.symbols,
          s.pilot_symbols, 12 * c.prbs / (c.format == 4 ? c.spreading : 1), order);
  }
  return oracle::nr_pucch_values(p);
}

TEST_P(pucch, what_is_sent_follows_the_definition) {
  std::vector<pucch_config> list = kinds();
  list.push_back(
      {.format = 2, .spacing_khz = 120, .first_prb = 2184, .prbs = 16, .dmrs_id = 65535, .bits = 4});
  for (const pucch_config& c : list) {
    const wb::pucch_shape s = wb::shape_of(c);
    const std::vector<int> slots{0, s.slots - 1, 4};
    auto bits = random_bits(3 * as_count(s.bits), 7);
    if (c.bits == 0) bits = {1, 1, 1};
    const auto values = generate(exec(), c, bits, slots);
    for (std::size_t i = 0; i < 3; i++) {
      const auto expected = defined(exec(), c, wb::testing::row_of(bits, i, as_count(s.bits)), slots[i]);
      ASSERT_EQ(expected.size(), s.values());
      for (std::size_t n = 0; n < s.values(); n++)
        ASSERT_LT(std::abs(exact(values[i * s.values() + n]) - expected[n]), 4e-6) << c.format << " " << n;
    }
  }
}

/// Data symbols of each distance to DMRS, from 1 on: the sets of the multiplexing.
std::vector<int> sets_of(const wb::pucch_shape& s) {
  std::vector<int> sets;
  for (const int l : s.data_symbols) {
    int nearest = 14;
    for (const int p : s.pilot_symbols) nearest = std::min(nearest, std::abs(l - p));
    sets.resize(std::max(sets.size(), as_count(nearest)));
    sets[as_count(nearest - 1)]++;
  }
  return sets;
}
/// The configuration with bits and a rate with which part 1 ends in a set, if any: in unequal shares if it
/// can.
std::optional<pucch_config> ending_in(pucch_config c, std::size_t set) {
  const wb::pucch_shape s = wb::shape_of(c);
  const std::vector<int> sets = sets_of(s);
  const int order = c.pi2_bpsk ? 1 : 2,
            elements = s.coded_bits / order / static_cast<int>(s.data_symbols.size());
  int before = 0;
  for (std::size_t i = 0; i < set; i++) before += elements * sets[i];
  std::optional<pucch_config> found;
  for (const int hundredths : {80, 60, 45, 35, 25, 15, 8})
    for (c.bits = 3; c.bits <= 60; c.bits++) {
      const int g1 = oracle::nr_pucch_first_bits(s.coded_bits, c.bits, hundredths, order),
                inside = g1 / order - before;
      c.max_code_rate = hundredths / 100.;
      if (inside <= 0 || inside > elements * sets[set] || g1 + 3 > s.coded_bits) continue;
      const bool unequal = inside % sets[set] != 0 || sets[set] == 1;
      if ((found && !unequal) || blamed([&] { wb::check(c); }) != "") continue;
      found = c;
      if (unequal) return found;
    }
  return found;
}

// All shapes of formats 3 and 4, with a part 1 that ends in each set of symbols; values of the code alone.
TEST_P(pucch, csi_of_two_parts_is_multiplexed_as_the_table_has_it) {
  if (is_repeated()) GTEST_SKIP() << "one instruction set is enough: it moves bits";
  std::size_t most_sets = 0;
  for (int symbols = 4; symbols <= 14; symbols++)
    for (const bool hopping : {false, true})
      for (const bool additional : {false, true})
        for (const int format : {3, 4}) {
          const pucch_config row{.format = format,
                                 .symbols = symbols,
                                 .hopping = hopping,
                                 .additional_dmrs = additional,
                                 .pi2_bpsk = symbols % 2 == 1,
                                 .bits = 3};
          const std::size_t sets = sets_of(wb::shape_of(row)).size();
          most_sets = std::max(most_sets, sets);
          for (std::size_t set = 0; set < sets; set++) {
            pucch_config with_two = row;
            with_two.csi2_bits = 3;
            const auto c = ending_in(with_two, set);
            ASSERT_TRUE(c) << "format " << format << " symbols " << symbols << " set " << set;
            const wb::pucch_shape s = wb::shape_of(*c);
            const auto bits = random_bits(as_count(s.bits), static_cast<unsigned>(symbols));
            const auto values = generate(exec(), *c, bits, {2});
            const auto expected = defined(exec(), *c, bits, 2);
            ASSERT_EQ(expected.size(), s.values());
            for (std::size_t n = 0; n < s.values(); n++)
              ASSERT_LT(std::abs(exact(values[n]) - expected[n]), 4e-6)
                  << symbols << " " << c->bits << " " << n;
          }
        }
  EXPECT_EQ(most_sets, 3u);
}

// At -2 dB part 1 has a rate of 0.08 and comes through. Part 2 has one of 0.7 or more and does not.
TEST_P(pucch, part_1_of_any_length_survives_in_noise) {
  if (is_repeated()) GTEST_SKIP() << "scalar code has the results of the others";
  const std::size_t items = 60;
  int passed = 0;  // the CRC of part 2 without being it: 0.4 %
  for (const int first : {4, 11, 15, 19, 20}) {
    const pucch_config c{.format = 3,
                         .symbols = 14,
                         .prbs = 4,
                         .bits = first,
                         .csi2_bits = 700,
                         .max_code_rate = 0.08,
                         .antennas = 2};
    const std::size_t width = as_count(wb::shape_of(c).bits);
    const auto bits = random_bits(items * width, 31);
    const std::vector<int> slots(items, 6);
    const outcome found =
        detect_on(exec(), c, receive(c, generate(exec(), c, bits, slots), std::pow(10., 0.2), 32), slots);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < items; i++) {
      passed += found.csi2_detected[i];
      bool right = found.detected[i] == 1;
      for (std::size_t n = 0; n < width; n++)
        if (n < as_count(first) || found.csi2_detected[i] == 0)
          right &= found.bits[i * width + n] == (n < as_count(first) ? bits[i * width + n] : 0);
      wrong += right ? 0 : 1;
    }
    EXPECT_LE(wrong, 1u) << first;
  }
  EXPECT_LE(passed, 7);
}

// The mean of the signals of all messages of part 2 has nothing of it: its elements are noise.
TEST_P(pucch, a_short_part_2_that_was_not_sent_is_not_detected) {
  if (is_repeated()) GTEST_SKIP() << "scalar code has the results of the others";
  const std::size_t items = 200;
  for (const int first : {5, 20})
    for (const int second : {5, 11}) {
      const pucch_config c{.format = 3,
                           .symbols = 14,
                           .prbs = 1,
                           .bits = first,
                           .csi2_bits = second,
                           .max_code_rate = 0.25,
                           .antennas = 2};
      const std::size_t width = as_count(first + second), n = wb::shape_of(c).values(),
                        messages = std::size_t{1} << second;
      std::vector<std::uint8_t> bits;
      for (std::size_t m = 0; m < messages; m++)
        for (std::size_t i = 0; i < width; i++)
          bits.push_back(static_cast<std::uint8_t>(i < as_count(first) ? 1 : m >> (i - as_count(first)) & 1));
      const auto signals = generate(exec(), c, bits, std::vector<int>(messages, 3));
      std::vector<sample> mean(n), sent;
      for (std::size_t i = 0; i < signals.size(); i++)
        mean[i % n] += signals[i] / static_cast<float>(messages);
      for (std::size_t i = 0; i < items; i++) sent.insert(sent.end(), mean.begin(), mean.end());
      const outcome found = detect_on(exec(), c, receive(c, sent, 0.1, 33), std::vector<int>(items, 3));
      std::size_t alarms = 0, kept = 0;
      for (std::size_t i = 0; i < items; i++) {
        alarms += found.csi2_detected[i];
        bool right = found.detected[i] == 1;
        for (std::size_t b = 0; b < width; b++)
          right &= found.csi2_detected[i] != 0 || found.bits[i * width + b] == (b < as_count(first) ? 1 : 0);
        kept += right ? 1 : 0;
      }
      EXPECT_EQ(kept, items) << first << " " << second;
      EXPECT_LE(alarms, 5u) << first << " " << second;  // 1 is expected
    }
}

// Erased elements of part 2 alone: HARQ-ACK and CSI part 1 remain, and part 2 is reported as lost.
TEST_P(pucch, part_1_survives_where_part_2_is_lost) {
  const pucch_config c{.format = 3,
                       .symbols = 14,
                       .prbs = 4,
                       .bits = 20,
                       .csi2_bits = 300,
                       .max_code_rate = 0.15,
                       .antennas = 2};
  const wb::pucch_shape s = wb::shape_of(c);
  EXPECT_EQ(s.first_coded_bits, 208);  // 31 / 0.15, an even number
  const auto bits = random_bits(as_count(s.bits), 9);
  const auto sent = generate(exec(), c, bits, {3});
  auto values = receive(c, sent, 0.02, 4);
  const outcome whole = detect_on(exec(), c, values, {3});
  EXPECT_EQ(whole.bits, bits);
  EXPECT_EQ(whole.csi2_detected[0], 1);
  // Symbols at a distance of 3 from DMRS carry part 2 alone.
  const auto noise = receive(c, sent, 2, 5, true);
  for (int a = 0; a < c.antennas; a++)
    for (const int l : {0, 6, 7, 13})
      for (int k = 0; k < s.subcarriers; k++) {
        const std::size_t n = as_count((a * s.symbols + l) * s.subcarriers + k);
        values[n] = noise[n];
      }
  const outcome part = detect_on(exec(), c, values, {3});
  EXPECT_EQ(part.detected[0], 1);
  EXPECT_EQ(part.csi2_detected[0], 0);
  for (std::size_t i = 0; i < bits.size(); i++) EXPECT_EQ(part.bits[i], i < 20 ? bits[i] : 0) << i;
}

TEST_P(pucch, no_request_sends_nothing) {
  const pucch_config c{.bits = 0, .scheduling_request = true};
  for (const sample z : generate(exec(), c, {0}, {3})) EXPECT_EQ(z, sample(0));
}

// Every message of formats 0 and 1, zeros and random ones of the others; antennas with different phases.
TEST_P(pucch, what_was_sent_comes_back) {
  for (pucch_config c : kinds()) {
    c.antennas = 2;
    const wb::pucch_shape s = wb::shape_of(c);
    const std::size_t count = c.format <= 1 ? std::size_t{1} << s.bits : 5, width = as_count(s.bits);
    std::vector<std::uint8_t> bits;
    std::vector<int> slots;
    for (std::size_t i = 0; i < count; i++) {
      const auto one = random_bits(width, static_cast<unsigned>(i));
      for (std::size_t j = 0; j < width; j++)
        bits.push_back(c.format <= 1 ? static_cast<std::uint8_t>(i >> j & 1)
                       : i == 0      ? std::uint8_t{0}
                                     : one[j]);
      slots.push_back(static_cast<int>(3 * i) % s.slots);
    }
    const auto sent = generate(exec(), c, bits, slots);
    for (const double noise_var : {0., 0.02}) {
      const outcome found = detect_on(exec(), c, receive(c, sent, noise_var, 1), slots);
      EXPECT_EQ(found.bits, bits) << "format " << c.format;
      for (std::size_t i = 0; i < count; i++) {
        const bool nothing = c.bits == 0 && bits[i] == 0;
        EXPECT_EQ(found.detected[i], nothing ? 0 : 1) << "format " << c.format;
        EXPECT_EQ(found.csi2_detected[i], c.csi2_bits > 0 ? 1 : 0);
        EXPECT_EQ(found.status[i], 0);
        if (!nothing) {
          EXPECT_GT(found.metric[i], noise_var > 0 ? 0.8 : 0.99) << "format " << c.format;
          EXPECT_LE(found.metric[i], 1) << "format " << c.format;
          if (noise_var > 0) {
            EXPECT_NEAR(found.snr_db[i], 17, 3) << "format " << c.format;
          }
        }
      }
    }
  }
}

TEST_P(pucch, the_metric_is_the_share_of_energy) {
  for (pucch_config c : kinds()) {
    if (c.format > 1 || c.bits == 0) continue;
    c.antennas = 2;
    const wb::pucch_shape s = wb::shape_of(c);
    const auto bits = random_bits(as_count(s.bits), 4);
    const auto y = receive(c, generate(exec(), c, bits, {5}), 0.5, 2);
    const std::vector<exact> values(y.begin(), y.end());
    const outcome found = detect_on(exec(), c, y, {5});
    std::vector<int> lengths(as_count(s.symbols), 12);
    if (c.format == 1) {
      lengths.clear();
      for (int h = 0; h < s.hops; h++) lengths.push_back(12 * s.hop[h].symbols);
    }
    double largest = 0;
    for (int m = 0; m < 1 << s.bits; m++) {
      std::vector<std::uint8_t> message;
      for (int j = 0; j < s.bits; j++) message.push_back(static_cast<std::uint8_t>(m >> j & 1));
      const auto signal = defined(exec(), c, message, 5);
      largest = std::max(largest, oracle::nr_energy_share(values, 2, lengths, signal));
    }
    EXPECT_NEAR(found.metric[0], largest, 1e-5) << "format " << c.format;
  }
}

// The bound holds for any message; that of all messages together is a union bound.
TEST_P(pucch, noise_alone_rarely_gives_a_message) {
  if (GetParam().name == "scalar") GTEST_SKIP() << "scalar code has the results of the others";
  const std::size_t items = wb::testing::small_scale() ? 200 : 4000;
  std::vector<pucch_config> list = kinds();
  // A part 1 of few elements in symbols of many.
  list.push_back({.format = 3, .symbols = 14, .prbs = 4, .bits = 4, .csi2_bits = 5, .max_code_rate = 0.15});
  for (pucch_config c : list) {
    if (c.prbs > 4) continue;
    c.antennas = 2, c.false_alarm = 0.02;
    const wb::pucch_detector d(c);
    const outcome found =
        detect_on(exec(), c, receive(c, std::vector<sample>(items * d.shape().values()), 3, 5),
                  std::vector<int>(items, 2));
    const double alarms = static_cast<double>(std::count(found.detected.begin(), found.detected.end(), 1)),
                 bound = 0.02 * static_cast<double>(items);
    EXPECT_LE(alarms, bound + 4 * std::sqrt(bound)) << "format " << c.format << " bits " << c.bits;
    for (std::size_t i = 0; i < found.bits.size(); i++)
      if (found.detected[i / as_count(d.shape().bits)] == 0) {
        ASSERT_EQ(found.bits[i], 0);
      }
    if (c.bits <= 11) {
      EXPECT_GE(alarms, bound / 2 - 4 * std::sqrt(bound)) << "format " << c.format;
    }
  }
}

// At 0 dB an antenna; format 1 at -6 dB, format 3 at -3 dB.
TEST_P(pucch, messages_in_noise_are_found) {
  struct point {
    pucch_config config;
    double noise_var;
  };
  const std::size_t items = 60;
  for (const point& p :
       {point{{.format = 0, .symbols = 2, .bits = 2, .antennas = 4}, 1.},
        point{{.format = 1, .symbols = 14, .bits = 2, .antennas = 2}, 4.},
        point{{.format = 2, .symbols = 1, .prbs = 4, .bits = 4, .antennas = 2}, 1.},
        point{{.format = 3, .symbols = 14, .prbs = 1, .hopping = true, .bits = 16, .antennas = 2}, 2.},
        point{{.format = 4, .symbols = 14, .hopping = true, .bits = 22, .antennas = 2}, 1.}}) {
    const wb::pucch_shape s = wb::shape_of(p.config);
    const auto bits = random_bits(items * as_count(s.bits), 11);
    const std::vector<int> slots(items, 6);
    const outcome found = detect_on(
        exec(), p.config, receive(p.config, generate(exec(), p.config, bits, slots), p.noise_var, 12), slots);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < items; i++)
      wrong += wb::testing::row_of(bits, i, as_count(s.bits)) !=
               wb::testing::row_of(found.bits, i, as_count(s.bits));
    EXPECT_LE(wrong, 1u) << "format " << p.config.format;
  }
}

TEST_P(pucch, results_are_those_of_scalar_code_and_of_any_batch) {
  const auto scalar = wb::testing::open_scalar();
  for (pucch_config c : kinds()) {
    c.antennas = 3;
    const wb::pucch_shape s = wb::shape_of(c);
    const std::size_t items = 19, n = wb::pucch_detector(c).values(), width = as_count(s.bits);
    std::vector<int> slots;
    for (std::size_t i = 0; i < items; i++) slots.push_back(static_cast<int>(7 * i) % s.slots);
    const auto bits = random_bits(items * width, 21);
    const auto sent = generate(exec(), c, bits, slots);
    EXPECT_EQ(sent, generate(*scalar, c, bits, slots));
    const auto values = receive(c, sent, 1, 22);
    const outcome batch = detect_on(exec(), c, values, slots);
    EXPECT_EQ(batch, detect_on(*scalar, c, values, slots)) << "format " << c.format;
    std::vector<sample> turned(values.size());
    for (std::size_t i = 0; i < values.size(); i++) turned[i % n * items + i / n] = values[i];
    EXPECT_EQ(detect_on(exec(), c, turned, slots, wb::layout::batch_fastest), batch);
    for (const std::size_t i : {std::size_t{0}, items - 1}) {
      const outcome alone = detect_on(exec(), c, wb::testing::row_of(values, i, n), {slots[i]});
      EXPECT_EQ(alone.bits, wb::testing::row_of(batch.bits, i, width));
      EXPECT_EQ(alone.metric[0], batch.metric[i]);
      EXPECT_EQ(alone.snr_db[0], batch.snr_db[i]);
    }
  }
}

TEST_P(pucch, bad_values_erase_their_occasion_and_silence_is_nothing) {
  for (pucch_config c : kinds()) {
    c.antennas = 2;
    const wb::pucch_shape s = wb::shape_of(c);
    const std::size_t n = wb::pucch_detector(c).values(), width = as_count(s.bits);
    const std::vector<std::uint8_t> message(width, 1);
    const auto good = receive(c, generate(exec(), c, message, {1}), 0.01, 1);
    std::vector<sample> values;
    for (int i = 0; i < 7; i++) values.insert(values.end(), good.begin(), good.end());
    values[1 * n + 7] = {std::numeric_limits<float>::quiet_NaN(), 0};
    values[2 * n + n - 1] = {0, std::numeric_limits<float>::infinity()};
    values[3 * n + n / 2] = {-2e15f, 0};
    for (std::size_t i = 4 * n; i < 5 * n; i++) values[i] = 0;
    for (std::size_t i = 5 * n; i < 6 * n; i++) values[i] *= 1e14f;
    for (std::size_t i = 6 * n; i < 7 * n; i++) values[i] *= 1e-15f;
    const outcome found = detect_on(exec(), c, values, std::vector<int>(7, 1));
    EXPECT_EQ(found.status, (std::vector<std::uint8_t>{0, 1, 1, 1, 0, 0, 0})) << "format " << c.format;
    EXPECT_EQ(found.detected, (std::vector<std::uint8_t>{1, 0, 0, 0, 0, 1, 1})) << "format " << c.format;
    for (const std::size_t i : {0, 5, 6}) EXPECT_EQ(wb::testing::row_of(found.bits, i, width), message);
    for (const std::size_t i : {1, 2, 3, 4}) {
      EXPECT_EQ(wb::testing::row_of(found.bits, i, width), std::vector<std::uint8_t>(width));
      EXPECT_EQ(found.metric[i], 0);
      EXPECT_EQ(found.snr_db[i], 0);
    }
  }
}

// Noise of constant magnitude, so that the energy is as large as the range allows.
TEST_P(pucch, the_largest_values_of_the_largest_configuration_do_not_overflow) {
  const pucch_config c{
      .format = 3, .symbols = 14, .prbs = 16, .additional_dmrs = true, .bits = 40, .antennas = 64};
  const auto bits = random_bits(40, 3);
  auto values = receive(c, generate(exec(), c, bits, {1}), 0, 1);
  std::mt19937 random(8);
  std::uniform_real_distribution<float> angle(0, 6.28f);
  float largest = 0;
  for (sample& z : values) {
    z += std::polar(3.f, angle(random));
    largest = std::max({largest, std::abs(z.real()), std::abs(z.imag())});
  }
  const outcome expected = detect_on(exec(), c, values, {1});
  for (sample& z : values) z *= 9e14f / largest;
  const outcome found = detect_on(exec(), c, values, {1});
  EXPECT_EQ(found.status[0], 0);
  EXPECT_EQ(found.detected[0], 1);
  EXPECT_EQ(found.bits, bits);
  EXPECT_NEAR(found.metric[0], expected.metric[0], 1e-4);
  EXPECT_NEAR(found.snr_db[0], expected.snr_db[0], 0.01);
  EXPECT_NEAR(found.snr_db[0], -20 * std::log10(3.), 0.5);
}

// An occasion of the second pass over a batch is as it is alone.
TEST_P(pucch, long_batches_are_passes) {
  if (GetParam().name == "scalar") GTEST_SKIP() << "passes are the same for all instruction sets";
  const pucch_config c{.format = 3, .symbols = 14, .prbs = 4, .bits = 4};
  ASSERT_GE(wb::shape_of(c).coded_bits, 1024);
  const std::size_t items = 1100, n = wb::pucch_detector(c).values();
  std::vector<int> slots;
  for (std::size_t i = 0; i < items; i++) slots.push_back(static_cast<int>(i) % 10);
  const auto bits = random_bits(4 * items, 31);
  const auto values = receive(c, generate(exec(), c, bits, slots), 1, 32);
  const outcome batch = detect_on(exec(), c, values, slots);
  EXPECT_EQ(batch.bits, bits);
  const outcome alone = detect_on(exec(), c, wb::testing::row_of(values, items - 1, n), {slots[items - 1]});
  EXPECT_EQ(alone.bits, wb::testing::row_of(batch.bits, items - 1, 4));
  EXPECT_EQ(alone.metric[0], batch.metric.back());
  EXPECT_EQ(alone.snr_db[0], batch.snr_db.back());
}

TEST_P(pucch, wrong_shapes_and_slots_are_refused) {
  const pucch_config c{.format = 2, .prbs = 2, .bits = 4};
  const wb::pucch_detector d(c);
  const wb::pucch_generator g(c);
  auto in = exec().make<sample>(1, d.values()), odd = exec().make<sample>(1, 10);
  auto bits = exec().make<std::uint8_t>(1, 4), more = exec().make<std::uint8_t>(1, 5);
  auto number = exec().make<float>(1, 1);
  EXPECT_THROW(d.run(exec(), odd, {0}, {}), wb::shape_error);
  EXPECT_THROW(d.run(exec(), in, {0, 1}, {}), wb::shape_error);
  EXPECT_THROW(d.run(exec(), in, {0}, {.bits = more}), wb::shape_error);
  EXPECT_THROW(d.run(exec(), in, {0}, {.metric = number, .snr_db = number}), wb::shape_error);
  EXPECT_EQ(blamed([&] { d.run(exec(), in, {10}, {}); }), "slots");
  EXPECT_THROW(g.run(exec(), more, {0}, in), wb::shape_error);
  EXPECT_THROW(g.run(exec(), bits, {0}, odd), wb::shape_error);
  EXPECT_EQ(blamed([&] { g.run(exec(), bits, {-1}, in); }), "slots");
  d.run(exec(), exec().make<sample>(0, d.values()), {}, {});
  g.run(exec(), exec().make<std::uint8_t>(0, 4), {}, exec().make<sample>(0, d.values()));
}

}  // namespace pucch_test
