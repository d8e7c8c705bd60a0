// Frames whose times are made up: what is told of them is known.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include <warpband/stream/trace.hpp>

namespace {

using namespace std::chrono_literals;
using wb::frame_place;

double at(const wb::place_times& places, frame_place place) {
  return places[static_cast<std::size_t>(place)];
}
double us(wb::frame_clock::duration time) { return std::chrono::duration<double, std::micro>(time).count(); }
double sum(const wb::place_times& places) { return std::accumulate(places.begin(), places.end(), 0.0); }

/// A frame every millisecond: pushed after 2 us, started after 3, submitted after 10, its copy begins 4 us
/// after it started, takes 100 us, then 30 of kernels and 20 of copy out; seen after 2, delivered after 1.
/// The device's clock begins elsewhere and gains 40 us a second.
wb::frame_trace frame(std::uint64_t n, std::chrono::microseconds unseen = 2us, double slow = 1) {
  wb::frame_trace f;
  f.sequence = n;
  f.due = wb::frame_clock::time_point{} + 5s + 1ms * n;
  f.pushed = f.due + 2us;
  f.started = f.pushed + 3us;
  f.submitted = f.started + 10us;
  const double begun = us(f.started.time_since_epoch()) + 4;
  const auto device = [](double us) { return us * (1 + 40e-6) + 123456; };
  f.on_device = {device(begun), device(begun + 100 * slow), device(begun + 100 * slow + 30),
                 device(begun + 100 * slow + 50)};
  f.seen = f.started + std::chrono::microseconds(std::lround(4 + 100 * slow + 50)) + unseen;
  f.delivered = f.seen + 1us;
  return f;
}

TEST(stream_trace, places_add_up_and_clocks_agree) {
  std::vector<wb::frame_trace> frames;
  for (std::uint64_t n = 0; n < 2000; n++)
    frames.push_back(n == 1000 ? frame(n, 500us) : n == 1500 ? frame(n, 2us, 3) : frame(n));
  const auto places = wb::places_of(frames);
  for (std::size_t n = 0; n < frames.size(); n++) {
    EXPECT_NEAR(sum(places[n]), us(frames[n].delivered - frames[n].due), 1e-6);
    EXPECT_NEAR(at(places[n], frame_place::pushing), 2, 1e-6);
    EXPECT_NEAR(at(places[n], frame_place::queueing), 3, 1e-6);
    EXPECT_NEAR(at(places[n], frame_place::submitting), 10, 1e-6);
    EXPECT_EQ(at(places[n], frame_place::waiting), 0);  // the copy began before all was submitted
    // From there to the end of the copy, 94 us, and 2 us in which nobody sees any frame, to within the drift.
    EXPECT_NEAR(at(places[n], frame_place::uploading), n == 1500 ? 296 : 96, 2.5) << n;
    EXPECT_NEAR(at(places[n], frame_place::computing), 30, 0.1);
    EXPECT_NEAR(at(places[n], frame_place::downloading), 20, 2.5);
    EXPECT_NEAR(at(places[n], frame_place::noticing), n == 1000 ? 498 : 0, 2.5) << n;
    EXPECT_NEAR(at(places[n], frame_place::delivering), 1, 1e-6);
  }
}

TEST(stream_trace, what_the_device_does_not_tell_is_not_made_up) {
  wb::frame_trace graph = frame(0), cpu = frame(1);
  graph.on_device.uploaded = graph.on_device.computed = wb::lane_times::no_time;
  cpu.on_device = {};
  const auto places = wb::places_of({graph, cpu});
  EXPECT_EQ(at(places[0], frame_place::uploading), 0);
  EXPECT_NEAR(at(places[0], frame_place::computing), 146, 1);  // all of it, but for what was submitting
  EXPECT_EQ(at(places[0], frame_place::downloading), 0);
  for (const auto p :
       {frame_place::waiting, frame_place::uploading, frame_place::computing, frame_place::downloading})
    EXPECT_EQ(at(places[1], p), 0);
  EXPECT_NEAR(at(places[1], frame_place::noticing), 146, 1e-6);
  EXPECT_TRUE(wb::places_of({}).empty());
}

TEST(stream_trace, the_tail_is_told_place_by_place) {
  std::vector<wb::place_times> frames(1000, wb::place_times{1, 2, 3, 0, 100, 30, 20, 1, 1});
  const auto slow = [&](std::size_t n, frame_place place, double us) {
    frames[n][static_cast<std::size_t>(place)] += us;
  };
  for (const std::size_t n : {100U, 101U, 102U, 700U}) slow(n, frame_place::uploading, 300);
  slow(900, frame_place::noticing, 400);
  slow(5, frame_place::queueing, 50);
  const wb::frame_tail tail = wb::tail_of(frames, 99.5);
  EXPECT_EQ(tail.beyond_us, 208);  // the 995th of 1000: that of frame 5
  EXPECT_EQ(tail.frames, 5U);
  EXPECT_EQ(tail.runs, 3U);
  EXPECT_EQ(tail.longest_run, 3U);
  EXPECT_EQ(at(tail.median_us, frame_place::uploading), 100);
  EXPECT_NEAR(at(tail.excess_us, frame_place::uploading), 4 * 300 / 5., 1e-9);
  EXPECT_NEAR(at(tail.excess_us, frame_place::noticing), 400 / 5., 1e-9);
  EXPECT_EQ(at(tail.excess_us, frame_place::queueing), 0);
  EXPECT_EQ(wb::tail_of({}, 99.9).frames, 0U);
}

TEST(stream_trace, every_place_has_a_name) {
  for (std::size_t p = 0; p < wb::frame_places; p++)
    EXPECT_NE(std::string(wb::name_of(static_cast<frame_place>(p))), "?");
  EXPECT_STREQ(wb::name_of(frame_place::uploading), "uploading");
}

}  // namespace
