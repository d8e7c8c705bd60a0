#pragma once
// The `warpband` command of this build: WARPBAND_COMMAND is its path.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include <tests/executors.hpp>
#include <tests/scratch.hpp>
#include <warpband_command.hpp>

namespace wb::testing {

/// How a run ended, and what it wrote.
struct outcome {
  int code = -1;
  std::string out{}, err{};
};

/// A folder in which it runs.
class command_folder : public scratch_folder {
 public:
  /// Runs `before warpband arguments`.
  outcome run(const std::string& arguments, const std::string& before = "") const {
    const std::string line = "cd '" + folder_.string() + "' && " + before + " '" WARPBAND_COMMAND "' " +
                             arguments + " > out.txt 2> err.txt < /dev/null";
    const int status = std::system(line.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128, content(path("out.txt")),
            content(path("err.txt"))};
  }
  /// It fails with this code, one line that holds `part`, and nothing on stdout.
  void expect_error(int code, const std::string& arguments, const std::string& part,
                    const std::string& before = "") const {
    expect_error(code, run(arguments, before), part, arguments);
  }
  static void expect_error(int code, const outcome& o, const std::string& part,
                           const std::string& arguments = "") {
    EXPECT_EQ(o.code, code) << arguments << "\n" << o.err;
    EXPECT_TRUE(o.err.starts_with("warpband: error: ")) << o.err;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
    EXPECT_NE(o.err.find(part), std::string::npos) << o.err;
    EXPECT_EQ(o.out, "") << arguments;
  }
};

/// Tests of it on each backend.
class command_on_backend : public ::testing::TestWithParam<backend>, protected command_folder {
 protected:
  void SetUp() override { WB_SKIP_WITHOUT_DEVICE(GetParam()); }
  std::string text(const std::string& name) const { return content(path(name)); }
  /// Runs it on the backend; returns the exit code.
  int run(const std::string& arguments) const {
    const std::string force = force_ ? " --force" : "";
    if (is_cuda()) return command_folder::run(arguments + force + " --device " + GetParam().name).code;
    return command_folder::run(arguments + force, "WARPBAND_ISA=" + GetParam().name).code;
  }
  static bool is_cuda() { return GetParam().name.starts_with("cuda"); }
  bool force_ = true;  // most tests write a file several times
};

}  // namespace wb::testing
