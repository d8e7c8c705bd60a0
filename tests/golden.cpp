#include <tests/golden.hpp>

#include <fstream>
#include <memory>

#include <apps/stream_runs.hpp>
#include <tests/json.hpp>
#include <warpband/core/error.hpp>
#include <warpband/link/chain.hpp>
#include <warpband/link/result_json.hpp>
#include <warpband/link/setting_json.hpp>

namespace wb::testing {
namespace {

using nlohmann::json;

const std::string root = std::string(WARPBAND_SOURCE_DIR) + "/";

/// The patch that makes `b` of `a`.
json patch_of(const json& a, const json& b) {
  if (!a.is_object() || !b.is_object()) return b;
  json patch = json::object();
  for (const auto& [key, value] : a.items())
    if (!b.contains(key)) patch[key] = nullptr;
  for (const auto& [key, value] : b.items())
    if (!a.contains(key))
      patch[key] = value;
    else if (a[key] != value)
      patch[key] = patch_of(a[key], value);
  return patch;
}

json patched(const std::vector<json>& curves) {
  json patches = json::array();
  for (std::size_t i = 0; i < curves.size(); i++)
    patches.push_back(i == 0 ? curves[0] : patch_of(curves[i - 1], curves[i]));
  return patches;
}

// ---- what knows the readers

/// As results have it.
json configuration(const curve_config& c) { return json::parse(result_file::config_json(c).dump()); }

std::vector<json> curves_of(const std::vector<curve_config>& curves) {
  std::vector<json> rows;
  for (const curve_config& c : curves) rows.push_back({{"label", c.label}, {"config", configuration(c)}});
  return rows;
}

scenario_overrides overrides_of(const json& options) {
  scenario_overrides o;
  if (options.contains("seed")) o.seed = options["seed"];
  if (options.contains("frame_errors")) o.frame_errors = options["frame_errors"];
  if (options.contains("max_frames")) o.max_frames = options["max_frames"];
  if (options.contains("max_seconds")) o.max_seconds = options["max_seconds"];
  return o;
}

std::vector<json> sim_curves(const std::string& text, const std::string& path, const json& options) {
  scenario s = parse_scenario(text, path);
  apply_overrides(s, overrides_of(options));
  return curves_of(s.curves);
}

/// The settings of a run that have a meaning with its chain, by their keys.
json configuration(const stream_run& run) {
  json values = json::object();
  const auto has = [&](const std::string& key) {
    const auto& conditions = stream_schema().find(key)->versions.front().conditions;
    return conditions.empty() || conditions.front().setting != "stream.chain" ||
           find_word(conditions.front().words, run.chain).has_value();
  };
  for (const auto& [setting, value] : values_of(stream_settings(), run))
    if (has(setting->name) && (run.loops || !setting->name.starts_with("receiver.")))
      values[setting->name] = json::parse(json_of(value).dump());
  const auto of_detector = settings_of(run.detector.kind());
  if (has("detector.type"))
    for (const auto& [setting, value] : values_of(of_detector, run.detector))
      if (setting->of_links) values["detector." + setting->name] = json::parse(json_of(value).dump());
  const auto add_code = [&](const code_config& code, bool whole) {
    for (const auto& [setting, value] : values_of(code.kind().settings, code.settings))
      if (setting->of_links && (whole || setting->group == "decoder"))
        values[setting->group + "." + setting->name] = json::parse(json_of(value).dump());
  };
  const code_config code(run.code_name, run.code_values);
  if (run.chain == "decode") add_code(completed(code), true);
  if (run.chain == "pusch") add_code(code, false);
  return values;
}

std::vector<json> stream_curves(const std::string& text, const std::string& path) {
  std::vector<json> rows;
  for (const stream_run& r : parse_stream_scenario(text, path).runs)
    rows.push_back({{"label", r.label}, {"config", configuration(r)}});
  return rows;
}

/// The curves of a scenario or of a stored result, for which the recordings of its channels need not be
/// there.
std::vector<curve_config> stored_curves(const json& row) {
  if (row.contains("scenario")) return load_scenario(root + row["scenario"].get<std::string>()).curves;
  std::vector<curve_config> curves;
  for (const curve_result& c : load_result(root + row["result"].get<std::string>(), result_use::show).curves)
    curves.push_back(c.config);
  return curves;
}

/// Adds counts of more frames.
void append(json& out, const frame_counts& c) {
  const auto add = [&](json& list, const auto& counts) {
    for (const auto& n : counts) list.push_back(n);
  };
  const auto add_if_any = [&](const char* name, const auto& counts) {
    if (!counts.empty()) add(out[name], counts);
  };
  const auto add_outer = [&](const char* name, const auto& iterations) {
    for (std::size_t i = 0; i < iterations.size(); i++) add(out[name][i], iterations[i]);
  };
  add_if_any("bit_errors", c.bit_errors);
  add_if_any("iterations", c.iterations);
  add_if_any("erased", c.erased);
  add_if_any("erased_uses", c.erased_uses);
  add_if_any("codeword_errors", c.codeword_errors);
  add_if_any("transmissions", c.transmissions);
  add_if_any("passed", c.passed);
  add_outer("outer_bit_errors", c.outer_bit_errors);
  add_outer("outer_erased", c.outer_erased);
  add_outer("outer_codeword_errors", c.outer_codeword_errors);
}

}  // namespace

std::vector<json> golden_rows(const std::string& name) {
  const std::string path = root + "tests/golden/" + name + ".jsonl";
  std::ifstream file(path);
  std::vector<json> rows;
  for (std::string line; std::getline(file, line);) rows.push_back(parse_json(line));
  if (rows.empty()) throw file_error(path, "has no rows");
  return rows;
}

json golden_answer(const json& row) {
  try {
    if (row.contains("result")) return {{"curves", patched(curves_of(stored_curves(row)))}};
    std::string path = root + "tests/golden/scenario.toml", text;
    if (row.contains("scenario")) {
      path = root + row["scenario"].get<std::string>();
      std::ifstream file(path);
      text.assign(std::istreambuf_iterator<char>(file), {});
    } else {
      text = row["text"];
    }
    const json options = row.value("options", json::object());
    return {{"curves", patched(row["command"] == "stream" ? stream_curves(text, path)
                                                          : sim_curves(text, path, options))}};
  } catch (const error& e) {
    std::string message = e.what();
    for (const std::string& folder : {root + "tests/golden/", root})
      for (std::size_t found; (found = message.find(folder)) != std::string::npos;)
        message.erase(found, folder.size());
    return {{"message", message}};
  }
}

struct golden_counts::stored {
  std::string path;
  std::vector<curve_config> curves;
};

json golden_counts::of(const json& row) {
  const std::string path = row.value("result", row.value("scenario", "")), label = row["curve"];
  if (stored_ == nullptr || stored_->path != path)
    stored_ = std::make_shared<stored>(stored{path, stored_curves(row)});
  const auto& curves = stored_->curves;
  const auto curve =
      std::find_if(curves.begin(), curves.end(), [&](const curve_config& c) { return c.label == label; });
  if (curve == curves.end()) throw file_error(path, "has no curve \"" + label + "\"");
  const std::size_t frames = row["frames"];
  link_chain chain(curve->link, exec_, frames);
  json out = json::object();
  for (std::size_t first = 0; first < frames; first += chain.max_batch())
    append(out, chain.run(first, std::min(chain.max_batch(), frames - first), row["point"]));
  return out;
}

json unpatched(const json& curves) {
  json parts = json::array(), last;
  for (const json& c : curves) {
    last.merge_patch(c);
    parts.push_back(last);
  }
  return parts;
}

std::string golden_difference(const json& expected, const json& found, const std::string& key) {
  if (expected == found) return "";
  const auto inside = [&](const std::string& name) { return key.empty() ? name : key + "." + name; };
  if (expected.is_object() && found.is_object()) {
    for (const auto& [name, value] : expected.items()) {
      if (!found.contains(name)) return inside(name) + ": expected " + value.dump() + ", not there";
      if (const std::string d = golden_difference(value, found[name], inside(name)); !d.empty()) return d;
    }
    for (const auto& [name, value] : found.items())
      if (!expected.contains(name)) return inside(name) + ": expected nothing, is " + value.dump();
  }
  if (expected.is_array() && found.is_array() && expected.size() == found.size())
    for (std::size_t i = 0; i < expected.size(); i++)
      if (const std::string d = golden_difference(expected[i], found[i], key + "[" + std::to_string(i) + "]");
          !d.empty())
        return d;
  return key + ": expected " + expected.dump() + ", is " + found.dump();
}

}  // namespace wb::testing
