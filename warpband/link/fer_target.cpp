#include <warpband/link/fer_target.hpp>

#include <algorithm>
#include <cmath>

#include <warpband/core/check.hpp>
#include <warpband/core/decimal.hpp>

namespace wb {
namespace {

constexpr double coarsest_step_db = 4;
constexpr int most_tests = 256;
constexpr std::uint64_t first_frames = 8;

/// The lattice of points: the largest 4 dB / 2^n with two steps in the wanted width.
double step_of(double width_db) {
  double step = coarsest_step_db;
  while (2 * step > width_db) step /= 2;
  return step;
}

double on_lattice(double db, double step) { return std::round(db / step) * step; }

enum class verdict { undecided, above, below };

/// Estimates where the FER is `fer` from points in [low, high], whose ends are above and below it.
double estimate(const std::vector<point_result>& points, double low, double high, double fer) {
  // Least squares of logits, whose variance is 1 / (n p (1 - p)).
  double w = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (const point_result& p : points) {
    if (p.sweep_db < low || p.sweep_db > high) continue;
    const double n = static_cast<double>(p.counts.frames) + 1,
                 rate = (static_cast<double>(p.counts.frame_errors) + 0.5) / n;
    const double weight = n * rate * (1 - rate), db = p.sweep_db - low, logit = std::log(rate / (1 - rate));
    w += weight, x += weight * db, y += weight * logit, xx += weight * db * db, xy += weight * db * logit;
  }
  const double slope = (w * xy - x * y) / (w * xx - x * x), start = (y - slope * x) / w;
  if (!(slope < 0)) return (low + high) / 2;
  return std::clamp(low + (std::log(fer / (1 - fer)) - start) / slope, low, high);
}

class fer_search {
 public:
  fer_search(frame_runner& frames, const fer_target& target, const fer_progress& progress)
      : frames_(frames),
        target_(target),
        progress_(progress),
        step_(step_of(target.width_db)),
        confidence_(1 - (1 - target.confidence) / most_tests) {}

  fer_target_result run() {
    double db = on_lattice(target_.near_db.value_or(2 * coarsest_step_db), step_);
    double stride = target_.near_db ? 0.5 : coarsest_step_db;
    while (!over_) {
      if (narrow_enough()) {
        result_.outcome = fer_outcome::reached;
        break;
      }
      if (result_.low_db && result_.high_db)
        db = on_lattice((*result_.low_db + *result_.high_db) / 2, step_);
      else if (result_.low_db)
        db = *result_.low_db + stride, stride *= 2;
      else if (result_.high_db)
        db = *result_.high_db - stride, stride *= 2;
      if (!limit(db)) break;
      settle(db);
    }
    if (result_.low_db && result_.high_db)
      result_.db = estimate(result_.points, *result_.low_db, *result_.high_db, target_.fer);
    return std::move(result_);
  }

 private:
  bool narrow_enough() const {
    return result_.low_db && result_.high_db && *result_.high_db - *result_.low_db <= target_.width_db;
  }
  bool inside(double db) const {
    return db >= target_.least_db && db <= target_.most_db && (!result_.low_db || db > *result_.low_db) &&
           (!result_.high_db || db < *result_.high_db);
  }
  /// Keeps a point where to search. False where an end of that is decided, and there is nothing beyond.
  bool limit(double& db) {
    if (result_.low_db && *result_.low_db >= target_.most_db) return end(fer_outcome::above);
    if (result_.high_db && *result_.high_db <= target_.least_db) return end(fer_outcome::below);
    db = std::clamp(db, target_.least_db, target_.most_db);
    return true;
  }
  bool end(fer_outcome outcome) {
    result_.outcome = outcome;
    over_ = true;
    return false;
  }

  /// Runs frames at a point, and where it stays undecided around it, until the interval is smaller. Where the
  /// FER falls slowly, neighbours are undecided too: then those four times as far away tell.
  void settle(double db) {
    const double rarer = std::min(target_.fer, 1 - target_.fer);
    const auto enough = static_cast<std::uint64_t>(std::ceil(10 / rarer)),  // to decide where there are none
        patience = 4 * enough;
    for (std::uint64_t frames = first_frames; !over_; frames *= frames < enough ? 4 : 2) {
      if (test(db, frames)) return;
      if (frames < patience) continue;
      for (const double side : {-step_, step_})
        for (double away = side; !over_ && inside(db + away) && !test(db + away, frames);) away *= 4;
      if (narrow_enough()) return;
    }
  }

  /// Runs a point up to so many frames; true where the point is decided then, and an end of the interval.
  bool test(double db, std::uint64_t frames) {
    point_result& point = point_at(db);
    const std::uint64_t held = point.counts.frames;
    if (frames <= held) return false;  // tested before
    const std::uint64_t others = result_.frames - held;
    frames = std::min(frames, target_.max_frames - std::min(others, target_.max_frames));
    if (frames <= held || tests_ == most_tests) return end(fer_outcome::budget);
    bool cancelled = false;  // maybe by the last batch of the point
    const auto watch = [&](const point_counts& c) {
      result_.frames = others + c.frames;
      cancelled = progress_ && !progress_(result_);
      return !cancelled;
    };
    point = run_point(frames_, db, {.frame_errors = 0, .max_frames = frames}, watch, point.counts);
    if (cancelled) return end(fer_outcome::cancelled);
    tests_++;
    const interval fer = clopper_pearson(point.counts.frame_errors, point.counts.frames, confidence_);
    if (fer.low > target_.fer) result_.low_db = db;
    if (fer.high < target_.fer) result_.high_db = db;
    return fer.low > target_.fer || fer.high < target_.fer;
  }

  point_result& point_at(double db) {
    auto i = std::find_if(result_.points.begin(), result_.points.end(),
                          [=](const point_result& p) { return p.sweep_db >= db; });
    if (i == result_.points.end() || i->sweep_db != db)
      i = result_.points.insert(i, point_of(frames_.config(), db));
    return *i;
  }

  frame_runner& frames_;
  const fer_target& target_;
  const fer_progress& progress_;
  const double step_, confidence_;
  fer_target_result result_;
  int tests_ = 0;
  bool over_ = false;
};

}  // namespace

void check(const fer_target& t) {
  const auto refuse = [](const char* argument, double value, const char* allowed) {
    throw argument_error(argument, decimal(value), allowed);
  };
  if (!(t.fer > 0 && t.fer < 1)) refuse("fer", t.fer, "above 0 and below 1");
  if (!(t.width_db >= 0.01 && t.width_db <= 10)) refuse("width_db", t.width_db, "0.01 to 10 dB");
  if (!(t.confidence >= 0.5 && t.confidence <= 0.9999)) refuse("confidence", t.confidence, "0.5 to 0.9999");
  if (!(t.least_db >= -100 && t.least_db <= 99)) refuse("least_db", t.least_db, "-100 to 99 dB");
  if (!(t.most_db >= t.least_db + 1 && t.most_db <= 100))
    refuse("most_db", t.most_db, "least_db + 1 to 100 dB");
  if (t.near_db && !(*t.near_db >= t.least_db && *t.near_db <= t.most_db))
    refuse("near_db", *t.near_db, "least_db to most_db");
  if (t.max_frames == 0) throw argument_error("max_frames", "0", "at least 1");
}

const char* name_of(fer_outcome outcome) noexcept {
  switch (outcome) {
    case fer_outcome::reached:
      return "reached";
    case fer_outcome::budget:
      return "budget";
    case fer_outcome::above:
      return "above";
    case fer_outcome::below:
      return "below";
    case fer_outcome::cancelled:
      return "cancelled";
  }
  return "?";
}

fer_target_result find_fer(frame_runner& frames, const fer_target& target, const fer_progress& progress) {
  check(target);
  if (frames.config().axis == snr_axis::probability)
    throw argument_error("axis", "\"probability\"", "an SNR, which lowers the FER when it rises");
  return fer_search(frames, target, progress).run();
}

}  // namespace wb
