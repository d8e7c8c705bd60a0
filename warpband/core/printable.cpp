#include <warpband/core/printable.hpp>

#include <cstdint>

namespace wb {
namespace {

/// A character of a text in UTF-8, and how many bytes it has. A byte that begins none stands for itself.
struct character {
  std::uint32_t code = 0;
  std::size_t bytes = 1;
  bool valid = false;
};
character character_at(const std::string& text, std::size_t position) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const std::uint32_t first = byte(position);
  if (first < 0x80) return {first, 1, true};
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4) return {first};
  std::uint32_t code = first & (0xFFu >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; i++) {
    if ((byte(position + i) & 0xC0u) != 0x80u) return {first};
    code = code << 6 | (byte(position + i) & 0x3Fu);
  }
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < least[bytes] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return {first};
  return {code, bytes, true};
}

/// Characters that a terminal obeys, or that nobody sees.
bool is_hidden(std::uint32_t c) {
  const auto among = [c](std::uint32_t first, std::uint32_t last) { return c >= first && c <= last; };
  return c < 0x20 || among(0x7F, 0x9F)  // C0, DEL, C1
         || c == 0x61C                  // Arabic letter mark
         || among(0x200B, 0x200F)       // zero width, left-to-right and right-to-left marks
         || among(0x2028, 0x202E)       // ends of lines and paragraphs, embeddings and overrides
         || among(0x2060, 0x206F)       // invisible operators, isolates
         || c == 0xFEFF                 // byte order mark
         || among(0xFFF9, 0xFFFB)       // annotations
         || among(0xE0000, 0xE007F);    // tags
}

std::string hex(std::uint32_t c, int digits) {
  std::string out;
  for (int i = digits - 1; i >= 0; i--) out += "0123456789abcdef"[c >> (4 * i) & 15u];
  return out;
}

std::string escaped(const character& c) {
  if (c.valid && c.code == '\n') return "\\n";
  if (c.valid && c.code == '\t') return "\\t";
  if (!c.valid || c.code < 0x100) return "\\x" + hex(c.code, 2);
  return c.code < 0x10000 ? "\\u" + hex(c.code, 4) : "\\U" + hex(c.code, 8);
}
std::string escaped_json(const character& c) {
  if (!c.valid) return "\\ufffd";
  if (c.code < 0x10000) return "\\u" + hex(c.code, 4);
  const std::uint32_t rest = c.code - 0x10000;
  return "\\u" + hex(0xD800 + (rest >> 10), 4) + "\\u" + hex(0xDC00 + (rest & 0x3FFu), 4);
}

template <class Escape>
std::string written(const std::string& text, std::size_t max_bytes, bool keeps_lines, Escape escape) {
  std::string out;
  for (std::size_t position = 0; position < text.size();) {
    if (out.size() >= max_bytes) return out + "...";
    const character c = character_at(text, position);
    if (c.valid && (!is_hidden(c.code) || (keeps_lines && c.code == '\n')))
      out.append(text, position, c.bytes);
    else
      out += escape(c);
    position += c.bytes;
  }
  return out;
}

}  // namespace

std::string printable(const std::string& text, std::size_t max_bytes) {
  return written(text, max_bytes, false, escaped);
}
std::string printable_lines(const std::string& text) {
  return written(text, std::string::npos, true, escaped);
}
std::string printable_json(const std::string& json) {
  return written(json, std::string::npos, true, escaped_json);
}

}  // namespace wb
