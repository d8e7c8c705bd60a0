// Recorded channels: which H of a file the uses of a frame meet with each antenna system, their power, and
// what a file must have.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include <tests/npy.hpp>
#include <tests/on_backends.hpp>
#include <tests/renew.hpp>
#include <warpband/air/file.hpp>

namespace wb {
namespace air_file_test {

using testing::blamed;
using testing::open_scalar;
using testing::scratch_file;
using values = std::vector<std::complex<float>>;

constexpr std::size_t snapshots = 3, subcarriers = 5, rx = 4, tx = 3, entries = rx * tx;

/// Gains that say where they are from, of modulus 1: scaling leaves them as they are.
std::complex<float> gain(std::size_t n, std::size_t k, std::size_t r, std::size_t t) {
  return std::polar(1.f,
                    static_cast<float>(0.1 * static_cast<double>(((n * subcarriers + k) * rx + r) * tx + t)));
}
values gains() {
  values h;
  for (std::size_t n = 0; n < snapshots; n++)
    for (std::size_t k = 0; k < subcarriers; k++)
      for (std::size_t r = 0; r < rx; r++)
        for (std::size_t t = 0; t < tx; t++) h.push_back(gain(n, k, r, t));
  return h;
}
std::unique_ptr<air> made(air_config c, air_antennas a, bool separate = false) {
  complete(c, a);
  return make_air(c, a, separate);
}
values drawn(executor& exec, air& channel, const air_antennas& a, std::uint64_t first, std::size_t frames) {
  channel.allocate(exec, frames);
  auto h = exec.make<std::complex<float>>(frames * channel.matrices(), a.entries());
  channel.draw(exec, h, {.seed = 1, .first = first, .point = 2});
  return exec.to_host(h);
}

class air_file_on : public testing::on_backend {};
WB_ON_ALL_BACKENDS(air_file_on);

TEST_P(air_file_on, uses_meet_the_h_of_the_table) {
  const scratch_file file("uses");
  testing::write_npy(file.path(), {snapshots, subcarriers, rx, tx}, gains());
  struct one {
    air_antennas antennas;
    bool separate;
    fading_type fading;
    std::size_t matrices;
    /// Snapshot and subcarrier of H number m of frame f.
    std::pair<std::size_t, std::size_t> (*place)(std::size_t f, std::size_t m);
  };
  const auto in_turn = [](std::size_t f, std::size_t m) { return std::pair{f % snapshots, m % subcarriers}; };
  const auto in_sequence = [](std::size_t f, std::size_t m) {
    const std::size_t row = 7 * f + m;
    return std::pair{row / subcarriers % snapshots, row % subcarriers};
  };
  const std::vector<one> cases{
      {{.system = air_system::single, .uses = 7}, true, fading_type::block, 7, in_turn},
      {{.system = air_system::single, .uses = 7}, true, fading_type::fast, 7, in_sequence},
      {{.system = air_system::streams, .tx = 3, .rx = 4, .uses = 7}, false, fading_type::block, 7, in_turn},
      {{.system = air_system::streams, .tx = 2, .rx = 3, .uses = 7},
       false,
       fading_type::fast,
       7,
       in_sequence},
      {{.system = air_system::space_time, .tx = 2, .rx = 4, .uses = 14, .together = 2},
       false,
       fading_type::block,
       7,
       in_turn},
      {{.system = air_system::space_time, .tx = 2, .rx = 1, .uses = 14, .together = 2},
       false,
       fading_type::fast,
       7,
       in_sequence},
      {{.system = air_system::massive,
        .tx = 2,
        .rx = 4,
        .uses = 8,
        .together = 2,
        .grid = {.subcarriers = 4, .symbols = 2}},
       false,
       fading_type::block,
       4,
       in_turn},
      {{.system = air_system::pdsch, .tx = 2, .rx = 2, .uses = 8, .grid = {.subcarriers = 4, .symbols = 2}},
       true,
       fading_type::block,
       8,
       [](std::size_t f, std::size_t m) { return std::pair{f % snapshots, m % 4}; }}};
  for (const one& o : cases)
    for (const bool control : {true, false}) {
      const air_antennas& a = o.antennas;
      SCOPED_TRACE(static_cast<int>(a.system));
      const auto channel =
          made(csi_channel_config{.path = file.path(), .power_control = control, .fading = o.fading}, a,
               o.separate);
      ASSERT_EQ(channel->matrices(), o.matrices);
      const std::size_t first = 1001, frames = 4;
      const values h = drawn(exec(), *channel, a, first, frames);
      std::size_t i = 0;
      for (std::size_t f = 0; f < frames; f++)
        for (std::size_t m = 0; m < o.matrices; m++)
          for (std::size_t r = 0; r < static_cast<std::size_t>(a.rx); r++)
            for (std::size_t t = 0; t < static_cast<std::size_t>(a.tx); t++, i++) {
              const auto [n, k] = o.place(first + f, m);
              ASSERT_NEAR(std::abs(h[i] - gain(n, k, r, t)), 0, 1e-6f)
                  << f << ' ' << m << ' ' << r << ' ' << t;
            }
    }
}

TEST_P(air_file_on, one_subcarrier_is_one_h_of_a_frame) {
  const scratch_file file("flat");
  const values h = gains();
  testing::write_npy(file.path(), {snapshots * subcarriers, rx, tx}, h);
  const air_antennas a{.system = air_system::streams, .tx = 3, .rx = 4, .uses = 9};
  const auto channel = made(csi_channel_config{.path = file.path()}, a);
  ASSERT_EQ(channel->matrices(), 1u);
  const values got = drawn(exec(), *channel, a, 14, 2);  // the last snapshot and the first
  for (std::size_t e = 0; e < entries; e++) {
    EXPECT_NEAR(std::abs(got[e] - h[14 * entries + e]), 0, 1e-6f);
    EXPECT_NEAR(std::abs(got[entries + e] - h[e]), 0, 1e-6f);
  }
  const auto apart = made(csi_channel_config{.path = file.path()}, a, true);
  const values separate = drawn(exec(), *apart, a, 14, 2);
  ASSERT_EQ(separate.size(), 9 * got.size());
  for (std::size_t i = 0; i < separate.size(); i++)
    EXPECT_EQ(separate[i], got[i / (9 * entries) * entries + i % entries]);
}

// H is linear in frequency, so that interpolation is exact; one estimate is missing.
TEST(air_file, slots_lie_between_the_subcarriers_of_a_file) {
  const scratch_file file("slot");
  values h;
  for (int k = 0; k < 4; k++) h.emplace_back(1.f + static_cast<float>(k), 2.f - 3.f * static_cast<float>(k));
  testing::write_npy(file.path(), {1, 4, 1, 1}, h);
  const air_antennas a{
      .system = air_system::pusch, .uses = 26, .grid = {.subcarriers = 13, .symbols = 2, .spacing_hz = 15e3}};
  const csi_channel_config c{.path = file.path(), .spacing_khz = 60};
  const auto exec = open_scalar();
  values got = drawn(*exec, *made(c, a, true), a, 0, 1);
  ASSERT_EQ(got.size(), 26u);
  double power = 0;
  for (int k = 0; k < 13; k++) power += std::norm(std::complex<double>(1 + 0.25 * k, 2 - 0.75 * k)) / 13;
  for (std::size_t i = 0; i < 26; i++) {
    const double k = static_cast<double>(i % 13);
    EXPECT_NEAR(std::abs(std::complex<double>(got[i]) * std::sqrt(power) -
                         std::complex<double>(1 + 0.25 * k, 2 - 0.75 * k)),
                0, 1e-5);
  }
  h[2] = {std::numeric_limits<float>::quiet_NaN(), 0};
  testing::write_npy(file.path(), {1, 4, 1, 1}, h);
  got = drawn(*exec, *made(c, a, true), a, 0, 1);
  for (std::size_t i = 0; i < 26; i++)  // subcarriers 5 to 11 need the missing one
    EXPECT_EQ(got[i] == 0.f, i % 13 > 4 && i % 13 < 12) << i;
}

TEST(air_file, power_is_one_for_each_transmitter) {
  const scratch_file file("power");
  std::mt19937 random(1);
  std::normal_distribution<float> part;
  values h(snapshots * subcarriers * entries);
  for (std::size_t i = 0; i < h.size(); i++) {
    const float re = part(random);
    h[i] = std::complex<float>(re, part(random)) * static_cast<float>(1 + i % tx) *
           static_cast<float>(1 + i / (subcarriers * entries));
  }
  testing::write_npy(file.path(), {snapshots, subcarriers, rx, tx}, h);
  const air_antennas a{.system = air_system::streams, .tx = 3, .rx = 2, .uses = subcarriers};
  const auto exec = open_scalar();
  for (const bool control : {true, false}) {
    const values got = drawn(
        *exec, *made(csi_channel_config{.path = file.path(), .power_control = control}, a), a, 0, snapshots);
    for (std::size_t t = 0; t < 3; t++) {
      double mean_power = 0;
      for (std::size_t n = 0; n < snapshots; n++) {
        double power = 0;
        for (std::size_t i = 0; i < subcarriers * 2; i++)
          power +=
              std::norm(std::complex<double>(got[(n * subcarriers * 2 + i) * 3 + t])) / (subcarriers * 2);
        if (control)
          EXPECT_NEAR(power, 1, 1e-5);
        else
          EXPECT_GT(std::abs(power - 1), 1e-3);
        mean_power += power / snapshots;
      }
      EXPECT_NEAR(mean_power, 1, 1e-5);
    }
  }
}

TEST(air_file, a_file_must_have_what_the_antennas_have) {
  const scratch_file file("less");
  testing::write_npy(file.path(), {snapshots, subcarriers, rx, tx}, gains());
  const auto blames = [&](const air_antennas& a, csi_channel_config c = {}) {
    c.path = file.path();
    return blamed([&] { made(c, a); });
  };
  const auto streams = [](int t, int r) {
    return air_antennas{.system = air_system::streams, .tx = t, .rx = r, .uses = 3};
  };
  const auto slot = [](int subcarriers_of_slot, double spacing_hz = 15e3) {
    return air_antennas{
        .system = air_system::pusch,
        .uses = 14 * static_cast<std::size_t>(subcarriers_of_slot),
        .grid = {.subcarriers = subcarriers_of_slot, .symbols = 14, .spacing_hz = spacing_hz}};
  };
  EXPECT_EQ(blames(streams(3, 4)), "");
  EXPECT_EQ(blames(streams(4, 4)), "streams");
  EXPECT_EQ(blames(streams(2, 5)), "rx_antennas");
  EXPECT_EQ(blames({.system = air_system::massive, .tx = 2, .rx = 5, .uses = 1}), "antennas");
  EXPECT_EQ(blames({.system = air_system::massive, .tx = 4, .rx = 4, .uses = 1}), "users");
  EXPECT_EQ(blames({.system = air_system::massive, .uses = 6, .grid = {.subcarriers = 6, .symbols = 1}}),
            "subcarriers");
  EXPECT_EQ(blames(slot(5)), "");
  EXPECT_EQ(blames(slot(6)), "file");
  EXPECT_EQ(blames(slot(17), {.path = "", .spacing_khz = 60}), "");
  EXPECT_EQ(blames(slot(18), {.path = "", .spacing_khz = 60}), "file");
  EXPECT_EQ(blames(slot(17, 30e3), {.path = "", .spacing_khz = 60}), "file");
  EXPECT_EQ(blames(slot(5), {.path = "", .fading = fading_type::fast}), "fading");
  EXPECT_EQ(blames(streams(2, 2), {.path = "", .spacing_khz = 60}), "spacing_khz");
  air_antennas filtered = slot(5);
  filtered.needs_profile = true;
  EXPECT_EQ(blames(filtered), "csi");
  EXPECT_EQ(blamed([] { made(csi_channel_config{}, {}); }), "file");
  try {
    blames(slot(6));
    made(csi_channel_config{.path = file.path(), .name = "a.npy"}, slot(6));
    ADD_FAILURE();
  } catch (const argument_error& error) {
    EXPECT_STREQ(error.what(),
                 "file = \"a.npy\" is not allowed: expected one with the slot's 6 subcarriers, and it has 5");
  }
}

}  // namespace air_file_test
}  // namespace wb
