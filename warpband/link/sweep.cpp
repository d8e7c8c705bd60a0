#include <warpband/link/sweep.hpp>

#include <algorithm>
#include <utility>

#include <warpband/core/check.hpp>
#include <warpband/core/decimal.hpp>
#include <warpband/link/chain.hpp>

namespace wb {
namespace {

template <class Points>
auto at(Points& points, double sweep_db) {
  return std::find_if(points.begin(), points.end(), [&](const auto& p) { return p.sweep_db == sweep_db; });
}

/// Searches for the point of the target; what was found before stays.
void search(curve_result& curve, const runner_maker& make, const curve_observer& observer) {
  const bool wants_more = curve.found && curve.found->outcome == fer_outcome::budget &&
                          curve.found->frames < curve.config.stop.max_frames;
  if (curve.found && !wants_more) {
    for (const point_result& p : curve.points)
      if (observer.finished) observer.finished(curve, p);
    return;
  }
  curve.found.reset();
  curve.points.clear();
  fer_target target = *curve.config.target;
  target.max_frames = curve.config.stop.max_frames;
  const std::uint64_t max_batch = std::min<std::uint64_t>(target.max_frames, SIZE_MAX);
  const auto frames = make(curve.config.link, static_cast<std::size_t>(max_batch));
  const auto watch = [&](const fer_target_result& so_far) {
    point_counts total;  // of all points, for who watches
    for (const point_result& p : so_far.points) {
      total.frame_errors += p.counts.frame_errors, total.bit_errors += p.counts.bit_errors;
      total.frames_run += p.counts.frames_run, total.seconds += p.counts.seconds;
    }
    total.frames = so_far.frames;
    return !observer.progress || observer.progress(curve, 0, total);
  };
  fer_target_result found = find_fer(*frames, target, watch);
  if (found.outcome == fer_outcome::cancelled) {
    curve.cancelled = true;
    return;
  }
  std::vector<point_result> points = std::move(found.points);
  found.points.clear();
  curve.found = std::move(found);
  std::erase_if(points, [](const point_result& p) { return p.counts.frames == 0; });
  for (point_result& p : points) {
    curve.points.push_back(std::move(p));
    if (observer.finished) observer.finished(curve, curve.points.back());
  }
}

}  // namespace

point_counts curve_result::counts_at(double sweep_db) const noexcept {
  if (const auto u = at(unfinished, sweep_db); u != unfinished.end()) return u->counts;
  if (const auto p = at(points, sweep_db); p != points.end()) return p->counts;
  return {};
}

curve_result run_curve(const curve_config& curve, executor& exec, const curve_observer& observer) {
  curve_result result{curve.label, curve, {}, {}, false};
  run_curve(result, exec, observer);
  return result;
}

void run_curve(curve_result& curve, executor& exec, const curve_observer& observer) {
  const auto make = [&exec](const link_config& link, std::size_t max_batch) {
    return std::make_unique<link_chain>(link, exec, max_batch);
  };
  run_curve(curve, make, observer);
}

void run_curve(curve_result& curve, const runner_maker& make, const curve_observer& observer) {
  curve_config& config = curve.config;
  config.link = completed(config.link);
  curve.cancelled = false;
  if (config.target) return search(curve, make, observer);
  if (config.link.axis == snr_axis::probability && config.stop.below_fer > 0)
    throw argument_error("below_fer", decimal(config.stop.below_fer), "0 with a channel of bits");
  const std::vector<double>& sweep = config.sweep_db;
  const auto check = [&](double sweep_db) {
    if (std::find(sweep.begin(), sweep.end(), sweep_db) == sweep.end())
      throw argument_error("points", decimal(sweep_db), "a point of the sweep");
  };
  for (const point_result& p : curve.points) check(p.sweep_db);
  for (const unfinished_point& p : curve.unfinished) check(p.sweep_db);

  std::unique_ptr<frame_runner> frames;  // made where there is something to run
  bool below = false;
  std::size_t done = 0;  // points of the result that lie before the one under way
  for (std::size_t i = 0; i < sweep.size(); i++) {
    const double sweep_db = sweep[i];
    const point_counts from = curve.counts_at(sweep_db);
    if (below && from.frames == 0) continue;
    const auto progress = [&](const point_counts& counts) {
      const auto u = std::find_if(curve.unfinished.begin(), curve.unfinished.end(),
                                  [&](const unfinished_point& p) { return p.sweep_db >= sweep_db; });
      if (u != curve.unfinished.end() && u->sweep_db == sweep_db)
        u->counts = counts;
      else
        curve.unfinished.insert(u, {sweep_db, counts});
      return !observer.progress || observer.progress(curve, i, counts);
    };
    point_result point;
    if (from.frames != 0 && has_enough(from, config.stop)) {
      point = point_of(config.link, sweep_db);
      point.counts = from;
      point.stopped_by = reason_of(from, config.stop);
    } else {
      const std::uint64_t max_batch = std::min<std::uint64_t>(config.stop.max_frames, SIZE_MAX);
      if (!frames) frames = make(config.link, static_cast<std::size_t>(max_batch));
      point = run_point(*frames, sweep_db, config.stop, progress, from);
    }
    if (point.stopped_by == stop_reason::cancelled) {
      curve.cancelled = true;
      return;
    }
    if (const auto u = at(curve.unfinished, sweep_db); u != curve.unfinished.end()) curve.unfinished.erase(u);
    if (const auto p = at(curve.points, sweep_db); p != curve.points.end())
      *p = point;
    else
      curve.points.insert(curve.points.begin() + static_cast<std::ptrdiff_t>(done), point);
    done++;
    if (observer.finished) observer.finished(curve, point);
    if (point.fer() < config.stop.below_fer) below = true;
    if (point.codewords != 0 && point.bler() < config.stop.below_bler) below = true;
  }
}

}  // namespace wb
