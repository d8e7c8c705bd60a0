#pragma once
// Massive MIMO in a link (docs/li-thesis.md): B antennas of a base station, U users, and OFDM.
// link/link.hpp has its frames and signal-to-noise ratios, link/gain/gain.hpp what users know of their
// channels.
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include <warpband/core/setting.hpp>
#include <warpband/link/link_antennas.hpp>
#include <warpband/massive/cluster/cluster.hpp>
#include <warpband/modem/demap/demap.hpp>
#include <warpband/receive/frame_receiver.hpp>

namespace wb {

enum class massive_direction { uplink, downlink };
const char* name_of(massive_direction) noexcept;  // "uplink", "downlink"

/// What the base station knows of the channel.
enum class massive_csi {
  perfect,
  ls,  // least squares from pilots of the users, orthogonal sequences: H and CN(0, N0 / (Es pilots)) an entry
};

struct massive_link_config {
  massive_direction direction = massive_direction::uplink;
  int antennas = 128, users = 16;  // B: users..512, U: 1..64
  massive_solver solver = massive_solver::cholesky;
  std::optional<int> iterations = {};       // of solvers that have them: 1..64
  float residual = least_massive_residual;  // cg, jacobi_cg
  /// The base station's antennas in so many clusters, and what these exchange.
  int clusters = 1;  // 1..64, divides the antennas
  massive_cluster_method cluster_method = massive_cluster_method::exact;
  /// Uplink alone. Left out: exact where the solver has it.
  std::optional<massive_sinr> sinr = {};
  massive_csi csi = massive_csi::perfect;
  std::optional<int> pilots = {};  // of ls, the length of the sequences: users..4096; absent: users
  std::optional<double> pilot_snr_db =
      {};  // of ls, Es / N0 of a pilot: -100..300; absent: 1 / N0 of the data
  /// OFDM symbols from the moment of the channel that the base station knows to the data: 0..100000. Beyond 0
  /// of channel "tdl" without a Rician tap.
  int csi_delay = 0;
  /// Of the users, downlink alone.
  demap_algorithm demapper = demap_algorithm::max_log;
  int subcarriers = 128;  // 1..4096; 0: all that the channel has, of a file
  int symbols = 1;        // 1..64
  /// Codewords of a frame.
  std::size_t codewords() const noexcept {
    return static_cast<std::size_t>(users) * static_cast<std::size_t>(symbols);
  }
};

template <>
inline constexpr std::string_view antennas_name<massive_link_config> = "massive";

/// Its settings but for the demapper, which is the link's: names, what is allowed, what they mean.
const std::vector<setting_of<massive_link_config>>& massive_link_settings();

/// The base station's detector, uplink, of a completed configuration, and its precoder, downlink.
uplink_config uplink_of(const massive_link_config& config, int qam);
downlink_config downlink_of(const massive_link_config& config);
/// The same in clusters.
clustered_uplink_config clustered_uplink_of(const massive_link_config& config, int qam);
clustered_downlink_config clustered_downlink_of(const massive_link_config& config);
/// The detector of a completed uplink for streams: frames of so many OFDM symbols, with an H of its own on
/// each subcarrier. An item is the vector of one subcarrier and symbol.
std::unique_ptr<frame_receiver> make_uplink_frames(const massive_link_config& config, int qam, int symbols);

}  // namespace wb
