#pragma once
// Texts of files and arguments in messages and on terminals.
#include <cstddef>
#include <string>

namespace wb {

/// A text that a terminal shows and does not obey. Control characters (C0, DEL and C1, the latter also as
/// single bytes) and invalid UTF-8 are written as \n, \t, \x1b or \u202e. So are characters that change
/// the direction or the lines of a text or are invisible.
/// `printable` gives one line of at most about `max_bytes` bytes, then "..."; `printable_lines` keeps line
/// breaks and the length. Of a JSON text `printable_json` gives the same text in JSON's own escapes (\u001b).
std::string printable(const std::string& text, std::size_t max_bytes = 200);
std::string printable_lines(const std::string& text);
std::string printable_json(const std::string& json);

}  // namespace wb
