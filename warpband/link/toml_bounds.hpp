#pragma once
// Bounds of TOML that is read from files: its parser and its tables are recursive, so that a file of a few
// hundred KiB with deep keys would overflow the stack.
#include <string>

namespace wb {

/// Throws file_error of `file`, with the line, for
/// - a key of more than 32 parts, and lists and tables inside each other more than 32 deep,
/// - a table header that does not begin with a key, a list that } closes, a quote where no text can begin,
/// and
///   characters that are not ASCII outside of texts: toml++ 3.3 asserts that there are none.
/// What else is no TOML passes: the parser says what is wrong with it.
void check_toml_bounds(const std::string& text, const std::string& file);

}  // namespace wb
