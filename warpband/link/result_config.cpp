// What a curve was run with, as results have it.
#include <algorithm>
#include <cstdio>

#include <warpband/core/printable.hpp>
#include <warpband/fec/lte/qpp.hpp>
#include <warpband/link/result_json.hpp>
#include <warpband/link/setting_json.hpp>

namespace wb::result_file {
namespace {

/// Adds the settings that have a meaning, of a group where lists of several are joined.
template <class C>
void add_settings(json& out, const std::vector<setting_of<C>>& all, const C& c, const C& initial = {},
                  const std::string& group = "") {
  for (const auto& [s, value] : values_of(all, c))
    if (s->group == group && s->of_links && (!s->brief || value != s->get(initial)))
      out[s->name] = json_of(value);
}
template <class C>
json settings_json(const std::vector<setting_of<C>>& all, const C& c) {
  json out = json::object();
  add_settings(out, all, c);
  return out;
}
json settings_json(const code_config& c, const std::string& group) {
  json out = json::object();
  code_config initial;
  initial.type = c.type;
  add_settings(out, settings_of(c.type), c, initial, group);
  return out;
}

/// The code but for type, k, crc and rate, and its decoder.
void add_turbo(const code_config& c, json& code, json& decoder) {
  const turbo_settings& t = c.turbo;
  const int k = static_cast<int>(sizes_of(c).k);
  const auto qpp = t.interleaver ? qpp_parameters{k, t.interleaver->f1, t.interleaver->f2} : qpp_for(k);
  code["interleaver"] = {{"f1", qpp.f1}, {"f2", qpp.f2}};
  decoder = settings_json(c, "decoder");
}
void add_transport(const link_config& link, json& code, json& decoder) {
  const code_config& c = link.code;
  const code_sizes sizes = sizes_of(c);
  code = {{"type", name_of(c.type)}};
  code.update(settings_json(c, "code"));
  code["transport_block_size"] = sizes.k;
  code["coded_bits"] = sizes.n;
  code["resource_elements"] = resource_elements(link);
  code["code_blocks"] = code_blocks_of(c);
  // Each size of code block has windows of its own, so that "auto" stays.
  decoder = settings_json(c, "decoder");
}
void add_ldpc_or_conv(const code_config& c, json& code, json& decoder) {
  json more = settings_json(c, "code");
  code["n"] = sizes_of(c).n;
  if (more.contains("rate")) code["rate_name"] = more["rate"];
  for (const char* own : {"k", "crc", "n", "rate"}) more.erase(own);
  if (more.contains("feedback") && c.conv.feedback == 0) more.erase("feedback");
  code.update(more);
  decoder = settings_json(c, "decoder");
}

/// Tells base matrices apart (FNV-1a): a result must not go on with another one of the same name.
std::string matrix_id(const ldpc_code& code) {
  std::uint32_t h = 2166136261u;
  const auto add = [&](int x) {
    for (int byte = 0; byte < 4; byte++)
      h = (h ^ (static_cast<std::uint32_t>(x) >> 8 * byte & 255u)) * 16777619u;
  };
  for (const int x : {code.z(), code.rows(), code.columns()}) add(x);
  for (const int s : code.matrix().shifts) add(s);
  char text[9];
  std::snprintf(text, sizeof text, "%08x", static_cast<unsigned>(h));
  return text;
}

json massive_json(const massive_link_config& c) {
  json out = settings_json(massive_link_settings(), c);
  out["solver"] = name_of(c.solver);  // as results have always spelt it
  return out;
}

void add_code(const link_config& link, json& out) {
  const code_config& given = link.code;
  json code{{"type", name_of(given.type)}, {"k", sizes_of(given).k}, {"crc", name_of(given.crc)}}, decoder;
  switch (given.type) {
    case code_type::none:
      break;
    case code_type::lte_turbo:
      add_turbo(given, code, decoder);
      break;
    case code_type::lte_transport:
    case code_type::nr_dlsch:
    case code_type::nr_ulsch:
      add_transport(link, code, decoder);
      break;
    case code_type::wimax_ldpc:
    case code_type::wifi_ldpc:
    case code_type::nr_ldpc:
    case code_type::qc_ldpc:
    case code_type::conv:
      add_ldpc_or_conv(given, code, decoder);
      if (given.type == code_type::qc_ldpc) code["matrix_id"] = matrix_id(ldpc_code_of(given));
      break;
    case code_type::polar:
      code.erase("crc");  // it has its own
      code.update(settings_json(given, "code"));
      code["k"] = sizes_of(given).k;
      decoder = settings_json(given, "decoder");
      break;
  }
  code["rate"] = code_rate(link);
  out["code"] = code;
  if (!decoder.is_null()) out["decoder"] = decoder;
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

void add_antennas(const link_config& link, json& out) {
  const json antennas{{"streams", streams_of(link)}, {"rx_antennas", rx_antennas_of(link)}};
  if (const auto* one = std::get_if<single_antenna>(&link.antennas))
    out["modem"]["demapper"] = name_of(one->demapper);
  if (const auto* detector = std::get_if<detector_config>(&link.antennas)) {
    out["mimo"] = antennas;
    out["detector"] = settings_json(detector_settings(), *detector);
  }
  if (const auto* space_time = std::get_if<stbc_config>(&link.antennas)) {
    out["mimo"] = antennas;
    out["stbc"] = settings_json(stbc_settings(), *space_time);
  }
  if (const auto* nr = std::get_if<nr_link_config>(&link.antennas)) {
    out["mimo"] = antennas;
    out["detector"] = settings_json(detector_settings(), nr->detector);
    out["nr"] = settings_json(nr_link_settings(), *nr);
  }
  if (const auto* massive = std::get_if<massive_link_config>(&link.antennas)) {
    if (massive->direction == massive_direction::downlink)
      out["modem"]["demapper"] = name_of(massive->demapper);
    out["massive"] = massive_json(*massive);
  }
}

}  // namespace

json config_json(const curve_config& c) {
  const link_config& link = c.link;
  json out{{"seed", link.seed}};
  add_code(link, out);
  out["modem"] = {{"modulation", name_of_modulation(link.qam)}};
  if (link.mutual_information) out["modem"]["mutual_information"] = true;
  out["channel"] = channel_json(link.channel);
  add_antennas(link, out);
  if (link.receiver) out["receiver"] = settings_json(receiver_settings(), *link.receiver);
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
  out["stop"] = settings_json(stop_settings(), c.stop);
  return out;
}

std::string shown(const json& j) {
  std::string text = j.dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

difference first_difference(const json& was, const json& now, const std::string& prefix) {
  for (const auto& [key, v] : was.items()) {
    if (!now.contains(key)) return {printable(prefix + key), shown(v), "without it"};
    if (v.is_object() && now[key].is_object()) {
      if (const difference d = first_difference(v, now[key], prefix + key + "."); !d.key.empty()) return d;
    } else if (v != now[key]) {
      return {printable(prefix + key), shown(v), shown(now[key])};
    }
  }
  for (const auto& [key, v] : now.items())
    if (!was.contains(key)) return {printable(prefix + key), "not there", shown(v)};
  return {};
}

}  // namespace wb::result_file
