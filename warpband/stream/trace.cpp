#include <warpband/stream/trace.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace wb {

const char* name_of(frame_place place) noexcept {
  constexpr const char* names[frame_places] = {"pushing",     "queueing",  "submitting",
                                               "waiting",     "uploading", "computing",
                                               "downloading", "noticing",  "delivering"};
  const auto i = static_cast<std::size_t>(place);
  return i < frame_places ? names[i] : "?";
}

namespace {
double us_between(frame_clock::time_point from, frame_clock::time_point to) noexcept {
  return std::chrono::duration<double, std::micro>(to - from).count();
}
bool slower(const traced_frame& a, const traced_frame& b) noexcept { return a.latency_us > b.latency_us; }
}  // namespace

place_times places_of(const frame_times& f, double zero_us) {
  place_times durations{};
  double end = 0;
  // Clocks agree to some microseconds, and a copy may begin before all is submitted: no place ends before it
  // begins.
  const auto leaves = [&](frame_place place, double when) {
    when = std::max(when, end);
    durations[static_cast<std::size_t>(place)] = when - end;
    end = when;
  };
  leaves(frame_place::pushing, us_between(f.due, f.pushed));
  leaves(frame_place::queueing, us_between(f.due, f.started));
  leaves(frame_place::submitting, us_between(f.due, f.submitted));
  const double seen = us_between(f.due, f.seen);
  const lane_times& d = f.on_device;
  const auto leaves_device = [&](frame_place place, double when) {
    if (when != lane_times::no_time) leaves(place, std::min(zero_us + when, seen));
  };
  leaves_device(frame_place::waiting, d.upload_begun);
  leaves_device(frame_place::uploading, d.uploaded);
  if (d.downloaded == lane_times::no_time)
    leaves(frame_place::computing, seen);
  else
    leaves_device(frame_place::computing, d.computed != lane_times::no_time ? d.computed : d.downloaded);
  leaves_device(frame_place::downloading, d.downloaded);
  leaves(frame_place::noticing, seen);
  leaves(frame_place::delivering, us_between(f.due, f.delivered));
  return durations;
}

trace_tail tail_of(const stream_trace& trace) {
  trace_tail t;
  if (trace.slowest.empty()) return t;
  t.from_us = trace.slowest.back().latency_us;
  std::vector<std::uint64_t> numbers;
  for (const traced_frame& f : trace.slowest) numbers.push_back(f.times.sequence);
  std::sort(numbers.begin(), numbers.end());
  std::size_t run = 0;
  for (std::size_t i = 0; i < numbers.size(); i++) {
    run = i > 0 && numbers[i] == numbers[i - 1] + 1 ? run + 1 : 1;
    t.runs += run == 1;
    t.longest_run = std::max(t.longest_run, run);
  }
  for (std::size_t p = 0; p < frame_places; p++) {
    t.median_us[p] = trace.places[p].percentile_us(50);
    for (const traced_frame& f : trace.slowest) t.excess_us[p] += f.places_us[p] - t.median_us[p];
    t.excess_us[p] /= static_cast<double>(trace.slowest.size());
    t.share[p] = std::max(t.excess_us[p], 0.0);
  }
  const double total = std::accumulate(t.share.begin(), t.share.end(), 0.0);
  for (double& share : t.share) share = total == 0 ? 0 : share / total;
  return t;
}

void frame_tracer::recent_least::add(double now_us, double value) noexcept {
  const std::int64_t number = number_of(now_us);
  const std::size_t i = static_cast<std::size_t>(number) % cells;
  least_[i] = number_[i] == number ? std::min(least_[i], value) : value;
  number_[i] = number;
}
double frame_tracer::recent_least::get(double now_us) const noexcept {
  const std::int64_t oldest = number_of(now_us) - static_cast<std::int64_t>(cells) + 1;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < cells; i++)
    if (number_[i] >= std::max<std::int64_t>(oldest, 0)) least = std::min(least, least_[i]);
  return least;
}

frame_tracer::frame_tracer(std::size_t slowest_kept, std::size_t slots, std::size_t devices)
    : pending_(slots), zero_us_of_(devices), places_(frame_places), most_(slowest_kept) {
  slowest_.reserve(slowest_kept);
}
void frame_tracer::ended(std::size_t slot, const frame_times& times, bool tells) noexcept {
  pending& p = pending_[slot];
  // Its thread has not asked the device yet, and the slot has been filled and has run again: not waited for.
  if (p.waits_for_device) finish(p);
  p = {times, true, tells};
}
void frame_tracer::delivered(std::size_t slot, frame_clock::time_point time) noexcept {
  pending& p = pending_[slot];
  p.times.delivered = time;
  p.waits_for_delivery = false;
  if (!p.waits_for_device) finish(p);
}
void frame_tracer::device_told(std::size_t slot, std::uint64_t sequence, const lane_times& times) noexcept {
  pending& p = pending_[slot];
  if (!p.waits_for_device || p.times.sequence != sequence) return;
  p.times.on_device = times;
  p.waits_for_device = false;
  if (!p.waits_for_delivery) finish(p);
}
void frame_tracer::reset() noexcept {
  for (pending& p : pending_)
    if (!p.waits_for_delivery) p.waits_for_device = false;
  frames_ = 0;
  std::fill(places_.begin(), places_.end(), latency_histogram());
  slowest_.clear();
}
stream_trace frame_tracer::result() const {
  stream_trace t{frames_, places_, slowest_, most_};
  std::sort(t.slowest.begin(), t.slowest.end(), slower);
  return t;
}
void frame_tracer::finish(pending& p) noexcept {
  p.waits_for_device = false;
  traced_frame f{p.times, {}, us_between(p.times.due, p.times.delivered)};
  double zero_us = 0;
  if (f.times.on_device.downloaded != lane_times::no_time) {
    const double seen = us_between({}, f.times.seen);
    recent_least& zero = zero_us_of_[f.times.device];
    zero.add(seen, seen - f.times.on_device.downloaded);
    zero_us = zero.get(seen) - us_between({}, f.times.due);
  }
  f.places_us = places_of(f.times, zero_us);
  frames_++;
  for (std::size_t i = 0; i < frame_places; i++)
    places_[i].add(std::chrono::nanoseconds(std::llround(f.places_us[i] * 1e3)));
  if (slowest_.size() == most_) {
    if (slowest_.front().latency_us >= f.latency_us) return;
    std::pop_heap(slowest_.begin(), slowest_.end(), slower);
    slowest_.pop_back();
  }
  slowest_.push_back(f);
  std::push_heap(slowest_.begin(), slowest_.end(), slower);
}

}  // namespace wb
