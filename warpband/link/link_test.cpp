// Settings of a link: rates, signal-to-noise ratios, what is filled in and what is refused.
#include <cmath>

#include <tests/link.hpp>
#include <tests/on_backends.hpp>
#include <warpband/link/chain.hpp>

namespace wb {
namespace link_test {

using namespace testing;

TEST(link_chain, rates_and_signal_to_noise_ratios) {
  link_config c = turbo_link(6144);
  EXPECT_DOUBLE_EQ(code_rate(c), 6144.0 / 18444);
  EXPECT_NEAR(noise_level_at(c, 0.2).esn0_db, -4.574, 5e-4);  // as in the reference curves
  c.qam = 16;
  EXPECT_NEAR(noise_level_at(c, 0.2).esn0_db, -4.574 + 6.0206, 5e-4);
  c = uncoded_link(7);
  EXPECT_EQ(code_rate(c), 1);
  EXPECT_EQ(noise_level_at(c, 3).esn0_db, 3);
  EXPECT_EQ(noise_level_at(c, 3).snr_db, 3);

  c = turbo_link(1024);
  testing::turbo_in(c.code).rate = turbo_rate::half;
  EXPECT_DOUBLE_EQ(code_rate(c), 1024.0 / 2060);
  EXPECT_EQ(uses_per_frame(c), 2060u);
  c = mimo_link(2, 4, "mmse");
  c.code = uncoded_link(81).code;
  EXPECT_EQ(uses_per_frame(c), 11u);  // of 8 bits
  noise_level n = noise_level_at(c, 5);
  EXPECT_NEAR(n.snr_db, 5 + 10 * std::log10(2 * 4 / 4.0), 1e-12);
  EXPECT_NEAR(n.esn0_db, n.snr_db - 10 * std::log10(2), 1e-12);
  c.axis = snr_axis::snr_db;
  EXPECT_DOUBLE_EQ(code_rate(ldpc_link("wimax-ldpc", {}, "3/4A")), 0.75);
  EXPECT_DOUBLE_EQ(code_rate(ldpc_link("wifi-ldpc", 648, "5/6")), 5.0 / 6);
  const auto conv_rate_of = [](const char* rate, conv_ending termination) {
    return code_rate(conv_link(100, rate, termination, conv_algorithm::viterbi));
  };
  EXPECT_DOUBLE_EQ(conv_rate_of("1/2", conv_ending::zero_tail), 100.0 / 212);  // the tail counts as sent
  EXPECT_DOUBLE_EQ(conv_rate_of("1/2", conv_ending::tail_biting), 0.5);
  EXPECT_DOUBLE_EQ(conv_rate_of("5/6", conv_ending::tail_biting), 5.0 / 6);
  // A delay line fills whole blocks; the zeros there cost neither rate nor power.
  link_config line = uncoded_link(1000);
  tdl_config epa{.profile = tdl_profile_named("epa"), .grid = {.symbols = 0}};
  line.channel = epa;
  EXPECT_EQ(uses_per_frame(line), 1200u);
  const auto symbols_of = [](const link_config& link) { return link.channel.get<tdl_config>().grid.symbols; };
  EXPECT_EQ(symbols_of(completed(line)), 4);
  EXPECT_EQ(uses_per_frame(completed(line)), 1200u);
  EXPECT_EQ(symbols_of(completed(completed(line))), 4);
  epa.grid.symbols = 3;
  line.channel = epa;
  EXPECT_EQ(uses_per_frame(line), 1800u);
  EXPECT_EQ(code_rate(line), 1);
  EXPECT_EQ(noise_level_at(line, 3).snr_db, 3);
  EXPECT_FALSE(point_of(line, 3).independent_bits);
  n = noise_level_at(c, 5);
  EXPECT_EQ(n.snr_db, 5);
  EXPECT_NEAR(n.ebn0_db, 5 - 10 * std::log10(2 * 4 / 4.0), 1e-12);
}

TEST(link_chain, rates_of_space_time_codes) {
  link_config c = space_time_link(space_time_code::silver(), 16, 2);
  EXPECT_EQ(uses_per_frame(c), 14u);  // seven codewords of 16 bits
  noise_level n = noise_level_at(c, 5);
  EXPECT_NEAR(n.snr_db, 5 + 10 * std::log10(2 * 4 / 2.0), 1e-12);
  EXPECT_NEAR(n.esn0_db, n.snr_db - 10 * std::log10(2), 1e-12);
  link_config full = completed(c);
  EXPECT_EQ(streams_of(full), 2);
  EXPECT_EQ(rx_antennas_of(full), 2);
  EXPECT_EQ(space_time_of(full).qam, 16);
  EXPECT_EQ(noise_level_at(full, 5).snr_db, n.snr_db);
  EXPECT_EQ(uses_per_frame(full), 14u);
  EXPECT_TRUE(erases_uses(full));
  EXPECT_FALSE(point_of(full, 3).independent_bits);
  c = space_time_link(space_time_code::alamouti(), 16, 1);
  EXPECT_EQ(uses_per_frame(c), 26u);  // 13 codewords of 8 bits
  n = noise_level_at(c, 5);
  EXPECT_NEAR(n.snr_db, 5 + 10 * std::log10(4), 1e-12);  // a symbol a use
  EXPECT_NEAR(n.esn0_db, n.snr_db - 10 * std::log10(2), 1e-12);
}

/// A point has the same three ratios, whichever of them the sweep lists.
TEST(link_chain, an_axis_of_es_n0) {
  link_config massive = ldpc_link("wifi-ldpc", 648, "1/2");
  massive.qam = 16;
  massive.antennas = massive_link_config{.antennas = 16, .users = 4};
  link_config downlink = massive;
  downlink.antennas.edit<massive_link_config>().direction = massive_direction::downlink;
  for (link_config c : {turbo_link(1024), mimo_link(2, 4, "mmse"), massive, downlink,
                        space_time_link(space_time_code::silver(), 16, 2)}) {
    const noise_level n = noise_level_at(c, 5);
    const double noise_var = noise_var_at(c, 5);
    c.axis = snr_axis::esn0_db;
    EXPECT_STREQ(name_of(c.axis), "esn0_db");
    const noise_level same = noise_level_at(c, n.esn0_db);
    EXPECT_EQ(same.esn0_db, n.esn0_db);
    EXPECT_NEAR(same.snr_db, n.snr_db, 1e-12);
    EXPECT_NEAR(same.ebn0_db, 5, 1e-12);
    EXPECT_DOUBLE_EQ(noise_var_at(c, n.esn0_db), noise_var);
    EXPECT_NEAR(same.snr_db - same.esn0_db, 10 * std::log10(streams_of(c)), 1e-12);
  }
}

TEST(link_chain, fills_in_what_is_left_open) {
  link_config c = turbo_link(6144);
  testing::crc_in(c.code) = crc24b;
  testing::turbo_decoder_in(c.code).k = 40;  // not looked at
  const link_config full = completed(c);
  EXPECT_EQ(testing::turbo_decoder_in(full.code).k, 6144);
  EXPECT_EQ(testing::turbo_decoder_in(full.code).crc_degree, 24);
  EXPECT_EQ(testing::turbo_decoder_in(full.code).crc_polynomial, crc24b.polynomial);
  EXPECT_GT(testing::turbo_decoder_in(full.code).windows, 0);
  EXPECT_GE(testing::turbo_decoder_in(full.code).overlap, 0);

  c = mimo_link(3, 4, "nway", 64);
  link_config antennas = completed(c);
  EXPECT_EQ(detector_of(antennas).streams, 3);
  EXPECT_EQ(detector_of(antennas).rx_antennas, 4);
  EXPECT_EQ(detector_of(antennas).qam, 64);
  EXPECT_EQ(detector_of(antennas).get<nway_settings>().ways, 3);
  EXPECT_EQ(detector_of(antennas).llr_clip, 8.f);
}

TEST(link_chain, refuses_bad_settings) {
  const auto blames = [](auto change) {
    return blamed([&] {
      link_config c = turbo_link(6144);
      change(c);
      completed(c);
    });
  };
  EXPECT_EQ(blames([](link_config&) {}), "");
  EXPECT_EQ(blames([](link_config& c) { testing::k_in(c.code) = 41; }), "k");
  EXPECT_EQ(blames([](link_config& c) { c.qam = 8; }), "qam");
  EXPECT_EQ(blames([](link_config& c) { testing::turbo_decoder_in(c.code).windows = 769; }), "windows");
  EXPECT_EQ(blames([](link_config& c) { testing::turbo_decoder_in(c.code).windows = -1; }), "windows");
  EXPECT_EQ(blames([](link_config& c) { testing::turbo_decoder_in(c.code).overlap = 10000; }), "overlap");
  EXPECT_EQ(blames([](link_config& c) { testing::turbo_decoder_in(c.code).iterations = 0; }), "iterations");
  EXPECT_EQ(blames([](link_config& c) { testing::turbo_decoder_in(c.code).extrinsic_scale = 0.5f; }),
            "extrinsic_scale");
  EXPECT_EQ(
      blames([](link_config& c) { testing::turbo_decoder_in(c.code).early_stop = turbo_early_stop::crc; }),
      "early_stop");
  EXPECT_EQ(
      blames([](link_config& c) { testing::turbo_in(c.code).interleaver = interleaver_coefficients{2, 2}; }),
      "f1, f2");
  EXPECT_EQ(blames([](link_config& c) { c.code = code_config("none"), testing::k_in(c.code) = -1; }), "k");
  EXPECT_EQ(
      blames([](link_config& c) { c.code = code_config("none"), testing::k_in(c.code) = (1 << 24) + 1; }),
      "k");
  EXPECT_EQ(blames([](link_config& c) {
              c.code = code_config("none"), testing::k_in(c.code) = 24, testing::crc_in(c.code) = crc24a;
            }),
            "k");
}

TEST(link_chain, refuses_bad_settings_of_antennas) {
  const auto blames_antennas = [](auto change) {
    return blamed([&] {
      link_config c = mimo_link(2, 2, "mmse");
      change(c);
      completed(c);
    });
  };
  EXPECT_EQ(blames_antennas([](link_config&) {}), "");
  EXPECT_EQ(blames_antennas([](link_config& c) { detector_of(c).streams = 0; }), "streams");
  EXPECT_EQ(blames_antennas([](link_config& c) { detector_of(c).streams = detector_of(c).rx_antennas = 9; }),
            "streams");
  EXPECT_EQ(blames_antennas([](link_config& c) { detector_of(c).streams = 3; }), "rx_antennas");
  EXPECT_EQ(blames_antennas([](link_config& c) { detector_of(c).rx_antennas = 17; }), "rx_antennas");
  EXPECT_EQ(blames_antennas([](link_config& c) { c.qam = 2; }), "modulation");
  EXPECT_EQ(blames_antennas([](link_config& c) { c.channel = awgn_config{}; }), "channel.type");
  EXPECT_EQ(blames_antennas([](link_config& c) {
              detector_of(c) = {.type = "nway", .settings = box(nway_settings{.ways = 3})};
            }),
            "ways");
  const auto blames_line = [](auto change) {
    return blamed([&] {
      link_config c = mimo_link(2, 2, "mmse");
      tdl_config line{.profile = tdl_profile_named("eva"), .grid = {.symbols = 0}};
      change(line);
      c.channel = line;
      completed(c);
    });
  };
  EXPECT_EQ(blames_line([](tdl_config&) {}), "");
  EXPECT_EQ(blames_line([](tdl_config& c) { c.profile = {}; }), "profile");
  EXPECT_EQ(blames_line([](tdl_config& c) { c.profile = tdl_profile_named("etu"); }), "cyclic_prefix_us");
  EXPECT_EQ(blames_line([](tdl_config& c) { c.grid.subcarriers = 0; }), "subcarriers");
  EXPECT_EQ(blames_line([](tdl_config& c) { c.grid.symbols = -1; }), "symbols");
  EXPECT_EQ(blames_line([](tdl_config& c) { c.doppler_hz = -1; }), "doppler_hz");
  EXPECT_EQ(blames_line([](tdl_config& c) { c.streams = 99; }), "");  // not looked at
  EXPECT_EQ(blames_antennas([](link_config& c) { detector_of(c).llr_clip = 0; }), "llr_clip");
}

TEST(link_chain, refuses_bad_settings_of_codewords) {
  const auto blames_codeword = [](auto change) {
    return blamed([&] {
      link_config c = space_time_link(space_time_code::silver(), 4, 2);
      change(c);
      completed(c);
    });
  };
  EXPECT_EQ(blames_codeword([](link_config&) {}), "");
  EXPECT_EQ(blames_codeword([](link_config& c) { space_time_of(c).rx_antennas = 5; }), "rx_antennas");
  EXPECT_EQ(blames_codeword([](link_config& c) { space_time_of(c).rx_antennas = 0; }), "rx_antennas");
  EXPECT_EQ(blames_codeword([](link_config& c) { c.qam = 2; }), "modulation");
  EXPECT_EQ(blames_codeword([](link_config& c) { c.qam = 256; }), "");
  EXPECT_EQ(blames_codeword([](link_config& c) { c.channel = awgn_config{}; }), "channel.type");
  EXPECT_EQ(blames_codeword([](link_config& c) { c.channel = cdl_config{}; }), "channel.type");
  EXPECT_EQ(blames_codeword([](link_config& c) { c.code = code_config("lte-transport"); }), "code.type");
  EXPECT_EQ(blames_codeword([](link_config& c) { space_time_of(c).search = golden_search::slicing; }),
            "search");
  EXPECT_EQ(blames_codeword([](link_config& c) { space_time_of(c).llr_clip = 0; }), "llr_clip");
}

TEST(link_chain, refuses_bad_batches_and_points) {
  const auto exec = open_scalar();
  link_chain chain(uncoded_link(10), *exec, 5);
  EXPECT_EQ(blamed([&] { chain.run(0, 6, 0); }), "frames");
  EXPECT_EQ(blamed([&] { chain.run(0, 5, 101); }), "ebn0_db");
  EXPECT_EQ(blamed([&] { chain.run(0, 5, NAN); }), "ebn0_db");
  EXPECT_EQ(chain.run(0, 0, 0).bit_errors.size(), 0u);
}

}  // namespace link_test
}  // namespace wb
