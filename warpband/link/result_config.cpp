// What a curve was run with, as results have it.
#include <algorithm>

#include <warpband/fec/lte/qpp.hpp>
#include <warpband/link/result_json.hpp>

namespace wb::result_file {
namespace {

json to_json(const setting_value& value) {
  return std::visit(
      []<class T>(const T& v) -> json {
        if constexpr (std::is_same_v<T, std::monostate>) {
          return nullptr;
        } else if constexpr (std::is_same_v<T, std::vector<std::complex<double>>>) {
          json pairs = json::array();
          for (const std::complex<double>& z : v) pairs.push_back(json::array({z.real(), z.imag()}));
          return pairs;
        } else {
          return v;
        }
      },
      value);
}

/// Adds the settings that have a meaning, of a group where lists of several are joined.
template <class C>
void add_settings(json& out, const std::vector<setting_of<C>>& all, const C& c, const C& initial = {},
                  const std::string& group = "") {
  for (const auto& [s, value] : values_of(all, c))
    if (s->group == group && s->of_links && (!s->brief || value != s->get(initial)))
      out[s->name] = to_json(value);
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
  code["code_blocks"] = segment_transport_block(static_cast<int>(sizes.k)).blocks;
  // Each size of code block has windows of its own, so that "auto" stays.
  decoder = settings_json(c, "decoder");
}
void add_ldpc_or_conv(const code_config& c, json& code, json& decoder) {
  json more = settings_json(c, "code");
  code["n"] = sizes_of(c).n;
  code["rate_name"] = more["rate"];
  for (const char* own : {"k", "crc", "n", "rate"}) more.erase(own);
  if (more.contains("feedback") && c.conv.feedback == 0) more.erase("feedback");
  code.update(more);
  decoder = settings_json(c, "decoder");
}

json massive_json(const massive_link_config& c) {
  json out = settings_json(massive_link_settings(), c);
  out["solver"] = name_of(c.solver);  // as results have always spelt it
  return out;
}

void add_tdl(const tdl_config& c, json& channel) {
  json delays = json::array(), powers = json::array();
  for (const tdl_tap& t : c.profile.taps) {
    delays.push_back(t.delay_ns);
    powers.push_back(t.power_db);
  }
  channel["delays_ns"] = delays;
  channel["powers_db"] = powers;
  if (c.profile.rician_k_db) channel["rician_k_db"] = *c.profile.rician_k_db;
  add_settings(channel, tdl_settings(), c);
  if (c.doppler_hz == 0) channel.erase("sinusoids");
  channel["symbol_period_us"] = c.grid.period_us();
}

void add_cdl(const cdl_config& c, json& channel) {
  json& clusters = channel["clusters"] = json::array();  // delay, power, four angles
  json split = json::array();
  for (std::size_t i = 0; i < c.profile.clusters.size(); i++) {
    const cdl_cluster& x = c.profile.clusters[i];
    clusters.push_back({x.delay_ns, x.power_db, x.aod_deg, x.aoa_deg, x.zod_deg, x.zoa_deg});
    if (x.split) split.push_back(i);
  }
  channel["split_clusters"] = split;
  channel["spreads_deg"] = {c.profile.asd_deg, c.profile.asa_deg, c.profile.zsd_deg, c.profile.zsa_deg};
  if (c.profile.rician_k_db) channel["rician_k_db"] = *c.profile.rician_k_db;
  add_settings(channel, cdl_settings(), c);
  channel.erase("antenna_spacing_m");
  channel["antenna_spacing_wavelengths"] =
      c.spacing_wavelengths > 0 ? c.spacing_wavelengths : c.spacing_m / wavelength_m(c.carrier_hz);
}

void add_csi(const csi_channel_config& c, json& channel) {
  add_settings(channel, csi_channel_settings(), c);
  if (c.name.empty()) channel["file"] = c.path;
  channel["layout"] = c.layout;
  channel["snapshots"] = c.snapshots;
  channel["subcarriers"] = c.subcarriers;
  channel["antennas"] = c.antennas;
  channel["users"] = c.users;
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
      add_transport(link, code, decoder);
      break;
    case code_type::wimax_ldpc:
    case code_type::wifi_ldpc:
    case code_type::conv:
      add_ldpc_or_conv(given, code, decoder);
      break;
  }
  code["rate"] = code_rate(link);
  out["code"] = code;
  if (!decoder.is_null()) out["decoder"] = decoder;
}

void add_antennas(const link_config& link, json& out) {
  if (link.detector || link.space_time)
    out["mimo"] = {{"streams", link.streams}, {"rx_antennas", link.rx_antennas}};
  if (link.detector) out["detector"] = settings_json(detector_settings(), *link.detector);
  if (link.space_time) out["stbc"] = settings_json(stbc_settings(), *link.space_time);
  if (link.massive) out["massive"] = massive_json(*link.massive);
}

}  // namespace

json config_json(const curve_config& c) {
  const link_config& link = c.link;
  json out{{"seed", link.seed}};
  add_code(link, out);
  out["modem"] = {{"modulation", name_of_modulation(link.qam)}};
  if (!erases_uses(link) || (link.massive && link.massive->direction == massive_direction::downlink))
    out["modem"]["demapper"] = name_of(link.demapper);
  out["channel"] = {{"type", name_of(link.channel)}};
  if (link.channel == channel_type::rayleigh) out["channel"]["fading"] = name_of(link.fading);
  if (link.channel == channel_type::tdl) add_tdl(link.tdl, out["channel"]);
  if (link.channel == channel_type::cdl) add_cdl(link.cdl, out["channel"]);
  if (link.channel == channel_type::file) add_csi(link.csi, out["channel"]);
  add_antennas(link, out);
  out["sweep"] = {{name_of(link.axis), c.sweep_db}};
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
    if (!now.contains(key)) return {prefix + key, shown(v), "without it"};
    if (v.is_object() && now[key].is_object()) {
      if (const difference d = first_difference(v, now[key], prefix + key + "."); !d.key.empty()) return d;
    } else if (v != now[key]) {
      return {prefix + key, shown(v), shown(now[key])};
    }
  }
  for (const auto& [key, v] : now.items())
    if (!was.contains(key)) return {prefix + key, "not there", shown(v)};
  return {};
}

}  // namespace wb::result_file
