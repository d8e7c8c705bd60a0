#include <warpband/fec/ldpc/code/matrix_text.hpp>

#include <algorithm>

namespace wb {
namespace {

constexpr int most_size = 1 << 20;

/// One list of places for each of the columns or rows, with the degrees that were announced; from 0.
std::vector<std::vector<int>> places(number_lines& in, const std::string& kind,
                                     const std::vector<int>& degrees, int limit) {
  std::vector<std::vector<int>> lists;
  for (std::size_t i = 0; i < degrees.size(); i++) {
    if (degrees[i] == 0) {
      in.skip_zeros();
      lists.emplace_back();
      continue;
    }
    std::vector<int> list = in.next(kind + " " + std::to_string(i));
    while (!list.empty() && list.back() == 0) list.pop_back();  // filled up
    if (list.size() != static_cast<std::size_t>(degrees[i]))
      in.fail(kind + " " + std::to_string(i) + " has " + std::to_string(list.size()) + " ones, but " +
              std::to_string(degrees[i]) + " are announced");
    std::sort(list.begin(), list.end());
    for (int& x : list) {
      if (x < 1 || x > limit)
        in.fail(std::to_string(x) + " is no place of a one: expected 1 to " + std::to_string(limit));
      x--;
    }
    if (std::adjacent_find(list.begin(), list.end()) != list.end())
      in.fail(kind + " " + std::to_string(i) + " has a one twice");
    lists.push_back(std::move(list));
  }
  return lists;
}

std::vector<int> degrees(number_lines& in, const std::string& kind, int count, int limit) {
  std::vector<int> counts = in.next("the ones of each " + kind);
  if (counts.size() != static_cast<std::size_t>(count))
    in.fail("ones of " + std::to_string(counts.size()) + " " + kind + "s: expected " + std::to_string(count));
  for (const int d : counts)
    if (d < 0 || d > limit)
      in.fail("a " + kind + " of " + std::to_string(d) + " ones: expected 0 to " + std::to_string(limit) +
              ", as the second line says");
  return counts;
}

}  // namespace

std::string quoted_word(std::string_view text) {
  std::string shown;
  for (const char c : text.substr(0, 20)) shown += c >= ' ' && c <= '~' ? c : '?';
  return "\"" + shown + (text.size() > 20 ? "...\"" : "\"");
}
std::string_view trimmed_text(std::string_view text) {
  while (!text.empty() && std::strchr(" \t\r", text.front()) != nullptr) text.remove_prefix(1);
  while (!text.empty() && std::strchr(" \t\r", text.back()) != nullptr) text.remove_suffix(1);
  return text;
}
std::optional<int> integer_of(std::string_view text) {
  int value = 0;
  const auto end = text.data() + text.size();
  const auto r = std::from_chars(text.data(), end, value);
  return r.ec == std::errc{} && r.ptr == end ? std::optional(value) : std::nullopt;
}
std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (!(line = trimmed_text(line)).empty()) {
    const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  return words;
}
std::vector<text_line> lines_of(std::string_view text) {
  std::vector<text_line> lines;
  std::size_t begin = 0;
  for (std::size_t number = 1; begin < text.size(); number++) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view whole = text.substr(begin, end - begin);
    const std::size_t mark = std::min(whole.find('#'), whole.size());
    const std::string_view line = trimmed_text(whole.substr(0, mark)), comment = whole.substr(mark);
    if (!line.empty() || !comment.empty()) lines.push_back({number, line, comment});
    begin = end + 1;
  }
  return lines;
}

std::vector<int> number_lines::numbers(const text_line& line) const {
  std::vector<int> numbers;
  for (const std::string_view word : words_of(line.text)) {
    const auto number = integer_of(word);
    if (!number) r_.fail(line.number, quoted_word(word) + " is no integer");
    numbers.push_back(*number);
  }
  return numbers;
}
bool number_lines::more() {
  while (position_ < lines_.size() && lines_[position_].text.empty()) position_++;
  return position_ < lines_.size();
}
std::vector<int> number_lines::next(const std::string& name) {
  if (!more()) r_.fail("it ends before " + name);
  return numbers(lines_[position_++]);
}
void number_lines::skip_zeros() {
  if (more() && lines_[position_].text.find_first_not_of("0 \t") == std::string_view::npos) position_++;
}
void number_lines::end() {
  if (more()) r_.fail(lines_[position_].number, "more than the list should hold");
}

bool is_alist(const std::vector<text_line>& lines) {
  std::vector<std::vector<std::string_view>> begin;
  for (const text_line& line : lines) {
    if (line.text.empty()) continue;
    begin.push_back(words_of(line.text));
    if (begin.size() == 3) break;
  }
  return begin.size() == 3 && begin[0].size() == 2 && begin[1].size() == 2 && begin[2].size() > 2 &&
         integer_of(begin[0][0]) && integer_of(begin[0][1]);
}

sparse_rows read_alist(const matrix_reader& r, const std::vector<text_line>& lines, bool fewer_rows) {
  number_lines in(r, lines);
  sparse_rows h;
  const std::vector<int> sizes = in.next("n and m");
  if (sizes.size() != 2 || sizes[0] < 1 || sizes[0] > most_size || sizes[1] < 1 || sizes[1] > most_size)
    in.fail("n and m: expected two numbers from 1 to 1048576");
  if (fewer_rows && sizes[1] >= sizes[0]) in.fail("n and m: expected two numbers, 2 to 1048576 and fewer");
  h.n = sizes[0];
  h.m = sizes[1];
  const std::vector<int> limits = in.next("the most ones");
  if (limits.size() != 2) in.fail("the most ones of a column and of a row: expected two numbers");
  const std::vector<int> of_columns = degrees(in, "column", h.n, limits[0]),
                         of_rows = degrees(in, "row", h.m, limits[1]);
  const auto columns = places(in, "column", of_columns, h.m);
  std::vector<std::vector<int>> again(static_cast<std::size_t>(h.m));
  for (std::size_t c = 0; c < columns.size(); c++)
    for (const int row : columns[c]) again[static_cast<std::size_t>(row)].push_back(static_cast<int>(c));
  if (!in.more()) {  // without lists of rows
    for (std::size_t i = 0; i < again.size(); i++)
      if (again[i].size() != static_cast<std::size_t>(of_rows[i]))
        r.fail("the lists of columns end the file and give row " + std::to_string(i) + " of H " +
               std::to_string(again[i].size()) + " ones, but " + std::to_string(of_rows[i]) +
               " are announced");
    h.rows = std::move(again);
    return h;
  }
  h.rows = places(in, "row", of_rows, h.n);
  in.end();
  for (std::size_t i = 0; i < again.size(); i++)
    if (again[i] != h.rows[i])
      r.fail("the lists of columns and of rows differ in row " + std::to_string(i) + " of H");
  return h;
}

}  // namespace wb
