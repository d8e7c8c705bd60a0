#pragma once
// WiMAX frames as settings, and their receiver with ports: `warpband stream`, `warpband sim` and Python
// describe a frame by the same list (docs/wimax_frames.md).
//
//   arrays in   channel [frames * tones, 2 R]: with csi = "perfect" alone
//               received [frames * symbols * tones, R]: symbols of the direction, frequency first
//               noise_var [1]: N0
//   arrays out  bits_1, bits_2, ... [frames * blocks, k] of each burst
//               status [frames, 1]: with maps alone, status_erased where a frame's FCH or DL-MAP is wrong
//
// Results are bit for bit those of `wimax_receiver`.
#include <memory>
#include <string>
#include <vector>

#include <warpband/core/setting.hpp>
#include <warpband/receive/frame_receiver.hpp>
#include <warpband/receive/wimax/frame.hpp>

namespace wb {

/// What the receiver knows of the channel: H, or what it estimates from the frame's preamble.
enum class wimax_csi { perfect, preamble };
enum class wimax_space_time { alamouti, silver, golden };

struct wimax_frame_config {
  int fft_size = 512;  // of a profile
  double frame_ms = 5;
  double downlink_share = 0.6;  // of the frame's symbols
  wimax_direction direction = wimax_direction::downlink;
  /// "qpsk", "16qam" or "64qam" of each burst. Bursts lie side by side, from the first tone on, in all
  /// symbols behind preamble and maps.
  std::vector<std::string> modulations = {"qpsk"};
  /// Tones of the bursts relative to each other; empty: all alike.
  std::vector<double> shares = {};
  wimax_space_time space_time = wimax_space_time::alamouti;
  int rx_antennas = 2;  // 1..4
  wimax_csi csi = wimax_csi::preamble;
  bool maps = true;
  wimax_map_config map = {};
  /// The code of every burst.
  code_config code = code_config("none");
};
/// Its settings but for the code.
const std::vector<setting_of<wimax_frame_config>>& wimax_frame_settings();

/// The frame, with the symbols of the direction alone: first_symbol_of(direction) is 0. Burst i has
/// floor(tones * shares[i] / sum) tones. `order`: numbers of the bursts from the lowest tone up; empty: as
/// they are. Throws argument_error with the names of settings.
wimax_link_config wimax_link_of(const wimax_frame_config& config, const std::vector<std::size_t>& order = {});

/// Bursts that a chain has at most.
inline constexpr std::size_t most_wimax_bursts = 7;
/// Its stages: estimate with csi = "preamble", maps with maps, bursts. An item is a frame; none is cut into
/// parts. Throws argument_error as wimax_link_of does, and for more than 7 bursts.
std::unique_ptr<frame_receiver> make_wimax_chain(const wimax_frame_config& config);

}  // namespace wb
