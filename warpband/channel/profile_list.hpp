#pragma once
// Lists of named profiles, as tapped and clustered delay lines have them. An entry has its name, `scaled`
// (delays are in units of the delay spread, else in ns) and the profile.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <warpband/core/decimal.hpp>
#include <warpband/core/setting.hpp>

namespace wb {

/// Nothing where there is none of that name.
template <class Entry>
const Entry* find_profile(const std::vector<Entry>& entries, const std::string& name) noexcept {
  const auto entry =
      std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return name == e.name; });
  return entry == entries.end() ? nullptr : &*entry;
}
template <class Entry>
bool is_scaled(const std::vector<Entry>& entries, const std::string& name) noexcept {
  const Entry* e = find_profile(entries, name);
  return e != nullptr && e->scaled;
}
template <class Entry>
std::vector<std::string> profile_names(const std::vector<Entry>& entries, bool scaled_alone = false) {
  std::vector<std::string> names;
  for (const Entry& e : entries)
    if (e.scaled || !scaled_alone) names.emplace_back(e.name);
  return names;
}
/// Throws argument_error where there is none of that name.
template <class Entry>
const Entry& profile_named(const std::vector<Entry>& entries, const std::string& name) {
  if (const Entry* e = find_profile(entries, name)) return *e;
  throw argument_error("profile", "\"" + name + "\"", among(profile_names(entries)));
}
/// Multiplies the delays of taps or clusters. Throws argument_error.
template <class Taps>
void scale_delays(Taps& taps, double delay_spread_ns) {
  check_number("delay_spread_ns", delay_spread_ns, 1e-3, 1e6);
  for (auto& tap : taps) tap.delay_ns *= delay_spread_ns;
}

/// The settings of a choice among them.
template <class C, class Entry>
setting_of<C> profile_setting(const std::vector<Entry>& entries, std::string C::*member, std::string text) {
  std::vector<std::pair<std::string, std::string>> names;
  for (const std::string& name : profile_names(entries)) names.emplace_back(name, name);
  return words("profile", member, std::move(names), std::move(text));
}
template <class C, class Entry>
setting_of<C> delay_spread_setting(const std::vector<Entry>& entries, double C::*member) {
  return number("delay_spread_ns", member, 1e-3, 1e6,
                "The delay spread, by which the table's delays are multiplied.")
      .only_with("profile", profile_names(entries, true));
}

}  // namespace wb
