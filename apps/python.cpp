#include "python.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <sstream>

#include <warpband/core/error.hpp>
#include <warpband/io/replacement.hpp>

#include "temporary_file.hpp"
#include "terminal.hpp"

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

namespace {

/// A pipe for the stderr of a child.
class error_pipe {
 public:
  error_pipe() {
    if (pipe2(ends_, O_CLOEXEC) != 0) throw wb::error(std::string("no pipe: ") + std::strerror(errno));
  }
  ~error_pipe() {
    close_end(0);
    close_end(1);
  }
  error_pipe(const error_pipe&) = delete;
  error_pipe& operator=(const error_pipe&) = delete;
  int write_end() const noexcept { return ends_[1]; }
  /// All that the child writes, to its end; at most 1 MiB is kept.
  std::string text() {
    close_end(1);
    std::string output;
    char piece[4096];
    for (;;) {
      const ssize_t n = read(ends_[0], piece, sizeof piece);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return output;
      if (output.size() < (std::size_t{1} << 20)) output.append(piece, static_cast<std::size_t>(n));
    }
  }

 private:
  void close_end(int end) {
    if (ends_[end] >= 0) close(ends_[end]);
    ends_[end] = -1;
  }
  int ends_[2] = {-1, -1};
};

}  // namespace

int run_python(const std::vector<std::string>& command, stdout_of output, std::string* errors) {
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
  std::optional<error_pipe> pipe;
  if (errors != nullptr) posix_spawn_file_actions_adddup2(&actions, pipe.emplace().write_end(), 2);
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
  if (errors != nullptr) *errors = pipe->text();
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return 127;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

void run_drawing(const std::vector<std::string>& command, stdout_of output, const std::string& out) {
  std::string errors;
  const int code = run_python(command, output, &errors);
  if (code == 127) throw wb::error(command[0] + " does not start: set WARPBAND_PYTHON to a Python");
  const std::string name = fs::path(command[1]).filename().string(), prefix = name + ": ";
  if (code != 0 && errors.starts_with(prefix) && errors.find('\n') == errors.size() - 1)
    throw wb::error(errors.substr(prefix.size(), errors.size() - prefix.size() - 1));
  if (!errors.empty()) print_text(stderr, errors);
  if (code != 0)
    throw wb::file_error(out, "was not written: " + name + " ended with exit code " + std::to_string(code));
}

record_plotter::record_plotter(const std::string& variable, const std::string& program,
                               const std::string& option)
    : python_(find_python()), script_(find_program(variable, program, "apps/" + program)) {
  check_matplotlib(python_, option);
}

void record_plotter::draw(const std::string& record, const std::string& saved, const std::string& out) const {
  std::optional<temporary_file> unsaved;
  if (saved.empty()) {
    unsaved.emplace();
    wb::write_file(unsaved->path(), record);
  }
  const std::string& from = unsaved ? unsaved->path() : saved;
  run_drawing({python_, script_, "--", from, out}, stdout_of::to_stderr, out);
}
