// `warpband plot`, and what `warpband sim --plot` shares with it.
#include "plot.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <utility>

#include <warpband/core/error.hpp>
#include <warpband/io/replacement.hpp>
#include <warpband/link/result.hpp>

#include "command.hpp"
#include "python.hpp"
#include "temporary_file.hpp"

namespace {

/// The file of an input, which may be FILE:LABEL, and ":LABEL" or nothing.
std::pair<std::string, std::string> file_and_label(const std::string& input, const std::string& ending) {
  const std::size_t colon = input.find(ending + ":");
  if (colon == std::string::npos || std::filesystem::exists(input)) return {input, ""};
  return {input.substr(0, colon + ending.size()), input.substr(colon + ending.size())};
}

bool is_reference(const std::string& input) { return file_and_label(input, ".csv").first.ends_with(".csv"); }

constexpr const char* plot_footer = R"(Synopsis:
  warpband plot RESULT.json[:LABEL] [...] [REFERENCE.csv[:LABEL] ...] -o FIGURE [OPTIONS]
  warpband plot RESULT.json [RESULT.json ...] --csv TABLE.csv

Merging:
  Curves of several results that have the same settings become one curve. Only seed, points and stop rules may
  differ. At a point that several runs have, runs with different seeds are added up. Runs with the same seed saw the
  same random numbers: the longest one counts. Two curves with one label and other settings get their file's name.

Figure:
  Every curve has a colour and a marker of its own; they differ in grey too. Bars are 95% intervals. A point without an
  error has no rate: a triangle marks the upper end of its interval. References are dashed. In one-column (3.5 in) and
  two-column (7.16 in) fonts go with LaTeX; a PDF embeds them as TrueType. --theory draws closed forms dotted, the
  frame error rate of the best code of the same length (normal approximation) in dashes and dots, and the capacity of
  the constellation as an upright line.

Files:
  RESULT.json     what `warpband sim -o` wrote. All in it is checked, as by `warpband sim --resume`, but recordings of
                  its channels need not be there. LABEL names its curve; several curves keep their labels behind it
  REFERENCE.csv   columns ebn0_db (snr_db, esn0_db or probability where all curves sweep that), and ber, fer or bler. With a column
                  "label" it holds several curves. A figure may have references alone
  TABLE.csv       a row for each point, after merging: label, Eb/N0 and SNR in dB, counts, rates, ends of intervals.
                  It is itself a reference. - is standard output

Exit codes: 0 done, 1 failed, 2 used wrongly.

Examples:
  warpband plot result.json -o result.png
  warpband plot seed1.json seed2.json measured.csv:"as measured" -o figure.pdf --size one-column --metric fer
      adds up two runs, and puts a reference beside them
  warpband plot result.json --csv -
      the numbers, for a spreadsheet

Figures need Python with matplotlib: scripts/setup.sh installs it; WARPBAND_PYTHON names another Python.)";

/// Reads a result as `warpband sim --resume` does. Writes its content into the folder under the file's own
/// name, which tells curves of the same label apart. Throws file_error for a result that is not trusted.
std::string checked_copy(const std::string& name, const std::filesystem::path& folder) {
  const wb::run_result result = wb::load_result(name, wb::result_use::show);
  const wb::stand_in_kinds kinds(result.functions);
  if (std::all_of(result.curves.begin(), result.curves.end(),
                  [](const wb::curve_result& c) { return c.points.empty(); }))
    throw wb::file_error(name, "holds no finished point: warpband sim --resume FILE goes on with it");
  std::filesystem::create_directory(folder);
  const std::string copy = (folder / std::filesystem::path(name).filename()).string();
  wb::write_file(copy, wb::result_json(result));
  return copy;
}

int run_plot(plot_request request) {
  std::vector<std::string>& inputs = request.inputs;
  if (inputs.empty()) throw usage_error("a result is missing: warpband plot RESULT.json -o FIGURE.pdf");
  if (request.out.empty() && request.csv.empty())
    throw usage_error("nothing to write: add -o FIGURE.pdf, or --csv TABLE.csv");
  if (!request.csv.empty() && std::all_of(inputs.begin(), inputs.end(), is_reference))
    throw usage_error("no result is among the inputs: expected one for --csv, as warpband sim -o writes it");
  std::vector<std::string> read;
  for (const std::string& name : inputs)
    if (is_reference(name))
      read.push_back(reference_file(name));
    else if (const std::string file = file_and_label(name, ".json").first;
             !std::ifstream(file) || std::filesystem::is_directory(file))
      throw wb::file_error(file, "cannot read the result");
    else
      read.push_back(file);
  if (!request.out.empty() && wb::same_place(request.out, request.csv))
    throw usage_error("--output and --csv name the same file: give each its own");
  check_not_an_input(request.out, read);
  if (!request.out.empty()) wb::check_writable(request.out);
  if (request.csv != "-") {
    check_not_an_input(request.csv, read);
    if (!request.csv.empty()) wb::check_writable(request.csv);
  }
  const plotter plot("plot", !request.out.empty());
  const temporary_folder copies;
  for (std::size_t i = 0; i < inputs.size(); i++)
    if (!is_reference(inputs[i])) {
      const auto [file, label] = file_and_label(inputs[i], ".json");
      inputs[i] = checked_copy(file, std::filesystem::path(copies.path()) / std::to_string(i)) + label;
    }
  plot.draw(request);
  return done;
}

}  // namespace

const std::vector<std::string>& plot_metrics() {
  static const std::vector<std::string> words{"ber",        "fer",  "both",     "bler",
                                              "throughput", "harq", "required", "mutual_information"};
  return words;
}
const std::vector<std::string>& plot_sizes() {
  static const std::vector<std::string> words{"screen", "one-column", "two-column"};
  return words;
}

std::string check_picture(const std::string& path) {
  for (const char* end : {".pdf", ".png", ".svg"})
    if (path.ends_with(end)) return {};
  return "\"" + path + "\" is not allowed: expected a name that ends in .pdf, .png or .svg";
}

std::string reference_file(const std::string& reference) {
  const std::string path = file_and_label(reference, ".csv").first;
  if (!std::ifstream(path) || std::filesystem::is_directory(path))
    throw wb::file_error(path, "cannot read the reference curve");
  return path;
}

void check_metric(const std::string& metric, const std::vector<wb::curve_config>& curves) {
  const auto has = [&](const wb::curve_config& c) {
    const bool harq = wb::is_transport(c.link.code);
    const bool massive = wb::has_codewords(c.link);
    if (metric == "bler") return harq || massive;
    if (metric == "required") return c.target.has_value();
    if (metric == "mutual_information") return c.link.mutual_information;
    return harq || (metric != "throughput" && metric != "harq");
  };
  if (std::none_of(curves.begin(), curves.end(), has))
    throw usage_error("--metric " + metric + " has no meaning here: no curve has " +
                      (metric == "bler"                 ? "HARQ or massive MIMO"
                       : metric == "required"           ? "sweep.target_fer"
                       : metric == "mutual_information" ? "modem.mutual_information = true"
                                                        : "HARQ"));
}

plotter::plotter(const std::string& asked, bool draws)
    : python_(find_python()), script_(find_program("WARPBAND_PLOT", "plot.py", "apps/plot.py")) {
  if (draws) check_matplotlib(python_, asked);
}

void plotter::draw(const plot_request& r) const {
  // Behind "--", and with "=", no file name is taken for an option.
  std::vector<std::string> command{python_, script_, "--metric=" + r.metric, "--title=" + r.title,
                                   "--size=" + r.size};
  if (!r.x.empty()) command.push_back("--x=" + r.x);
  if (r.theory) command.push_back("--theory");
  if (!r.out.empty()) command.push_back("--out=" + r.out);
  if (!r.csv.empty()) command.push_back("--csv=" + r.csv);
  command.push_back("--");
  command.insert(command.end(), r.inputs.begin(), r.inputs.end());
  // The table of `sim` has standard output for itself.
  run_drawing(command, r.csv == "-" ? stdout_of::child : stdout_of::to_stderr, r.out.empty() ? r.csv : r.out);
}

command add_plot(CLI::App& app) {
  CLI::App* plot = app.add_subcommand("plot", "Draw error rates of results; merge runs");
  const auto r = std::make_shared<plot_request>();
  plot->footer(plot_footer);
  plot->add_option("INPUT", r->inputs, "Results (JSON) and references (CSV); FILE:LABEL names a curve")
      ->type_name("FILE");
  plot->add_option("-o,--output", r->out, "Draw to this file: .pdf, .png or .svg")
      ->type_name("FILE")
      ->check(CLI::Validator(check_picture, "", "picture"));
  plot->add_option("--csv", r->csv, "Write the merged points as a table; - for standard output")
      ->type_name("FILE");
  plot->add_option(
          "--metric", r->metric,
          "What to draw: ber, fer, both (default), bler (HARQ, massive MIMO), throughput or harq; of "
          "HARQ alone both are the default; required, of sweep.target_fer; mutual_information, of "
          "modem.mutual_information")
      ->type_name("NAME")
      ->transform(word_of(plot_metrics()));
  plot->add_flag(
      "--theory", r->theory,
      "Draw closed forms of uncoded curves, and for codes in AWGN the normal approximation and the "
      "capacity");
  plot->add_option("--title", r->title, "Above the figure")->type_name("TEXT");
  plot->add_option("--size", r->size, "screen (default), one-column or two-column")
      ->type_name("NAME")
      ->transform(word_of(plot_sizes()));
  plot->add_option("--x", r->x,
                   "Draw over ebn0_db, snr_db, esn0_db, probability or a swept setting, as "
                   "decoder.iterations; default: the "
                   "setting where there is one")
      ->type_name("AXIS");
  return {plot, [r] { return run_plot(*r); }};
}
