#pragma once
// Scenario files: what `warpband sim` runs, in TOML. docs/scenario.md lists every key; it is generated from
// the same table that the parser reads, by `warpband sim --help-scenario`.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <warpband/link/code_settings.hpp>
#include <warpband/link/names.hpp>
#include <warpband/link/sweep.hpp>

namespace wb {

/// What stands in the place of a scenario's values, in all of its curves.
struct scenario_overrides {
  std::optional<std::uint64_t> seed, frame_errors, max_frames;
  std::optional<double> max_seconds;
};

/// A scenario file as read.
struct scenario {
  std::string file, text;  // its name as given, and its whole content
  std::string title;
  scenario_overrides overrides;      // that `curves` have on top of the text
  std::vector<curve_config> curves;  // at least one
};

/// Puts values in the place of the scenario's, beside those that were put there before.
void apply_overrides(scenario& s, const scenario_overrides& with);

/// Understands a scenario's text; `file` names it in messages. Throws file_error with the line, the key, what
/// is there and what is allowed: for text that is not TOML, unknown keys (the nearest known one is
/// suggested), wrong types, and values or combinations that are not allowed.
scenario parse_scenario(std::string text, const std::string& file);

/// Reads a scenario file. Throws file_error where it cannot be read, and as parse_scenario does.
scenario load_scenario(const std::string& path);

/// One key of a scenario file.
struct scenario_key {
  std::string name;     // "decoder.windows"
  std::string type;     // "integer", "number", "text", ...
  std::string allowed;  // in words
  std::string initial;  // the value in TOML that stands for leaving it out; "" where there is none
  std::string text;     // what it means
};
/// The setting of code_settings.hpp that a key is: "windows" for "decoder.windows", "interleaver" for
/// "code.interleaver.f1"; empty for other keys and code.type.
std::string code_setting_of(const std::string& key);
/// All keys, in order of explanation.
std::span<const scenario_key> scenario_keys();

/// The documentation of scenario files, in Markdown.
std::string scenario_help();

}  // namespace wb
