// The grid of resource elements and the numerologies.
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <set>

#include <tests/on_backends.hpp>
#include <warpband/ofdm/numerology.hpp>
#include <warpband/ofdm/wimax.hpp>

namespace ofdm_test {

using wb::testing::blamed;

TEST(ofdm_grid, maps_uses_frequency_first_and_back) {
  const wb::ofdm_grid g{.subcarriers = 7, .symbols = 5};
  EXPECT_EQ(g.elements(), 35u);
  std::size_t use = 0;
  for (int symbol = 0; symbol < 5; symbol++)
    for (int subcarrier = 0; subcarrier < 7; subcarrier++, use++) {
      EXPECT_EQ(wb::element_of(g, use), (wb::resource_element{symbol, subcarrier}));
      EXPECT_EQ(wb::use_of(g, {symbol, subcarrier}), use);
    }
  EXPECT_EQ(wb::symbols_for(g, 0), 0u);
  EXPECT_EQ(wb::symbols_for(g, 1), 1u);
  EXPECT_EQ(wb::symbols_for(g, 7), 1u);
  EXPECT_EQ(wb::symbols_for(g, 8), 2u);
}

TEST(ofdm_grid, has_the_period_of_its_prefix_unless_told) {
  wb::ofdm_grid g;
  EXPECT_DOUBLE_EQ(g.period_us(), 1e6 / 15000 + 4.6875);
  g.symbol_period_us = 500. / 7;
  EXPECT_NO_THROW(wb::check(g));
  EXPECT_DOUBLE_EQ(g.period_us(), 500. / 7);
}

TEST(ofdm_grid, bad_values_are_named) {
  const double nan = std::numeric_limits<double>::quiet_NaN(),
               infinity = std::numeric_limits<double>::infinity();
  const auto blames = [](auto change) {
    wb::ofdm_grid g;
    change(g);
    return blamed([&] { wb::check(g); });
  };
  EXPECT_EQ(blames([](wb::ofdm_grid&) {}), "");
  for (const int bad : {-1, 0, 65537}) {
    EXPECT_EQ(blames([&](wb::ofdm_grid& g) { g.subcarriers = bad; }), "subcarriers");
    EXPECT_EQ(blames([&](wb::ofdm_grid& g) { g.symbols = bad; }), "symbols");
  }
  EXPECT_EQ(blames([](wb::ofdm_grid& g) { g.subcarriers = 4096, g.symbols = 4096; }), "");
  EXPECT_EQ(blames([](wb::ofdm_grid& g) { g.subcarriers = 4096, g.symbols = 4097; }), "symbols");
  for (const double bad : {0., -15000., nan, infinity, 2e7})
    EXPECT_EQ(blames([&](wb::ofdm_grid& g) { g.spacing_hz = bad; }), "spacing_hz") << bad;
  for (const double bad : {-1e-9, nan, infinity})
    EXPECT_EQ(blames([&](wb::ofdm_grid& g) { g.cyclic_prefix_us = bad; }), "cyclic_prefix_us") << bad;
  for (const double bad : {-1., 71., nan, infinity})
    EXPECT_EQ(blames([&](wb::ofdm_grid& g) { g.symbol_period_us = bad; }), "symbol_period_us") << bad;
  const wb::ofdm_grid g;
  EXPECT_NO_THROW(wb::check_delay(g, 4687.5));
  EXPECT_EQ(blamed([&] { wb::check_delay(g, 4688); }), "cyclic_prefix_us");
  EXPECT_EQ(blamed([&] { wb::check_delay(g, nan); }), "cyclic_prefix_us");
}

TEST(wimax, profiles_and_symbols_of_a_frame) {
  struct row {
    int fft, null;
    double mhz, symbol_us;
    std::array<int, 4> symbols;  // of 4, 5, 10, 20 ms
  };
  // Null subcarriers as the forum counts them: with the carrier.
  const std::array<int, 4> mobile{38, 48, 97, 194};
  for (const row& r : {row{256, 56, 3.5, 72, {55, 69, 138, 277}}, row{128, 44, 1.25, 102.857, mobile},
                       row{512, 92, 5, 102.857, mobile}, row{1024, 184, 10, 102.857, mobile},
                       row{2048, 368, 20, 102.857, mobile}}) {
    SCOPED_TRACE(r.fft);
    const wb::wimax_profile& p = wb::wimax_profile_of(r.fft);
    EXPECT_EQ(p.data_subcarriers + p.pilot_subcarriers + r.null, r.fft);
    EXPECT_EQ(p.bandwidth_mhz, r.mhz);
    EXPECT_NEAR(p.symbol_us(), r.symbol_us, 1e-3);
    EXPECT_EQ(p.fixed(), r.fft == 256);
    const double lengths[]{4, 5, 10, 20};
    for (std::size_t i = 0; i < 4; i++) EXPECT_EQ(wb::wimax_symbols(p, lengths[i]), r.symbols[i]);
  }
  EXPECT_EQ(wb::wimax_profiles().size(), 5u);
  EXPECT_EQ(blamed([] { wb::wimax_profile_of(64); }), "fft_size");
  const std::pair<double, int> others[]{{2, 19}, {2.5, 24}, {8, 77}, {12.5, 121}};
  for (const auto& [frame_ms, symbols] : others)
    EXPECT_EQ(wb::wimax_symbols(wb::wimax_profile_of(512), frame_ms), symbols) << frame_ms;
  EXPECT_EQ(blamed([] { wb::wimax_symbols(wb::wimax_profile_of(128), 6); }), "frame_ms");
}

TEST(wimax, frames_are_split_into_directions_and_bursts) {
  using enum wb::wimax_direction;
  const wb::wimax_profile& p = wb::wimax_profile_of(1024);
  wb::wimax_frame f = wb::make_wimax_frame(p, 48, 31);
  EXPECT_EQ(f.uplink_symbols, 17);
  f.bursts = {{downlink, 360, 31, 4},
              {downlink, 200, 31, 64, 360},
              {downlink, 160, 30, 64, 560, 1},
              {uplink, 720, 17, 16}};
  EXPECT_NO_THROW(wb::check(f));
  EXPECT_EQ(f.symbols(), 48);
  EXPECT_EQ(f.first_symbol_of(downlink), 0);
  EXPECT_EQ(f.first_symbol_of(uplink), 31);
  EXPECT_EQ(f.codewords(downlink, 4), 360u * 15);  // the last symbol stays empty
  EXPECT_EQ(f.codewords(downlink, 64), 360u * 15);
  EXPECT_EQ(f.codewords(downlink, 16), 0u);
  EXPECT_EQ(f.codewords(uplink, 16), 720u * 8);
  const auto blames = [&](auto change) {
    wb::wimax_frame changed = f;
    change(changed);
    return blamed([&] { wb::check(changed); });
  };
  // Within its direction: the last place that fits, and the first that does not.
  EXPECT_EQ(blames([](wb::wimax_frame& c) { c.bursts[2].symbols = 2, c.bursts[2].first_symbol = 29; }), "");
  EXPECT_EQ(blames([](wb::wimax_frame& c) { c.bursts[2].symbols = 2, c.bursts[2].first_symbol = 30; }),
            "bursts[2].first_symbol");
  EXPECT_EQ(blames([](wb::wimax_frame& c) { c.bursts[2].first_symbol = -1; }), "bursts[2].first_symbol");
  EXPECT_EQ(blames([](wb::wimax_frame& c) { c.bursts[2].first_tone = 561; }), "bursts[2].first_tone");
  EXPECT_EQ(blames([](wb::wimax_frame& c) { c.bursts[2].first_tone = -1; }), "bursts[2].first_tone");
  EXPECT_EQ(blames([](wb::wimax_frame& c) { c.bursts[3].symbols = 16, c.bursts[3].first_symbol = 2; }),
            "bursts[3].first_symbol");
  // Side by side: a tone or a symbol further they meet, also where neither covers a corner of the other.
  EXPECT_EQ(blames([](wb::wimax_frame& c) { c.bursts[1].first_tone = 359; }), "bursts[1]");
  EXPECT_EQ(blames([](wb::wimax_frame& c) { c.bursts[0].tones = 361; }), "bursts[1]");
  EXPECT_EQ(blames([](wb::wimax_frame& c) {
              c.bursts = {{downlink, 720, 2, 4, 0, 10}, {downlink, 10, 31, 4, 300}};
            }),
            "bursts[1]");
  EXPECT_EQ(blames([](wb::wimax_frame& c) {
              c.bursts = {{downlink, 10, 8, 4, 0, 0}, {downlink, 10, 2, 4, 0, 8}, {downlink, 10, 2, 4, 0, 9}};
            }),
            "bursts[2]");
  EXPECT_EQ(blames([](wb::wimax_frame& c) { c.bursts.push_back(c.bursts[0]); }), "bursts[4]");
  EXPECT_EQ(blames([](wb::wimax_frame& c) { c.bursts[0].qam = 2; }), "bursts[0].qam");
  EXPECT_EQ(blames([](wb::wimax_frame& c) { c.bursts[0].tones = 721; }), "bursts[0].tones");
  EXPECT_EQ(blames([](wb::wimax_frame& c) { c.bursts[0].tones = 0; }), "bursts[0].tones");
  EXPECT_EQ(blames([](wb::wimax_frame& c) { c.bursts[0].symbols = 32; }), "bursts[0].symbols");
  EXPECT_EQ(blames([](wb::wimax_frame& c) { c.bursts[0].symbols = 1; }), "bursts[0].symbols");
  EXPECT_EQ(blames([](wb::wimax_frame& c) { c.downlink_symbols = 4097; }), "downlink_symbols");
  EXPECT_EQ(blames([](wb::wimax_frame& c) { c.profile.data_subcarriers = 0; }), "data_subcarriers");
  EXPECT_EQ(blames([](wb::wimax_frame& c) { c.uplink_symbols = 0; }), "bursts[3].direction");
  EXPECT_EQ(blamed([&] { wb::make_wimax_frame(p, 48, 49); }), "downlink_symbols");
  EXPECT_EQ(blamed([&] { wb::make_wimax_frame(p, 0, 0); }), "symbols");
}

TEST(ofdm_numerology, of_lte) {
  struct row {
    double mhz, rate_mhz;
    int fft, subcarriers, normal, first, extended;
  };
  for (const row& r : {row{1.4, 1.92, 128, 72, 9, 10, 32}, row{3, 3.84, 256, 180, 18, 20, 64},
                       row{5, 7.68, 512, 300, 36, 40, 128}, row{10, 15.36, 1024, 600, 72, 80, 256},
                       row{15, 23.04, 1536, 900, 108, 120, 384}, row{20, 30.72, 2048, 1200, 144, 160, 512}}) {
    SCOPED_TRACE(r.mhz);
    const wb::ofdm_numerology n = wb::lte_numerology(r.mhz),
                              e = wb::lte_numerology(r.mhz, wb::lte_prefix::extended);
    for (const wb::ofdm_numerology& x : {n, e}) {
      EXPECT_NO_THROW(wb::check(x));
      EXPECT_EQ(x.fft_size, r.fft);
      EXPECT_EQ(x.subcarriers, r.subcarriers);
      EXPECT_DOUBLE_EQ(x.sample_rate_hz(), 1e6 * r.rate_mhz);
      EXPECT_DOUBLE_EQ(x.slot_us(), 500);
      EXPECT_EQ(x.first_sample_of(x.symbols_per_slot - 1) + x.fft_size, x.samples_per_slot());
      // Every subcarrier has a bin of its own, none that of the carrier, as many on either side.
      std::set<int> bins;
      for (int k = 0; k < x.subcarriers; k++) bins.insert(x.bin_of(k));
      EXPECT_EQ(bins.size(), static_cast<std::size_t>(x.subcarriers));
      EXPECT_EQ(*bins.begin(), 1);
      EXPECT_EQ(*bins.rbegin(), x.fft_size - 1);
      EXPECT_EQ(x.bin_of(0), x.fft_size - x.subcarriers / 2);
      EXPECT_EQ(x.bin_of(x.subcarriers - 1), x.subcarriers / 2);
      const wb::ofdm_grid g = x.grid(14);
      EXPECT_NO_THROW(wb::check(g));
      EXPECT_EQ(g.subcarriers, x.subcarriers);
      EXPECT_NEAR(g.period_us(), 500. / x.symbols_per_slot, 1e-9);
    }
    EXPECT_EQ(n.prefix_of(0), r.first);
    EXPECT_EQ(n.prefix_of(6), r.normal);
    EXPECT_EQ(e.prefix_of(0), r.extended);
    EXPECT_EQ(e.prefix_of(5), r.extended);
    EXPECT_NEAR(n.grid(1).cyclic_prefix_us, 4.6875, 1e-12);
    EXPECT_NEAR(e.grid(1).cyclic_prefix_us, 16.6667, 1e-4);
  }
  EXPECT_EQ(blamed([] { wb::lte_numerology(7); }), "bandwidth_mhz");
  EXPECT_EQ(blamed([] { wb::lte_numerology(std::numeric_limits<double>::quiet_NaN()); }), "bandwidth_mhz");
}

TEST(ofdm_numerology, bad_values_are_named) {
  const auto blames = [](auto change) {
    wb::ofdm_numerology n;
    change(n);
    return blamed([&] { wb::check(n); });
  };
  EXPECT_EQ(blames([](wb::ofdm_numerology&) {}), "");
  EXPECT_EQ(blames([](wb::ofdm_numerology& n) { n.spacing_hz = 0; }), "spacing_hz");
  for (const int bad : {-2, 0, 6, 511, 65538})
    EXPECT_EQ(blames([&](wb::ofdm_numerology& n) { n.fft_size = bad; }), "fft_size") << bad;
  EXPECT_EQ(blames([](wb::ofdm_numerology& n) { n.subcarriers = 0; }), "subcarriers");
  EXPECT_EQ(blames([](wb::ofdm_numerology& n) { n.subcarriers = 511; }), "");
  EXPECT_EQ(blames([](wb::ofdm_numerology& n) { n.subcarriers = 512; }), "subcarriers");
  EXPECT_EQ(blames([](wb::ofdm_numerology& n) { n.subcarriers = 512, n.free_carrier = false; }), "");
  EXPECT_EQ(blames([](wb::ofdm_numerology& n) { n.cyclic_prefix = -1; }), "cyclic_prefix");
  EXPECT_EQ(blames([](wb::ofdm_numerology& n) { n.first_cyclic_prefix = 513; }), "first_cyclic_prefix");
  EXPECT_EQ(blames([](wb::ofdm_numerology& n) { n.symbols_per_slot = 0; }), "symbols_per_slot");
  for (const int n : {8, 9, 10, 511})  // odd ones too have a bin each
    for (const bool free : {false, true}) {
      const wb::ofdm_numerology x{.subcarriers = n, .free_carrier = free};
      std::set<int> bins;
      for (int k = 0; k < n; k++) bins.insert(x.bin_of(k));
      EXPECT_EQ(bins.size(), static_cast<std::size_t>(n));
      EXPECT_EQ(bins.contains(0), !free);
      EXPECT_GE(*bins.begin(), 0);
      EXPECT_LT(*bins.rbegin(), 512);
    }
}

}  // namespace ofdm_test
