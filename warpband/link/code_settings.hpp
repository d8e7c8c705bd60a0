#pragma once
// A code and its decoder in the words of those who write them down: keys of scenario files (code.rate,
// decoder.algorithm), options of the command (--rate), attributes of files (`rate`), results. A setting has
// the same name in all of them. Which settings a code has, and what they mean, follows from its type.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <warpband/core/setting.hpp>
#include <warpband/link/codec.hpp>

namespace wb {

/// The settings of a type of code, each with its group, "code" or "decoder".
const std::vector<setting_of<code_config>>& settings_of(code_type type);
/// All types, in the order in which pages name them.
const std::vector<code_type>& code_types();

/// What was said of a code. What is left out stays as the code has it.
struct code_settings {
  code_type type = code_type::lte_turbo;
  setting_values values = {};

  bool has(std::string_view name) const { return values.find(name) != values.end(); }
  const setting_value* find(std::string_view name) const {
    const auto i = values.find(name);
    return i == values.end() ? nullptr : &i->second;
  }
};

/// The types whose codes have a setting; empty for a name that is none.
std::vector<code_type> types_with(std::string_view setting);

/// A choice that leaves a setting without a meaning.
struct code_choice {
  std::string setting, value;  // {"type", "none"}, {"algorithm", "min-sum"}
};
/// The choice among `s` with which a setting has no meaning; nothing where it has one.
std::optional<code_choice> idle_with(const code_settings& s, std::string_view setting);

/// The configuration of what is given. Settings without a meaning are not looked at. Throws argument_error,
/// with the setting's name, for a value that is not allowed; `completed` checks what takes several.
code_config config_of(const code_settings& s);

/// A setting as all types of code have it: one name, and for each type what is allowed and what it means.
struct code_setting_text {
  std::string group, name, kind, allowed, text;
  std::string brief;               // the first sentence of the text
  std::vector<std::string> words;  // of all types that have it
  std::string initial;  // of the first type that has it, as TOML writes it; "" where it follows from others
  bool of_links = true;
};
/// Of all settings of some types, in the order of explanation.
std::vector<code_setting_text> code_setting_texts(const std::vector<code_type>& types = code_types());
/// Throws argument_error where no type of code takes the value.
void check_for_some_type(const std::string& setting, const setting_value& value);

/// The value as the type's decoder keeps it: words as listed, octal numbers without leading zeros. Throws
/// argument_error for a value that is not allowed.
setting_value as_kept(code_type type, const setting_of<code_config>& s, const setting_value& value);

}  // namespace wb
