// Kinds of channels: which antennas they serve, how many H a frame has, and that what is sent met the H that
// is drawn.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include <tests/on_backends.hpp>
#include <warpband/air/awgn.hpp>
#include <warpband/air/cdl.hpp>
#include <warpband/air/kronecker.hpp>
#include <warpband/air/rayleigh.hpp>
#include <warpband/air/rician.hpp>
#include <warpband/air/tdl.hpp>

namespace wb {
namespace air_test {

using testing::blamed;
using testing::open_scalar;
using values = std::vector<std::complex<float>>;

air_antennas single() { return {.system = air_system::single, .uses = 6}; }
air_antennas streams(int tx = 3, int rx = 4) {
  return {.system = air_system::streams, .tx = tx, .rx = rx, .uses = 6};
}
air_antennas space_time() {
  return {.system = air_system::space_time, .tx = 2, .rx = 3, .uses = 6, .together = 2};
}
air_antennas across_subcarriers() {
  return {
      .system = air_system::space_time, .tx = 2, .rx = 3, .uses = 12, .together = 3, .in_frequency = true};
}
air_antennas massive() {
  return {.system = air_system::massive,
          .tx = 2,
          .rx = 18,
          .uses = 12,
          .together = 3,
          .grid = {.subcarriers = 4, .symbols = 3}};
}
air_antennas slots(air_system system = air_system::pusch, int tx = 2, int rx = 4) {
  return {.system = system, .tx = tx, .rx = rx, .uses = 24 * 3, .grid = {.subcarriers = 24, .symbols = 3}};
}
std::unique_ptr<air> made(air_config c, air_antennas a, bool separate = false) {
  complete(c, a);
  return make_air(c, a, separate);
}
tdl_config line() { return {.profile = tdl_profile_named("epa"), .grid = {.subcarriers = 3, .symbols = 2}}; }
cdl_config clusters() { return {.profile = cdl_profile_named("cdl-a", 30), .grid = {.spacing_hz = 15e3}}; }

values drawn(executor& exec, air& channel, const air_antennas& a, std::uint64_t first, std::size_t frames) {
  channel.allocate(exec, frames);
  auto h = exec.make<std::complex<float>>(frames * channel.matrices(), a.entries());
  channel.draw(exec, h, {.seed = 3, .first = first, .point = 7});
  return exec.to_host(h);
}

class air_on : public testing::on_backend {};
WB_ON_ALL_BACKENDS(air_on);

TEST_P(air_on, what_is_sent_met_the_h_that_is_drawn) {
  struct one {
    air_config channel;
    air_antennas antennas;
    bool separate;
    std::size_t matrices;
  };
  const kronecker_fading block{.fading = fading_type::block, .rx_coefficient = 0.5};
  const std::vector<one> cases{{rayleigh_config{}, single(), true, 6},
                               {rayleigh_config{fading_type::block}, single(), true, 6},
                               {rayleigh_config{}, streams(), false, 6},
                               {rayleigh_config{fading_type::block}, streams(), false, 1},
                               {rayleigh_config{}, space_time(), false, 3},
                               {rayleigh_config{}, massive(), false, 4},
                               {rayleigh_config{fading_type::block}, massive(), false, 1},
                               {rician_config{.rician_k_db = 3}, single(), true, 6},
                               {rician_config{.rician_k_db = 3}, streams(), false, 6},
                               {rician_config{fading_type::block, 9}, streams(), false, 1},
                               {rician_config{}, space_time(), false, 3},
                               {rician_config{}, massive(), false, 4},
                               {line(), single(), true, 6},
                               {line(), space_time(), false, 3},
                               {line(), across_subcarriers(), false, 12},
                               {line(), streams(), false, 6},
                               {line(), massive(), false, 4},
                               {line(), slots(), true, 72},
                               {clusters(), massive(), false, 4},
                               {clusters(), slots(), true, 72},
                               {kronecker_fading{}, single(), true, 6},
                               {block, single(), true, 6},
                               {block, streams(), false, 1},
                               {kronecker_fading{.tx_coefficient = 0.9}, streams(), false, 6},
                               {block, space_time(), false, 1},
                               {kronecker_fading{.rx_coefficient = 0.3}, massive(), false, 4},
                               {block, slots(), true, 72},
                               {block, slots(air_system::pdsch), true, 72}};
  for (const one& o : cases) {
    const air_antennas& a = o.antennas;
    SCOPED_TRACE(o.channel.type + " " + std::to_string(static_cast<int>(a.system)));
    const auto channel = made(o.channel, a, o.separate);
    ASSERT_EQ(channel->matrices(), o.matrices);
    const std::size_t frames = 5, uses = frames * a.uses, tx = static_cast<std::size_t>(a.tx),
                      rx = static_cast<std::size_t>(a.rx), shared = a.uses / o.matrices;
    const values h = drawn(exec(), *channel, a, 100, frames);
    values x(uses * tx);
    for (std::size_t i = 0; i < x.size(); i++) x[i] = {1 + 0.1f * static_cast<float>(i % 7), -0.5f};
    auto sent = testing::on_device(exec(), x, uses, tx);
    auto received = exec().make<std::complex<float>>(uses, rx);
    auto gains = exec().make<std::complex<float>>(frames * o.matrices, a.entries());
    const bool in_place = a.system == air_system::single;
    channel->send(exec(), sent, in_place ? sent : received, gains, {.seed = 3, .first = 100, .point = 7});
    EXPECT_EQ(exec().to_host(gains), h);
    const values y = exec().to_host(in_place ? sent : received);
    for (std::size_t u = 0; u < uses; u++)
      for (std::size_t r = 0; r < rx; r++) {
        std::complex<float> sum = 0;
        for (std::size_t t = 0; t < tx; t++) sum += h[u / shared * rx * tx + r * tx + t] * x[u * tx + t];
        ASSERT_NEAR(std::abs(y[u * rx + r] - sum), 0, 1e-5f) << u << ' ' << r;
      }
    // Frames have the same H whatever the batch, and other ones than their neighbours.
    const std::size_t of_frame = o.matrices * a.entries();
    const auto tail = drawn(exec(), *channel, a, 102, 3);
    EXPECT_EQ(tail, values(h.begin() + static_cast<std::ptrdiff_t>(2 * of_frame), h.end()));
    EXPECT_NE(values(h.begin(), h.begin() + static_cast<std::ptrdiff_t>(of_frame)),
              values(tail.begin(), tail.begin() + static_cast<std::ptrdiff_t>(of_frame)));
    EXPECT_EQ(h, drawn(*open_scalar(), *made(o.channel, a, o.separate), a, 100, frames));
  }
}

TEST_P(air_on, kronecker_without_correlation_is_rayleigh) {
  for (const air_antennas& a : {streams(), space_time(), massive()})
    for (const fading_type fading : {fading_type::fast, fading_type::block})
      EXPECT_EQ(drawn(exec(), *made(kronecker_fading{.fading = fading}, a), a, 9, 4),
                drawn(exec(), *made(rayleigh_config{fading}, a), a, 9, 4));
}

TEST_P(air_on, rician_comes_near_rayleigh_as_k_falls) {
  for (const air_antennas& a : {single(), streams(), space_time(), massive()}) {
    const bool separate = a.system == air_system::single;
    const values h = drawn(exec(), *made(rician_config{.rician_k_db = -100}, a, separate), a, 9, 4),
                 g = drawn(exec(), *made(rayleigh_config{}, a, separate), a, 9, 4);
    for (std::size_t i = 0; i < h.size(); i++) ASSERT_LT(std::abs(h[i] - g[i]), 2e-5f);
  }
}

TEST_P(air_on, codewords_of_a_delay_line_have_the_h_of_their_first_symbol) {
  air_antennas a = space_time();
  a.uses = 3 * 4 * 2;  // two blocks
  tdl_config c = line();
  c.grid.symbols = 4;
  c.doppler_hz = 300;
  const values h = drawn(exec(), *made(c, a), a, 5, 2);
  c.streams = a.tx, c.rx_antennas = a.rx;
  auto whole = exec().make<std::complex<float>>(2 * a.uses, a.entries());
  tdl_channel(c).response(exec(), whole, {.seed = 3, .first = 10, .point = 7});
  const values expected = exec().to_host(whole);
  ASSERT_EQ(2 * h.size(), expected.size());
  const std::size_t row = 3 * a.entries();  // of a symbol
  for (std::size_t i = 0; i < h.size(); i++)
    ASSERT_LT(std::abs(h[i] - expected[i / row * 2 * row + i % row]), 2e-5f) << i;
}

TEST_P(air_on, separate_uses_of_a_block_have_its_h) {
  const air_antennas a = slots();
  const kronecker_fading fading{.fading = fading_type::block, .tx_coefficient = 0.4};
  const values shared = drawn(exec(), *made(fading, a), a, 4, 3),
               separate = drawn(exec(), *made(fading, a, true), a, 4, 3);
  ASSERT_EQ(shared.size() * a.uses, separate.size());
  for (std::size_t i = 0; i < separate.size(); i++)
    ASSERT_EQ(separate[i], shared[i / (a.uses * a.entries()) * a.entries() + i % a.entries()]);
}

// E H H^H = tx R_rx and E H^H H = rx R_tx within 5 standard deviations.
TEST(air, kronecker_has_the_correlation_of_its_settings) {
  const auto exec = open_scalar();
  const air_antennas a = streams(2, 4);
  kronecker_fading c{.rx_coefficient = 0.7};
  c.channel.tx_correlation = {1, {0.2, 0.5}, {0.2, -0.5}, 1};
  const std::size_t frames = 3000, n = frames * a.uses;
  const values h = drawn(*exec, *made(c, a), a, 0, frames);
  std::complex<double> rx[4][4] = {}, tx[2][2] = {};
  for (std::size_t i = 0; i < n; i++) {
    const auto gain = [&](std::size_t r, std::size_t t) {
      return std::complex<double>(h[8 * i + 2 * r + t]);
    };
    for (std::size_t r = 0; r < 4; r++)
      for (std::size_t q = 0; q < 4; q++)
        for (std::size_t t = 0; t < 2; t++)
          rx[r][q] += gain(r, t) * std::conj(gain(q, t)) / (2. * static_cast<double>(n));
    for (std::size_t t = 0; t < 2; t++)
      for (std::size_t s = 0; s < 2; s++)
        for (std::size_t r = 0; r < 4; r++)
          tx[t][s] += std::conj(gain(r, t)) * gain(r, s) / (4. * static_cast<double>(n));
  }
  const double spread = 5 / std::sqrt(static_cast<double>(n));
  for (std::size_t r = 0; r < 4; r++)
    for (std::size_t q = 0; q < 4; q++)
      EXPECT_LT(std::abs(rx[r][q] - std::pow(0.7, std::abs(static_cast<double>(r) - static_cast<double>(q)))),
                spread);
  for (std::size_t t = 0; t < 2; t++)
    for (std::size_t s = 0; s < 2; s++)
      EXPECT_LT(std::abs(tx[t][s] - c.channel.tx_correlation[2 * t + s]), spread);
}

TEST(air, refusals_name_the_setting) {
  const auto blames = [](const air_config& c, const air_antennas& a) { return blamed([&] { made(c, a); }); };
  EXPECT_EQ(blames(awgn_config{}, streams()), "channel.type");
  EXPECT_EQ(blames(awgn_config{}, slots()), "channel.type");
  EXPECT_EQ(blames(awgn_config{}, slots(air_system::pusch, 1, 1)), "");
  EXPECT_EQ(blames(air_config("winner", box()), single()), "channel.type");
  EXPECT_EQ(blames(kronecker_fading{.rx_coefficient = 1.5}, streams()), "rx_coefficient");
  kronecker_fading both{.rx_coefficient = 0.5};
  both.channel.rx_correlation = {1};
  EXPECT_EQ(blames(both, single()), "rx_correlation");
  both.rx_coefficient = 0;
  EXPECT_EQ(blames(both, single()), "");
  EXPECT_EQ(blames(both, streams()), "rx_correlation");  // 1 entry for 4 antennas
  EXPECT_EQ(blames(kronecker_fading{}, slots()), "fading");
  EXPECT_EQ(blames(kronecker_fading{}, streams(65, 80)), "streams");
  EXPECT_EQ(blames(rician_config{.rician_k_db = 100.5}, streams()), "rician_k_db");
  tdl_config odd = line();
  odd.grid.symbols = 3;
  EXPECT_EQ(blames(odd, space_time()), "symbols");
  EXPECT_EQ(blames(odd, streams()), "");
  odd.grid.subcarriers = 4;
  EXPECT_EQ(blames(odd, across_subcarriers()), "subcarriers");
  try {
    made(cdl_config{}, space_time());
    ADD_FAILURE();
  } catch (const argument_error& error) {
    EXPECT_STREQ(
        error.what(),
        "channel.type = \"cdl\" is not allowed: expected \"rayleigh\", \"rician\", \"tdl\", \"kronecker\" or "
        "\"file\" with a space-time code");
  }
}

TEST(air, the_page_has_the_table_of_antennas) {
  std::ifstream page(std::string(WARPBAND_SOURCE_DIR) + "/docs/channels.md");
  std::map<std::string, std::vector<bool>> rows;
  for (std::string text; std::getline(page, text);) {
    if (!text.starts_with("| `") || text.size() < 10) continue;
    std::vector<std::string> cells;
    std::istringstream row(text);
    for (std::string cell; std::getline(row, cell, '|');) cells.push_back(cell);
    ASSERT_EQ(cells.size(), 7u) << text;
    for (std::size_t i = 2; i < 7; i++)
      rows[cells[1].substr(2, cells[1].size() - 4)].push_back(cells[i] != " – ");
  }
  for (const air_kind& kind : airs()) {
    std::vector<bool> serves;
    for (const air_antennas& a : {single(), streams(), space_time(), massive()})
      serves.push_back(kind.serves(a));
    serves.push_back(kind.serves(slots(air_system::pusch, 1, 1)));
    EXPECT_EQ(rows[std::string(kind.name)], serves) << kind.name;
  }
  EXPECT_EQ(rows.size(), airs().names().size());
}

/// A program's own kind: from 10 antennas to one, all gains alike.
TEST(air, a_program_adds_its_own) {
  class alike final : public air {
   public:
    explicit alike(const air_antennas& a) : air(a) {}
    std::size_t matrices() const noexcept override { return 1; }
    void draw(executor& exec, values h, random_range) override {
      const std::vector<std::complex<float>> ones(h.elements * h.items, 1.f);
      exec.upload(h.data, ones.data(), ones.size() * sizeof ones[0]);
      exec.sync();
    }
  };
  kind_list<air_kind> kinds("channel.type", {awgn_air()});
  air_kind kind{.name = "alike",
                .text = "",
                .keys = {},
                .serves = [](const air_antennas& a) { return a.tx == 10; },
                .make = [](const box&, const air_antennas& a) -> std::unique_ptr<air> {
                  return std::make_unique<alike>(a);
                }};
  EXPECT_EQ(kinds.add(kind).name, "alike");
  const auto exec = open_scalar();
  const air_antennas a = streams(10, 1);
  const auto channel = kind.make({}, a);
  EXPECT_EQ(drawn(*exec, *channel, a, 0, 2), (std::vector<std::complex<float>>(20, 1.f)));
  EXPECT_THROW(kinds.add(kind), argument_error);
}

}  // namespace air_test
}  // namespace wb
