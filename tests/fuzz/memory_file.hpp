#pragma once
// A file in memory for readers of HDF5, which take a path. The program that reads it is that of the build
// LIBRARY is of: whatever happens to it, its parent, which is fuzzed, must answer.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include <warpband/io/hdf5.hpp>

/// The one file that there is.
struct memory_file {
  memory_file(const std::uint8_t* bytes, std::size_t size) : file(memfd_create("input", MFD_CLOEXEC)) {
    if (file < 0 || write(file, bytes, size) != static_cast<ssize_t>(size)) std::abort();
  }
  ~memory_file() { close(file); }
  memory_file(const memory_file&) = delete;
  memory_file& operator=(const memory_file&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(file); }

  const int file;
};

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  wb::set_default_hdf5_access({.seconds = 0.5, .program = WARPBAND_HDF5_PROGRAM});
  (void)wb::about_hdf5_program();  // throws where it is missing: every answer would be that
  return 0;
}
