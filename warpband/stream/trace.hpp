#pragma once
// Where frames lose their time: the times at which each passed its places, from the moment when it was due to
// its delivery, and what those that are late have in excess of the others, place by place.
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace wb {

using frame_clock = std::chrono::steady_clock;

/// When a frame was where, by its device's clock, in microseconds from a moment that all lanes of the device
/// have in common; no_time: it is not known.
struct lane_times {
  static constexpr double no_time = -1;
  double upload_begun = no_time, uploaded = no_time, computed = no_time, downloaded = no_time;
};

/// A frame that was delivered, on its last run.
struct frame_trace {
  std::uint64_t sequence = 0;
  std::size_t device = 0;
  frame_clock::time_point due;        // from when on its latency counts
  frame_clock::time_point pushed;     // it was in the queue
  frame_clock::time_point started;    // the device's thread took it
  frame_clock::time_point submitted;  // all of it was queued on the device, or done by a CPU
  frame_clock::time_point seen;       // that it was done
  frame_clock::time_point delivered;
  lane_times on_device;
};

/// What a frame passes, one behind the other; names are those of name_of.
enum class frame_place {
  pushing,     // from when it was due
  queueing,    // waits for a stream of a device
  submitting,  // the host queues copies and kernels; of a CPU all the work
  waiting,     // for its copy to begin: for those of the frame before
  uploading,   // on the device beyond submitting; with parts also the kernels of all but the last
  computing,   // the last part's kernels, after the last copy in; of a graph uploading counts here too
  downloading,
  noticing,    // it is done, and nobody has seen it
  delivering,  // also: waits for frames before it
};
inline constexpr std::size_t frame_places = 9;
const char* name_of(frame_place place) noexcept;

/// Microseconds at each place; they add up to the latency. Device times become the host's by the least
/// difference of the two among the 101 frames around a frame, taken for no time at all: `noticing` is what a
/// frame has in excess of that. Where the device does not tell, all of its time is submitting and noticing.
using place_times = std::array<double, frame_places>;
std::vector<place_times> places_of(const std::vector<frame_trace>& frames);

/// What the latest frames have in excess of the others.
struct frame_tail {
  double beyond_us = 0;    // frames of a longer latency than this, the percentile asked for
  std::size_t frames = 0;  // so many
  std::size_t runs = 0;    // of such frames one behind the other, among those given
  std::size_t longest_run = 0;
  place_times median_us{};  // of all frames
  /// What the frames beyond have in excess of these medians at each place, on average.
  place_times excess_us{};
};
/// `percent`: from 0 to 100, exclusive.
frame_tail tail_of(const std::vector<place_times>& frames, double percent);

}  // namespace wb
