#pragma once
// WiMAX frames as antennas of a link (receive/wimax/chain.hpp, docs/wimax_frames.md): one burst of each frame
// is counted. Its blocks are the codewords of a frame; without a code those of the space-time code. The other
// bursts are in the DL-MAP, but their tones stay empty, as bursts do not disturb each other.
//
// The channel is constant during a frame. It is one of those of massive MIMO except "cdl". SNR and Eb/N0 are
// those of the burst's symbols. Preamble and maps cost neither power nor rate. Where a frame's FCH or DL-MAP
// is wrong the burst is erased: its codewords count as wrong if they have a 1, and its uses as erased.
#include <warpband/link/link_antennas.hpp>
#include <warpband/receive/wimax/chain.hpp>

namespace wb {

struct wimax_burst_config {
  wimax_frame_config frame = {};  // its code is left to `completed`
  int burst = 1;                  // the one that is counted
};
template <>
inline constexpr std::string_view antennas_name<wimax_burst_config> = "wimax";
/// Names, what is allowed, what they mean.
const std::vector<setting_of<wimax_burst_config>>& wimax_burst_settings();

}  // namespace wb
