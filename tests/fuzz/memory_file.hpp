#pragma once
// A file in memory for readers of HDF5, which take a path. The functions of the C library that open and read
// files are replaced here, for libhdf5 too: system calls would take most of an execution's time. One source
// of a program includes this.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstring>
#include <string>

#include <hdf5.h>

/// The one file that there is.
struct memory_file {
  static constexpr char name[] = "/memory/file";
  static constexpr int descriptor = 1 << 20;

  memory_file(const std::uint8_t* bytes, std::size_t size) : data(bytes), end(static_cast<off_t>(size)) {
    now = this;
    number++;
  }
  ~memory_file() { now = nullptr; }
  memory_file(const memory_file&) = delete;
  memory_file& operator=(const memory_file&) = delete;
  std::string path() const { return name; }
  static bool is_at(const char* path) { return now != nullptr && std::strcmp(path, name) == 0; }

  /// Each file has a number of its own: libhdf5 takes files of one number for the same.
  int describe(struct stat* about) const {
    *about = {};
    about->st_dev = 1;
    about->st_ino = number;
    about->st_mode = S_IFREG | 0444;
    about->st_size = end;
    return 0;
  }

  static inline const memory_file* now = nullptr;
  static inline ino_t number = 0;
  const std::uint8_t* const data;
  const off_t end;
};

extern "C" {

/// libhdf5 keeps the half MiB that each open file has, instead of taking it from the system again.
int LLVMFuzzerInitialize(int*, char***) {
  constexpr int mib = 1 << 20;
  return H5set_free_list_limits(16 * mib, 4 * mib, 4 * mib, mib / 4, 16 * mib, mib) < 0;
}

int open(const char* path, int flags, ...) {
  if (memory_file::is_at(path)) return memory_file::descriptor;
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  return openat(AT_FDCWD, path, flags, mode);
}

int stat(const char* path, struct stat* about) noexcept {
  return memory_file::is_at(path) ? memory_file::now->describe(about) : fstatat(AT_FDCWD, path, about, 0);
}

int lstat(const char* path, struct stat* about) noexcept {
  return memory_file::is_at(path) ? memory_file::now->describe(about)
                                  : fstatat(AT_FDCWD, path, about, AT_SYMLINK_NOFOLLOW);
}

int fstat(int file, struct stat* about) noexcept {
  if (file == memory_file::descriptor && memory_file::now != nullptr)
    return memory_file::now->describe(about);
  return fstatat(file, "", about, AT_EMPTY_PATH);
}

ssize_t pread(int file, void* to, std::size_t size, off_t at) {
  if (file != memory_file::descriptor || memory_file::now == nullptr)
    return syscall(SYS_pread64, file, to, size, at);
  const memory_file& from = *memory_file::now;
  if (at < 0 || to == nullptr) {
    errno = at < 0 ? EINVAL : EFAULT;
    return -1;
  }
  if (at >= from.end) return 0;
  const std::size_t n = std::min(size, static_cast<std::size_t>(from.end - at));
  std::memcpy(to, from.data + at, n);
  return static_cast<ssize_t>(n);
}

int flock(int file, int how) noexcept {
  return file == memory_file::descriptor ? 0 : static_cast<int>(syscall(SYS_flock, file, how));
}

int close(int file) {
  return file == memory_file::descriptor ? 0 : static_cast<int>(syscall(SYS_close, file));
}

}  // extern "C"
