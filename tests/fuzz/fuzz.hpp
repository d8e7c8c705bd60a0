#pragma once
// What the fuzz targets share: input as a file, and what counts as an answer.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <warpband/core/error.hpp>

/// A file in memory with these bytes.
class memory_file {
 public:
  memory_file(const std::uint8_t* data, std::size_t size) : file_(memfd_create("input", MFD_CLOEXEC)) {
    if (file_ < 0 || write(file_, data, size) != static_cast<ssize_t>(size)) std::abort();
  }
  ~memory_file() { close(file_); }
  memory_file(const memory_file&) = delete;
  memory_file& operator=(const memory_file&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
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
