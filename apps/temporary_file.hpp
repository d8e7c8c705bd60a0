#pragma once
// Files that a program is started with and nobody keeps.
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>

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

/// An empty folder there; removed at the end with all that is in it.
class temporary_folder {
 public:
  temporary_folder() {
    path_ = (std::filesystem::temp_directory_path() / "warpband-XXXXXX").string();
    if (mkdtemp(path_.data()) == nullptr)
      throw wb::file_error(path_, std::string("cannot write: ") + std::strerror(errno));
  }
  ~temporary_folder() {
    std::error_code none;
    std::filesystem::remove_all(path_, none);
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};
