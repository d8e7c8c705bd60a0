#pragma once
// What the fuzz targets share: input as a file, and what counts as an answer.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <warpband/core/error.hpp>

/// A file in memory with these bytes. It has a name: libhdf5 opens no file that has none.
class memory_file {
 public:
  memory_file(const std::uint8_t* data, std::size_t size) {
    const int file = mkstemp(path_);
    if (file < 0 || write(file, data, size) != static_cast<ssize_t>(size)) std::abort();
    close(file);
  }
  ~memory_file() { unlink(path_); }
  memory_file(const memory_file&) = delete;
  memory_file& operator=(const memory_file&) = delete;
  std::string path() const { return path_; }

 private:
  char path_[32] = "/dev/shm/warpband_fuzz_XXXXXX";
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
