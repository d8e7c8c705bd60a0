// The whole link: limit cases, and the same counts on every backend, in any batch.
#include <algorithm>
#include <cmath>

#include <tests/link.hpp>
#include <tests/on_backends.hpp>
#include <warpband/link/chain.hpp>
#include <warpband/link/link_settings.hpp>
#include <warpband/link/team.hpp>

namespace wb {
namespace chain_test {

using namespace testing;

class link_chain_on : public testing::on_backend {};
WB_ON_ALL_BACKENDS(link_chain_on);

template <class T>
void expect_zeros(const std::vector<T>& counts) {
  EXPECT_EQ(counts, std::vector<T>(counts.size()));
}

TEST_P(link_chain_on, makes_no_errors_without_noise) {
  const std::size_t frames = 6;
  for (const curve_config& c : every_link().curves) {
    SCOPED_TRACE(c.label);
    link_chain chain(c.link, exec(), frames);
    const frame_counts& counts = chain.run(7, frames, 90);
    ASSERT_EQ(counts.bit_errors.size(), frames);
    expect_zeros(counts.bit_errors);
    EXPECT_EQ(counts.erased.size(), chain.coded() ? frames : 0);
    expect_zeros(counts.erased);
    EXPECT_EQ(counts.erased_uses.size(), erases_uses(chain.config()) ? frames : 0);
    expect_zeros(counts.erased_uses);
    expect_zeros(counts.codeword_errors);
    EXPECT_EQ(counts.transmissions, std::vector<std::uint8_t>(counts.passed.size(), 1));
    EXPECT_EQ(counts.passed, counts.transmissions);
    const bool stops_at_once = c.link.code.type.ends_with("-ldpc") || c.link.code.type == "conv";
    if (stops_at_once && codewords_per_frame(c.link) == 1 && !c.link.receiver) {
      EXPECT_EQ(counts.iterations, std::vector<std::int32_t>(frames, 1));
    }
  }
}

/// In pieces as large as the chain takes.
frame_counts in_pieces(link_chain& chain, std::uint64_t first, std::size_t frames, double point_db) {
  frame_counts gathered;
  for (std::size_t done = 0; done < frames;) {
    const std::size_t n = std::min(chain.max_batch(), frames - done);
    append(gathered, chain.run(first + done, n, point_db));
    done += n;
  }
  return gathered;
}

/// With HARQ in their first transmission, in a loop after its first iteration.
bool some_frames_fail(const frame_counts& c) {
  if (!c.transmissions.empty()) return *std::ranges::max_element(c.transmissions) > 1;
  return total(c.outer_bit_errors.empty() ? c.bit_errors : c.outer_bit_errors[0]) > 0;
}

TEST_P(link_chain_on, counts_do_not_depend_on_backend_threads_or_batch) {
  const auto reference = open_reference(), two_threads = GetParam().open(2);
  const std::size_t frames = 9;
  const std::uint64_t first = (std::uint64_t{1} << 33) - 7;  // index of symbols passes 2^40
  for (const curve_config& c : every_link().curves) {
    SCOPED_TRACE(c.label);
    const double point_db = c.sweep_db.at(0);
    link_chain one_by_one(c.link, *reference, 1);
    const frame_counts expected = in_pieces(one_by_one, first, frames, point_db);
    EXPECT_TRUE(some_frames_fail(expected));
    EXPECT_LT(total(expected.bit_errors),
              static_cast<std::int64_t>(frames * bits_per_frame(one_by_one.config()) / 2));
    for (executor* e : {&exec(), two_threads.get()})
      for (const std::size_t batch : {std::size_t{4}, frames}) {
        link_chain chain(c.link, *e, batch);
        EXPECT_TRUE(in_pieces(chain, first, frames, point_db) == expected)
            << batch << " frames, " << (e == &exec() ? "one thread" : "two threads");
      }
  }
}

/// With one outer iteration a loop is an open receiver, and with more its first iteration is.
TEST(link_chain, one_outer_iteration_is_the_open_loop) {
  const auto exec = open_reference();
  const std::size_t frames = 20;
  int loops = 0;
  for (const curve_config& c : every_link().curves) {
    if (!c.link.receiver) continue;
    SCOPED_TRACE(c.label);
    link_config several = c.link;
    several.receiver->interleaver = receiver_config{}.interleaver;
    link_config one = several, open = several;
    one.receiver->outer = 1;
    open.receiver.reset();
    const auto counts_of = [&](const link_config& link) {
      return link_chain(link, *exec, frames).run(3, frames, c.sweep_db.at(0));
    };
    const frame_counts expected = counts_of(open);
    EXPECT_TRUE(some_frames_fail(expected));
    EXPECT_TRUE(expected.outer_bit_errors.empty());
    frame_counts counts = counts_of(one);
    EXPECT_EQ(counts.outer_bit_errors, std::vector(1, expected.bit_errors));
    if (!expected.codeword_errors.empty()) {
      EXPECT_EQ(counts.outer_codeword_errors, std::vector(1, expected.codeword_errors));
    }
    const std::vector<std::vector<std::uint8_t>> outer_erased = counts.outer_erased;
    counts.outer_bit_errors.clear(), counts.outer_erased.clear(), counts.outer_codeword_errors.clear();
    EXPECT_TRUE(counts == expected);
    if (expected.transmissions.empty()) {
      const frame_counts loop = counts_of(several);
      EXPECT_EQ(loop.outer_bit_errors.at(0), expected.bit_errors);
      EXPECT_EQ(loop.outer_erased.at(0), outer_erased.at(0));
      if (!expected.codeword_errors.empty()) {
        EXPECT_EQ(loop.outer_codeword_errors.at(0), expected.codeword_errors);
      }
      EXPECT_EQ(loop.bit_errors, loop.outer_bit_errors.back());
    }
    loops++;
  }
  EXPECT_GT(loops, 10);
}

/// All constellations, channels and demappers; frames that fill no whole symbols.
TEST_P(link_chain_on, makes_no_errors_with_any_constellation_without_noise) {
  for (const int qam : {2, 4, 16, 64, 256, 1024, 4096})
    for (const air_config& channel : {air_config(awgn_config{}), air_config(rayleigh_config{}),
                                      air_config(rayleigh_config{fading_type::block})})
      for (const bool coded : {false, true})
        for (const demap_algorithm demapper : {demap_algorithm::max_log, demap_algorithm::exact}) {
          link_config c = coded ? turbo_link(104) : uncoded_link(101);
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

TEST_P(link_chain_on, wimax_ldpc_fails_as_often_as_it_should) {
  // Layered normalised min-sum with 0.75 and 20 iterations, BPSK, Eb/N0 = 1.6 dB: 1.8% of the frames.
  link_config c = ldpc_link("wimax-ldpc", 2304, "1/2");
  testing::ldpc_decoder_in(c.code).iterations = 20;
  link_chain chain(c, exec());
  const std::size_t frames = small_scale() ? 400 : 3000;
  std::size_t failed = 0;
  for (std::size_t done = 0; done < frames;) {
    const std::size_t count = std::min(chain.max_batch(), frames - done);
    for (const std::int32_t errors : chain.run(done, count, 1.6).bit_errors) failed += errors != 0;
    done += count;
  }
  const double expected = 0.018 * static_cast<double>(frames);
  EXPECT_NEAR(static_cast<double>(failed), expected, 4 * std::sqrt(expected));
}

TEST_P(link_chain_on, of_a_sphere_search_counts_the_errors_of_an_exhaustive_one) {
  const scenario s = load_scenario(std::string(WARPBAND_SOURCE_DIR) + "/curves/sphere_4x4_16qam.toml");
  const auto counts_of = [&](const std::string& label) {
    for (const curve_config& c : s.curves)
      if (c.label == label) {
        link_chain chain(c.link, exec());
        return chain.run(0, small_scale() ? 4 : 30, 12);
      }
    throw std::invalid_argument(label);
  };
  const frame_counts exhaustive = counts_of("ML, no code"), tree = counts_of("sphere, hard output, no code");
  EXPECT_GT(total(exhaustive.bit_errors), 0);
  EXPECT_EQ(tree.bit_errors, exhaustive.bit_errors);
  // Soft output: which frames fail. How many bits a decoder leaves wrong in them hangs on the last digits.
  const auto fails = [](const frame_counts& counts) {
    std::vector<bool> frames;
    for (const std::int32_t errors : counts.bit_errors) frames.push_back(errors != 0);
    return frames;
  };
  const std::vector<bool> expected = fails(counts_of("ML"));
  EXPECT_GT(std::count(expected.begin(), expected.end(), true), 0);
  EXPECT_EQ(fails(counts_of("sphere")), expected);
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
