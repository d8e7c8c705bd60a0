// What a curve was run with, as results have it.
#include <algorithm>

#include <warpband/core/printable.hpp>
#include <warpband/link/antenna_kind.hpp>
#include <warpband/link/config/link_schema.hpp>
#include <warpband/link/config/renamed.hpp>
#include <warpband/link/link_settings.hpp>
#include <warpband/link/result_json.hpp>
#include <warpband/link/setting_json.hpp>

namespace wb::result_file {
namespace {

void add(json& out, const named_values& values) {
  for (const auto& [name, value] : values) {
    const std::size_t dot = name.find('.');
    out[name.substr(0, dot)][name.substr(dot + 1)] = json_of(value);
  }
}

void add_code(const link_config& link, json& out) {
  const code_config& c = link.code;
  const code_kind& kind = c.kind();
  json& code = out["code"] = {{"type", c.type}};
  for (const auto& [name, value] : described(c)) {
    const std::size_t dot = name.find('.');
    (dot == std::string::npos ? code[name] : code[name.substr(0, dot)][name.substr(dot + 1)]) =
        json_of(value);
  }
  if (is_transport(c)) code["resource_elements"] = resource_elements(link);
  code["rate"] = code_rate(link);
  if (!c.decoder.empty()) return void(out["decoder"] = {{"type", c.decoder}});
  for (const auto& [name, value] : values_in_results(kind.settings, kind.initial, c.settings, "decoder"))
    out["decoder"][name] = json_of(value);
}

json channel_json(const air_config& c) {
  json out{{"type", c.type}};
  for (const auto& [name, value] : results_of(c))
    if (const auto* rows = std::get_if<std::vector<std::vector<double>>>(&value))
      out[name] = *rows;
    else
      out[name] = json_of(std::get<setting_value>(value));
  return out;
}

}  // namespace

json config_json(const curve_config& c) {
  const link_config& link = c.link;
  json out{{"seed", link.seed}};
  add_code(link, out);
  out["modem"] = {{"modulation", name_of_modulation(link)}};
  if (link.constellation) {
    const constellation_config points = *completed(link).constellation;  // with its ring ratios
    for (const auto& [s, value] : values_of(constellation_settings(), points))
      if (s->name != "type") out["modem"][s->name] = json_of(value);
  }
  if (link.mutual_information) out["modem"]["mutual_information"] = true;
  out["channel"] = channel_json(link.channel);
  named_values values = link.antennas.kind().results(link);
  if (link.receiver) add_values(values, "receiver", receiver_settings(), *link.receiver);
  add(out, values);
  out["sweep"] = {{name_of(link.axis), c.sweep_db}};
  if (c.target) {
    json& sweep = out["sweep"];
    sweep[name_of(link.axis)] = {{"from", c.target->least_db}, {"to", c.target->most_db}};
    sweep["target_fer"] = c.target->fer;
    sweep["target_width_db"] = c.target->width_db;
  }
  if (!c.parameters.empty()) {
    out["sweep"]["family"] = c.family;
    for (const swept_setting& p : c.parameters) out["sweep"]["parameters"][p.key] = json_of(p.value);
  }
  values.clear();
  add_values(values, "stop", stop_settings(), c.stop);
  add(out, values);
  return out;
}

json with_names_of_today(json config) {
  const auto rename = [](json& in, const std::string& before, const std::string& today,
                         const config::renamed& r) {
    if (!in.is_object() || !in.contains(before)) return;
    json value = in[before];
    in.erase(before);
    for (const auto& [old, word] : r.values)
      if (value == json_of(old)) {
        const config::key_entry* key = config::link_schema().find(r.today);
        const bool left_out = std::holds_alternative<no_value>(word);
        value = json_of(left_out && key != nullptr ? key->left_out() : word);
        if (value.is_null()) return;
      }
    in[today] = std::move(value);
  };
  for (const config::renamed& r : config::renamed_settings()) {
    const auto [before, today] = r.keywords();
    const std::size_t dot = r.today.find('.');
    if (before.empty() || dot == std::string::npos || !r.chains.empty()) continue;
    const std::string table = r.today.substr(0, dot);
    if (config.is_object() && config.contains(table)) rename(config[table], before, today, r);
    if (config.is_object() && config.contains("sweep") && config["sweep"].contains("parameters"))
      rename(config["sweep"]["parameters"], r.before, r.today, r);
  }
  return config;
}

std::string shown(const json& j) {
  std::string text = j.dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

difference first_difference(const json& was, const json& wanted, const std::string& prefix) {
  for (const auto& [key, v] : was.items()) {
    if (!wanted.contains(key)) return {printable(prefix + key), shown(v), "without it"};
    if (v.is_object() && wanted[key].is_object()) {
      if (const difference d = first_difference(v, wanted[key], prefix + key + "."); !d.key.empty()) return d;
    } else if (v != wanted[key]) {
      return {printable(prefix + key), shown(v), shown(wanted[key])};
    }
  }
  for (const auto& [key, v] : wanted.items())
    if (!was.contains(key)) return {printable(prefix + key), "not there", shown(v)};
  return {};
}

}  // namespace wb::result_file
