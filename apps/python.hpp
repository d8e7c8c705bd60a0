#pragma once
// Python programs that the command starts: plot.py, plot_front.py, plot_exit.py, plot_receive.py and the
// package `reproduce`. Nothing that lies in the working folder is executed: results of a stranger may have
// modules beside them.
#include <string>
#include <vector>

/// WARPBAND_PYTHON. Else, for a program in its build folder, the source tree's .venv. Else, for a program in
/// a virtual environment, that environment's Python. Else python3 in an absolute folder of PATH.
std::string find_python();
/// Where a program is: the folder that the environment variable names. Else, for a program in a folder `bin`,
/// `installed` below ../share/warpband. Else, for a program in its build folder, `in_source` below the source
/// tree. Throws wb::error where it is nowhere.
std::string find_program(const std::string& variable, const std::string& installed,
                         const std::string& in_source);
/// Throws wb::error, with the cure, where this Python has no matplotlib; `asked` is what needs it.
void check_matplotlib(const std::string& python, const std::string& asked);

enum class stdout_of { child, none, to_stderr };
/// Runs Python, command[0], isolated (-I), without a shell, and waits. Returns its exit code, 127 where it
/// cannot be started. What it writes to stderr becomes `errors`; without one it goes to stderr.
int run_python(const std::vector<std::string>& command, stdout_of output, std::string* errors = nullptr);
/// Runs a program that draws, command[1], into the file `out`. Throws wb::error where it fails: with its
/// message if that is one line, as "measured.csv:7: expected a number".
void run_drawing(const std::vector<std::string>& command, stdout_of output, const std::string& out);

/// A program that draws a record: plot_front.py, plot_exit.py or plot_receive.py.
class record_plotter {
 public:
  /// Finds the program and a Python with matplotlib. `option` is what needs them. Throws wb::error.
  record_plotter(const std::string& variable, const std::string& program, const std::string& option);
  /// Draws the JSON `record` into the file `out`. `saved` holds the record already; "": no file does. Throws
  /// file_error of `out`.
  void draw(const std::string& record, const std::string& saved, const std::string& out) const;

 private:
  std::string python_, script_;
};
