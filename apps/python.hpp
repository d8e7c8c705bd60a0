#pragma once
// Python programs that the command starts: plot.py, and the package `reproduce`.
#include <string>
#include <vector>

/// WARPBAND_PYTHON; or, of a program in its build folder, the source tree's .venv; or, installed into a
/// virtual environment, that one's; or python3.
std::string find_python();
/// Where a program is: what the environment variable names, `installed` below share/warpband, or, of a
/// program in its build folder, `in_source` below the source tree. Throws wb::error where it is nowhere.
std::string find_program(const std::string& variable, const std::string& installed,
                         const std::string& in_source);
/// Throws wb::error, with the cure, where this Python has no matplotlib; `asked` is what needs it.
void check_matplotlib(const std::string& python, const std::string& asked);

enum class stdout_of { child, none, to_stderr };
/// Runs a program without a shell and waits. Returns its exit code, 127 where it cannot be started.
int run_program(const std::vector<std::string>& command, stdout_of output);
