#include <warpband/link/toml_bounds.hpp>

#include <cstddef>

#include <warpband/core/error.hpp>

namespace wb {

namespace {

constexpr int most_parts = 32;
constexpr std::size_t most_depth = 32;

/// Where a string or comment that begins at `begin` ends: at its last character, or at the end of the text.
std::size_t end_of(const std::string& text, std::size_t begin) {
  const char quote = text[begin];
  if (quote == '#') {
    const std::size_t line = text.find('\n', begin);
    return line == std::string::npos ? text.size() - 1 : line - 1;
  }
  const bool of_lines = text.compare(begin, 3, std::string(3, quote)) == 0;
  for (std::size_t i = begin + (of_lines ? 3 : 1); i < text.size(); i++) {
    if (quote == '"' && text[i] == '\\') {
      i++;
    } else if (of_lines) {
      if (text.compare(i, 3, std::string(3, quote)) != 0) continue;
      std::size_t end = i + 2;  // up to two more quotes are the string's
      for (int n = 0; n < 2 && end + 1 < text.size() && text[end + 1] == quote; n++) end++;
      return end;
    } else if (text[i] == quote) {
      return i;
    } else if (text[i] == '\n') {  // which a string of one line has not
      return i - 1;
    }
  }
  return text.size() - 1;
}

/// Whether the table header that begins at `position` has a key. Also true for an empty header, which the
/// parser refuses itself. toml++ 3.3 asserts a key for any other character.
bool has_key(const std::string& text, std::size_t position) {
  position = text.find_first_not_of(" \t", position + 1);
  if (position != std::string::npos && text[position] == '[')
    position = text.find_first_not_of(" \t", position + 1);
  if (position == std::string::npos) return true;
  const char c = text[position];
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string("_-\"']").find(c) != std::string::npos;
}

/// Whether a character that is not ASCII follows a \ in the text from `begin` to `end`, or the blanks and
/// line breaks behind it. toml++ 3.3 looks such a character up in a table that does not have it.
bool has_letter_behind_backslash(const std::string& text, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; i++) {
    if (text[i] != '\\') continue;
    const std::size_t next = text.find_first_not_of(" \t\r\n", i + 1);
    if (next < end && static_cast<unsigned char>(text[next]) >= 0x80) return true;
    i++;
  }
  return false;
}

}  // namespace

void check_toml_bounds(const std::string& text, const std::string& file) {
  std::size_t line = 1;
  int dots = 0;
  std::string open;    // brackets
  char before = '\n';  // the last character that is no blank
  bool value = false;  // behind an =, where . is no part of a key
  bool header = false;
  bool begins = true;  // nothing but blanks before it in its line
  const auto fail = [&](const std::string& reason) {
    throw file_error(file, "line " + std::to_string(line) + ": " + reason);
  };
  const std::size_t mark = text.starts_with("\xef\xbb\xbf") ? 3 : 0;  // of UTF-8
  for (std::size_t i = mark; i < text.size(); i++) {
    const char c = text[i];
    if (c == '[' && open.empty() && begins) {
      header = true;
      if (!has_key(text, i)) fail("a table without a key");
    }
    // toml++ 3.3 reads on behind a number, into a text too, and asserts what a date looks like.
    if (c == '=' && value) fail("a = in a value");
    if ((c == '[' || c == '{') && std::string("\n=[{,").find(before) == std::string::npos)
      fail(c == '[' ? "a [ where no value can begin" : "a { where no value can begin");
    if (c == '-' && before >= '0' && before <= '9' &&
        (value || (!header && !open.empty() && open.back() == '[')))
      fail("a - in a number: a date or time is not allowed");
    if ((c == '"' || c == '\'') &&
        (std::string("\n=[{,.").find(before) == std::string::npos || (before == '.' && value)))
      fail(c == '"' ? "a \" where no text can begin" : "a ' where no text can begin");
    if (c != ' ' && c != '\t' && c != '\r') before = c;
    if (c == '=' || c == '\n' || c == ',' || c == '{') value = c == '=';
    begins = c == '\n' || (begins && (c == ' ' || c == '\t' || c == '\r'));
    if (c == '"' || c == '\'' || c == '#') {
      const std::size_t end = end_of(text, i);
      if (c == '"' && has_letter_behind_backslash(text, i, end))
        fail("a character that is not ASCII behind a \\");
      for (; i < end; i++) line += text[i] == '\n';
      continue;
    }
    if (static_cast<unsigned char>(c) >= 0x80) fail("a character that is not ASCII, outside of a text");
    if (c == '.') {
      if (++dots >= most_parts) fail("a key has more than " + std::to_string(most_parts) + " parts");
      continue;
    }
    if (c == '[' || c == '{') {
      open += c;
      if (open.size() > most_depth) fail("nested more than " + std::to_string(most_depth) + " deep");
    } else if ((c == ']' || c == '}') && !open.empty()) {
      if (open.back() != (c == ']' ? '[' : '{')) fail(c == ']' ? "a { is closed by ]" : "a [ is closed by }");
      open.pop_back();
    }
    if (c == '\n') {
      line++;
      header = false;
    }
    if (c == '\n' || c == '=' || c == ',' || c == '[' || c == ']' || c == '{' || c == '}') dots = 0;
  }
}

}  // namespace wb
