#pragma once
// Plots are drawn by plot.py, with matplotlib.
#include <string>
#include <vector>

class plotter {
 public:
  /// Finds Python with matplotlib, and plot.py. Throws wb::error, with the cure, where one is missing.
  plotter();
  /// Draws a result file. What plot.py says goes to stderr. Throws wb::error if it fails.
  void draw(const std::string& result, const std::string& out, const std::vector<std::string>& references,
            const std::string& metric, const std::string& title) const;

 private:
  std::string python_, script_;
};
