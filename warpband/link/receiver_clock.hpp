#pragma once
// How long the receiver of a link takes on this device: its detector or demapper, and its decoder, each
// alone.
#include <complex>
#include <cstddef>
#include <optional>

#include <warpband/exec/executor.hpp>
#include <warpband/fec/crc/crc.hpp>
#include <warpband/link/link.hpp>
#include <warpband/modem/qam/qam.hpp>

namespace wb {

/// Seconds of a frame in a large batch, all data on the device; the least of several runs.
struct receiver_times {
  double detect = 0;      // detector, or demapper
  double decode = 0;      // 0 uncoded
  double iterations = 0;  // of the decoder, the mean of a frame
  double seconds() const noexcept { return detect + decode; }
};

/// Times receivers of one link. Frames are sent through its channel at a point and stay on the executor;
/// receivers that are timed at the same point get the same frames.
class receiver_clock {
 public:
  /// Throws argument_error for a link that it does not time: one with a space-time code, massive MIMO or
  /// lte-transport; and what `completed` throws.
  receiver_clock(const link_config& link, executor& exec);

  /// Times detector and decoder of `link`, which is the clock's but for those two, at a point in its axis.
  /// Waits. Throws argument_error where the link sends other frames.
  receiver_times measure(const link_config& link, double point_db);

 private:
  /// Frames that are received at the point, in received_ and gain_.
  void send(double point_db);
  void detect(const detector& detector, std::size_t frames);
  void demap(const demapper& demapper, std::size_t frames);

  link_config link_;
  executor& exec_;
  qam_mapper mapper_;
  std::size_t bits_ = 0, sent_ = 0, padded_ = 0, uses_ = 0, symbols_ = 0;  // of a frame
  std::size_t unit_ = 0, batch_ = 0;                                       // frames
  bool streams_ = false;                                                   // there is a detector
  std::optional<double> point_db_;                                         // of the frames that are there
  array<std::uint8_t> source_, coded_, decided_, status_;
  array<std::complex<float>> sent_symbols_, received_, gain_;
  array<float> llr_, noise_var_;
  array<std::int32_t> iterations_;
};

}  // namespace wb
