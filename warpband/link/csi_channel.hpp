#pragma once
// Channel estimates of a file (channel/file) as the channel of massive-MIMO links: frame n meets snapshot
// n modulo the file's snapshots, at every point of a sweep. H are the first antennas, users and subcarriers
// of the file, as many as the link has, scaled to mean |h|^2 = 1 for each user over what is taken. Where an
// estimate is missing H is 0, for which detector and precoder erase the vectors, which are counted.
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <warpband/core/setting.hpp>

namespace wb {

class massive_channel;

struct csi_channel_config {
  std::string path;
  /// As a scenario has it, for results; empty: the path.
  std::string name = {};
  /// Mean |h|^2 is 1 for each user in every snapshot, or over all of them.
  bool power_control = true;
  // What `completed` finds in the file.
  std::string layout = {};  // "plain", "renew", "argos", "csi"
  std::size_t snapshots = 0, subcarriers = 0, antennas = 0, users = 0;
  std::string remark = {};  // of csi_file, for the user to see
};

/// Its settings: names, what is allowed, what they mean.
const std::vector<setting_of<csi_channel_config>>& csi_channel_settings();

/// Opens the file, unless it is known what it holds (snapshots > 0), and notes that; subcarriers = 0 becomes
/// all of the file's. Part of `completed`. Throws file_error as csi_file does, and argument_error: for
/// antennas, users or subcarriers that the file does not have ("antennas", "users", "subcarriers"), without a
/// path ("file"), and in builds without HDF5 ("channel.type").
void complete_csi(csi_channel_config& config, int antennas, int users, int& subcarriers);

/// Reads the file, as it was completed. Throws file_error, also where the file is not what was found then;
/// memory_error.
std::unique_ptr<massive_channel> make_csi_channel(const csi_channel_config& config, int antennas, int users,
                                                  int subcarriers);

}  // namespace wb
