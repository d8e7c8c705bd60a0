#pragma once
// What the fuzz targets share: input as a file, and what counts as an answer.
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <warpband/core/error.hpp>

/// A file in memory with these bytes. It has a name: libhdf5 opens no file that has none. Files are made once
/// and written again: at most four at a time, the last one ends first.
class memory_file {
 public:
  memory_file(const std::uint8_t* data, std::size_t size) : file_(files().at(used()++)) {
    if (ftruncate(file_.descriptor, 0) != 0 ||
        pwrite(file_.descriptor, data, size, 0) != static_cast<ssize_t>(size))
      std::abort();
  }
  ~memory_file() { used()--; }
  memory_file(const memory_file&) = delete;
  memory_file& operator=(const memory_file&) = delete;
  std::string path() const { return file_.path; }

 private:
  struct file {
    char path[32] = "/dev/shm/warpband_fuzz_XXXXXX";
    int descriptor = mkstemp(path);
    ~file() { unlink(path); }
  };
  static std::array<file, 4>& files() {
    static std::array<file, 4> all;
    return all;
  }
  static std::size_t& used() {
    static std::size_t n = 0;
    return n;
  }
  const file& file_;
};

/// Runs a parser. An error of one line is an answer; any other exception, or a line break in it, is a
/// finding.
template <class F>
void answered(F parse) {
  try {
    parse();
  } catch (const wb::error& e) {
    if (std::string(e.what()).find('\n') != std::string::npos) std::abort();
  }
}
