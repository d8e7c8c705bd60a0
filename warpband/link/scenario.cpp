#include <warpband/link/scenario.hpp>

#include <set>

#include <warpband/core/error.hpp>
#include <warpband/core/printable.hpp>
#include <warpband/core/text_file.hpp>

namespace wb {

scenario parse_scenario(std::string text, const std::string& file,
                        const config::known_recordings& recordings) {
  scenario s;
  s.file = file;
  s.text = std::move(text);
  if (const std::size_t begin = s.text.find_first_not_of(" \t\r\n");
      begin != std::string::npos && s.text[begin] == '{' && s.text.find("\"curves\"") != std::string::npos)
    throw file_error(file, "is a result, not a scenario: warpband sim --resume FILE goes on with it");
  std::set<std::string> labels;
  config::scenario_text read =
      config::read_scenario(config::link_schema(), s.text, file, [&](config::curve_tree& tree) {
        curve_config curve = config::curve_of(tree, file, &recordings);
        if (!labels.insert(curve.label).second)
          config::fail(tree.keys.where("label").line,
                       "label = \"" + printable(curve.label) + "\" names two curves: give each its own");
        s.curves.push_back(std::move(curve));
        s.trees.push_back(tree);
      });
  s.title = std::move(read.title);
  s.hints = std::move(read.hints);
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
  if (with.max_seconds == 0.0)
    for (curve_config& c : s.curves) c.stop.max_seconds.reset();
}

std::vector<scenario_key> scenario_keys() {
  std::vector<scenario_key> list;
  for (const config::key_entry& e : config::link_schema().entries()) list.push_back(e.key);
  return list;
}

}  // namespace wb
