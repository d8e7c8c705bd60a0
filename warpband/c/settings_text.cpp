#include <warpband/c/settings_text.hpp>

#include <warpband/core/error.hpp>
#include <warpband/core/printable.hpp>

namespace wb::c {
namespace {

constexpr std::string_view blanks = " \t\r";

std::string_view trimmed(std::string_view s) {
  const std::size_t first = s.find_first_not_of(blanks);
  if (first == s.npos) return {};
  return s.substr(first, s.find_last_not_of(blanks) - first + 1);
}

[[noreturn]] void refuse(std::string_view part, const char* expected) {
  throw argument_error("settings", "\"" + printable(std::string(part)) + "\"", expected);
}

/// The entries of a list without blanks, separated by commas.
std::string entries(std::string_view list) {
  std::string joined;
  for (;;) {
    const std::size_t comma = list.find(',');
    joined += trimmed(list.substr(0, comma));
    if (comma == list.npos) return joined;
    joined += ',';
    list.remove_prefix(comma + 1);
  }
}

std::string value_of(std::string_view part, std::string_view value) {
  const char first = value.empty() ? '\0' : value.front();
  if (first == '"' || first == '[') {
    const char last = first == '"' ? '"' : ']';
    if (value.size() < 2 || value.find(last, 1) != value.size() - 1)
      refuse(part, first == '"' ? "a quote at the text's end" : "a bracket at the list's end");
    value = value.substr(1, value.size() - 2);
    return first == '"' ? std::string(value) : entries(value);
  }
  if (value.empty()) refuse(part, "name = value");
  return std::string(value);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> settings_of_text(const char* text) {
  std::vector<std::pair<std::string, std::string>> settings;
  std::string_view rest = text == nullptr ? "" : text;
  while (!rest.empty()) {
    std::size_t end = 0;
    char within = '\0';  // what ends a text or list that is open
    for (; end < rest.size(); end++) {
      const char c = rest[end];
      if (within != '\0') {
        if (c == within) within = '\0';
      } else if (c == '"' || c == '[') {
        within = c == '"' ? '"' : ']';
      } else if (c == ',' || c == '\n') {
        break;
      }
    }
    const std::string_view part = trimmed(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (part.empty()) continue;
    const std::size_t equals = part.find('=');
    if (equals == part.npos) refuse(part, "name = value");
    std::string name(trimmed(part.substr(0, equals)));
    for (const auto& [other, value] : settings)
      if (other == name) refuse(name, "each name once");
    settings.emplace_back(std::move(name), value_of(part, trimmed(part.substr(equals + 1))));
  }
  return settings;
}

}  // namespace wb::c
