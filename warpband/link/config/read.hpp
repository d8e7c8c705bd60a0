#pragma once
// Scenarios in TOML: a base, and [[curve]] or [[run]] tables over it.
#include <functional>
#include <string>
#include <vector>

#include <warpband/link/config/schema.hpp>

namespace wb::config {

/// Curves or runs of a scenario at most, however they are written.
inline constexpr std::size_t most_curves = 1000;

/// What a scenario sets for one curve or run.
struct curve_tree {
  std::string label;    // without swept settings
  std::string suffix;   // ends messages: ", in curve "b""
  bool listed = false;  // in a [[curve]] or [[run]] table
  key_tree keys;
  std::vector<swept_setting> parameters;  // in which it differs from other curves of its sweep
};
/// "log-MAP, iterations = 4": the label with its swept settings.
std::string label_of(const curve_tree& curve);

struct scenario_text {
  std::string title;
  std::vector<std::string> hints;  // on old names of keys and values, once each
  std::size_t curves = 0;
};

/// Reads a text by a schema and hands over each curve with the keys that have a meaning in it, in order.
/// `file` names the text in messages. Throws file_error: for text that is not TOML, for what the rule of
/// config/schema.hpp calls an error, and for errors of `take`.
scenario_text read_scenario(const schema& s, const std::string& text, const std::string& file,
                            const std::function<void(curve_tree&)>& take);

/// Keys with values and levels as JSON, for ranks of MPI, and back.
std::string to_json(const key_tree& keys);
key_tree from_json(const std::string& text);

}  // namespace wb::config
