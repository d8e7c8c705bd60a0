#include <warpband/link/scenario_write.hpp>

#include <algorithm>
#include <set>

#include <warpband/core/check.hpp>
#include <warpband/link/antenna_kind.hpp>
#include <warpband/link/result_json.hpp>

namespace wb {
namespace {

/// A basic string of TOML.
std::string toml_string(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') out += '\\';
    if (byte < 0x20 || byte == 0x7f) {
      constexpr const char* digits = "0123456789ABCDEF";
      out += std::string("\\u00") + digits[byte >> 4] + digits[byte & 15];
    } else {
      out += c;
    }
  }
  return out + '"';
}
std::string toml(const setting_value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return toml_string(*text);
  if (const auto* list = std::get_if<std::vector<std::string>>(&value)) {
    std::string entries;
    for (const std::string& entry : *list) entries += (entries.empty() ? "" : ", ") + toml_string(entry);
    return "[" + entries + "]";
  }
  return as_message(value);
}

/// Whether a key is one of the receiver.
bool is_chosen(const std::string& key) {
  static const std::set<std::string> keys{"modem.demapper",   "stbc.search",    "stbc.method",
                                          "stbc.llr_clip",    "massive.solver", "massive.iterations",
                                          "massive.residual", "massive.sinr"};
  return key.starts_with("detector.") || key.starts_with("decoder.") || keys.contains(key);
}

/// The keys of the curve, with what `curve` has in the place of them.
setting_values values_of_curve(const config::key_tree& keys, const curve_config& curve) {
  setting_values values;
  for (const auto& [key, g] : keys) values[key] = g.value;
  std::erase_if(values, [](const auto& value) {
    const std::string& key = value.first;
    return is_chosen(key) || key.starts_with("sweep.") || key.starts_with("stop.") || key == "title";
  });
  values["label"] = curve.label;
  const link_config& link = curve.link;
  values["seed"] = static_cast<std::int64_t>(link.seed);
  named_values chosen = link.antennas.kind().results(link);
  std::erase_if(chosen, [](const auto& value) { return !is_chosen(value.first); });
  if (!link.code.decoder.empty())
    chosen.emplace_back("decoder.type", link.code.decoder);
  else
    for (const auto& [name, value] : values_in_results(link.code.kind().settings, link.code.kind().initial,
                                                       link.code.settings, "decoder"))
      chosen.emplace_back("decoder." + name, value);
  add_values(chosen, "stop", stop_settings(), curve.stop);
  for (auto& [name, value] : chosen) values[name] = std::move(value);
  values[std::string("sweep.") + name_of(link.axis)] = curve.sweep_db;
  return values;
}

}  // namespace

std::string scenario_of_curve(const scenario& s, std::size_t index, const curve_config& curve) {
  if (s.curves.empty()) throw argument_error("scenario", "without curves", "one of a file");
  check_range("index", static_cast<long long>(index), 0, static_cast<long long>(s.curves.size()) - 1);
  setting_values values = values_of_curve(s.trees.at(index).keys, curve);
  std::string text = "title = " + toml_string(curve.label) + "\n", table;
  values.erase("label");  // the title of a scenario with one curve is its label
  if (!s.title.empty()) text = "# From: " + toml_string(s.title) + "\n" + text;
  for (const scenario_key& key : scenario_keys()) {
    const auto value = values.find(key.name);
    if (value == values.end() || std::holds_alternative<no_value>(value->second)) continue;
    const std::size_t dot = key.name.find('.');
    const std::string group = dot == std::string::npos ? "" : key.name.substr(0, dot);
    if (group != table) text += "\n[" + group + "]\n";
    table = group;
    text += (group.empty() ? key.name : key.name.substr(dot + 1)) + " = " + toml(value->second) + "\n";
  }
  const scenario back = parse_scenario(text, s.file);
  const auto difference = result_file::first_difference(result_file::config_json(curve),
                                                        result_file::config_json(back.curves.front()));
  if (!difference.key.empty())
    throw error("a scenario cannot say " + difference.key + " = " + difference.was + ": it reads back as " +
                difference.wanted);
  return text;
}

}  // namespace wb
