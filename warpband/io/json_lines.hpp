#pragma once

/// JSON files that read well in a version control system: one point, benchmark or run a line.

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace wb {

/// The text of `value`, with a line end behind it.
///
/// The outermost object or array has one entry a line. So has each inner one that contains, at any depth, an
/// array with an object in it. All others are one line, so an array of plain objects has one object a line. A
/// reader takes any layout. Bytes that are not UTF-8 (a path may have them) become U+FFFD.
std::string json_lines(const nlohmann::ordered_json& value);

}  // namespace wb
