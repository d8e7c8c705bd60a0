// Holds what the ops of channels state as flops() against the arithmetic that their bodies do, counted by
// counted.hpp.
#define WB_ISA counting
#define WB_WIDTH 1
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <warpband/channel/awgn/awgn_op.hpp>
#include <warpband/channel/cdl/cdl_op.hpp>
#include <warpband/channel/cdl/cdl_power_op.hpp>
#include <warpband/channel/cdl/cdl_rays_op.hpp>
#include <warpband/channel/kronecker/kronecker_op.hpp>
#include <warpband/channel/mimo/mimo_op.hpp>
#include <warpband/channel/rayleigh/rayleigh_op.hpp>
#include <warpband/channel/tdl/tdl_op.hpp>
#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/exec/kernel.hpp>
#include <warpband/ofdm/modem/modem_op.hpp>

#include "counted.hpp"

namespace wb {
namespace flops_channels_test {

TEST(flops, of_the_channels) {
  const std::vector<cx_pair> in(10, {1.f, 1.f});
  std::vector<cx_pair> out(10), gain(10);
  awgn_args a;
  a.in = make_view(in.data(), 1);
  a.out = make_view(out.data(), 1);
  const awgn_op<false> noise{a};
  EXPECT_EQ(noise.flops(), operations_of(noise));
  const std::vector<float> noise_var(10, 1.f);
  a.noise_var = make_view(noise_var.data(), 1);
  const awgn_op<true> noises{a};
  EXPECT_EQ(noises.flops(), operations_of(noises));
  rayleigh_args r;
  r.in = make_view(in.data(), 10);
  r.out = make_view(out.data(), 10);
  r.gain = make_view(gain.data(), 10);
  const rayleigh_op<false> fast{r};
  EXPECT_EQ(fast.flops(), operations_of(fast));
  r.rice = {0.8f, 0.6f};
  const rayleigh_op<false> rician{r};
  EXPECT_EQ(rician.flops(), operations_of(rician));
  r.block = 10;
  const rayleigh_op<true> block{r};
  EXPECT_EQ(block.flops(), operations_of(block));
}

TEST(flops, of_tapped_delay_lines) {
  for (const bool apply : {false, true})
    for (const int times : {1, 7})
      for (const bool has_fixed : {false, true}) {
        tdl_args a;
        a.subcarriers = 12, a.symbols = 7, a.taps = 5, a.streams = 3, a.rx_antennas = 2;
        a.times = times, a.sinusoids = times > 1 ? 9 : 1, a.fixed = has_fixed;
        a.turn = 0.1f, a.fixed_turn = 0.07f, a.sector = 1u << 28;
        const std::size_t uses = 84, paths = 32, subcarriers = 16;
        a.padded_paths = 32;
        const std::vector<float> amplitudes(2 * paths, 1.f), rotations(10 * subcarriers, 1.f);
        const std::vector<std::uint32_t> numbers(paths);
        a.amplitudes = amplitudes.data(), a.rotations = rotations.data(), a.numbers = numbers.data();
        std::vector<cx_pair> in(uses * 3), out(uses * 2), channel(uses * 6);
        if (apply) a.in = make_view<const cx_pair>(in.data(), uses, 3);
        a.out = make_view(out.data(), uses, 2);
        a.channel = make_view(channel.data(), uses, 6);
        const tdl_op op{a};
        std::vector<counted> scratch(op.scratch_bytes(1) / sizeof(float));
        counted::operations = 0;
        op.run<counted>(0, solo{}, scratch.data());
        EXPECT_EQ(op.flops(), counted::operations) << apply << " " << times << " " << has_fixed;
      }
}

TEST(flops, of_the_mimo_channel) {
  for (const auto& [streams, rx] : {std::pair{1, 1}, std::pair{2, 3}, std::pair{4, 4}, std::pair{3, 5}}) {
    const std::size_t n = static_cast<std::size_t>(streams), m = static_cast<std::size_t>(rx);
    const std::vector<cx_pair> in(10 * n, {1.f, 1.f});
    std::vector<cx_pair> out(10 * m), channel(10 * m * n);
    mimo_rayleigh_args a;
    a.streams = streams;
    a.rx_antennas = rx;
    a.in = make_view(in.data(), 10, n);
    a.out = make_view(out.data(), 10, m);
    a.channel = make_view(channel.data(), 10, m * n);
    // What the last draw makes of an odd number of entries: one more than is used.
    const double more = streams * rx % 2 * 41;
    const mimo_rayleigh_op<false> fast{a};
    EXPECT_EQ(fast.flops(), operations_of(fast) - more);
    a.rice = {0.8f, 0.6f};
    const mimo_rayleigh_op<false> rician{a};
    EXPECT_EQ(rician.flops(), operations_of(rician) - more - streams * rx % 2 * rician_gain_flops);
    a.rice = {};
    a.uses_per_channel = 10;
    const mimo_rayleigh_op<true> block{a};
    EXPECT_EQ(block.flops(), operations_of(block, block.scratch(1)) - more);
  }
}

TEST(flops, of_what_an_ofdm_modulator_moves) {
  ofdm_copy_args a;
  a.others[0] = {0, 20, 12, false};
  a.others[1] = {12, 1, 12, false};
  a.others[2] = {0, 13, 7, true};
  const std::vector<cx_pair> in(24, {1.f, 1.f});
  std::vector<cx_pair> out(64);
  a.symbols = 2;
  a.in = {in.data(), 1, 0, 0};
  a.out = {out.data(), 1, 32, 64};
  const ofdm_copy_op op{a};
  counted::operations = 0;
  op.run<counted>(1, solo{});
  EXPECT_EQ(op.flops(), counted::operations);
}

TEST(flops, of_clustered_delay_lines) {
  for (const bool moving : {false, true})
    for (const bool tilted : {false, true}) {
      std::vector<cdl_ray> angles;
      const std::vector<std::int32_t> starts{0, 1, 21, 41};
      for (std::int32_t p = 0; p < 3; p++)
        for (std::int32_t r = starts[static_cast<std::size_t>(p)];
             r < starts[static_cast<std::size_t>(p) + 1]; r++)
          angles.push_back(
              {1u << 28, 1u << 29, 1u << 30, 1u << 27, starts[static_cast<std::size_t>(p)], p == 0 ? 1 : 20});
      const std::vector<float> amplitudes(3, 0.3f), rotations(3 * 2 * 8, 0.5f), overlaps(18, 0.5f);
      const std::vector<std::uint32_t> turns{0, 1u << 30, 0, UINT32_MAX};
      std::vector<std::uint32_t> drawn(3 * 41 + 1);
      std::vector<cx_pair> h(6 * 7 * 5);
      cdl_args a;
      a.subcarriers = 6, a.symbols = 5, a.times = moving ? 5 : 1, a.antennas = 7, a.paths = 3, a.rays = 41;
      a.moving = moving, a.tilted = tilted, a.spacing = 0.5f, a.doppler = 0.1f;
      a.angles = angles.data(), a.starts = starts.data(), a.amplitudes = amplitudes.data();
      a.rotations = rotations.data(), a.overlaps = overlaps.data(), a.turns = turns.data();
      a.drawn = drawn.data();
      a.channel = make_view(h.data(), 30, 7);
      std::vector<float> scratch(4096);
      const auto expect = [&](const auto& op, int items, const char* name) {
        counted::operations = 0;
        op.template run<counted>(0, items, solo{}, scratch.data());
        const double did = counted::operations / items;
        EXPECT_NEAR(op.flops(), did, 0.03 * did + 8)
            << name << ", moving " << moving << ", tilted " << tilted;
      };
      const auto draw = [&](const char* name) {
        const cdl_rays_op op{a};
        counted::operations = 0;
        op.run<counted>(0, solo{}, reinterpret_cast<std::uint32_t*>(scratch.data()));
        EXPECT_NEAR(op.flops(), counted::operations, 1)
            << name << ", moving " << moving << ", tilted " << tilted;
      };
      draw("rays");
      a.shadowing = 0.5f;
      draw("rays and shadowing");
      counted::operations = 0;
      const cdl_power_op power{a};
      power.run<counted>(0, solo{}, scratch.data());
      // The sums of antennas are of floats, which are not counted here.
      EXPECT_NEAR(power.flops(), counted::operations, 0.03 * counted::operations) << "power";
      expect(cdl_op{a}, 7, "response");
    }
}

TEST(flops, of_correlated_fading) {
  const int streams = 6, rx = 5, uses = 3;
  const std::vector<float> factor(100, 0.5f);
  const std::vector<cx_pair> x(streams * uses, {0.3f, 0.2f});
  std::vector<cx_pair> y(rx * uses), h(streams * rx);
  for (const bool at_rx : {false, true})
    for (const bool at_tx : {false, true})
      for (const bool applied : {false, true}) {
        kronecker_args a;
        a.streams = streams, a.rx_antennas = rx;
        a.rx = at_rx ? factor.data() : nullptr;
        a.tx = at_tx ? factor.data() : nullptr;
        a.channel = make_view(h.data(), 1, h.size());
        if (applied) {
          a.uses_per_channel = uses;
          a.in = make_view(x.data(), uses, streams);
          a.out = make_view(y.data(), uses, rx);
        }
        const kronecker_op<true> op{a};
        EXPECT_EQ(op.flops(), operations_of(op, op.scratch(1))) << at_rx << at_tx << applied;
      }
}

}  // namespace flops_channels_test
}  // namespace wb
