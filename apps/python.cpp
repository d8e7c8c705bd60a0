#include "python.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include <warpband/core/error.hpp>

extern char** environ;

namespace {

namespace fs = std::filesystem;

std::string value_of(const std::string& variable) {
  const char* value = std::getenv(variable.c_str());
  return value == nullptr ? "" : value;
}

bool is_there(const fs::path& path) {
  std::error_code status;
  return fs::exists(path, status);
}

/// The folder of this program.
fs::path own_folder() {
  std::error_code status;
  return fs::read_symlink("/proc/self/exe", status).parent_path();
}
/// The folder that holds bin/warpband, once installed. In a wheel for other machines that is a script: the
/// program is in lib/python3.N/site-packages/warpband.scripts.
fs::path prefix() {
  fs::path folder = own_folder();
  if (folder.filename() == "warpband.scripts") folder = folder.parent_path().parent_path().parent_path();
  return folder.parent_path();
}

/// The source tree, for the program as it was built. An installed one, or a copy, takes nothing from there:
/// anybody may write in a folder of that name by then.
fs::path source_tree() {
#ifdef WARPBAND_SOURCE_DIR
  if (is_there(own_folder() / "CMakeCache.txt")) return WARPBAND_SOURCE_DIR;
#endif
  return {};
}

}  // namespace

std::string find_python() {
  if (const std::string p = value_of("WARPBAND_PYTHON"); !p.empty()) return p;
  if (const fs::path p = source_tree() / ".venv/bin/python"; p.is_absolute() && is_there(p))
    return p.string();
  if (is_there(prefix() / "pyvenv.cfg")) return (prefix() / "bin/python").string();  // of a wheel
  return "python3";
}

std::string find_program(const std::string& variable, const std::string& installed,
                         const std::string& in_source) {
  if (const std::string p = value_of(variable); !p.empty()) {
    if (!is_there(p)) throw wb::file_error(p, variable + " names a file that is not there");
    return p;
  }
  if (const fs::path p = prefix() / "share/warpband" / installed; is_there(p)) return p.string();
  if (const fs::path p = source_tree() / in_source; p.is_absolute() && is_there(p)) return p.string();
  throw wb::error(installed + " was not found: set " + variable + " to where it lies");
}

void check_matplotlib(const std::string& python, const std::string& asked) {
  if (const int code = run_program({python, "-c", "import matplotlib"}, stdout_of::none); code != 0)
    throw wb::error(asked + " needs Python with matplotlib, and " + python +
                    (code == 127 ? " does not start" : " has none") +
                    ": run scripts/setup.sh, or set WARPBAND_PYTHON to one that has it");
}

int run_program(const std::vector<std::string>& command, stdout_of output) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (output == stdout_of::none) {
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  } else if (output == stdout_of::to_stderr) {
    posix_spawn_file_actions_adddup2(&actions, 2, 1);
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
