#include <warpband/fec/ldpc/ldpc_file.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <vector>

#include <warpband/core/error.hpp>
#include <warpband/core/text_file.hpp>
#include <warpband/fec/ldpc/code/matrix_text.hpp>
#include <warpband/fec/ldpc/ldpc.hpp>

namespace wb {
namespace {

constexpr const char* no_matrix = "no base matrix";
constexpr int most_n = 1 << 20, most_z = 4096, most_columns = 1024;

std::vector<std::string_view> fields_of(std::string_view line) {
  const char* const separators = line.find(',') != line.npos ? "," : line.find(';') != line.npos ? ";" : "";
  if (*separators == 0) return words_of(line);
  std::vector<std::string_view> fields;
  for (bool more = true; more;) {
    const std::size_t end = std::min(line.find_first_of(separators), line.size());
    fields.push_back(trimmed_text(line.substr(0, end)));
    more = end < line.size();
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return fields;
}

/// "z = 27" of a comment.
std::optional<int> lifting_size_in(std::string_view comment) {
  comment = trimmed_text(comment);  // once: what follows then meets blanks only once each
  for (std::size_t mark = comment.find_first_of("zZ"); mark != comment.npos;
       mark = comment.find_first_of("zZ", mark + 1)) {
    std::string_view rest = trimmed_text(comment.substr(mark + 1));
    if (rest.empty() || (rest.front() != '=' && rest.front() != ':')) continue;
    rest = trimmed_text(rest.substr(1));
    if (const auto z =
            integer_of(rest.substr(0, std::min(rest.find_first_not_of("0123456789"), rest.size()))))
      return z;
  }
  return std::nullopt;
}

void check_lifting_size(const matrix_reader& r, int z) {
  if (z < 1 || z > most_z)
    r.fail("lifting size " + std::to_string(z) + ": expected 1 to " + std::to_string(most_z));
}

// ---- CSV

ldpc_code csv_code(const matrix_reader& r, const std::vector<text_line>& lines, int wanted_z) {
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
        r.fail(line.number, quoted_word(fields[j]) + " in column " + std::to_string(j) +
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

/// The base matrix for z; or nothing, and why not.
std::optional<qc_matrix> blocks_of(const sparse_rows& h, int z, std::string& why) {
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

ldpc_code alist_code(const matrix_reader& r, const std::vector<text_line>& lines, int z) {
  const sparse_rows h = read_alist(r, lines, true);
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

}  // namespace

ldpc_code parse_ldpc_code(std::string_view text, const std::string& name, int z) {
  const matrix_reader r{name, no_matrix};
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
  return parse_ldpc_code(read_file(path, most_matrix_mib, no_matrix), path, z);
}

}  // namespace wb
