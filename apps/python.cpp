#include "python.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <sstream>

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
/// The folder that holds bin/warpband, once installed; empty for a program in any other folder, whose
/// neighbours may be a stranger's files. In a wheel for other machines bin/warpband is a script: the program
/// is in lib/python3.N/site-packages/warpband.scripts.
fs::path prefix() {
  const fs::path folder = own_folder();
  if (folder.filename() == "bin") return folder.parent_path();
  const fs::path site = folder.parent_path(), python = site.parent_path(), lib = python.parent_path();
  if (folder.filename() == "warpband.scripts" && site.filename() == "site-packages" &&
      python.filename().string().starts_with("python") && lib.filename() == "lib")
    return lib.parent_path();
  return {};
}
/// The same below the prefix; empty without one.
fs::path installed_at(const fs::path& below) {
  const fs::path p = prefix();
  return p.empty() ? p : p / below;
}

/// A program of PATH; "" where it is not there. Folders that PATH names relative to the working folder do not
/// count: a stranger's program may be there.
std::string on_path(const std::string& program) {
  std::istringstream folders(value_of("PATH"));
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const fs::path p = fs::path(folder) / program; p.is_absolute() && access(p.c_str(), X_OK) == 0)
      return p.string();
  return {};
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
  if (const fs::path p = installed_at("bin/python"); !p.empty() && is_there(installed_at("pyvenv.cfg")))
    return p.string();  // of a wheel
  return "python3";
}

std::string find_program(const std::string& variable, const std::string& installed,
                         const std::string& in_source) {
  if (const std::string p = value_of(variable); !p.empty()) {
    if (!is_there(p)) throw wb::file_error(p, variable + " names a file that is not there");
    return p;
  }
  if (const fs::path p = installed_at("share/warpband") / installed; p.is_absolute() && is_there(p))
    return p.string();
  if (const fs::path p = source_tree() / in_source; p.is_absolute() && is_there(p)) return p.string();
  throw wb::error(installed + " was not found: set " + variable + " to where it lies");
}

void check_matplotlib(const std::string& python, const std::string& asked) {
  // matplotlib reads a matplotlibrc of the working folder.
  const int code = run_python({python, "-c", "import os; os.chdir('/'); import matplotlib"}, stdout_of::none);
  if (code != 0)
    throw wb::error(asked + " needs Python with matplotlib, and " + python +
                    (code == 127 ? " does not start" : " has none") +
                    ": run scripts/setup.sh, or set WARPBAND_PYTHON to one that has it");
}

int run_python(const std::vector<std::string>& command, stdout_of output) {
  // Isolated: Python takes modules neither from the working folder nor from PYTHONPATH.
  std::string isolated = "-I";
  const bool by_path = command[0].find('/') == std::string::npos;
  const std::string program = by_path ? on_path(command[0]) : command[0];
  if (program.empty()) return 127;
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.insert(words.begin() + 1, isolated.data());
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
  const int failed = posix_spawn(&child, program.c_str(), &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return 127;
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return 127;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}
