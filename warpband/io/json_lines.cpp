#include <warpband/io/json_lines.hpp>

#include <algorithm>

#include <nlohmann/json.hpp>

namespace wb {
namespace {

using json = nlohmann::ordered_json;

bool contains_array_of_objects(const json& value) {
  if (!value.is_structured()) return false;
  return std::any_of(value.begin(), value.end(), [&](const json& entry) {
    return (value.is_array() && entry.is_object()) || contains_array_of_objects(entry);
  });
}

std::string text_of(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

void append(std::string& text, const json& value, std::size_t depth, bool lines) {
  if (value.empty() || !value.is_structured()) {
    text += text_of(value);
    return;
  }
  lines = lines && (depth == 0 || contains_array_of_objects(value));
  const auto new_line = [&](std::size_t indent) {
    return lines ? '\n' + std::string(indent, ' ') : std::string();
  };
  std::string before = (value.is_object() ? '{' : '[') + new_line(depth + 1);
  for (const auto& [key, entry] : value.items()) {
    text += before;
    if (value.is_object()) text += text_of(key) + ": ";
    append(text, entry, depth + 1, lines);
    before = lines ? ',' + new_line(depth + 1) : ", ";
  }
  text += new_line(depth) + (value.is_object() ? '}' : ']');
}

}  // namespace

std::string json_lines(const json& value) {
  std::string text;
  append(text, value, 0, true);
  return text + '\n';
}

}  // namespace wb
