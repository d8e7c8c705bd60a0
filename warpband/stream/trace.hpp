#pragma once
// Where frames lose their time: when each passed its places, from the moment it was due to its delivery, and
// what the slowest of them have in excess of the others, place by place.
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <warpband/stream/latency.hpp>

namespace wb {

using frame_clock = std::chrono::steady_clock;

/// When a frame was where, by its device's clock, in microseconds from a moment that all lanes of the device
/// have in common; no_time: it is not known.
struct lane_times {
  static constexpr double no_time = -1;
  double upload_begun = no_time, uploaded = no_time, computed = no_time, downloaded = no_time;
};

/// A frame that was delivered, on its last run.
struct frame_times {
  std::uint64_t sequence = 0;
  std::size_t device = 0;             // index in pipeline_config::devices
  frame_clock::time_point due;        // from when on its latency counts
  frame_clock::time_point pushed;     // it was in the queue
  frame_clock::time_point started;    // the device's thread took it
  frame_clock::time_point submitted;  // all of it was queued on the device; of a CPU: started
  frame_clock::time_point seen;       // that it was done
  frame_clock::time_point delivered;
  lane_times on_device;
};

/// What a frame passes, one behind the other; names are those of name_of.
enum class frame_place {
  pushing,      // from when it was due
  queueing,     // waits for a stream of a device
  submitting,   // the host queues copies and kernels
  waiting,      // with parts: for the copies of the frame before
  uploading,    // its copies in, as far as the host was not submitting; with parts also kernels of the others
  computing,    // kernels, with parts those of the last one; all of a CPU; all that a device does not tell
  downloading,  // its copies out
  noticing,     // it is done, and nobody has seen it
  delivering,   // waits for frames before it
};
inline constexpr std::size_t frame_places = 9;
const char* name_of(frame_place place) noexcept;

/// Microseconds at each place; they add up to the latency.
using place_times = std::array<double, frame_places>;
/// `zero_us`: when the frame's device counted from 0, in microseconds of the host from when it was due. What
/// a recorded graph does not tell is computing: its copies too.
place_times places_of(const frame_times& frame, double zero_us);

struct traced_frame {
  frame_times times;
  place_times places_us{};
  double latency_us = 0;
};

/// Of a pipeline.
struct stream_trace {
  std::uint64_t frames = 0;               // that were delivered
  std::vector<latency_histogram> places;  // their times at each
  std::vector<traced_frame> slowest;      // of them, the slowest first
  std::size_t slowest_kept = 0;           // so many of these are kept
};

/// What the slowest frames of a trace have in excess of all.
struct trace_tail {
  double from_us = 0;    // the least latency of theirs
  std::size_t runs = 0;  // of slowest frames one behind the other, among those pushed
  std::size_t longest_run = 0;
  place_times median_us{};  // of all frames, as latency_histogram tells it
  place_times excess_us{};  // of the slowest over these medians, on average; below 0 where they are faster
  place_times share{};      // of each place in the excesses above 0; they add up to 1, or all are 0
};
trace_tail tail_of(const stream_trace& trace);

/// Makes a trace from what a pipeline tells it, by one thread at a time. Allocates in its constructor and in
/// result() only.
///
/// Times of a device become the host's by the least difference of the two, at the end of a frame, among the
/// frames of that device in the 100 to 125 ms before: such a frame is taken to have been seen at once, and
/// noticing is what others have in excess of that. Clocks that drift apart by 40 us a second make that 5 us
/// wrong at most; a frame that has no other before it in that time has no noticing.
class frame_tracer {
 public:
  frame_tracer(std::size_t slowest_kept, std::size_t slots, std::size_t devices);
  frame_tracer(const frame_tracer&) = delete;
  frame_tracer& operator=(const frame_tracer&) = delete;
  /// A frame in a slot ended and waits for its delivery; `tells`: device_told() follows.
  void ended(std::size_t slot, const frame_times& times, bool tells) noexcept;
  void delivered(std::size_t slot, frame_clock::time_point time) noexcept;
  /// Before or after delivered(); then the slot may have the next frame already. Nothing where the device's
  /// times are not known.
  void device_told(std::size_t slot, std::uint64_t sequence, const lane_times& times) noexcept;
  /// Frames delivered from now on.
  void reset() noexcept;
  stream_trace result() const;

 private:
  struct pending {
    frame_times times;
    bool waits_for_delivery = false, waits_for_device = false;
  };
  /// The least of values that were added not long ago.
  class recent_least {
   public:
    void add(double now_us, double value) noexcept;
    double get(double now_us) const noexcept;

   private:
    static constexpr double each_us = 25'000;
    static std::int64_t number_of(double us) noexcept { return static_cast<std::int64_t>(us / each_us); }
    static constexpr std::size_t cells = 5;
    std::array<std::int64_t, cells> number_{-1, -1, -1, -1, -1};
    std::array<double, cells> least_{};
  };
  void finish(pending& frame) noexcept;

  std::vector<pending> pending_;          // of each slot
  std::vector<recent_least> zero_us_of_;  // of each device, from the host clock's zero
  std::uint64_t frames_ = 0;
  std::vector<latency_histogram> places_;
  std::vector<traced_frame> slowest_;  // a heap, the fastest of them at its top
  std::size_t most_;
};

}  // namespace wb
