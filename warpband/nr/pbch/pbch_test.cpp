// PBCH: payload and grids against their definition and other programs. Decoded blocks against what was sent.
// Loss against a channel that is known, noise, bad input, equal results on every backend.
#include <warpband/nr/pbch/pbch.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <oracle/nr_pbch.hpp>
#include <tests/json.hpp>
#include <tests/on_backends.hpp>
#include <warpband/core/status.hpp>
#include <warpband/nr/sync/cell_search.hpp>

#ifndef WARPBAND_REFDATA
#define WARPBAND_REFDATA ""
#endif

namespace pbch_test {

using wb::testing::blamed;
using wb::testing::on_device;
using sample = std::complex<float>;
using exact = std::complex<double>;
constexpr double pi = 3.14159265358979323846;

/// Contents, cells and what a receiver sees of their blocks.
struct transmission {
  std::vector<wb::nr_ssb_content> contents;
  std::vector<int> cells;
  std::vector<sample> grids;
};

struct path {
  double delay;  // in 1/256 of a symbol
  exact gain;
};
struct reception {
  double noise_var = 0;
  double cfo_spacings = 0;
  std::vector<path> paths = {{0, 1}};
};

/// The channel of a block's 960 values.
std::vector<exact> channel_of(const reception& r) {
  std::vector<exact> h;
  for (int l = 0; l < 4; l++)
    for (int k = 0; k < 240; k++) {
      exact sum = 0;
      for (const path& p : r.paths) sum += p.gain * std::polar(1., -2 * pi * k * p.delay / 256);
      h.push_back(sum * std::polar(1., 2 * pi * r.cfo_spacings * (1 + 144. / 2048) * l + 0.7));
    }
  return h;
}

class pbch : public wb::testing::on_backend {
 protected:
  /// Random contents and cells.
  static transmission draw(std::size_t blocks, int l_max, unsigned seed) {
    std::mt19937 random(seed);
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    transmission t;
    for (std::size_t i = 0; i < blocks; i++) {
      t.contents.push_back({.sfn = below(1024),
                            .half_frame = below(2),
                            .ssb_index = below(l_max),
                            .k_ssb = below(l_max == 64 ? 16 : 32),
                            .common_spacing_khz = (l_max == 64 ? 60 : 15) << below(2),
                            .dmrs_first_symbol = 2 + below(2),
                            .coreset0 = below(16),
                            .search_space0 = below(16),
                            .cell_barred = below(2) == 1,
                            .intra_frequency = below(2) == 1});
      t.cells.push_back(below(1008));
    }
    return t;
  }
  void send(transmission& t, int l_max) {
    auto grids = exec().make<sample>(t.cells.size(), 960);
    wb::pbch_encoder({.l_max = l_max}).run(exec(), t.contents, t.cells, grids);
    t.grids = exec().to_host(grids);
  }
  static void receive(transmission& t, const reception& r, unsigned seed) {
    const std::vector<exact> h = channel_of(r);
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal(0, std::sqrt(r.noise_var / 2));
    for (std::size_t i = 0; i < t.grids.size(); i++) {
      exact y = h[i % 960] * exact(t.grids[i]);
      if (r.noise_var > 0) y += exact(normal(random), normal(random));
      t.grids[i] = sample(y);
    }
  }
  std::vector<wb::nr_pbch_block> decode(const transmission& t, const wb::pbch_decoder_config& c,
                                        wb::layout order = wb::layout::row_major) {
    return decode_on(exec(), t, c, order);
  }
  static std::vector<wb::nr_pbch_block> decode_on(wb::executor& e, const transmission& t,
                                                  const wb::pbch_decoder_config& c,
                                                  wb::layout order = wb::layout::row_major) {
    std::vector<sample> values = t.grids;
    const std::size_t blocks = t.cells.size();
    if (order == wb::layout::batch_fastest)
      for (std::size_t i = 0; i < blocks; i++)
        for (std::size_t j = 0; j < 960; j++) values[j * blocks + i] = t.grids[i * 960 + j];
    const auto in = on_device(e, values, blocks, 960, order);
    return wb::pbch_decoder(c).run(e, in, t.cells);
  }
  static std::size_t right_ones(const transmission& t, const std::vector<wb::nr_pbch_block>& found) {
    std::size_t right = 0;
    for (std::size_t i = 0; i < found.size(); i++) {
      right += found[i].ok && found[i].content == t.contents[i];
      EXPECT_TRUE(!found[i].ok || found[i].content == t.contents[i]) << i;
    }
    return right;
  }
  std::size_t few(std::size_t blocks) const {
    return wb::testing::small_scale() || GetParam().name == "scalar" ? blocks / 4 : blocks;
  }
};
WB_ON_ALL_BACKENDS(pbch);

std::vector<int> numbers(const wb::pbch_payload& bits) { return {bits.begin(), bits.end()}; }

TEST(pbch_content, payload_is_that_of_its_definition) {
  std::mt19937 random(1);
  for (const int l_max : {4, 8, 64})
    for (int i = 0; i < 200; i++) {
      wb::pbch_payload a;
      for (auto& bit : a) bit = static_cast<std::uint8_t>(random() % 2);
      const int cell = static_cast<int>(random() % 1008);
      const wb::pbch_payload b = wb::nr_pbch_scrambled(a, cell, l_max);
      EXPECT_EQ(numbers(b), oracle::nr_pbch_scrambled(numbers(a), cell, l_max));
      EXPECT_EQ(wb::nr_pbch_descrambled(b, cell, l_max), a);
    }
}

TEST(pbch_content, bad_fields_are_named) {
  const auto blames = [](int l_max, auto change) {
    wb::nr_ssb_content c;
    if (l_max == 64) c.common_spacing_khz = 120;
    change(c);
    return blamed([&] { wb::nr_pbch_payload(c, l_max); });
  };
  EXPECT_EQ(blames(8, [](auto&) {}), "");
  EXPECT_EQ(blames(64, [](auto&) {}), "");
  EXPECT_EQ(blames(8, [](auto& c) { c.sfn = 1024; }), "sfn");
  EXPECT_EQ(blames(8, [](auto& c) { c.half_frame = 2; }), "half_frame");
  EXPECT_EQ(blames(4, [](auto& c) { c.ssb_index = 4; }), "ssb_index");
  EXPECT_EQ(blames(64, [](auto& c) { c.k_ssb = 16; }), "k_ssb");
  EXPECT_EQ(blames(8, [](auto& c) { c.common_spacing_khz = 60; }), "common_spacing_khz");
  EXPECT_EQ(blames(8, [](auto& c) { c.dmrs_first_symbol = 4; }), "dmrs_first_symbol");
  EXPECT_EQ(blames(8, [](auto& c) { c.coreset0 = 16; }), "coreset0");
  EXPECT_EQ(blames(8, [](auto& c) { c.search_space0 = -1; }), "search_space0");
  EXPECT_EQ(blamed([] { wb::nr_pbch_payload({}, 16); }), "l_max");
  EXPECT_EQ(blamed([] { wb::nr_pbch_scrambled({}, 1008, 8); }), "cell_id");
  EXPECT_EQ(blamed([] { wb::nr_pbch_content({}, 8, 8); }), "dmrs_index");
  EXPECT_EQ(blamed([] { wb::pbch_decoder({.l_max = 16}); }), "l_max");
  EXPECT_EQ(blamed([] { wb::pbch_decoder({.list_size = 3}); }), "list_size");
  EXPECT_EQ(blamed([] { wb::pbch_decoder({.hypotheses = 9}); }), "hypotheses");
  EXPECT_EQ(blamed([] { wb::pbch_encoder({.l_max = 0}); }), "l_max");
}

// The polar encoder has tests against its definition (fec/polar).
TEST_P(pbch, grids_are_those_of_their_definition) {
  for (const int l_max : {4, 8, 64}) {
    transmission t = draw(25, l_max, 3);
    send(t, l_max);
    const wb::polar_encoder coder(wb::polar_config{.kind = wb::polar_kind::pbch, .k = 32, .coded_bits = 864});
    for (std::size_t i = 0; i < t.cells.size(); i++) {
      const auto a =
          oracle::nr_pbch_scrambled(numbers(wb::nr_pbch_payload(t.contents[i], l_max)), t.cells[i], l_max);
      const auto message = on_device(exec(), std::vector<std::uint8_t>(a.begin(), a.end()), 1, 32);
      auto coded = exec().make<std::uint8_t>(1, 864);
      coder.run(exec(), message, coded);
      const auto bits = exec().to_host(coded);
      const auto expected = oracle::nr_ssb_grid({bits.begin(), bits.end()}, t.cells[i], l_max,
                                                t.contents[i].ssb_index, t.contents[i].half_frame);
      double worst = 0;
      for (std::size_t e = 0; e < 960; e++)
        worst = std::max(worst, std::abs(exact(t.grids[960 * i + e]) - expected[e]));
      EXPECT_LT(worst, 1e-6) << l_max << " " << i;
    }
  }
}

TEST_P(pbch, vectors_of_other_programs) {
  const std::string folder = WARPBAND_REFDATA "/nr_time/vectors/";
  std::ifstream file(folder + "ssb.json");
  if (!file) GTEST_SKIP() << "no refdata: cannot open '" << folder << "ssb.json'";
  const auto content = wb::testing::parse_json(file);
  int rows = 0;
  for (const auto& row : content.at("vectors")) {
    const auto number = [&](const char* key) { return row.at(key).get<int>(); };
    const auto bits = [&](const char* key) {
      std::vector<int> b;
      for (const char c : row.at(key).get<std::string>()) b.push_back(c - '0');
      return b;
    };
    SCOPED_TRACE(number("id"));
    const int l_max = number("l_max");
    transmission t;
    t.cells = {number("n_id")};
    t.contents = {{.sfn = number("sfn"),
                   .half_frame = number("n_hf"),
                   .ssb_index = number("i_ssb"),
                   .k_ssb = number("k_ssb"),
                   .common_spacing_khz = row.at("scs_common").get<std::string>().starts_with("15") ? 15 : 30,
                   .dmrs_first_symbol = number("dmrs_type_a_position"),
                   .coreset0 = number("coreset0_index"),
                   .search_space0 = number("search_space0_index"),
                   .cell_barred = row.at("cell_barred").get<bool>(),
                   .intra_frequency = row.at("intra_freq_reselection_allowed").get<bool>()}};
    const auto payload = numbers(wb::nr_pbch_payload(t.contents[0], l_max));
    const auto mib = bits("mib");
    EXPECT_TRUE(std::equal(mib.begin(), mib.end(), payload.begin()));
    EXPECT_EQ(numbers(wb::nr_pbch_scrambled(wb::nr_pbch_payload(t.contents[0], l_max), t.cells[0], l_max)),
              bits("a_prime"));
    EXPECT_EQ(wb::nr_pbch_dmrs_init(t.cells[0], wb::nr_pbch_dmrs_index(t.contents[0], l_max)),
              row.at("dmrs_c_init").get<std::int64_t>());
    send(t, l_max);
    // PBCH symbols of the file, as scrambled bits in the order of their resource elements.
    std::string scrambled;
    for (std::size_t e = 240; e < 960; e++) {
      const std::size_t k = e % 240;
      if (k % 4 == static_cast<std::size_t>(t.cells[0] % 4) || (e / 240 == 2 && k >= 48 && k < 192)) continue;
      scrambled += t.grids[e].real() < 0 ? '1' : '0';
      scrambled += t.grids[e].imag() < 0 ? '1' : '0';
    }
    EXPECT_EQ(scrambled, row.at("scrambled").get<std::string>());
    const auto found = decode(t, {.l_max = l_max});
    EXPECT_EQ(found[0].content, t.contents[0]);
    rows++;
  }
  EXPECT_GT(rows, 0);
}

TEST_P(pbch, decodes_every_index_and_identity) {
  for (const int l_max : {4, 8, 64}) {
    transmission t = draw(few(336), l_max, 5);
    for (std::size_t i = 0; i < t.cells.size(); i++) {
      t.cells[i] = static_cast<int>(1008 * i / t.cells.size() + i % 3);
      t.contents[i].ssb_index = static_cast<int>(i) % l_max;
      t.contents[i].half_frame = static_cast<int>(i) / l_max % 2;
    }
    send(t, l_max);
    receive(t, {.noise_var = 0.1}, 6);
    const auto found = decode(t, {.l_max = l_max});
    EXPECT_EQ(right_ones(t, found), found.size());
    for (std::size_t i = 0; i < found.size(); i++) {
      EXPECT_FALSE(found[i].erased);
      EXPECT_EQ(found[i].payload, wb::nr_pbch_payload(t.contents[i], l_max));
      EXPECT_EQ(found[i].dmrs_index, wb::nr_pbch_dmrs_index(t.contents[i], l_max));
      EXPECT_NEAR(found[i].snr_db, 10, 2);
      EXPECT_NEAR(found[i].cfo_spacings, 0, 0.02);
      EXPECT_NEAR(256 * found[i].delay_symbols, 0, 0.2);
    }
  }
}

TEST_P(pbch, knows_channels_delays_and_frequency_offsets) {
  const std::vector<reception> cases{
      {.noise_var = 0},
      {.noise_var = 1e-6},
      {.noise_var = 0.1, .cfo_spacings = 0.4},
      {.noise_var = 0.1, .cfo_spacings = -0.3, .paths = {{11.3, 1}}},
      {.noise_var = 0.1, .paths = {{-12.7, 0.5}}},
      {.noise_var = 0.05, .cfo_spacings = 0.02, .paths = {{0.4, 0.8}, {5.2, {0, 0.6}}, {14.1, -0.3}}}};
  for (const reception& r : cases) {
    transmission t = draw(17, 8, 8);
    send(t, 8);
    receive(t, r, 9);
    const auto found = decode(t, {});
    EXPECT_EQ(right_ones(t, found), found.size()) << r.noise_var;
    for (const auto& b : found) {
      EXPECT_NEAR(b.cfo_spacings, r.cfo_spacings, 0.03);
      EXPECT_NEAR(256 * b.delay_symbols, r.paths[0].delay, 0.3);
      EXPECT_GT(b.snr_db, r.noise_var == 0 ? 55 : 0);
    }
  }
}

// The same list decoder with LLRs of a known channel, in double. Estimation may cost so many blocks more.
TEST_P(pbch, loses_little_against_a_known_channel) {
  const double noise_var = std::pow(10., 0.75);
  const reception r{.noise_var = noise_var, .cfo_spacings = 0.01};
  transmission t = draw(few(400), 8, 10);
  send(t, 8);
  receive(t, r, 11);
  const std::size_t right = right_ones(t, decode(t, {}));
  const std::vector<exact> h = channel_of(r);
  std::vector<float> llrs;
  for (std::size_t i = 0; i < t.cells.size(); i++) {
    const std::vector<exact> y(t.grids.begin() + static_cast<std::ptrdiff_t>(960 * i),
                               t.grids.begin() + static_cast<std::ptrdiff_t>(960 * (i + 1)));
    for (const double x : oracle::nr_pbch_llrs(y, h, noise_var, t.cells[i], 8, t.contents[i].ssb_index))
      llrs.push_back(static_cast<float>(x));
  }
  const auto in = on_device(exec(), llrs, t.cells.size(), 864);
  auto status = exec().make<std::uint8_t>(t.cells.size(), 1);
  wb::polar_decoder({.kind = wb::polar_kind::pbch, .k = 32, .coded_bits = 864}, {.list_size = 8})
      .run(exec(), in, {.status = status});
  std::size_t known = 0;
  for (const auto s : exec().to_host(status)) known += (s & wb::status_stopped) != 0;
  RecordProperty("right", static_cast<int>(right));
  RecordProperty("known", static_cast<int>(known));
  EXPECT_GT(right, known / 2);
  EXPECT_GT(known, t.cells.size() / 4);
}

TEST_P(pbch, noise_alone_gives_no_block) {
  transmission t = draw(few(2000), 8, 12);
  std::mt19937_64 random(13);
  std::normal_distribution<float> normal;
  t.grids.resize(960 * t.cells.size());
  for (sample& x : t.grids) x = {normal(random), normal(random)};
  for (const auto& b : decode(t, {})) {
    EXPECT_FALSE(b.ok);
    EXPECT_FALSE(b.content.has_value());
  }
}

// A block of another cell, and of another l_max: its DMRS or its payload does not fit.
TEST_P(pbch, blocks_of_other_cells_are_not_decoded) {
  transmission t = draw(few(200), 8, 14);
  send(t, 8);
  for (int& cell : t.cells) cell = (cell + 17) % 1008;
  for (const auto& b : decode(t, {.hypotheses = 8})) EXPECT_FALSE(b.ok);
}

TEST_P(pbch, more_hypotheses_find_no_less) {
  transmission t = draw(few(200), 4, 15);
  send(t, 4);
  receive(t, {.noise_var = 8}, 16);
  const auto one = decode(t, {.l_max = 4}), two = decode(t, {.l_max = 4, .hypotheses = 2}),
             long_list = decode(t, {.l_max = 4, .list_size = 32});
  EXPECT_GE(right_ones(t, two), right_ones(t, one));
  EXPECT_GE(right_ones(t, long_list) + 3, right_ones(t, one));
}

TEST_P(pbch, bad_blocks_are_erased_alone) {
  transmission t = draw(40, 8, 17);
  send(t, 8);
  receive(t, {.noise_var = 0.1}, 18);
  const auto expected = decode(t, {});
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  t.grids[960 * 3 + 5] = {nan, 0};
  t.grids[960 * 18 + 959] = {0, -inf};
  t.grids[960 * 19 + 500] = {2e15f, 0};
  std::fill_n(t.grids.begin() + 960 * 39, 960, sample(0));
  const auto found = decode(t, {});
  for (std::size_t i = 0; i < found.size(); i++) {
    const bool bad = i == 3 || i == 18 || i == 19 || i == 39;
    EXPECT_EQ(found[i].erased, bad) << i;
    EXPECT_EQ(found[i].ok, !bad) << i;
    EXPECT_EQ(found[i].content.has_value(), !bad) << i;
    EXPECT_EQ(found[i].payload, bad ? wb::pbch_payload{} : expected[i].payload) << i;
    EXPECT_EQ(found[i].snr_db, bad ? -40 : expected[i].snr_db) << i;
  }
  for (const float gain : {1e-14f, 1e13f}) {  // no scale is expected
    transmission scaled = draw(4, 8, 19);
    send(scaled, 8);
    for (sample& x : scaled.grids) x *= gain;
    EXPECT_EQ(right_ones(scaled, decode(scaled, {})), 4u) << gain;
  }
  const auto shape_of = [&](std::size_t items, std::size_t elements, std::size_t cells) {
    return blamed([&] {
      const auto in = on_device(exec(), std::vector<sample>(items * elements), items, elements);
      wb::pbch_decoder({}).run(exec(), in, std::vector<int>(cells));
    });
  };
  EXPECT_EQ(shape_of(2, 960, 2), "");
  EXPECT_EQ(shape_of(2, 959, 2), "grids");
  EXPECT_EQ(shape_of(2, 960, 1), "cell_ids");
  EXPECT_EQ(blamed([&] {
              const auto in = on_device(exec(), std::vector<sample>(960), 1, 960);
              wb::pbch_decoder({}).run(exec(), in, {1008});
            }),
            "cell_ids");
}

TEST_P(pbch, every_backend_gives_the_same_numbers) {
  transmission t = draw(37, 64, 20);
  send(t, 64);
  receive(t, {.noise_var = 3, .cfo_spacings = 0.1, .paths = {{1.3, 0.8}, {4, {0, 0.6}}}}, 21);
  const auto scalar = wb::testing::open_scalar(), three = GetParam().open(3);
  const wb::pbch_decoder_config c{.l_max = 64, .hypotheses = 2};
  const auto expected = decode_on(*scalar, t, c);
  EXPECT_GT(right_ones(t, expected), 20u);
  for (const auto& found : {decode(t, c), decode_on(*three, t, c), decode(t, c, wb::layout::batch_fastest)})
    for (std::size_t i = 0; i < found.size(); i++) {
      EXPECT_EQ(found[i].ok, expected[i].ok);
      EXPECT_EQ(found[i].content, expected[i].content);
      EXPECT_EQ(found[i].payload, expected[i].payload);
      EXPECT_EQ(found[i].snr_db, expected[i].snr_db);
      EXPECT_EQ(found[i].cfo_spacings, expected[i].cfo_spacings);
      EXPECT_EQ(found[i].delay_symbols, expected[i].delay_symbols);
    }
}

}  // namespace pbch_test
