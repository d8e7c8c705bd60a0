#include <warpband/fec/ldpc/ldpc_file.hpp>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>
#include <numeric>
#include <optional>
#include <vector>

#include <warpband/core/error.hpp>
#include <warpband/core/text_file.hpp>
#include <warpband/fec/ldpc/ldpc.hpp>

namespace wb {
namespace {

constexpr std::size_t most_mib = 64;  // of a file
constexpr int most_n = 1 << 20, most_z = 4096, most_columns = 1024;

struct reader {
  const std::string& name;
  [[noreturn]] void fail(const std::string& reason) const {
    throw file_error(name, "no base matrix: " + reason);
  }
  [[noreturn]] void fail(std::size_t line, const std::string& reason) const {
    fail("line " + std::to_string(line) + ": " + reason);
  }
};

std::string quoted(std::string_view text) {
  std::string shown;
  for (const char c : text.substr(0, 20)) shown += c >= ' ' && c <= '~' ? c : '?';
  return "\"" + shown + (text.size() > 20 ? "...\"" : "\"");
}
std::string_view trimmed(std::string_view text) {
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

/// A line with its number, without its comment, and the comment.
struct text_line {
  std::size_t number;
  std::string_view text, comment;
};
std::vector<text_line> lines_of(std::string_view text) {
  std::vector<text_line> lines;
  std::size_t begin = 0;
  for (std::size_t number = 1; begin < text.size(); number++) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view whole = text.substr(begin, end - begin);
    const std::size_t mark = std::min(whole.find('#'), whole.size());
    const std::string_view line = trimmed(whole.substr(0, mark)), comment = whole.substr(mark);
    if (!line.empty() || !comment.empty()) lines.push_back({number, line, comment});
    begin = end + 1;
  }
  return lines;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (!(line = trimmed(line)).empty()) {
    const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  return words;
}
std::vector<std::string_view> fields_of(std::string_view line) {
  const char* const separators = line.find(',') != line.npos ? "," : line.find(';') != line.npos ? ";" : "";
  if (*separators == 0) return words_of(line);
  std::vector<std::string_view> fields;
  for (bool more = true; more;) {
    const std::size_t end = std::min(line.find_first_of(separators), line.size());
    fields.push_back(trimmed(line.substr(0, end)));
    more = end < line.size();
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return fields;
}

/// "z = 27" of a comment.
std::optional<int> lifting_size_in(std::string_view comment) {
  comment = trimmed(comment);  // once: what follows then meets blanks only once each
  for (std::size_t mark = comment.find_first_of("zZ"); mark != comment.npos;
       mark = comment.find_first_of("zZ", mark + 1)) {
    std::string_view rest = trimmed(comment.substr(mark + 1));
    if (rest.empty() || (rest.front() != '=' && rest.front() != ':')) continue;
    rest = trimmed(rest.substr(1));
    if (const auto z =
            integer_of(rest.substr(0, std::min(rest.find_first_not_of("0123456789"), rest.size()))))
      return z;
  }
  return std::nullopt;
}

void check_lifting_size(const reader& r, int z) {
  if (z < 1 || z > most_z)
    r.fail("lifting size " + std::to_string(z) + ": expected 1 to " + std::to_string(most_z));
}

// ---- CSV

ldpc_code csv_code(const reader& r, const std::vector<text_line>& lines, int wanted_z) {
  qc_matrix m;
  int z = 0;
  for (const text_line& line : lines) {
    if (const auto announced = lifting_size_in(line.comment)) {
      if (z != 0 && z != *announced)
        r.fail(line.number,
               "says z = " + std::to_string(*announced) + ", an earlier line " + std::to_string(z));
      z = *announced;
    }
    if (line.text.empty()) continue;
    const std::vector<std::string_view> fields = fields_of(line.text);
    if (m.rows == 0) m.columns = static_cast<int>(std::min<std::size_t>(fields.size(), most_n));
    if (fields.size() != static_cast<std::size_t>(m.columns))
      r.fail(line.number, std::to_string(fields.size()) + " shifts, but " + std::to_string(m.columns) +
                              " in the row before: rows have the same length");
    for (std::size_t j = 0; j < fields.size(); j++) {
      const bool zero = fields[j].empty() || fields[j] == "-";
      const auto shift = zero ? std::optional(-1) : integer_of(fields[j]);
      if (!shift)
        r.fail(line.number, quoted(fields[j]) + " in column " + std::to_string(j) +
                                " is no shift: expected an integer, -1 or - for a zero block");
      m.shifts.push_back(*shift);
    }
    m.rows++;
  }
  if (m.rows == 0) r.fail("it has no rows");
  if (z != 0 && wanted_z != 0 && z != wanted_z)
    r.fail("it says z = " + std::to_string(z) + ", but lifting size " + std::to_string(wanted_z) +
           " is asked for");
  z = z != 0 ? z : wanted_z;
  if (z == 0) r.fail("it does not say its lifting size: give it, or write a line \"# z = 27\" into the file");
  check_lifting_size(r, z);
  return ldpc_code(std::move(m), z);
}

// ---- alist

/// Ones of a binary matrix by row.
struct sparse {
  int n = 0, m = 0;
  std::vector<std::vector<int>> rows;
};

/// The numbers of the lines that hold any, line after line.
class number_lines {
 public:
  number_lines(const reader& r, const std::vector<text_line>& lines) : r_(r), lines_(lines) {}
  std::vector<int> next(const std::string& name) {
    while (position_ < lines_.size() && lines_[position_].text.empty()) position_++;
    if (position_ == lines_.size()) r_.fail("it ends before " + name);
    const text_line& line = lines_[position_++];
    std::vector<int> numbers;
    for (const std::string_view word : words_of(line.text)) {
      const auto number = integer_of(word);
      if (!number) r_.fail(line.number, quoted(word) + " is no integer");
      numbers.push_back(*number);
    }
    return numbers;
  }
  std::size_t line() const { return position_ == 0 ? 0 : lines_[position_ - 1].number; }
  void end() const {
    for (std::size_t i = position_; i < lines_.size(); i++)
      if (!lines_[i].text.empty()) r_.fail(lines_[i].number, "more than the list should hold");
  }
  [[noreturn]] void fail(const std::string& reason) const { r_.fail(line(), reason); }

 private:
  const reader& r_;
  const std::vector<text_line>& lines_;
  std::size_t position_ = 0;
};

/// One list of places for each of `count` columns or rows, with the degrees that were announced; from 0.
std::vector<std::vector<int>> places(number_lines& in, const std::string& kind,
                                     const std::vector<int>& degrees, int limit) {
  std::vector<std::vector<int>> lists;
  for (std::size_t i = 0; i < degrees.size(); i++) {
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
  const std::vector<int> counts = in.next("the ones of each " + kind);
  if (counts.size() != static_cast<std::size_t>(count))
    in.fail("ones of " + std::to_string(counts.size()) + " " + kind + "s: expected " + std::to_string(count));
  for (const int d : counts)
    if (d < 0 || d > limit)
      in.fail("a " + kind + " of " + std::to_string(d) + " ones: expected 0 to " + std::to_string(limit) +
              ", as the second line says");
  return counts;
}

sparse alist_ones(const reader& r, const std::vector<text_line>& lines) {
  number_lines in(r, lines);
  sparse h;
  const std::vector<int> sizes = in.next("n and m");
  if (sizes.size() != 2 || sizes[0] < 2 || sizes[0] > most_n || sizes[1] < 1 || sizes[1] >= sizes[0])
    in.fail("n and m: expected two numbers, 2 to 1048576 and fewer");
  h.n = sizes[0];
  h.m = sizes[1];
  const std::vector<int> limits = in.next("the most ones");
  if (limits.size() != 2) in.fail("the most ones of a column and of a row: expected two numbers");
  const std::vector<int> of_columns = degrees(in, "column", h.n, limits[0]),
                         of_rows = degrees(in, "row", h.m, limits[1]);
  const auto columns = places(in, "column", of_columns, h.m);
  h.rows = places(in, "row", of_rows, h.n);
  in.end();
  std::vector<std::vector<int>> again(static_cast<std::size_t>(h.m));
  for (std::size_t c = 0; c < columns.size(); c++)
    for (const int row : columns[c]) again[static_cast<std::size_t>(row)].push_back(static_cast<int>(c));
  for (std::size_t i = 0; i < again.size(); i++)
    if (again[i] != h.rows[i])
      r.fail("the lists of columns and of rows differ in row " + std::to_string(i) + " of H");
  return h;
}

/// The base matrix for z; or nothing, and why not.
std::optional<qc_matrix> blocks_of(const sparse& h, int z, std::string& why) {
  qc_matrix m{h.m / z, h.n / z, {}};
  m.shifts.assign(static_cast<std::size_t>(m.rows) * static_cast<std::size_t>(m.columns), -1);
  const auto refuse = [&](int row, int column, const char* reason) {
    why = "with z = " + std::to_string(z) + " the block in row " + std::to_string(row) + ", column " +
          std::to_string(column) + " " + reason;
    return std::nullopt;
  };
  for (int row = 0; row < m.rows; row++) {
    int* const shifts = m.shifts.data() + static_cast<std::ptrdiff_t>(row) * m.columns;
    const std::vector<int>* const ones = &h.rows[static_cast<std::size_t>(row * z)];
    for (int i = 0; i < z; i++) {
      int last = -1;
      for (const int c : ones[i]) {  // in order
        const int column = c / z, shift = (c % z - i + z) % z;
        if (column == last) return refuse(row, column, "has several ones in a row");
        last = column;
        if (i == 0) shifts[column] = shift;
        if (shifts[column] != shift) return refuse(row, column, "is no rotated identity");
      }
      if (ones[i].size() == ones[0].size()) continue;
      for (const int c : ones[0])
        if (std::none_of(ones[i].begin(), ones[i].end(), [&](int d) { return d / z == c / z; }))
          return refuse(row, c / z, "is no rotated identity");
    }
  }
  return m;
}

ldpc_code alist_code(const reader& r, const std::vector<text_line>& lines, int z) {
  const sparse h = alist_ones(r, lines);
  std::string why, first;
  if (z != 0) {
    check_lifting_size(r, z);
    if (h.n % z != 0 || h.m % z != 0)
      r.fail("lifting size " + std::to_string(z) + " does not divide n = " + std::to_string(h.n) +
             " and m = " + std::to_string(h.m));
    if (h.n / z > most_columns)
      r.fail("with z = " + std::to_string(z) + " it has " + std::to_string(h.n / z) +
             " columns of blocks: at most " + std::to_string(most_columns));
    if (auto m = blocks_of(h, z, why)) return ldpc_code(std::move(*m), z);
    r.fail("it is not quasi-cyclic: " + why);
  }
  for (int d = std::min(most_z, std::gcd(h.n, h.m)); d > 1 && h.n / d <= most_columns; d--) {
    if (h.n % d != 0 || h.m % d != 0) continue;
    if (auto m = blocks_of(h, d, why)) return ldpc_code(std::move(*m), d);
    if (first.empty()) first = why;
  }
  r.fail("it is not quasi-cyclic with any lifting size above 1" +
         (first.empty() ? ", as none that divides n = " + std::to_string(h.n) +
                              " and m = " + std::to_string(h.m) + " leaves up to 1024 columns of blocks"
                        : ": " + first));
}

/// An alist begins with two lines of two numbers, and its third has n of them.
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

}  // namespace

ldpc_code parse_ldpc_code(std::string_view text, const std::string& name, int z) {
  const reader r{name};
  const std::vector<text_line> lines = lines_of(text);
  try {
    const ldpc_code code = is_alist(lines) ? alist_code(r, lines, z) : csv_code(r, lines, z);
    (void)ldpc_encoder(code);  // a parity part that it does not take
    return code;
  } catch (const argument_error& e) {
    r.fail(e.value() + " is not allowed as its " + e.argument() + ": expected " + e.allowed());
  }
}

ldpc_code read_ldpc_code(const std::string& path, int z) {
  return parse_ldpc_code(read_file(path, most_mib, "no base matrix"), path, z);
}

}  // namespace wb
