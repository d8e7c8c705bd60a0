#pragma once
// Sweeps over Eb/N0 with stop rules.
//
// Frames are counted in order of their index and the count stops at the exact frame that meets the rule; what
// is left of its batch is thrown away. So the counts are the same for any batch size, number of threads and
// backend (except under the rule of time). The counts are also the whole state of a point: run_point goes on
// from them.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <warpband/link/chain.hpp>
#include <warpband/link/interval.hpp>

namespace wb {

/// When a point has enough; the first rule to hold stops it.
struct stop_rule {
  std::uint64_t frame_errors = 100;      // 0: no such rule
  std::uint64_t max_frames = 1'000'000;  // at least 1
  double max_seconds = 0;                // 0: no such rule. With it, counts depend on the machine
  double below_fer = 0;                  // leaves out the points of a curve after one whose FER is below this
};

/// The state of a point: frames [0, frames) are counted, frame `frames` is next.
struct point_counts {
  std::uint64_t frames = 0, bit_errors = 0, frame_errors = 0, erased_frames = 0;
  std::uint64_t iterations = 0;  // of the decoder, sum over the frames
  std::uint64_t frames_run = 0;  // with those thrown away after the stop; for the speed only
  double seconds = 0;
};

enum class stop_reason { frame_errors, max_frames, time, cancelled };
/// "frame_errors", "max_frames", "time", "cancelled".
const char* name_of(stop_reason reason) noexcept;

/// One point of a curve.
struct point_result {
  double ebn0_db = 0, esn0_db = 0;
  std::uint64_t bits_per_frame = 0;
  bool coded = false, independent_bits = false;
  point_counts counts;
  stop_reason stopped_by = stop_reason::max_frames;

  std::uint64_t bits() const noexcept { return counts.frames * bits_per_frame; }
  double ber() const noexcept;
  double fer() const noexcept;
  /// 95%. Not there for the bits of a coded or jointly faded frame: they fail together, and an interval that
  /// takes them for independent would be too narrow.
  std::optional<interval> ber_interval() const;
  interval fer_interval() const;
  /// Mean decoder iterations of a frame; not there when uncoded.
  std::optional<double> mean_iterations() const noexcept;
  /// Megabits per second that went through the whole chain, counted where they enter the encoder.
  double mbps() const noexcept;
};

/// Called after each batch; false cancels.
using point_progress = std::function<bool(const point_counts&)>;

/// Adds a batch's frames to the counts, in order, up to the frame at which the rule holds. True if it did.
bool add_frames(point_counts& counts, const frame_counts& batch, const stop_rule& stop);

/// Runs one point until a rule stops it, from the state `from`. Throws argument_error for max_frames = 0.
point_result run_point(link_chain& chain, double ebn0_db, const stop_rule& stop,
                       const point_progress& progress = {}, const point_counts& from = {});

/// A curve to run.
struct curve_config {
  std::string label;
  link_config link;
  std::vector<double> ebn0_db;
  stop_rule stop;
};

/// A curve as far as it was run.
struct curve_result {
  std::string label;
  curve_config config;  // with the link's completed
  std::vector<point_result> points;
  bool cancelled = false;
};

/// What a curve tells while it runs. Both may be empty.
struct curve_observer {
  /// After each batch of point `index`; false cancels the curve.
  std::function<bool(const link_chain& chain, std::size_t index, const point_counts&)> progress;
  /// A point is finished: it is the last of the result's.
  std::function<void(const curve_result&)> finished;
};

/// Runs a curve's points in order. A cancelled point is left out.
curve_result run_curve(const curve_config& curve, executor& exec, const curve_observer& observer = {});

}  // namespace wb
