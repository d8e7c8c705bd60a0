#pragma once
// The settings of all codes, joined by name. Scenarios have a key and the command an option for each name,
// also if several codes have it.
#include <string>
#include <string_view>
#include <vector>

#include <warpband/code/code_kind.hpp>

namespace wb {

/// A setting as all kinds have it: one name, and for each kind what is allowed and what it means.
struct code_setting_text {
  std::string group, name, kind, allowed, text;
  std::string brief;               // the first sentence of the text
  std::vector<std::string> words;  // of all kinds that have it
  std::string initial;  // of the first kind that has it, as TOML writes it; "" where it follows from others
  bool of_links = true;
};
/// Of all settings of some kinds, in the order of explanation.
std::vector<code_setting_text> code_setting_texts(const std::vector<const code_kind*>& kinds);
/// Of all kinds.
std::vector<code_setting_text> code_setting_texts();
/// The kinds that have a setting; empty for a name that is none.
std::vector<const code_kind*> kinds_with(std::string_view setting);
/// Throws argument_error where no kind takes the value.
void check_for_some_kind(const std::string& setting, const setting_value& value);
/// The value as the kind keeps it: words as listed, octal numbers without leading zeros. Throws
/// argument_error for a value that is not allowed.
setting_value as_kept(const code_kind& kind, const setting_of<box>& s, const setting_value& value);

}  // namespace wb
