#include <warpband/stream/trace.hpp>

#include <algorithm>
#include <cmath>
#include <map>
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
double us_between(frame_clock::time_point from, frame_clock::time_point to) {
  return std::chrono::duration<double, std::micro>(to - from).count();
}
double median(std::vector<double> v) {
  const auto middle = v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2);
  std::nth_element(v.begin(), middle, v.end());
  return *middle;
}
}  // namespace

std::vector<place_times> places_of(const std::vector<frame_trace>& frames) {
  constexpr std::size_t around = 50;
  std::vector<place_times> all(frames.size());
  if (frames.empty()) return all;
  const auto zero = frames.front().due;
  std::map<std::size_t, std::vector<std::size_t>> of_device;  // frames whose device told
  for (std::size_t i = 0; i < frames.size(); i++)
    if (frames[i].on_device.downloaded != lane_times::no_time) of_device[frames[i].device].push_back(i);
  std::vector<double> host_time(frames.size());  // of the device's zero
  for (const auto& [device, told] : of_device) {
    std::vector<double> differences;
    for (const std::size_t i : told)
      differences.push_back(us_between(zero, frames[i].seen) - frames[i].on_device.downloaded);
    for (std::size_t k = 0; k < told.size(); k++) {
      const auto at = [&](std::size_t n) { return differences.begin() + static_cast<std::ptrdiff_t>(n); };
      host_time[told[k]] =
          *std::min_element(at(k < around ? 0 : k - around), at(std::min(told.size(), k + around + 1)));
    }
  }
  for (std::size_t i = 0; i < frames.size(); i++) {
    const frame_trace& f = frames[i];
    const double seen = us_between(zero, f.seen);
    double at = us_between(zero, f.due);
    std::size_t place = 0;
    const auto leaves =
        [&](double when) {  // clocks agree to some microseconds: no place ends before it begins
          when = std::max(when, at);
          all[i][place++] = when - at;
          at = when;
        };
    leaves(us_between(zero, f.pushed));
    leaves(us_between(zero, f.started));
    leaves(us_between(zero, f.submitted));
    const lane_times& d = f.on_device;
    double known = at;
    const auto leaves_device = [&](double when) {
      if (when != lane_times::no_time) known = std::min(when + host_time[i], seen);
      leaves(known);
    };
    leaves_device(d.upload_begun);
    leaves_device(d.uploaded);
    if (d.uploaded == lane_times::no_time && d.downloaded != lane_times::no_time)
      leaves_device(d.downloaded);  // a graph: all of it computes
    else
      leaves_device(d.computed);
    leaves_device(d.downloaded);
    leaves(seen);
    leaves(us_between(zero, f.delivered));
  }
  return all;
}

frame_tail tail_of(const std::vector<place_times>& frames, double percent) {
  frame_tail t;
  if (frames.empty()) return t;
  std::vector<double> latency;
  for (const place_times& f : frames) latency.push_back(std::accumulate(f.begin(), f.end(), 0.0));
  std::vector<double> sorted = latency;
  std::sort(sorted.begin(), sorted.end());
  const double rank = std::ceil(percent * static_cast<double>(sorted.size()) / 100);  // the nearest one
  t.beyond_us = sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
  for (std::size_t p = 0; p < frame_places; p++) {
    std::vector<double> here;
    for (const place_times& f : frames) here.push_back(f[p]);
    t.median_us[p] = median(std::move(here));
  }
  std::size_t run = 0;
  for (std::size_t i = 0; i < frames.size(); i++) {
    run = latency[i] > t.beyond_us ? run + 1 : 0;
    if (run == 0) continue;
    t.frames++;
    t.runs += run == 1;
    t.longest_run = std::max(t.longest_run, run);
    for (std::size_t p = 0; p < frame_places; p++) t.excess_us[p] += frames[i][p] - t.median_us[p];
  }
  for (double& e : t.excess_us) e /= static_cast<double>(std::max<std::size_t>(t.frames, 1));
  return t;
}

}  // namespace wb
