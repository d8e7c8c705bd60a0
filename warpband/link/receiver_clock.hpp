#pragma once
// How long the receiver of a link takes on this device: its detector or demapper, and its decoder, each
// alone.
#include <cstddef>
#include <optional>

#include <warpband/link/frame_counter.hpp>
#include <warpband/link/transmitter.hpp>

namespace wb {

/// Seconds of a frame in a large batch, all data on the device; the least of several runs. With HARQ those of
/// the first transmission.
struct receiver_times {
  double detect = 0;      // detector, or demapper
  double decode = 0;      // 0 uncoded
  double iterations = 0;  // of the decoder, the mean of a codeword
  double seconds() const noexcept { return detect + decode; }
};

/// Times receivers of one link behind its stages. Receivers that are timed at the same point get the same
/// frames: those that the link sends first there.
/// Threads: one at a time.
class receiver_clock {
 public:
  /// Throws argument_error as check_choices (link/tradeoff.hpp) does, and what `completed` throws.
  receiver_clock(const link_config& link, executor& exec);
  receiver_clock(const receiver_clock&) = delete;
  receiver_clock& operator=(const receiver_clock&) = delete;

  /// Times detector and decoder of `link`, which is the clock's but for those two, at a point in its axis.
  /// Waits. Throws argument_error where the link sends other frames.
  receiver_times measure(const link_config& link, double point_db);

 private:
  frame_batch batch_at(double point_db) const { return {.frames = batch_, .point_db = point_db}; }
  /// Bits of all frames of a point as they are sent.
  const std::uint8_t* bits_at(double point_db);

  link_config link_;
  executor& exec_;
  frame_sizes size_;
  transmitter transmitter_;
  std::size_t unit_ = 0, batch_ = 0;  // frames
  std::optional<double> point_db_;    // of the bits that are there
  const std::uint8_t* sent_ = nullptr;
};

}  // namespace wb
