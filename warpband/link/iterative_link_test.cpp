// Links whose detector and decoder work in a loop: [receiver] of scenarios.
#include <gtest/gtest.h>

#include <algorithm>

#include <tests/codes.hpp>
#include <tests/on_backends.hpp>
#include <tests/renew.hpp>
#include <tests/scenario.hpp>
#include <warpband/io/replacement.hpp>
#include <warpband/link/chain.hpp>
#include <warpband/link/result.hpp>
#include <warpband/link/sweep.hpp>

namespace wb {
namespace iterative_link_test {

using testing::blamed;
using testing::only_curve;
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

class iterative_link_on : public ::testing::TestWithParam<testing::backend> {};
WB_ON_ALL_BACKENDS(iterative_link_on);

TEST_P(iterative_link_on, counts_do_not_depend_on_backend_threads_or_batch) {
  WB_SKIP_WITHOUT_DEVICE(GetParam());
  const auto reference = open_reference();
  const stop_rule stop{.frame_errors = 12, .max_frames = 300};
  link_config config = looped(3);
  config.receiver->interleaver = receiver_interleaver::random;
  link_chain chain(config, *reference, 1);
  const point_counts expected = run_point(chain, ebn0_db, stop).counts;
  for (const int threads : {1, 2})
    for (const std::size_t batch : {std::size_t{5}, SIZE_MAX}) {
      SCOPED_TRACE(std::to_string(threads) + " threads, batch " + std::to_string(batch));
      const auto exec = GetParam().open(threads);
      link_chain other(config, *exec, batch);
      point_counts counts = run_point(other, ebn0_db, stop).counts;
      counts.seconds = expected.seconds, counts.frames_run = expected.frames_run;
      EXPECT_EQ(counts, expected);
    }
}

TEST(iterative_link, one_outer_iteration_is_the_open_loop) {
  const auto exec = open_reference();
  for (const std::string type : {"nway", "pic", "zf"}) {
    link_config open = looped(1, type);
    open.receiver.reset();
    link_chain a(open, *exec, 40), b(looped(1, type), *exec, 40);
    const frame_counts x = a.run(3, 40, ebn0_db), y = b.run(3, 40, ebn0_db);
    EXPECT_EQ(x.bit_errors, y.bit_errors) << type;
    EXPECT_EQ(x.erased, y.erased) << type;
    EXPECT_EQ(x.iterations, y.iterations) << type;
    EXPECT_EQ(x.erased_uses, y.erased_uses) << type;
    EXPECT_TRUE(x.outer_bit_errors.empty());
    EXPECT_EQ(y.outer_bit_errors, std::vector<std::vector<std::int32_t>>{x.bit_errors}) << type;
  }
}

TEST_P(iterative_link_on, space_time_counts_do_not_depend_on_backend_threads_or_batch) {
  WB_SKIP_WITHOUT_DEVICE(GetParam());
  const auto reference = open_reference();
  const stop_rule stop{.frame_errors = 8, .max_frames = 60};
  for (const auto& code :
       {space_time_code::alamouti(), space_time_code::silver(), space_time_code::golden()}) {
    link_config config = looped_space_time(3, code);
    config.channel = rayleigh_config{fading_type::block};
    link_chain chain(config, *reference, 7);
    const point_counts expected = run_point(chain, 7, stop).counts;
    const auto exec = GetParam().open(2);
    link_chain other(config, *exec, SIZE_MAX);
    point_counts counts = run_point(other, 7, stop).counts;
    counts.seconds = expected.seconds, counts.frames_run = expected.frames_run;
    EXPECT_EQ(counts, expected) << name_of(code);
  }
}

TEST(iterative_link, one_outer_iteration_of_a_space_time_code_is_the_open_loop) {
  const auto exec = open_reference();
  for (const auto& code :
       {space_time_code::alamouti(), space_time_code::silver(), space_time_code::golden()}) {
    link_config open = looped_space_time(1, code);
    open.receiver.reset();
    link_chain a(open, *exec, 30), b(looped_space_time(1, code), *exec, 30);
    const frame_counts x = a.run(3, 30, 5), y = b.run(3, 30, 5);
    EXPECT_EQ(x.bit_errors, y.bit_errors) << name_of(code);
    EXPECT_EQ(x.erased, y.erased) << name_of(code);
    EXPECT_EQ(x.iterations, y.iterations) << name_of(code);
    EXPECT_EQ(x.erased_uses, y.erased_uses) << name_of(code);
    link_chain loop(looped_space_time(3, code), *exec, 30);
    const frame_counts& z = loop.run(3, 30, 5);
    EXPECT_EQ(z.outer_bit_errors[0], x.bit_errors) << name_of(code);
  }
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

TEST(iterative_link, a_scenario_has_its_receiver) {
  const curve_config c = only_curve(scenario_text);
  ASSERT_TRUE(c.link.receiver.has_value());
  EXPECT_EQ(c.link.receiver->outer, 2);
  EXPECT_EQ(c.link.receiver->interleaver, receiver_interleaver::random);
  EXPECT_FALSE(only_curve(testing::antennas).link.receiver.has_value());
  EXPECT_REFUSED(testing::antennas + "receiver.outer = 2\n", "receiver.outer");
  EXPECT_REFUSED(testing::sweep + "receiver.outer = 2\n", "receiver.outer");
  EXPECT_REFUSED(scenario_text + "inner = 2000\n", "receiver.inner = 2000");
  EXPECT_REFUSED(testing::antennas + "receiver.interleaver_seed = 3\n", "receiver.interleaver_seed");
}

TEST(iterative_link, a_scenario_of_a_space_time_code_has_its_receiver) {
  const std::string text = R"(
code = { type = "wimax-ldpc", n = 576 }
modem.modulation = "16qam"
channel.type = "rayleigh"
stbc.type = "golden"
mimo.rx_antennas = 2
sweep.ebn0_db = [4.0]
receiver.outer = 3
)";
  const curve_config c = only_curve(text);
  ASSERT_TRUE(c.link.receiver.has_value());
  EXPECT_EQ(c.link.receiver->outer, 3);
  EXPECT_REFUSED(text + "stbc.search = \"slicing\"\n", "receiver.outer");
}

TEST(iterative_link, a_result_comes_back_with_its_outer_iterations) {
  const auto exec = open_scalar();
  run_result r;
  r.source = parse_scenario(scenario_text, "name.toml");
  r.origin.machine = describe_machine(*exec);
  r.complete = true;
  const curve_config& c = r.source.curves.at(0);
  r.curves.push_back(run_curve(c, *exec));
  const testing::scratch_file at("outer");
  write_file(at.path(), result_json(r));
  const run_result read = load_result(at.path());
  EXPECT_EQ(result_json(read), result_json(r));
  EXPECT_EQ(read.curves.at(0).points.at(1).counts, r.curves.at(0).points.at(1).counts);
  std::string wrong = result_json(r);
  const std::size_t list = wrong.find("\"frame_errors\"", wrong.find("\"outer\": {"));
  wrong.replace(wrong.find('[', list), 1, "[1,");
  write_file(at.path(), wrong);
  EXPECT_THROW((void)load_result(at.path()), file_error);
}

}  // namespace iterative_link_test
}  // namespace wb
