#pragma once
// How many OFDM symbols a frame should have, and how many frames a device should work on at once: the most
// throughput within a latency (K. Li, "GPU Accelerated Reconfigurable Detector and Precoder for Massive MIMO
// SDR Systems", section 5.2, where both are chosen by hand).
//
// More symbols, and more frames under way, fill a device better, and each frame waits longer. The search
// tries all pairs. Both make latencies longer, so a pair is skipped if a pair with no more of either is too
// slow.
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <warpband/code/code_kind.hpp>
#include <warpband/receive/frame_receiver.hpp>

namespace wb {

struct batching_config {
  double latency_us = 1000;                  // above 0 and at most 1e9
  std::vector<int> symbols{1, 2, 4, 8, 16};  // of a frame, N_sym: rising, each 1..64
  std::vector<int> streams{1, 2, 4, 8, 16};  // frames under way, N_stream: rising, each 1..64
};
/// What a device does with frames of one size.
struct batching_rate {
  double frames_per_second = 0;
  double latency_us = 0;  // that 99 % of the frames do not exceed
};
struct batching_entry {
  int symbols = 1, streams = 1;
  batching_rate rate;
  bool within = false;  // whether it keeps the latency

  double symbols_per_second() const noexcept { return symbols * rate.frames_per_second; }
};

/// Its numbers by name, for files.
named_values described(const batching_entry& entry);
/// 1, 2, 4, ... and `limit`, 1..64: the symbols of a frame to try where so many share a channel estimate.
std::vector<int> symbols_to_try(int limit);

using batching_measurement = std::function<batching_rate(int symbols, int streams)>;
/// All pairs that were measured, in the order of symbols, then of streams. `goes_on` is asked before each;
/// false ends the search. Throws argument_error for lists and a latency that are not as above.
std::vector<batching_entry> search_batching(const batching_config& config,
                                            const batching_measurement& measure,
                                            const std::function<bool()>& goes_on = {});
/// The entry with the most symbols a second among those that keep the latency; of equal ones the first.
std::optional<std::size_t> best_batching(std::span<const batching_entry> entries);

struct batching_run {
  std::string device = "cpu";  // "cpu", "cuda:0", ...
  int threads = 1;             // "cpu": threads that a frame is shared by; 0: all cores
  double seconds = 0.25;       // above 0 and at most 60
};
/// Keeps `streams` frames of random samples under way in a pipeline: another one is sent as soon as the
/// oldest is back. A latency counts from the push of a frame to its delivery. Throws argument_error where the
/// chain has no frames of `items`, and as frame_pipeline does.
batching_rate measure_batching(const std::shared_ptr<const frame_receiver>& chain, std::size_t items,
                               int streams, const batching_run& run);

}  // namespace wb
