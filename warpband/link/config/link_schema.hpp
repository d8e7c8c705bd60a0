#pragma once
// The keys of links: what `warpband sim`, `wb.sweep` and `warpband choose` read.
#include <map>
#include <string>

#include <warpband/air/file.hpp>
#include <warpband/link/config/read.hpp>
#include <warpband/link/sweep.hpp>

namespace wb::config {

/// Points of a sweep: a list, or if it is empty a range.
struct sweep_points {
  std::vector<double> list;
  double from = 0, to = 0, step = 1;
};

/// Settings of [sweep] and [modem].
const std::vector<setting_of<sweep_points>>& points_settings(snr_axis axis);
const std::vector<setting_of<fer_target>>& target_settings();
const std::vector<setting_of<link_config>>& modem_settings();
const std::vector<setting_of<single_antenna>>& demapper_settings();

const schema& link_schema();
/// Adds the keys of one group, "code" or "decoder", of a kind of code.
void add_code_keys(schema& s, const std::string& group, const code_kind& kind,
                   const std::vector<setting_condition>& conditions);

/// Adds the keys of [detector].
void add_detector_keys(schema& s, const std::vector<setting_condition>& conditions);
/// The detector of settled keys, without its antennas and points.
detector_config detector_of(const key_tree& keys);

/// What files of channel estimates hold, by their names in the scenario. A file among them is not opened.
using known_recordings = std::map<std::string, csi_channel_config>;

/// The curve of settled keys: checks what takes several of them, and fills in what they leave open. `file`:
/// the scenario's, from whose folder relative paths start. Throws error with the line.
curve_config curve_of(const curve_tree& curve, const std::string& file,
                      const known_recordings* recordings = nullptr);

}  // namespace wb::config
