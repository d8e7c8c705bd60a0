#include "plot.hpp"

#include <warpband/core/error.hpp>

#include "python.hpp"

plotter::plotter()
    : python_(find_python()), script_(find_program("WARPBAND_PLOT", "plot.py", "apps/plot.py")) {
  check_matplotlib(python_, "--plot");
}

void plotter::draw(const std::string& result, const std::string& out,
                   const std::vector<std::string>& references, const std::string& metric,
                   const std::string& title) const {
  // Behind "--", and with "=", no file name is taken for an option.
  std::vector<std::string> command{python_, script_, "--metric=" + metric, "--title=" + title};
  for (const std::string& r : references) command.push_back("--reference=" + r);
  command.insert(command.end(), {"--", result, out});
  const int code = run_program(command, stdout_of::to_stderr);  // stdout is for the table
  if (code != 0)
    throw wb::file_error(out, "was not drawn: plot.py ended with exit code " + std::to_string(code));
}
