#pragma once
// Values of TOML as settings take them. For files that read TOML: it needs toml++.
#include <toml++/toml.h>
#include <complex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <warpband/core/error.hpp>
#include <warpband/core/printable.hpp>
#include <warpband/core/setting.hpp>
#include <warpband/link/toml_bounds.hpp>

namespace wb {

/// What a file says. Throws file_error of `file`, on one line and with the number of the line. It does so for
/// text that is no TOML or out of the bounds of `check_toml_bounds`.
inline toml::table toml_table(const std::string& text, const std::string& file) {
  check_toml_bounds(text, file);
  try {
    return toml::parse(text);  // without the file's name: its copy of it ends the program if memory runs out
  } catch (const toml::parse_error& error) {
    throw file_error(file, "line " + std::to_string(error.source().begin.line) +
                               ": not TOML: " + printable(std::string(error.description()), 400));
  }
}

/// Bytes of a text and entries of a list, at most: each curve of a scenario holds copies of its settings.
inline constexpr std::size_t most_of_text = 10'000, most_of_list = 10'000;

/// The value of a node that is no list or table; nothing of others, and of dates and times.
inline std::optional<setting_value> toml_scalar(const toml::node& node) {
  if (const auto* b = node.as_boolean()) return b->get();
  if (const auto* i = node.as_integer()) return i->get();
  if (const auto* x = node.as_floating_point()) return x->get();
  if (const auto* s = node.as_string()) return s->get();
  return std::nullopt;
}

/// A node as a message shows it.
inline std::string toml_text(const toml::node& node) {
  if (const auto value = toml_scalar(node)) return as_message(*value);
  if (node.is_array()) return "a list";
  return node.is_table() ? "a table" : "a date or time";
}

/// A complex number, as [real, imaginary].
inline std::optional<std::complex<double>> toml_pair(const toml::node& node) {
  const auto* parts = node.as_array();
  if (parts == nullptr || parts->size() != 2) return std::nullopt;
  for (const toml::node& part : *parts)
    if (!part.is_number()) return std::nullopt;
  return std::complex<double>(*(*parts)[0].value<double>(), *(*parts)[1].value<double>());
}

/// A list of integers, of numbers, of text or of pairs of numbers; nothing for others and an empty one.
inline std::optional<setting_value> toml_list(const toml::array& list) {
  std::vector<std::int64_t> integers;
  std::vector<double> numbers;
  std::vector<std::string> texts;
  std::vector<std::complex<double>> pairs;
  for (const toml::node& n : list) {
    if (const auto* i = n.as_integer()) integers.push_back(i->get());
    if (n.is_number()) numbers.push_back(*n.value<double>());
    if (const auto* s = n.as_string()) texts.push_back(s->get());
    if (const auto z = toml_pair(n)) pairs.push_back(*z);
  }
  const std::size_t size = list.size();
  if (size == 0) return std::nullopt;
  if (integers.size() == size) return integers;
  if (numbers.size() == size) return numbers;
  if (texts.size() == size) return texts;
  if (pairs.size() == size) return pairs;
  return std::nullopt;
}

/// Whether a text or list is longer than that.
inline bool is_long(const toml::node& node) {
  const auto* text = node.as_string();
  const auto* list = node.as_array();
  return (text != nullptr && text->get().size() > most_of_text) ||
         (list != nullptr && list->size() > most_of_list);
}

/// The value; nothing for lists that `toml_list` does not take, tables, dates and times, and for what is
/// longer than a setting may be.
inline std::optional<setting_value> toml_value(const toml::node& node) {
  if (is_long(node)) return std::nullopt;
  const auto* list = node.as_array();
  return list != nullptr ? toml_list(*list) : toml_scalar(node);
}

/// What makes a node no value, as a message shows it: of a list the first entry that is not as the others.
inline std::string toml_fault(const toml::node& node) {
  const auto* list = node.as_array();
  if (is_long(node))
    return list != nullptr ? "a list of more than " + std::to_string(most_of_list) + " entries"
                           : "a text of more than " + std::to_string(most_of_text) + " bytes";
  if (list == nullptr) return toml_text(node);
  if (list->empty()) return "an empty list";
  const bool of_numbers = (*list)[0].is_number(), of_pairs = (*list)[0].is_array();
  for (const toml::node& n : *list) {
    const auto* parts = n.as_array();
    if (of_pairs && parts != nullptr && parts->size() != 2)
      return "a list with one of " + std::to_string(parts->size());
    if (of_pairs && parts != nullptr) {
      for (const toml::node& part : *parts)
        if (!part.is_number()) return toml_text(part);
    } else if (of_pairs || of_numbers != n.is_number() || !(n.is_number() || n.is_string())) {
      return toml_text(n);
    }
  }
  return "a list";
}

}  // namespace wb
