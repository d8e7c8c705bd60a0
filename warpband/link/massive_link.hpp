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
#include <vector>

#include <warpband/channel/random.hpp>
#include <warpband/core/setting.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/massive/downlink/downlink.hpp>
#include <warpband/massive/uplink/uplink.hpp>
#include <warpband/modem/demap/demap.hpp>
#include <warpband/modem/qam/qam.hpp>

namespace wb {

struct link_config;

enum class massive_direction { uplink, downlink };
const char* name_of(massive_direction) noexcept;  // "uplink", "downlink"

struct massive_link_config {
  massive_direction direction = massive_direction::uplink;
  int antennas = 128, users = 16;  // B: users..512, U: 1..64
  massive_mode solver = massive_mode::cholesky;
  int iterations = 0;  // cg, jacobi_cg: 1..64
  /// Uplink. Left out: exact where the solver has it.
  std::optional<massive_sinr> sinr = {};
  int subcarriers = 128;  // 1..4096; 0 with channel_type::file: all of the file's
  int symbols = 1;        // 1..64
  /// Codewords of a frame.
  std::size_t codewords() const noexcept {
    return static_cast<std::size_t>(users) * static_cast<std::size_t>(symbols);
  }
};

/// Its settings: names, what is allowed, what they mean.
const std::vector<setting_of<massive_link_config>>& massive_link_settings();

/// Channel matrices of frames. A frame has one for every subcarrier, or one alone.
class massive_channel {
 public:
  massive_channel(const massive_channel&) = delete;
  massive_channel& operator=(const massive_channel&) = delete;
  virtual ~massive_channel() = default;
  /// 1 or the subcarriers.
  virtual std::size_t matrices() const noexcept = 0;
  /// What it needs beside H.
  virtual std::size_t bytes_per_frame() const noexcept { return 0; }
  /// Queues H of frames range.first, range.first + 1, ... to [frames * matrices(), B * U].
  virtual void draw(executor& exec, view<std::complex<float>> h, random_range range) = 0;
  /// The same, and sends x [vectors, U] to y [vectors, B].
  virtual void send(executor& exec, view<const std::complex<float>> x, view<std::complex<float>> y,
                    view<std::complex<float>> h, random_range range);

 protected:
  massive_channel() = default;
};
/// That of a link's channel settings. The link is completed.
std::unique_ptr<massive_channel> make_massive_channel(const link_config& link);

/// Checks, and chooses what is left open; part of `completed`. Throws argument_error.
void complete_massive(link_config& c);

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
