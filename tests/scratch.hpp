#pragma once
// A folder for the files of one test.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace wb::testing {

/// It goes with the object.
class scratch_folder {
 public:
  scratch_folder() : folder_(made(::testing::TempDir() + "/warpband_XXXXXX")) {}
  ~scratch_folder() { std::filesystem::remove_all(folder_); }
  scratch_folder(const scratch_folder&) = delete;
  std::string path(const std::string& name = "") const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }
  static std::string content(const std::filesystem::path& path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

 protected:
  const std::filesystem::path folder_;

 private:
  static std::string made(std::string pattern) {
    EXPECT_NE(mkdtemp(pattern.data()), nullptr) << pattern;
    return pattern;
  }
};

}  // namespace wb::testing
