#include <warpband/fec/polar/polar_order.hpp>

#include <algorithm>
#include <charconv>

#include <warpband/core/error.hpp>
#include <warpband/core/printable.hpp>
#include <warpband/core/text_file.hpp>

namespace wb {

std::vector<int> parse_polar_order(std::string_view text, const std::string& name) {
  constexpr int largest = 32767;
  constexpr std::string_view separators = " \t\r\n,;";
  std::vector<int> order;
  std::vector<bool> seen(largest + 1);
  int line = 1;
  const auto refuse = [&](const std::string& reason) {
    throw file_error(name, "line " + std::to_string(line) + ": " + reason);
  };
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == '\n') line++;
    if (text[i] == '#') {
      i = std::min(text.find('\n', i), text.size());
    } else if (separators.find(text[i]) != std::string_view::npos) {
      i++;
    } else {
      const std::size_t end = std::min(text.find_first_of(" \t\r\n,;#", i), text.size());
      const std::string_view word = text.substr(i, end - i);
      int index = -1;
      const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), index);
      if (error != std::errc() || rest != word.data() + word.size() || index < 0 || index > largest)
        refuse("expected an index from 0 to 32767, got \"" + printable(std::string(word), 40) + "\"");
      if (seen[static_cast<std::size_t>(index)]) refuse("index " + std::to_string(index) + " is there twice");
      seen[static_cast<std::size_t>(index)] = true;
      order.push_back(index);
      i = end;
    }
  }
  if (order.empty()) throw file_error(name, "expected indices of u, got none");
  return order;
}

std::vector<int> read_polar_order(const std::string& path) {
  return parse_polar_order(read_file(path, 1, "not an order of a polar code"), path);
}

}  // namespace wb
