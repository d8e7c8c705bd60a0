#pragma once
// What a frame takes when nothing else runs: the parts that a pipeline overlaps, one by one.
#include <functional>
#include <string>
#include <vector>

#include <warpband/receive/frame_receiver.hpp>

namespace wb {

/// Medians, in microseconds. On a CUDA device copies and stages are timed by its own clock; on a CPU, which
/// works where a frame lies, there are no copies.
struct stage_times {
  double upload_us = 0, download_us = 0;
  std::vector<double> stage_us;  // of each stage of the chain
  double kernel_us = 0;          // all stages, one behind the other
  /// The copies alone of frames one behind the other, both ways at once: the time that each frame adds. With
  /// it nothing else costs a pipeline that copies frames one by one, or so many at a time.
  double copies_us = 0;
  double synchronous_us = 0;  // copies and stages of one frame and the wait for it, by the host's clock
  /// Of uploads and of whole frames, 99.9 % of which take no longer, and the longest one: what the machine
  /// does to a frame that nothing else delays.
  double upload_p999_us = 0, upload_max_us = 0, synchronous_p999_us = 0, synchronous_max_us = 0;
  std::size_t upload_bytes = 0, download_bytes = 0;
};

/// Of stage_times::copies_us, for frames that go to several CUDA devices in turn: what copies alone of all of
/// them at once take for each frame, in microseconds. Throws argument_error where `devices` is empty or names
/// a CPU, the chain has no frames of `items`, `repetitions` is not in 1..10^6 or `batch` not in 1..64.
double measure_copies(const frame_receiver& chain, const std::vector<std::string>& devices, std::size_t items,
                      int repetitions = 30, int batch = 1);

/// Runs a frame of `items` again and again on a device; `inputs` are its arrays. `batch` frames go as one
/// copy in copies_us. Once `enough`, which is asked before each repetition, says so, each time is that of
/// one. Throws argument_error where the chain has no frames of `items`, `inputs` are not as many as it takes,
/// or `repetitions` or `batch` are not as above; and as open_executor and the chain's attach do.
stage_times measure_stages(const frame_receiver& chain, const std::string& device, int threads,
                           std::size_t items, const std::vector<const void*>& inputs, int repetitions = 30,
                           int batch = 1, const std::function<bool()>& enough = {});

}  // namespace wb
