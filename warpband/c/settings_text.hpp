#pragma once
// Settings as a C program writes them: "ways = 4, llr_clip = 8".
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <warpband/core/nearest_name.hpp>
#include <warpband/core/setting.hpp>

namespace wb::c {

/// Names and values, in order. Pairs are separated by commas or ends of lines; a list stands in brackets; a
/// text may stand in double quotes. Throws argument_error for what is no such text, and for a name that
/// comes twice. Null is "".
std::vector<std::pair<std::string, std::string>> settings_of_text(const char* text);

/// A configuration with the settings of a text, but for those that `fixed` names, which arguments give. Throws
/// argument_error for a value that is not allowed, and a setting that there is not or that has no meaning with
/// the others.
template <class C>
void take_settings(const std::vector<setting_of<C>>& settings, const char* text,
                   const std::vector<std::string>& fixed, C& config) {
  const auto given = settings_of_text(text);
  for (const auto& [name, value] : given) {
    const setting_of<C>* s = find_setting(settings, name);
    if (s == nullptr || std::find(fixed.begin(), fixed.end(), name) != fixed.end()) {
      std::vector<std::string> names;
      for (const auto& other : settings)
        if (std::find(fixed.begin(), fixed.end(), other.name) == fixed.end()) names.push_back(other.name);
      throw argument_error("settings", "\"" + name + "\"", names.empty() ? "none" : among(names));
    }
    s->set(config, from_text(s->kind, value));
  }
  for (const auto& [name, value] : given)
    if (const auto choice = idle_because(settings, *find_setting(settings, name), config))
      throw argument_error("settings", "\"" + name + "\"",
                           "not this one, which has no meaning with " + choice->first + " = " + choice->second);
}

}  // namespace wb::c
