#include "terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <utility>

#include <warpband/core/printable.hpp>

#include "command.hpp"

namespace {

std::atomic<int> resizes{0};
static_assert(std::atomic<int>::is_always_lock_free);  // a signal handler may use it

extern "C" void on_resize(int) { resizes++; }

void listen_for_resizes() {
  struct sigaction before {};
  sigaction(SIGWINCH, nullptr, &before);
  if (before.sa_handler == on_resize) return;
  struct sigaction action {};
  action.sa_handler = on_resize;
  action.sa_flags = SA_RESTART;
  sigaction(SIGWINCH, &action, nullptr);
}

bool goes_on_a_character(char c) { return (static_cast<unsigned char>(c) & 0xC0u) == 0x80u; }

}  // namespace

void print_text(std::FILE* out, const std::string& text) {
  std::fputs(wb::printable_lines(text).c_str(), out);
}
void print_note(const std::string& note) {
  print_to(stderr, "warpband: note: {}\n", wb::printable(note, most_shown));
}
void print_hints(const std::vector<std::string>& hints) {
  for (const std::string& hint : hints) print_to(stderr, "hint: {}\n", wb::printable(hint, most_shown));
}
void print_json(const std::string& json) { std::fputs(wb::printable_json(json).c_str(), stdout); }

std::size_t terminal_width(int file) {
  if (isatty(file) == 0) return 0;
  winsize size{};
  if (ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col != 0) return size.ws_col;
  const char* columns = std::getenv("COLUMNS");
  const auto told = columns == nullptr ? std::nullopt : decimal(columns);
  return told && *told > 0 ? static_cast<std::size_t>(*told) : 80;
}

std::size_t columns_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !goes_on_a_character(c); }));
}

std::string cut_to(const std::string& text, std::size_t width) {
  if (columns_of(text) <= width) return text;
  std::size_t end = 0;
  for (std::size_t column = 0; end < text.size(); end++)
    if (!goes_on_a_character(text[end]) && ++column >= width) break;
  return text.substr(0, end) + (width == 0 ? "" : "~");
}

progress_line::progress_line(bool quiet) : quiet_(quiet), terminal_(isatty(2) != 0), resizes_(resizes) {
  if (terminal_ && !quiet_) listen_for_resizes();
}

bool progress_line::due() {
  if (quiet_) return false;
  const auto time = std::chrono::steady_clock::now();
  const bool resized = resizes_ != resizes;
  if (!resized && time - last_ < (terminal_ ? std::chrono::milliseconds(200) : std::chrono::seconds(30)))
    return false;
  last_ = time;
  return true;
}

void progress_line::show(const std::vector<std::string>& variants) {
  std::vector<std::string> texts;
  for (const std::string& text : variants) texts.push_back(wb::printable(text, most_shown));
  if (!terminal_) {
    print_to(stderr, "{}\n", texts.front());
    std::fflush(stderr);
    return;
  }
  // One column less: a full line would put the cursor into the next one.
  const std::size_t width = terminal_width(2) - 1;
  const auto fits = std::find_if(texts.begin(), texts.end(),
                                 [&](const std::string& text) { return columns_of(text) <= width; });
  const std::string text = cut_to(fits == texts.end() ? texts.back() : *fits, width);
  // In one piece, and wiped behind the new text: nobody sees an empty line.
  std::fputs((to_its_beginning() + text + "\x1b[J").c_str(), stderr);
  std::fflush(stderr);
  shown_ = columns_of(text);
}

std::string progress_line::to_its_beginning() {
  const int before = std::exchange(resizes_, resizes.load());
  if (shown_ == 0) return "\r";
  // Terminals that have become narrower have put the line into several.
  const std::size_t above =
      before != resizes_ ? (shown_ - 1) / std::max<std::size_t>(1, terminal_width(2)) : 0;
  return (above != 0 ? fmt::format("\x1b[{}A", above) : "") + "\r";
}

void progress_line::clear() {
  if (shown_ == 0) return;
  std::fputs((to_its_beginning() + "\x1b[J").c_str(), stderr);
  std::fflush(stderr);
  shown_ = 0;
}

std::vector<bool> text_table::kept() const {
  std::vector<bool> kept(columns_.size(), true);
  const std::size_t width = terminal_width(fileno(out_));
  if (width == 0) return kept;
  const auto total = [&] {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < columns_.size(); i++)
      if (kept[i]) sum += columns_[i].width + 1;
    return sum;  // with a blank behind the last: the cursor's column
  };
  while (total() > width) {
    std::size_t least = columns_.size();
    for (std::size_t i = 0; i < columns_.size(); i++)
      if (kept[i] && columns_[i].dispensable > 0 &&
          (least == columns_.size() || columns_[i].dispensable > columns_[least].dispensable))
        least = i;
    if (least == columns_.size()) break;
    kept[least] = false;
  }
  return kept;
}

void text_table::write(const std::vector<std::string>& cells, const std::vector<bool>& kept) const {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); i++) {
    if (!kept[i]) continue;
    const std::size_t used = columns_of(cells[i]);
    if (!line.empty()) line += ' ';
    line += std::string(columns_[i].width - std::min(columns_[i].width, used), ' ') + cells[i];
  }
  print_to(out_, "{}\n", line);
}

void text_table::header() {
  shown_ = kept();
  std::vector<std::string> titles;
  for (const column& c : columns_) titles.push_back(c.title);
  write(titles, shown_);
}

void text_table::row(const std::vector<std::string>& cells) {
  if (kept() != shown_) header();
  write(cells, shown_);
}
