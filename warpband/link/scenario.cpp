#include <warpband/link/scenario.hpp>

#include <set>

#include <warpband/core/error.hpp>
#include <warpband/core/printable.hpp>
#include <warpband/core/text_file.hpp>
#include <warpband/link/scenario_parser.hpp>

namespace wb {

using scenario_file::said;

scenario parse_scenario(std::string text, const std::string& file) {
  return scenario_file::parse_with(std::move(text), file, {});
}

scenario scenario_file::parse_with(std::string text, const std::string& file,
                                   const known_recordings& recordings) {
  scenario s;
  s.file = file;
  s.text = std::move(text);
  if (const std::size_t begin = s.text.find_first_not_of(" \t\r\n");
      begin != std::string::npos && s.text[begin] == '{' && s.text.find("\"curves\"") != std::string::npos)
    throw file_error(file, "is a result, not a scenario: warpband sim --resume FILE goes on with it");
  std::vector<said> curves = scenario_file::curves_said(s.text, file, s.title);
  std::set<std::string> labels;
  std::size_t made = 0;
  for (said& written : curves) {
    written.recordings = &recordings;
    std::vector<said> all = scenario_file::unfolded(written);
    if ((made += all.size()) > scenario_file::most_curves)
      written.fail(0, "[[curve]] tables and sweeps make more than " +
                          std::to_string(scenario_file::most_curves) + " curves together");
    std::set<std::string> own;  // of the curves that this one is unfolded into
    for (said& c : all) {
      const std::string label = scenario_file::label_of(c.label, c.parameters);
      if (curves.size() > 1 || all.size() > 1) c.in_curve = ", in curve \"" + printable(label) + "\"";
      curve_config curve = curve_of(c);
      // With the curve's choices some swept settings may have no meaning: then there are fewer curves.
      std::erase_if(c.parameters, [&](const swept_setting& p) { return !c.values.contains(p.key); });
      curve.label = scenario_file::label_of(c.label, c.parameters);
      if (!c.parameters.empty()) curve.family = c.label;
      curve.parameters = c.parameters;
      if (!own.insert(curve.label).second) continue;
      if (!labels.insert(curve.label).second)
        c.fail(c.where("label").line,
               "label = \"" + printable(curve.label) + "\" names two curves: give each its own");
      s.curves.push_back(std::move(curve));
    }
  }
  return s;
}

scenario load_scenario(const std::string& path) {
  return parse_scenario(read_file(path, 1, "not a scenario"), path);
}

void apply_overrides(scenario& s, const scenario_overrides& with) {
  const auto put = [&](auto member, auto place) {
    if (!(with.*member)) return;
    s.overrides.*member = with.*member;
    for (curve_config& c : s.curves) place(c) = *(with.*member);
  };
  put(&scenario_overrides::seed, [](curve_config& c) -> auto& { return c.link.seed; });
  put(&scenario_overrides::frame_errors, [](curve_config& c) -> auto& { return c.stop.frame_errors; });
  put(&scenario_overrides::max_frames, [](curve_config& c) -> auto& { return c.stop.max_frames; });
  put(&scenario_overrides::max_seconds, [](curve_config& c) -> auto& { return c.stop.max_seconds; });
}

std::span<const scenario_key> scenario_keys() {
  static const std::vector<scenario_key> keys = [] {
    std::vector<scenario_key> all;
    for (const scenario_file::key_entry& e : scenario_file::key_table()) all.push_back(e.key);
    return all;
  }();
  return keys;
}

std::string code_setting_of(const std::string& key) {
  const std::size_t first = key.find('.');
  if (!key.starts_with("code.") && !key.starts_with("decoder.")) return "";
  const std::string setting = key.substr(first + 1, key.find('.', first + 1) - first - 1);
  return setting == "type" ? "" : setting;
}

}  // namespace wb
