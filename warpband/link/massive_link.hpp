#pragma once
// Massive MIMO in a link (docs/li-thesis.md): B antennas of a base station, U users, and OFDM. A frame is a
// drop: U users and their channels, for `symbols` OFDM symbols that share one channel estimate per
// subcarrier. Every user sends, or receives, one codeword in every OFDM symbol, coded bits on subcarriers
// from the first on; zeros fill the last of them. Frames are independent of each other; codewords of a frame
// are not.
//
//   uplink     y = H x + n, detector (massive/uplink), LLRs
//   downlink   precoder (massive/downlink, unit power), y = sqrt(U) H^H x' + n, division by the gain,
//   demapper.
//              A user's gain is known: one number for an OFDM symbol times what the normalisation of each
//              vector left of it, which all users have in common
//
// A codeword is number (frame * symbols + symbol) * users + user, a vector number (frame * subcarriers +
// subcarrier) * symbols + symbol.
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include <warpband/channel/random.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/link/link.hpp>
#include <warpband/link/massive_channel.hpp>
#include <warpband/massive/downlink/downlink.hpp>
#include <warpband/massive/uplink/uplink.hpp>
#include <warpband/modem/demap/demap.hpp>
#include <warpband/modem/qam/qam.hpp>

namespace wb {

/// Of a completed link.
std::unique_ptr<massive_channel> make_massive_channel(const link_channel& channel,
                                                      const massive_link_config& config);

/// From coded bits to LLRs, for frames of a completed link.
class massive_link {
 public:
  explicit massive_link(const link_config& link);
  std::size_t bytes_per_frame() const noexcept;
  /// Buffers for so many frames. Throws memory_error.
  void allocate(executor& exec, std::size_t frames);
  /// Queues: from bits [frames * codewords, subcarriers * m], side by side, to LLRs of the same shape.
  /// noise_var [1] holds n0. `erased` [frames]: vectors that detector or precoder erased.
  void transmit(executor& exec, const std::uint8_t* bits, float* llr, const float* noise_var, float n0,
                std::int32_t* erased, std::size_t frames, random_range range);

 private:
  void receive_uplink(executor& exec, float* llr, const float* noise_var, float n0, std::size_t frames,
                      random_range range);
  void receive_downlink(executor& exec, float* llr, const float* noise_var, float n0, std::size_t frames,
                        random_range range);

  massive_link_config config_;
  qam_mapper mapper_;
  demapper demapper_;
  std::unique_ptr<massive_channel> channel_;
  std::optional<uplink_detector> detector_;
  std::optional<downlink_precoder> precoder_;
  // Of codewords, and of vectors; `antennas_` is what base stations receive or send.
  array<std::complex<float>> symbols_, sent_, antennas_, h_, received_;
  array<float> llr_, noise_var_, factors_;
  array<std::uint8_t> status_, zero_;
};

}  // namespace wb
