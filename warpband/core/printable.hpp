#pragma once
// Texts of files and arguments in messages.
#include <string>

namespace wb {

/// On one line and short: control characters as \n, \t or \x1b, at most `most` characters and "...".
inline std::string printable(const std::string& text, std::size_t most = 200) {
  constexpr const char* digits = "0123456789abcdef";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (out.size() >= most && (byte & 0xC0u) != 0x80u) return out + "...";  // between characters of UTF-8
    if (out.size() >= 2 * most) return out + "...";
    if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (byte < 0x20 || byte == 0x7f)
      out += std::string("\\x") + digits[byte >> 4] + digits[byte & 15];
    else
      out += c;
  }
  return out;
}

}  // namespace wb
