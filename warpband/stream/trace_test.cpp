// Frames whose times are made up: what is told of them is known.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <warpband/stream/trace.hpp>

namespace trace_test {

using namespace std::chrono_literals;
using wb::frame_place;

double at(const wb::place_times& places, frame_place place) {
  return places[static_cast<std::size_t>(place)];
}
double us(wb::frame_clock::duration time) { return std::chrono::duration<double, std::micro>(time).count(); }
double sum(const wb::place_times& places) { return std::accumulate(places.begin(), places.end(), 0.0); }

/// One due at `due`: pushed after 2 us, started after 3, submitted after 10, its copy begins 4 us after it
/// started, takes 100 us, then 30 of kernels and 20 of copy out; seen after 2, delivered after 1. The
/// device's clock begins elsewhere and gains 40 us a second.
wb::frame_times frame(std::uint64_t n, wb::frame_clock::duration due, std::chrono::microseconds unseen = 2us,
                      double slow = 1) {
  wb::frame_times f;
  f.sequence = n;
  f.due = wb::frame_clock::time_point{} + 5s + due;
  f.pushed = f.due + 2us;
  f.started = f.pushed + 3us;
  f.submitted = f.started + 10us;
  const double begun = us(f.started.time_since_epoch()) + 4;
  const auto device = [](double t) { return t * (1 + 40e-6) + 123456; };
  f.on_device = {device(begun), device(begun + 100 * slow), device(begun + 100 * slow + 30),
                 device(begun + 100 * slow + 50)};
  f.seen = f.started + std::chrono::microseconds(std::lround(4 + 100 * slow + 50)) + unseen;
  f.delivered = f.seen + 1us;
  return f;
}
/// As a pipeline does: the device is asked when the frame was delivered.
void pass(wb::frame_tracer& tracer, std::size_t slot, wb::frame_times f) {
  const wb::lane_times on_device = std::exchange(f.on_device, {});
  const bool tells = on_device.downloaded != wb::lane_times::no_time;
  const auto delivered = std::exchange(f.delivered, {});
  tracer.ended(slot, f, tells);
  tracer.delivered(slot, delivered);
  if (tells) tracer.device_told(slot, f.sequence, on_device);
}
std::vector<wb::traced_frame> in_order(const wb::stream_trace& trace) {
  std::vector<wb::traced_frame> frames = trace.slowest;
  std::sort(frames.begin(), frames.end(), [](const wb::traced_frame& a, const wb::traced_frame& b) {
    return a.times.sequence < b.times.sequence;
  });
  return frames;
}

TEST(stream_trace, places_add_up_and_clocks_agree) {
  wb::frame_tracer tracer(2000, 4, 1);
  for (std::uint64_t n = 0; n < 2000; n++)
    pass(tracer, n % 4, n == 1000 ? frame(n, n * 1ms, 500us) : frame(n, n * 1ms, 2us, n == 1500 ? 3 : 1));
  const wb::stream_trace trace = tracer.result();
  EXPECT_EQ(trace.frames, 2000U);
  const std::vector<wb::traced_frame> frames = in_order(trace);
  ASSERT_EQ(frames.size(), 2000U);
  for (std::size_t n = 0; n < frames.size(); n++) {
    const wb::place_times& places = frames[n].places_us;
    EXPECT_NEAR(sum(places), us(frames[n].times.delivered - frames[n].times.due), 1e-3);
    EXPECT_NEAR(at(places, frame_place::pushing), 2, 1e-3);
    EXPECT_NEAR(at(places, frame_place::queueing), 3, 1e-3);
    EXPECT_NEAR(at(places, frame_place::submitting), 10, 1e-3);
    EXPECT_EQ(at(places, frame_place::waiting), 0);  // the copy began before all was submitted
    // From there to the end of the copy, 94 us, and 2 us in which nobody sees any frame, to within the drift.
    EXPECT_NEAR(at(places, frame_place::uploading), n == 1500 ? 296 : 96, 6) << n;
    EXPECT_NEAR(at(places, frame_place::computing), 30, 0.1);
    EXPECT_NEAR(at(places, frame_place::downloading), 20, 0.1);
    EXPECT_NEAR(at(places, frame_place::noticing), n == 1000 ? 498 : 0, 6) << n;
    EXPECT_NEAR(at(places, frame_place::delivering), 1, 1e-3);
  }
  EXPECT_NEAR(trace.places[static_cast<std::size_t>(frame_place::computing)].percentile_us(50), 30, 0.5);
  EXPECT_NEAR(trace.places[static_cast<std::size_t>(frame_place::noticing)].max_us(), 498, 6);
  EXPECT_EQ(trace.slowest[0].times.sequence, 1000U);
  EXPECT_EQ(trace.slowest[1].times.sequence, 1500U);
}

TEST(stream_trace, clocks_that_drifted_apart_in_a_pause_are_no_noticing) {
  for (const double drift : {40e-6, -40e-6}) {
    wb::frame_tracer tracer(100, 1, 2);
    for (std::uint64_t n = 0; n < 100; n++) {
      wb::frame_times f = frame(n, n * 5s);
      f.device = n % 2;
      const double lost = drift * us(f.due.time_since_epoch());
      for (double* t :
           {&f.on_device.upload_begun, &f.on_device.uploaded, &f.on_device.computed, &f.on_device.downloaded})
        *t += lost - 40e-6 * us(f.due.time_since_epoch());
      pass(tracer, 0, f);
    }
    for (const wb::traced_frame& f : tracer.result().slowest)
      EXPECT_NEAR(at(f.places_us, frame_place::noticing), 0, 1) << f.times.sequence;
  }
}

TEST(stream_trace, what_the_device_does_not_tell_is_not_made_up) {
  wb::frame_times graph = frame(0, 0s), cpu = frame(1, 1s), parts = frame(2, 2s);
  const double zero = us(graph.seen - graph.due) - graph.on_device.downloaded;
  graph.on_device.uploaded = graph.on_device.computed = wb::lane_times::no_time;
  cpu.on_device = {};
  cpu.submitted = cpu.started;
  const wb::place_times of_graph = wb::places_of(graph, zero), of_cpu = wb::places_of(cpu, 0);
  EXPECT_EQ(at(of_graph, frame_place::uploading), 0);
  EXPECT_NEAR(at(of_graph, frame_place::computing), 146, 1);  // all of it, but for what was submitting
  EXPECT_EQ(at(of_graph, frame_place::downloading), 0);
  EXPECT_EQ(at(of_graph, frame_place::noticing), 0);
  for (const auto p : {frame_place::submitting, frame_place::waiting, frame_place::uploading,
                       frame_place::downloading, frame_place::noticing})
    EXPECT_EQ(at(of_cpu, p), 0);
  EXPECT_NEAR(at(of_cpu, frame_place::computing), 156, 1e-6);
  // Its copies had to wait for those of another frame.
  const double later = us(parts.seen - parts.due) - parts.on_device.downloaded;
  parts.on_device.upload_begun += 36;
  EXPECT_NEAR(at(wb::places_of(parts, later), frame_place::waiting), 32, 1);
  EXPECT_NEAR(at(wb::places_of(parts, later), frame_place::uploading), 64, 1);
}

TEST(stream_trace, keeps_the_slowest_frames_whatever_their_order) {
  std::mt19937_64 rng(7);
  for (const int order : {0, 1, 2}) {  // random latencies, longer and longer ones, shorter and shorter ones
    wb::frame_tracer tracer(10, 1, 1);
    std::vector<double> latencies;
    for (std::uint64_t n = 0; n < 500; n++) {
      wb::frame_times f = frame(n, n * 1ms);
      f.on_device = {};
      f.delivered = f.seen + std::chrono::microseconds(order == 0 ? rng() % 1000 : order == 1 ? n : 500 - n);
      latencies.push_back(us(f.delivered - f.due));
      pass(tracer, 0, f);
    }
    std::sort(latencies.rbegin(), latencies.rend());
    const wb::stream_trace trace = tracer.result();
    EXPECT_EQ(trace.frames, 500U);
    ASSERT_EQ(trace.slowest.size(), 10U);
    for (std::size_t i = 0; i < 10; i++) EXPECT_EQ(trace.slowest[i].latency_us, latencies[i]) << order;
    EXPECT_EQ(wb::tail_of(trace).from_us, latencies[9]);
  }
}

TEST(stream_trace, each_frame_counts_once_whoever_tells_first) {
  wb::frame_tracer tracer(100, 2, 1);
  const auto ended = [&](std::size_t slot, std::uint64_t n) { tracer.ended(slot, frame(n, n * 1ms), true); };
  const auto delivered = [&](std::size_t slot, std::uint64_t n) {
    tracer.delivered(slot, frame(n, n * 1ms).delivered);
  };
  const auto told = [&](std::size_t slot, std::uint64_t n) {
    tracer.device_told(slot, n, frame(n, n * 1ms).on_device);
  };
  ended(0, 0);  // the device tells before its delivery
  told(0, 0);
  EXPECT_EQ(tracer.result().frames, 0U);
  delivered(0, 0);
  EXPECT_EQ(tracer.result().frames, 1U);
  ended(0, 1), delivered(0, 1);  // and after it
  EXPECT_EQ(tracer.result().frames, 1U);
  told(0, 1);
  EXPECT_EQ(tracer.result().frames, 2U);
  told(0, 1);
  EXPECT_EQ(tracer.result().frames, 2U);
  wb::frame_times silent = frame(2, 2ms);  // and when the slot's next frame has ended
  silent.on_device = {};
  tracer.ended(0, silent, true);
  delivered(0, 2);
  ended(0, 3);
  EXPECT_EQ(tracer.result().frames, 3U);
  told(0, 2);
  delivered(0, 3);
  EXPECT_EQ(tracer.result().frames, 3U);
  told(0, 3);
  const std::vector<wb::traced_frame> frames = in_order(tracer.result());
  ASSERT_EQ(frames.size(), 4U);
  for (std::uint64_t n = 0; n < 4; n++) EXPECT_EQ(frames[n].times.sequence, n);
  EXPECT_NEAR(at(frames[2].places_us, frame_place::computing), 146, 1e-3);
  EXPECT_NEAR(at(frames[3].places_us, frame_place::computing), 30, 0.1);

  ended(0, 4), delivered(0, 4);  // of these two the second one is delivered after the reset
  ended(1, 5), told(1, 5);
  tracer.reset();
  told(0, 4), delivered(1, 5);
  EXPECT_EQ(tracer.result().frames, 1U);
  ASSERT_EQ(tracer.result().slowest.size(), 1U);
  EXPECT_EQ(tracer.result().slowest[0].times.sequence, 5U);
}

TEST(stream_trace, the_tail_is_told_place_by_place) {
  wb::frame_tracer tracer(5, 1, 1);
  for (std::uint64_t n = 0; n < 1000; n++) {
    const bool slow = (n >= 100 && n < 103) || n == 700;
    pass(tracer, 0, frame(n, n * 1ms, n == 900 ? 402us : 2us, slow ? 4 : 1));
  }
  const wb::stream_trace trace = tracer.result();
  const wb::trace_tail tail = wb::tail_of(trace);
  EXPECT_NEAR(tail.from_us, 462, 1e-3);
  EXPECT_EQ(tail.runs, 3U);
  EXPECT_EQ(tail.longest_run, 3U);
  EXPECT_NEAR(at(tail.median_us, frame_place::uploading), 96, 6);
  EXPECT_NEAR(at(tail.excess_us, frame_place::uploading), 4 * 300 / 5., 6);
  EXPECT_NEAR(at(tail.excess_us, frame_place::noticing), 400 / 5., 6);
  EXPECT_NEAR(at(tail.excess_us, frame_place::queueing), 0, 0.1);
  EXPECT_NEAR(at(tail.share, frame_place::uploading), 0.75, 0.02);
  EXPECT_NEAR(at(tail.share, frame_place::noticing), 0.25, 0.02);
  EXPECT_NEAR(sum(tail.share), 1, 1e-12);
  const wb::trace_tail none = wb::tail_of(wb::frame_tracer(5, 1, 1).result());
  EXPECT_EQ(none.runs, 0U);
  EXPECT_EQ(none.from_us, 0);
  EXPECT_EQ(sum(none.share), 0);
}

TEST(stream_trace, what_the_slowest_are_faster_at_is_no_share_of_their_excess) {
  wb::frame_tracer tracer(1, 1, 1);
  for (std::uint64_t n = 0; n < 9; n++) {
    wb::frame_times f = frame(n, n * 1ms);
    f.on_device = {};
    f.pushed += n == 4 ? 200us : 0us;
    f.started = f.pushed + (n == 4 ? 1us : 3us);
    for (auto* later : {&f.submitted, &f.seen, &f.delivered}) *later += n == 4 ? 200us : 0us;
    pass(tracer, 0, f);
  }
  const wb::trace_tail tail = wb::tail_of(tracer.result());
  EXPECT_LT(at(tail.excess_us, frame_place::queueing), -1.9);
  EXPECT_EQ(at(tail.share, frame_place::queueing), 0);
  EXPECT_NEAR(at(tail.share, frame_place::pushing), 200 / 202., 0.01);
  EXPECT_NEAR(at(tail.share, frame_place::submitting), 2 / 202., 0.01);
}

TEST(stream_trace, every_place_has_a_name) {
  for (std::size_t p = 0; p < wb::frame_places; p++)
    EXPECT_NE(std::string(wb::name_of(static_cast<frame_place>(p))), "?");
  EXPECT_STREQ(wb::name_of(frame_place::uploading), "uploading");
}

}  // namespace trace_test
