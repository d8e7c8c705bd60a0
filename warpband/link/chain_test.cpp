// The whole link: limit cases, and the same counts on every backend, in any batch.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include <tests/on_backends.hpp>
#include <warpband/link/chain.hpp>
#include <warpband/link/scenario.hpp>

namespace wb {
namespace {

using testing::blamed;
using testing::open_scalar;
using testing::small_scale;

link_config turbo_link(int k) {
  link_config c;
  c.k = k;
  return c;
}
link_config uncoded_link(int k) {
  link_config c = turbo_link(k);
  c.code = code_type::none;
  return c;
}

std::int64_t total(const std::vector<std::int32_t>& v) {
  return std::accumulate(v.begin(), v.end(), std::int64_t{0});
}

class link_chain_on : public testing::on_backend {};
WB_ON_ALL_BACKENDS(link_chain_on);

TEST_P(link_chain_on, makes_no_errors_without_noise) {
  for (const int qam : {2, 4, 16, 64, 256})
    for (const channel_type channel : {channel_type::awgn, channel_type::rayleigh})
      for (const fading_type fading : {fading_type::fast, fading_type::block})
        for (const bool coded : {false, true})
          for (const demap_algorithm demapper : {demap_algorithm::max_log, demap_algorithm::exact}) {
            link_config c = coded ? turbo_link(104) : uncoded_link(101);  // neither fills whole symbols
            c.qam = qam;
            c.channel = channel;
            c.fading = fading;
            c.demapper = demapper;
            c.crc = crc24b;
            // Deep fades are deeper than 60 dB now and then, and a code is no help against them in block
            // fading.
            const double ebn0_db = channel == channel_type::rayleigh ? 100 : 60;
            link_chain chain(c, exec());
            const frame_counts& counts = chain.run(5, 40, ebn0_db);
            ASSERT_EQ(counts.bit_errors.size(), 40u);
            EXPECT_EQ(total(counts.bit_errors), 0)
                << name_of_modulation(qam) << " " << name_of(channel) << " " << name_of(fading)
                << (coded ? " coded" : " uncoded");
            EXPECT_EQ(counts.erased, std::vector<std::uint8_t>(coded ? 40 : 0));
          }
}

TEST_P(link_chain_on, gives_the_counts_of_a_scalar_cpu) {
  const auto reference = open_scalar();
  std::vector<link_config> links;
  links.push_back(turbo_link(512));
  links.push_back(turbo_link(1008));
  links.back().decoder.algorithm = map_algorithm::max_log_map;
  links.back().decoder.extrinsic_scale = 0.75f;
  links.back().decoder.windows = 9;
  links.back().decoder.overlap = 5;
  links.back().crc = crc24a;
  links.back().decoder.stop = early_stop::crc;
  links.back().qam = 16;
  links.push_back(turbo_link(40));
  links.back().decoder.stop = early_stop::sign_agreement;
  links.back().channel = channel_type::rayleigh;
  links.back().qam = 64;
  links.back().demapper = demap_algorithm::exact;
  links.push_back(uncoded_link(77));
  links.back().channel = channel_type::rayleigh;
  links.back().fading = fading_type::block;
  links.back().qam = 256;
  links.push_back(uncoded_link(500));
  for (const link_config& c : links) {
    const double ebn0_db = c.code == code_type::none ? 4 : c.qam == 64 ? 9 : c.qam == 16 ? 2.3 : 0.7;
    link_chain here(c, exec()), there(c, *reference);
    const frame_counts &a = here.run(1000, 50, ebn0_db), &b = there.run(1000, 50, ebn0_db);
    EXPECT_GT(total(a.bit_errors), 0);
    EXPECT_EQ(a.bit_errors, b.bit_errors);
    EXPECT_EQ(a.iterations, b.iterations);
    EXPECT_EQ(a.erased, b.erased);
  }
}

TEST_P(link_chain_on, counts_do_not_depend_on_the_batch) {
  link_config c = turbo_link(128);
  c.channel = channel_type::rayleigh;
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
  a.decoder.iterations = 1;
  b.decoder.iterations = 1;
  b.decoder.windows = 4;
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
  c.interleaver = interleaver_coefficients{31, 64};  // the standard's for 1024
  EXPECT_EQ(link_chain(c, *exec).run(0, 30, 0.3).bit_errors, standard);
  c.interleaver = interleaver_coefficients{33, 64};
  EXPECT_NE(link_chain(c, *exec).run(0, 30, 0.3).bit_errors, standard);
  c.k = 100;  // not a block size of the standard
  c.interleaver = interleaver_coefficients{3, 10};
  EXPECT_EQ(total(link_chain(c, *exec).run(0, 30, 60).bit_errors), 0);
}

TEST(link_chain, rates_and_signal_to_noise_ratios) {
  link_config c = turbo_link(6144);
  EXPECT_DOUBLE_EQ(code_rate(c), 6144.0 / 18444);
  EXPECT_NEAR(esn0_from_ebn0_db(c, 0.2), -4.574, 5e-4);  // as in the reference curves
  c.qam = 16;
  EXPECT_NEAR(esn0_from_ebn0_db(c, 0.2), -4.574 + 6.0206, 5e-4);
  c = uncoded_link(7);
  EXPECT_EQ(code_rate(c), 1);
  EXPECT_EQ(esn0_from_ebn0_db(c, 3), 3);
}

TEST(link_chain, fills_in_what_is_left_open) {
  link_config c = turbo_link(6144);
  c.crc = crc24b;
  c.decoder.k = 40;  // not looked at
  const link_config full = completed(c);
  EXPECT_EQ(full.decoder.k, 6144);
  EXPECT_EQ(full.decoder.crc_degree, 24);
  EXPECT_EQ(full.decoder.crc_polynomial, crc24b.polynomial);
  EXPECT_GT(full.decoder.windows, 0);
  EXPECT_GE(full.decoder.overlap, 0);
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
  EXPECT_EQ(blames([](link_config& c) { c.k = 41; }), "k");
  EXPECT_EQ(blames([](link_config& c) { c.qam = 8; }), "qam");
  EXPECT_EQ(blames([](link_config& c) { c.decoder.windows = 769; }), "windows");
  EXPECT_EQ(blames([](link_config& c) { c.decoder.windows = -1; }), "windows");
  EXPECT_EQ(blames([](link_config& c) { c.decoder.overlap = 10000; }), "overlap");
  EXPECT_EQ(blames([](link_config& c) { c.decoder.iterations = 0; }), "iterations");
  EXPECT_EQ(blames([](link_config& c) { c.decoder.extrinsic_scale = 0.5f; }), "extrinsic_scale");
  EXPECT_EQ(blames([](link_config& c) { c.decoder.stop = early_stop::crc; }), "early_stop");
  EXPECT_EQ(blames([](link_config& c) { c.interleaver = interleaver_coefficients{2, 2}; }), "f1, f2");
  EXPECT_EQ(blames([](link_config& c) { c.code = code_type::none, c.k = 0; }), "k");
  EXPECT_EQ(blames([](link_config& c) { c.code = code_type::none, c.k = (1 << 24) + 1; }), "k");
  EXPECT_EQ(blames([](link_config& c) { c.code = code_type::none, c.k = 24, c.crc = crc24a; }), "k");
  const auto exec = open_scalar();
  link_chain chain(uncoded_link(10), *exec, 5);
  EXPECT_EQ(blamed([&] { chain.run(0, 6, 0); }), "frames");
  EXPECT_EQ(blamed([&] { chain.run(0, 5, 101); }), "ebn0_db");
  EXPECT_EQ(blamed([&] { chain.run(0, 5, NAN); }), "ebn0_db");
  EXPECT_EQ(chain.run(0, 0, 0).bit_errors.size(), 0u);
}

}  // namespace
}  // namespace wb
