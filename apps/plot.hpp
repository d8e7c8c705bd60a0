#pragma once
// Plots are drawn by plot.py, with matplotlib.
#include <string>
#include <vector>

#include <warpband/link/scenario.hpp>

/// What to draw, and where to.
struct plot_request {
  std::vector<std::string> inputs;  // results, and references as FILE.csv or FILE.csv:LABEL
  std::string out;                  // .pdf, .png or .svg; "": none
  std::string csv = "";             // table of all points; "": none
  std::string metric = "both", title = "", size = "screen", x = "";
  bool theory = false;  // closed forms and bounds too
};

/// The metrics and sizes that may be asked for.
const std::vector<std::string>& plot_metrics();
const std::vector<std::string>& plot_sizes();

/// "" for the name of a picture, else what is wrong with it.
std::string check_picture(const std::string& path);

/// The file of a reference. Throws file_error where it cannot be read.
std::string reference_file(const std::string& reference);

/// Throws usage_error for a metric that no curve has.
void check_metric(const std::string& metric, const std::vector<wb::curve_config>& curves);

class plotter {
 public:
  /// Finds plot.py, and Python with matplotlib. Throws wb::error, with the cure, where one is missing.
  explicit plotter(const std::string& asked, bool draws = true);
  /// Draws; a table for "-" goes to stdout. Throws wb::error if it fails, with the message of plot.py.
  void draw(const plot_request& request) const;

 private:
  std::string python_, script_;
};
