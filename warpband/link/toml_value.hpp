#pragma once
// Values of TOML as settings take them. For files that read TOML: it needs toml++.
#include <toml++/toml.h>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <warpband/core/setting.hpp>

namespace wb {

/// The value, or a list of integers or of text; nothing for an empty list, other lists, tables, dates and
/// times.
inline std::optional<setting_value> toml_value(const toml::node& node) {
  if (const auto* b = node.as_boolean()) return b->get();
  if (const auto* i = node.as_integer()) return i->get();
  if (const auto* x = node.as_floating_point()) return x->get();
  if (const auto* s = node.as_string()) return s->get();
  const auto* list = node.as_array();
  if (list == nullptr) return std::nullopt;
  std::vector<std::int64_t> numbers;
  std::vector<std::string> texts;
  for (const toml::node& n : *list) {
    if (const auto* i = n.as_integer()) numbers.push_back(i->get());
    if (const auto* s = n.as_string()) texts.push_back(s->get());
  }
  if (!numbers.empty() && numbers.size() == list->size()) return numbers;
  if (!texts.empty() && texts.size() == list->size()) return texts;
  return std::nullopt;
}

}  // namespace wb
