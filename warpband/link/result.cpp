#include <warpband/link/result.hpp>

#include <sys/utsname.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include <warpband/core/error.hpp>
#include <warpband/exec/cpu.hpp>
#include <warpband/exec/cuda.hpp>
#include <warpband/fec/lte/qpp.hpp>
#if __has_include(<warpband_version.hpp>)
#include <warpband_version.hpp>
#endif
#ifndef WARPBAND_VERSION
#define WARPBAND_VERSION "unknown"
#endif
#ifndef WARPBAND_COMMIT
#define WARPBAND_COMMIT "unknown"
#endif

namespace wb {
namespace {

using json = nlohmann::ordered_json;

json to_json(const detector_config& d) {
  json out{{"type", name_of(d.type)}};
  if (d.type == detector_type::nway) out["ways"] = d.ways;
  if (d.type == detector_type::kbest) {
    out["survivors"] = d.survivors;
    out["real_valued"] = d.real_valued;
  }
  if (!d.order.empty()) out["order"] = d.order;
  const float clip = d.llr_clip.value_or(no_clip);
  out["llr_clip"] = clip == no_clip ? json("none") : json(as_written(clip));
  return out;
}

json to_json(const setting_value& value) {
  return std::visit([](const auto& v) { return json(v); }, value);
}

/// The settings of a group that have a meaning.
json settings_json(const code_config& c, const std::string& group) {
  json out = json::object();
  code_config initial;
  initial.type = c.type;
  for (const auto& [s, value] : values_of(settings_of(c.type), c))
    if (s->group == group && s->of_links && (!s->brief || value != s->get(initial)))
      out[s->name] = to_json(value);
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

json to_json(const massive_link_config& c) {
  json out{{"direction", name_of(c.direction)},
           {"antennas", c.antennas},
           {"users", c.users},
           {"solver", name_of(c.solver)}};
  if (is_iterative(c.solver)) out["iterations"] = c.iterations;
  if (c.direction == massive_direction::uplink) out["sinr"] = name_of(*c.sinr);
  out["subcarriers"] = c.subcarriers;
  out["symbols"] = c.symbols;
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
  channel["doppler_hz"] = c.doppler_hz;
  if (c.doppler_hz > 0) channel["sinusoids"] = c.sinusoids;
  channel["subcarriers"] = c.grid.subcarriers;
  channel["symbols"] = c.grid.symbols;
  channel["spacing_hz"] = c.grid.spacing_hz;
  channel["cyclic_prefix_us"] = c.grid.cyclic_prefix_us;
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
  channel["carrier_hz"] = c.carrier_hz;
  channel["antenna_spacing_wavelengths"] =
      c.spacing_wavelengths > 0 ? c.spacing_wavelengths : c.spacing_m / wavelength_m(c.carrier_hz);
  channel["sector_deg"] = c.sector_deg;
  channel["power_control"] = c.power_control;
  channel["spacing_hz"] = c.grid.spacing_hz;
  channel["cyclic_prefix_us"] = c.grid.cyclic_prefix_us;
}

void add_csi(const csi_channel_config& c, json& channel) {
  channel["file"] = c.name.empty() ? c.path : c.name;
  channel["layout"] = c.layout;
  channel["snapshots"] = c.snapshots;
  channel["subcarriers"] = c.subcarriers;
  channel["antennas"] = c.antennas;
  channel["users"] = c.users;
  channel["power_control"] = c.power_control;
}

json to_json(const curve_config& c) {
  const link_config& link = c.link;
  const code_config& given = link.code;
  json code{{"type", name_of(given.type)}, {"k", sizes_of(given).k}, {"crc", name_of(given.crc)}}, decoder;
  json out{{"seed", link.seed}};
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
  out["modem"] = {{"modulation", name_of_modulation(link.qam)}};
  const auto* massive = std::get_if<massive_link_config>(&link.antennas);
  if (const auto* one = std::get_if<single_antenna>(&link.antennas))
    out["modem"]["demapper"] = name_of(one->demapper);
  else if (massive != nullptr && massive->direction == massive_direction::downlink)
    out["modem"]["demapper"] = name_of(massive->demapper);
  out["channel"] = {{"type", name_of(type_of(link.channel))}};
  json& channel = out["channel"];
  if (const auto* fading = std::get_if<rayleigh_config>(&link.channel))
    channel["fading"] = name_of(fading->fading);
  if (const auto* line = std::get_if<tdl_config>(&link.channel)) add_tdl(*line, channel);
  if (const auto* clusters = std::get_if<cdl_config>(&link.channel)) add_cdl(*clusters, channel);
  if (const auto* file = std::get_if<csi_channel_config>(&link.channel)) add_csi(*file, channel);
  const json antennas{{"streams", streams_of(link)}, {"rx_antennas", rx_antennas_of(link)}};
  if (const auto* detector = std::get_if<detector_config>(&link.antennas)) {
    out["mimo"] = antennas;
    out["detector"] = to_json(*detector);
  }
  if (const auto* space_time = std::get_if<stbc_config>(&link.antennas)) {
    out["mimo"] = antennas;
    const space_time_code& sent = space_time->code;
    out["stbc"] = {{"type", name_of(sent)}};
    if (out["stbc"]["type"] == "pair")  // Silver's V goes without saying
      for (const std::complex<double>& entry : sent.v())
        out["stbc"]["v"].push_back(json::array({entry.real(), entry.imag()}));
    if (sent.kind() == space_time_kind::golden) out["stbc"]["search"] = name_of(space_time->search);
  }
  if (massive != nullptr) out["massive"] = to_json(*massive);
  out["sweep"] = {{name_of(link.axis), c.sweep_db}};
  out["stop"] = {{"frame_errors", c.stop.frame_errors},
                 {"max_frames", c.stop.max_frames},
                 {"max_seconds", c.stop.max_seconds},
                 {"below_fer", c.stop.below_fer}};
  if (c.stop.below_bler != 0) out["stop"]["below_bler"] = c.stop.below_bler;
  return out;
}

json to_json(const std::optional<interval>& i) { return i ? json{i->low, i->high} : json(nullptr); }

/// Rounded to a millionth: a speed is not known better.
double tidy(double x) { return std::round(x * 1e6) / 1e6; }

json to_json(const scenario_overrides& o) {
  json out = json::object();
  if (o.seed) out["seed"] = *o.seed;
  if (o.frame_errors) out["frame_errors"] = *o.frame_errors;
  if (o.max_frames) out["max_frames"] = *o.max_frames;
  if (o.max_seconds) out["max_seconds"] = *o.max_seconds;
  return out;
}

json to_json(const machine_info& m) {
  return {{"cpu", m.cpu},
          {"os", m.os},
          {"device", m.device},
          {"instruction_set", m.instruction_set.empty() ? json(nullptr) : json(m.instruction_set)},
          {"threads", m.threads == 0 ? json(nullptr) : json(m.threads)}};
}
json program_json(const run_origin& o) { return {{"version", o.version}, {"commit", o.commit}}; }

/// What HARQ counts, of the most transmissions of a block.
json harq_counts(const point_counts& c, int transmissions) {
  json errors = json::array();
  for (int n = 0; n < transmissions; n++) errors.push_back(c.block_errors[static_cast<std::size_t>(n)]);
  return {{"block_errors", errors}, {"undetected_errors", c.undetected_errors}};
}
json harq_json(const point_result& p) {
  json out = harq_counts(p.counts, p.transmissions), rates = json::array(), intervals = json::array();
  for (int n = 1; n <= p.transmissions; n++) {
    rates.push_back(p.bler(n));
    intervals.push_back(to_json(std::optional(p.bler_interval(n))));
  }
  out["bler"] = rates;
  out["bler_intervals"] = intervals;
  out["transmissions_sum"] = p.transmissions_sent();
  out["mean_transmissions"] = p.mean_transmissions();
  out["mean_transmissions_interval"] = to_json(std::optional(p.mean_transmissions_interval()));
  out["bits_per_resource_element"] = p.throughput();
  out["bits_per_resource_element_interval"] = to_json(std::optional(p.throughput_interval()));
  out["relative_throughput"] = p.relative_throughput();
  return out;
}

/// What massive MIMO counts of the codewords of frames.
json codeword_counts(const point_counts& c) {
  return {{"errors", c.codeword_errors},
          {"errors_squared", c.codeword_errors_squared},
          {"bit_errors_squared", c.bit_errors_squared}};
}
json codewords_json(const point_result& p) {
  json out = codeword_counts(p.counts);
  out["codewords"] = p.counts.frames * p.codewords;
  out["bler"] = p.bler();
  out["bler_interval"] = to_json(std::optional(p.bler_interval()));
  return out;
}

json to_json(const unfinished_point& p, const link_config& link) {
  json out{{name_of(link.axis), p.sweep_db},          {"frames", p.counts.frames},
           {"bit_errors", p.counts.bit_errors},       {"frame_errors", p.counts.frame_errors},
           {"erased_frames", p.counts.erased_frames}, {"iterations_sum", p.counts.iterations},
           {"frames_run", p.counts.frames_run},       {"seconds", p.counts.seconds}};
  if (erases_uses(link)) out["erased_uses"] = p.counts.erased_uses;
  if (link.code.type == code_type::lte_transport)
    out["harq"] = harq_counts(p.counts, link.code.transport.transmissions);
  if (std::holds_alternative<massive_link_config>(link.antennas))
    out["codewords"] = codeword_counts(p.counts);
  return out;
}

json to_json(const point_result& p, const link_config& link) {
  const auto iterations = p.mean_iterations();
  json out{{"ebn0_db", p.ebn0_db},
           {"snr_db", p.snr_db},
           {"esn0_db", p.esn0_db},
           {"frames", p.counts.frames},
           {"bits", p.bits()},
           {"bit_errors", p.counts.bit_errors},
           {"frame_errors", p.counts.frame_errors},
           {"erased_frames", p.counts.erased_frames},
           {"ber", p.ber()},
           {"fer", p.fer()},
           {"ber_interval", to_json(p.ber_interval())},
           {"fer_interval", to_json(std::optional(p.fer_interval()))},
           {"iterations", iterations ? json(*iterations) : json(nullptr)},
           {"iterations_sum", p.counts.iterations},
           {"frames_run", p.counts.frames_run},
           {"mbps", tidy(p.mbps())},
           {"seconds", p.counts.seconds},
           {"stopped_by", name_of(p.stopped_by)}};
  if (erases_uses(link)) out["erased_uses"] = p.counts.erased_uses;
  if (p.transmissions != 0) out["harq"] = harq_json(p);
  if (p.codewords != 0) out["codewords"] = codewords_json(p);
  return out;
}

// ---- reading

constexpr std::size_t most_bytes = std::size_t{1} << 28;
constexpr std::uint64_t most_frames = 1'000'000'000'000'000;  // as a scenario's max_frames

/// A value as a message shows it, in one line and not too long.
std::string shown(const json& j) {
  std::string text = j.dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

/// An object of a file, and where in the file it is: everything in it is asked for by name and type.
class object {
 public:
  object(const json& j, std::string where, const std::string& path)
      : j_(j), where_(std::move(where)), path_(path) {
    if (!j.is_object()) refuse(where_.empty() ? "it" : where_, j, "an object");
  }
  [[noreturn]] void fail(const std::string& what) const { throw file_error(path_, "not a result: " + what); }
  [[noreturn]] void refuse(const std::string& name, const json& v, const std::string& allowed) const {
    fail(argument_error(name, shown(v), allowed).what());
  }
  [[noreturn]] void refuse(const char* key, const std::string& allowed) const {
    refuse(name(key), at(key), allowed);
  }
  std::string name(const std::string& key) const { return where_.empty() ? key : where_ + "." + key; }
  bool has(const char* key) const { return j_.contains(key); }
  /// Other keys than these are of another program: writing the result again would lose them.
  void holds_only(std::initializer_list<const char*> keys) const {
    for (const auto& [key, v] : j_.items())
      if (std::find(keys.begin(), keys.end(), key) == keys.end())
        fail(shown(name(key)) + " is not known to this version, " + version());
  }
  const json& at(const char* key) const {
    const auto i = j_.find(key);
    if (i == j_.end()) fail(name(key) + " is missing");
    return *i;
  }
  object inner(const char* key) const { return {at(key), name(key), path_}; }
  const json& list(const char* key) const {
    if (!at(key).is_array()) refuse(key, "a list");
    return at(key);
  }
  object element(const char* key, std::size_t i) const {
    return {list(key)[i], name(key) + "[" + std::to_string(i) + "]", path_};
  }
  std::string text(const char* key) const {
    if (!at(key).is_string()) refuse(key, "text");
    return at(key).get<std::string>();
  }
  std::string text_or_null(const char* key) const { return at(key).is_null() ? "" : text(key); }
  bool boolean(const char* key) const {
    if (!at(key).is_boolean()) refuse(key, "true or false");
    return at(key).get<bool>();
  }
  /// `most_name` says in words where the largest value comes from.
  std::uint64_t integer(const char* key, std::uint64_t least, std::uint64_t most,
                        const std::string& most_name = "") const {
    const json& v = at(key);
    if (!v.is_number_unsigned() || v.get<std::uint64_t>() < least || v.get<std::uint64_t>() > most)
      refuse(key, "an integer from " + std::to_string(least) + " to " + std::to_string(most) + most_name);
    return v.get<std::uint64_t>();
  }
  double number(const char* key, double least, double most, const std::string& allowed) const {
    const json& v = at(key);
    if (!v.is_number() || !(v.get<double>() >= least && v.get<double>() <= most)) refuse(key, allowed);
    return v.get<double>();
  }

 private:
  const json& j_;
  std::string where_;
  const std::string& path_;
};

/// The first key in which two configurations differ, "" where none does; with what each says there.
struct difference {
  std::string key, was, now;
};
difference first_difference(const json& was, const json& now, const std::string& prefix = "") {
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

json parsed(const std::string& path) {
  std::error_code status;
  if (std::filesystem::is_directory(path, status)) throw file_error(path, "cannot read: it is a folder");
  std::ifstream in(path, std::ios::binary);
  if (!in) throw file_error(path, std::string("cannot read: ") + std::strerror(errno));
  std::string text;
  for (std::vector<char> part(1 << 20); in && text.size() <= most_bytes;) {
    in.read(part.data(), static_cast<std::streamsize>(part.size()));
    text.append(part.data(), static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad()) throw file_error(path, std::string("cannot read: ") + std::strerror(errno));
  if (text.size() > most_bytes) throw file_error(path, "larger than 256 MiB: not a result");
  try {
    return json::parse(text, [&](int depth, json::parse_event_t, json&) {
      if (depth > 64) throw file_error(path, "not a result: it is nested too deeply");
      return true;
    });
  } catch (const json::parse_error& error) {
    const std::size_t byte = std::min(error.byte, text.size());
    const auto lines = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(byte), '\n');
    throw file_error(path, "not a result: not JSON, or cut off, in line " + std::to_string(lines + 1));
  } catch (const json::exception&) {  // a number out of any range
    throw file_error(path, "not a result: a number in it is too large");
  }
}

run_origin read_origin(const object& o) {
  const object program = o.inner("warpband"), machine = o.inner("machine");
  program.holds_only({"version", "commit"});
  machine.holds_only({"cpu", "os", "device", "instruction_set", "threads"});
  run_origin origin;
  origin.version = program.text("version");
  origin.commit = program.text("commit");
  origin.machine = {machine.text("cpu"), machine.text("os"), machine.text("device"),
                    machine.text_or_null("instruction_set"), 0};
  if (!machine.at("threads").is_null())
    origin.machine.threads = static_cast<int>(machine.integer("threads", 1, 1 << 20));
  return origin;
}

scenario read_scenario(const object& o, const std::string& path) {
  o.holds_only({"file", "title", "text", "overrides"});
  scenario s;
  try {
    s = parse_scenario(o.text("text"), o.text("file"));
  } catch (const file_error& error) {
    throw file_error(path, std::string("the scenario in it is not one for this build: ") + error.what());
  }
  if (s.title != o.text("title")) o.refuse("title", shown(s.title) + ", as in the scenario's text");
  const object given = o.inner("overrides");
  given.holds_only({"seed", "frame_errors", "max_frames", "max_seconds"});
  scenario_overrides all;
  if (given.has("seed")) all.seed = given.integer("seed", 0, INT64_MAX);
  if (given.has("frame_errors")) all.frame_errors = given.integer("frame_errors", 0, most_frames);
  if (given.has("max_frames")) all.max_frames = given.integer("max_frames", 1, most_frames);
  if (given.has("max_seconds"))
    all.max_seconds = given.number("max_seconds", 0, 1e9, "a number of seconds from 0 to 1e9");
  apply_overrides(s, all);
  return s;
}

/// What HARQ counts, of a point of which frames and frame errors are known.
void read_harq(const object& o, int transmissions, point_counts& n) {
  const json& errors = o.list("block_errors");
  if (errors.size() != static_cast<std::size_t>(transmissions))
    o.refuse("block_errors", std::to_string(transmissions) + " counts");
  std::uint64_t most = n.frames;
  for (std::size_t i = 0; i < errors.size(); i++) {
    if (!errors[i].is_number_unsigned() || errors[i].get<std::uint64_t>() > most)
      o.refuse("block_errors", "integers that do not rise, up to " + std::to_string(n.frames) + " = frames");
    n.block_errors[i] = most = errors[i].get<std::uint64_t>();
  }
  // What is no error after the last transmission is one that the CRCs did not tell.
  const std::uint64_t undetected = n.frame_errors - std::min(n.frame_errors, most);
  n.undetected_errors = o.integer("undetected_errors", undetected, undetected);
  if (most > n.frame_errors) o.refuse("block_errors", "a last one up to frame_errors");
}

/// What massive MIMO counts, of a point of which frames, frame errors and bit errors are known. Sums of
/// squares lie between those of equal parts and of the most unequal ones.
void read_codewords(const object& o, const link_config& link, point_counts& n) {
  const std::uint64_t each = codewords_per_frame(link), bits = bits_per_frame(link);
  const auto squares = [&](const char* key, std::uint64_t sum, std::uint64_t most) {
    const std::uint64_t all = sum > UINT64_MAX / most ? UINT64_MAX : sum * most;
    return o.integer(key, sum, all, ", as the errors say");
  };
  n.codeword_errors = o.integer("errors", n.frame_errors, n.frame_errors * each, " = frame_errors codewords");
  n.codeword_errors_squared = squares("errors_squared", n.codeword_errors, each);
  if (n.bit_errors < n.codeword_errors || n.bit_errors / sizes_of(link.code).k > n.codeword_errors)
    o.refuse("errors", "a number that goes with bit_errors");
  n.bit_errors_squared = squares("bit_errors_squared", n.bit_errors, bits);
}

/// The counts of a point, finished or not, as far as they are the same for both.
point_counts read_counts(const object& o, const curve_config& c) {
  const std::uint64_t k = bits_per_frame(c.link);
  const bool coded = c.link.code.type != code_type::none;
  point_counts n;
  n.frames = o.integer("frames", 1, most_frames);
  const std::string frames = " = frames";
  n.frame_errors = o.integer("frame_errors", 0, n.frames, frames);
  if (n.frames > UINT64_MAX / k) o.refuse("frames", "no more than can be counted");
  // The counts of HARQ come first: its frames may fail by the bits of their CRC alone, and are sent again.
  const bool harq = c.link.code.type == code_type::lte_transport;
  std::uint64_t decodings = n.frames, least_bits = n.frame_errors;
  if (harq) {
    const int most = c.link.code.transport.transmissions;
    read_harq(o.inner("harq"), most, n);
    for (int i = 1; i < most; i++) decodings += n.block_errors[static_cast<std::size_t>(i - 1)];
    least_bits = n.undetected_errors;
  } else if (o.has("harq")) {
    o.refuse("harq", "none: the code is not lte-transport");
  }
  n.bit_errors = o.integer("bit_errors", least_bits, n.frame_errors * k, " = frame_errors k");
  n.erased_frames = o.integer("erased_frames", 0, coded ? n.frames : 0);
  const auto each = static_cast<std::uint64_t>(most_iterations(c.link.code));
  if (harq) {
    const auto blocks = static_cast<std::uint64_t>(segment_transport_block(static_cast<int>(k)).blocks);
    const std::uint64_t most =
        decodings > UINT64_MAX / (blocks * each) ? UINT64_MAX : decodings * blocks * each;
    n.iterations = o.integer("iterations_sum", 0, most, " = code blocks sent decoder.iterations");
  } else {
    n.iterations = o.integer("iterations_sum", 0, n.frames * each * codewords_per_frame(c.link),
                             coded ? " = frames decoder.iterations" : "");
  }
  if (erases_uses(c.link)) {
    const std::uint64_t uses = uses_per_frame(c.link);
    const std::uint64_t all = decodings > UINT64_MAX / uses ? UINT64_MAX : decodings * uses;
    n.erased_uses = o.integer("erased_uses", 0, all, " = uses of the frames");
  } else if (o.has("erased_uses")) {
    o.refuse("erased_uses", "none: there is neither a detector nor a space-time code");
  }
  if (std::holds_alternative<massive_link_config>(c.link.antennas))
    read_codewords(o.inner("codewords"), c.link, n);
  else if (o.has("codewords"))
    o.refuse("codewords", "none: there is no massive MIMO");
  n.frames_run = o.integer("frames_run", n.frames, UINT64_MAX / k);
  n.seconds = o.number("seconds", 0, 1e18, "a number of seconds, at least 0");
  return n;
}

double read_sweep_db(const object& o, const curve_config& c) {
  const char* key = name_of(c.link.axis);
  const double x = o.number(key, -100, 100, "a number from -100 to 100");
  if (std::find(c.sweep_db.begin(), c.sweep_db.end(), x) == c.sweep_db.end())
    o.refuse(key, std::string("one of config.sweep.") + key);
  return x;
}

point_result read_point(const object& o, const curve_config& c) {
  o.holds_only({"ebn0_db",       "snr_db",       "esn0_db",    "erased_uses",
                "frames",        "bits",         "bit_errors", "frame_errors",
                "erased_frames", "ber",          "fer",        "harq",
                "ber_interval",  "fer_interval", "iterations", "iterations_sum",
                "frames_run",    "mbps",         "seconds",    "stopped_by",
                "codewords"});
  point_result p = point_of(c.link, read_sweep_db(o, c));
  p.counts = read_counts(o, c);
  const std::string reason = o.text("stopped_by");
  p.stopped_by = stop_reason::cancelled;
  for (const stop_reason r : {stop_reason::frame_errors, stop_reason::max_frames, stop_reason::time})
    if (reason == name_of(r)) p.stopped_by = r;
  if (p.stopped_by == stop_reason::cancelled)
    o.refuse("stopped_by", "\"frame_errors\", \"max_frames\" or \"time\"");
  // What follows from the counts must be what follows: a file in which someone changed a rate is not trusted.
  o.integer("bits", p.bits(), p.bits(), " = frames k");
  const auto follows_in = [](const object& in, const char* key, double expected, double least = 0) {
    const double off = 1e-9 * std::max(least, std::abs(expected));
    in.number(key, expected - off, expected + off, shown(expected) + ", as the rest says");
  };
  const auto follows = [&](const char* key, double expected, double least = 0) {
    follows_in(o, key, expected, least);
  };
  follows("ebn0_db", p.ebn0_db, 1);
  if (o.has("snr_db")) follows("snr_db", p.snr_db, 1);  // of before there was MIMO: without
  follows("esn0_db", p.esn0_db, 1);
  follows("ber", p.ber());
  follows("fer", p.fer());
  if (p.coded)
    follows("iterations", *p.mean_iterations());
  else if (!o.at("iterations").is_null())
    o.refuse("iterations", "null: there is no decoder");
  if (p.transmissions != 0) {
    const object harq = o.inner("harq");
    harq.holds_only({"block_errors", "undetected_errors", "bler", "bler_intervals", "transmissions_sum",
                     "mean_transmissions", "mean_transmissions_interval", "bits_per_resource_element",
                     "bits_per_resource_element_interval", "relative_throughput"});
    harq.integer("transmissions_sum", p.transmissions_sent(), p.transmissions_sent(),
                 ", as block_errors say");
    json rates = json::array();
    for (int n = 1; n <= p.transmissions; n++) rates.push_back(p.bler(n));
    if (harq.list("bler") != rates) harq.refuse("bler", shown(rates) + ", as block_errors say");
    follows_in(harq, "mean_transmissions", p.mean_transmissions());
    follows_in(harq, "bits_per_resource_element", p.throughput());
    follows_in(harq, "relative_throughput", p.relative_throughput());
  }
  if (p.codewords != 0) {
    const object of = o.inner("codewords");
    of.holds_only({"codewords", "errors", "errors_squared", "bit_errors_squared", "bler", "bler_interval"});
    of.integer("codewords", p.counts.frames * p.codewords, p.counts.frames * p.codewords, ", as frames say");
    follows_in(of, "bler", p.bler());
  }
  return p;
}

/// The label of a curve of the file, found among the result's curves, its configuration being the same.
curve_result& find_curve(const object& o, run_result& result, const std::string& path) {
  o.holds_only({"label", "config", "points"});
  const std::string label = o.text("label");
  const auto c = std::find_if(result.curves.begin(), result.curves.end(),
                              [&](const curve_result& r) { return r.label == label; });
  if (c == result.curves.end()) o.refuse("label", "a curve of the scenario in it");
  o.inner("config");  // is an object
  if (const difference d = first_difference(o.at("config"), to_json(c->config)); !d.key.empty())
    throw file_error(path, "curve \"" + label + "\" was run with " + d.key + " = " + d.was +
                               ", but the scenario in it gives " + d.now +
                               " in this build: expected the same");
  return *c;
}

}  // namespace

const char* version() noexcept { return WARPBAND_VERSION; }
const char* commit() noexcept { return WARPBAND_COMMIT; }

std::string cpu_model() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("model name"))
      if (const std::size_t at = line.find(": "); at != std::string::npos) return line.substr(at + 2);
  utsname u{};
  return uname(&u) == 0 ? std::string(u.machine) : "unknown";
}

machine_info describe_machine(const executor& exec) {
  machine_info m;
  m.cpu = cpu_model();
  utsname u{};
  if (uname(&u) == 0) m.os = std::string(u.sysname) + " " + u.machine;
  m.device = exec.name();
  if (const auto* c = dynamic_cast<const cpu*>(&exec)) {
    m.instruction_set = isa_name(c->instructions());
    m.threads = c->threads();
  } else {
    m.device += ", " + exec.description();
  }
  return m;
}

void add_origin(run_result& result, const run_origin& now) {
  const auto same = [](const run_origin& a, const run_origin& b) {
    return program_json(a) == program_json(b) && to_json(a.machine) == to_json(b.machine);
  };
  if (!same(result.origin, now)) result.earlier.push_back(std::move(result.origin));
  result.origin = now;
}

std::string result_json(const run_result& result) {
  json out{{"warpband", program_json(result.origin)}, {"machine", to_json(result.origin.machine)}};
  if (!result.earlier.empty()) {
    json& earlier = out["earlier_runs"] = json::array();
    for (const run_origin& o : result.earlier)
      earlier.push_back({{"warpband", program_json(o)}, {"machine", to_json(o.machine)}});
  }
  const scenario& s = result.source;
  out["scenario"] = {
      {"file", s.file}, {"title", s.title}, {"text", s.text}, {"overrides", to_json(s.overrides)}};
  out["complete"] = result.complete;
  // What is unfinished is not among "curves", where whoever draws them would find points that no rule
  // stopped.
  json curves = json::array(), unfinished = json::array();
  const auto add = [](json& list, const curve_result& c, const auto& points) {
    if (points.empty()) return;
    json all = json::array();
    for (const auto& p : points) all.push_back(to_json(p, c.config.link));
    list.push_back({{"label", c.label}, {"config", to_json(c.config)}, {"points", std::move(all)}});
  };
  for (const curve_result& c : result.curves) {
    add(curves, c, c.points);
    add(unfinished, c, c.unfinished);
  }
  out["curves"] = std::move(curves);
  if (!unfinished.empty()) out["unfinished"] = std::move(unfinished);
  // Text that is not UTF-8 (a path may be) must not stop a result from being written.
  return out.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

run_result load_result(const std::string& path) {
  const json file = parsed(path);
  const object root(file, "", path);
  const object source = root.inner("scenario");
  for (const char* key : {"warpband", "machine", "curves"}) root.at(key);
  if (!source.has("overrides"))
    throw file_error(path, "was written before results could be resumed: run its scenario again");
  root.holds_only({"warpband", "machine", "earlier_runs", "scenario", "complete", "curves", "unfinished"});

  run_result r;
  r.origin = read_origin(root);
  if (root.has("earlier_runs"))
    for (std::size_t i = 0; i < root.list("earlier_runs").size(); i++) {
      const object o = root.element("earlier_runs", i);
      o.holds_only({"warpband", "machine"});
      r.earlier.push_back(read_origin(o));
    }
  r.source = read_scenario(source, path);
  r.complete = root.boolean("complete");
  for (const curve_config& c : r.source.curves) {
    r.curves.push_back({c.label, c, {}, {}, false});
    r.curves.back().config.link = completed(c.link);
  }

  // Points stand in the order of the sweep, which rises: none is there twice.
  const auto check_order = [](const object& o, const curve_config& c, const auto& points, double sweep_db) {
    if (!points.empty() && !(points.back().sweep_db < sweep_db))
      o.refuse(name_of(c.link.axis), "more than the point before, " + shown(points.back().sweep_db));
  };
  for (std::size_t i = 0; i < root.list("curves").size(); i++) {
    const object o = root.element("curves", i);
    curve_result& c = find_curve(o, r, path);
    if (!c.points.empty()) o.refuse("label", "another one for each curve");
    if (o.list("points").empty()) o.refuse("points", "at least one");
    for (std::size_t n = 0; n < o.list("points").size(); n++) {
      const object at = o.element("points", n);
      const point_result p = read_point(at, c.config);
      check_order(at, c.config, c.points, p.sweep_db);
      c.points.push_back(p);
    }
  }
  const std::size_t begun = root.has("unfinished") ? root.list("unfinished").size() : 0;
  if (begun != 0 && r.complete) root.refuse("complete", "false: it holds unfinished points");
  for (std::size_t i = 0; i < begun; i++) {
    const object o = root.element("unfinished", i);
    curve_result& c = find_curve(o, r, path);
    if (!c.unfinished.empty()) o.refuse("label", "another one for each curve");
    for (std::size_t n = 0; n < o.list("points").size(); n++) {
      const object at = o.element("points", n);
      at.holds_only({name_of(c.config.link.axis), "frames", "bit_errors", "frame_errors", "erased_frames",
                     "erased_uses", "iterations_sum", "frames_run", "seconds", "harq", "codewords"});
      if (at.has("codewords"))
        at.inner("codewords").holds_only({"errors", "errors_squared", "bit_errors_squared"});
      if (at.has("harq")) at.inner("harq").holds_only({"block_errors", "undetected_errors"});
      const unfinished_point p{read_sweep_db(at, c.config), read_counts(at, c.config)};
      check_order(at, c.config, c.unfinished, p.sweep_db);
      if (const point_counts held = c.counts_at(p.sweep_db);
          p.counts.frames < held.frames || p.counts.bit_errors < held.bit_errors ||
          p.counts.frame_errors < held.frame_errors || p.counts.erased_frames < held.erased_frames ||
          p.counts.erased_uses < held.erased_uses || p.counts.iterations < held.iterations ||
          p.counts.frames_run < held.frames_run || p.counts.seconds < held.seconds ||
          p.counts.undetected_errors < held.undetected_errors ||
          p.counts.codeword_errors < held.codeword_errors ||
          p.counts.codeword_errors_squared < held.codeword_errors_squared ||
          p.counts.bit_errors_squared < held.bit_errors_squared ||
          !std::equal(held.block_errors.begin(), held.block_errors.end(), p.counts.block_errors.begin(),
                      [](std::uint64_t was, std::uint64_t now) { return was <= now; }))
        at.refuse("frames", "counts that go on from the finished point's");
      c.unfinished.push_back(p);
    }
  }
  return r;
}

run_result resumed(run_result held, scenario wanted, const std::string& path) {
  const std::string name = wanted.file;
  std::vector<curve_result> curves;
  for (const curve_config& w : wanted.curves) {
    curve_result c{w.label, w, {}, {}, false};
    c.config.link = completed(w.link);
    for (curve_result& h : held.curves) {
      if (h.label != w.label || (h.points.empty() && h.unfinished.empty())) continue;
      json was = to_json(h.config), now = to_json(c.config);
      for (const char* key : {"sweep", "stop"}) was.erase(key), now.erase(key);
      if (h.config.link.axis != c.config.link.axis)
        throw file_error(path, "curve \"" + w.label + "\" was run over sweep." + name_of(h.config.link.axis) +
                                   ", now over sweep." + name_of(c.config.link.axis) + ": expected the same");
      if (const difference d = first_difference(was, now); !d.key.empty())
        throw file_error(path, "curve \"" + w.label + "\" was run with " + d.key + " = " + d.was + ", now " +
                                   d.now + ": expected the same");
      const auto check = [&](double sweep_db) {
        if (std::find(w.sweep_db.begin(), w.sweep_db.end(), sweep_db) == w.sweep_db.end())
          throw file_error(path, "curve \"" + w.label + "\" holds a point at " + title_of(w.link.axis) +
                                     " = " + shown(sweep_db) + " dB that " + name +
                                     " does not list: expected all points held");
      };
      for (const point_result& p : h.points) check(p.sweep_db);
      for (const unfinished_point& p : h.unfinished) check(p.sweep_db);
      c.points = std::move(h.points);
      c.unfinished = std::move(h.unfinished);
      h.points.clear();
      h.unfinished.clear();
    }
    curves.push_back(std::move(c));
  }
  for (const curve_result& h : held.curves)
    if (!h.points.empty() || !h.unfinished.empty())
      throw file_error(path, "holds a curve \"" + h.label + "\" that " + name +
                                 " does not list: expected all curves held");
  held.source = std::move(wanted);
  held.curves = std::move(curves);
  held.complete = false;
  return held;
}

}  // namespace wb
