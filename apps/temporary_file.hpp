#pragma once
// A file that a program is started with and nobody keeps.
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include <warpband/core/error.hpp>

/// An empty file of its own name in the folder of temporary files; removed at the end.
class temporary_file {
 public:
  temporary_file() {
    path_ = (std::filesystem::temp_directory_path() / "warpband-XXXXXX").string();
    const int file = mkstemp(path_.data());
    if (file < 0) throw wb::file_error(path_, std::string("cannot write: ") + std::strerror(errno));
    close(file);
  }
  ~temporary_file() { unlink(path_.c_str()); }
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;
  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};
