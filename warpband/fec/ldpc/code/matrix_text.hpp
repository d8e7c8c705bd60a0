#pragma once
// Reading of parity-check matrices from text: lines, numbers, and the alist format. For readers of files in
// fec/ only.
#include <charconv>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <warpband/core/error.hpp>

namespace wb {

inline constexpr std::size_t most_matrix_mib = 64;  // of a file

/// Errors of a file. `refusal`: "no base matrix".
struct matrix_reader {
  const std::string& name;
  const char* refusal;
  [[noreturn]] void fail(const std::string& reason) const {
    throw file_error(name, std::string(refusal) + ": " + reason);
  }
  [[noreturn]] void fail(std::size_t line, const std::string& reason) const {
    fail("line " + std::to_string(line) + ": " + reason);
  }
};

std::string quoted_word(std::string_view text);
std::string_view trimmed_text(std::string_view text);
std::optional<int> integer_of(std::string_view text);
std::vector<std::string_view> words_of(std::string_view line);

/// A line with its number, without its comment, and the comment.
struct text_line {
  std::size_t number;
  std::string_view text, comment;
};
/// Those that hold anything.
std::vector<text_line> lines_of(std::string_view text);

/// The numbers of the lines that hold any, line after line.
/// Threads: one at a time may use an object.
class number_lines {
 public:
  number_lines(const matrix_reader& r, const std::vector<text_line>& lines) : r_(r), lines_(lines) {}
  /// Of the next line; `name`: what is expected there.
  std::vector<int> next(const std::string& name);
  /// Whether there is a next line.
  bool more();
  /// Passes over the next line if it holds zeros alone.
  void skip_zeros();
  std::size_t line() const { return position_ == 0 ? 0 : lines_[position_ - 1].number; }
  /// There must be no next line.
  void end();
  [[noreturn]] void fail(const std::string& reason) const { r_.fail(line(), reason); }

 private:
  std::vector<int> numbers(const text_line& line) const;
  const matrix_reader& r_;
  const std::vector<text_line>& lines_;
  std::size_t position_ = 0;
};

/// Ones of a binary matrix by row, from 0 and in order.
struct sparse_rows {
  int n = 0, m = 0;
  std::vector<std::vector<int>> rows;
};

/// An alist begins with two lines of two numbers, and its third has n of them.
bool is_alist(const std::vector<text_line>& lines);
/// The matrix of an alist of up to 2^20 bits and checks; `fewer_rows`: of fewer checks than bits. The lists
/// of rows may be missing. Zeros may fill up lists, and the list of an empty row or column may be missing.
sparse_rows read_alist(const matrix_reader& r, const std::vector<text_line>& lines, bool fewer_rows);

}  // namespace wb
