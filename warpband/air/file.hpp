#pragma once
// Channel estimates of a file (channel/file) in links: frame n has snapshot n modulo the file's snapshots, at
// every point of a sweep and in every transmission of the frame. H are the first antennas and transmitters
// of the file, as many as the link has. The uses of a frame (of a space-time code the codewords) have the
// file's subcarriers in turn. Massive MIMO has the first subcarriers of the file; slots of 5G NR too, or with
// spacing_khz those between which their subcarriers lie, interpolated linearly. With fading_type::fast the
// file is one sequence of H, snapshot by snapshot, of which every use or codeword has the next.
//
// H are scaled to mean |h|^2 = 1 for each transmitter over the antennas and subcarriers that are taken. Where
// an estimate is missing H is 0: detectors and precoders erase these uses, which are counted.
#include <optional>

#include <warpband/air/rayleigh.hpp>

namespace wb {

struct csi_channel_config {
  std::string path;
  /// As a scenario has it, for results; empty: the path.
  std::string name = {};
  /// Mean |h|^2 is 1 for each transmitter in every snapshot, or over all of them.
  bool power_control = true;
  fading_type fading = fading_type::block;
  /// Of the file's subcarriers, above 0. Nothing: that of the link.
  std::optional<double> spacing_khz = {};
  // What `complete` finds in the file, unless it is known (snapshots > 0).
  std::string layout = {};  // "plain", "renew", "argos", "csi"
  std::size_t snapshots = 0, subcarriers = 0, antennas = 0, users = 0;
  std::string remark = {};  // of csi_file, for the user to see
  bool operator==(const csi_channel_config&) const = default;
};
template <>
inline constexpr std::string_view air_name<csi_channel_config> = "file";

/// `complete` throws file_error as csi_file does, and argument_error: for what the file does not have
/// ("antennas", "users", "subcarriers", "rx_antennas", "streams", "file"), without a path ("file"), and in
/// builds without HDF5 ("channel.type"). `make` throws file_error also where the file is not what `complete`
/// found.
air_kind file_air();

}  // namespace wb
