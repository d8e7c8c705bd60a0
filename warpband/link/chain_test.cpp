// The whole link: limit cases, and the same counts on every backend, in any batch.
#include <cmath>

#include <tests/link.hpp>
#include <tests/on_backends.hpp>
#include <warpband/link/chain.hpp>
#include <warpband/link/link_settings.hpp>

namespace wb {
namespace chain_test {

using namespace testing;

class link_chain_on : public testing::on_backend {};
WB_ON_ALL_BACKENDS(link_chain_on);

TEST_P(link_chain_on, makes_no_errors_without_noise) {
  for (const int qam : {2, 4, 16, 64, 256})
    for (const air_config& channel : {air_config(awgn_config{}), air_config(rayleigh_config{}),
                                      air_config(rayleigh_config{fading_type::block})})
      for (const bool coded : {false, true})
        for (const demap_algorithm demapper : {demap_algorithm::max_log, demap_algorithm::exact}) {
          link_config c = coded ? turbo_link(104) : uncoded_link(101);  // neither fills whole symbols
          c.qam = qam;
          c.antennas = single_antenna{demapper};
          c.channel = channel;
          testing::crc_in(c.code) = crc24b;
          // Deep fades are deeper than 60 dB now and then, and a code is no help against them in block
          // fading.
          const double ebn0_db = channel.type == "rayleigh" ? 100 : 60;
          link_chain chain(c, exec());
          const std::size_t frames = small_scale() ? 17 : 40;
          const frame_counts& counts = chain.run(5, frames, ebn0_db);
          ASSERT_EQ(counts.bit_errors.size(), frames);
          EXPECT_EQ(total(counts.bit_errors), 0)
              << name_of_modulation(qam) << " " << channel.type
              << (fading_of(channel) == air_fading::block ? " block" : "") << (coded ? " coded" : " uncoded");
          EXPECT_EQ(counts.erased, std::vector<std::uint8_t>(coded ? frames : 0));
        }
}

TEST_P(link_chain_on, gives_the_counts_of_a_scalar_cpu) {
  const auto reference = open_reference();
  std::vector<link_config> links;
  links.push_back(turbo_link(512));
  links.push_back(turbo_link(1008));
  testing::turbo_decoder_in(links.back().code).algorithm = map_algorithm::max_log_map;
  testing::turbo_decoder_in(links.back().code).extrinsic_scale = 0.75f;
  testing::turbo_decoder_in(links.back().code).windows = 9;
  testing::turbo_decoder_in(links.back().code).overlap = 5;
  testing::crc_in(links.back().code) = crc24a;
  testing::turbo_decoder_in(links.back().code).stop = early_stop::crc;
  links.back().qam = 16;
  links.push_back(turbo_link(40));
  testing::turbo_decoder_in(links.back().code).stop = early_stop::sign_agreement;
  links.back().channel = rayleigh_config{};
  links.back().qam = 64;
  links.back().antennas = single_antenna{demap_algorithm::exact};
  links.push_back(uncoded_link(77));
  links.back().channel = rayleigh_config{fading_type::block};
  links.back().qam = 256;
  links.push_back(uncoded_link(500));
  for (const link_config& c : links) {
    const double ebn0_db = is_uncoded(c.code) ? 4 : c.qam == 64 ? 9 : c.qam == 16 ? 2.3 : 0.7;
    link_chain here(c, exec()), there(c, *reference);
    const frame_counts &a = here.run(1000, 50, ebn0_db), &b = there.run(1000, 50, ebn0_db);
    EXPECT_GT(total(a.bit_errors), 0);
    EXPECT_EQ(a.bit_errors, b.bit_errors);
    EXPECT_EQ(a.iterations, b.iterations);
    EXPECT_EQ(a.erased, b.erased);
  }
}

/// LDPC and convolutional codes, in several channels.
std::vector<link_config> other_links() {
  std::vector<link_config> links;
  links.push_back(ldpc_link("wimax-ldpc", 576, "3/4B"));
  testing::crc_in(links.back().code) = crc24b;
  links.push_back(ldpc_link("wimax-ldpc", 576, "1/2"));
  testing::ldpc_decoder_in(links.back().code).precision = ldpc_precision::int8;
  links.back().qam = 16;  // 576 bits: whole symbols
  links.push_back(ldpc_link("wifi-ldpc", 648, "2/3"));
  testing::ldpc_decoder_in(links.back().code).algorithm = ldpc_algorithm::sum_product;
  testing::ldpc_decoder_in(links.back().code).schedule = ldpc_schedule::flooding;
  links.back().channel = rayleigh_config{};
  links.back().qam = 256;
  links.push_back(conv_link(101, "3/4", conv_ending::zero_tail, conv_algorithm::viterbi));
  links.back().qam = 64;  // fills no whole symbols
  links.push_back(conv_link(101, "1/3", conv_ending::tail_biting, conv_algorithm::log_map));
  links.push_back(conv_link(64, "2/3", conv_ending::tail_biting, conv_algorithm::max_log_map));
  testing::conv_in(links.back().code).standard = conv_standard::ieee_802_16;
  testing::crc_in(links.back().code) = crc24a;
  links.push_back(ldpc_link("wifi-ldpc", 648, "1/2"));
  for (const std::size_t i : {links.size() - 1, links.size() - 2}) {
    links[i].channel = rayleigh_config{};
    links[i].antennas = detector_config{.streams = 2, .rx_antennas = 2, .llr_clip = {}};
    links[i].qam = 64;
  }
  return links;
}

TEST_P(link_chain_on, of_other_codes_makes_no_errors_without_noise) {
  for (const link_config& c : other_links()) {
    SCOPED_TRACE(c.code.type + " " + plain(c.code.value_of("algorithm")));
    link_chain chain(c, exec());
    const frame_counts& counts = chain.run(7, 30, 90);
    EXPECT_EQ(total(counts.bit_errors), 0);
    EXPECT_EQ(counts.erased, std::vector<std::uint8_t>(30));
    // With early stop; the MAP decoders and the Viterbi algorithm have one pass.
    EXPECT_EQ(counts.iterations, std::vector<std::int32_t>(30, 1));
  }
}

/// The bit errors of 40 frames, run seven at a time.
std::vector<std::int32_t> in_sevens(link_chain& chain, std::uint64_t first, double ebn0_db) {
  std::vector<std::int32_t> gathered;
  for (std::size_t done = 0; done < 40;) {
    const std::size_t n = std::min<std::size_t>(7, 40 - done);
    const frame_counts& counts = chain.run(first + done, n, ebn0_db);
    gathered.insert(gathered.end(), counts.bit_errors.begin(), counts.bit_errors.end());
    done += n;
  }
  return gathered;
}

TEST_P(link_chain_on, of_other_codes_gives_the_counts_of_a_scalar_cpu_in_any_batch) {
  const auto reference = open_reference();
  for (const link_config& c : other_links()) {
    SCOPED_TRACE(c.code.type + " " + plain(c.code.value_of("algorithm")));
    const double ebn0_db = streams_of(c) == 2 ? 9
                           : c.qam == 256     ? 13
                           : c.qam == 64      ? 7
                           : c.qam == 16      ? 3
                                              : 1.5;
    link_chain here(c, exec()), there(c, *reference), parts(c, exec(), 7);
    const std::uint64_t first = (std::uint64_t{1} << 33) - 11;
    const frame_counts a = here.run(first, 40, ebn0_db), &b = there.run(first, 40, ebn0_db);
    EXPECT_GT(total(a.bit_errors), 0);
    EXPECT_EQ(a.bit_errors, b.bit_errors);
    EXPECT_EQ(a.iterations, b.iterations);
    EXPECT_EQ(a.erased, b.erased);
    EXPECT_EQ(in_sevens(parts, first, ebn0_db), a.bit_errors);
  }
}

/// Delay lines: demapper and detectors, frames that end inside a block, static and moving blocks.
std::vector<link_config> delay_lines() {
  std::vector<link_config> links;
  const auto add = [&](link_config c, const std::string& profile, double doppler_hz, int subcarriers,
                       int symbols) {
    c.channel = tdl_config{.profile = tdl_profile_named(profile, 100),
                           .grid = {.subcarriers = subcarriers, .symbols = symbols},
                           .doppler_hz = doppler_hz};
    links.push_back(c);
  };
  link_config c = turbo_link(104);
  c.qam = 4;
  add(c, "epa", 70, 12, 0);
  c.qam = 64;
  c.antennas = detector_config{.streams = 2, .rx_antennas = 2, .llr_clip = {}};
  add(c, "eva", 300, 25, 2);
  c.antennas = detector_config{.type = "zf", .streams = 2, .rx_antennas = 4, .llr_clip = {}};
  add(c, "tdl-d", 0, 7, 1);
  c = conv_link(101, "3/4", conv_ending::zero_tail, conv_algorithm::viterbi);
  add(c, "tdl-c", 5, 600, 14);  // most of the block is empty
  add(uncoded_link(77), "tdl-e", 0, 10, 3);
  return links;
}

TEST_P(link_chain_on, of_delay_lines_makes_no_errors_without_noise) {
  for (const link_config& c : delay_lines()) {
    SCOPED_TRACE(c.channel.get<tdl_config>().profile.taps.size());
    link_chain chain(c, exec());
    const frame_counts& counts = chain.run(7, 30, 90);
    EXPECT_EQ(total(counts.bit_errors), 0);
    EXPECT_EQ(counts.erased, std::vector<std::uint8_t>(chain.coded() ? 30 : 0));
    EXPECT_EQ(total(counts.erased_uses), 0);
  }
}

TEST_P(link_chain_on, of_delay_lines_gives_the_counts_of_a_scalar_cpu_in_any_batch) {
  const auto reference = open_reference();
  for (const link_config& c : delay_lines()) {
    SCOPED_TRACE(c.channel.get<tdl_config>().profile.taps.size());
    const double ebn0_db = c.qam == 64 ? 6 : 1;
    link_chain here(c, exec()), there(c, *reference), parts(c, exec(), 7);
    const std::uint64_t first = (std::uint64_t{1} << 33) - 11;
    const frame_counts a = here.run(first, 40, ebn0_db), &b = there.run(first, 40, ebn0_db);
    EXPECT_GT(total(a.bit_errors), 0);
    EXPECT_EQ(a.bit_errors, b.bit_errors);
    EXPECT_EQ(in_sevens(parts, first, ebn0_db), a.bit_errors);
  }
}

TEST_P(link_chain_on, wimax_ldpc_fails_as_often_as_it_should) {
  // Layered normalised min-sum with 0.75 and 20 iterations, BPSK, Eb/N0 = 1.6 dB: 1.8% of the frames.
  link_config c = ldpc_link("wimax-ldpc", 2304, "1/2");
  testing::ldpc_decoder_in(c.code).iterations = 20;
  link_chain chain(c, exec());
  const std::size_t frames = small_scale() ? 400 : 3000;
  std::size_t failed = 0;
  for (std::size_t done = 0; done < frames;) {
    const std::size_t now = std::min(chain.max_batch(), frames - done);
    for (const std::int32_t errors : chain.run(done, now, 1.6).bit_errors) failed += errors != 0;
    done += now;
  }
  const double expected = 0.018 * static_cast<double>(frames);
  EXPECT_NEAR(static_cast<double>(failed), expected, 4 * std::sqrt(expected));
}

TEST_P(link_chain_on, counts_do_not_depend_on_the_batch) {
  link_config c = turbo_link(128);
  c.channel = rayleigh_config{};
  c.qam = 4;
  link_chain whole(c, exec()), parts(c, exec(), 7);
  EXPECT_EQ(parts.max_batch(), 7u);
  const std::uint64_t first = (std::uint64_t{1} << 33) - 11;  // the symbol index passes 2^40
  const std::vector<std::int32_t> all = whole.run(first, 30, 2).bit_errors;
  std::vector<std::int32_t> gathered;
  for (std::size_t done = 0; done < 30;) {
    const std::size_t n = std::min<std::size_t>(7, 30 - done);
    const frame_counts& counts = parts.run(first + done, n, 2);
    gathered.insert(gathered.end(), counts.bit_errors.begin(), counts.bit_errors.end());
    done += n;
  }
  EXPECT_GT(total(all), 0);
  EXPECT_EQ(all, gathered);
}

TEST_P(link_chain_on, makes_no_errors_between_antennas_without_noise) {
  const std::size_t frames = small_scale() ? 10 : 40;
  for (const std::string type : {"ml", "zf", "mmse", "ot", "mtt", "kbest", "nway"})
    for (const auto& [streams, rx] : {std::pair{1, 2}, std::pair{2, 2}, std::pair{3, 4}})
      for (const fading_type fading : {fading_type::fast, fading_type::block})
        for (const bool coded : {false, true}) {
          link_config c = mimo_link(streams, rx, type);
          c.channel = rayleigh_config{fading};
          c.code = coded ? c.code : uncoded_link(101).code;
          if (coded && streams == 2) testing::turbo_in(c.code).rate = turbo_rate::half;
          // The one-pass trellis misses hypotheses, and the best one too where antennas interfere.
          if (type == "ot" && streams > 1) continue;
          link_chain chain(c, exec());
          const frame_counts& counts = chain.run(5, frames, 90);
          EXPECT_EQ(total(counts.bit_errors), 0) << type << " " << streams << " x " << rx << " "
                                                 << name_of(fading) << (coded ? " coded" : " uncoded");
          EXPECT_EQ(counts.erased, std::vector<std::uint8_t>(coded ? frames : 0));
          EXPECT_EQ(counts.erased_uses, std::vector<std::int32_t>(frames));
        }
}

TEST_P(link_chain_on, with_antennas_gives_the_counts_of_a_scalar_cpu_in_any_batch) {
  const auto reference = open_reference();
  std::vector<link_config> links;
  links.push_back(mimo_link(2, 2, "ml"));
  links.push_back(mimo_link(4, 4, "kbest", 4));
  detector_of(links.back()).edit<kbest_settings>().survivors = 8;
  detector_of(links.back()).llr_clip = 5;
  links.back().channel = rayleigh_config{fading_type::block};
  links.push_back(mimo_link(2, 3, "mmse", 64));
  testing::turbo_in(links.back().code).rate = turbo_rate::half;
  links.push_back(mimo_link(3, 3, "nway"));
  detector_of(links.back()).edit<nway_settings>().ways = 2;
  links.back().code = uncoded_link(77).code;
  links.back().axis = snr_axis::snr_db;
  for (link_config& c : links) {
    SCOPED_TRACE(detector_of(c).type);
    const std::uint64_t first = (std::uint64_t{1} << 33) - 11;
    link_chain here(c, exec()), there(c, *reference), parts(c, exec(), 7);
    const frame_counts a = here.run(first, 40, 4), &b = there.run(first, 40, 4);
    EXPECT_GT(total(a.bit_errors), 0);
    EXPECT_EQ(a.bit_errors, b.bit_errors);
    EXPECT_EQ(a.iterations, b.iterations);
    EXPECT_EQ(a.erased, b.erased);
    EXPECT_EQ(a.erased_uses, b.erased_uses);
    std::vector<std::int32_t> gathered;
    for (std::size_t done = 0; done < 40;) {
      const std::size_t n = std::min<std::size_t>(7, 40 - done);
      const frame_counts& counts = parts.run(first + done, n, 4);
      gathered.insert(gathered.end(), counts.bit_errors.begin(), counts.bit_errors.end());
      done += n;
    }
    EXPECT_EQ(gathered, a.bit_errors);
  }
}

/// Every code, with and without a channel code, in both kinds of fading.
std::vector<link_config> space_time_links() {
  std::vector<link_config> links;
  links.push_back(space_time_link(space_time_code::alamouti(), 4, 1));
  links.push_back(space_time_link(space_time_code::silver(), 4, 2));
  links.back().channel = rayleigh_config{fading_type::block};
  using z = std::complex<double>;
  links.push_back(space_time_link(space_time_code::pair({0.6, z(0, 0.8), 0.8, z(0, -0.6)}), 16, 2));
  links.push_back(space_time_link(space_time_code::golden(), 16, 3));
  links.back().axis = snr_axis::snr_db;
  links.push_back(space_time_link(space_time_code::golden(), 4, 2));
  space_time_of(links.back()).search = golden_search::slicing;
  links.push_back(space_time_link(space_time_code::alamouti(), 64, 4));
  links.back().code = turbo_link(104).code;
  links.push_back(space_time_link(space_time_code::silver(), 16, 2));
  links.back().code = ldpc_link("wimax-ldpc", 576, "1/2").code;
  links.push_back(space_time_link(space_time_code::golden(), 4, 2));
  links.back().code = conv_link(101, "1/2", conv_ending::tail_biting, conv_algorithm::log_map).code;
  links.back().channel = rayleigh_config{fading_type::block};
  return links;
}
std::string about(link_config c) {
  return std::string(name_of(space_time_of(c).code)) + " " + name_of_modulation(c.qam) + " " + c.code.type;
}

TEST_P(link_chain_on, of_space_time_codes_makes_no_errors_without_noise) {
  for (const link_config& c : space_time_links()) {
    SCOPED_TRACE(about(c));
    link_chain chain(c, exec());
    const frame_counts& counts = chain.run(7, 30, 90);
    EXPECT_EQ(total(counts.bit_errors), 0);
    EXPECT_EQ(counts.erased, std::vector<std::uint8_t>(chain.coded() ? 30 : 0));
    EXPECT_EQ(counts.erased_uses, std::vector<std::int32_t>(30));
  }
}

TEST_P(link_chain_on, of_space_time_codes_gives_the_counts_of_a_scalar_cpu_in_any_batch) {
  const auto reference = open_reference();
  for (const link_config& c : space_time_links()) {
    SCOPED_TRACE(about(c));
    const double point_db = is_uncoded(c.code) ? 6 : c.qam == 4 ? 2 : c.qam == 64 ? 3.5 : 7;
    link_chain here(c, exec()), there(c, *reference), parts(c, exec(), 7);
    const std::uint64_t first = (std::uint64_t{1} << 33) - 11;
    const frame_counts a = here.run(first, 40, point_db), &b = there.run(first, 40, point_db);
    EXPECT_GT(total(a.bit_errors), 0);
    EXPECT_EQ(a.bit_errors, b.bit_errors);
    EXPECT_EQ(a.iterations, b.iterations);
    EXPECT_EQ(a.erased_uses, b.erased_uses);
    EXPECT_EQ(in_sevens(parts, first, point_db), a.bit_errors);
  }
}

TEST_P(link_chain_on, punctured_gives_the_counts_of_a_scalar_cpu) {
  const auto reference = open_reference();
  link_config c = turbo_link(256);
  testing::turbo_in(c.code).rate = turbo_rate::half;
  c.qam = 4;
  link_chain here(c, exec()), there(c, *reference);
  EXPECT_EQ(total(here.run(3, 30, 8).bit_errors), 0);
  const frame_counts &a = here.run(3, 30, 1.2), &b = there.run(3, 30, 1.2);
  EXPECT_GT(total(a.bit_errors), 0);
  EXPECT_EQ(a.bit_errors, b.bit_errors);
}

TEST(link_chain, seeds_and_points_give_other_noise) {
  const auto exec = open_scalar();
  link_config c = uncoded_link(1000);
  link_chain chain(c, *exec);
  const auto first = chain.run(0, 20, 3).bit_errors;
  EXPECT_EQ(first, chain.run(0, 20, 3).bit_errors);
  EXPECT_NE(first, chain.run(0, 20, 3.001).bit_errors);
  EXPECT_NE(first, chain.run(0, 20, -3).bit_errors);
  c.seed = 2;
  EXPECT_NE(first, link_chain(c, *exec).run(0, 20, 3).bit_errors);
}

TEST(link_chain, decoders_see_the_same_noise) {
  // With a hopeless channel the errors are mostly those of the systematic bits: the same frames are the
  // worst.
  const auto exec = open_scalar();
  link_config a = turbo_link(512), b = a;
  testing::turbo_decoder_in(a.code).iterations = 1;
  testing::turbo_decoder_in(b.code).iterations = 1;
  testing::turbo_decoder_in(b.code).windows = 4;
  const auto x = link_chain(a, *exec).run(0, 50, -5).bit_errors,
             y = link_chain(b, *exec).run(0, 50, -5).bit_errors;
  double xy = 0, xx = 0, yy = 0;
  const double mx = static_cast<double>(total(x)) / 50, my = static_cast<double>(total(y)) / 50;
  for (std::size_t i = 0; i < 50; i++) {
    xy += (x[i] - mx) * (y[i] - my);
    xx += (x[i] - mx) * (x[i] - mx);
    yy += (y[i] - my) * (y[i] - my);
  }
  EXPECT_GT(xy / std::sqrt(xx * yy), 0.8);
}

TEST(link_chain, an_interleaver_of_ones_own) {
  const auto exec = open_scalar();
  link_config c = turbo_link(1024);
  const auto standard = link_chain(c, *exec).run(0, 30, 0.3).bit_errors;
  testing::turbo_in(c.code).interleaver = interleaver_coefficients{31, 64};  // the standard's for 1024
  EXPECT_EQ(link_chain(c, *exec).run(0, 30, 0.3).bit_errors, standard);
  testing::turbo_in(c.code).interleaver = interleaver_coefficients{33, 64};
  EXPECT_NE(link_chain(c, *exec).run(0, 30, 0.3).bit_errors, standard);
  testing::k_in(c.code) = 100;  // not a block size of the standard
  testing::turbo_in(c.code).interleaver = interleaver_coefficients{3, 10};
  EXPECT_EQ(total(link_chain(c, *exec).run(0, 30, 60).bit_errors), 0);
}

TEST(link_chain, fast_and_block_fading_of_one_codeword_are_the_same) {
  // A frame of one codeword: the same H by its index either way.
  const auto exec = open_scalar();
  link_config c = space_time_link(space_time_code::silver(), 4, 2);
  testing::k_in(c.code) = 8;
  const auto fast = link_chain(c, *exec).run(0, 400, 5).bit_errors;
  EXPECT_GT(total(fast), 0);
  c.channel = rayleigh_config{fading_type::block};
  EXPECT_EQ(link_chain(c, *exec).run(0, 400, 5).bit_errors, fast);
  testing::k_in(c.code) = 16;  // two codewords: now they differ
  const auto block = link_chain(c, *exec).run(0, 400, 5).bit_errors;
  c.channel = rayleigh_config{};
  EXPECT_NE(link_chain(c, *exec).run(0, 400, 5).bit_errors, block);
}

TEST(link_chain, takes_a_point_as_snr_too) {
  const auto exec = open_scalar();
  link_config c = uncoded_link(1000);
  const auto ebn0 = link_chain(c, *exec).run(0, 20, 3).bit_errors;
  c.axis = snr_axis::snr_db;  // of BPSK without a code: the same
  link_chain chain(c, *exec);
  EXPECT_EQ(chain.run(0, 20, 3).bit_errors, ebn0);
  EXPECT_EQ(blamed([&] { chain.run(0, 5, -101); }), "snr_db");
  c.qam = 4;  // 3 dB less for each bit
  EXPECT_GT(total(link_chain(c, *exec).run(0, 20, 3).bit_errors), 2 * total(ebn0));
}

TEST(link_chain, one_antenna_has_a_detector_where_one_is_named) {
  const auto exec = open_scalar();
  link_config c = uncoded_link(1000);
  c.channel = rayleigh_config{};
  c.qam = 16;
  EXPECT_TRUE(link_chain(c, *exec).run(0, 1, 3).erased_uses.empty());
  const auto demapped = static_cast<double>(total(link_chain(c, *exec).run(0, 200, 8).bit_errors));
  c.antennas = detector_config{.type = "ml", .streams = 1, .rx_antennas = 1, .llr_clip = {}};
  const auto detected = static_cast<double>(total(link_chain(c, *exec).run(0, 200, 8).bit_errors));
  EXPECT_NEAR(detected, demapped, 0.05 * demapped);  // other channels of the same kind
}

}  // namespace chain_test
}  // namespace wb
