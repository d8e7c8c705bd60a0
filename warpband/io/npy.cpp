#include <warpband/io/npy.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>

#include <warpband/core/decimal.hpp>
#include <warpband/core/printable.hpp>

namespace wb {
namespace {

constexpr char magic[] = "\x93NUMPY";
constexpr std::size_t most_header = 65536, most_axes = 32, piece = 1 << 20;

/// The words of a header: a dictionary as Python writes it.
class header_words {
 public:
  explicit header_words(const std::string& text) : text_(text) {}
  /// The next character but for spaces, or 0 at the end.
  char next() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) at_++;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (next() != c) return false;
    at_++;
    return true;
  }
  /// A text in quotes; nothing where there is none.
  std::string quoted() {
    const char quote = next();
    if (quote != '\'' && quote != '"') return "";
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string::npos) return "";
    const std::string found = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return found;
  }
  bool word(const char* w) {
    next();
    if (text_.compare(at_, std::strlen(w), w) != 0) return false;
    at_ += std::strlen(w);
    return true;
  }
  /// A whole number below 2^53.
  bool number(std::size_t& n) {
    if (next() < '0' || next() > '9') return false;
    for (n = 0; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; at_++) {
      n = 10 * n + static_cast<std::size_t>(text_[at_] - '0');
      if (n >= std::size_t{1} << 53) return false;
    }
    return true;
  }

 private:
  const std::string& text_;
  std::size_t at_ = 0;
};

template <class T>
T swapped(T x) {
  auto bytes = std::bit_cast<std::array<unsigned char, sizeof(T)>>(x);
  std::reverse(bytes.begin(), bytes.end());
  return std::bit_cast<T>(bytes);
}

}  // namespace

bool is_npy(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return false;
  char start[6];
  const bool is = pread(file, start, 6, 0) == 6 && std::memcmp(start, magic, 6) == 0;
  close(file);
  return is;
}

npy_reader::npy_reader(const std::string& path)
    : path_(path), file_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (file_ < 0) fail(std::string("cannot read: ") + std::strerror(errno));
  try {
    struct stat found {};
    if (fstat(file_, &found) != 0 || !S_ISREG(found.st_mode)) fail("cannot read: it is not a regular file");
    bytes_ = static_cast<std::uint64_t>(found.st_size);
    unsigned char start[12] = {};
    if (bytes_ < 10) fail("it is not a .npy file");
    read_at(0, static_cast<std::size_t>(std::min<std::uint64_t>(bytes_, 12)), start);
    if (std::memcmp(start, magic, 6) != 0) fail("it is not a .npy file");
    if (start[6] < 1 || start[6] > 3 || start[7] != 0)
      fail("version " + std::to_string(start[6]) + '.' + std::to_string(start[7]) +
           " of the .npy format: expected 1.0, 2.0 or 3.0");
    const bool old = start[6] == 1;
    std::size_t length = start[8] + 256u * start[9];
    if (!old) length += 65536u * start[10] + 16777216u * start[11];
    start_ = (old ? 10 : 12) + length;
    if (length > most_header) fail("its header has " + std::to_string(length) + " bytes: at most 65536");
    if (start_ > bytes_) fail("it is truncated: its header ends behind the file");
    std::string header(length, ' ');
    read_at(start_ - length, length, header.data());
    parse(header);
  } catch (...) {
    close(file_);
    throw;
  }
}
npy_reader::~npy_reader() { close(file_); }

void npy_reader::parse(const std::string& header) {
  header_words words(header);
  const auto damaged = [&]() { fail("its header is damaged: " + printable(header, 60)); };
  bool has_type = false, has_order = false, has_shape = false;
  std::string type;
  if (!words.take('{')) damaged();
  while (!words.take('}')) {
    const std::string key = words.quoted();
    if (!words.take(':')) damaged();
    if (key == "descr" && !has_type) {
      has_type = true;
      type = words.quoted();
      if (type.empty()) fail("its elements are records: expected complex64 or complex128");
    } else if (key == "fortran_order" && !has_order) {
      has_order = true;
      if (words.word("True")) fail("its array is in Fortran's order: save numpy.ascontiguousarray of it");
      if (!words.word("False")) damaged();
    } else if (key == "shape" && !has_shape) {
      has_shape = true;
      if (!words.take('(')) damaged();
      while (!words.take(')')) {
        std::size_t n = 0;
        if (shape_.size() == most_axes || !words.number(n)) damaged();
        shape_.push_back(n);
        if (!words.take(',') && words.next() != ')') damaged();
      }
    } else {
      damaged();
    }
    if (!words.take(',') && words.next() != '}') damaged();
  }
  if (!has_type || !has_order || !has_shape || words.next() != '\0') damaged();
  double_ = type.ends_with("c16");
  if (type != "<c8" && type != ">c8" && type != "<c16" && type != ">c16")
    fail("its elements are of type " + printable(type, 20) + ": expected complex64 or complex128");
  swapped_ = (type[0] == '>') == (std::endian::native == std::endian::little);
  std::uint64_t wanted = double_ ? 16 : 8;
  const std::uint64_t available = bytes_ - start_;
  bool fits = true;
  for (const std::size_t n : shape_) fits = fits && (n == 0 || wanted <= UINT64_MAX / n), wanted *= n;
  if (!fits || wanted > available)
    fail("it is truncated: " + std::to_string(available) + " bytes of numbers, fewer than its shape has");
  if (wanted < available) fail("it has " + std::to_string(available - wanted) + " bytes more than its shape");
}

void npy_reader::read_at(std::uint64_t offset, std::size_t bytes, void* to) const {
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t received =
        pread(file_, static_cast<char*>(to) + done, bytes - done, static_cast<off_t>(offset + done));
    if (received < 0 && errno == EINTR) continue;
    if (received < 0) fail(std::string("cannot read: ") + std::strerror(errno));
    if (received == 0) fail("it was changed while it was read");
    done += static_cast<std::size_t>(received);
  }
}

void npy_reader::read(std::size_t first, std::size_t rows, std::complex<float>* to) const {
  const std::size_t total = shape_.empty() ? 1 : shape_[0];
  if (first > total || rows > total - first)
    throw shape_error("rows", std::to_string(first) + " + " + std::to_string(rows),
                      "at most " + std::to_string(total) + " in all");
  std::size_t of_row = 2;  // numbers
  for (std::size_t i = 1; i < shape_.size(); i++) of_row *= shape_[i];
  auto* numbers = reinterpret_cast<float*>(to);
  const std::size_t size = double_ ? 8 : 4, count = rows * of_row;
  const std::uint64_t from = start_ + std::uint64_t{first} * of_row * size;
  if (!double_) {
    read_at(from, 4 * count, numbers);
    if (swapped_) std::transform(numbers, numbers + count, numbers, swapped<float>);
    return;
  }
  std::vector<double> part(std::min(count, piece));
  for (std::size_t done = 0; done < count;) {
    const std::size_t count_now = std::min(count - done, piece);
    read_at(from + 8 * done, 8 * count_now, part.data());
    for (std::size_t i = 0; i < count_now; i++) {
      const double x = swapped_ ? swapped(part[i]) : part[i];
      if (std::isfinite(x) && std::abs(x) > static_cast<double>(std::numeric_limits<float>::max()))
        fail("it holds " + decimal(x) + ", which complex64 cannot hold");
      numbers[done + i] = static_cast<float>(x);
    }
    done += count_now;
  }
}

}  // namespace wb
