// PDCCH: tables, search spaces, DCIs and grids against their definition and other programs. Decoded
// candidates against what was sent. Loss against a channel that is known, noise, bad input, equal results on
// every backend.
#include <warpband/nr/pdcch/pdcch.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <fstream>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <oracle/nr_pdcch.hpp>
#include <tests/json.hpp>
#include <tests/on_backends.hpp>
#include <warpband/core/status.hpp>
#include <warpband/nr/pdcch/coreset.hpp>
#include <warpband/nr/pdcch/dci.hpp>

#ifndef WARPBAND_REFDATA
#define WARPBAND_REFDATA ""
#endif

namespace pdcch_test {

using wb::testing::blamed;
using wb::testing::on_device;
using sample = std::complex<float>;
using exact = std::complex<double>;
constexpr double pi = 3.14159265358979323846;
const std::string pdcch_refdata = WARPBAND_REFDATA "/nr_time/";

oracle::nr_pdcch as_oracle(const wb::pdcch_config& c) {
  return {c.blocks,           c.symbols, c.first_symbol, c.dmrs_first_block, c.interleaved,     c.reg_bundle,
          c.interleaver_rows, c.shift,   c.dmrs_id,      c.scrambling_id,    c.scrambling_rnti, c.level};
}
/// A cell's CORESET 0.
wb::pdcch_config coreset0(int cell, int blocks, int symbols, int level) {
  return {.blocks = blocks,
          .symbols = symbols,
          .shift = cell,
          .dmrs_id = cell,
          .scrambling_id = cell,
          .level = level,
          .dci_bits = wb::nr_si_dci_bits(blocks)};
}
/// Of all kinds: bundles, rows, levels.
std::vector<wb::pdcch_config> configs() {
  return {coreset0(500, 48, 1, 4),
          coreset0(1007, 24, 2, 8),
          coreset0(3, 24, 3, 4),
          coreset0(77, 96, 3, 16),
          {.blocks = 24,
           .symbols = 1,
           .dmrs_first_block = 37,
           .interleaved = false,
           .dmrs_id = 65535,
           .scrambling_id = 40000,
           .scrambling_rnti = 65519,
           .level = 1,
           .dci_bits = 40,
           .rnti = 4660},
          {.blocks = 36,
           .symbols = 2,
           .first_symbol = 3,
           .reg_bundle = 2,
           .interleaver_rows = 6,
           .shift = 5,
           .dmrs_id = 12,
           .scrambling_id = 13,
           .scrambling_rnti = 14,
           .level = 2,
           .dci_bits = 60,
           .rnti = 15},
          {.blocks = 54,
           .symbols = 3,
           .dmrs_first_block = 2000,
           .reg_bundle = 3,
           .interleaver_rows = 3,
           .shift = 274,
           .dmrs_id = 12,
           .level = 8,
           .dci_bits = 140,
           .rnti = 0}};
}

struct path {
  double delay;  // in symbols
  exact gain;
};
struct reception {
  double noise_var = 0;
  double cfo_spacings = 0;
  std::vector<path> paths = {{0, 1}};
};
/// The channel of a CORESET's elements.
std::vector<exact> channel_of(const wb::pdcch_config& c, const reception& r) {
  std::vector<exact> h;
  for (int l = 0; l < c.symbols; l++)
    for (int k = 0; k < 12 * c.blocks; k++) {
      exact sum = 0;
      for (const path& p : r.paths) sum += p.gain * std::polar(1., -2 * pi * k * p.delay);
      h.push_back(sum * std::polar(1., 2 * pi * r.cfo_spacings * (1 + 144. / 2048) * l + 0.7));
    }
  return h;
}

/// DCIs and what a receiver sees of them, a grid each.
struct transmission {
  std::vector<std::uint8_t> bits;
  std::vector<wb::nr_pdcch_candidate> candidates;
  std::vector<sample> grids;
};

// A PDSCH is mapped round the elements of its PDCCH: those that the oracle's grid has, and no others.
TEST(nr_pdcch_reserved, has_the_elements_of_the_candidate) {
  for (const wb::pdcch_config& c : configs())
    for (int first_cce = 0; first_cce + c.level <= c.cces(); first_cce += c.level) {
      const auto grid = oracle::nr_pdcch_grid(
          as_oracle(c), std::vector<int>(static_cast<std::size_t>(c.coded_bits())), 0, first_cce);
      std::vector<bool> reserved(grid.size());
      for (const wb::nr_reserved& r : wb::nr_pdcch_reserved(c, first_cce))
        for (int l = r.first_symbol; l < r.first_symbol + r.symbols; l++)
          for (int k = 12 * r.first_block; k < 12 * (r.first_block + r.blocks); k++)
            reserved[static_cast<std::size_t>(12 * c.blocks * (l - c.first_symbol) + k)] = true;
      for (std::size_t e = 0; e < grid.size(); e++) ASSERT_EQ(reserved[e], grid[e] != 0.) << e;
    }
}

class pdcch : public wb::testing::on_backend {
 protected:
  transmission send(const wb::pdcch_config& c, std::size_t items, unsigned seed) {
    std::mt19937 random(seed);
    transmission t;
    std::vector<int> slots, cces;
    for (std::size_t i = 0; i < items; i++) {
      for (int b = 0; b < c.dci_bits; b++) t.bits.push_back(static_cast<std::uint8_t>(random() % 2));
      slots.push_back(static_cast<int>(random() % 80));
      cces.push_back(static_cast<int>(random() % static_cast<unsigned>(c.cces() / c.level)) * c.level);
      t.candidates.push_back({static_cast<int>(i), slots.back(), cces.back()});
    }
    const auto in = on_device(exec(), t.bits, items, static_cast<std::size_t>(c.dci_bits));
    auto grids = exec().make<sample>(items, c.elements());
    wb::pdcch_encoder(c).run(exec(), in, slots, cces, grids);
    t.grids = exec().to_host(grids);
    return t;
  }
  static void receive(transmission& t, const wb::pdcch_config& c, const reception& r, unsigned seed) {
    const std::vector<exact> h = channel_of(c, r);
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal(0, std::sqrt(r.noise_var / 2));
    for (std::size_t i = 0; i < t.grids.size(); i++) {
      exact y = h[i % h.size()] * exact(t.grids[i]);
      if (r.noise_var > 0) y += exact(normal(random), normal(random));
      t.grids[i] = sample(y);
    }
  }
  static std::vector<wb::nr_pdcch_result> decode_on(wb::executor& e, const transmission& t,
                                                    const wb::pdcch_decoder_config& c,
                                                    wb::layout order = wb::layout::row_major) {
    const std::size_t n = c.channel.elements(), items = t.grids.size() / n;
    std::vector<sample> values = t.grids;
    if (order == wb::layout::batch_fastest)
      for (std::size_t i = 0; i < items; i++)
        for (std::size_t j = 0; j < n; j++) values[j * items + i] = t.grids[i * n + j];
    const auto in = on_device(e, values, items, n, order);
    return wb::pdcch_decoder(c).run(e, in, t.candidates);
  }
  std::vector<wb::nr_pdcch_result> decode(const transmission& t, const wb::pdcch_config& c) {
    return decode_on(exec(), t, {.channel = c});
  }
  static std::size_t right_ones(const transmission& t, const std::vector<wb::nr_pdcch_result>& found) {
    std::size_t right = 0;
    for (std::size_t i = 0; i < found.size(); i++) {
      const bool same = found[i].bits == wb::testing::row_of(t.bits, i, found[i].bits.size());
      EXPECT_TRUE(!found[i].ok || same) << i;
      right += found[i].ok;
    }
    return right;
  }
  std::size_t few(std::size_t items) const {
    return wb::testing::small_scale() || GetParam().name == "scalar" ? items / 4 : items;
  }
};
WB_ON_ALL_BACKENDS(pdcch);

/// The rows of a file of vectors; empty without reference data.
nlohmann::json pdcch_vectors(const std::string& name) {
  std::ifstream file(pdcch_refdata + "vectors/" + name);
  return file ? wb::testing::parse_json(file).at("vectors") : nlohmann::json::array();
}
std::vector<std::uint8_t> bits_of(const nlohmann::json& text) {
  std::vector<std::uint8_t> bits;
  for (const char c : text.get<std::string>()) bits.push_back(static_cast<std::uint8_t>(c - '0'));
  return bits;
}

TEST(pdcch_tables, coreset0_is_that_of_other_programs) {
  std::ifstream file(pdcch_refdata + "tables_coreset0.csv");
  if (!file) GTEST_SKIP() << "no refdata: cannot open '" << pdcch_refdata << "tables_coreset0.csv'";
  std::string line;
  std::getline(file, line);
  int rows[2][2][2] = {};
  while (std::getline(file, line)) {
    std::vector<std::string> cells;
    std::istringstream in(line);
    for (std::string cell; std::getline(in, cell, ',');) cells.push_back(cell);
    const auto number = [&](std::size_t i) { return std::stoi(cells[i]); };
    const bool wide = cells[3] == "40";
    EXPECT_EQ(wb::nr_coreset0_of(number(1), number(2), number(4), wide),
              (wb::nr_coreset0{number(6), number(7), number(8)}))
        << line;
    rows[number(1) / 30][number(2) / 30][wide]++;
  }
  for (const int ssb : {15, 30})
    for (const int spacing : {15, 30})
      for (const bool wide : {false, true}) {
        if (wide && ssb == 15) continue;
        for (int i = 0; i < 16; i++)
          EXPECT_EQ(wb::nr_coreset0_of(ssb, spacing, i, wide).has_value(),
                    i < rows[ssb / 30][spacing / 30][wide]);
      }
}

TEST(pdcch_tables, occasions_are_those_of_other_programs) {
  const auto rows = pdcch_vectors("type0_occasions.json");
  if (rows.empty()) GTEST_SKIP() << "no refdata: type0_occasions.json";
  for (const auto& row : rows) {
    const auto number = [&](const char* key) { return row.at(key).get<int>(); };
    EXPECT_EQ(wb::nr_type0_occasion_of(number("search_space0_index"), number("i_ssb"), 15 << number("mu"),
                                       number("n_symb_coreset")),
              (wb::nr_type0_occasion{number("sfn_parity"), number("n0"), number("first_symbol")}))
        << row;
  }
}

// Frequency range 2, tables 13-7 to 13-10 and 13-12, as columns.
TEST(pdcch_tables, of_frequency_range_2) {
  struct table {
    int ssb, spacing;
    std::vector<int> patterns, blocks, symbols, offsets;
  };
  const table tables[] = {{120,
                           60,
                           {1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2},
                           {48, 48, 48, 48, 48, 48, 96, 96, 48, 48, 96, 96},
                           {1, 1, 2, 2, 3, 3, 1, 2, 1, 1, 1, 1},
                           {0, 8, 0, 8, 0, 8, 28, 28, -41, 49, -41, 97}},
                          {120,
                           120,
                           {1, 1, 1, 1, 3, 3, 3, 3},
                           {24, 24, 48, 48, 24, 24, 48, 48},
                           {2, 2, 1, 2, 2, 2, 2, 2},
                           {0, 4, 14, 14, -20, 24, -20, 48}},
                          {240, 60, {1, 1, 1, 1}, {96, 96, 96, 96}, {1, 1, 2, 2}, {0, 16, 0, 16}},
                          {240,
                           120,
                           {1, 1, 1, 1, 2, 2, 2, 2},
                           {48, 48, 48, 48, 24, 24, 48, 48},
                           {1, 1, 2, 2, 1, 1, 1, 1},
                           {0, 8, 0, 8, -41, 25, -41, 49}}};
  for (const table& t : tables)
    for (std::size_t i = 0; i < 16; i++)
      for (const int k_ssb : {0, 1, 11}) {
        const auto found = wb::nr_coreset0_of(t.ssb, t.spacing, static_cast<int>(i), false, k_ssb);
        ASSERT_EQ(found.has_value(), i < t.blocks.size());
        if (!found) continue;
        const int offset = t.offsets[i] - (t.offsets[i] < 0 && k_ssb > 0 ? 1 : 0);
        EXPECT_EQ(*found, (wb::nr_coreset0{t.blocks[i], t.symbols[i], offset, t.patterns[i]})) << i;
        // Pattern 1: the CORESET has the block, of which k_SSB may move a part of a resource block out.
        // Others: it is beside the block.
        const double first_hz = wb::nr_coreset0_first_hz(*found, t.ssb, t.spacing, k_ssb),
                     end_hz = first_hz + 12e3 * t.blocks[i] * t.spacing;
        if (found->pattern == 1)
          EXPECT_TRUE(first_hz <= -120e3 * t.ssb &&
                      end_hz + (k_ssb > 0 ? 12e3 * t.spacing : 0) >= 120e3 * t.ssb)
              << i << ' ' << k_ssb;
        else
          EXPECT_TRUE(first_hz >= 120e3 * t.ssb || end_hz <= -120e3 * t.ssb) << i << ' ' << k_ssb;
      }
  // Where an offset depends on k_SSB, it must be given.
  EXPECT_EQ(blamed([] { wb::nr_coreset0_of(120, 60, 8); }), "k_ssb");
  EXPECT_EQ(blamed([] { wb::nr_coreset0_of(120, 120, 6); }), "k_ssb");
  EXPECT_EQ(blamed([] { wb::nr_coreset0_of(240, 120, 4); }), "k_ssb");
  EXPECT_EQ(wb::nr_coreset0_of(120, 60, 9), (wb::nr_coreset0{48, 1, 49, 2}));
  const double offsets[14] = {0, 0, 2.5, 2.5, 5, 5, 0, 2.5, 5, 7.5, 7.5, 7.5, 0, 5};
  const double steps[14] = {1, 0.5, 1, 0.5, 1, 0.5, 0.5, 0.5, 0.5, 1, 0.5, 0.5, 2, 2};
  for (int index = 0; index < 14; index++)
    for (int i = 0; i < 64; i++)
      for (const int mu : {2, 3})
        for (const int symbols : {1, 2, 3}) {
          const int slots = 10 << mu;
          const int n = static_cast<int>(offsets[index] * (1 << mu) + std::floor(i * steps[index]));
          const bool seven = index == 1 || index == 3 || index == 5 || index == 10;
          const int first = steps[index] == 0.5 && i % 2 == 1 ? seven ? 7 : symbols : 0;
          ASSERT_EQ(wb::nr_type0_occasion_of(index, i, 15 << mu, symbols),
                    (wb::nr_type0_occasion{n / slots % 2, n % slots, first}))
              << index << ' ' << i;
        }
  for (const int spacing : {60, 120})
    for (const int index : {14, 15}) EXPECT_FALSE(wb::nr_type0_occasion_of(index, 0, spacing, 1));
  EXPECT_EQ(blamed([] { wb::nr_type0_occasion_of(16, 0, 60, 1); }), "index");
  EXPECT_EQ(blamed([] { wb::nr_type0_occasion_of(0, 64, 120, 1); }), "ssb_index");
}

// Every row of table 13-11 by its formula.
TEST(pdcch_tables, occasions_are_those_of_their_formula) {
  const double offsets[16] = {0, 0, 2, 2, 5, 5, 7, 7, 0, 5, 0, 0, 2, 2, 5, 5};
  const double steps[16] = {1, 0.5, 1, 0.5, 1, 0.5, 1, 0.5, 2, 2, 1, 1, 1, 1, 1, 1};
  const int firsts[16] = {0, -1, 0, -1, 0, -1, 0, -1, 0, 0, 1, 2, 1, 2, 1, 2};
  for (int index = 0; index < 16; index++)
    for (int i = 0; i < 8; i++)
      for (const int mu : {0, 1})
        for (const int symbols : {1, 2, 3}) {
          const int slots = 10 << mu;
          const int n = static_cast<int>(offsets[index] * (1 << mu) + std::floor(i * steps[index]));
          const int first = firsts[index] >= 0 ? firsts[index] : i % 2 == 0 ? 0 : symbols;
          EXPECT_EQ(wb::nr_type0_occasion_of(index, i, 15 << mu, symbols),
                    (wb::nr_type0_occasion{n / slots % 2, n % slots, first}));
        }
  EXPECT_EQ(blamed([] { wb::nr_type0_occasion_of(16, 0, 15, 1); }), "index");
  EXPECT_EQ(blamed([] { wb::nr_type0_occasion_of(0, 8, 15, 1); }), "ssb_index");
  EXPECT_EQ(blamed([] { wb::nr_type0_occasion_of(0, 0, 240, 1); }), "spacing_khz");
  EXPECT_EQ(blamed([] { wb::nr_type0_occasion_of(0, 0, 30, 4); }), "coreset_symbols");
  EXPECT_EQ(blamed([] { wb::nr_coreset0_of(15, 30, 0, true); }), "wide");
  EXPECT_EQ(blamed([] { wb::nr_coreset0_of(60, 30, 0); }), "ssb_spacing_khz");
  EXPECT_EQ(blamed([] { wb::nr_coreset0_of(120, 30, 0); }), "spacing_khz");
  EXPECT_EQ(blamed([] { wb::nr_coreset0_of(240, 60, 0, true); }), "wide");
  EXPECT_EQ(blamed([] { wb::nr_coreset0_of(120, 60, 0, false, 12); }), "k_ssb");
  EXPECT_EQ(blamed([] { wb::nr_coreset0_of(15, 120, 0); }), "spacing_khz");
  EXPECT_EQ(blamed([] { wb::nr_coreset0_of(15, 15, 16); }), "index");
  EXPECT_EQ(blamed([] { wb::nr_coreset0_first_hz({24, 2, 0}, 15, 15, 24); }), "k_ssb");
  // Block at 30 kHz, k_SSB = 6: three subcarriers, 12 blocks and half a block below its centre.
  EXPECT_EQ(wb::nr_coreset0_first_hz({48, 1, 12}, 30, 30, 6), -30e3 * (120 + 3 + 144));
}

TEST(pdcch_tables, candidates_are_those_of_other_programs) {
  const auto rows = pdcch_vectors("pdcch_candidates.json");
  if (rows.empty()) GTEST_SKIP() << "no refdata: pdcch_candidates.json";
  for (const auto& row : rows) {
    const auto number = [&](const char* key) { return row.at(key).get<int>(); };
    std::optional<wb::nr_ue_search_space> ue;
    if (!row.at("common_search_space").get<bool>())
      ue = wb::nr_ue_search_space{number("rnti"), number("coreset_id"), number("slot")};
    EXPECT_EQ(
        wb::nr_pdcch_candidates(number("n_cce"), number("aggregation_level"), number("n_candidates"), ue),
        row.at("first_cce").get<std::vector<int>>())
        << row;
  }
  EXPECT_EQ(blamed([] { wb::nr_pdcch_candidates(8, 3, 1); }), "level");
  EXPECT_EQ(blamed([] { wb::nr_pdcch_candidates(8, 16, 1); }), "level");
  EXPECT_EQ(blamed([] { wb::nr_pdcch_candidates(8, 8, 9); }), "candidates");
  EXPECT_EQ(blamed([] { wb::nr_pdcch_candidates(0, 1, 1); }), "cces");
  EXPECT_EQ(blamed([] { wb::nr_pdcch_candidates(8, 1, 1, wb::nr_ue_search_space{.rnti = 0}); }), "rnti");
}

TEST(pdcch_tables, dcis_are_those_of_other_programs) {
  const auto rows = pdcch_vectors("dci_1_0_si.json");
  if (rows.empty()) GTEST_SKIP() << "no refdata: dci_1_0_si.json";
  for (const auto& row : rows) {
    const auto number = [&](const char* key) { return row.at(key).get<int>(); };
    const wb::nr_si_dci dci{.first_block = number("rb_start"),
                            .blocks = number("rb_count"),
                            .time_domain = number("time_domain"),
                            .interleaved = number("vrb_to_prb") == 1,
                            .mcs = number("mcs"),
                            .rv = number("rv"),
                            .other_information = number("system_information_indicator") == 1};
    const int n = number("n_rb_coreset0");
    EXPECT_EQ(wb::nr_si_dci_bits(n), number("size"));
    EXPECT_EQ(wb::nr_si_dci_encode(dci, n), bits_of(row.at("payload"))) << row;
    EXPECT_EQ(wb::nr_si_dci_decode(bits_of(row.at("payload")), n), dci) << row;
  }
}

TEST(pdcch_tables, every_dci_comes_back) {
  for (const int n : {24, 48, 96}) {
    std::vector<bool> seen(static_cast<std::size_t>(n * (n + 1) / 2));
    for (int first = 0; first < n; first++)
      for (int count = 1; first + count <= n; count++) {
        const wb::nr_si_dci dci{.first_block = first,
                                .blocks = count,
                                .time_domain = count % 16,
                                .interleaved = first % 2 == 1,
                                .mcs = first % 32,
                                .rv = count % 4,
                                .other_information = count % 2 == 1};
        const auto bits = wb::nr_si_dci_encode(dci, n);
        EXPECT_EQ(wb::nr_si_dci_decode(bits, n), dci);
        std::size_t value = 0;
        for (std::size_t i = 0; i + 28 < bits.size(); i++) value = 2 * value + bits[i];
        ASSERT_LT(value, seen.size());
        EXPECT_FALSE(seen[value]);
        seen[value] = true;
      }
    const std::vector<std::uint8_t> ones(static_cast<std::size_t>(wb::nr_si_dci_bits(n)), 1);
    EXPECT_FALSE(wb::nr_si_dci_decode(ones, n).has_value());
    // Bundles of two: even ones to the lower half, odd ones to the upper half.
    std::vector<int> blocks = wb::nr_si_blocks({.blocks = n, .interleaved = true}, n);
    for (int i = 0; i < n; i++)
      EXPECT_EQ(blocks[static_cast<std::size_t>(i)], i / 4 * 2 + i % 2 + (i / 2 % 2 == 1 ? n / 2 : 0));
  }
  EXPECT_EQ(blamed([] { wb::nr_si_dci_bits(25); }), "coreset_blocks");
  EXPECT_EQ(blamed([] { wb::nr_si_dci_encode({.first_block = 20, .blocks = 5}, 24); }), "blocks");
  EXPECT_EQ(blamed([] { wb::nr_si_dci_encode({.mcs = 32}, 24); }), "mcs");
  EXPECT_EQ(blamed([] { wb::nr_si_dci_encode({.rv = 4}, 24); }), "rv");
  EXPECT_EQ(blamed([] { wb::nr_si_dci_encode({.time_domain = 16}, 24); }), "time_domain");
  EXPECT_EQ(blamed([] { wb::nr_si_dci_decode(std::vector<std::uint8_t>(38), 24); }), "bits");
  EXPECT_EQ(blamed([] { wb::nr_pdsch_default_a(16, 2); }), "index");
  EXPECT_EQ(blamed([] { wb::nr_pdsch_default_a(0, 4); }), "dmrs_first_symbol");
}

// Time table A, and the DMRS of TS 38.214 section 5.1.6.2: two symbols have one CDM group without data.
TEST(pdcch_tables, symbols_of_pdsch_are_those_of_other_programs) {
  std::ifstream file(pdcch_refdata + "tables_pdsch_default_a.csv");
  if (!file) GTEST_SKIP() << "no refdata: cannot open '" << pdcch_refdata << "tables_pdsch_default_a.csv'";
  std::string line;
  std::getline(file, line);
  int rows = 0, short_ones = 0;
  while (std::getline(file, line)) {
    std::vector<std::string> cells;
    std::istringstream in(line);
    for (std::string cell; std::getline(in, cell, ',');) cells.push_back(cell);
    const auto number = [&](std::size_t i) { return std::stoi(cells[i]); };
    const wb::nr_pdsch_time time = wb::nr_pdsch_default_a(number(0), number(2));
    EXPECT_EQ(time.mapping, cells[3] == "A" ? wb::nr_mapping::type_a : wb::nr_mapping::type_b) << line;
    EXPECT_EQ(number(4), 0);
    EXPECT_EQ(time.first_symbol, number(5)) << line;
    EXPECT_EQ(time.symbols, number(6)) << line;
    for (const int blocks : {1, 24}) {
      const wb::nr_shared_channel pdsch(wb::nr_si_channel({.blocks = blocks, .time_domain = number(0)},
                                                          {.spacing_khz = 30, .resource_blocks = 24},
                                                          number(2)));
      const std::size_t groups = number(6) == 2 ? 1 : 2, dmrs = pdsch.dmrs_symbols().size();
      EXPECT_EQ(pdsch.data_elements(), static_cast<std::size_t>(blocks) *
                                           (12 * static_cast<std::size_t>(number(6)) - 6 * groups * dmrs))
          << line;
      short_ones += groups == 1;
    }
    rows++;
  }
  EXPECT_EQ(rows, 32);
  EXPECT_EQ(short_ones, 12);
}

TEST(pdcch_tables, bad_settings_are_named) {
  const auto blames = [](auto change) {
    wb::pdcch_decoder_config c;
    change(c.channel);
    return blamed([&] { wb::pdcch_decoder{c}; });
  };
  EXPECT_EQ(blames([](auto&) {}), "");
  EXPECT_EQ(blames([](auto& c) { c.blocks = 25; }), "blocks");
  EXPECT_EQ(blames([](auto& c) { c.symbols = 4; }), "symbols");
  EXPECT_EQ(blames([](auto& c) { c.first_symbol = 14; }), "first_symbol");
  EXPECT_EQ(blames([](auto& c) { c.reg_bundle = 3; }), "reg_bundle");
  EXPECT_EQ(blames([](auto& c) { c.symbols = 3, c.reg_bundle = 2; }), "reg_bundle");
  EXPECT_EQ(blames([](auto& c) { c.interleaver_rows = 6; }), "interleaver_rows");
  EXPECT_EQ(blames([](auto& c) { c.level = 16; }), "level");
  EXPECT_EQ(blames([](auto& c) { c.level = 1, c.dci_bits = 85; }), "dci_bits");
  EXPECT_EQ(blames([](auto& c) { c.rnti = 65536; }), "rnti");
  EXPECT_EQ(blames([](auto& c) { c.dmrs_first_block = 2199; }), "dmrs_first_block");
  EXPECT_EQ(blamed([] { wb::pdcch_decoder({.list_size = 3}); }), "list_size");
  EXPECT_EQ(blamed([] { wb::pdcch_encoder({.shift = 1008}); }), "shift");
  EXPECT_EQ(blamed([] { wb::pdcch_groups({}, 2); }), "first_cce");
  EXPECT_EQ(blamed([] { wb::pdcch_groups({}, 8); }), "first_cce");
}

// The polar encoder has tests against its definition (fec/polar).
TEST_P(pdcch, grids_are_those_of_their_definition) {
  for (const wb::pdcch_config& c : configs()) {
    const transmission t = send(c, 12, 3);
    const wb::polar_encoder coder(wb::polar_config{
        .kind = wb::polar_kind::dci, .k = c.dci_bits, .coded_bits = c.coded_bits(), .rnti = c.rnti});
    const auto message = on_device(exec(), t.bits, 12, static_cast<std::size_t>(c.dci_bits));
    auto coded = exec().make<std::uint8_t>(12, static_cast<std::size_t>(c.coded_bits()));
    coder.run(exec(), message, coded);
    const auto bits = exec().to_host(coded);
    for (std::size_t i = 0; i < 12; i++) {
      const auto row = wb::testing::row_of(bits, i, static_cast<std::size_t>(c.coded_bits()));
      const auto expected = oracle::nr_pdcch_grid(as_oracle(c), {row.begin(), row.end()},
                                                  t.candidates[i].slot, t.candidates[i].first_cce);
      double worst = 0;
      for (std::size_t e = 0; e < expected.size(); e++)
        worst = std::max(worst, std::abs(exact(t.grids[expected.size() * i + e]) - expected[e]));
      EXPECT_LT(worst, 1e-6) << c.blocks << " " << i;
      auto groups = oracle::nr_pdcch_groups(as_oracle(c), t.candidates[i].first_cce);
      std::sort(groups.begin(), groups.end());
      EXPECT_EQ(wb::pdcch_groups(c, t.candidates[i].first_cce), groups);
    }
  }
}

TEST_P(pdcch, vectors_of_other_programs) {
  const auto rows = pdcch_vectors("pdcch.json");
  if (rows.empty()) GTEST_SKIP() << "no refdata: pdcch.json";
  for (const auto& row : rows) {
    const auto number = [&](const char* key) { return row.at(key).get<int>(); };
    SCOPED_TRACE(number("id"));
    wb::pdcch_config c{.blocks = number("n_rb"),
                       .symbols = number("n_symb"),
                       .dmrs_first_block = number("first_prb") - number("dmrs_reference_prb"),
                       .interleaved = row.at("interleaved").get<bool>(),
                       .dmrs_id = number("n_id_dmrs"),
                       .scrambling_id = number("n_id_data"),
                       .scrambling_rnti = number("n_rnti"),
                       .level = number("aggregation_level"),
                       .rnti = number("rnti")};
    if (c.interleaved)
      c.reg_bundle = number("reg_bundle"), c.interleaver_rows = number("interleaver_rows"),
      c.shift = number("n_shift");
    const auto dci = bits_of(row.at("dci"));
    c.dci_bits = static_cast<int>(dci.size());
    EXPECT_EQ(wb::pdcch_groups(c, number("first_cce")), row.at("reg_indices").get<std::vector<int>>());
    const auto in = on_device(exec(), dci, 1, dci.size());
    auto grid = exec().make<sample>(1, c.elements());
    wb::pdcch_encoder(c).run(exec(), in, {number("slot")}, {number("first_cce")}, grid);
    transmission t{dci, {{0, number("slot"), number("first_cce")}}, exec().to_host(grid)};
    // Symbols without DMRS, as scrambled bits in the order of their resource elements.
    std::string scrambled;
    for (std::size_t e = 0; e < t.grids.size(); e++) {
      if (e % 4 == 1 || t.grids[e] == sample(0)) continue;
      scrambled += t.grids[e].real() < 0 ? '1' : '0';
      scrambled += t.grids[e].imag() < 0 ? '1' : '0';
    }
    EXPECT_EQ(scrambled, row.at("scrambled").get<std::string>());
    EXPECT_EQ(right_ones(t, decode(t, c)), 1u);
  }
}

TEST_P(pdcch, knows_channels_delays_and_frequency_offsets) {
  const std::vector<reception> cases{
      {.noise_var = 0},
      {.noise_var = 1e-6},
      {.noise_var = 0.1, .cfo_spacings = 0.4},
      {.noise_var = 0.05, .cfo_spacings = -0.3, .paths = {{0.045, 1}}},
      {.noise_var = 0.05, .paths = {{-0.05, 0.5}}},
      {.noise_var = 0.05, .cfo_spacings = 0.02, .paths = {{0.002, 0.8}, {0.02, {0, 0.6}}, {0.05, -0.3}}}};
  for (const wb::pdcch_config& c : configs())
    for (const reception& r : cases) {
      transmission t = send(c, few(36), 8);
      receive(t, c, r, 9);
      const auto found = decode(t, c);
      // One CCE with a null of the channel may fail.
      EXPECT_GE(right_ones(t, found) + (c.level < 4 ? found.size() / 3 : 0), found.size())
          << c.blocks << " " << c.level << " " << r.noise_var;
      for (const auto& x : found) {
        EXPECT_FALSE(x.erased);
        if (c.symbols > 1 && c.level > 2) {
          EXPECT_NEAR(x.cfo_spacings, r.cfo_spacings, 0.06);
        }
        if (r.paths.size() == 1 && c.level > 2) {
          EXPECT_NEAR(x.delay_symbols, r.paths[0].delay, 0.01);
          EXPECT_GT(x.snr_db, r.noise_var == 0 ? 40 : 5);
          EXPECT_GT(x.metric, 10);
        }
      }
    }
}

// The same list decoder with LLRs of a known channel, in double. Estimation may cost so many DCIs more.
TEST_P(pdcch, loses_little_against_a_known_channel) {
  for (const int level : {4, 16}) {
    const wb::pdcch_config c = coreset0(500, 96, 2, level);
    const double noise_var = std::pow(10., level == 4 ? 0.35 : 0.85);
    const reception r{.noise_var = noise_var, .cfo_spacings = 0.01};
    transmission t = send(c, few(400), 10);
    receive(t, c, r, 11);
    const std::size_t right = right_ones(t, decode(t, c)), n = c.elements();
    const std::vector<exact> h = channel_of(c, r);
    std::vector<float> llrs;
    for (std::size_t i = 0; i < t.candidates.size(); i++) {
      const auto y = wb::testing::row_of(t.grids, i, n);
      for (const double x :
           oracle::nr_pdcch_llrs(as_oracle(c), {y.begin(), y.end()}, h, noise_var, t.candidates[i].first_cce))
        llrs.push_back(static_cast<float>(x));
    }
    const auto in = on_device(exec(), llrs, t.candidates.size(), static_cast<std::size_t>(c.coded_bits()));
    auto status = exec().make<std::uint8_t>(t.candidates.size(), 1);
    wb::polar_decoder(
        {.kind = wb::polar_kind::dci, .k = c.dci_bits, .coded_bits = c.coded_bits(), .rnti = c.rnti},
        {.list_size = 8})
        .run(exec(), in, {.status = status});
    std::size_t known = 0;
    for (const auto s : exec().to_host(status)) known += (s & wb::status_stopped) != 0;
    RecordProperty("right", static_cast<int>(right));
    RecordProperty("known", static_cast<int>(known));
    EXPECT_GT(right, known / 2) << level;
    EXPECT_GT(known, t.candidates.size() / 4) << level;
  }
}

TEST_P(pdcch, noise_alone_gives_no_dci) {
  const wb::pdcch_config c = coreset0(9, 24, 2, 4);
  transmission t;
  std::mt19937_64 random(13);
  std::normal_distribution<float> normal;
  for (std::size_t i = 0; i < few(2000); i++) t.candidates.push_back({static_cast<int>(i), 3, 4});
  t.grids.resize(c.elements() * t.candidates.size());
  for (sample& x : t.grids) x = {normal(random), normal(random)};
  double metric = 0;
  for (const auto& x : decode(t, c)) {
    EXPECT_FALSE(x.ok);
    EXPECT_EQ(x.bits, std::vector<std::uint8_t>(x.bits.size()));
    metric += x.metric;
  }
  EXPECT_LT(metric / static_cast<double>(t.candidates.size()), 4);
}

// Another cell's, another RNTI's, another slot's candidates: CRC or DMRS do not fit.
TEST_P(pdcch, candidates_of_others_are_not_decoded) {
  const wb::pdcch_config c = coreset0(500, 48, 2, 4);
  transmission t = send(c, few(100), 14);
  for (auto& x : t.candidates) x.slot = (x.slot + 1) % 80;
  for (const auto& x : decode(t, c)) EXPECT_FALSE(x.ok && x.metric > 20);
  t = send(c, few(100), 14);
  wb::pdcch_config other = c;
  other.rnti = 65534;
  for (const auto& x : decode(t, other)) EXPECT_FALSE(x.ok);
  for (const auto& x : decode(t, coreset0(501, 48, 2, 4))) EXPECT_FALSE(x.ok);
}

TEST_P(pdcch, bad_candidates_are_erased_alone) {
  const wb::pdcch_config c = coreset0(500, 48, 1, 8);  // all elements of the CORESET
  const std::size_t n = c.elements();
  transmission t = send(c, 40, 17);
  receive(t, c, {.noise_var = 0.1}, 18);
  const auto expected = decode(t, c);
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  t.grids[n * 3 + 5] = {nan, 0};
  t.grids[n * 18 + n - 1] = {0, -inf};
  t.grids[n * 19 + 500] = {2e15f, 0};
  std::fill_n(t.grids.begin() + static_cast<std::ptrdiff_t>(39 * n), n, sample(0));
  const auto found = decode(t, c);
  for (std::size_t i = 0; i < found.size(); i++) {
    const bool bad = i == 3 || i == 18 || i == 19 || i == 39;
    EXPECT_EQ(found[i].erased, bad) << i;
    EXPECT_EQ(found[i].ok, !bad) << i;
    EXPECT_EQ(found[i].bits, bad ? std::vector<std::uint8_t>(found[i].bits.size()) : expected[i].bits) << i;
    EXPECT_EQ(found[i].snr_db, bad ? -40 : expected[i].snr_db) << i;
    EXPECT_EQ(found[i].metric, bad ? 0 : expected[i].metric) << i;
  }
  for (const float gain : {1e-14f, 1e13f}) {  // no scale is expected
    transmission scaled = send(c, 4, 19);
    for (sample& x : scaled.grids) x *= gain;
    EXPECT_EQ(right_ones(scaled, decode(scaled, c)), 4u) << gain;
  }
  const auto blames = [&](std::size_t elements, const wb::nr_pdcch_candidate& x) {
    return blamed([&] {
      const auto in = on_device(exec(), std::vector<sample>(2 * elements), 2, elements);
      wb::pdcch_decoder({.channel = c}).run(exec(), in, {x});
    });
  };
  EXPECT_EQ(blames(n, {1, 79, 0}), "");
  EXPECT_EQ(blames(n - 1, {}), "grids");
  EXPECT_EQ(blames(n, {.grid = 2}), "grid");
  EXPECT_EQ(blames(n, {.slot = 80}), "slot");
  EXPECT_EQ(blames(n, {.first_cce = 4}), "first_cce");
  const auto bits = exec().make<std::uint8_t>(2, 39);
  auto grids = exec().make<sample>(2, n);
  const wb::pdcch_encoder encoder(c);
  EXPECT_EQ(blamed([&] { encoder.run(exec(), bits, {1}, {0, 0}, grids); }), "slots");
  EXPECT_EQ(blamed([&] { encoder.run(exec(), bits, {1, 1}, {0}, grids); }), "first_cces");
  EXPECT_EQ(blamed([&] { encoder.run(exec(), bits, {1, 80}, {0, 0}, grids); }), "slot");
  EXPECT_EQ(blamed([&] { encoder.run(exec(), exec().make<std::uint8_t>(2, 40), {1, 1}, {0, 0}, grids); }),
            "bits");
}

TEST_P(pdcch, every_backend_gives_the_same_numbers) {
  for (const wb::pdcch_config& c : configs()) {
    transmission t = send(c, 37, 20);
    receive(t, c, {.noise_var = 0.5, .cfo_spacings = 0.1, .paths = {{0.005, 0.8}, {0.02, {0, 0.6}}}}, 21);
    const auto scalar = wb::testing::open_scalar(), three = GetParam().open(3);
    const wb::pdcch_decoder_config d{.channel = c};
    const auto expected = decode_on(*scalar, t, d);
    EXPECT_GT(right_ones(t, expected), c.level < 4 ? 3u : 30u);
    for (const auto& found :
         {decode(t, c), decode_on(*three, t, d), decode_on(exec(), t, d, wb::layout::batch_fastest)})
      for (std::size_t i = 0; i < found.size(); i++) {
        EXPECT_EQ(found[i].ok, expected[i].ok);
        EXPECT_EQ(found[i].bits, expected[i].bits);
        EXPECT_EQ(found[i].metric, expected[i].metric);
        EXPECT_EQ(found[i].snr_db, expected[i].snr_db);
        EXPECT_EQ(found[i].cfo_spacings, expected[i].cfo_spacings);
        EXPECT_EQ(found[i].delay_symbols, expected[i].delay_symbols);
      }
  }
}

}  // namespace pdcch_test
