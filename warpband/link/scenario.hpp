#pragma once
// Scenario files: what `warpband sim` runs, in TOML. docs/scenario.md lists every key; it is generated from
// the same table that the parser reads, by `warpband sim --help-scenario`.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <warpband/link/code_settings.hpp>
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
  const char* name;     // "decoder.windows"
  const char* type;     // "integer", "number", "text", ...
  const char* allowed;  // in words
  const char* initial;  // the value in TOML that stands for leaving it out; "" where there is none
  const char* text;     // what it means
};
/// The setting of code_settings.hpp that a key is: "windows" for "decoder.windows", "interleaver" for
/// "code.interleaver.f1"; empty for other keys and code.type.
std::string code_setting_of(const std::string& key);
/// All keys, in order of explanation.
std::span<const scenario_key> scenario_keys();

/// The documentation of scenario files, in Markdown.
std::string scenario_help();

/// The names that scenario files and results use.
const char* name_of(code_type) noexcept;               // "none", "lte-turbo", "lte-transport", ...
const char* name_of(turbo_rate) noexcept;              // "1/3", "1/2"
const char* name_of(channel_type) noexcept;            // "awgn", "rayleigh", "tdl", "cdl", "file"
const char* name_of(fading_type) noexcept;             // "fast", "block"
const char* name_of(map_algorithm) noexcept;           // "max-log-map", "log-map"
const char* name_of(early_stop) noexcept;              // "none", "crc", "sign-agreement"
const char* name_of(ldpc_algorithm) noexcept;          // "min-sum", "normalised-min-sum", ...
const char* name_of(ldpc_schedule) noexcept;           // "layered", "flooding"
const char* name_of(ldpc_precision) noexcept;          // "float32", "float16", "int8"
const char* name_of(turbo_precision) noexcept;         // "float32", "bfloat16", "int16"
const char* name_of(conv_algorithm) noexcept;          // "viterbi", "max-log-map", "log-map"
const char* name_of(conv_ending) noexcept;             // "zero-tail", "tail-biting", "truncated"
const char* name_of(conv_standard) noexcept;           // "802.11", "802.16"
const char* name_of(conv_order) noexcept;              // "serial", "streams"
const char* name_of(demap_algorithm) noexcept;         // "max-log", "exact"
const char* name_of(const space_time_code&) noexcept;  // "alamouti", "silver", "golden", "pair"
const char* name_of(golden_search) noexcept;           // "exact", "slicing"
const char* name_of(massive_direction) noexcept;       // "uplink", "downlink"
const char* name_of(massive_sinr) noexcept;            // "exact", "approximate"
const char* name_of(const std::optional<crc_polynomial>&) noexcept;  // "none", "crc24a", "crc24b", "other"
const char* name_of_modulation(int points) noexcept;                 // "bpsk", "qpsk", "16qam", ...

/// The candidate that `word` is most likely a misspelling of; empty if none is near.
std::string nearest_name(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace wb
