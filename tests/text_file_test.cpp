// Reading of a file at once: its content, or why not.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include <warpband/core/error.hpp>
#include <warpband/core/text_file.hpp>
#include <warpband/io/replacement.hpp>

namespace wb {
namespace text_file_test {

std::string why_not(const std::string& path) {
  try {
    read_file(path, 1, "not a test");
  } catch (const file_error& e) {
    return e.what();
  }
  return "";
}

TEST(text_file, is_read_in_full_up_to_the_limit) {
  const std::string path = ::testing::TempDir() + "warpband_text_file_" + std::to_string(getpid());
  std::string text("\xff\0\r\n", 4);  // any bytes
  write_file(path, text);
  EXPECT_EQ(read_file(path, 1, ""), text);
  text.resize(1 << 20, 'x');
  write_file(path, text);
  EXPECT_EQ(read_file(path, 1, ""), text);
  write_file(path, text + "x");
  EXPECT_EQ(why_not(path), path + ": larger than 1 MiB: not a test");
  EXPECT_EQ(read_file(path, 2, "").size(), text.size() + 1);
  std::filesystem::remove(path);
  EXPECT_EQ(why_not(path), path + ": cannot read: No such file or directory");
  EXPECT_EQ(why_not(::testing::TempDir()), ::testing::TempDir() + ": cannot read: it is a folder");
}

}  // namespace text_file_test
}  // namespace wb
