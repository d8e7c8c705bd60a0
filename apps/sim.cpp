#include "command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include <warpband/core/error.hpp>
#include <warpband/io/replacement.hpp>
#include <warpband/link/result.hpp>

#include "plot.hpp"

namespace {

struct sim_options {
  std::string scenario, out, plot, metric = "both";
  device_options where;
  std::vector<std::string> references;  // FILE.csv[:LABEL]
  std::optional<std::uint64_t> seed;
  bool quiet = false, help_scenario = false;
};

std::string rate(double r) { return r == 0 ? "0" : fmt::format("{:.2e}", r); }

/// How long a point goes on at most, and probably, in seconds.
struct time_left {
  double most, likely;
};
time_left left_of(const wb::point_counts& c, const wb::stop_rule& stop) {
  const auto scaled = [&](double have, double want) {
    return have > 0 ? c.seconds * std::max(0.0, want / have - 1) : 1e300;
  };
  double most = scaled(static_cast<double>(c.frames), static_cast<double>(stop.max_frames));
  if (stop.max_seconds > 0) most = std::min(most, std::max(0.0, stop.max_seconds - c.seconds));
  double likely = most;
  if (stop.frame_errors > 0)
    likely =
        std::min(likely, scaled(static_cast<double>(c.frame_errors), static_cast<double>(stop.frame_errors)));
  return {most, likely};
}

constexpr const char* row_format = "{:>8} {:>8} {:>10} {:>11} {:>11} {:>10} {:>10} {:>22} {:>8} {:>9}\n";

void print_header(const wb::curve_config& curve) {
  const bool coded = curve.link.code != wb::code_type::none;
  fmt::print("{}\n", curve.label);
  fmt::print(row_format, "Es/N0 dB", "Eb/N0 dB", "frames", "bit errors", "fr. errors", "BER", "FER",
             coded ? "95% interval of FER" : "95% interval of BER", "Mb/s", "time");
}

void print_row(const wb::point_result& p) {
  const auto bits = p.ber_interval();
  std::string range = "-";
  if (p.coded || bits) {
    const wb::interval i = p.coded ? p.fer_interval() : *bits;
    range = fmt::format("{} .. {}", rate(i.low), rate(i.high));
  }
  fmt::print(row_format, fmt::format("{:.3f}", p.esn0_db), fmt::format("{:.3f}", p.ebn0_db), p.counts.frames,
             p.counts.bit_errors, p.counts.frame_errors, rate(p.ber()), rate(p.fer()), range,
             fmt::format("{:.4g}", p.mbps()), duration_text(p.counts.seconds));
  std::fflush(stdout);
}

/// The file of a reference, FILE.csv or FILE.csv:LABEL.
std::string reference_file(const std::string& reference) {
  std::string path = reference;
  if (const std::size_t at = path.find(".csv:"); !std::filesystem::exists(path) && at != std::string::npos)
    path.resize(at + 4);
  if (!std::ifstream(path) || std::filesystem::is_directory(path))
    throw wb::file_error(path, "cannot read the reference curve");
  return path;
}

/// A name for a result that is only needed for its plot; removed at the end.
class temporary_result {
 public:
  temporary_result() {
    path_ = (std::filesystem::temp_directory_path() / "warpband-XXXXXX").string();
    const int file = mkstemp(path_.data());
    if (file < 0) throw wb::file_error(path_, std::string("cannot write: ") + std::strerror(errno));
    close(file);
  }
  ~temporary_result() { unlink(path_.c_str()); }
  temporary_result(const temporary_result&) = delete;
  temporary_result& operator=(const temporary_result&) = delete;
  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

class simulation {
 public:
  simulation(const sim_options& options, wb::scenario scenario, wb::executor& exec)
      : options_(options), exec_(exec), line_(options.quiet) {
    if (options.seed)
      for (wb::curve_config& c : scenario.curves) c.link.seed = *options.seed;
    result_.source = std::move(scenario);
    result_.machine = wb::describe_machine(exec);
    for (const wb::curve_config& c : result_.source.curves) points_ += c.ebn0_db.size();
  }

  /// Runs all curves; false if it was interrupted.
  bool run() {
    const std::string& title = result_.source.title;
    const wb::machine_info& m = result_.machine;
    const bool is_label = result_.source.curves.size() == 1 && result_.source.curves[0].label == title;
    if (!title.empty() && !is_label) fmt::print("{}\n", title);
    fmt::print("{}\n", m.threads == 0
                           ? m.device
                           : fmt::format("{}, {}, {}", m.cpu, m.instruction_set,
                                         m.threads == 1 ? "1 thread" : fmt::format("{} threads", m.threads)));
    for (const wb::curve_config& curve : result_.source.curves) {
      fmt::print("\n");
      print_header(curve);
      std::fflush(stdout);
      result_.curves.emplace_back();
      wb::curve_observer observer;
      observer.progress = [&](const wb::link_chain& chain, std::size_t index, const wb::point_counts& c) {
        if (line_.due()) line_.show(progress(curve, chain, index, c));
        return !interrupted();
      };
      observer.finished = [&](const wb::curve_result& r) {
        line_.clear();
        result_.curves.back() = r;
        print_row(r.points.back());
        finished_++;
        save();
      };
      const wb::curve_result r = wb::run_curve(curve, exec_, observer);
      line_.clear();
      // A Ctrl-C right after a point's last batch ends the run too.
      if (r.cancelled || (interrupted() && &curve != &result_.source.curves.back())) return false;
      skipped_ += curve.ebn0_db.size() - r.points.size();
    }
    result_.complete = true;
    save();
    return true;
  }

  const wb::run_result& result() const noexcept { return result_; }
  std::size_t finished() const noexcept { return finished_; }
  std::size_t points() const noexcept { return points_; }

 private:
  void save() const {
    if (!options_.out.empty()) wb::write_file(options_.out, wb::result_json(result_));
  }

  std::string progress(const wb::curve_config& curve, const wb::link_chain& chain, std::size_t index,
                       const wb::point_counts& c) const {
    const time_left here = left_of(c, curve.stop);
    // Later points: no longer than the most that their rules allow, at the speed of this one.
    const double speed = static_cast<double>(c.frames_run) * chain.config().k / std::max(c.seconds, 1e-9);
    double most = here.most;
    const auto& curves = result_.source.curves;
    for (const wb::curve_config* later = &curve; later != curves.data() + curves.size(); later++) {
      double each = static_cast<double>(later->stop.max_frames) * later->link.k / speed;
      if (later->stop.max_seconds > 0) each = std::min(each, later->stop.max_seconds);
      most += each * static_cast<double>(later->ebn0_db.size() - (later == &curve ? index + 1 : 0));
    }
    return fmt::format(
        "[{}/{}] {}, Eb/N0 {:.3g} dB: {} frames, {} frame errors, {:.4g} Mb/s, about {} left, all at most {}",
        finished_ + skipped_ + 1, points_, curve.label, curve.ebn0_db[index], c.frames, c.frame_errors,
        speed * 1e-6, duration_text(here.likely), duration_text(most));
  }

  const sim_options& options_;
  wb::executor& exec_;
  progress_line line_;
  wb::run_result result_;
  std::size_t points_ = 0, finished_ = 0, skipped_ = 0;
};

std::string check_picture(const std::string& path) {
  if (path.ends_with(".png") || path.ends_with(".svg")) return {};
  return "\"" + path + "\" is not allowed: expected a name that ends in .png or .svg";
}

int run_sim(const sim_options& options) {
  if (options.scenario.empty())
    throw usage_error("a scenario is missing: warpband sim SCENARIO.toml (see warpband sim --help)");
  if (!options.out.empty() && options.out == options.plot)
    throw usage_error("--output and --plot name the same file: give each its own");
  // Whatever can be wrong is found before the first frame is sent.
  wb::scenario scenario = wb::load_scenario(options.scenario);
  const auto exec = wb::open_executor(options.where.device, options.where.threads);
  std::vector<std::string> inputs{options.scenario};
  for (const std::string& r : options.references) inputs.push_back(reference_file(r));
  check_not_an_input(options.out, inputs);
  check_not_an_input(options.plot, inputs);
  if (!options.out.empty()) wb::check_writable(options.out);
  std::optional<plotter> plot;
  if (!options.plot.empty()) {
    wb::check_writable(options.plot);
    plot.emplace();
  }

  stop_on_interrupt();
  simulation run(options, std::move(scenario), *exec);
  if (!run.run()) {
    std::string message = fmt::format("interrupted: {} of {} points finished", run.finished(), run.points());
    if (!options.out.empty() && run.finished() > 0) message += ", " + options.out + " holds them";
    throw wb::error(message);
  }
  if (plot) {
    std::optional<temporary_result> unsaved;
    if (options.out.empty()) {
      unsaved.emplace();
      wb::write_file(unsaved->path(), wb::result_json(run.result()));
    }
    plot->draw(unsaved ? unsaved->path() : options.out, options.plot, options.references, options.metric,
               run.result().source.title);
  }
  return 0;
}

constexpr const char* sim_footer = R"(Examples:
  warpband sim examples/quickstart.toml
      prints a row for each point as it is finished; progress goes to stderr
  warpband sim examples/quickstart.toml -o result.json --plot result.svg --metric fer
      and saves raw counts, configuration and machine, and a plot of the frame error rates
  warpband sim examples/quickstart.toml --plot check.png --reference old.csv:"as measured"
      with a curve from a file beside (columns ebn0_db, ber, fer)
  warpband sim examples/quickstart.toml --device cuda:0 --seed 7
      on a GPU, with other random numbers; the counts are the same on every device

The result is rewritten after each point, in full or not at all. Ctrl-C ends the run and keeps the finished points.
Plots need Python with matplotlib: scripts/setup.sh installs it; WARPBAND_PYTHON names another Python.)";

}  // namespace

command add_sim(CLI::App& app) {
  CLI::App* sim = app.add_subcommand("sim", "Run a link over Eb/N0 and count errors");
  const auto options = std::make_shared<sim_options>();
  sim->footer(sim_footer);
  sim->add_option("SCENARIO", options->scenario, "What to run, in TOML: see --help-scenario");
  sim->add_option("-o,--output", options->out, "Write the result here, in JSON")->type_name("FILE");
  sim->add_option("--plot", options->plot, "Draw the error rates: .png or .svg")
      ->type_name("FILE")
      ->check(CLI::Validator(check_picture, "", "picture"));
  sim->add_option("--reference", options->references, "Draw this curve beside; may be given several times")
      ->type_name("CSV[:LABEL]")
      ->allow_extra_args(false);
  sim->add_option("--metric", options->metric, "What to draw: ber, fer or both (default)")
      ->type_name("NAME")
      ->check(CLI::IsMember({"ber", "fer", "both"}));
  add_device_options(*sim, options->where);
  add_integer(*sim, "--seed", 0, INT64_MAX, "Instead of the scenario's seed",
              [options](std::int64_t n) { options->seed = static_cast<std::uint64_t>(n); });
  sim->add_flag("--quiet", options->quiet, "No progress on stderr");
  sim->add_flag("--help-scenario", options->help_scenario, "Explain every key of a scenario file");
  return {sim, [sim, options] {
            if (options->help_scenario) {
              std::fputs(wb::scenario_help().c_str(), stdout);
              return done;
            }
            check_device_options(*sim, options->where);
            if (options->plot.empty() && (sim->count("--reference") != 0 || sim->count("--metric") != 0))
              throw usage_error("--reference and --metric are for --plot: add --plot FILE.png");
            return run_sim(*options);
          }};
}
