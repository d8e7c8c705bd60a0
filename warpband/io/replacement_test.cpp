// Files that appear in full or not at all, and what killed processes leave.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include <warpband/core/error.hpp>
#include <warpband/io/replacement.hpp>

namespace wb {
namespace replacement_test {

namespace fs = std::filesystem;

/// A folder of this test's own.
class replacement_file : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ("warpband_replacement_" + std::to_string(getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  static std::string content(const std::string& path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator{}));
  }
  fs::path folder_;
};

TEST_F(replacement_file, one_claim_at_a_time) {
  const std::string file = path("a.json");
  fs::create_symlink(file, path("link.json"));
  {
    const output_claim held(file);
    EXPECT_EQ(files(), 2u);  // the link, and the lock
    EXPECT_TRUE(fs::exists(file + ".lock"));
    for (const std::string& name : {file, path("link.json"), path("./a.json")}) try {
        const output_claim second(name);
        ADD_FAILURE() << name << " was claimed twice";
      } catch (const file_error& e) {
        EXPECT_EQ(std::string(e.what()), name + ": another run writes it: give this one another name");
      }
    const output_claim other(path("b.json"));
    write_file(file, "new");  // its place is claimed, not the file that is there
    EXPECT_THROW(output_claim{file}, file_error);
    const pid_t child = fork();
    if (child == 0) {
      try {
        const output_claim second(file);
        _exit(0);
      } catch (const file_error&) {
        _exit(7);
      }
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 7);
  }
  EXPECT_FALSE(fs::exists(file + ".lock"));
  const output_claim again(file);
  const output_claim null("/dev/null"), no_file("/dev/null");
  EXPECT_FALSE(fs::exists("/dev/null.lock"));
}

/// The lock alone, as a process sees it that has another network and so another space of sockets' names.
TEST_F(replacement_file, a_claim_is_seen_by_its_lock) {
  const std::string file = path("a.json"), lock = file + ".lock";
  std::ofstream(lock).close();  // a killed process left it: in nobody's way
  { const output_claim taken(file); }
  EXPECT_FALSE(fs::exists(lock));
  std::ofstream(lock) << "somebody's";
  { const output_claim taken(file); }
  EXPECT_EQ(content(lock), "somebody's");  // is not removed
  const int other = open(lock.c_str(), O_RDWR);
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  ASSERT_EQ(fcntl(other, F_OFD_SETLK, &whole), 0);
  EXPECT_THROW(output_claim{file}, file_error);
  EXPECT_THROW(output_claim{file}, file_error);  // a refused claim holds nothing
  close(other);
  { const output_claim taken(file); }
  // A claim ends with its process.
  fs::remove(lock);
  const pid_t child = fork();
  if (child == 0) {
    const output_claim taken(file);
    _exit(fs::exists(lock) ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  const output_claim taken(file);
}

TEST_F(replacement_file, files_are_replaced_in_full) {
  const std::string file = path("a.json");
  check_writable(file);
  EXPECT_EQ(files(), 0u);  // a check leaves nothing
  write_file(file, "one");
  chmod(file.c_str(), 0640);
  write_file(file, "two");
  EXPECT_EQ(content(file), "two");
  EXPECT_EQ(files(), 1u);
  struct stat s {};
  stat(file.c_str(), &s);
  EXPECT_EQ(s.st_mode & 07777, 0640u);
  // A link stays one.
  fs::create_symlink(file, path("link.json"));
  write_file(path("link.json"), "three");
  EXPECT_TRUE(fs::is_symlink(path("link.json")));
  EXPECT_EQ(content(file), "three");
  // A crashed run's leftover is not in the way.
  std::ofstream(file + ".tmp" + std::to_string(getpid()) + "-0") << "left";
  write_file(file, "four");
  EXPECT_EQ(content(file), "four");
}

TEST_F(replacement_file, leftovers_of_killed_processes_are_removed) {
  constexpr int gone = 999'999'999;  // more than any process's number
  const std::string file = path("a.json"), dead = ".tmp" + std::to_string(gone) + "-",
                    live = ".tmp" + std::to_string(getpid()) + "-",
                    parent = ".tmp" + std::to_string(getppid()) + "-0";
  const std::vector<std::string> leftovers{file + dead + "0", file + dead + "17", file + live + "3"};
  const std::vector<std::string> others{file + parent,  // of a living process
                                        file + dead,    // and none of ours
                                        file + dead + "0x",
                                        file + dead + "00",
                                        file + dead + "100",
                                        file + ".tmp-0",
                                        file + ".tmp0" + std::to_string(gone) + "-0",
                                        file + ".tmp+" + std::to_string(gone) + "-0",
                                        file + ".tmp99999999999-0",
                                        file + ".bak" + dead + "0",
                                        path("b.json") + dead + "0",
                                        path("x"
                                             "a.json") +
                                            dead + "0"};
  for (const auto* names : {&leftovers, &others})
    for (const std::string& name : *names) std::ofstream(name) << "left";
  fs::create_directory(file + dead + "1");
  fs::create_symlink(path("b.json") + dead + "0", file + dead + "2");
  // One that this process writes, and one that a process which cannot be seen from here writes.
  const replacement first(file);
  const std::string hidden = file + dead + "4";
  std::ofstream(hidden) << "being written";
  const int writer = open(hidden.c_str(), O_RDWR);
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  ASSERT_EQ(fcntl(writer, F_OFD_SETLK, &whole), 0);
  const std::string library = file + dead + "5";  // by a library with a lock of its own
  std::ofstream(library) << "being written";
  const int by_library = open(library.c_str(), O_RDWR);
  ASSERT_EQ(flock(by_library, LOCK_EX | LOCK_NB), 0);

  check_writable(file);
  for (const std::string& name : leftovers) EXPECT_FALSE(fs::exists(name)) << name;
  for (const std::string& name : others) EXPECT_TRUE(fs::exists(name)) << name;
  EXPECT_TRUE(fs::is_directory(file + dead + "1"));
  EXPECT_TRUE(fs::is_symlink(file + dead + "2"));
  EXPECT_TRUE(fs::exists(file + live + "0"));
  EXPECT_TRUE(fs::exists(hidden));
  EXPECT_TRUE(fs::exists(library));
  close(writer);
  close(by_library);
  check_writable(file);
  EXPECT_FALSE(fs::exists(hidden));
  EXPECT_FALSE(fs::exists(library));
}

TEST_F(replacement_file, places_that_cannot_be_written) {
  EXPECT_THROW(check_writable(path("missing/a.json")), file_error);
  EXPECT_THROW(check_writable(folder_.string()), file_error);
  EXPECT_THROW(check_writable(path("missing/")), file_error);
  EXPECT_THROW(check_writable("/dev/null"), file_error);
  EXPECT_THROW(check_writable(""), file_error);
  EXPECT_THROW(write_file(path("missing/a.json"), "x"), file_error);
  EXPECT_EQ(files(), 0u);
}

}  // namespace replacement_test
}  // namespace wb
