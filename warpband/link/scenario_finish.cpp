// What takes several keys of a curve, and what keys leave open.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include <warpband/core/error.hpp>
#include <warpband/link/scenario_draft.hpp>
#include <warpband/modem/qam/qam.hpp>

namespace wb::scenario_file {
namespace {

constexpr std::size_t most_points = 10'000;

std::string to_text(double x) { return plain(setting_value(x)); }

// ---- points

/// Which of the two the sweep is given in: the one that was set more specifically.
snr_axis axis_of(const said& s) {
  place of[2];
  for (const snr_axis axis : {snr_axis::ebn0_db, snr_axis::snr_db})
    for (const auto& [name, at] : s.places)
      if (name == key_of(axis) || name.starts_with(key_of(axis) + ".")) {
        place& most = of[static_cast<int>(axis)];
        if (at.level > most.level || (at.level == most.level && at.line > most.line)) most = at;
      }
  if (of[0].level >= 0 && of[0].level == of[1].level)
    s.fail(std::max(of[0].line, of[1].line),
           "sweep has both ebn0_db and snr_db: expected one of them" + s.in_curve);
  return of[1].level > of[0].level ? snr_axis::snr_db : snr_axis::ebn0_db;
}

std::vector<double> range(const said& s, const std::string& key, const sweep_points& points) {
  const place from = s.where(key + ".from"), to = s.where(key + ".to"), step = s.where(key + ".step");
  const unsigned line = std::max({from.line, to.line, step.line});
  if (line == 0)
    s.fail(0, key + " is missing" + s.in_curve +
                  ": add, for instance, [sweep] ebn0_db = [0.0, 0.5, 1.0], or snr_db");
  if (from.level < 0 || to.level < 0 || step.level < 0)
    s.fail(line, key + " needs from, to and step" + s.in_curve);
  if (points.to < points.from)
    s.fail(line, key + ".to = " + to_text(points.to) +
                     " is not allowed: expected at least from = " + to_text(points.from) + s.in_curve);
  // Rounded to a millionth: 0.1 + 2 * 0.1 shall be 0.3. A point a hair beyond the end still counts.
  const double last = std::floor((points.to - points.from) / points.step + 1e-6);
  if (last >= static_cast<double>(most_points))
    s.fail(line, key + " has " + to_text(last + 1) + " points: at most " + std::to_string(most_points));
  std::vector<double> all;
  for (double i = 0; i <= last; i++) all.push_back(std::round((points.from + i * points.step) * 1e6) / 1e6);
  return all;
}

std::vector<double> points_of(const said& s, const curve_draft& d, snr_axis axis) {
  const std::string key = key_of(axis);
  const sweep_points& given = d.sweep(axis);
  const std::vector<double> points = given.list.empty() ? range(s, key, given) : given.list;
  const unsigned line = s.where(key).line;
  if (points.size() > most_points)
    s.fail(line, key + " has " + std::to_string(points.size()) + " points: at most " +
                     std::to_string(most_points) + s.in_curve);
  for (std::size_t i = 1; i < points.size(); i++)
    if (!(points[i] - points[i - 1] > 0.0009))
      s.fail(line, key + " has " + to_text(points[i]) + " after " + to_text(points[i - 1]) +
                       ": expected a rising list, in steps of at least 0.001" + s.in_curve);
  return points;
}

/// What to search for, where the scenario asks for it, and where.
std::optional<fer_target> target_of(const said& s, const curve_draft& d, snr_axis axis) {
  const place fer = s.where("sweep.target_fer"), width = s.where("sweep.target_width_db");
  if (fer.level < 0) {
    if (width.level >= 0)
      s.fail(width.line, "sweep.target_width_db has no meaning without sweep.target_fer" + s.in_curve);
    return std::nullopt;
  }
  fer_target target = d.target;
  const std::string key = key_of(axis);
  const place from = s.where(key + ".from"), to = s.where(key + ".to"), list = s.where(key);
  if (from.level >= 0 && to.level >= 0) {
    target.least_db = d.sweep(axis).from, target.most_db = d.sweep(axis).to;
  } else if (from.level >= 0 || to.level >= 0) {
    s.fail(std::max(from.line, to.line), key + " needs from and to" + s.in_curve);
  } else if (list.level >= 0) {
    const std::vector<double> points = points_of(s, d, axis);
    target.least_db = points.front(), target.most_db = points.back();
  }
  if (target.most_db - target.least_db < 1)
    s.fail(std::max({from.line, to.line, list.line}),
           key + " is " + to_text(target.least_db) + " to " + to_text(target.most_db) +
               ", where to search for sweep.target_fer: expected 1 dB or more" + s.in_curve);
  return target;
}

// ---- code and channel

code_config code_of(const said& s, const curve_draft& d) {
  code_config code = d.code;
  if (code.type == code_type::lte_turbo && s.where("code.interleaver.f1").level >= 0)
    code.turbo.interleaver = d.interleaver;
  if (code.type == code_type::qc_ldpc)
    code.ldpc.folder = std::filesystem::path(s.file).parent_path().string();
  try {
    code.k = completed(code).k;
    return code;
  } catch (const file_error& error) {
    s.fail(s.where("code.base_matrix").line, std::string("code.base_matrix: ") + error.what() + s.in_curve);
  } catch (const argument_error& error) {
    const std::string key =
        error.argument() == "f1, f2" ? "code.interleaver" : key_of_code_setting(error.argument());
    place at = s.where(key == "code.interleaver" ? "code.interleaver.f1" : key);
    for (const char* cause : {"code.crc", "code.n", "code.rate", "code.feedback", "code.base_matrix",
                              "code.transport_block_size", "code.type"})
      if (at.line == 0) at = s.where(cause);
    s.fail(at.line, argument_error(key, error.value(), error.allowed()).what() + s.in_curve);
  }
}

/// The profile of a choice, whose lists belong together.
template <class Choice>
auto profile_in(const said& s, const Choice& choice) {
  try {
    return profile_of(choice);
  } catch (const argument_error& error) {
    const std::string key = "channel." + error.argument();
    s.fail(std::max(s.where(key).line, s.where("channel.delays_ns").line),
           argument_error(key, error.value(), error.allowed()).what() + s.in_curve);
  }
}

tdl_config tdl_of(const said& s, const curve_draft& d) {
  const std::size_t taps = d.tdl_profile.delays_ns.size(), powers = d.tdl_profile.powers_db.size();
  const place at = s.where("channel.delays_ns");
  if (taps > 64)
    s.fail(at.line, "channel.delays_ns has " + std::to_string(taps) + " taps: at most 64" + s.in_curve);
  if (taps != powers)
    s.fail(std::max(at.line, s.where("channel.powers_db").line),
           "channel.powers_db has " + std::to_string(powers) + " numbers for the " + std::to_string(taps) +
               " taps of channel.delays_ns" + s.in_curve);
  tdl_config c = d.tdl;
  c.profile = profile_in(s, d.tdl_profile);
  return c;
}

cdl_config cdl_of(const said& s, const curve_draft& d) {
  cdl_config c = d.cdl;
  c.profile = profile_in(s, d.cdl_profile);
  const place metres = s.where("channel.antenna_spacing_m"),
              wavelengths = s.where("channel.antenna_spacing_wavelengths");
  if (metres.level < 0 || c.spacing_wavelengths == 0) return c;
  if (metres.level == wavelengths.level)
    s.fail(wavelengths.line,
           "channel.antenna_spacing_wavelengths has no meaning with channel.antenna_spacing_m" + s.in_curve);
  if (metres.level > wavelengths.level) c.spacing_wavelengths = 0;
  return c;
}

/// Channel estimates of a file, whose name is from the scenario on.
csi_channel_config csi_of(const said& s, const curve_draft& d) {
  if (s.where("channel.file").level < 0)
    s.fail(s.where("channel.type").line, "channel.file is missing with channel.type = \"file\"" + s.in_curve);
  csi_channel_config c = d.csi;
  if (s.recordings != nullptr)
    if (const auto known = s.recordings->find(c.name); known != s.recordings->end()) {
      const csi_channel_config& k = known->second;
      c.layout = k.layout;
      c.snapshots = k.snapshots, c.subcarriers = k.subcarriers, c.antennas = k.antennas, c.users = k.users;
    }
  c.path = c.name.empty() ? "" : (std::filesystem::path(s.file).parent_path() / c.name).string();
  return c;
}

// ---- antennas

massive_link_config massive_of(const said& s, const curve_draft& d) {
  massive_link_config m = d.massive_link;
  const place solver = s.where("massive.solver");
  if (is_iterative(m.solver)) {
    if (s.where("massive.iterations").level < 0)
      s.fail(solver.line, "massive.iterations is missing with massive.solver = " +
                              as_message(find_key("massive.solver")->versions[0].setting.get(d)) +
                              s.in_curve);
    if (s.where("massive.sinr").level < solver.level) m.sinr.reset();  // of another solver
  }
  if (d.channel == channel_type::file && s.where("massive.subcarriers").level < 0) m.subcarriers = 0;
  if (m.direction == massive_direction::downlink) m.demapper = d.demapper;
  return m;
}

stbc_config space_time_of(const said& s, const curve_draft& d) {
  const place type = s.where("stbc.type"), streams = s.where("mimo.streams");
  const std::string choice = std::string("with stbc.type = \"") + name_of(d.stbc.code) + "\"";
  if (std::string(name_of(d.stbc.code)) == "pair" && s.where("stbc.v").level < 0)
    s.fail(type.line, "stbc.v is missing " + choice + s.in_curve +
                          ": add, for instance, v = [[1, 0], [0, 0], [0, 0], [-1, 0]]");
  if (streams.level >= type.level && d.streams != 2)
    s.fail(streams.line, "mimo.streams = " + std::to_string(d.streams) + " is not allowed: expected 2 " +
                             choice + s.in_curve);
  stbc_config c = d.stbc;
  c.rx_antennas = d.rx_antennas;
  return c;
}

link_channel channel_of(const said& s, const curve_draft& d) {
  switch (d.channel) {
    case channel_type::awgn:
      break;
    case channel_type::rayleigh:
      return d.rayleigh;
    case channel_type::tdl:
      return tdl_of(s, d);
    case channel_type::cdl:
      return cdl_of(s, d);
    case channel_type::file:
      return csi_of(s, d);
  }
  return awgn_config{};
}

nr_link_config nr_of(const curve_draft& d) {
  nr_link_config nr = d.nr_link;
  nr.detector = d.detector;
  nr.detector.rx_antennas = d.rx_antennas;
  return nr;
}

link_antennas antennas_of(const said& s, const curve_draft& d) {
  if (d.nr) return nr_of(d);
  if (d.massive) return massive_of(s, d);
  if (d.space_time) return space_time_of(s, d);
  if (d.streams == 1 && d.rx_antennas == 1 && s.where("detector.type").level < 0)
    return single_antenna{d.demapper};
  detector_config detector = d.detector;
  detector.streams = d.streams;
  detector.rx_antennas = d.rx_antennas;
  return detector;
}

link_config link_of(const said& s, const curve_draft& d) {
  link_config link{.seed = d.seed, .code = d.nr ? d.code : code_of(s, d), .qam = d.qam};
  link.channel = channel_of(s, d);
  link.antennas = antennas_of(s, d);
  if (std::any_of(s.places.begin(), s.places.end(),
                  [](const auto& p) { return p.first.starts_with("receiver."); }))
    link.receiver = d.receiver;
  link.mutual_information = d.mutual_information;
  if (const auto* massive = std::get_if<massive_link_config>(&link.antennas);
      massive != nullptr && link.code.type == code_type::none && s.where("code.k").level < 0)
    link.code.k = massive->subcarriers * bits_per_symbol(link.qam);
  return link;
}

/// The key that a library's argument is, and where it was set, or what stands for it.
std::pair<std::string, place> key_of_argument(const said& s, const link_config& link, std::string key) {
  if (std::holds_alternative<massive_link_config>(link.antennas) && find_key("massive." + key) != nullptr)
    key = "massive." + key;
  if (std::holds_alternative<nr_link_config>(link.antennas) && find_key("nr." + key) != nullptr)
    key = "nr." + key;
  for (const key_entry& e : key_table())  // but for the code's, which is known to be good
    if (code_setting_of(e.key.name).empty() && e.key.name.ends_with("." + key)) key = e.key.name;
  if (key == "qam") key = "modem.modulation";
  if (key == "coded_bits" || key == "resource_elements") key = key_of_code_setting(key);
  place at = s.where(key);
  if (at.line == 0 && key.starts_with("channel.") && type_of(link.channel) == channel_type::tdl)
    for (const char* cause : {"channel.delays_ns", "channel.profile", "channel.delay_spread_ns",
                              "channel.doppler_hz", "channel.type"})
      if (at.line == 0 && (key == "channel.cyclic_prefix_us") != (std::string(cause) == "channel.doppler_hz"))
        at = s.where(cause);
  if (at.line == 0)  // what was left out does not go with antennas or a detector
    for (const char* cause : {"mimo.streams", "mimo.rx_antennas", "detector.type", "stbc.type",
                              "massive.solver", "nr.frc", "nr.channel"})
      if (s.where(cause).line > at.line) at = s.where(cause);
  return {key, at};
}

}  // namespace

curve_config curve_of(said& s) {
  const curve_draft d = settled(s);
  curve_config c;
  c.label = s.label;
  c.stop = d.stop;
  c.link = link_of(s, d);
  c.link.axis = axis_of(s);
  c.target = target_of(s, d, c.link.axis);
  if (!c.target) c.sweep_db = points_of(s, d, c.link.axis);
  if (c.target && s.where("stop.max_frames").level < 0) c.stop.max_frames = fer_target{}.max_frames;
  try {
    const link_config whole = completed(c.link);
    if (d.nr) c.link = whole;          // results say what a reference channel is
  } catch (const file_error& error) {  // of the channel's
    s.fail(s.where("channel.file").line, std::string("channel.file: ") + error.what() + s.in_curve);
  } catch (const argument_error& error) {  // of the library's own arguments
    const auto [key, at] = key_of_argument(s, c.link, error.argument());
    s.fail(at.line, argument_error(key, error.value(), error.allowed()).what() + s.in_curve);
  }
  return c;
}

}  // namespace wb::scenario_file
