#pragma once
// Settings as a C program writes them: "ways = 4, llr_clip = 8".
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <warpband/core/error.hpp>
#include <warpband/core/printable.hpp>
#include <warpband/core/setting.hpp>

namespace wb::c {

/// Names and values, in order. Pairs are separated by commas or ends of lines; a list stands in brackets; a
/// text may stand in double quotes. Throws argument_error for what is no such text, and for a name that
/// comes twice. Null is "".
std::vector<std::pair<std::string, std::string>> settings_of_text(const char* text);

/// A configuration with the settings of a text, but for those that `fixed` names, which arguments give.
/// Messages put `prefix` before names. Throws argument_error for a value that is not allowed, and a setting
/// that there is not or that has no meaning with the others.
template <class C>
void take_settings(const std::vector<setting_of<C>>& settings,
                   const std::vector<std::pair<std::string, std::string>>& given,
                   const std::vector<std::string>& fixed, C& config, const std::string& prefix = "") {
  const auto is_fixed = [&](const std::string& name) {
    return std::find(fixed.begin(), fixed.end(), name) != fixed.end();
  };
  for (const auto& [name, value] : given) {
    const setting_of<C>* s = find_setting(settings, name);
    if (s == nullptr || is_fixed(name)) {
      std::vector<std::string> names;
      for (const auto& other : settings)
        if (!is_fixed(other.name)) names.push_back(prefix + other.name);
      throw argument_error("settings", "\"" + printable(prefix + name) + "\"",
                           names.empty() ? "none" : among(names));
    }
    s->set(config, from_text(s->kind, value));
  }
  for (const auto& [name, value] : given)
    if (const auto choice = idle_because(settings, *find_setting(settings, name), config))
      throw argument_error(
          "settings", "\"" + prefix + name + "\"",
          "not this one, which has no meaning with " + choice->first + " = " + choice->second);
}
template <class C>
void take_settings(const std::vector<setting_of<C>>& settings, const char* text,
                   const std::vector<std::string>& fixed, C& config) {
  take_settings(settings, settings_of_text(text), fixed, config);
}

}  // namespace wb::c
