#pragma once
// What is shown on a terminal: text, a line of progress and tables, as wide as there is room.
//
// All text of the command goes through print_to, print_json, progress_line or text_table: whatever a file, a
// key or an argument holds, the terminal shows it and does not obey it (wb::printable).
#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

/// Writes text as wb::printable_lines gives it: line breaks are kept, so that a text which must not have any
/// is to go through wb::printable before.
void print_text(std::FILE* out, const std::string& text);
template <class... Values>
void print_to(std::FILE* out, fmt::format_string<Values...> format, Values&&... values) {
  print_text(out, fmt::format(format, std::forward<Values>(values)...));
}
/// A line on stderr: "warpband: note: ..."
void print_note(const std::string& note);
/// A line on stderr for each: what a scenario or command line has by an old name.
void print_hints(const std::vector<std::string>& hints);
/// Writes JSON to standard output, in wb::printable_json's escapes.
void print_json(const std::string& json);

/// Columns of the terminal behind a file descriptor; 0 where there is none. A terminal that does not tell has
/// those of the variable COLUMNS, or 80.
std::size_t terminal_width(int file);

/// Columns that text takes, in UTF-8 of characters one column wide.
std::size_t columns_of(const std::string& text);
/// The beginning of a text that fits into `width` columns; what was cut ends with "~".
std::string cut_to(const std::string& text, std::size_t width);

/// One line on stderr that is written over again and again; without a terminal a line every 30 s. After the
/// window's size has changed it is due at once, and what the old line left is wiped.
class progress_line {
 public:
  explicit progress_line(bool quiet);
  ~progress_line() { clear(); }
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;
  /// Whether it is time to show something; call before making the text.
  bool due();
  /// Shows the first of the texts that fits, the longest first; where none does the beginning of the last.
  /// Without a terminal the first.
  void show(const std::vector<std::string>& variants);
  void show(const std::string& text) { show(std::vector{text}); }
  void clear();

 private:
  /// What moves the cursor to the beginning of what is shown.
  std::string to_its_beginning();

  bool quiet_, terminal_;
  std::size_t shown_ = 0;  // columns of what is on the terminal
  int resizes_ = 0;        // that are dealt with
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// A table whose rows are written as they come. Where the terminal is too narrow it goes without the columns
/// of highest `dispensable`, and writes its header again when that changes. Into files it writes all.
class text_table {
 public:
  struct column {
    std::string title;
    std::size_t width;    // its entries are aligned right in it
    int dispensable = 0;  // 0: never left out; the highest go first
  };
  text_table(std::FILE* out, std::vector<column> columns) : out_(out), columns_(std::move(columns)) {}
  void header();
  void row(const std::vector<std::string>& cells);

 private:
  std::vector<bool> kept() const;
  void write(const std::vector<std::string>& cells, const std::vector<bool>& kept) const;

  std::FILE* out_;
  std::vector<column> columns_;
  std::vector<bool> shown_;
};
