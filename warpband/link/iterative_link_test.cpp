// Links whose detector and decoder work in a loop: [receiver] of scenarios.
#include <gtest/gtest.h>

#include <algorithm>

#include <tests/result.hpp>
#include <tests/scratch.hpp>
#include <warpband/link/chain.hpp>

namespace wb {
namespace iterative_link_test {

using testing::blamed;
using testing::open_reference;
using testing::open_scalar;

/// 2x2 16-QAM with a short LDPC code: `outer` iterations with a detector that takes priors.
link_config looped(int outer, const std::string& type = "nway") {
  link_config c;
  c.qam = 16;
  c.code = code_config("wimax-ldpc");
  testing::n_in(c.code) = 576;
  testing::ldpc_decoder_in(c.code).iterations = 5;
  c.channel = rayleigh_config{};
  detector_config detector;
  detector.type = type;
  detector.streams = detector.rx_antennas = 2;
  if (type == "nway") detector.edit<nway_settings>().ways = 1;
  c.antennas = detector;
  c.receiver = receiver_config{.outer = outer};
  return c;
}
constexpr double ebn0_db = 10;
/// The same over a space-time code.
link_config looped_space_time(int outer, const space_time_code& code = space_time_code::golden()) {
  link_config c = looped(outer);
  stbc_config space_time;
  space_time.code = code;
  c.antennas = space_time;
  return c;
}

TEST(iterative_link, a_loop_with_the_golden_code_wins_and_stays_finite_where_it_diverges) {
  const auto exec = open_reference();
  const stop_rule stop{.frame_errors = 0, .max_frames = 100};
  link_config config = looped_space_time(3);
  const auto fer = [&](float scaling) {
    config.receiver->scaling = scaling;
    link_chain chain(config, *exec);
    return run_point(chain, 6, stop);
  };
  const point_result loop = fer(1);
  EXPECT_LT(loop.outer_fer(3), loop.outer_fer(1));
  const point_result diverging = fer(2);
  EXPECT_EQ(diverging.counts.frames, 100U);
  EXPECT_EQ(diverging.counts.outer_bit_errors[0], loop.counts.outer_bit_errors[0]);
}

TEST(iterative_link, pic_and_ep_take_sixteen_streams) {
  const auto exec = open_reference();
  for (const std::string type : {"pic", "ep"}) {
    link_config config = looped(3, type);
    detector_config& detector = config.antennas.edit<detector_config>();
    detector.streams = detector.rx_antennas = 16;
    if (type == "ep") detector.edit<ep_settings>().iterations = 2;
    link_chain loop(config, *exec, 40);
    const frame_counts counts = loop.run(0, 40, 9);
    const auto wrong = [&](std::size_t j) {
      return std::count_if(counts.outer_bit_errors[j].begin(), counts.outer_bit_errors[j].end(),
                           [](std::int32_t e) { return e != 0; });
    };
    EXPECT_LT(wrong(2), wrong(0)) << type;
  }
}

TEST(iterative_link, errors_are_counted_after_every_outer_iteration) {
  const auto exec = open_reference();
  link_chain chain(looped(3), *exec), first(looped(1), *exec);
  const stop_rule stop{.frame_errors = 0, .max_frames = 200};
  const point_result p = run_point(chain, ebn0_db, stop), open = run_point(first, ebn0_db, stop);
  EXPECT_EQ(p.outer, 3);
  EXPECT_EQ(p.counts.outer_bit_errors[0], open.counts.bit_errors);
  EXPECT_EQ(p.counts.outer_frame_errors[0], open.counts.frame_errors);
  EXPECT_EQ(p.counts.outer_bit_errors[2], p.counts.bit_errors);
  EXPECT_EQ(p.counts.outer_frame_errors[2], p.counts.frame_errors);
  EXPECT_EQ(p.counts.outer_frame_errors[3], 0u);
  EXPECT_LT(p.outer_fer(2), p.outer_fer(1));
  EXPECT_LE(p.counts.iterations, p.counts.frames * 15);
  EXPECT_EQ(p.outer_fer(3), p.fer());
  EXPECT_EQ(p.outer_ber(3), p.ber());
  EXPECT_EQ(blamed([&] { (void)p.outer_fer(4); }), "n");
  EXPECT_EQ(blamed([&] { (void)p.outer_ber(0); }), "n");
}

TEST(iterative_link, blocks_of_a_delay_line_are_longer_than_frames) {
  const auto exec = open_reference();
  link_config config = looped(2);
  config.channel =
      tdl_config{.profile = {.taps = {{0, 0}, {300, -3}}}, .grid = {.subcarriers = 50, .symbols = 2}};
  link_chain chain(config, *exec, 30);
  EXPECT_GT(uses_per_frame(chain.config()) * 8, 576u);
  link_config open = config;
  open.receiver.reset();
  link_chain once(open, *exec, 30);
  const frame_counts& counts = chain.run(0, 30, 8);
  EXPECT_EQ(counts.outer_bit_errors[0], once.run(0, 30, 8).bit_errors);
}

TEST(iterative_link, without_noise_nothing_fails) {
  const auto exec = open_reference();
  for (const int outer : {1, 3}) {
    link_chain chain(looped(outer), *exec, 10);
    const frame_counts& counts = chain.run(0, 10, 60);
    EXPECT_EQ(counts.bit_errors, std::vector<std::int32_t>(10));
    EXPECT_EQ(counts.iterations, std::vector<std::int32_t>(10, 1));  // finished frames go no further
  }
}

TEST(iterative_link, what_cannot_be_looped_is_refused) {
  const auto with = [](auto change) {
    link_config c = looped(2);
    change(c);
    return blamed([&] { (void)completed(c); });
  };
  EXPECT_EQ(with([](link_config&) {}), "");
  EXPECT_EQ(with([](link_config& c) { c.antennas = looped(1, "zf").antennas; }), "outer");
  EXPECT_EQ(with([](link_config& c) { c.antennas = single_antenna{}; }), "outer");
  EXPECT_EQ(with([](link_config& c) { c.antennas = looped_space_time(2).antennas; }), "");
  EXPECT_EQ(with([](link_config& c) {
              stbc_config code;
              code.code = space_time_code::golden();
              code.search = golden_search::slicing;
              c.antennas = code;
            }),
            "outer");
  EXPECT_EQ(with([](link_config& c) { c.code = code_config("none"); }), "outer");
  EXPECT_EQ(with([](link_config& c) { c.receiver->outer = 17; }), "outer");
  EXPECT_EQ(with([](link_config& c) { c.receiver->scaling = 0; }), "scaling");
  EXPECT_EQ(with([](link_config& c) {
              c.code = code_config("conv");
              testing::k_in(c.code) = 100;
              testing::conv_in(c.code).algorithm = conv_algorithm::viterbi;
            }),
            "outer");
}

const std::string scenario_text = R"(
code = { type = "wimax-ldpc", n = 576 }
decoder.iterations = 5
modem.modulation = "16qam"
channel.type = "rayleigh"
mimo = { streams = 2, rx_antennas = 2 }
detector = { type = "nway", ways = 1 }
sweep.ebn0_db = [4.0, 6.0]
stop.max_frames = 20
[receiver]
outer = 2
interleaver = "random"
)";

TEST(iterative_link, a_result_comes_back_with_its_outer_iterations) {
  const run_result r = testing::ran(scenario_text, *open_scalar());
  const testing::scratch_folder folder;
  const std::string path = folder.path("outer");
  write_file(path, result_json(r));
  const run_result read = load_result(path);
  EXPECT_EQ(result_json(read), result_json(r));
  EXPECT_EQ(read.curves.at(0).points.at(1).counts, r.curves.at(0).points.at(1).counts);
  std::string wrong = result_json(r);
  const std::size_t list = wrong.find("\"frame_errors\"", wrong.find("\"outer\": {"));
  wrong.replace(wrong.find('[', list), 1, "[1,");
  write_file(path, wrong);
  EXPECT_THROW((void)load_result(path), file_error);
}

}  // namespace iterative_link_test
}  // namespace wb
