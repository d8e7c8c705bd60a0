#pragma once
// Scenario files: what `warpband sim` runs, in TOML. docs/scenario.md lists every key; it is generated from
// the same table that the parser reads, by `warpband sim --help-scenario`.
#include <optional>
#include <string>
#include <vector>

#include <warpband/code/code_texts.hpp>
#include <warpband/link/config/link_schema.hpp>
#include <warpband/link/link_settings.hpp>
#include <warpband/link/sweep.hpp>

namespace wb {

/// What stands in the place of a scenario's values, in all of its curves.
struct scenario_overrides {
  std::optional<std::uint64_t> seed, frame_errors, max_frames;
  std::optional<double> max_seconds;  // 0: none, whatever the scenario says
};

/// A scenario file as read.
struct scenario {
  std::string file, text;  // its name as given, and its whole content
  std::string title;
  std::vector<std::string> hints;         // on old names of keys and values
  scenario_overrides overrides;           // that `curves` have on top of the text
  std::vector<curve_config> curves;       // at least one
  std::vector<config::curve_tree> trees;  // the keys of each of them, without `overrides`
};

/// Puts values in the place of the scenario's, beside those that were put there before.
void apply_overrides(scenario& s, const scenario_overrides& with);

/// Reads a scenario's text; `file` names it in messages. The files in `recordings` are not opened. Throws
/// file_error with the line, the key, its value and what is allowed: for text that is not TOML, unknown keys
/// (the nearest known one is suggested), wrong types, and values or combinations that are not allowed.
scenario parse_scenario(std::string text, const std::string& file,
                        const config::known_recordings& recordings = {});

/// Reads a scenario file. Throws file_error where it cannot be read, and as parse_scenario does.
scenario load_scenario(const std::string& path);

using config::scenario_key;
/// All keys, in order of explanation.
std::vector<scenario_key> scenario_keys();

/// The documentation of scenario files, in Markdown.
std::string scenario_help();

}  // namespace wb
