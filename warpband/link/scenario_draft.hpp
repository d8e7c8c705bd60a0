#pragma once
// How a scenario's keys become curves, for link/scenario*.cpp alone. A key is one or more settings of
// `curve_draft`: several where it means another thing with another code or channel, each under the condition
// that says so. The parser notes what a curve says and where; `settled` puts it into a draft, each key after
// those that decide whether it has a meaning; `curve_of` makes the curve.
#include <map>
#include <string>
#include <vector>

#include <warpband/core/setting.hpp>
#include <warpband/link/scenario.hpp>

namespace wb::scenario_file {

/// Curves of a scenario, however they are written.
inline constexpr std::size_t most_curves = 1000;

/// What files of channel estimates hold, by their names in the scenario. A file among them is not opened.
using known_recordings = std::map<std::string, csi_channel_config>;

/// Points of a sweep: a list, or where that is empty a range.
struct sweep_points {
  std::vector<double> list;
  double from = 0, to = 0, step = 1;
};

/// What keys say. Of code, channel and antennas all kinds stand side by side; `curve_of` takes one.
struct curve_draft {
  std::string title, label;
  std::uint64_t seed = 1;
  code_config code = config_of({});
  interleaver_coefficients interleaver;
  int qam = 2;
  demap_algorithm demapper = demap_algorithm::max_log;
  bool mutual_information = false;
  channel_type channel = channel_type::awgn;
  rayleigh_config rayleigh;
  tdl_profile_choice tdl_profile;
  tdl_config tdl{.profile = {}, .grid = {.symbols = 0}};
  cdl_profile_choice cdl_profile;
  cdl_config cdl{.profile = {}, .power_control = true};
  csi_channel_config csi;
  int streams = 1, rx_antennas = 1;
  detector_config detector;
  bool space_time = false;
  stbc_config stbc;
  bool massive = false;
  massive_link_config massive_link;
  bool nr = false;
  nr_link_config nr_link;
  receiver_config receiver;
  sweep_points ebn0_db, snr_db;
  fer_target target{.fer = 0};  // 0: none is searched for
  stop_rule stop;

  const sweep_points& sweep(snr_axis axis) const { return axis == snr_axis::ebn0_db ? ebn0_db : snr_db; }
};

enum class scope { both, base, curve };

/// A setting under its key, "decoder.scale", whose conditions are keys too.
struct key_version {
  std::string kind;  // of code or channel, that has it; "" where it is nobody's alone
  setting_of<curve_draft> setting;
};
struct key_entry {
  scenario_key key;
  scope where = scope::both;
  std::vector<key_version> versions;
};

/// Every key, once, in the order of the documentation.
const std::vector<key_entry>& key_table();
const key_entry* find_key(const std::string& name);
/// Whether keys begin with it and a dot.
bool is_table(const std::string& name);
/// "sweep.ebn0_db"
std::string key_of(snr_axis axis);
/// "code.rate" for "rate"; the setting itself where no key is one.
std::string key_of_code_setting(const std::string& setting);

/// Where a key was set.
struct place {
  int level = -1;  // 0: the base, 1: the curve
  unsigned line = 0;
};

/// A key of which a scenario lists several values, `sweep.KEY = [...]`.
struct swept_key {
  std::string key;
  std::vector<setting_value> values;
  place at;
};

/// What a curve and the base around it say.
struct said {
  std::string file, label;
  std::string in_curve = {};  // ends messages: ", in curve "b""
  setting_values values;
  std::map<std::string, place> places;
  std::vector<swept_key> swept = {};           // in order
  std::vector<swept_setting> parameters = {};  // of one curve among those that `unfolded` makes
  const known_recordings* recordings = nullptr;

  place where(const std::string& key) const {
    const auto i = places.find(key);
    return i == places.end() ? place{} : i->second;
  }
  void forget(const std::string& key) { values.erase(key), places.erase(key); }
  [[noreturn]] void fail(unsigned line, const std::string& what) const;
};

/// Sets a key in the place of what it is a part of and of its parts: a list of points, or a range.
void note(said& s, const key_entry& e, setting_value value, const place& at);

/// A curve for each combination of the values of swept keys, the last key changing fastest. Keys that the
/// curve itself sets are not swept.
std::vector<said> unfolded(const said& s);
/// "log-MAP, iterations = 4": the label of a curve with its swept settings.
std::string label_of(const std::string& family, const std::vector<swept_setting>& parameters);

/// What is said, in a draft. What has no meaning is refused, unless a choice that was made more specifically
/// than the key says so: that is forgotten.
curve_draft settled(said& s);

/// Checks what takes several keys, and fills in what they leave open.
curve_config curve_of(said& s);

}  // namespace wb::scenario_file
