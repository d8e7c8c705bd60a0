// The laws of the pipeline, over threads of a CPU: order, back-pressure, dropping, stopping, exceptions,
// devices that fail, no allocation. The work is a chain of this file's own, whose results are easily told.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <new>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <tests/executors.hpp>
#include <tests/on_backends.hpp>
#include <warpband/core/error.hpp>
#include <warpband/stream/pipeline.hpp>

namespace pipeline_test {

using namespace std::chrono_literals;
using wb::argument_error;
using wb::frame_clock;
using wb::frame_pipeline;
using wb::frame_result;
using wb::frame_status;
using wb::pipeline_config;
using wb::testing::blamed;
using wb::testing::small_scale;

/// out = in + 1 and the sum of in, after an optional delay; on a CPU.
std::shared_ptr<wb::frame_receiver> chain(std::chrono::microseconds delay = 0us) {
  const auto run = [delay](std::size_t stage, const wb::frame_arrays& f) {
    const auto* in = static_cast<const float*>(f.inputs[0]);
    if (stage == 0) {
      for (std::size_t i = 0; i < f.items; i++) static_cast<float*>(f.outputs[0])[i] = in[i] + 1;
      if (delay > 0us) std::this_thread::sleep_for(delay);
      return;
    }
    float sum = 0;
    for (std::size_t i = 0; i < f.items; i++) sum += in[i];
    *static_cast<float*>(f.outputs[1]) = sum;
  };
  return std::make_shared<wb::frame_receiver>(
      wb::frame_receiver_parts{.name = "plus one",
                               .inputs = {{.name = "x"}},
                               .outputs = {{.name = "y"}, {.name = "sum", .rows = 1, .per_items = 0}},
                               .stages = {"add", "sum"},
                               .granularity = 1,
                               .attach = [run](wb::executor&, std::size_t) -> wb::frame_run { return run; }});
}

/// Frame `sequence`'s values.
float value(std::uint64_t token, std::size_t i) { return static_cast<float>((token * 31 + i * 7) % 1000); }
wb::frame_slot filled(frame_pipeline& p, std::size_t items, std::uint64_t token) {
  wb::frame_slot slot = p.acquire(items);
  const wb::view<float> x = slot.input<float>(0);
  EXPECT_EQ(x.items, items);
  for (std::size_t i = 0; i < items; i++) x.data[i] = value(token, i);
  return slot;
}
bool is_right(const frame_result& r) {
  float sum = 0;
  const auto y = r.output<float>(0);
  if (y.items != r.items) return false;
  for (std::size_t i = 0; i < r.items; i++) {
    if (y.data[i] != value(r.token, i) + 1) return false;
    sum += value(r.token, i);
  }
  return *r.output<float>(1).data == sum;
}

/// Looks at what a callback gets: every number once and in order, results right.
struct observer {
  std::atomic<std::uint64_t> next{0}, delivered{0}, dropped{0}, failed{0}, wrong{0}, disorder{0};
  std::atomic<int> inside{0};
  void operator()(const frame_result& r) {
    if (inside++ != 0) disorder++;
    if (r.sequence != next) disorder++;
    next = r.sequence + 1;
    if (r.status == frame_status::delivered) {
      delivered++;
      if (!is_right(r)) wrong++;
    }
    dropped += r.status == frame_status::dropped;
    failed += r.status == frame_status::failed;
    inside--;
  }
  wb::frame_callback callback() {
    return [this](const frame_result& r) { (*this)(r); };
  }
};

void expect_adds_up(const frame_pipeline& p, const observer& o) {
  const wb::pipeline_counters c = p.counters();
  EXPECT_EQ(c.pushed, c.delivered + c.dropped + c.failed);
  EXPECT_EQ(c.delivered, o.delivered);
  EXPECT_EQ(c.dropped, o.dropped);
  EXPECT_EQ(c.failed, o.failed);
  EXPECT_EQ(c.pushed, o.next);
  EXPECT_EQ(c.waiting, 0U);
  EXPECT_EQ(o.disorder, 0U);
  EXPECT_EQ(o.wrong, 0U);
}

std::vector<std::string> cpus(std::size_t n) { return std::vector<std::string>(n, "cpu"); }

// ----------------------------------------------------------------------------------------------------
// settings

TEST(stream_pipeline, refuses_settings) {
  const auto with = [](auto change) {
    pipeline_config c{.most_items = 8};
    change(c);
    return blamed([&] { frame_pipeline(chain(), c); });
  };
  EXPECT_EQ(with([](auto&) {}), "");
  EXPECT_EQ(with([](auto& c) { c.devices.clear(); }), "devices");
  EXPECT_EQ(with([](auto& c) { c.devices = {"gpu"}; }), "devices");
  EXPECT_EQ(with([](auto& c) { c.streams = 0; }), "streams");
  EXPECT_EQ(with([](auto& c) { c.streams = 65; }), "streams");
  EXPECT_EQ(with([](auto& c) { c.threads = -1; }), "threads");
  EXPECT_EQ(with([](auto& c) { c.most_items = 0; }), "most_items");
  EXPECT_EQ(with([](auto& c) { c.queue = 0; }), "queue");
  EXPECT_EQ(with([](auto& c) { c.parts = 0; }), "parts");
  EXPECT_EQ(with([](auto& c) { c.retries = -1; }), "retries");
  EXPECT_EQ(with([](auto& c) { c.batch = 0; }), "batch");
  EXPECT_EQ(with([](auto& c) { c.batch = 65; }), "batch");
  EXPECT_EQ(with([](auto& c) { c.batch = 2, c.parts = 2; }), "batch");
  EXPECT_EQ(with([](auto& c) { c.timeout = -1ns; }), "timeout");
  EXPECT_EQ(with([](auto& c) { c.deadline = -1ns; }), "deadline");
  EXPECT_EQ(with([](auto& c) { c.trace = 100'001; }), "trace");
  EXPECT_EQ(with([](auto& c) { c.graph_items = {9}; }), "graph_items");
  EXPECT_EQ(blamed([] { frame_pipeline(nullptr, {.most_items = 8}); }), "chain");
  frame_pipeline p(chain(), {.most_items = 8});
  EXPECT_EQ(blamed([&] { (void)p.acquire(9); }), "items");
  EXPECT_EQ(blamed([&] { (void)p.acquire(0); }), "items");
  EXPECT_EQ(blamed([&] { p.push(wb::frame_slot{}); }), "slot");
  EXPECT_EQ(blamed([&] { p.push(8, {}); }), "arrays");
  EXPECT_EQ(blamed([&] { (void)p.acquire(4).input<std::uint8_t>(0); }), "port");
}

// ------------------------------------------------------------------------------------------- order, every
// worker

class stream_lanes : public ::testing::TestWithParam<std::tuple<std::size_t, int, wb::wait_policy>> {};

TEST(stream_pipeline, automatic_groups_make_copies_large) {
  const auto c = chain();  // 4 bytes an item, in and out
  EXPECT_EQ(wb::automatic_batch(*c, 1), 64);
  EXPECT_EQ(wb::automatic_batch(*c, 100'000), 39);
  EXPECT_EQ(wb::automatic_batch(*c, 4'000'000), 1);
  EXPECT_EQ(wb::automatic_batch(*c, 40'000'000), 1);
}

TEST_P(stream_lanes, all_frames_in_order_with_their_results) {
  const auto [devices, streams, waiting] = GetParam();
  observer o;
  frame_pipeline p(chain(),
                   {.devices = cpus(devices), .streams = streams, .most_items = 64, .waiting = waiting},
                   o.callback());
  EXPECT_EQ(p.descriptions().size(), devices);
  EXPECT_EQ(p.slots(), 8 + devices * static_cast<std::size_t>(streams));
  std::mt19937_64 rng(1);
  const std::uint64_t frames = small_scale() ? 200 : 2000;
  for (std::uint64_t n = 0; n < frames; n++) EXPECT_EQ(p.push(filled(p, 1 + rng() % 64, n), n), n);
  p.drain();
  EXPECT_EQ(o.delivered, frames);
  expect_adds_up(p, o);
  const wb::pipeline_times t = p.times();
  EXPECT_EQ(t.latency.count(), frames);
  EXPECT_GE(t.latency.max_us(), t.queued.percentile_us(50));
  EXPECT_GE(t.latency.mean_us(), t.queued.mean_us() + t.device.mean_us() - 1);
}
INSTANTIATE_TEST_SUITE_P(workers, stream_lanes,
                         ::testing::Combine(::testing::Values(1U, 2U, 3U), ::testing::Values(1, 3),
                                            ::testing::Values(wb::wait_policy::block,
                                                              wb::wait_policy::spin)));

TEST(stream_pipeline, copies_arrays_in) {
  observer o;
  frame_pipeline p(chain(), {.most_items = 16}, o.callback());
  for (std::uint64_t n = 0; n < 50; n++) {
    std::vector<float> x;
    for (std::size_t i = 0; i < 16; i++) x.push_back(value(n, i));
    p.push(16, {x.data()}, n);
  }
  p.drain();
  EXPECT_EQ(o.delivered, 50U);
  expect_adds_up(p, o);
}

TEST(stream_pipeline, arrays_that_are_not_there_are_refused) {
  observer o;
  frame_pipeline p(chain(), {.most_items = 16}, o.callback());
  EXPECT_THROW(p.push(16, {nullptr}, 0), wb::argument_error);
  EXPECT_THROW(p.push(16, {}, 0), wb::argument_error);
  p.drain();
  EXPECT_EQ(p.counters().pushed, 0U);
}

TEST(stream_pipeline, slots_and_tickets_that_were_moved_from_say_so) {
  frame_pipeline p(chain(), {.most_items = 16});
  wb::frame_slot slot = filled(p, 16, 0), taken = std::move(slot);
  EXPECT_THROW(slot.input<float>(0), wb::error);
  EXPECT_THROW(slot.bytes(0), wb::error);
  EXPECT_THROW(p.push(std::move(slot)), wb::argument_error);
  wb::frame_ticket ticket = p.submit(std::move(taken)), last = std::move(ticket);
  EXPECT_THROW(ticket.wait(), wb::error);
  EXPECT_THROW(taken.bytes(0), wb::error);
  EXPECT_TRUE(is_right(last.wait()));
}

TEST(stream_pipeline, latency_counts_from_the_time_that_is_given) {
  frame_pipeline p(chain(), {.most_items = 16, .deadline = 20ms});
  p.push(filled(p, 16, 0), 0, wb::frame_clock::now() - 50ms);
  p.drain();
  EXPECT_GE(p.times().latency.max_us(), 50e3);
  EXPECT_EQ(p.times().missed, 1U);
  p.reset_times();
  EXPECT_EQ(p.times().latency.count(), 0U);
  EXPECT_EQ(p.times().missed, 0U);
}

TEST(stream_pipeline, late_frames_one_behind_the_other_are_a_run) {
  frame_pipeline p(chain(), {.most_items = 16, .deadline = 1h});
  const auto push = [&](bool late) {
    p.push(filled(p, 16, 0), 0, wb::frame_clock::now() - (late ? 2h : 0h));
  };
  for (const bool late : {true, false, false, true, true, true, false, true, true}) push(late);
  p.drain();
  EXPECT_EQ(p.times().missed, 6U);
  EXPECT_EQ(p.times().missed_runs, 3U);
  EXPECT_EQ(p.times().longest_missed_run, 3U);
  p.reset_times();
  push(true);  // not the last run's
  p.drain();
  EXPECT_EQ(p.times().missed_runs, 1U);
  EXPECT_EQ(p.times().longest_missed_run, 1U);
}

TEST(stream_pipeline, the_slowest_frames_tell_when_they_passed_each_place) {
  for (const auto waiting : {wb::wait_policy::block, wb::wait_policy::spin}) {
    frame_pipeline p(chain(300us), {.streams = 1, .most_items = 16, .waiting = waiting, .trace = 3});
    const auto push = [&](std::uint64_t n, frame_clock::duration late) {
      p.push(filled(p, 16, n), n, frame_clock::now() - late);
    };
    for (std::uint64_t n = 0; n < 50; n++) push(n, n == 30 ? 20min : n == 31 ? 15min : n == 47 ? 12min : 0s);
    p.drain();
    const wb::stream_trace trace = p.trace();
    EXPECT_EQ(trace.frames, 50U);
    EXPECT_EQ(trace.slowest_kept, 3U);
    ASSERT_EQ(trace.slowest.size(), 3U);
    const std::uint64_t slowest[] = {30, 31, 47};
    const double minute = 60e6, late_us[] = {20 * minute, 15 * minute, 12 * minute};
    for (std::size_t i = 0; i < 3; i++) {
      const wb::frame_times& f = trace.slowest[i].times;
      EXPECT_EQ(f.sequence, slowest[i]);
      EXPECT_LE(f.due, f.pushed);
      EXPECT_LE(f.pushed, f.started);
      EXPECT_EQ(f.started, f.submitted);
      EXPECT_GE(f.seen - f.submitted, 300us);
      EXPECT_LE(f.seen, f.delivered);
      EXPECT_EQ(f.on_device.downloaded, wb::lane_times::no_time);
      const auto latest = [&](wb::frame_place place) {
        return trace.slowest[i].places_us[static_cast<std::size_t>(place)];
      };
      EXPECT_GE(latest(wb::frame_place::pushing), late_us[i]);
      EXPECT_LT(latest(wb::frame_place::pushing), trace.slowest[i].latency_us);
      EXPECT_GE(latest(wb::frame_place::computing), 300);
      EXPECT_EQ(latest(wb::frame_place::uploading), 0);
    }
    for (const wb::latency_histogram& place : trace.places) EXPECT_EQ(place.count(), 50U);
    EXPECT_GE(trace.places[static_cast<std::size_t>(wb::frame_place::computing)].percentile_us(1), 300);
    const wb::trace_tail tail = wb::tail_of(trace);
    EXPECT_EQ(tail.runs, 2U);
    EXPECT_EQ(tail.longest_run, 2U);
    EXPECT_NEAR(tail.excess_us[static_cast<std::size_t>(wb::frame_place::pushing)], 47 * minute / 3, minute);
    p.reset_times();
    EXPECT_EQ(p.trace().frames, 0U);
    EXPECT_TRUE(p.trace().slowest.empty());
    push(50, 0s);
    p.drain();
    EXPECT_EQ(p.trace().frames, 1U);
    ASSERT_EQ(p.trace().slowest.size(), 1U);
    EXPECT_EQ(p.trace().slowest[0].times.sequence, 50U);
  }
}

TEST(stream_pipeline, only_delivered_frames_are_traced_and_on_their_last_run) {
  pipeline_config c{.devices = cpus(2), .most_items = 16, .trace = 100};
  c.fault = [](const wb::fault_point& f) {
    if (f.sequence == 7) throw std::runtime_error("this frame");
    if (f.device == 0 && f.sequence >= 5) throw wb::device_error("gone");
  };
  frame_pipeline p(chain(), c);
  for (std::uint64_t n = 0; n < 40; n++) p.push(filled(p, 16, n), n);
  p.drain();
  const wb::stream_trace trace = p.trace();
  EXPECT_EQ(trace.frames, 39U);
  ASSERT_EQ(trace.slowest.size(), 39U);
  for (const wb::traced_frame& f : trace.slowest) {
    EXPECT_NE(f.times.sequence, 7U);
    EXPECT_TRUE(f.times.sequence < 5 || f.times.device == 1) << f.times.sequence;
  }
}

TEST(stream_pipeline, nothing_is_traced_that_nobody_asked_for) {
  frame_pipeline p(chain(), {.most_items = 16});
  p.push(filled(p, 16, 0));
  p.drain();
  EXPECT_EQ(p.trace().frames, 0U);
  EXPECT_TRUE(p.trace().places.empty());
  EXPECT_TRUE(p.trace().slowest.empty());
}

TEST(stream_pipeline, slots_keep_what_was_written) {
  frame_pipeline p(chain(), {.streams = 1, .most_items = 16, .queue = 1});
  std::set<std::size_t> written;
  for (int n = 0; n < 20; n++) {
    wb::frame_slot slot = p.acquire(16);
    const auto x = slot.input<float>(0);
    if (written.insert(slot.index()).second)
      x.data[3] = 40.f + static_cast<float>(slot.index());
    else
      EXPECT_EQ(x.data[3], 40.f + static_cast<float>(slot.index()));
    p.push(std::move(slot));
  }
  EXPECT_LE(written.size(), p.slots());
}

// ------------------------------------------------------------------------------------------------------
// tickets

TEST(stream_pipeline, slots_of_groups_are_taken_in_turn) {
  frame_pipeline p(chain(), {.most_items = 4, .queue = 6, .batch = 4});
  const std::size_t slots = p.slots();
  const auto next = [&] {
    wb::frame_slot slot = p.acquire(4);
    const std::size_t index = slot.index();
    p.push(std::move(slot));
    p.drain();
    return index;
  };
  for (std::size_t n = 0; n < slots; n++) EXPECT_EQ(next(), n);
  {
    const wb::frame_ticket held = p.submit(p.acquire(4));  // slot 0
    for (std::size_t n = 1; n < slots; n++) EXPECT_EQ(next(), n);
    EXPECT_EQ(next(), 1U);
  }
  // It is back in its place once its ticket is gone.
  for (std::size_t n = 2; n < slots; n++) EXPECT_EQ(next(), n);
  for (std::size_t n = 0; n < slots; n++) EXPECT_EQ(next(), n);
}

TEST(stream_pipeline, tickets_wait_in_any_order_and_outlive_the_pipeline) {
  std::vector<wb::frame_ticket> tickets;
  observer o;
  {
    frame_pipeline p(chain(200us), {.most_items = 16, .queue = 20}, o.callback());
    for (std::uint64_t n = 0; n < 10; n++) tickets.push_back(p.submit(filled(p, 16, n), n));
    for (std::size_t i = 10; i-- > 5;) {
      const frame_result r = tickets[i].wait();
      EXPECT_EQ(r.sequence, i);
      EXPECT_EQ(r.status, frame_status::delivered);
      EXPECT_TRUE(is_right(r));
      EXPECT_TRUE(tickets[i].ready());
    }
    for (int n = 0; n < 5; n++) (void)p.submit(filled(p, 16, 3), 3);  // nobody looks at these
    p.drain();
    EXPECT_EQ(p.counters().delivered, 15U);
    for (int n = 0; n < 40; n++) p.push(filled(p, 16, 3), 3);  // their slots came back
    p.drain();
  }
  for (std::size_t i = 0; i < 5; i++) EXPECT_TRUE(is_right(tickets[i].wait()));
  EXPECT_EQ(o.delivered, 40U);
  EXPECT_THROW(wb::frame_ticket().wait(), wb::error);
}

// ----------------------------------------------------------------------------------------- back-pressure,
// drops

/// Where threads wait until they are told.
struct gate {
  std::mutex mutex;
  std::condition_variable changed;
  bool open = false;
  int came = 0;
  void wait() {
    std::unique_lock l(mutex);
    came++;
    changed.notify_all();
    changed.wait(l, [this] { return open; });
  }
  /// Waits until somebody does.
  void wait_for_one() {
    std::unique_lock l(mutex);
    changed.wait(l, [this] { return came > 0; });
  }
  void release() {
    {
      std::lock_guard l(mutex);
      open = true;
    }
    changed.notify_all();
  }
};

TEST(stream_pipeline, who_pushes_waits_for_a_slot) {
  gate g;
  observer o;
  frame_pipeline p(chain(), {.streams = 1, .most_items = 4, .queue = 3}, [&](const frame_result& r) {
    g.wait();
    o(r);
  });
  std::atomic<int> pushed = 0;
  std::thread producer([&] {
    for (std::uint64_t n = 0; n < 12; n++) {
      p.push(filled(p, 4, n), n);
      pushed++;
    }
  });
  while (pushed < 4) std::this_thread::sleep_for(1ms);
  EXPECT_FALSE(p.acquire(4, wb::frame_clock::now() + 10ms));
  EXPECT_EQ(pushed, 4);  // as many as there are slots
  g.release();
  producer.join();
  p.drain();
  EXPECT_EQ(o.delivered, 12U);
  EXPECT_LE(p.counters().most_waiting, 4U);
  expect_adds_up(p, o);
}

TEST(stream_pipeline, the_oldest_is_dropped) {
  gate g;
  observer o;
  std::vector<std::uint64_t> kept;
  frame_pipeline p(chain(),
                   {.streams = 1, .most_items = 4, .queue = 3, .overflow = wb::overflow_policy::drop_oldest},
                   [&](const frame_result& r) {
                     g.wait();
                     o(r);
                     if (r.status == frame_status::delivered) kept.push_back(r.sequence);
                   });
  p.push(filled(p, 4, 0), 0);
  g.wait_for_one();  // frame 0 is being delivered; one thread drives the device, and waits in there
  for (std::uint64_t n = 1; n < 100; n++) p.push(filled(p, 4, n), n);  // never waits
  EXPECT_EQ(p.counters().waiting, 3U);
  g.release();
  p.drain();
  expect_adds_up(p, o);
  EXPECT_EQ(o.dropped, 96U);
  EXPECT_EQ(kept, (std::vector<std::uint64_t>{0, 97, 98, 99}));
}

TEST(stream_pipeline, frames_with_a_ticket_are_not_dropped) {
  gate g;
  observer o;
  pipeline_config config{
      .streams = 1, .most_items = 4, .queue = 6, .overflow = wb::overflow_policy::drop_oldest};
  config.fault = [&](const wb::fault_point&) { g.wait(); };  // no frame ends before all are pushed
  frame_pipeline p(chain(), config, o.callback());
  std::vector<wb::frame_ticket> tickets;
  for (std::uint64_t n = 0; n < 4; n++) tickets.push_back(p.submit(filled(p, 4, n), n));
  for (std::uint64_t n = 4; n < 60; n++) p.push(filled(p, 4, n), n);
  g.release();
  for (const auto& t : tickets) EXPECT_EQ(t.wait().status, frame_status::delivered);
  p.drain();
  const wb::pipeline_counters c = p.counters();
  EXPECT_EQ(c.pushed, 60U);
  EXPECT_EQ(c.delivered, 7U);  // as many as there are slots
  EXPECT_EQ(c.dropped, 53U);
  EXPECT_EQ(c.delivered, o.delivered + 4);
}

// ---------------------------------------------------------------------------------------------------
// callbacks

TEST(stream_pipeline, exceptions_of_callbacks_lose_no_frame) {
  observer o;
  frame_pipeline p(chain(), {.streams = 3, .most_items = 4}, [&](const frame_result& r) {
    o(r);
    if (r.sequence % 3 == 0) throw std::runtime_error("a callback");
    if (r.sequence % 3 == 1) throw 7;
  });
  for (std::uint64_t n = 0; n < 300; n++) p.push(filled(p, 4, n), n);
  p.drain();
  EXPECT_EQ(p.counters().callback_errors, 200U);
  EXPECT_EQ(o.delivered, 300U);
  expect_adds_up(p, o);
}

TEST(stream_pipeline, callbacks_may_push_but_not_wait) {
  std::atomic<int> refused = 0, pushed = 0, seen = 0;
  std::optional<frame_pipeline> p;
  p.emplace(chain(), pipeline_config{.streams = 1, .most_items = 4, .queue = 2}, [&](const frame_result& r) {
    seen++;
    if (r.token != 0) return;
    EXPECT_THROW(p->drain(), wb::error);
    EXPECT_THROW(p->stop(), wb::error);
    for (int i = 0; i < 5; i++) try {
        p->push(filled(*p, 4, 1), 1);
        pushed++;
      } catch (const wb::error&) {
        refused++;
      }
  });
  p->push(filled(*p, 4, 0), 0);
  p->drain();
  while (seen < pushed + 1) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(pushed, 2);  // of three slots one is the callback's
  EXPECT_EQ(refused, 3);
  p.reset();
}

// --------------------------------------------------------------------------------------------------------
// stop

TEST(stream_pipeline, stop_in_mid_flight_reports_every_frame) {
  for (int round = 0; round < (small_scale() ? 4 : 20); round++) {
    observer o;
    frame_pipeline p(chain(300us), {.devices = cpus(2), .streams = 2, .most_items = 4, .queue = 50},
                     o.callback());
    for (std::uint64_t n = 0; n < 50; n++) p.push(filled(p, 4, n), n);
    std::this_thread::sleep_for(std::chrono::microseconds(100 * round));
    p.stop();
    expect_adds_up(p, o);
    EXPECT_EQ(o.next, 50U);
    EXPECT_THROW((void)p.acquire(4), wb::error);
    p.stop();
  }
}

TEST(stream_pipeline, stop_drops_all_that_is_not_under_way) {
  gate g;
  observer o;
  pipeline_config c{.devices = cpus(2), .streams = 2, .most_items = 4, .queue = 50};
  c.fault = [&](const wb::fault_point&) { g.wait(); };
  frame_pipeline p(chain(), c, o.callback());
  for (std::uint64_t n = 0; n < 50; n++) p.push(filled(p, 4, n), n);
  g.wait_for_one();
  p.close();
  g.release();
  p.stop();
  expect_adds_up(p, o);
  EXPECT_GE(o.delivered, 1U);
  EXPECT_LE(o.delivered, 4U);  // one on each stream of each device
}

TEST(stream_pipeline, stop_wakes_those_who_wait) {
  gate g;
  observer o;
  frame_pipeline p(chain(), {.streams = 1, .most_items = 4, .queue = 1}, [&](const frame_result& r) {
    g.wait();
    o(r);
  });
  std::atomic<int> refused = 0;
  std::vector<std::thread> producers;
  for (int t = 0; t < 3; t++)
    producers.emplace_back([&] {
      try {
        for (;;) p.push(filled(p, 4, 1), 1);
      } catch (const wb::error&) {
        refused++;
      }
    });
  while (p.counters().pushed < p.slots()) std::this_thread::sleep_for(1ms);
  std::thread stopper([&] { p.stop(); });
  while (refused < 3) std::this_thread::sleep_for(1ms);
  g.release();
  stopper.join();
  for (auto& t : producers) t.join();
  expect_adds_up(p, o);
}

TEST(stream_pipeline, acquire_waits_no_longer_than_it_is_told) {
  for (const wb::wait_policy waiting : {wb::wait_policy::block, wb::wait_policy::spin})
    for (const auto overflow : {wb::overflow_policy::wait, wb::overflow_policy::drop_oldest}) {
      frame_pipeline p(chain(),
                       {.streams = 1, .most_items = 4, .queue = 1, .overflow = overflow, .waiting = waiting});
      ASSERT_EQ(p.slots(), 2U);
      const auto soon = [] { return wb::frame_clock::now() + 20ms; };
      {
        const auto held = p.acquire(4, soon()), other = p.acquire(4, wb::frame_clock::time_point::min());
        EXPECT_TRUE(held && other);  // no wait is none
        const auto until = soon();
        EXPECT_FALSE(p.acquire(4, until));
        EXPECT_GE(wb::frame_clock::now(), until);
      }
      std::optional<wb::frame_slot> first = p.acquire(4), second = p.acquire(4);
      std::thread later([&] {
        std::this_thread::sleep_for(10ms);
        first.reset();
      });
      EXPECT_TRUE(p.acquire(4, wb::frame_clock::now() + 1h));  // long before that
      later.join();
    }
}

TEST(stream_pipeline, a_slot_that_is_held_over_stop_goes_back) {
  std::optional<frame_pipeline> p(std::in_place, chain(), pipeline_config{.most_items = 4});
  wb::frame_slot held = p->acquire(4), other = p->acquire(4);
  p->stop();
  EXPECT_THROW(p->push(std::move(held)), wb::error);
  EXPECT_EQ(p->counters().pushed, 0U);
  p.reset();
  other.input<float>(0).data[0] = 1;  // its memory is there
}

// ----------------------------------------------------------------------------------------------------
// failures

class stream_faults : public ::testing::TestWithParam<wb::fault_moment> {};

/// Device 1 of three goes with `error` at `moment`: all frames arrive.
template <class Error>
void expect_no_frame_goes_with_a_device(wb::fault_moment moment, const Error& error,
                                        std::optional<std::chrono::nanoseconds> timeout) {
  for (const wb::wait_policy waiting : {wb::wait_policy::block, wb::wait_policy::spin}) {
    observer o;
    pipeline_config c{
        .devices = cpus(3), .streams = 2, .most_items = 16, .waiting = waiting, .timeout = timeout};
    gate gone;
    c.fault = [&](const wb::fault_point& f) {
      if (f.sequence <= 40) return;
      if (f.device != 1) return gone.wait();  // so that device 1 gets a frame, however busy the machine is
      if (f.moment != moment) return;
      gone.release();
      throw error;
    };
    frame_pipeline p(chain(50us), c, o.callback());
    for (std::uint64_t n = 0; n < 300; n++) p.push(filled(p, 16, n), n);
    p.drain();
    EXPECT_EQ(o.delivered, 300U);
    expect_adds_up(p, o);
    EXPECT_EQ(p.counters().devices_failed, 1U);
    EXPECT_GE(p.counters().rerun, 1U);
    EXPECT_LE(p.counters().rerun, 2U);
  }
}

TEST_P(stream_faults, a_device_that_fails_takes_no_frame_with_it) {
  expect_no_frame_goes_with_a_device(GetParam(), wb::device_error("device 1 is gone"), {});
}
TEST_P(stream_faults, without_a_device_frames_are_reported) {
  observer o;
  pipeline_config c{.devices = cpus(2), .streams = 1, .most_items = 16, .queue = 30};
  c.fault = [](const wb::fault_point& f) {
    if (f.moment == GetParam() && f.sequence >= 10) throw wb::device_error("all are gone");
  };
  std::atomic<int> told = 0;
  frame_pipeline p(chain(20us), c, [&](const frame_result& r) {
    o(r);
    if (r.status == frame_status::failed) told += std::string(r.error) == "all are gone";
  });
  std::uint64_t refused = 0;
  for (std::uint64_t n = 0; n < 60; n++) try {
      p.push(filled(p, 16, n), n);
    } catch (const wb::device_error& e) {
      EXPECT_NE(std::string(e.what()).find("all are gone"), std::string::npos);
      refused++;
    }
  p.drain();
  EXPECT_EQ(p.counters().devices_failed, 2U);
  EXPECT_EQ(p.counters().pushed + refused, 60U);
  EXPECT_GE(o.failed, 1U);
  EXPECT_EQ(told, static_cast<int>(o.failed));
  EXPECT_EQ(o.delivered + o.failed, p.counters().pushed);
  expect_adds_up(p, o);
}
TEST_P(stream_faults, a_frame_that_no_device_survives_ends_after_its_retries) {
  observer o;
  pipeline_config c{.devices = cpus(4), .streams = 1, .most_items = 16, .retries = 1};
  c.fault = [](const wb::fault_point& f) {
    if (f.moment == GetParam() && f.sequence == 5) throw wb::device_error("killed by frame 5");
  };
  frame_pipeline p(chain(), c, o.callback());
  for (std::uint64_t n = 0; n < 60; n++) p.push(filled(p, 16, n), n);
  p.drain();
  EXPECT_EQ(p.counters().devices_failed, 2U);
  EXPECT_EQ(o.failed, 1U);
  EXPECT_EQ(o.delivered, 59U);
  expect_adds_up(p, o);
}
TEST_P(stream_faults, other_exceptions_are_the_frames_own) {
  observer o;
  pipeline_config c{.devices = cpus(2), .streams = 2, .most_items = 16};
  c.fault = [](const wb::fault_point& f) {
    if (f.moment == GetParam() && f.sequence % 10 == 3) throw std::runtime_error("not this frame");
    if (f.moment == GetParam() && f.sequence % 10 == 7) throw 1;
  };
  frame_pipeline p(chain(), c, o.callback());
  for (std::uint64_t n = 0; n < 100; n++) p.push(filled(p, 16, n), n);
  p.drain();
  EXPECT_EQ(o.failed, 20U);
  EXPECT_EQ(o.delivered, 80U);
  EXPECT_EQ(p.counters().devices_failed, 0U);
  expect_adds_up(p, o);
}
TEST_P(stream_faults, a_device_that_hangs_takes_no_frame_with_it) {
  expect_no_frame_goes_with_a_device(GetParam(), wb::device_hang(), 20ms);
}
TEST_P(stream_faults, when_all_devices_hang_frames_are_reported_and_stop_returns) {
  observer o;
  gate all_pushed;  // a push is refused where no device is left
  pipeline_config c{.devices = cpus(2), .streams = 1, .most_items = 16, .queue = 30, .timeout = 10ms};
  c.fault = [&](const wb::fault_point& f) {
    if (f.moment != GetParam() || f.sequence < 10) return;
    all_pushed.wait();
    throw wb::device_hang();
  };
  std::atomic<int> told = 0;
  frame_pipeline p(chain(20us), c, [&](const frame_result& r) {
    o(r);
    if (r.status == frame_status::failed)
      told += std::string(r.error) == "a device that hangs: no answer for 0.01 s";
  });
  for (std::uint64_t n = 0; n < 30; n++) p.push(filled(p, 16, n), n);
  all_pushed.release();
  p.stop();  // in the middle of it
  expect_adds_up(p, o);
  EXPECT_EQ(o.next, 30U);
  EXPECT_EQ(told, static_cast<int>(o.failed));
}
INSTANTIATE_TEST_SUITE_P(moments, stream_faults,
                         ::testing::Values(wb::fault_moment::start, wb::fault_moment::started,
                                           wb::fault_moment::done));

// ------------------------------------------------------------------------------------------------------
// stress

TEST(stream_pipeline, stress_of_everything_at_once) {
  for (const auto overflow : {wb::overflow_policy::wait, wb::overflow_policy::drop_oldest})
    for (std::uint64_t seed = 0; seed < (small_scale() ? 3 : 12); seed++) {
      observer o;
      pipeline_config c{.devices = cpus(3), .streams = 2, .most_items = 64, .queue = 5, .overflow = overflow};
      c.waiting = seed % 2 == 0 ? wb::wait_policy::block : wb::wait_policy::spin;
      c.trace = seed % 3 * 10;
      c.fault = [seed](const wb::fault_point& f) {
        if (f.sequence == 200 + seed && f.attempt == 0) throw wb::device_error("gone");
        if (f.sequence % 97 == 5) throw std::runtime_error("this frame");
      };
      frame_pipeline p(chain(seed % 3 == 0 ? 30us : 0us), c, [&](const frame_result& r) {
        o(r);
        if (r.sequence % 13 == 0) throw std::runtime_error("a callback");
      });
      std::atomic<std::uint64_t> pushed = 0;
      std::vector<std::thread> producers;
      for (std::uint64_t t = 0; t < 4; t++)
        producers.emplace_back([&, t] {
          std::mt19937_64 rng(seed * 10 + t);
          try {
            for (std::uint64_t n = 0; n < 400; n++) {
              const std::uint64_t token = t * 1000 + n;
              wb::frame_slot slot = filled(p, 1 + rng() % 64, token);
              if (rng() % 16 == 0) continue;  // changed its mind
              p.push(std::move(slot), token);
              pushed++;
            }
          } catch (const wb::error&) {
          }
        });
      if (seed % 4 == 1) {
        std::this_thread::sleep_for(3ms);
        p.stop();
      }
      for (auto& t : producers) t.join();
      if (seed % 4 != 1) p.drain();
      EXPECT_EQ(p.counters().pushed, pushed);
      expect_adds_up(p, o);
      EXPECT_EQ(p.trace().frames, c.trace == 0 ? 0 : p.counters().delivered);
    }
}

TEST(stream_pipeline, tickets_and_callbacks_from_many_threads) {
  std::atomic<std::uint64_t> called = 0, waited = 0, wrong = 0;
  frame_pipeline p(chain(), {.devices = cpus(2), .streams = 2, .most_items = 32, .queue = 12},
                   [&](const frame_result& r) {
                     called++;
                     wrong += !is_right(r);
                   });
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; t++)
    threads.emplace_back([&, t] {
      for (std::uint64_t n = 0; n < 150; n++) {
        const std::uint64_t token = t * 1000 + n;
        if (t % 2 == 0) {
          p.push(filled(p, 32, token), token);
          continue;
        }
        const wb::frame_ticket ticket = p.submit(filled(p, 1 + n % 32, token), token);
        const frame_result r = ticket.wait();
        wrong += r.sequence != ticket.sequence() || r.token != token || !is_right(r);
        waited++;
      }
    });
  for (auto& t : threads) t.join();
  p.drain();
  EXPECT_EQ(called, 300U);
  EXPECT_EQ(waited, 300U);
  EXPECT_EQ(wrong, 0U);
}

}  // namespace pipeline_test
