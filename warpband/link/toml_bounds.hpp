#pragma once
// Bounds of TOML that is read from files: its parser and its tables are recursive, so that a file of a few
// hundred KiB with deep keys would overflow the stack.
#include <string>

namespace wb {

/// Throws file_error of `file`, with the line, for
/// - a key of more than 32 parts, or nesting deeper than 32,
/// - a table header without a key, a bracket that the wrong one closes, a quote where no text can begin,
/// - a character outside of texts that is not ASCII: toml++ 3.3 asserts that there are none.
/// Other text that is not TOML passes: the parser reports it.
void check_toml_bounds(const std::string& text, const std::string& file);

}  // namespace wb
