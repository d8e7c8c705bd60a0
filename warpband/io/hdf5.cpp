#include <warpband/io/hdf5.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>

#include <warpband/core/decimal.hpp>
#include <warpband/io/hdf5_source.hpp>

namespace wb {

namespace {

/// A descriptor of a file that starts like HDF5: at byte 0, or after a user block of 512, 1024, ...
/// Threads: one at a time.
class hdf5_descriptor {
 public:
  explicit hdf5_descriptor(const std::string& path) : path_(path) {
    const auto unreadable = [&](const std::string& why) { return file_error(path, "cannot read: " + why); };
    if (stat(path.c_str(), &opened_) != 0) throw unreadable(std::strerror(errno));
    if (S_ISDIR(opened_.st_mode)) throw unreadable("it is a folder");
    if (!S_ISREG(opened_.st_mode)) throw unreadable("it is not a regular file");
    // It may be another file by now: one that does not let itself be opened, as a pipe, must not stop us.
    file_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file_ < 0) throw unreadable(std::strerror(errno));
    try {
      if (fstat(file_, &opened_) != 0 || !S_ISREG(opened_.st_mode))
        throw unreadable("it is not a regular file");
      if (opened_.st_size == 0) throw file_error(path, "it is empty");
      if (!starts_like_hdf5()) throw file_error(path, "it is not an HDF5 file");
      lock();
    } catch (...) {
      close(file_);
      throw;
    }
  }
  ~hdf5_descriptor() { close(file_); }
  hdf5_descriptor(const hdf5_descriptor&) = delete;
  hdf5_descriptor& operator=(const hdf5_descriptor&) = delete;

  int file() const { return file_; }
  std::uint64_t bytes() const { return static_cast<std::uint64_t>(opened_.st_size); }
  /// Bytes that are cut off while a file is read come as zeros.
  void check_unchanged() const {
    struct stat current {};
    if (fstat(file_, &current) != 0)
      throw file_error(path_, "cannot read: " + std::string(std::strerror(errno)));
    if (current.st_size != opened_.st_size || current.st_mtim.tv_sec != opened_.st_mtim.tv_sec ||
        current.st_mtim.tv_nsec != opened_.st_mtim.tv_nsec)
      throw file_error(path_, "it was changed while it was read");
  }

 private:
  bool starts_like_hdf5() const {
    for (off_t offset = 0; offset < opened_.st_size; offset = offset == 0 ? 512 : 2 * offset) {
      char start[8];
      if (pread(file_, start, 8, offset) == 8 && std::memcmp(start, "\x89HDF\r\n\x1a\n", 8) == 0) return true;
    }
    return false;
  }
  /// As libhdf5 does: a program that writes the file has a lock on it. A file system without locks is no
  /// reason not to read.
  void lock() const {
    const char* set = std::getenv("HDF5_USE_FILE_LOCKING");
    if (set != nullptr && (std::string_view(set) == "FALSE" || std::string_view(set) == "0")) return;
    if (flock(file_, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK)
      throw file_error(path_, "cannot read: another program has it open for writing");
  }

  std::string path_;
  int file_ = -1;
  struct stat opened_ {};
};

hdf5_access& kept_access() {
  static hdf5_access kept;
  return kept;
}

void check_access(const hdf5_access& access) {
  if (!(access.seconds > 0 && access.seconds <= 1e9))
    throw argument_error("seconds", decimal(access.seconds), "more than 0 and at most 1e9");
}

}  // namespace

hdf5_access default_hdf5_access() { return kept_access(); }
void set_default_hdf5_access(const hdf5_access& access) {
  check_access(access);
  kept_access() = access;
}

struct hdf5_reader::state {
  std::string path;
  hdf5_descriptor file;
  std::unique_ptr<hdf5_source> source;

  state(const std::string& name, const hdf5_access& access)
      : path(name),
        file(name),
        source(access.trusted ? hdf5_in_process(file.file(), file.bytes(), name)
                              : hdf5_in_program(file.file(), file.bytes(), name, access)) {}
};

hdf5_reader::hdf5_reader(const std::string& path, const hdf5_access& access) {
  check_access(access);
  state_ = std::make_unique<state>(path, access);
}
hdf5_reader::~hdf5_reader() = default;
hdf5_reader::hdf5_reader(hdf5_reader&&) noexcept = default;

const std::string& hdf5_reader::path() const noexcept {
  static const std::string none;
  return state_ ? state_->path : none;
}

hdf5_reader::state& hdf5_reader::held() const {
  if (state_ == nullptr) throw error("this hdf5_reader was moved from: it reads nothing");
  return *state_;
}

bool hdf5_reader::has(const std::string& name) const { return held().source->has(name); }
std::vector<std::string> hdf5_reader::names() const { return held().source->names(); }
hdf5_array hdf5_reader::describe(const std::string& name) const { return held().source->describe(name); }

template <class T>
std::vector<std::size_t> hdf5_reader::expect(const std::string& name, std::size_t dimensions) const {
  return held().source->expect(element_of<T>, name, dimensions);
}

template <class T>
void hdf5_reader::read(const std::string& name, std::size_t first, std::size_t rows, T* to) const {
  held().source->read(element_of<T>, name, first, rows, to);
  held().file.check_unchanged();
}

template <class T>
std::vector<T> hdf5_reader::read(const std::string& name) const {
  read<T>(name, 0, 0, nullptr);  // of this type
  const std::vector<std::size_t> shape = describe(name).shape;
  const std::size_t rows = shape.empty() ? 1 : shape[0];
  std::size_t n = 1;
  for (const std::size_t axis : shape) n *= axis;  // sources give no shape that is too large
  std::vector<T> values;
  try {
    values.resize(n);
  } catch (const std::bad_alloc&) {
    throw memory_error(n * sizeof(T), "the host, for " + name + " of " + path());
  }
  read(name, 0, rows, values.data());
  return values;
}

std::optional<hdf5_attribute> hdf5_reader::attribute(const std::string& name,
                                                     const std::string& attribute) const {
  return held().source->attribute(name, attribute);
}

std::vector<double> hdf5_reader::attribute_numbers(const std::string& name,
                                                   const std::string& attribute) const {
  return held().source->attribute_numbers(name, attribute);
}

std::string hdf5_reader::remark() const { return held().source->remark(); }

#define WB_HDF5_ELEMENT(T)                                                                         \
  template std::vector<std::size_t> hdf5_reader::expect<T>(const std::string&, std::size_t) const; \
  template void hdf5_reader::read<T>(const std::string&, std::size_t, std::size_t, T*) const;      \
  template std::vector<T> hdf5_reader::read<T>(const std::string&) const;

WB_HDF5_ELEMENT(std::uint8_t)
WB_HDF5_ELEMENT(std::int8_t)
WB_HDF5_ELEMENT(std::int16_t)
WB_HDF5_ELEMENT(std::int32_t)
WB_HDF5_ELEMENT(std::int64_t)
WB_HDF5_ELEMENT(float)
WB_HDF5_ELEMENT(double)
WB_HDF5_ELEMENT(std::complex<float>)
WB_HDF5_ELEMENT(std::complex<double>)
#undef WB_HDF5_ELEMENT

}  // namespace wb
