#include "plot.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <warpband/core/error.hpp>

extern char** environ;

namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_there(const fs::path& path) {
  std::error_code status;
  return fs::exists(path, status);
}

/// The folder that holds bin/warpband, once installed.
fs::path prefix() {
  std::error_code status;
  return fs::read_symlink("/proc/self/exe", status).parent_path().parent_path();
}

std::string find_python() {
  if (const std::string p = variable("WARPBAND_PYTHON"); !p.empty()) return p;
#ifdef WARPBAND_SOURCE_DIR
  if (const fs::path p = fs::path(WARPBAND_SOURCE_DIR) / ".venv/bin/python"; is_there(p)) return p.string();
#endif
  return "python3";
}

std::string find_script() {
  if (const std::string p = variable("WARPBAND_PLOT"); !p.empty()) {
    if (!is_there(p)) throw wb::file_error(p, "WARPBAND_PLOT names a file that is not there");
    return p;
  }
  if (const fs::path p = prefix() / "share/warpband/plot.py"; is_there(p)) return p.string();
#ifdef WARPBAND_SOURCE_DIR
  if (const fs::path p = fs::path(WARPBAND_SOURCE_DIR) / "apps/plot.py"; is_there(p)) return p.string();
#endif
  throw wb::error("plot.py was not found: set WARPBAND_PLOT to where it lies");
}

/// Runs a program without a shell and waits. Returns its exit code, 127 where it cannot be started.
int run(const std::vector<std::string>& command, bool silent) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (silent) {
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  } else {
    posix_spawn_file_actions_adddup2(&actions, 2, 1);  // stdout is for the table
  }
  pid_t child = -1;
  const int failed = posix_spawnp(&child, words[0], &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return 127;
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return 127;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

}  // namespace

plotter::plotter() : python_(find_python()), script_(find_script()) {
  const int code = run({python_, "-c", "import matplotlib"}, true);
  if (code != 0)
    throw wb::error("--plot needs Python with matplotlib, and " + python_ +
                    (code == 127 ? " does not start" : " has none") +
                    ": run scripts/setup.sh, or set WARPBAND_PYTHON to one that has it");
}

void plotter::draw(const std::string& result, const std::string& out,
                   const std::vector<std::string>& references, const std::string& metric,
                   const std::string& title) const {
  // Behind "--", and with "=", no file name is taken for an option.
  std::vector<std::string> command{python_, script_, "--metric=" + metric, "--title=" + title};
  for (const std::string& r : references) command.push_back("--reference=" + r);
  command.insert(command.end(), {"--", result, out});
  if (const int code = run(command, false); code != 0)
    throw wb::file_error(out, "was not drawn: plot.py ended with exit code " + std::to_string(code));
}
