// Stop rules, and counts that depend on nothing but the scenario.
#include <gtest/gtest.h>

#include <cmath>

#include <tests/link.hpp>
#include <tests/on_backends.hpp>
#include <warpband/link/chain.hpp>
#include <warpband/link/sweep.hpp>

namespace wb {
namespace sweep_test {

using testing::expect_same;
using testing::open_reference;
using testing::open_scalar;

link_config small_link() {
  link_config c;
  testing::k_in(c.code) = 256;
  testing::turbo_decoder_in(c.code).iterations = 4;
  testing::crc_in(c.code) = crc24a;
  testing::turbo_decoder_in(c.code).early_stop = turbo_early_stop::crc;
  return c;
}
constexpr double ebn0_db = 0.8;

class sweep_on : public ::testing::TestWithParam<testing::backend> {};
WB_ON_ALL_BACKENDS(sweep_on);

TEST_P(sweep_on, counts_do_not_depend_on_backend_threads_or_batch) {
  WB_SKIP_WITHOUT_DEVICE(GetParam());
  const auto reference = open_reference();
  const stop_rule stop{.frame_errors = 25, .max_frames = 100'000};
  link_chain chain(small_link(), *reference, 1);
  const point_result expected = run_point(chain, ebn0_db, stop);
  EXPECT_EQ(expected.stopped_by, stop_reason::frame_errors);
  EXPECT_EQ(expected.counts.frame_errors, 25u);
  for (const int threads : {1, 2})
    for (const std::size_t batch : {std::size_t{7}, std::size_t{64}, SIZE_MAX}) {
      SCOPED_TRACE(std::to_string(threads) + " threads, batch " + std::to_string(batch));
      const auto exec = GetParam().open(threads);
      link_chain other(small_link(), *exec, batch);
      const point_result r = run_point(other, ebn0_db, stop);
      expect_same(r.counts, expected.counts);
      EXPECT_EQ(r.stopped_by, expected.stopped_by);
    }
}

TEST(sweep, stops_at_the_exact_frame) {
  const auto exec = open_scalar();
  link_chain chain(small_link(), *exec);
  const frame_counts counts = chain.run(0, 200, ebn0_db);
  for (const std::uint64_t target : {1, 2, 10}) {
    point_counts expected;
    while (expected.frame_errors < target) {
      ASSERT_LT(expected.frames, 200u);
      const std::size_t i = expected.frames++;
      expected.bit_errors += static_cast<std::uint64_t>(counts.bit_errors[i]);
      expected.frame_errors += counts.bit_errors[i] > 0;
      expected.iterations += static_cast<std::uint64_t>(counts.iterations[i]);
    }
    const point_result r = run_point(chain, ebn0_db, {.frame_errors = target, .max_frames = 200});
    expect_same(r.counts, expected);
    EXPECT_GE(r.counts.frames_run, r.counts.frames);
  }
}

TEST(sweep, add_frames_stops_in_the_middle) {
  frame_counts batch{{0, 3, 0, 1, 0, 2}, {1, 4, 1, 4, 1, 4}, {0, 1, 0, 0, 0, 0}};
  point_counts c;
  EXPECT_TRUE(add_frames(c, batch, {.frame_errors = 2, .max_frames = 100}));
  expect_same(c, {.frames = 4, .bit_errors = 4, .frame_errors = 2, .erased_frames = 1, .iterations = 10});
  c = {};
  EXPECT_TRUE(add_frames(c, batch, {.frame_errors = 0, .max_frames = 5}));
  expect_same(c, {.frames = 5, .bit_errors = 4, .frame_errors = 2, .erased_frames = 1, .iterations = 11});
  c = {};
  EXPECT_FALSE(add_frames(c, batch, {.frame_errors = 4, .max_frames = 100}));
  EXPECT_EQ(c.frames, 6u);
  EXPECT_TRUE(add_frames(c, batch, {.frame_errors = 4, .max_frames = 100}));
  EXPECT_EQ(c.frames, 8u);
}

TEST(sweep, an_erased_word_is_an_error_though_its_zeros_be_right) {
  frame_counts batch;
  batch.bit_errors = {0, 0, 3, 3};
  batch.iterations = {1, 0, 0, 1};
  batch.erased = {0, 1, 1, 0};
  point_counts c;
  add_frames(c, batch, {.frame_errors = 0, .max_frames = 4});
  EXPECT_EQ(c.frame_errors, 3u);
  EXPECT_EQ(c.erased_frames, 2u);
}

TEST(sweep, erased_uses_add_up_frame_by_frame) {
  frame_counts batch{{0, 3, 0, 1}, {1, 1, 1, 1}, {0, 0, 0, 0}, {2, 0, 5, 7}};
  point_counts c;
  EXPECT_TRUE(add_frames(c, batch, {.frame_errors = 0, .max_frames = 3}));
  EXPECT_EQ(c.erased_uses, 7u);
}

TEST(sweep, of_several_antennas_over_the_snr_goes_on_from_any_state) {
  const auto exec = open_scalar();
  link_config link = small_link();
  link.qam = 4;
  link.channel = rayleigh_config{};
  link.antennas = detector_config{.streams = 2, .rx_antennas = 2, .llr_clip = {}};
  link.axis = snr_axis::snr_db;
  const curve_config curve{"c", link, {1, 4}, {.frame_errors = 8, .max_frames = 60}};
  const curve_result whole = run_curve(curve, *exec);
  ASSERT_EQ(whole.points.size(), 2u);
  const point_result& p = whole.points[1];
  EXPECT_EQ(p.sweep_db, 4);
  EXPECT_EQ(p.snr_db, 4);
  EXPECT_NEAR(p.ebn0_db, 4 - 10 * std::log10(2 * 256.0 / 780), 1e-12);
  EXPECT_GT(whole.points[0].counts.frame_errors, 0u);
  curve_result cut{"c", curve, {}, {}, false};
  std::size_t cuts = 0;
  const curve_observer stop_each{.progress =
                                     [&](const curve_result&, std::size_t, const point_counts&) {
                                       cuts++;
                                       return false;
                                     },
                                 .finished = {}};
  do {
    run_curve(cut, *exec, stop_each);
  } while (cut.cancelled);
  EXPECT_GE(cuts, 2u);
  for (std::size_t i = 0; i < 2; i++) expect_same(cut.points.at(i).counts, whole.points[i].counts);
  link_chain narrow(link, *exec, 3);
  expect_same(run_point(narrow, 4, curve.stop).counts, p.counts);
}

TEST(sweep, goes_on_from_any_state) {
  const auto exec = open_scalar();
  link_chain chain(small_link(), *exec);
  const stop_rule stop{.frame_errors = 30, .max_frames = 100'000};
  const point_result whole = run_point(chain, ebn0_db, stop);
  point_counts state;
  for (const std::uint64_t frames : {13u, 14u, 40u})
    state = run_point(chain, ebn0_db, {.frame_errors = 0, .max_frames = frames}, {}, state).counts;
  EXPECT_EQ(state.frames, 40u);
  const point_result rest = run_point(chain, ebn0_db, stop, {}, state);
  expect_same(rest.counts, whole.counts);
  // One that has enough does nothing.
  const point_result again = run_point(chain, ebn0_db, stop, {}, whole.counts);
  expect_same(again.counts, whole.counts);
  EXPECT_EQ(again.stopped_by, stop_reason::frame_errors);
}

TEST(sweep, rules_of_frames_time_and_cancelling) {
  const auto exec = open_scalar();
  link_chain chain(small_link(), *exec, 8);
  const point_result frames = run_point(chain, ebn0_db, {.frame_errors = 0, .max_frames = 21});
  EXPECT_EQ(frames.stopped_by, stop_reason::max_frames);
  EXPECT_EQ(frames.counts.frames, 21u);
  const point_result time =
      run_point(chain, 20, {.frame_errors = 1, .max_frames = UINT64_MAX, .max_seconds = 0.05});
  EXPECT_EQ(time.stopped_by, stop_reason::time);
  EXPECT_GE(time.counts.seconds, 0.05);
  EXPECT_EQ(time.counts.frame_errors, 0u);
  int calls = 0;
  const auto third = [&](const point_counts&) { return ++calls < 3; };
  const point_result cancelled = run_point(chain, 20, {.frame_errors = 1, .max_frames = UINT64_MAX}, third);
  EXPECT_EQ(cancelled.stopped_by, stop_reason::cancelled);
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(testing::blamed([&] { run_point(chain, 0, {.max_frames = 0}); }), "max_frames");
}

TEST(sweep, figures_of_a_point) {
  point_result p;
  p.bits_per_frame = 1000;
  p.coded = true;
  p.counts = {.frames = 50,
              .bit_errors = 100,
              .frame_errors = 5,
              .erased_frames = 0,
              .iterations = 150,
              .frames_run = 80,
              .seconds = 0.01};
  EXPECT_EQ(p.bits(), 50'000u);
  EXPECT_DOUBLE_EQ(p.ber(), 0.002);
  EXPECT_DOUBLE_EQ(p.fer(), 0.1);
  EXPECT_DOUBLE_EQ(*p.mean_iterations(), 3);
  EXPECT_DOUBLE_EQ(p.mbps(), 8);  // what was thrown away was computed too
  EXPECT_FALSE(p.ber_interval());
  EXPECT_NEAR(p.fer_interval().low, 0.0333, 1e-4);
  EXPECT_NEAR(p.fer_interval().high, 0.2181, 1e-4);
  const point_result nothing;
  EXPECT_EQ(nothing.ber(), 0);
  EXPECT_EQ(nothing.mbps(), 0);
}

TEST(sweep, an_interval_of_the_ber_only_where_bits_are_independent) {
  const auto exec = open_scalar();
  const stop_rule stop{.frame_errors = 0, .max_frames = 4};
  link_config c;
  c.code = code_config("none");
  testing::k_in(c.code) = 100;
  EXPECT_TRUE(run_point(*std::make_unique<link_chain>(c, *exec), 0, stop).ber_interval());
  c.channel = rayleigh_config{};
  EXPECT_TRUE(run_point(*std::make_unique<link_chain>(c, *exec), 0, stop).ber_interval());
  c.channel = rayleigh_config{fading_type::block};
  EXPECT_FALSE(run_point(*std::make_unique<link_chain>(c, *exec), 0, stop).ber_interval());
  c.channel = rayleigh_config{};
  c.qam = 16;
  EXPECT_FALSE(run_point(*std::make_unique<link_chain>(c, *exec), 0, stop).ber_interval());
}

TEST(sweep, a_curve_with_its_observer) {
  const auto exec = open_scalar();
  curve_config curve{"c", small_link(), {-2, 0.8, 20}, {.frame_errors = 5, .max_frames = 500}};
  std::vector<double> finished;
  std::size_t batches = 0;
  const curve_observer observer{
      .progress =
          [&](const curve_result& so_far, std::size_t index, const point_counts& counts) {
            EXPECT_EQ(testing::k_in(so_far.config.link.code), 256);
            EXPECT_EQ(index, finished.size());
            EXPECT_EQ(so_far.points.size(), finished.size());
            EXPECT_EQ(so_far.counts_at(curve.sweep_db[index]), counts);
            batches++;
            return true;
          },
      .finished =
          [&](const curve_result& so_far, const point_result& p) {
            EXPECT_EQ(so_far.points.back().ebn0_db, p.ebn0_db);
            EXPECT_TRUE(so_far.unfinished.empty());
            finished.push_back(p.ebn0_db);
          }};
  const curve_result r = run_curve(curve, *exec, observer);
  EXPECT_EQ(finished, curve.sweep_db);
  EXPECT_GE(batches, 3u);
  EXPECT_FALSE(r.cancelled);
  ASSERT_EQ(r.points.size(), 3u);
  EXPECT_EQ(r.points[2].counts.frames, 500u);
  EXPECT_GT(testing::turbo_decoder_in(r.config.link.code).windows, 0);  // as chosen

  // A point does not depend on its neighbours.
  curve.sweep_db = {0.8};
  expect_same(run_curve(curve, *exec).points.at(0).counts, r.points[1].counts);
}

TEST(sweep, a_curve_stops_below_an_error_rate_or_when_cancelled) {
  const auto exec = open_scalar();
  curve_config curve{
      "c", small_link(), {-2, 20, 30}, {.frame_errors = 5, .max_frames = 101, .below_fer = 1e-2}};
  const curve_result r = run_curve(curve, *exec);
  EXPECT_EQ(r.points.size(), 2u);
  EXPECT_FALSE(r.cancelled);
  const curve_observer observer{
      .progress = [](const curve_result&, std::size_t index, const point_counts&) { return index == 0; },
      .finished = {}};
  curve.stop.max_frames = 100'000;
  const curve_result cut = run_curve(curve, *exec, observer);
  EXPECT_TRUE(cut.cancelled);
  EXPECT_EQ(cut.points.size(), 1u);
  ASSERT_EQ(cut.unfinished.size(), 1u);
  EXPECT_EQ(cut.unfinished[0].sweep_db, 20);
  EXPECT_GT(cut.unfinished[0].counts.frames, 0u);
}

TEST(sweep, every_frame_is_a_state_to_go_on_from) {
  const auto exec = open_scalar();
  link_config link = small_link();
  testing::k_in(link.code) = 40;
  link_chain chain(link, *exec), narrow(link, *exec, 5);
  const stop_rule stop{.frame_errors = 12, .max_frames = 150};
  const point_result whole = run_point(chain, ebn0_db, stop);
  ASSERT_GT(whole.counts.frames, 20u);
  const frame_counts counts = chain.run(0, 150, ebn0_db);
  point_counts state;
  for (std::size_t frame = 0; frame < whole.counts.frames; frame++) {
    expect_same(run_point(frame % 2 == 0 ? chain : narrow, ebn0_db, stop, {}, state).counts, whole.counts);
    const frame_counts one{{counts.bit_errors[frame]}, {counts.iterations[frame]}, {counts.erased[frame]}};
    add_frames(state, one, {.frame_errors = 0});
  }
  expect_same(state, whole.counts);
  EXPECT_TRUE(has_enough(state, stop));
}

TEST(sweep, time_of_earlier_runs_counts) {
  const auto exec = open_scalar();
  link_chain chain(small_link(), *exec);
  const stop_rule stop{.frame_errors = 0, .max_frames = 1000, .max_seconds = 3};
  const point_counts held{.frames = 10, .frames_run = 10, .seconds = 3};
  const point_result r = run_point(chain, ebn0_db, stop, {}, held);
  EXPECT_EQ(r.counts, held);
  EXPECT_EQ(r.stopped_by, stop_reason::time);
  const point_result more = run_point(chain, ebn0_db, {.frame_errors = 0, .max_frames = 12}, {}, held);
  EXPECT_EQ(more.counts.frames, 12u);
  EXPECT_GT(more.counts.seconds, 3);
}

/// A copy of the curve's state after each batch and point.
std::vector<curve_result> states_of(const curve_config& curve, executor& exec) {
  std::vector<curve_result> states;
  const curve_observer observer{
      .progress =
          [&](const curve_result& r, std::size_t, const point_counts&) {
            states.push_back(r);
            return true;
          },
      .finished = [&](const curve_result& r, const point_result&) { states.push_back(r); }};
  run_curve(curve, exec, observer);
  return states;
}
void expect_same(const curve_result& a, const curve_result& b) {
  EXPECT_FALSE(a.cancelled);
  EXPECT_TRUE(a.unfinished.empty());
  ASSERT_EQ(a.points.size(), b.points.size());
  for (std::size_t i = 0; i < a.points.size(); i++) {
    EXPECT_EQ(a.points[i].ebn0_db, b.points[i].ebn0_db);
    EXPECT_EQ(a.points[i].esn0_db, b.points[i].esn0_db);
    EXPECT_EQ(a.points[i].stopped_by, b.points[i].stopped_by);
    EXPECT_EQ(a.points[i].coded, b.points[i].coded);
    expect_same(a.points[i].counts, b.points[i].counts);
  }
}

TEST(sweep, a_curve_goes_on_from_any_state_to_the_same_end_and_further) {
  const auto exec = open_scalar();
  link_config link = small_link();
  testing::k_in(link.code) = 64;
  const curve_config curve{
      "c", link, {-2, 0.8, 1, 20}, {.frame_errors = 12, .max_frames = 300, .below_fer = 1e-2}};
  const curve_result whole = run_curve(curve, *exec);
  EXPECT_EQ(whole.points.size(), 4u);
  curve_config further = curve;
  further.stop.frame_errors = 20;
  further.stop.max_frames = 400;
  const curve_result whole_further = run_curve(further, *exec);
  // To more, with points between.
  curve_config denser = further;
  denser.sweep_db = {-2, 0, 0.8, 0.9, 1, 20, 30};
  const curve_result whole_denser = run_curve(denser, *exec);
  EXPECT_EQ(whole_denser.points.size(), 6u);  // below_fer leaves out the last
  const std::vector<curve_result> states = states_of(curve, *exec);
  EXPECT_GT(states.size(), 8u);
  for (std::size_t i = 0; i < states.size(); i++) {  // by turns
    curve_result state = states[i];
    state.config = i % 3 == 0 ? curve : i % 3 == 1 ? further : denser;
    run_curve(state, *exec);
    expect_same(state, i % 3 == 0 ? whole : i % 3 == 1 ? whole_further : whole_denser);
  }
  // Cut again and again, while it goes to more.
  std::size_t cuts = 0;
  curve_result patched = whole;
  patched.config = denser;
  do {
    run_curve(patched, *exec,
              {.progress =
                   [&](const curve_result&, std::size_t, const point_counts&) {
                     cuts++;
                     return false;
                   },
               .finished = {}});
  } while (patched.cancelled);
  EXPECT_GT(cuts, 5u);
  expect_same(patched, whole_denser);
}

TEST(sweep, nothing_held_is_thrown_away) {
  const auto exec = open_scalar();
  curve_config curve{"c", small_link(), {-2, 0.8, 20}, {.frame_errors = 12, .max_frames = 300}};
  const curve_result whole = run_curve(curve, *exec);
  // A rule that asks for less, and would leave points out.
  curve_result less = whole;
  less.config.stop = {.frame_errors = 3, .max_frames = 40, .below_fer = 1};
  std::size_t rows = 0;
  run_curve(less, *exec,
            {.progress =
                 [](const curve_result&, std::size_t, const point_counts&) {
                   ADD_FAILURE() << "nothing is to be run";
                   return true;
                 },
             .finished = [&](const curve_result&, const point_result&) { rows++; }});
  EXPECT_EQ(rows, 3u);
  for (std::size_t i = 0; i < 3; i++) EXPECT_EQ(less.points[i].counts, whole.points[i].counts);
  // A sweep without a point that is held.
  less.config.sweep_db = {-2, 20};
  EXPECT_EQ(testing::blamed([&] { run_curve(less, *exec); }), "points");
}

TEST(sweep, what_fails_leaves_the_state) {
  const auto exec = open_scalar();
  const curve_config curve{"c", small_link(), {-2, 0.8}, {.frame_errors = 12, .max_frames = 300}};
  curve_result r{"c", curve, {}, {}, false};
  std::size_t batches = 0;
  const curve_observer observer{.progress =
                                    [&](const curve_result&, std::size_t index, const point_counts&) {
                                      if (index == 1 && ++batches == 2) throw std::runtime_error("disk full");
                                      return true;
                                    },
                                .finished = {}};
  EXPECT_THROW(run_curve(r, *exec, observer), std::runtime_error);
  EXPECT_EQ(r.points.size(), 1u);
  EXPECT_EQ(r.unfinished.size(), 1u);
  run_curve(r, *exec);
  expect_same(r, run_curve(curve, *exec));
}

}  // namespace sweep_test
}  // namespace wb
