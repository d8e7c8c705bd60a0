#pragma once
// The signal-to-noise ratio at which a link has a given frame error rate (FER).
//
// The search is a bisection. It runs frames at a point until an exact (Clopper-Pearson) interval of the FER
// excludes the target: the point is then an end of the interval of the SNR. A point too close to the target
// stays undecided; its two neighbours, half the wanted width away, then become the ends.
//
// An interval is tested after 8, 32, ... frames, so the risk is shared: each of at most 256 tests of a search
// has 1/256 of 1 - confidence. The SNR therefore lies in [low_db, high_db] with at least `confidence`, if the
// FER falls while the SNR rises. An error floor above the target breaks no rule: the search then says so.
//
// Points lie on a lattice of 4 dB / 2^n. Links that differ only in their receiver see the same noise there.
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <warpband/link/frame_runner.hpp>
#include <warpband/link/point.hpp>

namespace wb {

/// What a search looks for, and where. dB are those of the link's axis.
struct fer_target {
  double fer = 1e-2;         // above 0 and below 1; with massive MIMO of drops with any wrong codeword
  double width_db = 0.1;     // of the interval in the end, at most: 0.01..10
  double confidence = 0.95;  // of the interval: 0.5..0.9999
  double least_db = -30, most_db = 60;  // where to search: -100..100, a dB apart or more
  /// Where the point probably lies. Steps begin with 0.5 dB there, else with 4 dB at 8 dB.
  std::optional<double> near_db = {};
  std::uint64_t max_frames = 10'000'000;  // of all points together, at least 1
};
/// Throws argument_error for what is not allowed.
void check(const fer_target& target);

/// Why a search ended.
enum class fer_outcome {
  reached,    // the interval is as small as was asked for
  budget,     // max_frames, or 256 tests, are used up before
  above,      // the FER is above the target even at most_db
  below,      // the FER is below the target even at least_db
  cancelled,  // by the observer
};
/// "reached", "budget", "above", "below", "cancelled".
const char* name_of(fer_outcome outcome) noexcept;

struct fer_target_result {
  fer_outcome outcome = fer_outcome::budget;
  /// The estimate: where a line through the points of the interval, in logits of the FER, meets the target.
  /// Only where both ends of the interval are known.
  std::optional<double> db = {};
  /// Ends of the interval: there the FER is above, and below, the target. Nothing: not found.
  std::optional<double> low_db = {}, high_db = {};
  std::uint64_t frames = 0;          // of all points
  std::vector<point_result> points;  // all that were run, in rising order

  bool reached() const noexcept { return outcome == fer_outcome::reached; }
};

/// Called after each batch with what is known so far; false cancels.
using fer_progress = std::function<bool(const fer_target_result& so_far)>;

/// Searches for the point of the link where the FER is the target's. The result depends on the link and the
/// target alone, not on threads, batches or the device (but for frames_run and seconds of its points). Throws
/// argument_error, also for a channel of bits.
///
///   link_chain chain(config, exec);
///   const fer_target_result r = find_fer(chain, {.fer = 1e-2});
///   if (r.reached()) print(*r.db, *r.low_db, *r.high_db);
fer_target_result find_fer(frame_runner& frames, const fer_target& target, const fer_progress& progress = {});

}  // namespace wb
