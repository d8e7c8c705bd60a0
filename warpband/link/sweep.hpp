#pragma once
// Curves: sweeps over Eb/N0, SNR or Es/N0, and searches for the point of a frame error rate. Counts are exact
// and depend on neither threads nor device, and a curve goes on from them: see link/point.hpp.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <warpband/link/config/tree.hpp>
#include <warpband/link/fer_target.hpp>
#include <warpband/link/point.hpp>

namespace wb {

using config::swept_setting;

/// A curve to run.
struct curve_config {
  std::string label;
  link_config link;
  std::vector<double> sweep_db;  // in link.axis; empty with a target
  stop_rule stop;
  /// The point is searched for where the frame error rate is this one. stop.max_frames is then for all points
  /// of the search together, and other stop rules do not count.
  std::optional<fer_target> target = {};
  /// Of a sweep over settings: the label without them, which its curves share, and the settings.
  std::string family = {};
  std::vector<swept_setting> parameters = {};
};

/// The counts of a point that no rule has stopped yet.
struct unfinished_point {
  double sweep_db = 0;
  point_counts counts;
};

/// A curve as far as it was run: a run goes on from it.
struct curve_result {
  std::string label;
  curve_config config;               // with the link's completed
  std::vector<point_result> points;  // those that a rule has stopped, in the order of the sweep
  /// Points that were begun, or that go on from their finished state because a later rule asks for more: that
  /// state is still among `points` then. In the order of the sweep.
  std::vector<unfinished_point> unfinished;
  bool cancelled = false;
  /// With a target: how the search ended, without its points, which are those above. Nothing: it did not.
  std::optional<fer_target_result> found = {};

  /// What is counted at a point, finished or not; without a frame where nothing is.
  point_counts counts_at(double sweep_db) const noexcept;
};

/// What a curve tells while it runs. Both may be empty. `so_far` is all that is there, with the point under
/// way: a copy of it is what a later run can go on from.
struct curve_observer {
  /// After each batch of point `index` of the sweep; false cancels the curve.
  std::function<bool(const curve_result& so_far, std::size_t index, const point_counts&)> progress;
  /// A point is finished, or was already.
  std::function<void(const curve_result& so_far, const point_result&)> finished;
};

/// Runs a curve's points in order, on what `make` makes of its link or on an executor. A cancelled point is
/// among the unfinished.
curve_result run_curve(const curve_config& curve, executor& exec, const curve_observer& observer = {});

/// Goes on with a curve: runs what `curve.config` asks for beyond what `curve` holds, and leaves it in
/// `curve`, as far as it came even where it throws. The stop rule may be another than before and points may
/// have been added. The counts are then what a single run under the last rule gives, except that no existing
/// counts are thrown away: points that have more than the rule asks for keep it, and below_fer leaves out
/// only points of which nothing is held. The rest of the configuration must be what the counts were taken
/// with: that is the caller's to see to. Throws argument_error where the curve holds a point that the sweep
/// does not list.
void run_curve(curve_result& curve, const runner_maker& make, const curve_observer& observer = {});
void run_curve(curve_result& curve, executor& exec, const curve_observer& observer = {});

}  // namespace wb
