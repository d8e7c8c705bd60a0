// WiMAX frames as antennas of a link: error rates against theory, frames whose maps fail, what estimates
// cost, bad settings. What all links have is tested with the curves of tests/links.toml.
#include <cmath>
#include <numeric>

#include <oracle/theory.hpp>
#include <tests/codes.hpp>
#include <tests/on_backends.hpp>
#include <warpband/exec/cpu.hpp>
#include <warpband/link/chain.hpp>
#include <warpband/link/wimax_link.hpp>

namespace wimax_link_test {

using namespace wb;
using namespace wb::testing;

/// An uncoded burst of all tones in fading.
link_config uncoded(fading_type fading) {
  wimax_burst_config w;
  w.frame.fft_size = 128;
  w.frame.rx_antennas = 2;
  link_config c;
  c.axis = snr_axis::snr_db;
  c.code = code_config("none");
  c.antennas = w;
  c.channel = rayleigh_config{.fading = fading};
  return c;
}
wimax_frame_config& frame_in(link_config& c) { return c.antennas.edit<wimax_burst_config>().frame; }

TEST(wimax_link, error_rate_of_alamouti_is_that_of_combined_branches) {
  for (const int rx : {1, 2}) {
    link_config c = uncoded(fading_type::fast);
    frame_in(c).csi = wimax_csi::perfect;
    frame_in(c).maps = false;
    frame_in(c).rx_antennas = rx;
    cpu exec;
    constexpr std::size_t frames = 100;
    link_chain chain(c, exec, frames);
    const double snr_db = rx == 1 ? 8 : 4;
    const frame_counts& counts = chain.run(0, frames, snr_db);
    const double n0 = 2 * std::pow(10, -snr_db / 10),
                 expected = oracle::bpsk_combined_rayleigh_ber(0.5 / n0, 2 * rx),
                 bits = static_cast<double>(bits_per_frame(chain.config()) * frames),
                 rate = std::accumulate(counts.bit_errors.begin(), counts.bit_errors.end(), 0.0) / bits;
    // The symbols of a tone share H.
    const double independent = 72.0 * frames;
    EXPECT_NEAR(rate, expected, 4 * std::sqrt(expected / independent)) << rx;
  }
}

TEST(wimax_link, all_uses_of_a_frame_are_erased_where_its_maps_fail) {
  link_config c = uncoded(fading_type::block);
  frame_in(c).rx_antennas = 1;
  frame_in(c).map = {wimax_map_modulation::qpsk, 1};
  cpu exec;
  link_chain chain(c, exec, 60);
  const auto uses = static_cast<std::int32_t>(uses_per_frame(chain.config()));
  std::vector<std::size_t> failed;
  for (const double snr_db : {0.0, 8.0, 30.0}) {
    const frame_counts& counts = chain.run(0, 60, snr_db);
    failed.push_back(0);
    for (std::size_t i = 0; i < 60; i++) {
      EXPECT_TRUE(counts.erased_uses[i] == 0 || counts.erased_uses[i] == uses) << counts.erased_uses[i];
      failed.back() += counts.erased_uses[i] != 0;
      EXPECT_LE(counts.erased_uses[i] != 0, counts.bit_errors[i] > 0);
    }
  }
  EXPECT_GT(failed[0], failed[1]);
  EXPECT_GT(failed[1], 0u);
  EXPECT_EQ(failed[2], 0u);
}

TEST(wimax_link, estimates_cost_less_where_pilots_have_less_noise) {
  link_config known = uncoded(fading_type::block), estimated = known;
  frame_in(known).csi = wimax_csi::perfect;
  frame_in(known).maps = frame_in(estimated).maps = false;
  cpu exec;
  const auto errors = [&](const link_config& c, double snr_db) {
    link_chain chain(c, exec, 40);
    const frame_counts& counts = chain.run(0, 40, snr_db);
    return std::accumulate(counts.bit_errors.begin(), counts.bit_errors.end(), 0.0);
  };
  EXPECT_GT(errors(estimated, 4), errors(known, 4));
  EXPECT_GT(errors(known, 4), 100);
  EXPECT_EQ(errors(estimated, 40), 0);
  EXPECT_EQ(errors(known, 40), 0);
}

TEST(wimax_link, bad_settings_are_named) {
  const auto blames = [](auto change) {
    link_config c = uncoded(fading_type::block);
    change(c);
    return blamed([&] { (void)completed(c); });
  };
  EXPECT_EQ(blames([](auto&) {}), "");
  EXPECT_EQ(blames([](auto& c) { c.antennas.template edit<wimax_burst_config>().burst = 2; }), "burst");
  EXPECT_EQ(blames([](auto& c) { frame_in(c).modulations = {"8psk"}; }), "modulations");
  EXPECT_EQ(blames([](auto& c) { k_in(c.code) = 100; }), "code.k");
  EXPECT_EQ(blames([](auto& c) { c.code = code_config("lte-transport"); }), "code.type");
  EXPECT_EQ(blames([](auto& c) { c.code = code_config("lte-turbo"); }), "code");
  EXPECT_EQ(blames([](auto& c) { c.channel = awgn_config{}; }), "channel.type");
  EXPECT_EQ(blames([](auto& c) { c.receiver = receiver_config{}; }), "outer");
  EXPECT_EQ(blames([](auto& c) {
              c.code = code_config("conv");
              k_in(c.code) = 40;
              c.mutual_information = true;
            }),
            "mutual_information");
}

}  // namespace wimax_link_test
