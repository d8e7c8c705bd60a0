// From keys to the configuration of a curve: what takes several keys, and what keys leave open.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include <warpband/code/turbo.hpp>
#include <warpband/core/error.hpp>
#include <warpband/core/numbers_or_file.hpp>
#include <warpband/link/antenna_kind.hpp>
#include <warpband/link/config/link_schema.hpp>
#include <warpband/link/link_settings.hpp>
#include <warpband/modem/qam/qam.hpp>

namespace wb::config {
namespace {

constexpr std::size_t most_points = 10'000;

std::string to_text(double x) { return plain(setting_value(x)); }

class curve_maker : public link_keys {
 public:
  curve_maker(const curve_tree& curve, const std::string& file, const known_recordings* recordings)
      : link_keys(curve), keys_(curve.keys), file_(file), recordings_(recordings) {}

  curve_config make() {
    curve_config c;
    c.label = label_of(curve_);
    if (!curve_.parameters.empty()) c.family = curve_.label;
    c.parameters = curve_.parameters;
    apply(keys_, "stop", stop_settings(), c.stop);
    c.link = link();
    c.link.axis = axis();
    if (c.link.axis == snr_axis::probability) check_rising_errors(c.stop);
    c.target = target(c.link.axis);
    if (!c.target) c.sweep_db = points(c.link.axis);
    if (c.target && !keys_.has("stop.max_frames")) c.stop.max_frames = fer_target{}.max_frames;
    try {
      const link_config whole = completed(c.link);
      if (const antenna_kind* kind = antennas(); kind != nullptr && kind->sets_code) c.link = whole;
    } catch (const file_error& error) {  // of the channel's
      refuse(line("channel.file"), std::string("channel.file: ") + error.what());
    } catch (const argument_error& error) {  // of the library's own arguments
      const auto [key, where] = key_of_argument(c.link, error.argument());
      refuse(where, argument_error(key, error.value(), error.allowed()).what());
    }
    return c;
  }

 private:
  // ---- points

  snr_axis axis() const {
    const bool of_bits = static_cast<bool>(channel_kind().of_bits);
    for (const snr_axis axis : {snr_axis::ebn0_db, snr_axis::snr_db, snr_axis::esn0_db})
      if (const std::string key = std::string("sweep.") + name_of(axis);
          keys_.has(key) || keys_.has_table(key)) {
        if (!of_bits) return axis;
        refuse(std::max({line(key), line(key + ".from"), line(key + ".to"), line(key + ".step")}),
               key + " has no meaning with channel.type = \"" + channel_kind().name +
                   "\": expected sweep.probability");
      }
    return of_bits ? snr_axis::probability : snr_axis::ebn0_db;
  }

  /// What falls while an SNR rises has no meaning where errors become more.
  void check_rising_errors(const stop_rule& stop) const {
    for (const char* key : {"stop.below_fer", "sweep.target_fer"})
      if (key == std::string_view("stop.below_fer") ? stop.below_fer != 0 : keys_.has(key))
        refuse(line(key), std::string(key) + " has no meaning with sweep.probability: expected an SNR");
  }

  std::vector<double> range(snr_axis axis, const sweep_points& points) const {
    const bool probabilities = axis == snr_axis::probability;
    const std::string key = std::string("sweep.") + name_of(axis);
    const unsigned end = std::max({line(key + ".from"), line(key + ".to"), line(key + ".step")});
    if (!keys_.has_table(key))
      fail(0, key + " is missing" + curve_.suffix + ": add, for instance, [sweep] " +
                  (probabilities ? "probability = [0.01, 0.02, 0.05]"
                                 : "ebn0_db = [0.0, 0.5, 1.0], or snr_db or esn0_db"));
    if (!keys_.has(key + ".from") || !keys_.has(key + ".to") || !keys_.has(key + ".step"))
      refuse(end, key + " needs from, to and step");
    if (points.to < points.from)
      refuse(end, key + ".to = " + to_text(points.to) +
                      " is not allowed: expected at least from = " + to_text(points.from));
    // Rounded, dB to a millionth: 0.1 + 2 * 0.1 shall be 0.3. A point a hair beyond the end still counts.
    const double rounding = probabilities ? 1e12 : 1e6;
    const double last = std::floor((points.to - points.from) / points.step + 1e-6);
    if (last >= static_cast<double>(most_points))
      refuse(end, key + " has " + to_text(last + 1) + " points: at most " + std::to_string(most_points));
    std::vector<double> list;
    for (double i = 0; i <= last; i++)
      list.push_back(std::round((points.from + i * points.step) * rounding) / rounding);
    return list;
  }

  sweep_points given_points(snr_axis axis) const {
    sweep_points points;
    take("sweep", points_settings(axis), points);
    return points;
  }

  std::vector<double> points(snr_axis axis) const {
    const std::string key = std::string("sweep.") + name_of(axis);
    const sweep_points given = given_points(axis);
    const std::vector<double> points = given.list.empty() ? range(axis, given) : given.list;
    if (points.size() > most_points)
      refuse(line(key), key + " has " + std::to_string(points.size()) + " points: at most " +
                            std::to_string(most_points));
    const bool probabilities = axis == snr_axis::probability;
    for (std::size_t i = 1; i < points.size(); i++)
      if (!(points[i] - points[i - 1] > (probabilities ? 0.0009 * points[i - 1] : 0.0009)))
        refuse(line(key), key + " has " + to_text(points[i]) + " after " + to_text(points[i - 1]) +
                              ": expected a rising list, in steps of at least " +
                              (probabilities ? "0.1%" : "0.001"));
    return points;
  }

  /// What to search for, if the scenario asks for it, and where.
  std::optional<fer_target> target(snr_axis axis) const {
    if (!keys_.has("sweep.target_fer")) {
      if (keys_.has("sweep.target_width_db"))
        refuse(line("sweep.target_width_db"),
               "sweep.target_width_db has no meaning without sweep.target_fer");
      return std::nullopt;
    }
    fer_target target;
    take("sweep", target_settings(), target);
    const std::string key = std::string("sweep.") + name_of(axis);
    const bool from = keys_.has(key + ".from"), to = keys_.has(key + ".to");
    if (from && to) {
      const sweep_points given = given_points(axis);
      target.least_db = given.from, target.most_db = given.to;
    } else if (from || to) {
      refuse(std::max(line(key + ".from"), line(key + ".to")), key + " needs from and to");
    } else if (keys_.has(key)) {
      const std::vector<double> list = points(axis);
      target.least_db = list.front(), target.most_db = list.back();
    }
    if (target.most_db - target.least_db < 1)
      refuse(std::max({line(key + ".from"), line(key + ".to"), line(key)}),
             key + " is " + to_text(target.least_db) + " to " + to_text(target.most_db) +
                 ", where to search for sweep.target_fer: expected 1 dB or more");
    return target;
  }

  // ---- code and channel

  std::string folder() const { return std::filesystem::path(file_).parent_path().string(); }

  code_config code() const {
    const given* type = keys_.find("code.type");
    const code_kind& kind = codes().get(type == nullptr ? "lte-turbo" : plain(type->value));
    setting_values values;
    for (const setting_of<box>& setting : kind.settings)
      if (const given* g = keys_.find(setting.group + "." + setting.name))
        values[setting.name] = from_folder(setting.kind, g->value, folder());
    code_config code(kind.name, values);
    const bool f1 = keys_.has("code.interleaver.f1"), f2 = keys_.has("code.interleaver.f2");
    if (f1 != f2)
      refuse(std::max(line("code.interleaver.f1"), line("code.interleaver.f2")),
             "code.interleaver needs both f1 and f2");
    if (f1)
      code.edit<turbo_settings>().interleaver = {number("code.interleaver.f1", 0),
                                                 number("code.interleaver.f2", 0)};
    if (kind.in_folder) code.settings = kind.in_folder(code.settings, folder());
    if (const given* decoder = keys_.find("decoder.type");
        decoder != nullptr && !same_word(plain(decoder->value), "built-in"))
      code.decoder = decoders().get(plain(decoder->value)).name;
    return code;
  }

  code_config checked_code() const {
    try {
      code_config code = this->code();
      (void)completed(code);
      return code;
    } catch (const file_error& error) {
      std::string key = line("code.reliability_file") != 0 ? "code.reliability_file"
                        : line("code.matrix") != 0         ? "code.matrix"
                                                           : "code.base_matrix";
      for (const char* list : {"decoder.factors", "decoder.offsets"})
        if (const given* g = keys_.find(list);
            g != nullptr && plain(from_folder(numbers_or_file_kind, g->value, folder())) == error.path())
          key = list;
      refuse(line(key), key + ": " + error.what());
    } catch (const argument_error& error) {
      const std::string key =
          error.argument() == "f1, f2" ? "code.interleaver" : key_of_code_setting(error.argument());
      unsigned cause_line = line(key == "code.interleaver" ? "code.interleaver.f1" : key);
      for (const char* cause : {"code.crc", "code.n", "code.rate", "code.feedback", "code.base_matrix",
                                "code.matrix", "code.transport_block_size", "code.type"})
        if (cause_line == 0) cause_line = line(cause);
      refuse(cause_line, argument_error(key, error.value(), error.allowed()).what());
    }
  }

  static std::string key_of_code_setting(const std::string& setting) {
    for (const char* group : {"code.", "decoder."})
      if (link_schema().find(group + setting) != nullptr) return group + setting;
    return setting;
  }

  /// Lists of a delay line belong together.
  void check_taps(const tdl_profile_choice& profile) const {
    const std::size_t taps = profile.delays_ns.size(), powers = profile.powers_db.size();
    const unsigned delays = line("channel.delays_ns");
    if (taps > 64) refuse(delays, "channel.delays_ns has " + std::to_string(taps) + " taps: at most 64");
    if (taps != powers)
      refuse(std::max(delays, line("channel.powers_db")), "channel.powers_db has " + std::to_string(powers) +
                                                              " numbers for the " + std::to_string(taps) +
                                                              " taps of channel.delays_ns");
  }

  /// The name of a file is from the scenario on.
  void find_file(csi_channel_config& c) const {
    if (!keys_.has("channel.file"))
      refuse(line("channel.type"), "channel.file is missing with channel.type = \"file\"");
    if (recordings_ != nullptr)
      if (const auto known = recordings_->find(c.name); known != recordings_->end()) {
        const csi_channel_config& k = known->second;
        c.layout = k.layout;
        c.snapshots = k.snapshots, c.subcarriers = k.subcarriers, c.antennas = k.antennas, c.users = k.users;
      }
    c.path = c.name.empty() ? "" : (std::filesystem::path(folder()) / c.name).string();
  }

  const air_kind& channel_kind() const {
    const given* type = keys_.find("channel.type");
    return airs().get(type == nullptr ? "awgn" : plain(type->value));
  }

  air_config channel() const {
    const air_kind& kind = channel_kind();
    box keys;
    take("channel", kind.keys, keys);
    if (kind.name == "tdl") check_taps(held<tdl_keys>(keys).profile);
    air_config channel;
    try {
      channel = air_config(kind.name, kind.read ? kind.read(keys) : keys);
    } catch (const argument_error& error) {  // of lists that belong together
      const std::string key = "channel." + error.argument();
      refuse(std::max(line(key), line("channel.delays_ns")),
             argument_error(key, error.value(), error.allowed()).what());
    }
    if (kind.name == "cdl" && keys_.has("channel.antenna_spacing_m"))
      channel.edit<cdl_config>([](cdl_config& c) { c.spacing_wavelengths.reset(); });
    if (kind.name == "file") channel.edit<csi_channel_config>([&](auto& c) { find_file(c); });
    return channel;
  }

  // ---- antennas

  const antenna_kind* antennas() const {
    for (const antenna_kind& kind : antenna_kinds())
      if (!kind.key.empty() && chosen(std::string(kind.key))) return &kind;
    return nullptr;
  }

  link_config link() const {
    link_config c;
    if (const given* seed = keys_.find("seed"))
      c.seed = static_cast<std::uint64_t>(std::get<std::int64_t>(seed->value));
    const antenna_kind* kind = antennas();
    c.code = kind != nullptr && kind->sets_code ? code() : checked_code();
    take("modem", modem_settings(), c);
    c.channel = channel();
    if (keys_.has_table("receiver")) take("receiver", receiver_settings(), c.receiver.emplace());
    if (kind != nullptr) {
      kind->read(*this, c);
    } else if (const detector_config d = detector();
               d.streams == 1 && d.rx_antennas == 1 && !keys_.has("detector.type")) {
      c.antennas = single_antenna{demapper()};
    } else {
      c.antennas = d;
    }
    return c;
  }

  /// The key that a library's argument is, and the line where it was set, or what stands for it.
  std::pair<std::string, unsigned> key_of_argument(const link_config& link, std::string key) const {
    const schema& s = link_schema();
    if (const antenna_kind* kind = antennas()) {
      const std::string table(kind->key.substr(0, kind->key.find('.') + 1));
      if (s.find(table + key) != nullptr) key = table + key;
    }
    if (keys_.has("channel." + key)) key = "channel." + key;
    for (const key_entry& e : s.entries()) {  // but for the code's, which is known to be good
      const std::string& name = e.key.name;
      const bool of_code = name.starts_with("decoder.") || (name.starts_with("code.") && name != "code.type");
      if (!of_code && name.ends_with("." + key)) key = name;
    }
    if (key == "qam") key = "modem.modulation";
    if (key == "coded_bits" || key == "resource_elements") key = "code." + key;
    unsigned found = line(key);
    if (found == 0 && (key.starts_with("modem.") || key == "modulation_order"))
      found = line("modem.modulation");
    if (found == 0 && key.starts_with("channel.") && link.channel.type == "tdl")
      for (const char* cause : {"channel.delays_ns", "channel.profile", "channel.delay_spread_ns",
                                "channel.doppler_hz", "channel.type"})
        if (found == 0 && (key == "channel.cyclic_prefix_us") != (std::string(cause) == "channel.doppler_hz"))
          found = line(cause);
    if (found == 0) {  // what was left out does not go with antennas or a detector
      for (const char* cause : {"mimo.streams", "mimo.rx_antennas", "detector.type", "nr.frc"})
        found = std::max(found, line(cause));
      for (const antenna_kind& kind : antenna_kinds()) found = std::max(found, line(std::string(kind.key)));
    }
    return {key, found};
  }

  const key_tree& keys_;
  const std::string& file_;
  const known_recordings* recordings_;
};

}  // namespace

demap_algorithm link_keys::demapper() const {
  single_antenna c;
  take("modem", demapper_settings(), c);
  return c.demapper;
}
detector_config link_keys::detector() const {
  detector_config c = detector_of(tree());
  c.streams = number("mimo.streams", 1);
  c.rx_antennas = number("mimo.rx_antennas", 1);
  return c;
}

curve_config curve_of(const curve_tree& curve, const std::string& file, const known_recordings* recordings) {
  return curve_maker(curve, file, recordings).make();
}

}  // namespace wb::config
